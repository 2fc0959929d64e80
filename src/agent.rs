//! Agent names: the product token of a user-agent line, and the agents a user asks about (fallback chains).

use crate::error::{Error, ErrorKind, Result};
use std::fmt;

/// Whether `b` may stand in a product token (RFC 9309 §2.2.1: letters, `_`, `-`).
pub(crate) fn is_token_byte(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b == b'-'
}

/// ASCII white space as C's `isspace` has it: unlike Rust's own notion it counts the vertical tab.
pub(crate) fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// `bytes` without white space ([`is_space`]) at either end.
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let Some(start) = bytes.iter().position(|&b| !is_space(b)) else { return &[] };
    let end = bytes.iter().rposition(|&b| !is_space(b)).map_or(start, |i| i + 1);
    &bytes[start..end]
}

/// Whom a user-agent line names, as the value of the line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// `*` alone or followed by white space: the group is (also) the global one.
    pub global: bool,
    /// The product token in lower case: the leading `[A-Za-z_-]+` of the value. Empty names nobody.
    pub token: Vec<u8>,
    /// The extended token in lower case, where it has a byte outside the product token's alphabet.
    pub extended: Option<Vec<u8>>,
}

impl Named {
    /// Reads the value of a user-agent line (RFC 9309 §2.2.1; the reference's `ExtractUserAgent`).
    ///
    /// The extended token is ours: the value up to the first `/`, `*` or `#`, trimmed, inner white space folded.
    /// It lets a site's wish reach `MJ12bot` or `Kangaroo Bot`, which the RFC's alphabet cannot name.
    pub(crate) fn from_value(value: &[u8]) -> Self {
        let global = value.first() == Some(&b'*') && value.get(1).is_none_or(|&b| is_space(b));
        let token =
            value.iter().position(|&b| !is_token_byte(b)).map_or(value, |end| &value[..end]).to_ascii_lowercase();
        let extended = (token.len() < value.len())
            .then(|| extended_token(value))
            .filter(|name| !name.iter().all(|&b| is_token_byte(b)));
        Self { global, token, extended }
    }
}

/// The extended token of a user-agent value or of a requested name, in lower case; empty if there is none.
fn extended_token(value: &[u8]) -> Vec<u8> {
    let end = value.iter().position(|b| b"/*#".contains(b)).unwrap_or(value.len());
    let words: Vec<&[u8]> = value[..end].split(|&b| is_space(b)).filter(|word| !word.is_empty()).collect();
    words.join(&b' ').to_ascii_lowercase()
}

/// How a requested agent is compared with the user-agent lines of a robots.txt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentMatch {
    /// As the reference, and names outside the RFC's alphabet (`MJ12bot`, `Kangaroo Bot`) by the line's extended token.
    #[default]
    Extended,
    /// As the reference only: a name outside `[A-Za-z_-]` is never named by any group.
    Google,
}

/// An agent to ask about: a chain of names, of which the first that a robots.txt names decides.
///
/// Google's own crawlers fall back: `Googlebot-Image` obeys the groups for `googlebot-image`, else those for
/// `googlebot`, else the global ones. That is written `Googlebot-Image:Googlebot`. A plain name is a chain of
/// one; `*` asks what holds for an agent that no group names.
///
/// ```
/// use robosieve::Agent;
/// let agent: Agent = "Googlebot-Image:Googlebot".parse()?;
/// assert_eq!(agent.names().collect::<Vec<_>>(), ["googlebot-image", "googlebot"]);
/// assert!(!agent.is_outside_alphabet());
/// assert!("MJ12bot/1.4".parse::<Agent>()?.is_outside_alphabet());
/// assert!("Mozilla/5.0 (compatible; FooBot)".parse::<Agent>().is_err());
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    label: String,
    chain: Vec<Vec<u8>>,
}

