//! Splits a line into field and value: the known fields, their accepted misspellings, and lines
//! without a colon.

use crate::bytes::trim;
use bstr::ByteSlice;

/// The known fields. Lines with any other field are skipped (RFC 9309 §2.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RobotsField {
    UserAgent,
    Allow,
    Disallow,
    /// A field that is stored and reported, but never part of a verdict; its name in lower case.
    Other(&'static str),
}

/// Fields that are compared by prefix, without case and in this order, as in the reference. So
/// `Allowed: /x` is an allow line.
const RULING: [(&[u8], RobotsField); 12] = [
    (b"user-agent", RobotsField::UserAgent),
    (b"useragent", RobotsField::UserAgent),
    (b"user agent", RobotsField::UserAgent),
    (b"allow", RobotsField::Allow),
    (b"disallow", RobotsField::Disallow),
    (b"dissallow", RobotsField::Disallow),
    (b"dissalow", RobotsField::Disallow),
    (b"disalow", RobotsField::Disallow),
    (b"diasllow", RobotsField::Disallow),
    (b"disallaw", RobotsField::Disallow),
    (b"sitemap", RobotsField::Other("sitemap")),
    (b"site-map", RobotsField::Other("sitemap")),
];

/// Fields that are stored verbatim; compared as a whole, without case. docs/SEMANTICS.md has the
/// source of each.
const STORED: [&str; 15] = [
    "crawl-delay",
    "request-rate",
    "visit-time",
    "host",
    "clean-param",
    "license",
    "content-signal",
    "content-usage",
    "noindex",
    "nofollow",
    "noarchive",
    "domain",
    "revisit-after",
    "cache-delay",
    "robot-version",
];

/// The bytes that a known field can begin with. They dismiss most lines of the HTML pages that many
/// sites serve as robots.txt.
const FIRST_BYTES: [bool; 256] = {
    let mut first_bytes = [false; 256];
    let mut i = 0;
    while i < RULING.len() + STORED.len() {
        let name = if i < RULING.len() {
            RULING[i].0
        } else {
            STORED[i - RULING.len()].as_bytes()
        };
        first_bytes[name[0] as usize] = true;
        first_bytes[name[0].to_ascii_uppercase() as usize] = true;
        i += 1;
    }
    first_bytes
};

impl RobotsField {
    fn of_key(key: &[u8]) -> Option<Self> {
        // Nine lines in ten are `disallow` or `user-agent`, which one 8-byte compare decides.
        if let Some((head, rest)) = key.split_first_chunk::<8>() {
            let mut head = *head;
            head.make_ascii_lowercase();
            match &head {
                b"disallow" => return Some(Self::Disallow),
                b"user-age" if rest.len() >= 2 && rest[..2].eq_ignore_ascii_case(b"nt") => {
                    return Some(Self::UserAgent);
                }
                _ => {}
            }
        }
        let first = key.first()?.to_ascii_lowercase();
        let starts = |name: &[u8]| {
            name[0] == first
                && key.len() >= name.len()
                && key[..name.len()].eq_ignore_ascii_case(name)
        };
        if let Some((_, field)) = RULING.iter().find(|(name, _)| starts(name)) {
            return Some(*field);
        }
        STORED
            .iter()
            .find(|name| key.eq_ignore_ascii_case(name.as_bytes()))
            .map(|name| Self::Other(name))
    }
}

/// The field and the value of a line's text; `None` if the field is not known.
///
/// `text` must be trimmed. Without a colon, it must be exactly two words, separated by blanks or
/// tabs.
pub(crate) fn split(text: &[u8]) -> Option<(RobotsField, &[u8])> {
    if !FIRST_BYTES[usize::from(*text.first()?)] {
        return None;
    }
    let (key, value) = match memchr::memchr(b':', text) {
        Some(colon) => (trim(&text[..colon]), trim(&text[colon + 1..])),
        None => two_words(text)?,
    };
    Some((RobotsField::of_key(key)?, value))
}

fn two_words(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut words = text.fields_with(|c| matches!(c, ' ' | '\t'));
    let key = words.next()?;
    let value = words.next()?;
    words.next().is_none().then(|| (trim(key), trim(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_match_by_prefix_and_without_case() {
        let field = |text: &str| split(text.as_bytes()).map(|(field, _)| field);
        assert_eq!(field("Allowed-paths: /x"), Some(RobotsField::Allow));
        assert_eq!(field("USER AGENTS : x"), Some(RobotsField::UserAgent));
        assert_eq!(field("User-Agents: x"), Some(RobotsField::UserAgent));
        assert_eq!(field("user-agen: x"), None);
        assert_eq!(field("user-age: x"), None);
        assert_eq!(field("DISALLOWED: /x"), Some(RobotsField::Disallow));
        assert_eq!(field("Site-Map: x"), Some(RobotsField::Other("sitemap")));
        assert_eq!(
            field("Crawl-Delay: 1"),
            Some(RobotsField::Other("crawl-delay"))
        );
        assert_eq!(
            field("Revisit-After: 7 days"),
            Some(RobotsField::Other("revisit-after"))
        );
        assert_eq!(field("noindexes: 1"), None);
        assert_eq!(field("domains: 1"), None);
        assert_eq!(field(": /x"), None);
    }

    #[test]
    fn lines_without_colon_need_exactly_two_words() {
        assert_eq!(
            split(b"disallow \t /x"),
            Some((RobotsField::Disallow, b"/x".as_slice()))
        );
        assert_eq!(split(b"disallow /x y"), None);
        assert_eq!(split(b"user agent foo"), None);
        assert_eq!(split(b"disallow"), None);
        assert_eq!(
            split(b"disallow:"),
            Some((RobotsField::Disallow, b"".as_slice()))
        );
    }
}
