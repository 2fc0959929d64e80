//! Times as archives, logs and tables write them: RFC 3339, and what deviates from it.
//!
//! The functions differ in strictness. [`parse_time`] demands a zone, because a time without one
//! may be hours off; [`parse_time_in_utc`] is for formats that define UTC; [`parse_spaced_time`]
//! also reads the spellings of programs that print times for people.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Parses an RFC 3339 time, or one of lower precision, to seconds since 1970.
///
/// A year, a month, a day, an hour or a minute (`2019-08-15T01:02Z`) stands for its last second. A
/// capture is then as new as it can be, so it does not lose to one that is older for certain.
pub(crate) fn parse_time(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    match text.split_once(['T', 't', ' ']) {
        None => last_second(last_day(text)?),
        Some((day, time)) => {
            // Nearly all times are exact, and are parsed as they are.
            if time.as_bytes().get(5) == Some(&b':') {
                return to_seconds(text);
            }
            // The rest of a time is its zone, if it has one.
            let digits = time
                .find(|c: char| !c.is_ascii_digit() && c != ':')
                .unwrap_or(time.len());
            let (time, zone) = time.split_at(digits);
            let rest = match time.len() {
                2 => ":59:59",
                5 => ":59",
                _ => "",
            };
            to_seconds(&format!("{day}T{time}{rest}{zone}"))
        }
    }
}

/// [`parse_time`], and times without a zone, which are in UTC. So is a `WARC-Date`, with or without
/// its `Z`.
pub(crate) fn parse_time_in_utc(text: &[u8]) -> Option<i64> {
    parse_time(text).or_else(|| {
        let text = std::str::from_utf8(text).ok()?.trim();
        // With an offset, this is still not a time.
        parse_time(format!("{text}Z").as_bytes())
    })
}

/// Parses a date and a time of day to seconds since 1970: RFC 3339, also with a blank in place of
/// the `T`, with slashes in the date, and with any [zone](parse_zone), which blanks may precede.
/// Without a zone the time is in UTC.
pub(crate) fn parse_spaced_time(text: &[u8]) -> Option<i64> {
    let (t, mut rest) = text.split_first_chunk::<19>()?;
    let separators = [t[4], t[7], t[13], t[16]];
    if !matches!(&separators, b"--::" | b"//::") || !matches!(t[10], b'T' | b't' | b' ') {
        return None;
    }
    if let [b'.' | b',', fraction @ ..] = rest {
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let len = fraction.iter().take_while(|byte| is_digit(byte)).count();
        rest = &fraction[len..];
    }
    let rest = rest.trim_ascii_start();
    let offset = if rest.is_empty() {
        0
    } else {
        parse_zone(rest)?
    };
    let [century, year, month, day, hour, minute, second] = digit_pairs([
        [t[0], t[1]],
        [t[2], t[3]],
        [t[5], t[6]],
        [t[8], t[9]],
        [t[11], t[12]],
        [t[14], t[15]],
        [t[17], t[18]],
    ])?;
    let date = [century * 100 + year, month, day];
    civil_seconds(date, [hour, minute, second], offset)
}

/// Parses `YYYYMMDDhhmmss`, in UTC, to seconds since 1970.
pub(crate) fn parse_compact_time(digits: &[u8; 14]) -> Option<i64> {
    let (pairs, _) = digits.as_chunks::<2>();
    let [century, year, month, day, hour, minute, second] = digit_pairs(pairs.try_into().ok()?)?;
    let date = [century * 100 + year, month, day];
    civil_seconds(date, [hour, minute, second], 0)
}

/// The numbers of two ASCII digits each. `None` if another byte is among them, which no branch looks
/// for before the end.
#[inline(always)]
fn digit_pairs<const N: usize>(pairs: [[u8; 2]; N]) -> Option<[i64; N]> {
    let mut has_other = false;
    let mut numbers = [0; N];
    for (number, [tens, ones]) in numbers.iter_mut().zip(pairs) {
        let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
        has_other |= (tens > 9) | (ones > 9);
        *number = i64::from(tens) * 10 + i64::from(ones);
    }
    (!has_other).then_some(numbers)
}

/// The number that ASCII digits write; `None` if another byte is among them.
pub(crate) fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + i64::from(byte - b'0'))
    })
}

