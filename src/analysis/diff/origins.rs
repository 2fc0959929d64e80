//! The origins of both snapshots side by side: what came, what went, which pairs of robots.txt files remain.

use crate::analysis::diff::{AgentChange, Diff, Origins, OutcomeChange, Transition};
use crate::error::Result;
use crate::snapshot::format::NONE;
use crate::snapshot::{OriginEntry, OutcomeClass, Snapshot};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// Origins that answered in both snapshots with the same two robots.txt files; [`NONE`] stands for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub old: u32,
    pub new: u32,
    /// How many origins.
    pub count: u32,
    /// The first of them, by its row in the old snapshot.
    pub row: u32,
}

impl Origins {
    pub(super) fn push(&mut self, entry: &OriginEntry<'_>, examples: usize) {
        self.origins += 1;
        if self.examples.len() < examples {
            self.examples.push(entry.origin());
        }
    }
}

impl AgentChange {
    pub(super) fn none(name: String) -> Self {
        Self { name, refused: Transition::default(), allowed: Transition::default() }
    }
}

/// Walks both, and gives what is known so far and the pairs of files, in the order of their first origins.
pub(super) fn walk(old: &Snapshot, new: &Snapshot, examples: usize) -> Result<(Diff, Vec<Pair>)> {
    let mut walk = Walk { examples, diff: empty(old.origin_count(), new.origin_count()), ..Walk::default() };
    let (mut olds, mut news) = (old.origins(), new.origins());
    let (mut before, mut after) = (olds.next().transpose()?, news.next().transpose()?);
    let mut row = 0;
    loop {
        let order = match (&before, &after) {
            (None, None) => return Ok(walk.done()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(before), Some(after)) => before.key().cmp(after.key()),
        };
        walk.step((before.as_ref(), row), after.as_ref(), order);
        if order.is_le() {
            before = olds.next().transpose()?;
            row += 1;
        }
        if order.is_ge() {
            after = news.next().transpose()?;
        }
    }
}

#[derive(Default)]
struct Walk {
    examples: usize,
    diff: Diff,
    outcomes: BTreeMap<(u8, u8), OutcomeChange>,
    /// By both files: how many origins, and the first.
    pairs: HashMap<(u32, u32), (u32, u32)>,
}

fn empty(old: u32, new: u32) -> Diff {
    Diff { old: old.into(), new: new.into(), ..Diff::default() }
}

impl Default for Diff {
    fn default() -> Self {
        Self {
            old: 0,
            new: 0,
            added: Origins::default(),
            gone: Origins::default(),
            common: 0,
            outcome_changed: Origins::default(),
            outcomes: Vec::new(),
            rules_changed: Origins::default(),
            answered: 0,
            others: AgentChange::none("*".to_owned()),
            agents: Vec::new(),
            agents_changed: 0,
        }
    }
}

impl Walk {
    fn step(&mut self, (old, row): (Option<&OriginEntry<'_>>, u32), new: Option<&OriginEntry<'_>>, order: Ordering) {
        match (order, old, new) {
            (Ordering::Less, Some(old), _) => self.diff.gone.push(old, self.examples),
            (Ordering::Greater, _, Some(new)) => self.diff.added.push(new, self.examples),
            (_, Some(old), Some(new)) => self.common(old, row, new),
            _ => {}
        }
    }

    fn common(&mut self, old: &OriginEntry<'_>, row: u32, new: &OriginEntry<'_>) {
        self.diff.common += 1;
        let (from, to) = (old.outcome().class, new.outcome().class);
        if from != to {
            self.diff.outcome_changed.push(new, self.examples);
            let change = self.outcomes.entry((from as u8, to as u8));
            change.or_insert(OutcomeChange { from, to, origins: 0 }).origins += 1;
        }
        if let (Some(before), Some(after)) = (answer(old), answer(new)) {
            self.diff.answered += 1;
            if before != NONE || after != NONE {
                self.pairs.entry((before, after)).or_insert((0, row)).0 += 1;
            }
        }
    }

    fn done(mut self) -> (Diff, Vec<Pair>) {
        self.diff.outcomes = self.outcomes.into_values().collect();
        self.diff.outcomes.sort_by_key(|change| std::cmp::Reverse(change.origins));
        let pairs = self.pairs.into_iter().map(|((old, new), (count, row))| Pair { old, new, count, row });
        let mut pairs: Vec<Pair> = pairs.collect();
        pairs.sort_unstable_by_key(|pair| pair.row);
        (self.diff, pairs)
    }
}

/// The robots.txt that an origin answered with, [`NONE`] if it has none; `None` where fetching failed.
fn answer(entry: &OriginEntry<'_>) -> Option<u32> {
    match entry.outcome().class {
        OutcomeClass::Rules => entry.rules_file(),
        OutcomeClass::ClientError | OutcomeClass::Unresolved => Some(NONE),
        OutcomeClass::ServerError | OutcomeClass::Unreachable => None,
    }
}
