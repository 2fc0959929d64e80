//! Examples of transitions: origins with the rule lines that were removed and added.

use crate::analysis::diff::comparison::{Comparison, CoverageChange, PairReader, TransitionKind};
use crate::analysis::diff::origins::FilePair;
use crate::analysis::diff::{AgentChange, RuleChange, Transition};
use crate::error::Result;
use crate::profile::Profile;
use crate::robots::{AgentLine, RobotsRef};
use std::collections::HashMap;

pub(super) struct DiffRow {
    /// The number of the compared agent; `None` for agents that no robots.txt names.
    pub number: Option<u32>,
    /// The names that groups are looked up by, in the order of preference.
    pub keys: Vec<Vec<u8>>,
    pub change: AgentChange,
}

impl DiffRow {
    /// Whether another example is wanted, and can exist.
    fn wants(&mut self, kind: TransitionKind, examples: usize) -> bool {
        let transition = transition(&mut self.change, kind);
        transition.examples.len() < examples
            && transition.origins > transition.examples.len() as u64
    }

    /// The same for any kind of transition.
    fn wants_any(&mut self, examples: usize) -> bool {
        TransitionKind::ALL
            .iter()
            .any(|&kind| self.wants(kind, examples))
    }
}

/// The transition of a row, by its kind.
pub(super) fn transition(change: &mut AgentChange, kind: TransitionKind) -> &mut Transition {
    match kind {
        TransitionKind::Refused => &mut change.refused,
        TransitionKind::Allowed => &mut change.allowed,
        TransitionKind::NewlyPartly => &mut change.newly_partly,
        TransitionKind::NoLongerPartly => &mut change.no_longer_partly,
    }
}

/// Adds up to `examples` examples per kind of transition to each row, from the first origin of each
/// pair. `pairs` are those with a transition of any agent.
pub(super) fn add<'p>(
    comparison: &Comparison<'_>,
    pairs: impl Iterator<Item = &'p FilePair>,
    examples: usize,
    rows: &mut [DiffRow],
) -> Result<()> {
    let mut reader = comparison.reader();
    // Both snapshots have the same one.
    let profile = comparison.new.snapshot.profile()?;
    for pair in pairs {
        if !rows.iter_mut().any(|row| row.wants_any(examples)) {
            break;
        }
        let changes = comparison.compare(pair, &mut reader)?;
        // The texts are decompressed for the first row that needs them.
        let mut texts = None;
        for row in rows.iter_mut() {
            let change = match &row.number {
                Some(number) => changes.by_agent.get(number),
                None => Some(&changes.unnamed),
            };
            let Some(kind) = change.and_then(CoverageChange::kind) else {
                continue;
            };
            if !row.wants(kind, examples) {
                continue;
            }
            let texts = match &mut texts {
                Some(texts) => texts,
                none => none.insert(PairTexts::read(comparison, pair, &mut reader)?),
            };
            let example = texts.rule_change(&row.keys, profile);
            transition(&mut row.change, kind).examples.push(example);
        }
    }
    Ok(())
}

/// Both robots.txt files of an origin, each empty if there is none.
struct PairTexts {
    origin: String,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl PairTexts {
    fn read(
        comparison: &Comparison<'_>,
        pair: &FilePair,
        reader: &mut PairReader<'_>,
    ) -> Result<Self> {
        let old = pair.old.map(|file| reader.old.text(file)).transpose()?;
        let new = pair.new.map(|file| reader.new.text(file)).transpose()?;
        Ok(Self {
            origin: comparison.old.snapshot.origin_at(pair.row)?.origin(),
            old: old.unwrap_or_default(),
            new: new.unwrap_or_default(),
        })
    }

    fn rule_change(&self, keys: &[Vec<u8>], profile: Profile) -> RuleChange {
        let parsed = [&self.old, &self.new].map(|text| RobotsRef::parse(text, profile));
        let old = RuleLines::of_agent(&parsed[0], keys);
        let new = RuleLines::of_agent(&parsed[1], keys);
        let removed = LineDifference::new(&old.lines, &new.lines);
        let added = LineDifference::new(&new.lines, &old.lines);
        RuleChange {
            origin: self.origin.clone(),
            old_group: old.group,
            new_group: new.group,
            removed: removed.first,
            removed_more: removed.more,
            added: added.first,
            added_more: added.more,
        }
    }
}

/// The rule lines that apply to an agent, and the name of their groups.
struct RuleLines<'t> {
    group: Option<String>,
    lines: Vec<&'t [u8]>,
}

impl<'t> RuleLines<'t> {
    /// The lines for the first of `keys` that a group names, else for `*`, else none.
    fn of_agent(robots: &RobotsRef<'t>, keys: &[Vec<u8>]) -> Self {
        for key in keys {
            if let Some(lines) = lines_of_groups(robots, |line| line.names(key)) {
                return Self {
                    group: Some(String::from_utf8_lossy(key).into_owned()),
                    lines,
                };
            }
        }
        let global = lines_of_groups(robots, AgentLine::is_global);
        Self {
            group: global.is_some().then(|| "*".to_owned()),
            lines: global.unwrap_or_default(),
        }
    }
}

/// The rule lines of all groups with a user-agent line of this kind; `None` without such a group.
fn lines_of_groups<'t>(
    robots: &RobotsRef<'t>,
    is_wanted: impl Fn(&AgentLine<'t>) -> bool,
) -> Option<Vec<&'t [u8]>> {
    let mut groups = robots
        .groups()
        .iter()
        .filter(|group| group.agents().iter().any(&is_wanted))
        .peekable();
    groups.peek()?;
    Some(
        groups
            .flat_map(|group| group.rules())
            .map(|rule| rule.text())
            .collect(),
    )
}

/// The multiset difference of two lists of lines.
struct LineDifference {
    /// At most [`RuleChange::LINES`] lines.
    first: Vec<String>,
    /// The number of the others.
    more: u64,
}

impl LineDifference {
    /// The lines that `others` lacks.
    fn new(lines: &[&[u8]], others: &[&[u8]]) -> Self {
        let mut left: HashMap<&[u8], u64> = HashMap::new();
        others
            .iter()
            .for_each(|line| *left.entry(line).or_default() += 1);
        let mut first = Vec::new();
        let mut more = 0;
        for line in lines {
            match left.get_mut(line) {
                Some(count) if *count > 0 => *count -= 1,
                _ if first.len() < RuleChange::LINES => {
                    first.push(String::from_utf8_lossy(line).into_owned())
                }
                _ => more += 1,
            }
        }
        Self { first, more }
    }
}
