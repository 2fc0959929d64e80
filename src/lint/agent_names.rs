//! Checks of the names in user-agent lines: characters, versions, and names that no known crawler
//! has.

use crate::agent::NamedTokens;
use crate::bytes::{is_white_space, trim};
use crate::crawlers::KnownAgent;
use crate::crawlers::spelling::{begins_crawler, close_crawler, crawlers_of};
use crate::lint::agents::value_of;
use crate::lint::code::{Code, MendedPart};
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::fields::InexactLines;
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::lint::patterns::stripped;
use crate::lint::unsettled::UnsettledName;
use crate::robots::{AgentLine, Group, RobotsRef};
use bstr::ByteSlice;
use std::collections::HashSet;

/// Checks the names of all user-agent lines. Returns those that are probably meant otherwise.
///
/// The name may be in a misspelt field, as in `User-agent GPTBot:`, so no name is missed there. A
/// line with several fields has a name that is not written whole.
pub(super) fn check(
    robots: &RobotsRef<'_>,
    inexact: &InexactLines,
    findings: &mut FindingCollector,
) -> Vec<UnsettledName> {
    let mut unknown = UnknownNames::default();
    let mut unsettled = Vec::new();
    for (index, group) in robots.groups().iter().enumerate() {
        let names = names_of_group(group);
        for agent in group.agents() {
            let is_misspelt = inexact.all.contains(&agent.line());
            if (value_of(agent).is_empty() && is_misspelt)
                || inexact.several.contains(&agent.line())
            {
                continue;
            }
            let suggested = check_name(agent, &names, &mut unknown, findings);
            unsettled.extend(suggested.map(|suggested| UnsettledName {
                group: index,
                suggested,
            }));
        }
    }
    unknown.add_finding(findings);
    unsettled
}

/// Checks the name of a line. Returns the names that a finding suggests, in lower case, if following
/// it would change the names of the group.
fn check_name<'a>(
    agent: &AgentLine<'a>,
    group: &HashSet<&[u8]>,
    unknown: &mut UnknownNames<'a>,
    findings: &mut FindingCollector,
) -> Option<Vec<Vec<u8>>> {
    let value = value_of(agent);
    let named = agent.named();
    if value.is_empty() {
        findings.add(agent.line(), Code::EmptyAgent, || {
            let message = "the user-agent line has no value, so it names no crawler".to_owned();
            (
                message,
                "write the name of a crawler, or `*` for all".to_owned(),
            )
        });
        return None;
    }
    if value == b"*" || registered(named.extended.as_deref()).is_some() {
        return None;
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
    // A hostile file has many such names, and the search for a close one takes long.
    if findings.is_full(Code::AgentName) {
        findings.add(agent.line(), Code::AgentName, Default::default);
        findings.leave_open(agent.line(), MendedPart::File);
        return None;
    }
    let remedy = NameRemedy::new(agent, value);
    let is_settled = remedy.fix.as_ref().is_some_and(|fix| fix.is_safe);
    findings.add_fixable(agent.line(), Code::AgentName, || FindingTexts {
        message: describe_name(agent, value),
        help: remedy.help,
        fix: remedy.fix,
    });
    (!is_settled).then_some(remedy.suggested)
}

/// Writes another value of a user-agent line. The fix is safe if it has the same names.
fn rename(agent: &AgentLine<'_>, value: &[u8], name: String) -> LineFix {
    let written = name.split(" #").next().unwrap_or_default();
    let is_safe = NamedTokens::from_value(written.as_bytes()) == *agent.named();
    LineFix::new(is_safe, value_edit(agent, value, name))
}

/// Writes another text in place of the value of a user-agent line.
fn value_edit(agent: &AgentLine<'_>, value: &[u8], by: String) -> LineEdit {
    LineEdit::Value {
        line: agent.line(),
        len: value.len(),
        by,
    }
}

/// The crawler with this name.
fn registered(name: Option<&[u8]>) -> Option<&'static KnownAgent> {
    KnownAgent::find(std::str::from_utf8(name?).ok()?)
}

/// Names in the headers of crawlers that the registry has with other names, or of people's
/// programs too. They look like misspellings, and are none: `YodaoBot/1.0` with
/// <http://www.yodao.com/help/webmaster/spider/>, `Pinterest/0.2` with
/// <https://www.pinterest.com/bot.html>, and `coccoc/1.0` with <http://help.coccoc.com/>.
const SENT_NAMES: &[&str] = &["YodaoBot", "Pinterest", "coccoc"];

