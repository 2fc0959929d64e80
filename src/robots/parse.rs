//! The parser: lines to groups of user-agent lines and rules, and the other stored fields.

use crate::agent::{Agent, AgentMatch, NamedTokens};
use crate::profile::Profile;
use crate::robots::condense::{FieldLine, field_lines};
use crate::robots::field::{RobotsField, split};
use crate::robots::pattern::{MAX_FURTHER, Pattern, RulePatterns};
use std::collections::HashSet;

/// A parsed robots.txt that borrows from the bytes it was parsed from. [`Robots`](super::Robots)
/// owns them.
///
/// No body is an error: unknown lines are skipped (RFC 9309 §2.2.4), and only the first 500 KiB are
/// read (§2.5). Cost: one pass over the bytes.
///
/// ```
/// use robosieve::{Profile, RobotsRef};
/// let text = b"User-agent: *\nDisallow: /private\nSitemap: https://e.example/s.xml";
/// let robots = RobotsRef::parse(text, Profile::Google);
/// assert_eq!(robots.groups()[0].rules()[0].line(), 2);
/// assert_eq!(robots.other_fields()[0].name(), "sitemap");
/// ```
#[derive(Clone, Debug)]
pub struct RobotsRef<'a> {
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
    named: NamedTokens,
}

/// The effect of a rule on the URLs that it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
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
    patterns: RulePatterns<'a>,
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

impl<'a> RobotsRef<'a> {
    /// Parses the body of a robots.txt as served (after content decoding). Never fails, never
    /// panics.
    pub fn parse(body: &'a [u8], profile: Profile) -> Self {
        Self::from_lines(field_lines(body, false, profile), profile)
    }

    /// Groups the lines of a robots.txt, as [`field_lines`] reads them for `profile`.
    pub(crate) fn from_lines(lines: impl Iterator<Item = FieldLine<'a>>, profile: Profile) -> Self {
        let mut robots = Self {
            groups: Vec::new(),
            others: Vec::new(),
            profile,
        };
        let mut further_left = MAX_FURTHER;
        for FieldLine {
            number: line,
            text,
            field,
            value,
        } in lines
        {
            match field {
                RobotsField::UserAgent => robots.add_agent(line, text, value),
                RobotsField::Allow => {
                    robots.add_rule(line, text, value, RuleKind::Allow, &mut further_left);
                }
                RobotsField::Disallow => {
                    robots.add_rule(line, text, value, RuleKind::Disallow, &mut further_left);
                }
                // Other fields belong to the group above them, but do not end its user-agent lines.
                RobotsField::Other(name) => {
                    let group = robots.groups.len().checked_sub(1);
                    robots.others.push(OtherField {
                        line,
                        name,
                        value,
                        group,
                    });
                }
            }
        }
        robots
    }

    /// Adds a user-agent line to the current group, or to a new one if the current group has rules.
    /// Only rules end a run of user-agent lines; sitemaps, crawl-delays and unknown lines do not.
    fn add_agent(&mut self, line: u32, text: &'a [u8], value: &[u8]) {
        if self
            .groups
            .last()
            .is_none_or(|group| !group.rules.is_empty())
        {
            self.groups.push(Group::default());
        }
        if let Some(group) = self.groups.last_mut() {
            group.agents.push(AgentLine {
                line,
                text,
                named: NamedTokens::from_value(value),
            });
        }
    }

