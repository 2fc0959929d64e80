//! Checks of the names in user-agent lines: characters, versions, and names that no known crawler
//! has.

use crate::agent::NamedTokens;
use crate::crawlers::KnownAgent;
use crate::crawlers::spelling::{begins_crawler, close_crawler, crawlers_of};
use crate::lint::agents::value_of;
use crate::lint::code::Code;
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::robots::{AgentLine, Group, RobotsRef};
use std::collections::HashSet;

/// Checks the names of all user-agent lines.
pub(super) fn check(robots: &RobotsRef<'_>, findings: &mut FindingCollector) {
    let mut unknown = UnknownNames::default();
    for group in robots.groups() {
        let names = names_of_group(group);
        for agent in group.agents() {
            check_name(agent, &names, &mut unknown, findings);
        }
    }
    unknown.add_finding(findings);
}

fn check_name<'a>(
    agent: &AgentLine<'a>,
    group: &HashSet<&[u8]>,
    unknown: &mut UnknownNames<'a>,
    findings: &mut FindingCollector,
) {
    let value = value_of(agent);
    let named = agent.named();
    if value.is_empty() {
        return findings.add(agent.line(), Code::EmptyAgent, || {
            let message = "the user-agent line has no value, so it names no crawler".to_owned();
            (
                message,
                "write the name of a crawler, or `*` for all".to_owned(),
            )
        });
    }
    if value == b"*" || registered(named.extended.as_deref()).is_some() {
        return;
    }
    // A parser reads the start of the value only, up to the first character that a token cannot
    // have.
    let (token, rest) = value.split_at(named.token.len());
    match rest {
        _ if token.is_empty() => {}
        [] => return check_token(agent, token, group, unknown, findings),
        [b'/', version @ ..] if is_version(version) => {
            findings.add_fixable(agent.line(), Code::AgentVersion, || {
                let name = String::from_utf8_lossy(token);
                FindingTexts {
                    message: format!(
                        "parsers read {} as {}, so the group applies to all versions",
                        quote(value),
                        quote(token)
                    ),
                    help: format!("write `User-agent: {name}`"),
                    fix: Some(rename(agent, value, name.into_owned())),
                }
            });
            return check_token(agent, token, group, unknown, findings);
        }
        _ => {}
    }
    findings.add_fixable(agent.line(), Code::AgentName, || {
        describe_name(agent, value)
    });
}

/// Writes another value of a user-agent line. The fix is safe if it has the same names.
fn rename(agent: &AgentLine<'_>, value: &[u8], name: String) -> LineFix {
    let is_safe = NamedTokens::from_value(name.as_bytes()) == *agent.named();
    let edit = LineEdit::Value {
        line: agent.line(),
        len: value.len(),
        by: name,
    };
    LineFix::new(is_safe, edit)
}

/// The crawler with this name.
fn registered(name: Option<&[u8]>) -> Option<&'static KnownAgent> {
    KnownAgent::find(std::str::from_utf8(name?).ok()?)
}

/// Checks a name in the alphabet of RFC 9309.
fn check_token<'a>(
    agent: &AgentLine<'a>,
    token: &'a [u8],
    group: &HashSet<&[u8]>,
    unknown: &mut UnknownNames<'a>,
    findings: &mut FindingCollector,
) {
    let name = String::from_utf8_lossy(token);
    if registered(Some(token)).is_some() {
        return;
    }
    let crawlers = crawlers_of(&name);
    if !crawlers.is_empty() {
        add_operator(agent, token, &crawlers, group, findings);
    } else if !begins_crawler(&name) {
        match close_crawler(&name) {
            Some(known) => add_misspelt(agent, token, known, group, findings),
            None => unknown.add(agent.line(), token),
        }
    }
}

/// The names of a group in lower case.
fn names_of_group<'g>(group: &'g Group<'_>) -> HashSet<&'g [u8]> {
    let names = group.agents().iter().map(|agent| agent.named());
    names
        .flat_map(|named| std::iter::once(named.token.as_slice()).chain(named.extended.as_deref()))
        .collect()
}

/// Whether a group names one of these crawlers. Some authors list misspellings and names of
/// operators next to the right names, and lose nothing.
fn names_any(group: &HashSet<&[u8]>, crawlers: &[&KnownAgent]) -> bool {
    crawlers
        .iter()
        .any(|known| group.contains(known.token.to_ascii_lowercase().as_bytes()))
}

fn add_misspelt(
    agent: &AgentLine<'_>,
    name: &[u8],
    known: &KnownAgent,
    group: &HashSet<&[u8]>,
    findings: &mut FindingCollector,
) {
    if names_any(group, &[known]) {
        return;
    }
    findings.add_fixable(agent.line(), Code::MisspeltAgent, || {
        let token = &known.token;
        let operator = known
            .operator
            .as_ref()
            .map_or_else(String::new, |operator| format!(" ({operator})"));
        let message = format!(
            "the registry has no crawler named {}: if `{token}`{operator} is meant, this group \
             does not apply to it",
            quote(name)
        );
        FindingTexts {
            message,
            help: format!("write `User-agent: {token}`"),
            fix: Some(rename(agent, value_of(agent), token.to_string())),
        }
    });
}

