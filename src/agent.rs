//! Agent names: the names in a user-agent line of a robots.txt, and the agents that a user asks
//! about, with their fallbacks.

use crate::bytes::is_white_space;
use crate::error::{Error, ErrorKind, Result};
use crate::named_value::named_values;
use bstr::ByteSlice;
use std::fmt;

/// Whether `b` may be part of a product token (RFC 9309 §2.2.1: letters, `_`, `-`).
pub(crate) fn is_token_byte(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b == b'-'
}

/// The longest name that a user-agent line gives: a snapshot stores lengths in 16 bits. A line of
/// RFC 9309 may have a longer one, which names nobody.
const MAX_NAME: usize = u16::MAX as usize;

/// The names in the value of a user-agent line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTokens {
    /// The value is `*`, alone or followed by white space: the group is (also) the global one.
    pub global: bool,
    /// The product token in lower case: the leading `[A-Za-z_-]+` of the value. Empty names no
    /// agent.
    pub token: Vec<u8>,
    /// The extended token in lower case, if it has a byte outside the alphabet of product tokens.
    pub extended: Option<Vec<u8>>,
}

impl NamedTokens {
    /// Parses the value of a user-agent line (RFC 9309 §2.2.1; the reference's `ExtractUserAgent`).
    ///
    /// The extended token is an extension of this project: the value up to the first `/`, `*` or
    /// `#`, trimmed, with each run of white space as one blank. With it a site can name `MJ12bot`
    /// or `Kangaroo Bot`, which the RFC's alphabet excludes. A name above [`MAX_NAME`] is none.
    pub(crate) fn from_value(value: &[u8]) -> Self {
        let global = Self::is_global(value);
        let end = value
            .iter()
            .position(|&b| !is_token_byte(b))
            .unwrap_or(value.len());
        let extended = (end < value.len())
            .then(|| extended_token(value))
            .filter(|name| !name.iter().all(|&b| is_token_byte(b)));
        let token = Some(value[..end].to_ascii_lowercase());
        let fits = |name: &Vec<u8>| name.len() <= MAX_NAME;
        Self {
            global,
            token: token.filter(fits).unwrap_or_default(),
            extended: extended.filter(fits),
        }
    }

    /// Whether a value names the global group.
    pub(crate) fn is_global(value: &[u8]) -> bool {
        value.first() == Some(&b'*') && value.get(1).is_none_or(|&b| is_white_space(b.into()))
    }

    /// Whether one of the names in a value is `key`, which is in lower case and not empty.
    ///
    /// The same as parsing the value first, without its allocations.
    pub(crate) fn are_named(value: &[u8], key: &[u8]) -> bool {
        if !key.iter().all(|&b| is_token_byte(b)) {
            return Self::from_value(value).extended.as_deref() == Some(key);
        }
        let Some((token, rest)) = value.split_at_checked(key.len()) else {
            return false;
        };
        let ends = rest.first().is_none_or(|&b| !is_token_byte(b));
        ends && token.eq_ignore_ascii_case(key) && key.len() <= MAX_NAME
    }
}

/// The extended token of a user-agent value or of a requested name, in lower case; empty if it has
/// none.
fn extended_token(value: &[u8]) -> Vec<u8> {
    let end = value.find_byteset(b"/*#").unwrap_or(value.len());
    bstr::join(" ", value[..end].fields_with(is_white_space)).to_ascii_lowercase()
}

/// The bytes of a name in lower case, except those in `separators`. Names that become equal are
/// spellings of one name.
pub(crate) fn without_separators(name: &[u8], separators: &[u8]) -> Vec<u8> {
    name.iter()
        .filter(|b| !separators.contains(b))
        .map(u8::to_ascii_lowercase)
        .collect()
}

/// How a requested agent is matched with the user-agent lines of a robots.txt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentMatch {
    /// As the reference does; in addition, a name outside the RFC's alphabet (`MJ12bot`,
    /// `Kangaroo Bot`) matches the extended token of a line.
    #[default]
    Extended,
    /// Only as the reference does: no group can name an agent with a byte outside `[A-Za-z_-]`.
    Google,
}

named_values! {
    /// The name on the command line.
    AgentMatch {
        Extended = "extended",
        Google = "google",
    }
}