/// Hour, minute and second of a text of the form `13:55:36`.
pub(crate) fn parse_clock(text: &[u8]) -> Option<[i64; 3]> {
    Some([
        number(&text[..2])?,
        number(&text[3..5])?,
        number(&text[6..8])?,
    ])
}

/// An offset from UTC in seconds: `Z`, `UTC`, `GMT`, `+0200`, `+02:00`, `+02`.
pub(crate) fn parse_zone(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        b"Z" | b"z" | b"UTC" | b"GMT" => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match *digits {
        [a, b] => ([a, b], *b"00"),
        [a, b, b':', c, d] | [a, b, c, d] => ([a, b], [c, d]),
        _ => return None,
    };
    Some(sign * (number(&hours)? * 3600 + number(&minutes)? * 60))
}

/// A time of day (hour, minute, second) on a date (year, month, day), at this offset from UTC, in
/// seconds since 1970. `None` if there is no such day or time, or if `jiff` cannot represent it.
///
/// Plain arithmetic in place of `jiff`, because a table has a time in each row: reading and judging a
/// row of a sorted index takes some 60 ns, and parsing its time 12 more.
pub(crate) fn civil_seconds(date: [i64; 3], clock: [i64; 3], offset: i64) -> Option<i64> {
    const MAX_OFFSET: i64 = 93_599;
    let [year, month, day] = date;
    let [hour, minute, second] = clock;
    // A leap second counts as the second before it.
    let second = if second == 60 { 59 } else { second };
    let is_time = (0..24).contains(&hour) & (0..60).contains(&minute) & (0..60).contains(&second);
    let is_month = (0..=9999).contains(&year) & (1..=12).contains(&month);
    if !is_time || !is_month || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    if offset.abs() > MAX_OFFSET {
        return None;
    }
    let of_day = (hour * 60 + minute) * 60 + second;
    let seconds = days_since_1970(year, month, day) * 86_400 + of_day - offset;
    (seconds <= Timestamp::MAX.as_second()).then_some(seconds)
}

/// The number of days of a month.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970-01-01 to a date of the Gregorian calendar, from the year 0 on.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    /// The days of a year before each month, without a leap day.
    const BEFORE_MONTH: [u16; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    /// What the sum below is for 1970-01-01, but for this term.
    const TO_1970: i64 = 1970 * 365 + 1970 / 4 - 1970 / 100 + 1970 / 400;
    // The leap day of a year counts from March on.
    let leaps_to = if month <= 2 { year - 1 } else { year };
    // Rounded down, also for January of the year 0.
    let leap_days = (leaps_to >> 2) - leaps_to.div_euclid(100) + (leaps_to.div_euclid(100) >> 2);
    let before_month = BEFORE_MONTH[(month - 1) as usize % 12];
    year * 365 + leap_days + i64::from(before_month) + day - 1 - TO_1970
}

/// The last day of a year, a month or a day.
fn last_day(text: &str) -> Option<Date> {
    let number = |from: usize, to: usize| text[from..to].parse::<i16>().ok();
    if has_form(text, "0000") {
        Date::new(number(0, 4)?, 12, 31).ok()
    } else if has_form(text, "0000-00") {
        let first = Date::new(number(0, 4)?, i8::try_from(number(5, 7)?).ok()?, 1);
        first.ok().map(Date::last_of_month)
    } else if has_form(text, "0000-00-00") {
        text.parse().ok()
    } else {
        None
    }
}

/// Whether a text has the digits of `form` where that has zeros, and else the same bytes.
fn has_form(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text
            .bytes()
            .zip(form.bytes())
            .all(|(b, expected)| match expected {
                b'0' => b.is_ascii_digit(),
                _ => b == expected,
            })
}

fn last_second(day: Date) -> Option<i64> {
    let end: DateTime = day.at(23, 59, 59, 0);
    let end = end.to_zoned(TimeZone::UTC).ok()?;
    Some(end.timestamp().as_second())
}

