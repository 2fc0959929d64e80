//! The time of a capture, which an archive may state to the second or less exactly.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Parses an RFC 3339 time, or one of lower precision, to seconds since 1970.
///
/// A year, a month, a day, an hour or a minute (`2019-08-15T01:02Z`) stands for its last second: the capture is as new as it can be, so it does not lose to one that is older for
/// certain.
pub(super) fn parse_time(text: &[u8]) -> Option<i64> {
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

/// [`parse_time`] of a `WARC-Date`, which is in UTC with or without a `Z`.
pub(super) fn parse_warc_date(text: &[u8]) -> Option<i64> {
    parse_time(text).or_else(|| {
        let text = std::str::from_utf8(text).ok()?.trim();
        // With an offset, this is still not a time.
        parse_time(format!("{text}Z").as_bytes())
    })
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
            assert_eq!(parse_warc_date(text.as_bytes()), parsed, "{text}");
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
                shown(parse_warc_date(text.as_bytes())).as_deref(),
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
            assert_eq!(parse_warc_date(text.as_bytes()), None, "{text:?}");
        }
    }
}
