//! The values of header fields: numbers, times, and lists of them.

use crate::archive::capture::RetryAfter;
use crate::bytes::trim;
use bstr::ByteSlice;

/// The first `max-age` in seconds of the `Cache-Control` headers with these values, which are one
/// list (RFC 9110 §5.3). Other cache directives are ignored.
pub(in crate::archive) fn max_age<V: AsRef<[u8]>>(
    values: impl IntoIterator<Item = V>,
) -> Option<u32> {
    values.into_iter().find_map(|value| {
        value.as_ref().split_str(",").find_map(|directive| {
            let (name, seconds) = directive.split_once_str("=")?;
            trim(name)
                .eq_ignore_ascii_case(b"max-age")
                .then(|| delta_seconds(trim(seconds).trim_with(|c| c == '"')))?
        })
    })
}

/// The value of the `Retry-After` header of a response with this status; `None` if it is neither
/// seconds nor a time, or if the status has another meaning than "later": only a 429 and the 5xx do
/// not answer.
pub(in crate::archive) fn retry_after(status: u16, value: &[u8]) -> Option<RetryAfter> {
    if status != 429 && !(500..600).contains(&status) {
        return None;
    }
    let value = trim(value);
    delta_seconds(value)
        .map(RetryAfter::Seconds)
        .or_else(|| http_date(std::str::from_utf8(value).ok()?).map(RetryAfter::At))
}

/// A number of seconds, as several headers have it. Larger numbers count as `u32::MAX - 1` (RFC 9111
/// §1.2.2).
fn delta_seconds(text: &[u8]) -> Option<u32> {
    Some(decimal(text)?.min(u64::from(u32::MAX - 1)) as u32)
}

/// The time of an HTTP-date in seconds since 1970, in any of its three forms (RFC 9110 §5.6.7). The
/// day of the week is not compared with the date.
fn http_date(text: &str) -> Option<i64> {
    const CURRENT: jiff::fmt::rfc2822::DateTimeParser =
        jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
    if let Ok(time) = CURRENT.parse_timestamp(text) {
        return Some(time.as_second());
    }
    // The forms of RFC 850 and of C's `asctime`, which recipients must still parse. Both are in UTC.
    let (_, date) = text.split_once(' ')?;
    ["%d-%b-%y %H:%M:%S GMT", "%b %e %H:%M:%S %Y"]
        .iter()
        .find_map(|format| jiff::civil::DateTime::strptime(format, date).ok())
        .and_then(|time| jiff::tz::Offset::UTC.to_timestamp(time).ok())
        .map(jiff::Timestamp::as_second)
}

/// The largest `Content-Length` in the values of its headers. All should be equal (RFC 9110 §8.6);
/// the largest one finds a body that is incomplete by any of them.
pub(super) fn declared_length<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Option<u64> {
    let mut largest = None;
    for value in values {
        let lengths = value.as_ref().split_str(",").map(trim);
        largest = lengths.filter_map(decimal).max().max(largest);
    }
    largest
}

/// A number of digits only. `None` for other texts; larger numbers than fit count as the largest.
pub(super) fn decimal(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::http::parse;
    use crate::archive::http::tests::outcome;

    /// RFC 9110 §10.2.3 and §5.6.7. The date is that of the RFC's examples.
    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let retry_after = |status: u16, value: &str| {
            let block = format!("HTTP/1.1 {status} x\r\nretry-after: {value}\r\n\r\n");
            parse(block.into(), false).unwrap().retry_after
        };
        let seconds = |value: &str| match retry_after(503, value) {
            Some(RetryAfter::Seconds(seconds)) => Some(seconds),
            _ => None,
        };
        assert_eq!(
            [
                "0",
                "120",
                "4294967294",
                "4294967295",
                "99999999999999999999"
            ]
            .map(seconds),
            [
                Some(0),
                Some(120),
                Some(u32::MAX - 1),
                Some(u32::MAX - 1),
                Some(u32::MAX - 1)
            ]
        );
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Mon, 6 Nov 1994 08:49:37 GMT",
            "06 Nov 1994 08:49:37 +0000",
        ] {
            assert_eq!(
                retry_after(503, date),
                Some(RetryAfter::At(784_111_777)),
                "{date}"
            );
        }
        for wrong in [
            "",
            "-1",
            "+1",
            "1.5",
            "5 s",
            "soon",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "1994-11-06",
            "Sun, 06 Nov 1994",
            "\u{ff}",
        ] {
            assert_eq!(retry_after(503, wrong), None, "{wrong:?}");
        }
        for status in [429, 500, 599] {
            assert_eq!(retry_after(status, "7"), Some(RetryAfter::Seconds(7)));
        }
        for status in [200, 301, 304, 404, 600] {
            assert_eq!(retry_after(status, "7"), None, "{status}");
        }
        let at = RetryAfter::At(1000);
        assert_eq!(
            [
                at.seconds(Some(400)),
                at.seconds(Some(1001)),
                at.seconds(None)
            ],
            [Some(600), Some(0), None]
        );
        assert_eq!(RetryAfter::Seconds(7).seconds(None), Some(7));
        assert_eq!(
            RetryAfter::At(i64::MAX).seconds(Some(i64::MIN)),
            Some(u32::MAX - 1)
        );
    }

    /// RFC 9110 §5.3: several headers of a name are one list.
    #[test]
    fn lists_may_be_on_several_lines() {
        let max_age = |headers: &str| {
            let block = format!("HTTP/1.1 404 x\r\n{headers}\r\n\r\n");
            parse(block.into(), false).unwrap().max_age
        };
        for (headers, expected) in [
            (
                "Cache-Control: public\r\nVary: x\r\ncache-control: max-age=60",
                Some(60),
            ),
            (
                "Cache-Control: max-age=1, max-age=2\r\nCache-Control: max-age=3",
                Some(1),
            ),
            (
                "Cache-Control: max-age=x\r\nCache-Control: MAX-AGE = \"3\"",
                Some(3),
            ),
            (
                "Cache-Control: max-age=99999999999999999999",
                Some(u32::MAX - 1),
            ),
            ("Cache-Control: s-maxage=1\r\nCache-Control: no-cache", None),
        ] {
            assert_eq!(max_age(headers), expected, "{headers}");
        }
        // RFC 9110 §8.6: a proxy may have repeated the length.
        let whole = b"user-agent: *";
        for (headers, is_whole) in [
            ("Content-Length: 13, 13", true),
            ("Content-Length: 13\r\nContent-Length: 13", true),
            ("Content-Length: 14, 14", false),
            ("Content-Length: 13\r\nContent-Length: 14", false),
            ("Content-Length: 14\r\nContent-Length: 13", false),
            ("Content-Length: 99999999999999999999", false),
            ("Content-Length: +14", true),
        ] {
            assert_eq!(outcome(headers, whole).is_ok(), is_whole, "{headers}");
        }
    }
}
