//! Percent-escapes: the normal form in which the paths of rules and of URLs are compared.

use crate::profile::Profile;
use crate::simd::{AnyBackend, Backend};
use std::borrow::Cow;

/// The normal form of a URL's path and query. Borrows the text if it is normal, as nearly all are.
///
/// Bytes from 0x80 become `%XX`, and the hex digits of escapes become upper-case, so that an
/// escaped rule matches raw UTF-8 in a log (the reference leaves this to its caller). Profile
/// `Rfc9309` also decodes the escapes of unreserved characters and `%24` (`$`). It escapes a `*`,
/// because in the normal form of a rule that is always the wildcard (RFC 9309 §2.2.2, §2.2.3).
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
    normalize_into(path, profile, PathKind::Url, &mut out);
    out
}

/// The normal form of a rule's path, and whether it is anchored: whether it ends in `$`, which
/// matches the end of the URL.
///
/// The anchor is cut off, so every `$` in the result is a literal and every `*` the wildcard. Under
/// `Rfc9309`, `%24` becomes `$`, and `%2A` stays, to match the `%2A` that [`normalize_path`] writes
/// for a `*`.
pub(crate) fn normalize_rule(value: &[u8], profile: Profile) -> (Cow<'_, [u8]>, bool) {
    let (text, anchored) = match value.strip_suffix(b"$") {
        Some(text) => (text, true),
        None => (value, false),
    };
    // Without an early exit, so that the compiler vectorises the loop.
    if !text
        .iter()
        .fold(false, |is_odd, &b| is_odd | (b >= 0x80) | (b == b'%'))
    {
        return (Cow::Borrowed(text), anchored);
    }
    let mut out = Vec::with_capacity(text.len() + 16);
    normalize_into(text, profile, PathKind::Rule, &mut out);
    (Cow::Owned(out), anchored)
}

/// The kind of text that is normalised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathKind {
    Rule,
    Url,
}

fn normalize_into(text: &[u8], profile: Profile, kind: PathKind, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((&b, tail)) = rest.split_first() {
        if let Some((escaped, tail)) = escape_at(rest) {
            push_escape(escaped, rest, profile, out);
            rest = tail;
            continue;
        }
        let star = b == b'*' && kind == PathKind::Url && profile == Profile::Rfc9309;
        if b >= 0x80 || star {
            push_hex(b, out);
        } else {
            out.push(b);
        }
        rest = tail;
    }
}

/// Appends the normal form of the escape of byte `escaped`, which is the first three bytes of
/// `rest`.
fn push_escape(escaped: u8, rest: &[u8], profile: Profile, out: &mut Vec<u8>) {
    let decode = profile == Profile::Rfc9309
        && (escaped.is_ascii_alphanumeric() || b"-._~$".contains(&escaped));
    if decode {
        out.push(escaped);
    } else {
        out.extend(rest[..3].iter().map(u8::to_ascii_uppercase));
    }
}

/// The byte that an escape at the start of `text` encodes, and the text after the escape.
fn escape_at(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, tail @ ..] = text else {
        return None;
    };
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
    fn url_paths_are_normalised() {
        assert!(matches!(
            normalize_path(b"/a?b=c", Google),
            Cow::Borrowed(_)
        ));
        assert_eq!(path("/ä%c3%7e%4".as_bytes(), Google), "/%C3%A4%C3%7E%4");
        assert_eq!(
            path("/ä%c3%7e%4*%2a$%24".as_bytes(), Rfc9309),
            "/%C3%A4%C3~%4%2A%2A$$"
        );
        assert_eq!(path(b"/*", Google), "/*");
    }

    #[test]
    fn rule_paths_are_normalised() {
        assert_eq!(rule(b"/a$", Google), ("/a".into(), true));
        assert_eq!(
            rule("/ä%aa$b".as_bytes(), Google),
            ("/%C3%A4%AA$b".into(), false)
        );
        assert_eq!(rule(b"/%41%2a*%24", Rfc9309), ("/A%2A*$".into(), false));
        assert_eq!(rule(b"$", Google), (String::new(), true));
    }
}