    /// Adds a rule to the current group. Rules before the first user-agent line are ignored.
    /// `further_left` is what is left of [`MAX_FURTHER`].
    fn add_rule(
        &mut self,
        line: u32,
        text: &'a [u8],
        value: &'a [u8],
        kind: RuleKind,
        further_left: &mut usize,
    ) {
        if let Some(group) = self.groups.last_mut() {
            let mut patterns = Pattern::of_rule(value, kind == RuleKind::Allow, self.profile);
            // What profile `Google` adds is bounded by the file, and its parser adds it always.
            if self.profile == Profile::Rfc9309 {
                patterns.limit_further(further_left);
            }
            group.rules.push(Rule {
                line,
                text,
                kind,
                patterns,
            });
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

    /// The sitemaps in the order of the file, as written; [`value`](OtherField::value) is the
    /// address.
    ///
    /// Sitemaps belong to no group, so they are the same for every agent. A value that was seen
    /// before is left out, and so is an empty one. A value may be relative to the URL of the
    /// robots.txt, need not be a URL, and ends before a `#`.
    ///
    /// ```
    /// use robosieve::{Profile, RobotsRef};
    /// let text = b"Sitemap: https://e.example/s.xml\nUser-agent: *\n\
    ///     Sitemap: /news.xml\nsitemap: /news.xml";
    /// let robots = RobotsRef::parse(text, Profile::Google);
    /// let found: Vec<_> = robots.sitemaps().map(|field| (field.line(), field.value())).collect();
    /// assert_eq!(found, [(1, b"https://e.example/s.xml".as_slice()), (3, b"/news.xml")]);
    /// ```
    pub fn sitemaps(&self) -> impl Iterator<Item = &OtherField<'a>> {
        self.distinct("sitemap")
    }

    /// The licences (RSL) in the order of the file, as written; [`value`](OtherField::value) is the
    /// address.
    ///
    /// Like sitemaps, they belong to no group, and repeated and empty values are left out. RSL asks
    /// for absolute URLs, but a value need not be one.
    ///
    /// ```
    /// use robosieve::{Profile, RobotsRef};
    /// let text = b"User-agent: *\nLicense: https://e.example/license.xml\nDisallow: /x";
    /// let robots = RobotsRef::parse(text, Profile::Google);
    /// let found: Vec<_> = robots.licenses().map(|field| field.value()).collect();
    /// assert_eq!(found, [b"https://e.example/license.xml"]);
    /// ```
    pub fn licenses(&self) -> impl Iterator<Item = &OtherField<'a>> {
        self.distinct("license")
    }

    /// The fields of a name with distinct values that are not empty.
    fn distinct(&self, name: &'static str) -> impl Iterator<Item = &OtherField<'a>> {
        let mut seen = HashSet::new();
        self.others
            .iter()
            .filter(move |field| field.name == name && !field.value.is_empty())
            .filter(move |field| seen.insert(field.value))
    }

    /// The profile that it was parsed for.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The indices of the groups that `agent` obeys, and the name of its chain that selects them.
    ///
    /// The first name of the chain that any group names selects all groups that name it. If no
    /// group names any, the agent obeys the global groups, and the name is `None` (RFC 9309
    /// §2.2.1). Specific and global groups are never mixed. An agent that [ignores
    /// `*`](Agent::ignores_star) obeys no group then.
    pub fn groups_for<'q>(
        &self,
        agent: &'q Agent,
        how: AgentMatch,
    ) -> (Vec<usize>, Option<&'q str>) {
        for key in agent.keys(how) {
            let found = self.groups_with(|line| line.names(key));
            if !found.is_empty() {
                return (found, std::str::from_utf8(key).ok());
            }
        }
        if agent.ignores_star() {
            return (Vec::new(), None);
        }
        (self.groups_with(|line| line.named.global), None)
    }

    /// The indices of the groups with such a user-agent line.
    fn groups_with(&self, is_wanted: impl Fn(&AgentLine<'_>) -> bool) -> Vec<usize> {
        (0..self.groups.len())
            .filter(|&i| self.groups[i].agents.iter().any(&is_wanted))
            .collect()
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

    /// The text of the line, without comment and surrounding white space.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The names in its value.
    pub(crate) fn named(&self) -> &NamedTokens {
        &self.named
    }

    /// Whether the product token or the extended token is `key`, a name in lower case.
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

    /// The text of the line, without comment and surrounding white space.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The path as written, without surrounding white space.
    ///
    /// ```
    /// use robosieve::{Profile, RobotsRef};
    /// let text = b"User-agent: *\nDisallow: /%7ea*$ # private";
    /// let robots = RobotsRef::parse(text, Profile::Google);
    /// assert_eq!(robots.groups()[0].rules()[0].value(), b"/%7ea*$");
    /// ```
    pub fn value(&self) -> &'a [u8] {
        // What profile `Rfc9309` reads, `Google` reads in the same way.
        split(self.text, Profile::Google).map_or_else(Default::default, |(_, value)| value)
    }

    /// Allow or disallow.
    pub fn kind(&self) -> RuleKind {
        self.kind
    }

    /// Its path in normal form.
    pub(crate) fn pattern(&self) -> &Pattern<'a> {
        &self.patterns.pattern
    }

    /// All patterns of which a URL has to match one.
    pub(crate) fn patterns(&self) -> &RulePatterns<'a> {
        &self.patterns
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

    /// The index of its group; `None` before the first group.
    pub fn group(&self) -> Option<usize> {
        self.group
    }
}