/// An agent to ask about: a chain of names. The first of them that a robots.txt names decides.
///
/// Google's own crawlers fall back: `Googlebot-Image` obeys the groups for `googlebot-image`, else
/// those for `googlebot`, else the global ones. The chain for it is `Googlebot-Image:Googlebot`. A
/// plain name is a chain of one; `*` stands for any agent that no group names. A chain that ends
/// with `!*`, such as `AdsBot-Google:!*`, ignores the global ones: where no group has a name of the
/// chain, the agent may fetch everything.
///
/// ```
/// use robosieve::Agent;
/// let agent: Agent = "Googlebot-Image:Googlebot".parse()?;
/// assert_eq!(agent.names().collect::<Vec<_>>(), ["googlebot-image", "googlebot"]);
/// assert!(!agent.is_outside_alphabet() && !agent.ignores_star());
/// assert!("AdsBot-Google:!*".parse::<Agent>()?.ignores_star());
/// assert!("MJ12bot/1.4".parse::<Agent>()?.is_outside_alphabet());
/// assert!("Mozilla/5.0 (compatible; FooBot)".parse::<Agent>().is_err());
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    label: String,
    chain: Vec<ChainName>,
    /// Whether the global groups do not apply to it.
    ignores_star: bool,
}

/// The last part of a chain that ignores the global groups.
const IGNORES_STAR: &str = "!*";

/// A name of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChainName {
    /// The extended token that is looked up.
    token: Vec<u8>,
    /// Whether the name as given is a product token, perhaps with a version. The token alone does
    /// not tell: that of `foo*bot` is `foo`.
    is_in_alphabet: bool,
}

impl Agent {
    /// The agent that a whole `User-Agent` header names, for programs that know only the header.
    ///
    /// It is the first product of the header, without its version (RFC 9110 §10.1.5): `Scrapy` of
    /// `Scrapy/2.13 (+https://scrapy.org)`. A header that begins with `Mozilla` names a crawler in a
    /// comment, so there the product is the part of a comment after `compatible`, else the first
    /// part that is `NAME/VERSION`. If a comment has neither, the product is `Mozilla`. A header
    /// without a product is `*`. It never fails: a crawler under a wrong name obeys the rules for
    /// all.
    ///
    /// ```
    /// use robosieve::Agent;
    /// let label = |header| Agent::from_user_agent(header).label().to_owned();
    /// assert_eq!(label("Scrapy/2.13 (+https://scrapy.org)"), "Scrapy");
    /// let header = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
    /// assert_eq!(label(header), "Googlebot");
    /// assert_eq!(label("GPTBot"), "GPTBot");
    /// assert_eq!(label(""), "*");
    /// ```
    pub fn from_user_agent(header: &str) -> Self {
        let first = product_name(header.trim_start());
        let crawler = first
            .eq_ignore_ascii_case("Mozilla")
            .then(|| crawler_in_comments(header))
            .flatten();
        let everyone = Self::everyone();
        // A product has no byte that `from_str` refuses.
        crawler.unwrap_or(first).parse().unwrap_or(everyone)
    }

    /// The agents that no group names.
    fn everyone() -> Self {
        Self {
            label: "*".to_owned(),
            chain: Vec::new(),
            ignores_star: false,
        }
    }

    /// The agent in the spelling of the user, for output.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The names of the chain in lower case, the first choice first; none for `*`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.chain
            .iter()
            .map(|name| std::str::from_utf8(&name.token).unwrap_or(""))
    }

    /// Whether a name of the chain has a byte outside the RFC's alphabet, so that the reference
    /// cannot match it.
    pub fn is_outside_alphabet(&self) -> bool {
        self.chain.iter().any(|name| !name.is_in_alphabet)
    }

    /// Whether no robots.txt can name it under `how`, so that it always obeys the global groups.
    /// False for `*`, which stands for them.
    ///
    /// ```
    /// use robosieve::{Agent, AgentMatch};
    /// let agent: Agent = "MJ12bot".parse()?;
    /// assert!(agent.is_unaddressable(AgentMatch::Google));
    /// assert!(!agent.is_unaddressable(AgentMatch::Extended));
    /// assert!(!"MJ12bot:Majestic".parse::<Agent>()?.is_unaddressable(AgentMatch::Google));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn is_unaddressable(&self, how: AgentMatch) -> bool {
        !self.chain.is_empty() && self.keys(how).next().is_none()
    }

    /// Whether the global groups do not apply to it (`AdsBot-Google:!*`): if no group has a name of
    /// the chain, it may fetch everything.
    pub fn ignores_star(&self) -> bool {
        self.ignores_star
    }

    /// Whether both have the same names, in any spelling.
    ///
    /// ```
    /// use robosieve::Agent;
    /// assert!("GPTBot/1.2".parse::<Agent>()?.is_same(&"gptbot".parse()?));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn is_same(&self, other: &Self) -> bool {
        self.chain == other.chain && self.ignores_star == other.ignores_star
    }

    /// The names to look up in a robots.txt under `how`, in order.
    pub(crate) fn keys(&self, how: AgentMatch) -> impl Iterator<Item = &[u8]> {
        let names = self
            .chain
            .iter()
            .filter(move |name| how == AgentMatch::Extended || name.is_in_alphabet);
        names.map(|name| name.token.as_slice())
    }
}

