//! Lines to groups: who is named, which rules they obey, what else is said.

use crate::agent::{Agent, AgentMatch, Named};
use crate::profile::Profile;
use crate::robots::field::{self, Field};
use crate::robots::line::Lines;
use crate::robots::pattern::Pattern;

/// A parsed robots.txt; it borrows from the bytes it was parsed from.
///
/// Nothing a site serves is an error: what is not understood is skipped (RFC 9309 §2.2.4), only the first
/// 500 KiB are read (§2.5). Cost: one pass over the bytes.
///
/// ```
/// use robosieve::{Profile, Robots};
/// let robots = Robots::parse(b"User-agent: *\nDisallow: /private\nSitemap: https://e.example/s.xml", Profile::Google);
/// assert_eq!(robots.groups()[0].rules()[0].line(), 2);
/// assert_eq!(robots.other_fields()[0].name(), "sitemap");
/// ```
#[derive(Clone, Debug)]
pub struct Robots<'a> {
    groups: Vec<Group<'a>>,
    others: Vec<OtherField<'a>>,
    profile: Profile,
}

/// A run of user-agent lines and the rules that belong to it (RFC 9309 §2.2.1).
#[derive(Clone, Debug, Default)]
pub struct Group<'a> {
    agents: Vec<AgentLine<'a>>,
    rules: Vec<Rule<'a>>,
}

/// One user-agent line.
#[derive(Clone, Debug)]
pub struct AgentLine<'a> {
    line: u32,
    text: &'a [u8],
    named: Named,
}

/// What a rule does to the URLs that it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleKind {
    /// An `allow` line.
    Allow,
    /// A `disallow` line.
    Disallow,
}

/// One `allow` or `disallow` line of a group.
#[derive(Clone, Debug)]
pub struct Rule<'a> {
    line: u32,
    text: &'a [u8],
    kind: RuleKind,
    pattern: Pattern<'a>,
}

/// A line that never changes a verdict: sitemap, crawl-delay, content-signal and the like.
#[derive(Clone, Debug)]
pub struct OtherField<'a> {
    line: u32,
    name: &'static str,
    value: &'a [u8],
    group: Option<usize>,
}

impl RuleKind {
    /// The name in JSON: `allow` or `disallow`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Disallow => "disallow",
        }
    }
}

impl<'a> Robots<'a> {
    /// Parses the body of a robots.txt, as it was served (after content decoding). Never fails, never panics.
    pub fn parse(body: &'a [u8], profile: Profile) -> Self {
        Self::from_lines(Lines::new(body, false), profile)
    }

    pub(crate) fn from_lines(lines: Lines<'a>, profile: Profile) -> Self {
        let mut robots = Self { groups: Vec::new(), others: Vec::new(), profile };
        for line in lines {
            let Some((field, value)) = field::split(line.text) else { continue };
            match field {
                Field::UserAgent => robots.add_agent(line.number, line.text, value),
                Field::Allow => robots.add_rule(line.number, line.text, value, RuleKind::Allow),
                Field::Disallow => robots.add_rule(line.number, line.text, value, RuleKind::Disallow),
                Field::Other(name) => {
                    let group = robots.groups.len().checked_sub(1);
                    robots.others.push(OtherField { line: line.number, name, value, group });
                }
            }
        }
        robots
    }

    /// Only a rule ends a run of user-agent lines; sitemaps, crawl-delays and unknown lines do not.
    fn add_agent(&mut self, line: u32, text: &'a [u8], value: &[u8]) {
        if self.groups.last().is_none_or(|group| !group.rules.is_empty()) {
            self.groups.push(Group::default());
        }
        if let Some(group) = self.groups.last_mut() {
            group.agents.push(AgentLine { line, text, named: Named::from_value(value) });
        }
    }

    /// Rules before the first user-agent line belong to nobody.
    fn add_rule(&mut self, line: u32, text: &'a [u8], value: &'a [u8], kind: RuleKind) {
        if let Some(group) = self.groups.last_mut() {
            group.rules.push(Rule { line, text, kind, pattern: Pattern::new(value, self.profile) });
        }
    }

    /// The groups in the order of the file.
    pub fn groups(&self) -> &[Group<'a>] {
        &self.groups
    }

    /// Sitemaps, crawl-delays and the other stored fields, in the order of the file.
    pub fn other_fields(&self) -> &[OtherField<'a>] {
        &self.others
    }

    /// The profile it was parsed for.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The indices of the groups that `agent` obeys, and the name of its chain that they name.
    ///
    /// All groups that name the first name of the chain that any group names; if none is named, the global groups,
    /// and the name is `None` (RFC 9309 §2.2.1). Specific and global groups are never mixed.
    pub fn groups_for<'q>(&self, agent: &'q Agent, how: AgentMatch) -> (Vec<usize>, Option<&'q str>) {
        let select = |test: &dyn Fn(&Group<'_>) -> bool| -> Vec<usize> {
            (0..self.groups.len()).filter(|&i| test(&self.groups[i])).collect()
        };
        for key in agent.keys(how) {
            let found = select(&|group| group.agents.iter().any(|line| line.names(key)));
            if !found.is_empty() {
                return (found, std::str::from_utf8(key).ok());
            }
        }
        (select(&|group| group.agents.iter().any(|line| line.named.global)), None)
    }
}

impl<'a> Group<'a> {
    /// The user-agent lines that open the group.
    pub fn agents(&self) -> &[AgentLine<'a>] {
        &self.agents
    }

    /// The rules, in the order of the file; a group without rules allows everything.
    pub fn rules(&self) -> &[Rule<'a>] {
        &self.rules
    }
}

impl<'a> AgentLine<'a> {
    /// The line's number, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The line as it stands in the file, without comment and surrounding white space.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    pub(crate) fn named(&self) -> &Named {
        &self.named
    }

    /// Whether it names the requested name `key`: by the product token, or by the extended token where that differs.
    pub(crate) fn names(&self, key: &[u8]) -> bool {
        self.named.token == key || self.named.extended.as_deref() == Some(key)
    }

    /// Whether it names the global group, `*`.
    pub fn is_global(&self) -> bool {
        self.named.global
    }
}

impl<'a> Rule<'a> {
    /// The line's number, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The line as it stands in the file, without comment and surrounding white space.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Allow or disallow.
    pub fn kind(&self) -> RuleKind {
        self.kind
    }

    pub(crate) fn pattern(&self) -> &Pattern<'a> {
        &self.pattern
    }
}

impl<'a> OtherField<'a> {
    /// The line's number, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The field's name in lower case, in its correct spelling.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The value, trimmed.
    pub fn value(&self) -> &'a [u8] {
        self.value
    }

    /// The index of the group it stands in; `None` before the first group.
    pub fn group(&self) -> Option<usize> {
        self.group
    }
}
