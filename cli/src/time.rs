//! Parses times (RFC 3339, or a date) and durations, and formats times.

use crate::help_text::COMMON;
use clap::Args;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

// When a failing site is asked again: of the verbs that list due origins.
#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// With --stale-at: a failing robots.txt is due this long after its fetch
    ///
    /// Failures are 429, 5xx and network errors. The Retry-After of the answer counts in place of
    /// this option, up to a day; its max-age does not count. The shorter the time, the sooner a site
    /// that has recovered is judged by its rules again.
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = parse_seconds,
        default_value = "1h",
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub retry_failed: u32,
}

/// Seconds per day.
const DAY: i64 = 24 * 60 * 60;

const FORMS: &str = "give a time like 2026-01-31T12:00:00Z or a date like 2026-01-31";

/// Parses a time to seconds since 1970; a date is its first second in UTC.
pub(crate) fn parse_instant(text: &str) -> Result<i64, String> {
    if is_date(text) {
        first_second(parse_date(text)?)
    } else {
        parse_time(text)
    }
}

/// [`parse_instant`], and `now` for the current time.
pub(crate) fn parse_instant_or_now(text: &str) -> Result<i64, String> {
    or_now(text, parse_instant)
}

/// Parses a time to seconds since 1970; a date, a month or a year is its last second in UTC, and
/// `now` the current time.
pub(crate) fn parse_through_or_now(text: &str) -> Result<i64, String> {
    or_now(text, |text| {
        if is_date(text) {
            last_second(parse_date(text)?)
        } else if is_month(text) {
            last_second(parse_date(&format!("{text}-01"))?.last_of_month())
        } else if is_year(text) {
            last_second(parse_date(&format!("{text}-12-31"))?)
        } else {
            parse_time(text).map_err(|err| match err.strip_suffix(FORMS) {
                Some(cause) => format!("{cause}{FORMS}, a month like 2026-01, a year"),
                None => err,
            })
        }
    })
}

/// Parses a duration such as `1h`, `30m` or `90s` to seconds.
pub(crate) fn parse_seconds(text: &str) -> Result<u32, String> {
    const FORMS: &str = "give a duration like 1h, 30m or 90s";
    let duration: SignedDuration = text
        .parse()
        .map_err(|_| format!("not a duration; {FORMS}"))?;
    u32::try_from(duration.as_secs()).map_err(|_| format!("too long, or negative; {FORMS}"))
}

fn or_now(text: &str, parse: impl Fn(&str) -> Result<i64, String>) -> Result<i64, String> {
    match text {
        "now" => Ok(Timestamp::now().as_second()),
        _ => parse(text).map_err(|err| format!("{err}, or now")),
    }
}

/// Whether the text has exactly the form `2026-01-31`: a time without an offset is not a date.
fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(i, b)| {
            if matches!(i, 4 | 7) {
                b == b'-'
            } else {
                b.is_ascii_digit()
            }
        })
}

/// Whether the text has exactly the form `2026-01`.
fn is_month(text: &str) -> bool {
    text.len() == 7 && is_date(&format!("{text}-01"))
}

/// Whether the text has exactly the form `2026`.
fn is_year(text: &str) -> bool {
    text.len() == 4 && is_date(&format!("{text}-12-31"))
}

fn last_second(date: Date) -> Result<i64, String> {
    Ok(first_second(date)? + DAY - 1)
}

fn parse_date(text: &str) -> Result<Date, String> {
    text.parse()
        .map_err(|_| format!("there is no such date; {FORMS}"))
}

fn first_second(date: Date) -> Result<i64, String> {
    let midnight = date
        .to_zoned(TimeZone::UTC)
        .map_err(|_| format!("too far away; {FORMS}"))?;
    Ok(midnight.timestamp().as_second())
}

fn parse_time(text: &str) -> Result<i64, String> {
    match (text.parse::<Timestamp>(), text.parse::<DateTime>()) {
        (Ok(time), _) => Ok(time.as_second()),
        (Err(_), Ok(time)) => Err(format!("the time zone is missing; in UTC that is {time}Z")),
        (Err(_), Err(_)) => Err(format!("not a time; {FORMS}")),
    }
}

/// Seconds since 1970 as RFC 3339.
pub(crate) fn time(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

/// The day of a time in seconds since 1970.
pub(crate) fn day(seconds: i64) -> String {
    time(seconds).chars().take_while(|c| *c != 'T').collect()
}

/// The time to the minute.
pub(crate) fn minute(seconds: i64) -> String {
    time(seconds)
        .replace('T', " ")
        .chars()
        .take(16)
        .collect::<String>()
        + " UTC"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_dates_parse() {
        assert_eq!(parse_instant("1970-01-02"), Ok(86_400));
        assert_eq!(parse_instant("1970-01-01T00:00:01Z"), Ok(1));
        assert_eq!(parse_instant("1970-01-01T01:00:00+01:00"), Ok(0));
        assert_eq!(parse_through_or_now("1970-01-01"), Ok(86_399));
        assert_eq!(parse_through_or_now("1970-01-01T00:00:01Z"), Ok(1));
        assert_eq!(parse_through_or_now("1970-02"), Ok(59 * DAY - 1));
        assert_eq!(parse_through_or_now("1970"), Ok(365 * DAY - 1));
        let said = parse_through_or_now("197").unwrap_err();
        assert!(
            said.ends_with("a month like 2026-01, a year, or now"),
            "{said}"
        );
        assert!(parse_instant("1970").is_err());
        assert!(parse_through_or_now("1970-13").is_err_and(|err| err.contains("no such date")));
        let now = Timestamp::now().as_second();
        for parse in [parse_instant_or_now, parse_through_or_now] {
            assert!(parse("now").is_ok_and(|time| (now..now + 60).contains(&time)));
            assert!(parse("Now").is_err_and(|err| err.ends_with(", or now")));
        }
        assert_eq!(parse_instant_or_now("1970-01-02"), Ok(86_400));
        assert_eq!(time(86_400), "1970-01-02T00:00:00Z");
        assert_eq!(day(86_400), "1970-01-02");
        assert_eq!(minute(86_400), "1970-01-02 00:00 UTC");
    }

    #[test]
    fn durations_parse() {
        for (text, seconds) in [
            ("1h", 3600),
            ("30m", 1800),
            ("90s", 90),
            ("0s", 0),
            ("1h 30m", 5400),
            ("48h", 172_800),
            ("PT1H", 3600),
        ] {
            assert_eq!(parse_seconds(text), Ok(seconds), "{text}");
        }
        for text in ["", "60", "-1h", "1x", "2000000h", "soon"] {
            let said = parse_seconds(text).unwrap_err();
            assert!(said.contains("give a duration like 1h"), "{text:?}: {said}");
        }
    }

    #[test]
    fn time_errors_name_the_cause() {
        for (text, cause) in [
            ("2024-13-01", "no such date"),
            ("2023-02-29", "no such date"),
            ("2024-01-01T00:00:00", "in UTC that is 2024-01-01T00:00:00Z"),
            ("20240101", "in UTC that is 2024-01-01T00:00:00Z"),
            ("2024-01-01T25:00:00Z", "not a time; give a time like"),
            ("1704067200", "not a time; give a time like"),
            ("tomorrow", "not a time; give a time like"),
            ("", "not a time; give a time like"),
        ] {
            let said = parse_instant(text).unwrap_err();
            assert!(said.contains(cause), "{text:?}: {said}");
        }
    }
}
