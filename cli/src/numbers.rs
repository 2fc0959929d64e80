//! Parsers of numeric options.

use robosieve_synthetic::WebOptions;

/// Parses a number of threads, such as 4.
pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a number of threads of at least 1".to_owned()),
        Ok(threads) => Ok(threads),
    }
}

/// Parses a count, such as 20000, 20k or 100M.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'M', 'G']) {
        None => (text, 1),
        Some(digits) if text.ends_with('k') => (digits, 1_000),
        Some(digits) if text.ends_with('M') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
    };
    let count = digits
        .parse()
        .ok()
        .and_then(|count: u64| count.checked_mul(unit));
    let possible = count.filter(|count| (1..=WebOptions::MAX).contains(count));
    possible.ok_or_else(|| "give a number like 20000, 20k or 100M, at most 1000G".to_owned())
}

/// Parses a size in bytes, such as 512M or 2GiB; the units are powers of 1,024.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => 64,
    };
    let number = text[..text.len() - unit.len()].parse().ok();
    let size = number.and_then(|number: u64| number.checked_mul(1_u64.checked_shl(shift)?));
    size.ok_or_else(|| "give a size like 512M or 4G".to_owned())
}

/// Parses a share with a percent sign, such as 20%, as a number from 0 to 1.
pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').map(str::trim_end);
    let percent: Option<f64> = number.and_then(|number| number.parse().ok());
    let possible = percent.filter(|percent| (0.0..=100.0).contains(percent));
    possible
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "give a share with a percent sign, from 0% to 100%, such as 20%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_a_percent_sign() {
        let share = |text| parse_percent(text).ok();
        assert_eq!([share("20%"), share("100%")], [Some(0.2), Some(1.0)]);
        assert_eq!([share("0 %"), share("0.5%")], [Some(0.0), Some(0.005)]);
        for text in ["", "%", "20", "0.2", "101%", "-1%", "NaN%", "inf%", "20%%"] {
            assert_eq!(share(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_have_binary_units() {
        let size = |text| parse_size(text).ok();
        assert_eq!(
            [size("0"), size("17"), size("3k")],
            [Some(0), Some(17), Some(3 << 10)]
        );
        assert_eq!(
            [size("512M"), size("2GiB"), size("1t")],
            [Some(512 << 20), Some(2 << 30), Some(1 << 40)]
        );
        for text in ["", "M", "-1", "1.5G", "1P", "1 G", "99999999999T"] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}