/// Checks a name in the alphabet of RFC 9309.
fn check_token<'a>(
    agent: &AgentLine<'a>,
    token: &'a [u8],
    group: &HashSet<&[u8]>,
    unknown: &mut UnknownNames<'a>,
    findings: &mut FindingCollector,
) -> Option<Vec<Vec<u8>>> {
    let name = String::from_utf8_lossy(token);
    let is_sent = SENT_NAMES
        .iter()
        .any(|sent| sent.eq_ignore_ascii_case(&name));
    if is_sent || registered(Some(token)).is_some() {
        return None;
    }
    let mut crawlers = crawlers_of(&name);
    if !crawlers.is_empty() {
        // An author who lists a misspelling next to the right name loses nothing.
        if names_any(group, &crawlers) {
            return None;
        }
        add_operator(agent, token, &crawlers, findings);
    } else if begins_crawler(&name) {
        return None;
    } else if let Some(known) = close_crawler(&name) {
        if names_any(group, &[known]) {
            return None;
        }
        add_misspelt(agent, token, known, findings);
        crawlers = vec![known];
    } else {
        unknown.add(agent.line(), token);
        return None;
    }
    let tokens = crawlers.iter().map(|known| known.token.as_bytes());
    Some(tokens.map(<[u8]>::to_ascii_lowercase).collect())
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
    findings: &mut FindingCollector,
) {
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
    findings: &mut FindingCollector,
) {
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

/// Texts as a list: `a`, `b` and 3 more.
pub(super) fn list(names: impl Iterator<Item = String>) -> String {
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
    let is_version_char = |b: &u8| b.is_ascii_alphanumeric() || b".-_".contains(b);
    begins_version(text) && text.iter().all(is_version_char)
}

/// Whether a text after `/` is empty or begins as a version does. Other words may be names.
fn begins_version(text: &[u8]) -> bool {
    let number = text.strip_prefix(b"v").or(text.strip_prefix(b"V"));
    number
        .unwrap_or(text)
        .first()
        .map_or(text.is_empty(), u8::is_ascii_digit)
}

/// The crawler that the whole name is probably a misspelling of.
fn close_to(agent: &AgentLine<'_>) -> Option<&'static KnownAgent> {
    close_crawler(std::str::from_utf8(agent.named().extended.as_deref()?).ok()?)
}

/// What parsers make of a value with other characters than those of a product token.
fn describe_name(agent: &AgentLine<'_>, value: &[u8]) -> String {
    let token = &value[..agent.named().token.len()];
    let reading = match (agent.is_global(), token) {
        (true, _) => "parsers read it as `*`".to_owned(),
        (false, b"") => "parsers that follow RFC 9309 find no name in it".to_owned(),
        (false, token) => format!("parsers that follow RFC 9309 read it as {}", quote(token)),
    };
    format!(
        "the name {} has characters other than letters, `-` and `_`: {reading}",
        quote(value)
    )
}

/// What to write in place of such a value.
struct NameRemedy {
    help: String,
    fix: Option<LineFix>,
    /// The names in it, in lower case.
    suggested: Vec<Vec<u8>>,
}

impl NameRemedy {
    fn new(agent: &AgentLine<'_>, value: &[u8]) -> Self {
        let token = &value[..agent.named().token.len()];
        // The remedy depends on what the author probably meant. The plainest signs are tried first.
        if agent.is_global() {
            return Self::global(agent, value);
        }
        let plain = stripped(value).or_else(|| without_sign(value));
        if let Some(name) = plain.filter(|name| is_name(name)) {
            return Self {
                help: format!("write `User-agent: {name}`"),
                suggested: vec![name.to_ascii_lowercase().into_bytes()],
                fix: Some(rename(agent, value, name)),
            };
        }
        if let Some(names) = listed_names(value) {
            return Self {
                help: one_line_each(&names),
                fix: Some(rename(agent, value, names.join("\nUser-agent: "))),
                suggested: names
                    .iter()
                    .map(|name| name.to_ascii_lowercase().into_bytes())
                    .collect(),
            };
        }
        if let Some(names) = names_with_slashes(value) {
            return Self {
                help: one_line_each(&names),
                fix: Some(LineFix::new(
                    false,
                    value_edit(agent, value, names.join("\nUser-agent: ")),
                )),
                suggested: names
                    .iter()
                    .map(|name| name.to_ascii_lowercase().into_bytes())
                    .collect(),
            };
        }
        let help = if value.contains(&b',') {
            "write one user-agent line for each crawler"
        } else if value.contains(&b'(') || value.contains(&b';') {
            "write the product token alone, such as `Googlebot`, and not the whole User-Agent \
             header"
        } else if value.contains(&b'*') {
            "write the whole name of each crawler: in a name, `*` is not a wildcard"
        } else if let Some(known) = close_to(agent) {
            return Self::known(agent, value, known, b"");
        } else if let Some(known) = registered(Some(token)) {
            return Self::known(agent, value, known, &value[token.len()..]);
        } else {
            "write the product token that the crawler's operator documents; it has letters, `-` \
             and `_` only"
        };
        Self {
            help: help.to_owned(),
            fix: None,
            suggested: Vec::new(),
        }
    }

    /// `*` with further text. Nothing that an author wrote is deleted.
    fn global(agent: &AgentLine<'_>, value: &[u8]) -> Self {
        let rest = std::str::from_utf8(trim(&value[1..])).ok();
        let name = rest.map(|rest| match rest {
            "" => "*".to_owned(),
            _ => format!("* # {rest}"),
        });
        Self {
            help: "write `User-agent: *`".to_owned(),
            fix: name.map(|name| rename(agent, value, name)),
            suggested: Vec::new(),
        }
    }

    /// A crawler of the registry, and text after its name. Words in it may be a name, so they
    /// become a comment.
    fn known(agent: &AgentLine<'_>, value: &[u8], known: &KnownAgent, rest: &[u8]) -> Self {
        let rest = trim(rest);
        let has_words = rest
            .fields_with(is_white_space)
            .any(|word| !is_version_word(word));
        let second = rest.strip_prefix(b"/");
        let second = second.filter(|words| !begins_version(words));
        let name = match (has_words, std::str::from_utf8(rest)) {
            // The author may mean either name.
            _ if second.is_some() => None,
            (false, _) => Some(known.token.clone()),
            (true, Ok(rest)) => Some(format!("{} # {rest}", known.token)),
            (true, Err(_)) => None,
        };
        let mut help = format!("write `User-agent: {}`", known.token);
        // An address and the end of a domain are not names.
        let mut words = rest.fields_with(is_white_space);
        let may_be_name = |word: &[u8]| {
            let word = word.strip_prefix(b"/").unwrap_or(word);
            std::str::from_utf8(word).is_ok_and(|word| !word.is_empty() && is_name(word))
        };
        if has_words && words.any(may_be_name) {
            help += &format!(
                ", and a user-agent line for {} if it is a name",
                quote(second.unwrap_or(rest))
            );
        }
        Self {
            help,
            fix: name.map(|name| rename(agent, value, name)),
            suggested: vec![known.token.to_ascii_lowercase().into_bytes()],
        }
    }
}

/// The advice to write a line for each of these names.
pub(super) fn one_line_each(names: &[&str]) -> String {
    let lines = list(names.iter().map(|name| format!("`User-agent: {name}`")));
    match names.len() {
        1 => format!("write {lines}"),
        _ => format!("write {lines}, each on a line of its own"),
    }
}

/// Whether a word after a name is a version or punctuation, such as `v.2.2` and `+`.
fn is_version_word(word: &[u8]) -> bool {
    if let [b'/', version @ ..] = word
        && !begins_version(version)
    {
        return false;
    }
    let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic());
    let has_digit = word.iter().any(u8::is_ascii_digit);
    word.is_ascii() && (letters.count() == 0 || has_digit)
}

/// A value without the signs before it, as in `User-agent: = *`, if it has any.
fn without_sign(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    let name = text.trim_start_matches(|c| ":=->".contains(c) || is_white_space(c));
    (name.len() < text.len() && !name.is_empty()).then(|| name.to_owned())
}

/// Whether a text is `*`, a product token, or the name of a crawler in the registry.
fn is_name(name: &str) -> bool {
    let is_token_char = |c: char| c.is_ascii_alphabetic() || "-_".contains(c);
    name == "*" || name.chars().all(is_token_char) || registered(Some(name.as_bytes())).is_some()
}

/// The names of crawlers with slashes between them, as in `MSNBot/Bingbot`.
fn names_with_slashes(value: &[u8]) -> Option<Vec<&str>> {
    let names: Vec<&str> = std::str::from_utf8(value).ok()?.split('/').collect();
    let is_known = |name: &&str| registered(Some(name.as_bytes())).is_some();
    (names.len() > 1 && names.iter().all(is_known)).then_some(names)
}

/// What separates names in a list, besides blanks.
const LIST_MARKS: [char; 3] = [',', ';', '|'];

/// The names in a list with commas, semicolons, bars or blanks; `None` if one of them is not a product
/// token or `*`. Words with blanks between them are a list only if all are names of crawlers.
pub(super) fn listed_names(value: &[u8]) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(value).ok()?;
    let is_marked = text.contains(LIST_MARKS);
    let names: Vec<&str> = match is_marked {
        true => text.split(LIST_MARKS).map(str::trim).collect(),
        false => text.split(is_white_space).collect(),
    };
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let is_listed = |name: &&str| match is_marked {
        true => is_name(name),
        false => registered(Some(name.as_bytes())).is_some(),
    };
    (names.len() > usize::from(!is_marked) && names.iter().all(is_listed)).then_some(names)
}
