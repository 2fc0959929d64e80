//! Why a verdict is what it is: the deciding rule, the groups it comes from, and why the other rules lost.

use super::status_policy::Verdict;
use crate::agent::{Agent, AgentMatch};
use crate::profile::Profile;
use crate::robots::{AgentLine, Robots, Rule, RuleKind};
use crate::url;
use crate::url::escape::normalize_path;
use std::cmp::Ordering;

/// Why a robots.txt lets an agent fetch a URL or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// The path and query that the rules were compared with, in normal form.
    pub path: String,
    /// The name of the agent's chain that the groups name; `None` where the global groups hold, or none.
    pub named: Option<String>,
    /// The user-agent lines that name the agent: number and text.
    pub agent_lines: Vec<(u32, String)>,
    /// The rule that decided; `None` where none matches, which allows.
    pub deciding: Option<RuleLine>,
    /// The other rules of the groups, in the order of the file, and why each lost.
    pub losers: Vec<(RuleLine, Rejection)>,
}

/// A rule as it stands in its robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLine {
    /// The line's number, from 1.
    pub line: u32,
    /// The line without comment and surrounding white space.
    pub text: String,
    /// Allow or disallow.
    pub kind: RuleKind,
    /// Its path in the normal form in which it is compared. `*` is the wildcard, a final `$` the
    /// anchor; a `$` that is none is `%24` there.
    pub pattern: String,
    /// What its path counts in the choice between matching rules, in bytes.
    pub length: usize,
}

/// Why a rule did not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// Its path does not match.
    NoMatch,
    /// It has no path: it says nothing.
    Empty,
    /// It matches, but a longer rule does too.
    Shorter,
    /// It matches and is as long, but allow wins over disallow.
    AllowWins,
    /// It matches, but `/robots.txt` itself may always be fetched (RFC 9309 §2.2.2, profile `Rfc9309`).
    RobotsTxt,
    /// It matches and says the same as the deciding rule, in a later line.
    Same,
}

impl Rejection {
    /// Whether the rule matches all the same.
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
}

/// Explains the verdict of `robots` on `url` for `agent`, by comparing every rule.
///
/// `url` may be a bare path too, and empty, which counts as `/` (the reference's reading of what it is asked).
///
/// ```
/// use robosieve::{explain, AgentMatch, Profile, Robots, Verdict};
/// let robots = Robots::parse(b"user-agent: *\ndisallow: /x\nallow: /x/y", Profile::Google);
/// let why = explain(&robots, &"FooBot".parse()?, AgentMatch::Extended, b"https://e.example/x/y/z");
/// assert_eq!((why.verdict, why.deciding.unwrap().line), (Verdict::Allowed, 3));
/// # Ok::<(), robosieve::Error>(())
/// ```
pub fn explain(robots: &Robots<'_>, agent: &Agent, how: AgentMatch, url: &[u8]) -> Explanation {
    let (raw, slash) = url::path_of(url, robots.profile());
    let raw = if slash { [b"/", raw].concat() } else { raw.to_vec() };
    let path = normalize_path(&raw, robots.profile());
    let (groups, named) = robots.groups_for(agent, how);
    let groups: Vec<_> = groups.into_iter().map(|i| &robots.groups()[i]).collect();
    let names_agent = |line: &&AgentLine<'_>| named.map_or(line.is_global(), |name| line.names(name.as_bytes()));
    let agent_lines = groups.iter().flat_map(|group| group.agents()).filter(names_agent);
    let rules: Vec<&Rule<'_>> = groups.iter().flat_map(|group| group.rules()).collect();
    let always = robots.profile() == Profile::Rfc9309 && &*path == b"/robots.txt";
    let deciding = if always { None } else { deciding(&rules, &path, robots.profile()) };
    let losers = rules.iter().enumerate().filter(|(i, _)| deciding.is_none_or(|(best, _)| best != *i));
    let best = deciding.map(|(i, length)| (rules[i], length));
    Explanation {
        verdict: match deciding {
            Some((i, _)) if rules[i].kind() == RuleKind::Disallow => Verdict::Disallowed,
            _ => Verdict::Allowed,
        },
        path: text(&path),
        named: named.map(str::to_owned),
        agent_lines: agent_lines.map(|line| (line.line(), text(line.text()))).collect(),
        deciding: deciding.map(|(i, length)| rule_line(rules[i], length)),
        losers: losers.map(|(_, rule)| loser(rule, best, &path, robots.profile())).collect(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn rule_line(rule: &Rule<'_>, length: usize) -> RuleLine {
    RuleLine { line: rule.line(), text: text(rule.text()), kind: rule.kind(), pattern: pattern(rule), length }
}

fn pattern(rule: &Rule<'_>) -> String {
    let path = text(&rule.pattern().text);
    match path.strip_suffix('$') {
        _ if rule.pattern().anchored => path + "$",
        Some(before) => format!("{before}%24"),
        None => path,
    }
}

/// What the rule's path counts if it matches; 0, which decides nothing, for an empty one.
fn matching_length(rule: &Rule<'_>, path: &[u8], profile: Profile) -> Option<usize> {
    let pattern = rule.pattern();
    if pattern.matches(path) {
        return Some(pattern.priority());
    }
    let folder =
        (profile == Profile::Google && rule.kind() == RuleKind::Allow).then(|| pattern.index_folder()).flatten()?;
    folder.matches(path).then(|| folder.priority())
}

/// The index of the deciding rule and its length: the longest, on equality an allow, then the first.
fn deciding(rules: &[&Rule<'_>], path: &[u8], profile: Profile) -> Option<(usize, usize)> {
    let matching = rules.iter().enumerate().filter_map(|(i, rule)| {
        let length = matching_length(rule, path, profile).filter(|&length| length > 0)?;
        Some((i, length))
    });
    let order = |&(i, length): &(usize, usize)| (length, rules[i].kind() == RuleKind::Allow, std::cmp::Reverse(i));
    matching.max_by_key(order)
}

fn loser(
    rule: &Rule<'_>,
    deciding: Option<(&Rule<'_>, usize)>,
    path: &[u8],
    profile: Profile,
) -> (RuleLine, Rejection) {
    let length = matching_length(rule, path, profile);
    let loss = match (length, deciding) {
        _ if rule.pattern().priority() == 0 => Rejection::Empty,
        (None, _) => Rejection::NoMatch,
        (Some(_), None) => Rejection::RobotsTxt,
        (Some(own), Some((best, length))) => match own.cmp(&length) {
            Ordering::Less => Rejection::Shorter,
            _ if rule.kind() == best.kind() => Rejection::Same,
            _ => Rejection::AllowWins,
        },
    };
    (rule_line(rule, length.unwrap_or(rule.pattern().priority())), loss)
}