/// The name of the product at the start of a text: a token (RFC 9110 §5.6.2), which here may have
/// letters outside ASCII. `*` and `#` end it, as they end a name in a robots.txt.
fn product_name(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || "!$%&'+-.^_`|~".contains(c);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    &text[..end]
}

/// The crawler in the comments of a header: the part after `compatible`, else the first part that
/// is a name and a version. Parts are separated by `;`.
fn crawler_in_comments(header: &str) -> Option<&str> {
    let comments = header
        .split('(')
        .skip(1)
        .filter_map(|comment| comment.split(')').next());
    let parts: Vec<&str> = comments
        .flat_map(|comment| comment.split(';'))
        .map(str::trim)
        .collect();
    let marked = parts
        .iter()
        .position(|part| part.eq_ignore_ascii_case("compatible"))
        .and_then(|marker| parts.get(marker + 1));
    let versioned = || {
        parts.iter().find(|part| {
            part.strip_prefix(product_name(part))
                .and_then(|rest| rest.strip_prefix(['/']))
                .is_some_and(|version| {
                    version.starts_with(|c: char| c == 'v' || c.is_ascii_digit())
                })
        })
    };
    marked
        .or_else(versioned)
        .map(|part| product_name(part))
        .filter(|name| !name.is_empty())
}

