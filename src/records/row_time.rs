//! The time of a record, from the text or the number in a cell.
//!
//! Tables write times as texts, as numbers of 4 to 17 digits that read like a date, and as seconds
//! since 1970 or smaller units. No column says which one it has, so the number of digits decides.
//! The counts below do not overlap for times from 2001-09-09 to 2286, and a number with any other
//! count is not a time: an error is better seen than a page judged by the rules of another decade.
//!
//! | digits | meaning |
//! |---|---|
//! | 4, 6, 8 | a year, a month, a day: their last second |
//! | 14, 17 | `YYYYMMDDhhmmss`, also with milliseconds |
//! | 10, 13, 16, 19 | seconds, milliseconds, microseconds, nanoseconds since 1970 |

use crate::time_text::{
    civil_seconds, days_in_month, parse_compact_time, parse_spaced_time, parse_time_in_utc,
};

/// A longer text is not a time.
const MAX_CELL: usize = 256;

/// The longest part of an unreadable time that is kept for a message.
const MAX_EXAMPLE: usize = 64;

/// Keeps the start of `text`, which is not a time, as an example. An empty text is a missing time.
#[cold]
pub(crate) fn keep_unreadable(text: &[u8], example: &mut Option<Box<[u8]>>) {
    let text = text.trim_ascii();
    if example.is_none() && !text.is_empty() {
        *example = Some(text[..text.len().min(MAX_EXAMPLE)].into());
    }
}

/// The time of a cell in seconds since 1970; `None` if its text is not a time. White space around it
/// is not part of it.
///
/// It is a number as in the table above, where units since 1970 may have a sign and a fraction, or
/// a text: RFC 3339, or the same with a blank in place of the `T`, and with a zone such as
/// `Z`, `+02`, `+0200` or ` UTC`. Without a zone the time is in UTC, as in `WARC-Date`, because
/// the alternative is a time zone that nobody wrote down. A time of lower precision, down to
/// the year, stands for its last second.
///
/// ```
/// use robosieve::records::parse_row_time;
/// let last_second_of_march = Some(1_775_001_599);
/// for text in ["2026-03", "2026-03-31T23:59:59Z", "20260331235959", "1775001599000"] {
///     assert_eq!(parse_row_time(text.as_bytes()), last_second_of_march);
/// }
/// assert_eq!(parse_row_time(b"soon"), None);
/// ```
pub fn parse_row_time(cell: &[u8]) -> Option<i64> {
    // A dictionary of a Parquet file can give a million rows one text of 60 MiB.
    if cell.len() > MAX_CELL {
        return None;
    }
    let cell = cell.trim_ascii();
    // Whole numbers, the usual form of epochs, are parsed without the steps of texts.
    if let Some(number) = whole_number(cell) {
        return time_of_integer(number);
    }
    // Most texts have a date and a time, which this parses without a copy.
    if let Some(time) = parse_spaced_time(cell).or_else(|| parse_14_digits(cell)) {
        return Some(time);
    }
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    if digits.iter().all(|b| b.is_ascii_digit() || *b == b'.') {
        return parse_number(digits, digits.len() < cell.len());
    }
    parse_time_in_utc(cell)
}

/// The number of a text of up to 18 digits that does not begin with a zero.
fn whole_number(text: &[u8]) -> Option<i64> {
    if !matches!(text.first(), Some(b'1'..=b'9')) || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + i64::from(byte - b'0'))
    })
}

/// The time of a number without its sign.
fn parse_number(text: &[u8], is_negative: bool) -> Option<i64> {
    let (whole, fraction) = match memchr::memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &b""[..]),
    };
    // Digits count, so a number with leading zeros has another meaning.
    if whole.first() == Some(&b'0') || fraction.contains(&b'.') {
        return None;
    }
    let whole: i64 = std::str::from_utf8(whole).ok()?.parse().ok()?;
    let has_fraction = fraction.iter().any(|digit| *digit != b'0');
    match (is_negative, has_fraction) {
        (false, false) => time_of_integer(whole),
        (false, true) => time_since_1970(whole),
        (true, false) => time_since_1970(-whole),
        // Before 1970, a fraction belongs to the second before.
        (true, true) => time_since_1970(-whole - 1),
    }
}