/// The most names that a message lists.
const MAX_LISTED: usize = 8;

/// Reports the name of an operator or of a product.
fn add_operator(
    agent: &AgentLine<'_>,
    name: &[u8],
    crawlers: &[&KnownAgent],
    group: &HashSet<&[u8]>,
    findings: &mut FindingCollector,
) {
    if names_any(group, crawlers) {
        return;
    }
    findings.add(agent.line(), Code::MisspeltAgent, || {
        // The tokens may begin with the name although the operator is unknown.
        let operator = crawlers[0].operator.as_deref().unwrap_or("that name");
        let listed = list(crawlers.iter().map(|known| format!("`{}`", known.token)));
        let message = format!(
            "the registry has no crawler named {}; for {operator} it has {listed}, and RFC 9309 \
             compares whole names",
            quote(name)
        );
        (
            message,
            "write a user-agent line with the name of each crawler that is meant".to_owned(),
        )
    });
}

/// Names as a list: `a`, `b` and 3 more.
fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match &names[..] {
        [all @ .., last] if names.len() <= MAX_LISTED && !all.is_empty() => {
            format!("{} and {last}", all.join(", "))
        }
        all if all.len() <= MAX_LISTED => all.join(", "),
        all => format!(
            "{} and {} more",
            all[..MAX_LISTED].join(", "),
            all.len() - MAX_LISTED
        ),
    }
}

/// The names of a file that are unlike any in the registry. A file may list hundreds of them, so
/// they are one finding.
#[derive(Default)]
struct UnknownNames<'a> {
    first_line: u32,
    /// The first spelling of each.
    names: Vec<&'a [u8]>,
    /// In lower case.
    seen: HashSet<Vec<u8>>,
}

impl<'a> UnknownNames<'a> {
    fn add(&mut self, line: u32, name: &'a [u8]) {
        if self.seen.insert(name.to_ascii_lowercase()) {
            if self.names.is_empty() {
                self.first_line = line;
            }
            self.names.push(name);
        }
    }

    fn add_finding(self, findings: &mut FindingCollector) {
        if self.names.is_empty() {
            return;
        }
        findings.add(self.first_line, Code::UnknownAgent, || {
            let listed = list(self.names.iter().map(|name| quote(name)));
            let message = match self.names.len() {
                1 => format!("the registry has no crawler named {listed}"),
                count => format!(
                    "the registry has no crawlers with {count} names of this file: {listed}"
                ),
            };
            let help = "compare each name with the documentation of its crawler; \
                        `robosieve agents` lists the registry";
            (message, help.to_owned())
        });
    }
}

/// Whether a text looks like a version, such as `2.1-beta`.
fn is_version(text: &[u8]) -> bool {
    text.iter()
        .all(|b| b.is_ascii_alphanumeric() || b".-_".contains(b))
}

/// The crawler that the whole name is probably a misspelling of.
fn close_to(agent: &AgentLine<'_>) -> Option<&'static KnownAgent> {
    close_crawler(std::str::from_utf8(agent.named().extended.as_deref()?).ok()?)
}

fn describe_name(agent: &AgentLine<'_>, value: &[u8]) -> FindingTexts {
    let token = &value[..agent.named().token.len()];
    let reading = match (agent.is_global(), token) {
        (true, _) => "parsers read it as `*`".to_owned(),
        (false, b"") => "parsers that follow RFC 9309 find no name in it".to_owned(),
        (false, token) => format!("parsers that follow RFC 9309 read it as {}", quote(token)),
    };
    // The remedy depends on what the author probably meant. The plainest signs are tried first.
    let mut fix = None;
    let help = if agent.is_global() {
        fix = Some(rename(agent, value, "*".to_owned()));
        "write `User-agent: *`".to_owned()
    } else if value.contains(&b',') {
        fix = listed_names(value).map(|names| rename(agent, value, names.join("\nUser-agent: ")));
        "write one user-agent line for each crawler".to_owned()
    } else if value.contains(&b'(') || value.contains(&b';') {
        "write the product token alone, such as `Googlebot`, and not the whole User-Agent header"
            .to_owned()
    } else if value.contains(&b'*') {
        "write the whole name of each crawler: in a name, `*` is not a wildcard".to_owned()
    } else if let Some(known) = close_to(agent).or_else(|| registered(Some(token))) {
        fix = Some(rename(agent, value, known.token.to_string()));
        format!("write `User-agent: {}`", known.token)
    } else {
        "write the product token that the crawler's operator documents; it has letters, `-` and \
         `_` only"
            .to_owned()
    };
    FindingTexts {
        message: format!(
            "the name {} has characters other than letters, `-` and `_`: {reading}",
            quote(value)
        ),
        help,
        fix,
    }
}

/// The names in a list with commas; `None` if one of them is not a product token or `*`.
fn listed_names(value: &[u8]) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(value).ok()?;
    let names = text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let is_token = |name: &&str| {
        let is_token_char = |c: char| c.is_ascii_alphabetic() || "-_".contains(c);
        *name == "*"
            || name.chars().all(is_token_char)
            || registered(Some(name.as_bytes())).is_some()
    };
    let names: Vec<&str> = names.collect();
    (!names.is_empty() && names.iter().all(is_token)).then_some(names)
}