/// Whether a requested name is a product token (RFC 9309 §2.2.1), perhaps with a version.
fn is_product_token(name: &str) -> bool {
    let name = name.split('/').next().unwrap_or_default();
    name.trim_ascii().bytes().all(is_token_byte)
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl std::str::FromStr for Agent {
    type Err = Error;

    /// Parses a name or a chain; a version (`foo/2.1`) is cut off. A last part `!*` of a chain means
    /// that it ignores the global groups.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for an empty name, for a whole `User-Agent` header, and for a set
    /// (`@ai`), which [`add_agents`](crate::crawlers::add_agents) accepts.
    fn from_str(given: &str) -> Result<Self> {
        // `*` stands for the agents that no group names, so its chain has no name to look up.
        if given.trim() == "*" {
            return Ok(Self::everyone());
        }
        if given.contains(['(', ')', ';']) || given.trim_start().starts_with("Mozilla/") {
            return Err(bad_agent(
                given,
                "this is a whole User-Agent header; give the product token from the crawler's \
                 documentation, such as Googlebot or GPTBot",
            ));
        }
        if given.contains(['\t', '\n', '\r', '\0']) {
            return Err(bad_agent(given, "a name cannot contain control characters"));
        }
        let mut chain = Vec::new();
        let (names, ignores_star) = match given.rsplit_once(':') {
            Some((names, last)) if last.trim() == IGNORES_STAR => (names, true),
            _ => (given, false),
        };
        for part in names.split(':') {
            let token = extended_token(part.as_bytes());
            if token.starts_with(b"@") {
                return Err(bad_agent(
                    given,
                    "a name with @ is a set of agents; a set cannot be part of a chain or a single \
                     agent",
                ));
            }
            if token.is_empty() {
                return Err(bad_agent(
                    given,
                    "a name is missing; write NAME, or FIRST:SECOND for an agent that falls back",
                ));
            }
            chain.push(ChainName {
                token,
                is_in_alphabet: is_product_token(part),
            });
        }
        Ok(Self {
            label: given.trim().to_owned(),
            chain,
            ignores_star,
        })
    }
}

fn bad_agent(given: &str, what: &str) -> Error {
    Error::from(ErrorKind::BadAgent {
        name: given.to_owned(),
        what: what.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agent_values_yield_tokens() {
        let named = |v: &str| NamedTokens::from_value(v.as_bytes());
        let texts = |n: &NamedTokens| {
            (
                String::from_utf8(n.token.clone()).unwrap(),
                n.extended.clone().map(|e| String::from_utf8(e).unwrap()),
            )
        };
        assert_eq!(texts(&named("Googlebot/1.2")), ("googlebot".into(), None));
        assert_eq!(texts(&named("googlebot*")), ("googlebot".into(), None));
        assert_eq!(
            texts(&named("MJ12bot v1.4")),
            ("mj".into(), Some("mj12bot v1.4".into()))
        );
        assert_eq!(
            texts(&named("Kangaroo \t Bot/2")),
            ("kangaroo".into(), Some("kangaroo bot".into()))
        );
        assert_eq!(
            texts(&named("360Spider")),
            (String::new(), Some("360spider".into()))
        );
        assert!(named("*").global && named("* foo").global && !named("*foo").global);
        assert_eq!(texts(&named("*foo")), (String::new(), None));
    }

    #[test]
    fn values_are_compared_as_they_are_parsed() {
        let names = [
            "*",
            "* foo",
            "*foo",
            "foo",
            "FOO",
            "foo/2",
            "foo-bar",
            "foo bar",
            "Foo \t Bar/2",
            "foo*bar",
            "foo#",
            "foo2",
            "2foo",
            "/foo",
            "f\u{f6}o",
            "foobar",
            "\u{b}foo",
        ];
        let long = "a".repeat(MAX_NAME + 1);
        let names: Vec<&str> = [&names[..], &[&long, &long[1..]]].concat();
        for value in [&names[..], &[""]].concat() {
            let named = NamedTokens::from_value(value.as_bytes());
            for key in &names {
                let key = key.to_ascii_lowercase().into_bytes();
                let expected = named.token == key || named.extended.as_ref() == Some(&key);
                let found = NamedTokens::are_named(value.as_bytes(), &key);
                assert_eq!(found, expected, "{value:?} {:?}", key.as_bstr());
            }
        }
    }

    #[test]
    fn requested_agents_are_normalised_and_validated() {
        let agent: Agent = "Kangaroo   Bot/2.1".parse().unwrap();
        assert_eq!(agent.names().collect::<Vec<_>>(), ["kangaroo bot"]);
        assert_eq!(agent.keys(AgentMatch::Google).count(), 0);
        // A `*` or `#` ends the token of a line. The reference compares a requested name whole, so
        // these match no line at all there.
        for outside in [
            "foo*bot", "foo*", "foo#bot", "foo*/2", "f\u{f6}o", "foo bar",
        ] {
            let agent: Agent = outside.parse().unwrap();
            assert!(agent.is_unaddressable(AgentMatch::Google), "{outside}");
            assert!(
                agent.is_outside_alphabet() && agent.keys(AgentMatch::Extended).count() == 1,
                "{outside}"
            );
        }
        for inside in ["foo", " foo ", "foo/2*1", "foo-bot/", "foo_"] {
            assert_eq!(
                inside
                    .parse::<Agent>()
                    .unwrap()
                    .keys(AgentMatch::Google)
                    .count(),
                1,
                "{inside}"
            );
        }
        assert_eq!("*".parse::<Agent>().unwrap().names().count(), 0);
        let ads: Agent = "Ads-Mobile:Ads: !*".parse().unwrap();
        assert!(ads.names().eq(["ads-mobile", "ads"]) && ads.ignores_star());
        assert!(ads.is_same(&"ADS-mobile:ads:!*".parse().unwrap()));
        assert!(!ads.is_same(&"Ads-Mobile:Ads".parse().unwrap()));
        for bad in [
            "",
            " ",
            "/2",
            "a::b",
            ":a",
            ":!*",
            "a:!*:b:",
            "Mozilla/5.0 (compatible; x)",
            "a\tb",
        ] {
            assert!(bad.parse::<Agent>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn headers_name_the_agent_of_their_crawler() {
        for (header, label) in [
            ("Scrapy/2.13 (+https://scrapy.org)", "Scrapy"),
            ("  FooBot  ", "FooBot"),
            ("FooBot https://foo.example/", "FooBot"),
            ("FooBot;admin@foo.example", "FooBot"),
            ("Foo:Bar", "Foo"),
            ("Unic\u{f6}deB\u{f6}t", "Unic\u{f6}deB\u{f6}t"),
            (
                "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
                "facebookexternalhit",
            ),
            (
                "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
                "bingbot",
            ),
            (
                "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 \
                 (KHTML, like Gecko) Chrome/1.2 Mobile Safari/537.36 (compatible; Googlebot/2.1; \
                 +http://www.google.com/bot.html)",
                "Googlebot",
            ),
            (
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; \
                 +https://openai.com/gptbot)",
                "GPTBot",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like \
                 Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; \
                 +http://www.apple.com/go/applebot)",
                "Applebot",
            ),
            (
                "mozilla/5.0 (compatible;PetalBot;+https://webmaster.petalsearch.com/)",
                "PetalBot",
            ),
            (
                "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/)",
                "archive.org_bot",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; rv:109.0) Gecko/2010 Firefox/1",
                "Mozilla",
            ),
            ("Mozilla/5.0 (compatible", "Mozilla"),
            ("Mozilla/5.0 (compatible; )", "Mozilla"),
            ("Mozilla", "Mozilla"),
            ("*", "*"),
            ("", "*"),
            (" \t\0/;(@,", "*"),
            ("@ai", "*"),
        ] {
            let agent = Agent::from_user_agent(header);
            assert_eq!(agent.label(), label, "{header}");
            assert_eq!(agent, label.parse().unwrap(), "{header}");
        }
    }
}