/// The time of a number in seconds since 1970, by its digits: a date, or a time since 1970 in seconds
/// or smaller units, as in [`parse_row_time`]. `None` for a number of other digits.
///
/// ```
/// use robosieve::records::time_of_integer;
/// assert_eq!(time_of_integer(1_775_001_599_000), Some(1_775_001_599));
/// assert_eq!(time_of_integer(7), None);
/// ```
pub fn time_of_integer(number: i64) -> Option<i64> {
    let digits = number_of_digits(number)?;
    match digits {
        4 | 6 | 8 | 14 if number > 0 => time_of_date_digits(number, digits),
        17 if number > 0 => time_of_date_digits(number / 1000, 14),
        _ => time_since_1970(number),
    }
}

/// The time of a floating-point number in seconds since 1970, by the digits before its point. JSON
/// and data frames with missing values hold whole numbers in this form too.
///
/// ```
/// use robosieve::records::time_of_float;
/// assert_eq!(time_of_float(1_775_001_599.5), Some(1_775_001_599));
/// assert_eq!(time_of_float(f64::NAN), None);
/// ```
pub fn time_of_float(number: f64) -> Option<i64> {
    // The cast below would saturate.
    if number.is_nan() || number.abs() >= i64::MAX as f64 {
        return None;
    }
    let whole = number.floor() as i64;
    if number.fract() == 0.0 {
        time_of_integer(whole)
    } else {
        time_since_1970(whole)
    }
}

/// The time of a field of CDX and CDXJ lines that holds a timestamp: 14 digits, or 17 with
/// milliseconds. Fewer, an even number from 4 on, are the start of one, and stand for its last
/// second.
pub(crate) fn parse_index_time(field: &[u8]) -> Option<i64> {
    if let Some(time) = parse_14_digits(field) {
        return Some(time);
    }
    if !field.iter().all(u8::is_ascii_digit) || field.first() == Some(&b'0') {
        return None;
    }
    let number: i64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    match field.len() {
        4 | 6 | 8 | 10 | 12 | 14 => time_of_date_digits(number, field.len() as u32),
        17 => time_of_date_digits(number / 1000, 14),
        _ => None,
    }
}

/// The time of 14 digits, the usual form of indexes. The functions for any number of digits take
/// four times as long, and agree.
fn parse_14_digits(text: &[u8]) -> Option<i64> {
    let digits: &[u8; 14] = text.try_into().ok()?;
    if digits[0] == b'0' {
        return None;
    }
    parse_compact_time(digits)
}

/// The number of decimal digits; `None` for 0.
fn number_of_digits(number: i64) -> Option<u32> {
    Some(number.unsigned_abs().checked_ilog10()? + 1)
}

/// Seconds since 1970, or units of a thousandth, a millionth or a billionth, by their digits.
fn time_since_1970(number: i64) -> Option<i64> {
    // Constant divisors, as a division by a variable takes as long as the rest together.
    match number_of_digits(number)? {
        10 => Some(number),
        13 => Some(number.div_euclid(1_000)),
        16 => Some(number.div_euclid(1_000_000)),
        19 => Some(number.div_euclid(1_000_000_000)),
        _ => None,
    }
}

