//! The times of access logs, to seconds since 1970.

use crate::bytes::starts_with_masked;
use crate::time_text::{civil_seconds, number, parse_clock, parse_spaced_time, parse_zone};

/// Parses a time in one of the usual forms: `10/Oct/2000:13:55:36 -0700` (also in the brackets of
/// Apache's `%t`, and with a fraction), RFC 3339 (also with a blank, and without an offset, which is
/// then UTC), or seconds since 1970 with or without a fraction. Numbers beyond the year 5138 are
/// milliseconds, and beyond that microseconds and nanoseconds.
pub(super) fn parse_time(text: &[u8]) -> Option<i64> {
    let text = match text {
        [b'[', inner @ .., b']'] => inner,
        _ => text,
    };
    match text {
        [_, _, b'/', ..] => parse_common(text),
        [_, _, _, _, b'-' | b'/', ..] => parse_spaced_time(text),
        _ => parse_epoch(text),
    }
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
    let clock = parse_clock(&time[12..20])?;
    let zone = match zone.strip_prefix(b".") {
        Some(fraction) => {
            let digits = fraction
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            &fraction[digits..]
        }
        None => zone,
    };
    civil_seconds(date, clock, parse_zone(zone.strip_prefix(b" ")?)?)
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
            ("10/Oct/2000:13:55:36.125 -0700", Some(971_211_336)),
            ("[10/Oct/2000:13:55:36 -0700]", Some(971_211_336)),
            ("10/Oct/2000:13:55:36.125x -0700", None),
            ("[10/Oct/2000:13:55:36 -0700", None),
            ("[]", None),
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
