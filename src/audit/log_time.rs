//! The times of access logs, to seconds since 1970.

use crate::bytes::starts_with_masked;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Parses a time in one of the usual forms: `10/Oct/2000:13:55:36 -0700`, RFC 3339 (also with a
/// blank, and without an offset, which is then UTC), or seconds since 1970 with or without a
/// fraction. Numbers beyond the year 5138 are milliseconds, and beyond that microseconds and
/// nanoseconds.
pub(super) fn parse_time(text: &[u8]) -> Option<i64> {
    match text {
        [_, _, b'/', ..] => parse_common(text),
        [_, _, _, _, b'-' | b'/', ..] => parse_iso(text),
        _ => parse_epoch(text),
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + i64::from(byte - b'0'))
    })
}

const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// The Common Log Format: `10/Oct/2000:13:55:36 -0700`.
fn parse_common(text: &[u8]) -> Option<i64> {
    let (time, zone) = text.split_at_checked(20)?;
    let month = MONTHS.iter().position(|month| *month == &time[3..6])? as i64 + 1;
    let separators = [time[2], time[6], time[11], time[14], time[17]];
    if separators != *b"//:::" {
        return None;
    }
    let date = [number(&time[7..11])?, month, number(&time[0..2])?];
    let clock = clock(&time[12..20])?;
    seconds(date, clock, parse_zone(zone.strip_prefix(b" ")?)?)
}

/// RFC 3339, also with a blank in place of `T`, a fraction, no offset, or slashes in the date.
fn parse_iso(text: &[u8]) -> Option<i64> {
    let (time, mut rest) = text.split_at_checked(19)?;
    let separators = [time[4], time[7], time[13], time[16]];
    if !matches!(&separators, b"--::" | b"//::") || !matches!(time[10], b'T' | b't' | b' ') {
        return None;
    }
    if let [b'.' | b',', fraction @ ..] = rest {
        rest = &fraction[fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()..];
    }
    let rest = rest.trim_ascii_start();
    let offset = if rest.is_empty() {
        0
    } else {
        parse_zone(rest)?
    };
    let date = [
        number(&time[..4])?,
        number(&time[5..7])?,
        number(&time[8..10])?,
    ];
    seconds(date, clock(&time[11..19])?, offset)
}

/// Hour, minute and second of a text such as `13:55:36`.
fn clock(text: &[u8]) -> Option<[i64; 3]> {
    Some([
        number(&text[..2])?,
        number(&text[3..5])?,
        number(&text[6..8])?,
    ])
}

/// An offset to seconds: `Z`, `+0200`, `+02:00`, `+02`.
fn parse_zone(text: &[u8]) -> Option<i64> {
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

/// A time of day on a date, at this offset from UTC.
fn seconds(date: [i64; 3], clock: [i64; 3], offset: i64) -> Option<i64> {
    let [year, month, day] = date;
    let [hour, minute, second] = clock;
    // A leap second counts as the second before it.
    let second = if second == 60 { 59 } else { second };
    let time = DateTime::new(
        year.try_into().ok()?,
        month.try_into().ok()?,
        day.try_into().ok()?,
        hour.try_into().ok()?,
        minute.try_into().ok()?,
        second.try_into().ok()?,
        0,
    );
    let offset = Offset::from_seconds(i32::try_from(offset).ok()?).ok()?;
    offset
        .to_timestamp(time.ok()?)
        .ok()
        .map(|time| time.as_second())
}

/// Seconds since 1970, or milliseconds, microseconds or nanoseconds by the number of digits.
fn parse_epoch(text: &[u8]) -> Option<i64> {
    let (whole, fraction) = match memchr::memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, b"".as_slice()),
    };
    if whole.is_empty() || whole.len() > 19 || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut time = whole.iter().try_fold(0_u64, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')))
    })?;
    while time >= 100_000_000_000 {
        time /= 1000;
    }
    i64::try_from(time).ok()
}

/// The last parsed time of a block, with the literal after it. Neighbouring lines of a busy log
/// have the same second.
#[derive(Debug, Default)]
pub(super) struct TimeMemo {
    /// The first `len` bytes are the text of a valid time, and the literal. A longer text is not
    /// kept.
    known: [u8; 32],
    len: usize,
    time: i64,
}

impl TimeMemo {
    /// [`parse_time`] of a text before a literal, which is kept with its time.
    pub(super) fn parse(&mut self, text: &[u8], literal: &[u8]) -> Option<()> {
        self.time = parse_time(text)?;
        let len = text.len() + literal.len();
        // The kept text is always that of `time`.
        self.len = 0;
        if let Some(known) = self.known.get_mut(..len) {
            known[..text.len()].copy_from_slice(text);
            known[text.len()..].copy_from_slice(literal);
            self.len = len;
        }
        Some(())
    }

    /// The length of the last time and the literal after it, if `rest` begins with both.
    #[inline(always)]
    pub(super) fn known_len(&self, rest: &[u8]) -> Option<usize> {
        let is_known = self.len > 0 && starts_with_masked(rest, &self.known[..self.len]);
        is_known.then_some(self.len)
    }

    /// The last time.
    pub(super) fn last(&self) -> i64 {
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_forms_of_times() {
        for (text, time) in [
            ("10/Oct/2000:13:55:36 -0700", Some(971_211_336)),
            ("01/Jan/1970:00:00:00 +0000", Some(0)),
            ("29/Feb/2024:23:59:60 +0000", Some(1_709_251_199)),
            ("2000-10-10T13:55:36-07:00", Some(971_211_336)),
            ("2000-10-10 20:55:36.125", Some(971_211_336)),
            ("2000-10-10T20:55:36.1Z", Some(971_211_336)),
            ("2000/10/10 20:55:36.125", Some(971_211_336)),
            ("2000/10-10 20:55:36", None),
            ("971211336", Some(971_211_336)),
            ("971211336.789", Some(971_211_336)),
            ("971211336789", Some(971_211_336)),
            ("971211336789012345", Some(971_211_336)),
            ("0", Some(0)),
            ("31/Feb/2024:00:00:00 +0000", None),
            ("32/Jan/2024:00:00:00 +0000", None),
            ("01/Xxx/2024:00:00:00 +0000", None),
            ("01/Jan/2024:24:00:00 +0000", None),
            ("01/Jan/2024:00:00:00", None),
            ("01/Jan/2024:00:00:00 0000", None),
            ("2024-01-01", None),
            ("2024-01-01T00:00:00 never", None),
            ("-", None),
            ("", None),
            ("1e9", None),
            ("//////////////////////////", None),
        ] {
            assert_eq!(parse_time(text.as_bytes()), time, "{text}");
        }
        let mut memo = TimeMemo::default();
        assert_eq!(
            (memo.parse(b"", b"]"), memo.known_len(b"] x")),
            (None, None)
        );
        assert_eq!(memo.parse(b"7", b"]"), Some(()));
        assert_eq!((memo.parse(b"8x", b"]"), memo.last()), (None, 7));
        for (rest, len) in [
            (b"7] x".as_slice(), Some(2)),
            (b"7 ]", None),
            (b"7", None),
            (b"17]", None),
        ] {
            assert_eq!(memo.known_len(rest), len);
        }
        assert_eq!(memo.parse(&b"1".repeat(1000), b"]"), None);
        let fraction = [b"7.", &b"0".repeat(40)[..]].concat();
        assert_eq!((memo.parse(&fraction, b"]"), memo.last()), (Some(()), 7));
        assert_eq!(memo.known_len(&fraction), None);
    }
}