/// The last second of the period that an even number of digits, 4 to 14, names: `YYYYMMDDhhmmss` or
/// its start. `None` if there is no such period.
fn time_of_date_digits(number: i64, digits: u32) -> Option<i64> {
    // Two digits per part after the year, from the last part on.
    let mut rest = number;
    let mut parts = [None; 5];
    for part in parts[..(digits as usize - 4) / 2].iter_mut().rev() {
        *part = Some(rest % 100);
        rest /= 100;
    }
    let year = rest;
    let month = parts[0].unwrap_or(12);
    let day = match parts[1] {
        Some(day) => day,
        None => days_in_month(year, month),
    };
    let clock = [
        parts[2].unwrap_or(23),
        parts[3].unwrap_or(59),
        parts[4].unwrap_or(59),
    ];
    civil_seconds([year, month, day], clock, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use proptest::prelude::*;

    fn shown(seconds: Option<i64>) -> String {
        seconds.map_or("no time".to_owned(), |seconds| {
            Timestamp::from_second(seconds).unwrap().to_string()
        })
    }

    #[test]
    fn cells_with_times() {
        for (cell, time) in [
            // RFC 3339, and the spellings of databases.
            ("2024-03-05T12:00:00Z", "2024-03-05T12:00:00Z"),
            ("2024-03-05t12:00:00.999z", "2024-03-05T12:00:00Z"),
            ("2024-03-05T12:00:00+02:00", "2024-03-05T10:00:00Z"),
            ("2024-03-05T23:30:00-01:30", "2024-03-06T01:00:00Z"),
            // PostgreSQL, Spark, BigQuery, pandas.
            ("2024-03-05 12:00:00+00", "2024-03-05T12:00:00Z"),
            ("2024-03-05T12:00:00.000+0200", "2024-03-05T10:00:00Z"),
            ("2024-03-05 12:00:00.5 UTC", "2024-03-05T12:00:00Z"),
            ("2024-03-05 12:00:00.123456789", "2024-03-05T12:00:00Z"),
            (" 2024-03-05 12:00:00\t", "2024-03-05T12:00:00Z"),
            ("2024/03/05 12:00:00", "2024-03-05T12:00:00Z"),
            // Leap seconds.
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
            // Lower precision: the last second.
            ("2024", "2024-12-31T23:59:59Z"),
            ("2024-02", "2024-02-29T23:59:59Z"),
            ("2024-03-05", "2024-03-05T23:59:59Z"),
            ("2024-03-05T12", "2024-03-05T12:59:59Z"),
            ("2024-03-05T12:30", "2024-03-05T12:30:59Z"),
            ("2024-03-05 12:30+02:00", "2024-03-05T10:30:59Z"),
            // Digits.
            ("20240305120000", "2024-03-05T12:00:00Z"),
            ("20240305120000333", "2024-03-05T12:00:00Z"),
            ("20240305", "2024-03-05T23:59:59Z"),
            ("202402", "2024-02-29T23:59:59Z"),
            ("190002", "1900-02-28T23:59:59Z"),
            // Units since 1970.
            ("1709640000", "2024-03-05T12:00:00Z"),
            ("1709640000.75", "2024-03-05T12:00:00Z"),
            ("1709640000.", "2024-03-05T12:00:00Z"),
            ("1709640000999", "2024-03-05T12:00:00Z"),
            ("1709640000999.9", "2024-03-05T12:00:00Z"),
            ("1709640000999999", "2024-03-05T12:00:00Z"),
            ("1709640000999999999", "2024-03-05T12:00:00Z"),
            ("1000000000", "2001-09-09T01:46:40Z"),
            ("9999999999", "2286-11-20T17:46:39Z"),
            ("-1000000000", "1938-04-24T22:13:20Z"),
            ("-1000000000.5", "1938-04-24T22:13:19Z"),
            ("-1000000000000.0", "1938-04-24T22:13:20Z"),
            ("-1000000000001", "1938-04-24T22:13:19Z"),
        ] {
            assert_eq!(shown(parse_row_time(cell.as_bytes())), time, "{cell}");
        }
    }

    #[test]
    fn cells_without_times() {
        for cell in [
            "",
            " ",
            "-",
            ".",
            "-.",
            "null",
            "NaN",
            "0",
            "-1",
            "86400",
            "999999999",
            // Eleven and twelve digits are neither.
            "17096400000",
            "202403051200",
            "0001709640000",
            "1709640000e0",
            "+1709640000",
            "1709640000.5.5",
            "99999999999999999999",
            "20241305",
            "20240230120000",
            "20240305250000",
            "2024.5",
            "-2024",
            "2024-13-05",
            "2024-02-30",
            "2024-03-05T25:00:00Z",
            "2024-03-05T12:00:00 never",
            "2024-03-05T12:00:00+99:99",
            "05/03/2024",
            "Tue, 05 Mar 2024 12:00:00 GMT",
            "12:00:00",
            "\u{ff12}024",
        ] {
            assert_eq!(parse_row_time(cell.as_bytes()), None, "{cell:?}");
        }
        assert_eq!(parse_row_time(b"2024-03-0\xff"), None);
        let long = [b"2024-03-05".as_slice(), &b" ".repeat(MAX_CELL)].concat();
        assert_eq!(parse_row_time(&long), None);
    }

    /// pywb, CDX servers and ArchiveWeb.page. Ten digits are an hour here, not an epoch.
    #[test]
    fn fields_of_indexes() {
        for (field, time) in [
            ("20240305120001", "2024-03-05T12:00:01Z"),
            ("20240305120001333", "2024-03-05T12:00:01Z"),
            ("202403051200", "2024-03-05T12:00:59Z"),
            ("2024030512", "2024-03-05T12:59:59Z"),
            ("20240305", "2024-03-05T23:59:59Z"),
            ("202402", "2024-02-29T23:59:59Z"),
            ("2024", "2024-12-31T23:59:59Z"),
            ("", "no time"),
            ("0", "no time"),
            ("-", "no time"),
            ("20240305120", "no time"),
            ("1709640000000", "no time"),
            ("00240305120000", "no time"),
            ("20240230120000", "no time"),
            ("2024-03-05", "no time"),
        ] {
            assert_eq!(shown(parse_index_time(field.as_bytes())), time, "{field}");
        }
    }

    #[test]
    fn floats_are_numbers() {
        for (number, time) in [
            (1_709_640_000.0, "2024-03-05T12:00:00Z"),
            (1_709_640_000.75, "2024-03-05T12:00:00Z"),
            (1.709_640_000_123e12, "2024-03-05T12:00:00Z"),
            (-1_000_000_000.5, "1938-04-24T22:13:19Z"),
            (20_240_305.0, "2024-03-05T23:59:59Z"),
            (2024.5, "no time"),
            (0.0, "no time"),
            (f64::NAN, "no time"),
            (f64::INFINITY, "no time"),
            (1e19, "no time"),
        ] {
            assert_eq!(shown(time_of_float(number)), time, "{number}");
        }
    }

    /// A time that any writer may format.
    fn times() -> impl Strategy<Value = i64> {
        // The years 1000 to 9999.
        -30_610_224_000_i64..253_402_207_200
    }

    proptest! {
        #[test]
        fn formatted_times_are_read_back(time in times(), nanos in 0..1_000_000_000_i32) {
            let instant = Timestamp::new(time, nanos).unwrap();
            let text = instant.to_string();
            prop_assert_eq!(parse_row_time(text.as_bytes()), Some(time), "{}", text);
            let spaced = text.replace('T', " ").replace('Z', " UTC");
            prop_assert_eq!(parse_row_time(spaced.as_bytes()), Some(time), "{}", spaced);
            let digits = instant.strftime("%Y%m%d%H%M%S").to_string();
            prop_assert_eq!(parse_row_time(digits.as_bytes()), Some(time), "{}", digits);
            prop_assert_eq!(parse_index_time(digits.as_bytes()), Some(time), "{}", digits);
            let number: i64 = digits.parse().unwrap();
            prop_assert_eq!(time_of_integer(number), Some(time), "{}", digits);
        }

        /// The last second of a period is in it, and the next second is not.
        #[test]
        fn low_precision_is_the_last_second(time in times(), cut in 0..5_usize) {
            // The last second of the year 9999, and of its last month and day, is not a time.
            prop_assume!(time < 253_370_764_800);
            let len = [4, 6, 8, 10, 12][cut];
            let digits = |time| {
                let instant = Timestamp::from_second(time).unwrap();
                instant.strftime("%Y%m%d%H%M%S").to_string()[..len].to_owned()
            };
            let last = parse_index_time(digits(time).as_bytes()).unwrap();
            prop_assert_eq!(digits(last), digits(time));
            prop_assert_ne!(digits(last + 1), digits(time));
            if len <= 8 {
                prop_assert_eq!(parse_row_time(digits(time).as_bytes()), Some(last));
            }
        }

        #[test]
        fn units_agree(time in 1_000_000_000..10_000_000_000_i64, part in 0..1_000_000_000_i64) {
            for (unit, digits) in [(1, 0), (1_000, 3), (1_000_000, 6), (1_000_000_000, 9)] {
                let number = time.checked_mul(unit).and_then(|n| n.checked_add(part % unit));
                let Some(number) = number else { continue };
                prop_assert_eq!(time_of_integer(number), Some(time), "{} digits", digits);
                prop_assert_eq!(parse_row_time(number.to_string().as_bytes()), Some(time));
                let before = -time * unit - part % unit;
                let expected = if part % unit > 0 { -time - 1 } else { -time };
                prop_assert_eq!(time_of_integer(before), Some(expected));
            }
        }

        #[test]
        fn any_cell_is_read(cell in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = (parse_row_time(&cell), parse_index_time(&cell));
        }

        #[test]
        fn any_number_is_read(number in any::<i64>(), float in any::<f64>()) {
            let text = number.to_string();
            prop_assert_eq!(parse_row_time(text.as_bytes()), time_of_integer(number));
            let _ = time_of_float(float);
        }
    }
}
