//! `field: value`: the fields that are known, their accepted misspellings, and lines without a colon.

use crate::agent::trim;

/// The fields whose lines are kept; what a line says otherwise is skipped (RFC 9309 §2.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    UserAgent,
    Allow,
    Disallow,
    /// Stored and reported, never part of a verdict; the name in lower case.
    Other(&'static str),
}

/// Compared by prefix and without case, in this order, as the reference does (so `Allowed: /x` is an allow).
const RULING: [(&[u8], Field); 12] = [
    (b"user-agent", Field::UserAgent),
    (b"useragent", Field::UserAgent),
    (b"user agent", Field::UserAgent),
    (b"allow", Field::Allow),
    (b"disallow", Field::Disallow),
    (b"dissallow", Field::Disallow),
    (b"dissalow", Field::Disallow),
    (b"disalow", Field::Disallow),
    (b"diasllow", Field::Disallow),
    (b"disallaw", Field::Disallow),
    (b"sitemap", Field::Other("sitemap")),
    (b"site-map", Field::Other("sitemap")),
];

/// Fields that are stored as they stand; compared whole and without case.
const STORED: [&str; 9] = [
    "crawl-delay",
    "request-rate",
    "visit-time",
    "host",
    "clean-param",
    "license",
    "content-signal",
    "content-usage",
    "noindex",
];

/// The bytes that a known field may begin with: what dismisses most lines of an HTML page, which many sites answer with.
const FIRSTS: [bool; 256] = {
    let mut firsts = [false; 256];
    let mut i = 0;
    while i < RULING.len() + STORED.len() {
        let name = if i < RULING.len() { RULING[i].0 } else { STORED[i - RULING.len()].as_bytes() };
        firsts[name[0] as usize] = true;
        firsts[name[0].to_ascii_uppercase() as usize] = true;
        i += 1;
    }
    firsts
};

impl Field {
    fn of_key(key: &[u8]) -> Option<Self> {
        // What nine lines in ten are is told by one word.
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
        let starts =
            |name: &[u8]| name[0] == first && key.len() >= name.len() && key[..name.len()].eq_ignore_ascii_case(name);
        if let Some((_, field)) = RULING.iter().find(|(name, _)| starts(name)) {
            return Some(*field);
        }
        STORED.iter().find(|name| key.eq_ignore_ascii_case(name.as_bytes())).map(|name| Self::Other(name))
    }
}

/// The field and the value of a line's text; `None` for a line that is not understood.
///
/// `text` has no white space around it. Without a colon, exactly two words separated by blanks or TABs are field and value.
pub(crate) fn split(text: &[u8]) -> Option<(Field, &[u8])> {
    if !FIRSTS[usize::from(*text.first()?)] {
        return None;
    }
    let (key, value) = match memchr::memchr(b':', text) {
        Some(colon) => (trim(&text[..colon]), trim(&text[colon + 1..])),
        None => two_words(text)?,
    };
    Some((Field::of_key(key)?, value))
}

fn two_words(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_blank = |b: &u8| b" \t".contains(b);
    let gap = text.iter().position(is_blank)?;
    let word = gap + text[gap..].iter().position(|b| !is_blank(b))?;
    (!text[word..].iter().any(is_blank)).then(|| (trim(&text[..gap]), trim(&text[word..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_by_prefix_and_without_case() {
        let field = |text: &str| split(text.as_bytes()).map(|(field, _)| field);
        assert_eq!(field("Allowed-paths: /x"), Some(Field::Allow));
        assert_eq!(field("USER AGENTS : x"), Some(Field::UserAgent));
        assert_eq!(field("User-Agents: x"), Some(Field::UserAgent));
        assert_eq!(field("user-agen: x"), None);
        assert_eq!(field("user-age: x"), None);
        assert_eq!(field("DISALLOWED: /x"), Some(Field::Disallow));
        assert_eq!(field("Site-Map: x"), Some(Field::Other("sitemap")));
        assert_eq!(field("Crawl-Delay: 1"), Some(Field::Other("crawl-delay")));
        assert_eq!(field("noindexes: 1"), None);
        assert_eq!(field(": /x"), None);
    }

    #[test]
    fn a_missing_colon_needs_exactly_two_words() {
        assert_eq!(split(b"disallow \t /x"), Some((Field::Disallow, b"/x".as_slice())));
        assert_eq!(split(b"disallow /x y"), None);
        assert_eq!(split(b"user agent foo"), None);
        assert_eq!(split(b"disallow"), None);
        assert_eq!(split(b"disallow:"), Some((Field::Disallow, b"".as_slice())));
    }
}
