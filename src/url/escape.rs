//! Percent-escapes: the normal form in which the paths of rules and of URLs are compared.

use crate::bytes::first_word;
use crate::profile::Profile;
use crate::simd::{AnyBackend, Backend};
use std::borrow::Cow;

/// The normal form of a URL's path and query. Borrows the text if it is normal, as nearly all are.
///
/// Bytes from 0x80 become `%XX`, and the hex digits of escapes become upper-case, so that an
/// escaped rule matches raw UTF-8 in a log (the reference leaves this to its caller).
///
/// Profile `Rfc9309` also compares the escapes of most ASCII characters as these characters
/// ([`is_decoded`]). RFC 9309 §2.2.2 writes the reserved ones as escapes instead, which makes the
/// same paths equal; here plain paths stay as they are. A `*` is escaped, because in the normal form
/// of a rule that is always the wildcard (§2.2.3).
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
    Normalizer::new(profile, PathKind::Url).append(path, &mut out);
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
    if is_normal_rule(text, profile) {
        return (Cow::Borrowed(text), anchored);
    }
    let mut out = Vec::with_capacity(text.len() + 16);
    Normalizer::new(profile, PathKind::Rule).append(text, &mut out);
    (Cow::Owned(out), anchored)
}

/// Whether a rule's path without its anchor is known to be its own normal form, as nearly all are.
#[inline]
pub(crate) fn is_normal_rule(text: &[u8], profile: Profile) -> bool {
    is_plain_rule(text) || (profile == Profile::Google && has_normal_escapes(text))
}

/// Whether a rule's path has neither escapes nor bytes that need one.
#[inline]
fn is_plain_rule(text: &[u8]) -> bool {
    const LOW_BITS: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    // Eight bytes at a time: most rules are short.
    let mut rest = text;
    loop {
        let word = first_word(rest);
        // A byte of this is zero if it is a percent sign; then the test for zero bytes sets its
        // highest bit.
        let percent = word ^ (LOW_BITS * u64::from(b'%'));
        if (word | (percent.wrapping_sub(LOW_BITS) & !percent)) & HIGH_BITS != 0 {
            return false;
        }
        match rest.get(8..) {
            Some(after) => rest = after,
            None => return true,
        }
    }
}

/// Whether no byte of a rule's path needs an escape, and its escapes have no lower-case digits: so are
/// those of 997 in 1,000 real rules with escapes.
fn has_normal_escapes(text: &[u8]) -> bool {
    let is_lower_case = |at: usize| {
        let digits = text[at + 1..].iter().take(2);
        digits.into_iter().any(u8::is_ascii_lowercase)
    };
    text.is_ascii() && !memchr::memchr_iter(b'%', text).any(is_lower_case)
}

/// The most stars of a rule for which [`query_forms`] has an exact form.
pub(crate) const MAX_QUERY_STARS: usize = 2;

/// The normal forms of a rule of profile `Rfc9309` for URLs whose query begins in one of its stars.
///
/// `%2F` in the path of a URL is not a `/`, but in a query it is ([`is_decoded`]). If it follows a
/// `*` in a rule, and no `?` precedes it, then it may stand in either part. [`normalize_rule`] takes
/// it for a part of the path, and the forms here for a part of the query: `/*u=%2Fx` also means
/// `/*?*u=/x`. There is one form for each star that such an escape follows. Of further stars than
/// [`MAX_QUERY_STARS`], a disallow has one form that matches more, and an allow has none: so no form
/// allows more than is meant.
///
/// Stars in place of what decoding shortens give each form the length of the rule, which is `len`.
pub(crate) fn query_forms(value: &[u8], len: usize, is_allow: bool) -> Vec<Vec<u8>> {
    let text = value.strip_suffix(b"$").unwrap_or(value);
    let zone = &text[..memchr::memchr(b'?', text).unwrap_or(text.len())];
    let escapes = memchr::memrchr_iter(b'%', zone);
    let is_ambiguous = |at: &usize| matches!(escape_at(&zone[*at..]), Some((b'/' | b'?', _)));
    let Some(last) = escapes.into_iter().find(is_ambiguous) else {
        return Vec::new();
    };
    // Of several stars in a row, one is enough.
    let stars = memchr::memchr_iter(b'*', &zone[..last]).filter(|at| zone[at + 1] != b'*');
    let mut forms = Vec::new();
    for (number, star) in stars.enumerate() {
        let is_exact = number < MAX_QUERY_STARS;
        if !is_exact && (is_allow || number > MAX_QUERY_STARS) {
            break;
        }
        let mut normalizer = Normalizer::new(Profile::Rfc9309, PathKind::Rule);
        let mut form = Vec::with_capacity(len);
        normalizer.append(&text[..=star], &mut form);
        form.push(b'?');
        normalizer.in_query = true;
        let mut end = Vec::new();
        if is_exact {
            end.push(b'*');
            normalizer.append(&text[star + 1..], &mut end);
        }
        form.resize(len.saturating_sub(end.len()).max(form.len()), b'*');
        form.append(&mut end);
        forms.push(form);
    }
    forms
}

/// The kind of text that is normalised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathKind {
    Rule,
    Url,
}

