//! Splits a line into field and value: the known fields, the misspellings that Google's parser
//! accepts, and lines without a colon.

use crate::bytes::{trim, trim_start};
use crate::profile::Profile;
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

/// Fields that profile `Google` compares by prefix, without case and in this order, as the reference
/// does. So `Allowed: /x` is an allow line.
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
    /// Whether `key` is the name of this field in RFC 9309 §2.2; false for fields that it lacks.
    fn is_spelled(self, key: &[u8]) -> bool {
        let name: &[u8] = match self {
            Self::UserAgent => b"user-agent",
            Self::Allow => b"allow",
            Self::Disallow => b"disallow",
            Self::Other(_) => return false,
        };
        key.eq_ignore_ascii_case(name)
    }

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
/// tabs. Profile `Rfc9309` reads the fields of rules and groups as RFC 9309 §2.2 has them only:
/// spelled right, and with a colon. Every line that it reads, `Google` reads in the same way.
#[inline]
pub(crate) fn split(text: &[u8], profile: Profile) -> Option<(RobotsField, &[u8])> {
    if !FIRST_BYTES[usize::from(*text.first()?)] {
        return None;
    }
    split_usual(text).or_else(|| split_unusual(text, profile))
}

#[inline(never)]
fn split_unusual(text: &[u8], profile: Profile) -> Option<(RobotsField, &[u8])> {
    let colon = memchr::memchr(b':', text);
    let (key, value) = match colon {
        Some(colon) => (trim(&text[..colon]), trim(&text[colon + 1..])),
        None => two_words(text)?,
    };
    let field = RobotsField::of_key(key)?;
    let is_read = profile == Profile::Google || (colon.is_some() && field.is_spelled(key));
    // RFC 9309 §2.2.4 lets parsers be lenient with other records.
    (is_read || matches!(field, RobotsField::Other(_))).then_some((field, value))
}

/// [`split`] of a line that begins in `disallow:`, `user-agent:` or `allow:`, which both profiles read
/// alike. Nine lines in ten are such: they need no search for the colon.
#[inline]
fn split_usual(text: &[u8]) -> Option<(RobotsField, &[u8])> {
    let (head, rest) = text.split_first_chunk::<8>()?;
    // The words in lower case. Only the two cases of a letter become that letter.
    let head = u64::from_le_bytes(*head);
    let letters = head | u64::from_le_bytes([b' '; 8]);
    if letters == u64::from_le_bytes(*b"disallow") {
        return Some((RobotsField::Disallow, trim_start(rest.strip_prefix(b":")?)));
    }
    if head | u64::from_le_bytes(*b"    \0   ") == u64::from_le_bytes(*b"user-age") {
        let (end, value) = rest.split_first_chunk::<3>()?;
        let is_whole = end.eq_ignore_ascii_case(b"nt:");
        return is_whole.then(|| (RobotsField::UserAgent, trim_start(value)));
    }
    let value = text[5..].strip_prefix(b":")?;
    let is_allow = text[..5].eq_ignore_ascii_case(b"allow");
    is_allow.then(|| (RobotsField::Allow, trim_start(value)))
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
    use Profile::{Google, Rfc9309};

    #[test]
    fn fields_match_by_prefix_and_without_case() {
        let field = |text: &str| split(text.as_bytes(), Google).map(|(field, _)| field);
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
            split(b"disallow \t /x", Google),
            Some((RobotsField::Disallow, b"/x".as_slice()))
        );
        assert_eq!(split(b"disallow /x y", Google), None);
        assert_eq!(split(b"user agent foo", Google), None);
        assert_eq!(split(b"disallow", Google), None);
        assert_eq!(
            split(b"disallow:", Google),
            Some((RobotsField::Disallow, b"".as_slice()))
        );
    }

    #[test]
    fn rfc_9309_has_one_spelling_of_rules_and_groups() {
        for text in [
            "useragent: a",
            "user agent: a",
            "user-agents: a",
            "allowed: /x",
            "dissallow: /x",
            "disallow-all: /x",
            "user-agent a",
            "disallow /x",
            "allow /x",
        ] {
            assert!(split(text.as_bytes(), Google).is_some(), "{text}");
            assert_eq!(split(text.as_bytes(), Rfc9309), None, "{text}");
        }
        for text in [
            "USER-AGENT : a",
            "Allow:/x",
            "disallow:",
            "Site-Map: x",
            "sitemaps: x",
            "crawl-delay 1",
        ] {
            let text = text.as_bytes();
            assert!(split(text, Google).is_some(), "{}", text.as_bstr());
            assert_eq!(
                split(text, Rfc9309),
                split(text, Google),
                "{}",
                text.as_bstr()
            );
        }
    }
}
