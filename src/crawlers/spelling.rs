//! Misspelled names of crawlers: a name that is a few letters from one in use.
//!
//! The measure is the restricted Damerau-Levenshtein distance (optimal string alignment): the least
//! number of insertions, deletions, substitutions and transpositions of neighbours that turns one
//! name into the other. `lint` checks user-agent lines with it, and the census requested agents.

use crate::agent::without_separators;
use crate::crawlers::known_agent::KnownAgent;
use crate::crawlers::registry::CrawlerRegistry;
use std::cmp::Reverse;
use std::sync::LazyLock;

/// What separates the words of a name.
const SEPARATORS: &[u8] = b"-_ ";

/// Endings that most names of crawlers share, so they do not distinguish names.
const USUAL_ENDINGS: &[&[u8]] = &[b"bot", b"spider", b"crawler"];

/// The tokens of the registry in lower case.
static TOKENS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    KnownAgent::all()
        .iter()
        .map(|known| known.token.to_ascii_lowercase().into_bytes())
        .collect()
});

/// The crawler of the registry that a name is close to without being its token: the name is
/// probably a misspelling. The measure is that of the census, with less tolerance in two cases: names
/// that differ in a part after a `-` only, and short names ([`is_likely_typo`]).
///
/// Cost: a comparison with each token of the registry.
pub(crate) fn close_crawler(name: &str) -> Option<&'static KnownAgent> {
    let lower = name.to_ascii_lowercase();
    let mut checked = CheckedName::new(&lower, name);
    TOKENS
        .iter()
        .for_each(|token| checked.add_if_close(token, 0));
    checked
        .close
        .retain(|close| is_likely_typo(&lower, &close.text));
    checked
        .misspelling(CrawlerRegistry::shipped())
        .and_then(|close| KnownAgent::find(&close.suggestion))
}

/// Whether a name that is close to a token is more likely a misspelling of it than a name of its
/// own. Operators have families of crawlers (`SemrushBot-BA`, `SemrushBot-SA`), so the parts after
/// an equal start and `-` must be close themselves. Short names are many (`RoverBot` and
/// `rogerbot`, `NexaBot` and `ExaBot`), so only a letter after the first that is missing, too many
/// or transposed counts.
fn is_likely_typo(name: &str, token: &[u8]) -> bool {
    let (start, part) = name.split_at(name.rfind('-').map_or(0, |dash| dash + 1));
    if let (false, Some(other)) = (start.is_empty(), token.strip_prefix(start.as_bytes())) {
        return CheckedName::new(part, part)
            .distance(other, letters(other))
            .is_some();
    }
    let is_short = CheckedName::new(name, name).distinctive_len() <= SHORT;
    let is_same_letters = letters(name.as_bytes()) == letters(token);
    !is_short
        || is_same_letters
        || (name.len() != token.len() && name.as_bytes().first() == token.first())
}

/// The length of a short name without a usual ending.
const SHORT: usize = 5;

/// Whether a name is the first word of a crawler's name, such as `Kangaroo` of `Kangaroo Bot`.
/// Parsers that follow RFC 9309 read no more of it, so a site may well mean that crawler.
pub(crate) fn begins_crawler(name: &str) -> bool {
    let mut first_words = KnownAgent::all()
        .iter()
        .filter_map(|known| known.token.split_once(' '));
    first_words.any(|(first, _)| first.eq_ignore_ascii_case(name))
}

/// Names that stand for no operator or product of the registry: `Mozilla` begins the headers of
/// browsers, the registry has `unknown` for operators that are not known, and `DISCo` is a program,
/// older than `discobot`.
const NO_OPERATORS: &[&str] = &["mozilla", "unknown", "disco"];

/// Names that sites write for a crawler and that share too few letters with it.
const NEAR_NAMES: &[(&str, &str)] = &[
    ("apple-extended", "Applebot-Extended"),
    ("apple-ai", "Applebot-Extended"),
    ("google-ai", "Google-Extended"),
    ("google-bard", "Google-Extended"),
    ("google-gemini", "Google-Extended"),
    ("gemini-ai", "Google-Extended"),
    ("meta-ai", "meta-externalagent"),
    ("metaai", "meta-externalagent"),
    ("facebook-ai", "meta-externalagent"),
    ("tiktok-ai", "Bytespider"),
];

