//! Explains a verdict by one robots.txt: the deciding rule, its groups, and the reasons why
//! other rules lost.
//!
//! This compares every rule, straight from the parsed text. So it is also an independent check of
//! the compiled rule sets: see `Judge::explain`.

use crate::agent::{Agent, AgentMatch};
use crate::explain::verdict::Verdict;
use crate::profile::Profile;
use crate::robots::{AgentLine, RobotsLine, RobotsRef, Rule, RuleKind};
use crate::url;
use crate::url::escape::normalize_path;
use std::borrow::Cow;
use std::cmp::Reverse;

/// The explanation of a robots.txt's verdict on a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// The path and query that the rules are compared with, in normal form. Empty if the text is not
    /// a URL or a path.
    pub path: String,
    /// The name in the agent's chain that the groups name; `None` if the global groups apply, or
    /// none.
    pub named: Option<String>,
    /// The user-agent lines that name the agent.
    pub agent_lines: Vec<RobotsLine>,
    /// The rule that decides; `None` if no rule matches, which allows.
    pub deciding: Option<RuleLine>,
    /// The other rules of the groups in the order of the file, with the reason why each lost.
    pub losers: Vec<RejectedRule>,
}

/// A rule that does not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedRule {
    /// The rule.
    pub rule: RuleLine,
    /// The reason why it does not decide.
    pub rejection: Rejection,
}

/// A line of a robots.txt with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleLine {
    /// The line's number, from 1.
    pub line: u32,
    /// The line without its comment and surrounding white space.
    pub text: String,
    /// Allow or disallow.
    pub kind: RuleKind,
    /// Its path in normal form. `*` is the wildcard and a final `$` the anchor. A final `$` without
    /// that meaning is `%24`.
    pub pattern: String,
    /// The length that counts in the choice between matching rules, in bytes.
    pub length: usize,
}

/// The reason why a rule does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rejection {
    /// Its path does not match.
    NoMatch,
    /// Its path is empty, so it has no effect.
    Empty,
    /// It matches, but a longer rule matches too.
    Shorter,
    /// It matches and is as long, but allow beats disallow.
    AllowWins,
    /// It matches, but `/robots.txt` itself may always be fetched (RFC 9309 §2.2.2, profile
    /// `Rfc9309`).
    RobotsTxt,
    /// It matches and has the same effect as the deciding rule, which precedes it.
    Same,
}

impl Rejection {
    /// Whether the rule matches nevertheless.
    pub fn is_match(self) -> bool {
        !matches!(self, Self::NoMatch | Self::Empty)
    }

    /// The name in JSON, such as `no-match` or `shorter`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoMatch => "no-match",
            Self::Empty => "empty",
            Self::Shorter => "shorter",
            Self::AllowWins => "allow-wins",
            Self::RobotsTxt => "robots-txt",
            Self::Same => "same",
        }
    }

    /// A description, such as `does not match`.
    pub fn description(self) -> &'static str {
        match self {
            Self::NoMatch => "does not match",
            Self::Empty => "has no path, so it has no effect",
            Self::Shorter => "matches, but a longer rule matches too",
            Self::AllowWins => "matches, but allow wins between rules of the same length",
            Self::RobotsTxt => "matches, but /robots.txt itself may always be fetched",
            Self::Same => "matches too, with the same verdict",
        }
    }
}

/// Whether a text is a URL with scheme and host, or a path, which begins with `/`; white space around
/// it does not count. A robots.txt gives a verdict on these only.
///
/// [`RobotsRef::allows`] reads any other text as Google's parser does: `cart` and `mailto:a@b` have
/// the path `/`. A program that takes texts from people asks this first.
///
/// Cost: some nanoseconds for nearly all texts. Never panics.
///
/// ```
/// use robosieve::judge::is_url_or_path;
/// assert!(is_url_or_path(b"/cart?a=1") && is_url_or_path(b"https://e.example"));
/// assert!(!is_url_or_path(b"cart") && !is_url_or_path(b"mailto:a@b") && !is_url_or_path(b""));
/// ```
pub fn is_url_or_path(text: &[u8]) -> bool {
    url::is_url_or_path(text)
}