impl Agent {
    /// The agent as it was given, for output.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The names of the chain in lower case, first choice first; none for `*`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.chain.iter().map(|name| std::str::from_utf8(name).unwrap_or(""))
    }

    /// Whether a name of the chain holds a byte outside the RFC's alphabet, so that the reference cannot match it.
    pub fn is_outside_alphabet(&self) -> bool {
        self.chain.iter().any(|name| !in_alphabet(name))
    }

    /// Whether no robots.txt can name it under the given way of matching: then it obeys the global groups alone. Never so for `*`,
    /// which asks for them.
    ///
    /// ```
    /// use robosieve::{Agent, AgentMatch};
    /// let agent: Agent = "MJ12bot".parse()?;
    /// assert!(agent.is_unaddressable(AgentMatch::Google) && !agent.is_unaddressable(AgentMatch::Extended));
    /// assert!(!"MJ12bot:Majestic".parse::<Agent>()?.is_unaddressable(AgentMatch::Google));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn is_unaddressable(&self, how: AgentMatch) -> bool {
        !self.chain.is_empty() && self.keys(how).next().is_none()
    }

    /// Whether the two go by the same names, however they were spelled.
    ///
    /// ```
    /// use robosieve::Agent;
    /// assert!("GPTBot/1.2".parse::<Agent>()?.is_same(&"gptbot".parse()?));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn is_same(&self, other: &Self) -> bool {
        self.chain == other.chain
    }

    /// The names to look for in a robots.txt, in order, under the given way of matching.
    pub(crate) fn keys(&self, how: AgentMatch) -> impl Iterator<Item = &[u8]> {
        self.chain.iter().map(Vec::as_slice).filter(move |name| how == AgentMatch::Extended || in_alphabet(name))
    }
}

fn in_alphabet(name: &[u8]) -> bool {
    name.iter().all(|&b| is_token_byte(b))
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl std::str::FromStr for Agent {
    type Err = Error;

    /// Reads a name or a chain; a version (`foo/2.1`) is cut.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for an empty name, for a whole `User-Agent` header, and for a set (`@ai`), which
    /// [`add_agents`](crate::add_agents) takes.
    fn from_str(given: &str) -> Result<Self> {
        let bad = |what: &str| Error::from(ErrorKind::BadAgent { name: given.to_owned(), what: what.to_owned() });
        if given.trim() == "*" {
            return Ok(Self { label: "*".to_owned(), chain: Vec::new() });
        }
        if given.contains(['(', ')', ';']) || given.trim_start().starts_with("Mozilla/") {
            return Err(bad(
                "this is a whole User-Agent header; give the product token that the crawler's page names, such as Googlebot or GPTBot",
            ));
        }
        if given.contains(['\t', '\n', '\r', '\0']) {
            return Err(bad("a name holds no control characters"));
        }
        let mut chain = Vec::new();
        for part in given.split(':') {
            let name = extended_token(part.as_bytes());
            if name.starts_with(b"@") {
                return Err(bad(
                    "names with @ are sets of agents; a set stands alone, not in a chain or for a single agent",
                ));
            }
            if name.is_empty() {
                return Err(bad("a name is missing; write NAME, or FIRST:SECOND for an agent that falls back"));
            }
            chain.push(name);
        }
        Ok(Self { label: given.trim().to_owned(), chain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_value_names_a_token_and_sometimes_an_extended_one() {
        let named = |v: &str| Named::from_value(v.as_bytes());
        let texts = |n: &Named| {
            (String::from_utf8(n.token.clone()).unwrap(), n.extended.clone().map(|e| String::from_utf8(e).unwrap()))
        };
        assert_eq!(texts(&named("Googlebot/1.2")), ("googlebot".into(), None));
        assert_eq!(texts(&named("googlebot*")), ("googlebot".into(), None));
        assert_eq!(texts(&named("MJ12bot v1.4")), ("mj".into(), Some("mj12bot v1.4".into())));
        assert_eq!(texts(&named("Kangaroo \t Bot/2")), ("kangaroo".into(), Some("kangaroo bot".into())));
        assert_eq!(texts(&named("360Spider")), (String::new(), Some("360spider".into())));
        assert!(named("*").global && named("* foo").global && !named("*foo").global);
        assert_eq!(texts(&named("*foo")), (String::new(), None));
    }

    #[test]
    fn requested_agents_are_cut_folded_and_checked() {
        let agent: Agent = "Kangaroo   Bot/2.1".parse().unwrap();
        assert_eq!(agent.names().collect::<Vec<_>>(), ["kangaroo bot"]);
        assert_eq!(agent.keys(AgentMatch::Google).count(), 0);
        assert_eq!("*".parse::<Agent>().unwrap().names().count(), 0);
        for bad in ["", " ", "/2", "a::b", ":a", "Mozilla/5.0 (compatible; x)", "a\tb"] {
            assert!(bad.parse::<Agent>().is_err(), "{bad:?}");
        }
    }
}