/// The crawlers that the name of an operator or of a product stands for, such as `OpenAI` and
/// `chatgpt`. Crawlers whose tokens are the name with an ending (`ChatGPT-User`) come first, then
/// the others of their operators. None if the name is neither, or if it is an operator's name that
/// begins one of its crawlers' names ([`begins_crawler`]).
pub(crate) fn crawlers_of(name: &str) -> Vec<&'static KnownAgent> {
    let lower = name.to_ascii_lowercase();
    let letters = lower_letters(name);
    // `X` is an operator, and shorter than the names that sites write for one.
    if letters.len() < 3 || NO_OPERATORS.contains(&lower.as_str()) {
        return Vec::new();
    }
    if let Some((_, token)) = NEAR_NAMES.iter().find(|(near, _)| *near == lower) {
        return KnownAgent::find(token).into_iter().collect();
    }
    let known = KnownAgent::all().iter().zip(TOKENS.iter());
    let (products, others): (Vec<_>, Vec<_>) =
        known.partition(|(_, token)| is_of_product(token, lower.as_bytes()));
    if products.is_empty() && begins_crawler(name) {
        return Vec::new();
    }
    let is_operator = |known: &KnownAgent| {
        let operator = known.operator.as_deref().unwrap_or_default();
        let makes_product = !operator.is_empty()
            && products
                .iter()
                .any(|(product, _)| product.operator == known.operator);
        makes_product || lower_letters(operator) == letters
    };
    let others = others.into_iter().filter(|(known, _)| is_operator(known));
    products
        .iter()
        .copied()
        .chain(others)
        .map(|(known, _)| known)
        .collect()
}

/// Whether a token is the name of a product with an ending.
fn is_of_product(token: &[u8], product: &[u8]) -> bool {
    let ending = token.strip_prefix(product);
    ending.is_some_and(|ending| ending.starts_with(b"-") || USUAL_ENDINGS.contains(&ending))
}

/// The letters and digits of a name, in lower case.
fn lower_letters(name: &str) -> Vec<u8> {
    name.bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_lowercase())
        .collect()
}

/// A name that nobody uses, and one in use that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misspelling {
    /// The name as it was given, without a version.
    pub name: String,
    /// Of the close names the one that most robots.txt files name, spelled as its operator does if
    /// it is in the registry, else in lower case. A site may have written it: it may hold any
    /// characters but line ends.
    pub suggestion: String,
}

/// A name to check, and the close names found so far.
#[derive(Debug)]
pub(crate) struct CheckedName {
    /// In lower case.
    pub text: Vec<u8>,
    /// As given, without a version.
    pub display: String,
    letters: u64,
    /// Whether the registry, a snapshot or a robots.txt has it.
    pub is_known: bool,
    close: Vec<CloseName>,
}

/// A name in use at a small distance from a checked one.
#[derive(Debug)]
struct CloseName {
    text: Vec<u8>,
    distance: usize,
    /// The number of robots.txt files that name it.
    files: u64,
}

/// The token of a crawler in the registry, as its operator spells it.
pub(crate) fn registered<'r>(registry: &'r CrawlerRegistry, name: &[u8]) -> Option<&'r str> {
    Some(&registry.find(std::str::from_utf8(name).ok()?)?.token)
}

impl CheckedName {
    pub(crate) fn new(text: &str, display: &str) -> Self {
        let text = text.as_bytes().to_vec();
        Self {
            letters: letters(&text),
            text,
            display: display.to_owned(),
            is_known: false,
            close: Vec::new(),
        }
    }

    /// The length without a usual ending.
    fn distinctive_len(&self) -> usize {
        let stripped = USUAL_ENDINGS
            .iter()
            .find_map(|ending| self.text.strip_suffix(*ending));
        let stripped = stripped.unwrap_or(&self.text);
        stripped.strip_suffix(b"-").unwrap_or(stripped).len()
    }

    /// The greatest distance of a close name. Shorter names have too many neighbours: in a large
    /// snapshot `mybot` is one letter from four names in use.
    fn tolerance(&self) -> usize {
        match self.distinctive_len() {
            0..=3 => 0,
            4..=9 => 1,
            10..=14 => 2,
            _ => 3,
        }
    }

    /// The distance to a name with these letters, if it is close.
    pub(crate) fn distance(&self, other: &[u8], letters: u64) -> Option<usize> {
        let tolerance = self.tolerance();
        let most = tolerance.max(1);
        // An edit adds a letter, removes one, or both. This test rejects nearly all names cheaply.
        let differing = (self.letters ^ letters).count_ones() as usize;
        if differing > 2 * most || self.text.len().abs_diff(other.len()) > most {
            return None;
        }
        let distance = (0..=most).find(|edits| is_within(&self.text, other, *edits))?;
        (distance <= tolerance || self.is_same_letters(other)).then_some(distance)
    }

    /// Whether a name one edit away has the same letters, whatever its length: `GPT-Bot` and
    /// `GTPBot` for `GPTBot`.
    fn is_same_letters(&self, other: &[u8]) -> bool {
        let mut own = without_separators(&self.text, SEPARATORS);
        let mut other = without_separators(other, SEPARATORS);
        if own == other {
            return true;
        }
        own.sort_unstable();
        other.sort_unstable();
        self.distinctive_len() == 3 && own == other
    }