/// Writes normal forms, from the start of a path on.
struct Normalizer {
    profile: Profile,
    kind: PathKind,
    /// A `?` precedes the text: it is part of the query.
    in_query: bool,
}

impl Normalizer {
    fn new(profile: Profile, kind: PathKind) -> Self {
        Self {
            profile,
            kind,
            in_query: false,
        }
    }

    /// Appends the normal form of the next part of the path, which does not cut an escape.
    fn append(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let is_rfc = self.profile == Profile::Rfc9309;
        let mut rest = text;
        while let Some((&b, tail)) = rest.split_first() {
            if let Some((escaped, tail)) = escape_at(rest) {
                if is_rfc && is_decoded(escaped, self.in_query) {
                    out.push(escaped);
                } else {
                    let [high, low] = [rest[1], rest[2]].map(|digit| digit.to_ascii_uppercase());
                    out.extend_from_slice(&[b'%', high, low]);
                }
                rest = tail;
                continue;
            }
            let is_star = b == b'*' && self.kind == PathKind::Url && is_rfc;
            if b >= 0x80 || is_star {
                push_hex(b, out);
            } else {
                out.push(b);
            }
            self.in_query |= b == b'?';
            rest = tail;
        }
    }
}

/// Whether profile `Rfc9309` compares the escape of an ASCII character as the character itself
/// (RFC 9309 §2.2.2 and its Figure 4; docs/SEMANTICS.md).
///
/// Unreserved characters are the same with and without escape (RFC 3986 §2.3). So are reserved ones,
/// except those that delimit parts of a URL, where decoding would make another one: `/` and `?` of
/// the path (they are data in a query, §3.4), `&` and `=`, and `#`. `*` is written as an escape.
fn is_decoded(escaped: u8, in_query: bool) -> bool {
    let is_data = b"-._~!$'()+,:;@[]".contains(&escaped);
    escaped.is_ascii_alphanumeric() || is_data || (in_query && b"/?".contains(&escaped))
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

    /// Each byte at each place, in texts around the eight bytes that are tested at a time.
    #[test]
    fn plain_rules_have_no_bytes_to_escape() {
        for len in 1..20 {
            for at in 0..len {
                for byte in 0..=u8::MAX {
                    let mut text = vec![b'$'; len];
                    text[at] = byte;
                    let expected = byte < 0x80 && byte != b'%';
                    assert_eq!(is_plain_rule(&text), expected, "{byte} at {at} of {len}");
                }
            }
        }
        assert!(is_plain_rule(b""));
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
    fn rfc_9309_decodes_what_delimits_nothing() {
        let reserved = b"/%3A%2F%3f%23%5B%5D%40%21%24%26%27%28%29%2A%2b%2C%3B%3D";
        assert_eq!(path(reserved, Rfc9309), "/:%2F%3F%23[]@!$%26'()%2A+,;%3D");
        let query = [b"/?a", reserved.as_slice()].concat();
        assert_eq!(path(&query, Rfc9309), "/?a/:/?%23[]@!$%26'()%2A+,;%3D");
        assert_eq!(rule(&query, Rfc9309).0, "/?a/:/?%23[]@!$%26'()%2A+,;%3D");
        // The other characters that a URL cannot have stay as they are written.
        assert_eq!(
            path(b"/%20%22%25%3C%3E%5C%5E%60%7B%7C%7D", Rfc9309),
            "/%20%22%25%3C%3E%5C%5E%60%7B%7C%7D"
        );
        assert_eq!(
            path(&query, Google),
            String::from_utf8(query.to_ascii_uppercase())
                .unwrap()
                .replace("/?A", "/?a")
        );
    }

    #[test]
    fn rules_have_forms_for_queries_that_begin_in_a_star() {
        let forms = |text: &str, is_allow| -> Vec<String> {
            let len = rule(text.as_bytes(), Rfc9309).0.len();
            let forms = query_forms(text.as_bytes(), len, is_allow).into_iter();
            let forms = forms.map(|form| String::from_utf8(form).unwrap());
            forms
                .inspect(|form| assert_eq!(form.len(), len, "{text}"))
                .collect()
        };
        for text in [
            "/%2F", "/?*%2F", "/a%2F*b", "/*/", "/*%26%3D", "/*a%2", "%3F*?%3F", "/*%2",
        ] {
            assert!(forms(text, false).is_empty(), "{text}");
        }
        for is_allow in [false, true] {
            assert_eq!(forms("/*%2f", is_allow), ["/*?*/"]);
            assert_eq!(forms("/*%2F%3F$", is_allow), ["/*?***/?"]);
            assert_eq!(forms("/%2F**%3a%2F*/?%2f", is_allow), ["/%2F**?*:/*/?/"]);
            assert_eq!(
                forms("*a%2Fb*%2F*", is_allow),
                ["*?***a/b*/*", "*a%2Fb*?*/*"]
            );
        }
        assert_eq!(forms("*a*b*%2F*", true), ["*?*a*b*/*", "*a*?*b*/*"]);
        assert_eq!(
            forms("*a*b*c*%2F", false),
            ["*?*a*b*c*/", "*a*?*b*c*/", "*a*b*?****"]
        );
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
