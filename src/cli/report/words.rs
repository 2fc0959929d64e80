//! How figures and the texts of sites are written for people.

use super::super::summary::grouped;

/// A text that a site wrote, for one line of a page or a terminal: control characters and those that turn the direction of writing are
/// replaced, and what is longer than so many characters is cut.
pub(super) fn clean(text: &str, max: usize) -> String {
    let is_harmless = |c: char| {
        !c.is_control() && !matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    let mut out: String =
        text.chars().take(max).map(|c| if is_harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect();
    if text.chars().nth(max).is_some() {
        out.push('…');
    }
    out
}

/// A share in per cent, which is 0 or 100 only where that is exact.
pub(super) fn share(part: u64, whole: u64) -> String {
    let percent = part as f64 * 100.0 / whole.max(1) as f64;
    match part {
        0 => "0 %".to_owned(),
        _ if part == whole => "100 %".to_owned(),
        _ if percent < 0.1 => "< 0.1 %".to_owned(),
        _ if percent > 99.9 => "> 99.9 %".to_owned(),
        _ => format!("{percent:.1} %"),
    }
}

/// A number and what it counts: `1 origin`, `2 origins`.
pub(super) fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

/// The day of a time in seconds since 1970.
pub(super) fn day(seconds: i64) -> String {
    super::super::time::time(seconds).chars().take_while(|c| *c != 'T').collect()
}

/// The time to the minute.
pub(super) fn minute(seconds: i64) -> String {
    super::super::time::time(seconds).replace('T', " ").chars().take(16).collect::<String>() + " UTC"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_do_not_claim_more_than_they_know() {
        for (part, whole, text) in [
            (0, 0, "0 %"),
            (0, 7, "0 %"),
            (7, 7, "100 %"),
            (1, 100_000, "< 0.1 %"),
            (99_999, 100_000, "> 99.9 %"),
            (1, 3, "33.3 %"),
        ] {
            assert_eq!(share(part, whole), text);
        }
    }

    #[test]
    fn texts_of_sites_do_no_harm() {
        assert_eq!(clean("a\u{1b}[2Jb\u{202e}c\u{0}\n", 99), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}\u{fffd}");
        assert_eq!(clean("äöü", 2), "äö…");
        assert_eq!(clean("äö", 2), "äö");
    }
}