    /// Adds a name if it is close, with the number of files that name it.
    pub(crate) fn add_if_close(&mut self, other: &[u8], files: u64) {
        let Some(distance) = self.distance(other, letters(other)) else {
            return;
        };
        match self.close.iter_mut().find(|close| close.text == other) {
            Some(known) => known.files += files,
            None => self.close.push(CloseName {
                text: other.to_vec(),
                distance,
                files,
            }),
        }
    }

    /// The suggestion for this name: the close name that most files name.
    pub(crate) fn misspelling(self, registry: &CrawlerRegistry) -> Option<Misspelling> {
        let best = self.close.iter().min_by(|a, b| {
            (Reverse(a.files), a.distance, &a.text).cmp(&(Reverse(b.files), b.distance, &b.text))
        })?;
        let suggestion = match registered(registry, &best.text) {
            Some(token) => token.to_owned(),
            None => String::from_utf8_lossy(&best.text).into_owned(),
        };
        Some(Misspelling {
            name: self.display,
            suggestion,
        })
    }
}

/// The set of bytes in a name, hashed to 64 bits. Bytes of tokens have bits of their own, except
/// digits and some letters.
pub(crate) fn letters(name: &[u8]) -> u64 {
    name.iter().fold(0, |set, byte| set | 1 << (byte % 64))
}

/// Whether at most `edits` edits turn `a` into `b`. The search tries each edit where the two first
/// differ, so its cost grows with 4 to the power of `edits`, which is at most 3.
pub(crate) fn is_within(a: &[u8], b: &[u8], edits: usize) -> bool {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let a = &a[common..];
    let b = &b[common..];
    if a.is_empty() || b.is_empty() {
        return a.len().max(b.len()) <= edits;
    }
    let Some(left) = edits.checked_sub(1) else {
        return false;
    };
    let is_transposed = a.len() > 1 && b.len() > 1 && a[0] == b[1] && a[1] == b[0];
    is_within(&a[1..], &b[1..], left)
        || is_within(&a[1..], b, left)
        || is_within(a, &b[1..], left)
        || (is_transposed && is_within(&a[2..], &b[2..], left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, distance) in [
            ("gptbot", "gptbot", 0),
            ("gtpbot", "gptbot", 1),
            ("gptbo", "gptbot", 1),
            ("gptbott", "gptbot", 1),
            ("gptbat", "gptbot", 1),
            ("pgtbto", "gptbot", 2),
            ("", "abc", 3),
            ("abcd", "badc", 2),
            ("aab", "aba", 1),
        ] {
            let least = |a: &str, b: &str| {
                (0..=3).find(|edits| is_within(a.as_bytes(), b.as_bytes(), *edits))
            };
            assert_eq!([least(a, b), least(b, a)], [Some(distance); 2], "{a} {b}");
        }
        assert!(!is_within(b"abcd", b"efgh", 3));
    }

    #[test]
    fn close_crawlers_are_found_without_a_snapshot() {
        for (name, token) in [
            ("GPTBt", Some("GPTBot")),
            ("Google-Extened", Some("Google-Extended")),
            ("MJ12bt", Some("MJ12bot")),
            ("baiduspider+", Some("Baiduspider")),
            ("Gogglebot", Some("Googlebot")),
            ("rogrebot", Some("rogerbot")),
            ("RoverBot", None),
            // A name of its own in a family.
            ("Googlebot-Images", Some("Googlebot-Image")),
            ("Googlebot-Imeag", None),
            ("FooBot", None),
            ("", None),
        ] {
            assert_eq!(
                close_crawler(name).map(|known| known.token.as_str()),
                token,
                "{name}"
            );
        }
    }

    #[test]
    fn operators_and_products_stand_for_their_crawlers() {
        let tokens = |name| {
            crawlers_of(name)
                .iter()
                .map(|known| known.token.as_str())
                .collect::<Vec<_>>()
        };
        let openai = tokens("openai");
        for token in ["GPTBot", "ChatGPT-User", "OAI-SearchBot"] {
            assert!(openai.contains(&token), "{openai:?}");
        }
        // Those that begin with the name come first.
        let chatgpt = tokens("ChatGPT");
        assert_eq!(chatgpt.len(), openai.len());
        assert!(chatgpt[0].starts_with("ChatGPT"), "{chatgpt:?}");
        assert_eq!(tokens("bing")[0], "bingbot");
        assert!(tokens("commoncrawl").contains(&"CCBot"));
        for name in [
            "x", "foobot", "", "-", "user", "bot", "Sogou", "kangaroo", "Mozilla", "unknown",
        ] {
            assert!(tokens(name).is_empty(), "{name}");
        }
    }
}
