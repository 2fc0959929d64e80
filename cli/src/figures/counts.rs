//! Numbers for people.

/// A number with thousands separators.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and what it counts: `1 origin`, `2 origins`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    counted_as(number, noun, &format!("{noun}s"))
}

/// A number and one of two texts: the first for 1, the second for any other number.
pub(crate) fn counted_as(number: u64, one: &str, many: &str) -> String {
    let text = if number == 1 { one } else { many };
    format!("{} {text}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (123_456, "123,456"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0, "origin"), "0 origins");
        assert_eq!(counted(1, "origin"), "1 origin");
        assert_eq!(counted(1000, "origin"), "1,000 origins");
    }
}
