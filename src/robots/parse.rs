//! The parser: lines to groups of user-agent lines and rules, and the other stored fields.

use crate::agent::{Agent, AgentMatch, NamedTokens};
use crate::profile::Profile;
use crate::robots::compiled_rules::CompiledRules;
use crate::robots::condense::{FieldLine, field_lines};
use crate::robots::field::{RobotsField, split};
use crate::robots::pattern::{MAX_FURTHER, MAX_PRIORITY, Pattern, RulePatterns, index_page};
use crate::url::escape::is_normal_rule;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

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
    compiled: CompiledRules,
}

/// One user-agent line.
#[derive(Clone, Debug)]
pub struct AgentLine<'a> {
    text: &'a [u8],
    /// The end of the text.
    value: &'a [u8],
    line: u32,
    /// The first byte of the value in lower case, 0 if it is empty. Most lines are not compared
    /// further with an agent.
    first: u8,
    is_global: bool,
    /// The names in the value, copied at the first use. An answer compares the value itself: many
    /// files name hundreds of agents.
    named: OnceLock<Box<NamedTokens>>,
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
///
/// Nearly all are their own normal form. Such a rule is its line and some numbers, and takes 40
/// bytes.
#[derive(Clone, Debug)]
pub struct Rule<'a> {
    text: &'a [u8],
    line: u32,
    /// The length of the pattern's text, which ends before the end of the text, or before its `$`.
    pattern_len: u32,
    kind: RuleKind,
    /// The path ends in `$`.
    anchored: bool,
    /// The patterns of a rule that is not its own normal form, or has several.
    normalized: Option<Box<RulePatterns<'a>>>,
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
    fn add_agent(&mut self, line: u32, text: &'a [u8], value: &'a [u8]) {
        if self
            .groups
            .last()
            .is_none_or(|group| !group.rules.is_empty())
        {
            self.groups.push(Group {
                // Most groups have one such line.
                agents: Vec::with_capacity(1),
                ..Group::default()
            });
        }
        if let Some(group) = self.groups.last_mut() {
            group.agents.push(AgentLine {
                text,
                value,
                line,
                first: value.first().map_or(0, u8::to_ascii_lowercase),
                is_global: NamedTokens::is_global(value),
                named: OnceLock::new(),
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
            let rule = Rule::new(line, text, value, kind, self.profile, further_left);
            group.rules.push(rule);
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
        let selector = self.selector(agent, how);
        let groups = (0..self.groups.len()).filter(|&i| self.groups[i].is_selected(selector));
        let name = match selector {
            GroupSelector::Name(name) => std::str::from_utf8(name).ok(),
            GroupSelector::Global | GroupSelector::Nothing => None,
        };
        (groups.collect(), name)
    }

    /// The groups of [`groups_for`](Self::groups_for), without an allocation.
    pub(crate) fn groups_of<'q>(
        &'q self,
        agent: &'q Agent,
        how: AgentMatch,
    ) -> impl Iterator<Item = &'q Group<'a>> {
        let selector = self.selector(agent, how);
        self.groups
            .iter()
            .filter(move |group| group.is_selected(selector))
    }

    /// The user-agent lines that select the groups of an agent.
    fn selector<'q>(&self, agent: &'q Agent, how: AgentMatch) -> GroupSelector<'q> {
        let is_named = |name: &&[u8]| {
            let lines = self.groups.iter().flat_map(|group| &group.agents);
            lines.into_iter().any(|line| line.names(name))
        };
        match agent.keys(how).find(is_named) {
            Some(name) => GroupSelector::Name(name),
            None if agent.ignores_star() => GroupSelector::Nothing,
            None => GroupSelector::Global,
        }
    }
}

/// The user-agent lines that select a group.
#[derive(Clone, Copy)]
enum GroupSelector<'q> {
    /// Those with this name, in lower case.
    Name(&'q [u8]),
    /// Those with `*`.
    Global,
    /// None.
    Nothing,
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

    /// The rules compiled, after some answers.
    pub(crate) fn compiled(&self) -> &CompiledRules {
        &self.compiled
    }

    fn is_selected(&self, selector: GroupSelector<'_>) -> bool {
        match selector {
            GroupSelector::Name(name) => self.agents.iter().any(|line| line.names(name)),
            GroupSelector::Global => self.agents.iter().any(AgentLine::is_global),
            GroupSelector::Nothing => false,
        }
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
        self.named
            .get_or_init(|| Box::new(NamedTokens::from_value(self.value)))
    }

    /// Whether the product token or the extended token is `key`, a name in lower case.
    #[inline]
    pub(crate) fn names(&self, key: &[u8]) -> bool {
        key.first() == Some(&self.first) && NamedTokens::are_named(self.value, key)
    }

    /// Whether it names the global group, `*`.
    pub fn is_global(&self) -> bool {
        self.is_global
    }
}

impl<'a> Rule<'a> {
    /// The rule with the path `value`, which ends `text`. `further_left` is what is left of
    /// [`MAX_FURTHER`].
    fn new(
        line: u32,
        text: &'a [u8],
        value: &'a [u8],
        kind: RuleKind,
        profile: Profile,
        further_left: &mut usize,
    ) -> Self {
        debug_assert!(text.ends_with(value));
        let is_allow = kind == RuleKind::Allow;
        let anchored = value.ends_with(b"$");
        let rule = |normalized| Self {
            text,
            line,
            pattern_len: (value.len() - usize::from(anchored)) as u32,
            kind,
            anchored,
            normalized,
        };
        // Only such an allow has a further pattern without an escape.
        let has_index = is_allow && profile == Profile::Google && index_page(value).is_some();
        if is_normal_rule(value, profile) && value.len() < MAX_PRIORITY && !has_index {
            return rule(None);
        }
        let mut patterns = Pattern::of_rule(value, is_allow, profile);
        // What profile `Google` adds is bounded by the file, and its parser adds it always.
        if profile == Profile::Rfc9309 {
            patterns.limit_further(further_left);
        }
        rule(Some(Box::new(patterns)))
    }

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
    #[inline]
    pub(crate) fn pattern(&self) -> Pattern<'_> {
        match &self.normalized {
            None => self.plain_pattern(),
            Some(patterns) => patterns.pattern.borrowed(),
        }
    }

    /// Its path as written.
    #[inline]
    fn plain_pattern(&self) -> Pattern<'a> {
        let end = self.text.len() - usize::from(self.anchored);
        Pattern {
            text: Cow::Borrowed(&self.text[end - self.pattern_len as usize..end]),
            anchored: self.anchored,
        }
    }

    /// The patterns after the first: of nearly all rules, none.
    #[inline]
    pub(crate) fn further(&self) -> &[Pattern<'static>] {
        match &self.normalized {
            None => &[],
            Some(patterns) => &patterns.further,
        }
    }

    /// All patterns of which a URL has to match one.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = Pattern<'_>> {
        std::iter::once(self.pattern()).chain(self.further().iter().map(Pattern::borrowed))
    }

    /// The patterns as one value.
    pub(crate) fn to_patterns(&self) -> RulePatterns<'a> {
        match &self.normalized {
            None => RulePatterns::from(self.plain_pattern()),
            Some(patterns) => RulePatterns::clone(patterns),
        }
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
