//! The one normal form of percent-escapes, for rule paths and URL paths alike.

use crate::profile::Profile;
use crate::simd::{AnyBackend, Backend};
use std::borrow::Cow;

/// A URL's path and query in the normal form that rules are compared with.
///
/// Bytes from 0x80 become `%XX` and the hex digits of escapes upper-case, so that raw UTF-8 in a log meets an
/// escaped rule (the reference leaves this to its caller). Profile `Rfc9309` also decodes the escapes of
/// unreserved characters and `%24` (`$`), and escapes a `*`, which in a rule's normal form is always the wildcard
/// (RFC 9309 §2.2.2, §2.2.3).
#[inline]
pub(crate) fn normalize_path(path: &[u8], profile: Profile) -> Cow<'_, [u8]> {
    if AnyBackend::detect().is_plain(path) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(normalize_odd_path(path, profile))
}

#[cold]
fn normalize_odd_path(path: &[u8], profile: Profile) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + 16);
    normalize_into(path, profile, Side::Url, &mut out);
    out
}

/// A rule's path in normal form; `anchored` is whether its final `$` stands for the end of the URL.
///
/// The anchor is cut off, so every `$` in the result is literal and every `*` the wildcard: under `Rfc9309`
/// a `%24` has become `$` and a `%2A` stays, to meet the `%2A` that [`normalize_path`] makes of a `*`.
pub(crate) fn normalize_rule(value: &[u8], profile: Profile) -> (Cow<'_, [u8]>, bool) {
    let (text, anchored) = match value.strip_suffix(b"$") {
        Some(text) => (text, true),
        None => (value, false),
    };
    // Without an early end, which would have it looked through byte by byte.
    if !text.iter().fold(false, |is_odd, &b| is_odd | (b >= 0x80) | (b == b'%')) {
        return (Cow::Borrowed(text), anchored);
    }
    let mut out = Vec::with_capacity(text.len() + 16);
    normalize_into(text, profile, Side::Rule, &mut out);
    (Cow::Owned(out), anchored)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Rule,
    Url,
}

fn normalize_into(text: &[u8], profile: Profile, side: Side, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((&b, tail)) = rest.split_first() {
        if let Some((escaped, tail)) = escape_at(rest) {
            push_escape(escaped, rest, profile, out);
            rest = tail;
            continue;
        }
        let star = b == b'*' && side == Side::Url && profile == Profile::Rfc9309;
        if b >= 0x80 || star {
            push_hex(b, out);
        } else {
            out.push(b);
        }
        rest = tail;
    }
}

/// Writes the escape of byte `escaped`, which stands at the start of `rest` as `%` and two hex digits.
fn push_escape(escaped: u8, rest: &[u8], profile: Profile, out: &mut Vec<u8>) {
    let decode = profile == Profile::Rfc9309 && (escaped.is_ascii_alphanumeric() || b"-._~$".contains(&escaped));
    if decode {
        out.push(escaped);
    } else {
        out.extend(rest[..3].iter().map(u8::to_ascii_uppercase));
    }
}

/// The byte that an escape at the start of `text` stands for, and what follows the escape.
fn escape_at(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, tail @ ..] = text else { return None };
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    Some((digit(*high)? << 4 | digit(*low)?, tail))
}

fn push_hex(b: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use Profile::{Google, Rfc9309};

    fn path(text: &[u8], profile: Profile) -> String {
        String::from_utf8(normalize_path(text, profile).into_owned()).unwrap()
    }

    fn rule(text: &[u8], profile: Profile) -> (String, bool) {
        let (text, anchored) = normalize_rule(text, profile);
        (String::from_utf8(text.into_owned()).unwrap(), anchored)
    }

    #[test]
    fn the_url_side() {
        assert!(matches!(normalize_path(b"/a?b=c", Google), Cow::Borrowed(_)));
        assert_eq!(path("/ä%c3%7e%4".as_bytes(), Google), "/%C3%A4%C3%7E%4");
        assert_eq!(path("/ä%c3%7e%4*%2a$%24".as_bytes(), Rfc9309), "/%C3%A4%C3~%4%2A%2A$$");
        assert_eq!(path(b"/*", Google), "/*");
    }

    #[test]
    fn the_rule_side() {
        assert_eq!(rule(b"/a$", Google), ("/a".into(), true));
        assert_eq!(rule("/ä%aa$b".as_bytes(), Google), ("/%C3%A4%AA$b".into(), false));
        assert_eq!(rule(b"/%41%2a*%24", Rfc9309), ("/A%2A*$".into(), false));
        assert_eq!(rule(b"$", Google), (String::new(), true));
    }
}
