//! Parsers of numeric options.

use robosieve::synthetic::WebOptions;

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
    let count = digits.parse().ok().and_then(|count: u64| count.checked_mul(unit));
    let possible = count.filter(|count| (1..=WebOptions::MAX).contains(count));
    possible.ok_or_else(|| "give a number like 20000, 20k or 100M, at most 1000G".to_owned())
}