fn to_seconds(text: &str) -> Option<i64> {
    text.parse().ok().map(Timestamp::as_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(seconds: Option<i64>) -> Option<String> {
        seconds.map(|seconds| Timestamp::from_second(seconds).unwrap().to_string())
    }

    /// WARC/1.1 §5.4: the granularities of W3CDTF.
    #[test]
    fn a_time_of_low_precision_is_the_end_of_its_period() {
        for (text, end) in [
            ("2019", "2019-12-31T23:59:59Z"),
            ("2020-02", "2020-02-29T23:59:59Z"),
            ("2019-02", "2019-02-28T23:59:59Z"),
            ("2026-02-01", "2026-02-01T23:59:59Z"),
            ("2019-08-15T01Z", "2019-08-15T01:59:59Z"),
            ("2019-08-15T01:02Z", "2019-08-15T01:02:59Z"),
            ("2019-08-15t01:02+02:00", "2019-08-14T23:02:59Z"),
            ("2019-08-15T01:02:03Z", "2019-08-15T01:02:03Z"),
            ("2019-08-15T01:02:03.999999999Z", "2019-08-15T01:02:03Z"),
            (" 2019-08-15T01:02:03-01:00 ", "2019-08-15T02:02:03Z"),
        ] {
            let parsed = parse_time(text.as_bytes());
            assert_eq!(shown(parsed).as_deref(), Some(end), "{text}");
            assert_eq!(parse_time_in_utc(text.as_bytes()), parsed, "{text}");
        }
    }

    #[test]
    fn a_warc_date_without_a_zone_is_in_utc() {
        for (text, time) in [
            ("2019-08-15T01", "2019-08-15T01:59:59Z"),
            ("2019-08-15T01:02", "2019-08-15T01:02:59Z"),
            ("2019-08-15T01:02:03", "2019-08-15T01:02:03Z"),
            ("2019-08-15T01:02:03.5", "2019-08-15T01:02:03Z"),
        ] {
            assert_eq!(parse_time(text.as_bytes()), None, "{text}");
            assert_eq!(
                shown(parse_time_in_utc(text.as_bytes())).as_deref(),
                Some(time),
                "{text}"
            );
        }
    }

    #[test]
    fn other_texts_are_not_times() {
        for text in [
            "",
            "Z",
            "19",
            "20190815",
            "2019-13",
            "2019-00",
            "2019-02-30",
            "2019-8-15",
            "2019-08-15T",
            "2019-08-15T25:00",
            "2019-08-15T01:02\u{e9}",
            "2019-08-15T\u{e9}:02",
            "yesterday",
        ] {
            assert_eq!(parse_time_in_utc(text.as_bytes()), None, "{text:?}");
        }
    }

    /// Every day, and each part of the time.
    #[test]
    fn civil_seconds_are_those_of_jiff() {
        let mut day = Date::new(0, 1, 1).unwrap();
        let last = Date::new(9999, 12, 29).unwrap();
        while day < last {
            let date = [day.year().into(), day.month().into(), day.day().into()];
            assert_eq!(
                civil_seconds(date, [23, 59, 59], 0),
                last_second(day),
                "{day}"
            );
            assert_eq!(
                days_in_month(day.year().into(), day.month().into()),
                i64::from(day.days_in_month())
            );
            day = day.tomorrow().unwrap();
        }
        assert_eq!(civil_seconds([1970, 1, 1], [0, 0, 0], 0), Some(0));
        assert_eq!(civil_seconds([1970, 1, 1], [1, 2, 3], 3600), Some(123));
        for (date, clock) in [
            ([2023, 2, 29], [0, 0, 0]),
            ([1900, 2, 29], [0, 0, 0]),
            ([2024, 4, 31], [0, 0, 0]),
            ([2024, 0, 1], [0, 0, 0]),
            ([2024, 13, 1], [0, 0, 0]),
            ([2024, 1, 0], [0, 0, 0]),
            ([2024, 1, 32], [0, 0, 0]),
            ([2024, 1, 1], [24, 0, 0]),
            ([2024, 1, 1], [0, 60, 0]),
            ([2024, 1, 1], [0, 0, 61]),
            ([9999, 12, 31], [23, 59, 59]),
        ] {
            assert_eq!(civil_seconds(date, clock, 0), None, "{date:?} {clock:?}");
        }
        assert_eq!(civil_seconds([2024, 1, 1], [0, 0, 0], 93_600), None);
    }
}
