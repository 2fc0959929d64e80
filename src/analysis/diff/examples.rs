//! Examples of what changed for those who are shown: origins that turned, and the rules that made them.

use crate::analysis::diff::origins::Pair;
use crate::analysis::diff::subjects::{Change, Readers, Subjects, Turn};
use crate::analysis::diff::{AgentChange, RuleChange};
use crate::error::Result;
use crate::profile::Profile;
use crate::robots::Robots;
use std::collections::HashMap;

/// A row that is shown, and whom it is about.
pub(super) struct Shown {
    /// The subject; `None` for those whom no robots.txt names.
    pub number: Option<u32>,
    /// The names it goes by.
    pub keys: Vec<Vec<u8>>,
    pub row: AgentChange,
}

impl Shown {
    pub(super) fn others(row: AgentChange) -> Self {
        Self { number: None, keys: Vec::new(), row }
    }

    /// Whether there is room for another example, and one is left to be found.
    fn wants(&mut self, turn: Turn, examples: usize) -> bool {
        let turned = match turn {
            Turn::Refused => &self.row.refused,
            Turn::Allowed => &self.row.allowed,
        };
        turned.examples.len() < examples && turned.origins > turned.examples.len() as u64
    }
}

/// Fills `shown` with examples: of the pairs, which are those where somebody turned, each with its first origin.
pub(super) fn find<'s, 'p>(
    subjects: &Subjects<'s>,
    pairs: impl Iterator<Item = &'p Pair>,
    examples: usize,
    shown: &mut [Shown],
) -> Result<()> {
    let mut readers = subjects.readers();
    for pair in pairs {
        let open =
            shown.iter_mut().any(|shown| shown.wants(Turn::Refused, examples) || shown.wants(Turn::Allowed, examples));
        if !open {
            break;
        }
        let mut changes: HashMap<Option<u32>, Change> = HashMap::new();
        let others = subjects.compare(pair, &mut readers, |number, change| {
            changes.insert(Some(number), change);
            Ok(())
        })?;
        changes.insert(None, others);
        let mut texts = None;
        for shown in shown.iter_mut() {
            let Some(turn) = changes.get(&shown.number).and_then(Change::turn) else { continue };
            if !shown.wants(turn, examples) {
                continue;
            }
            let texts = match &mut texts {
                Some(texts) => texts,
                none => none.insert(Texts::read(subjects, pair, &mut readers)?),
            };
            let change = texts.change(&shown.keys);
            match turn {
                Turn::Refused => shown.row.refused.examples.push(change),
                Turn::Allowed => shown.row.allowed.examples.push(change),
            }
        }
    }
    Ok(())
}

/// Both robots.txt files of an origin; empty where there is none.
struct Texts {
    origin: String,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Texts {
    fn read<'s>(subjects: &Subjects<'s>, pair: &Pair, (old, new): &mut Readers<'_, 's>) -> Result<Self> {
        Ok(Self {
            origin: subjects.old.snapshot.origin_at(pair.row)?.origin(),
            old: subjects.old.file(pair.old)?.map(|file| old.text(&file)).transpose()?.unwrap_or_default(),
            new: subjects.new.file(pair.new)?.map(|file| new.text(&file)).transpose()?.unwrap_or_default(),
        })
    }

    fn change(&self, keys: &[Vec<u8>]) -> RuleChange {
        // Lines are shown as they stand, which no profile changes.
        let parsed = [&self.old, &self.new].map(|text| Robots::parse(text, Profile::default()));
        let [(old_group, old), (new_group, new)] = [rules(&parsed[0], keys), rules(&parsed[1], keys)];
        let (removed, removed_more) = beyond(&old, &new);
        let (added, added_more) = beyond(&new, &old);
        RuleChange { origin: self.origin.clone(), old_group, new_group, removed, removed_more, added, added_more }
    }
}

/// The lines of the rules that hold for the first of some names that any group names, or else for all; and whose groups these are.
fn rules<'t>(robots: &Robots<'t>, keys: &[Vec<u8>]) -> (Option<String>, Vec<&'t [u8]>) {
    let groups = robots.groups();
    let lines = |test: &dyn Fn(&crate::robots::AgentLine<'_>) -> bool| -> Option<Vec<&'t [u8]>> {
        let mut found = groups.iter().filter(|group| group.agents().iter().any(test)).peekable();
        found.peek()?;
        Some(found.flat_map(|group| group.rules()).map(|rule| rule.text()).collect())
    };
    for key in keys {
        if let Some(lines) = lines(&|line| line.names(key)) {
            return (Some(String::from_utf8_lossy(key).into_owned()), lines);
        }
    }
    match lines(&|line| line.is_global()) {
        Some(lines) => (Some("*".to_owned()), lines),
        None => (None, Vec::new()),
    }
}

/// The first of the lines that others do not have, each as often as it stands there more often, and how many more there are.
fn beyond(lines: &[&[u8]], others: &[&[u8]]) -> (Vec<String>, u64) {
    let mut left: HashMap<&[u8], u64> = HashMap::new();
    others.iter().for_each(|line| *left.entry(line).or_default() += 1);
    let (mut out, mut more) = (Vec::new(), 0);
    for line in lines {
        match left.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            _ if out.len() < RuleChange::LINES => out.push(String::from_utf8_lossy(line).into_owned()),
            _ => more += 1,
        }
    }
    (out, more)
}