/// Explains the verdict of `robots` on `url` for `agent`. Cost: compares every rule of the groups.
///
/// `url` may also be a path without an origin, which begins with `/`. White space around it is not
/// part of it. The verdict on any other text is [`Verdict::Invalid`], and no rule decides: see
/// [`is_url_or_path`].
///
/// ```
/// use robosieve::judge::explain;
/// use robosieve::{AgentMatch, Profile, RobotsRef, Verdict};
/// let robots = RobotsRef::parse(b"user-agent: *\ndisallow: /x\nallow: /x/y", Profile::Google);
/// let url = b"https://e.example/x/y/z";
/// let explanation = explain(&robots, &"FooBot".parse()?, AgentMatch::Extended, url);
/// assert_eq!(explanation.verdict, Verdict::Allowed);
/// assert_eq!(explanation.deciding.unwrap().line, 3);
/// # Ok::<(), robosieve::Error>(())
/// ```
pub fn explain(robots: &RobotsRef<'_>, agent: &Agent, how: AgentMatch, url: &[u8]) -> Explanation {
    if !is_url_or_path(url) {
        return Explanation {
            verdict: Verdict::Invalid,
            path: String::new(),
            named: None,
            agent_lines: Vec::new(),
            deciding: None,
            losers: Vec::new(),
        };
    }
    let path = rule_path(url, robots.profile());
    let (groups, named) = robots.groups_for(agent, how);
    let groups: Vec<_> = groups.into_iter().map(|i| &robots.groups()[i]).collect();
    // All groups with the chosen name apply together; without one, all global groups do.
    let names_agent =
        |line: &&AgentLine<'_>| named.map_or(line.is_global(), |name| line.names(name.as_bytes()));
    let agent_lines = groups
        .iter()
        .flat_map(|group| group.agents())
        .filter(names_agent);
    let rules: Vec<&Rule<'_>> = groups.iter().flat_map(|group| group.rules()).collect();
    let deciding = deciding_rule(&rules, &path, robots.profile());
    let is_loser = |number: usize| deciding.is_none_or(|deciding| deciding.number != number);
    let losers = rules
        .iter()
        .enumerate()
        .filter(|(number, _)| is_loser(*number))
        .map(|(_, rule)| {
            let length = matching_length(rule, &path);
            RejectedRule {
                rule: rule_line(rule, length.unwrap_or(rule.pattern().priority())),
                rejection: rejection(rule, length, deciding),
            }
        });
    Explanation {
        verdict: match deciding {
            Some(MatchingRule {
                kind: RuleKind::Disallow,
                ..
            }) => Verdict::Disallowed,
            _ => Verdict::Allowed,
        },
        path: text(&path),
        named: named.map(str::to_owned),
        agent_lines: agent_lines
            .map(|line| RobotsLine::new(line.line(), text(line.text())))
            .collect(),
        losers: losers.collect(),
        deciding: deciding.map(|deciding| rule_line(rules[deciding.number], deciding.length)),
    }
}

/// The path and query of `url`, in the normal form in which rules are compared with it.
pub(crate) fn rule_path(url: &[u8], profile: Profile) -> Cow<'_, [u8]> {
    match url::path_of(url, profile) {
        (path, false) => normalize_path(path, profile),
        (path, true) => Cow::Owned(normalize_path(&[b"/", path].concat(), profile).into_owned()),
    }
}

/// A rule that matches the path.
#[derive(Clone, Copy)]
struct MatchingRule {
    /// Its number among the rules of the groups.
    number: usize,
    length: usize,
    kind: RuleKind,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn rule_line(rule: &Rule<'_>, length: usize) -> RuleLine {
    RuleLine {
        line: rule.line(),
        text: text(rule.text()),
        kind: rule.kind(),
        pattern: pattern(rule),
        length,
    }
}

fn pattern(rule: &Rule<'_>) -> String {
    let pattern = rule.pattern();
    let path = text(&pattern.text);
    match path.strip_suffix('$') {
        _ if pattern.anchored => path + "$",
        Some(before) => format!("{before}%24"),
        None => path,
    }
}

/// The length of a rule if it matches; 0, which never decides, for an empty path.
pub(super) fn matching_length(rule: &Rule<'_>, path: &[u8]) -> Option<usize> {
    let pattern = rule.patterns().find(|pattern| pattern.matches(path))?;
    Some(pattern.priority())
}

/// The rule that decides: the longest that matches, of equally long ones an allow, then the first.
/// Under RFC 9309, none decides on `/robots.txt`.
fn deciding_rule(rules: &[&Rule<'_>], path: &[u8], profile: Profile) -> Option<MatchingRule> {
    if profile.always_allows(path) {
        return None;
    }
    let matching = rules.iter().enumerate().filter_map(|(number, rule)| {
        let length = matching_length(rule, path).filter(|&length| length > 0)?;
        Some(MatchingRule {
            number,
            length,
            kind: rule.kind(),
        })
    });
    matching.max_by_key(|rule| {
        (
            rule.length,
            rule.kind == RuleKind::Allow,
            Reverse(rule.number),
        )
    })
}

/// The reason why a rule lost; `length` is its length if it matches.
fn rejection(rule: &Rule<'_>, length: Option<usize>, deciding: Option<MatchingRule>) -> Rejection {
    match (length, deciding) {
        _ if rule.pattern().priority() == 0 => Rejection::Empty,
        (None, _) => Rejection::NoMatch,
        (Some(_), None) => Rejection::RobotsTxt,
        (Some(length), Some(deciding)) if length < deciding.length => Rejection::Shorter,
        (Some(_), Some(deciding)) if rule.kind() == deciding.kind => Rejection::Same,
        (Some(_), Some(_)) => Rejection::AllowWins,
    }
}
