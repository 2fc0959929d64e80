//! A merge join of the origins of two snapshots, which are sorted by key in both.
//!
//! It counts origins that were added or are gone, and changed outcomes. All other differences
//! depend on the two robots.txt files of an origin only. So the join returns the distinct pairs of
//! files, each with the number of its origins.

use crate::analysis::diff::{AgentChange, Diff, Origins, OutcomeChange};
use crate::error::Result;
use crate::snapshot::{OriginEntry, OutcomeClass, Snapshot};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// The robots.txt files of origins that answered in both snapshots; `None` for no robots.txt.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilePair {
    pub old: Option<u32>,
    pub new: Option<u32>,
    /// The number of origins.
    pub count: u32,
    /// The row of the first origin in the old snapshot.
    pub row: u32,
}

impl Origins {
    /// Counts an origin, and keeps it if it is among the first `examples`.
    fn push(&mut self, entry: &OriginEntry<'_>, examples: usize) {
        self.origins += 1;
        if self.examples.len() < examples {
            self.examples.push(entry.origin());
        }
    }
}

/// The result of the join.
pub(super) struct JoinedOrigins {
    /// The counts so far.
    pub diff: Diff,
    /// In the order of their first origins.
    pub pairs: Vec<FilePair>,
}

/// Joins the origins of both snapshots.
pub(super) fn join_origins(
    old: &Snapshot,
    new: &Snapshot,
    examples: usize,
) -> Result<JoinedOrigins> {
    let diff = Diff {
        old: old.origin_count().into(),
        new: new.origin_count().into(),
        ..Diff::default()
    };
    let mut join = OriginJoin {
        examples,
        diff,
        ..OriginJoin::default()
    };
    let mut olds = old.origins();
    let mut news = new.origins();
    let mut before = olds.next().transpose()?;
    let mut after = news.next().transpose()?;
    let mut row = 0;
    // The smaller of the two next origins is in one snapshot only.
    loop {
        let order = match (&before, &after) {
            (None, None) => return Ok(join.finish()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.key().cmp(new.key()),
        };
        match (order, &before, &after) {
            (Ordering::Less, Some(old), _) => join.diff.gone.push(old, examples),
            (Ordering::Greater, _, Some(new)) => join.diff.added.push(new, examples),
            (_, Some(old), Some(new)) => join.add_common(old, row, new),
            _ => {}
        }
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
struct OriginJoin {
    examples: usize,
    diff: Diff,
    outcomes: BTreeMap<(u8, u8), OutcomeChange>,
    /// For each pair of files the number of origins, and the row of the first.
    pairs: HashMap<(Option<u32>, Option<u32>), (u32, u32)>,
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
            others: AgentChange::new("*".to_owned()),
            agents: Vec::new(),
            agents_changed: 0,
        }
    }
}

impl OriginJoin {
    fn add_common(&mut self, old: &OriginEntry<'_>, row: u32, new: &OriginEntry<'_>) {
        self.diff.common += 1;
        let from = old.outcome().class;
        let to = new.outcome().class;
        if from != to {
            self.diff.outcome_changed.push(new, self.examples);
            let change = self.outcomes.entry((from as u8, to as u8));
            change
                .or_insert(OutcomeChange {
                    from,
                    to,
                    origins: 0,
                })
                .origins += 1;
        }
        if let (Some(before), Some(after)) = (answer(old), answer(new)) {
            self.diff.answered += 1;
            if before.is_some() || after.is_some() {
                self.pairs.entry((before, after)).or_insert((0, row)).0 += 1;
            }
        }
    }

    fn finish(mut self) -> JoinedOrigins {
        self.diff.outcomes = self.outcomes.into_values().collect();
        self.diff
            .outcomes
            .sort_by_key(|change| std::cmp::Reverse(change.origins));
        let pairs = self
            .pairs
            .into_iter()
            .map(|((old, new), (count, row))| FilePair {
                old,
                new,
                count,
                row,
            });
        let mut pairs: Vec<FilePair> = pairs.collect();
        pairs.sort_unstable_by_key(|pair| pair.row);
        JoinedOrigins {
            diff: self.diff,
            pairs,
        }
    }
}

/// The robots.txt of an origin, or `Some(None)` if its answer is that there is none. `None` if
/// fetching failed: then the rules are unknown.
fn answer(entry: &OriginEntry<'_>) -> Option<Option<u32>> {
    match entry.outcome().class {
        OutcomeClass::Rules => entry.rules_file().map(Some),
        OutcomeClass::ClientError | OutcomeClass::Unresolved => Some(None),
        OutcomeClass::ServerError | OutcomeClass::Unreachable => None,
    }
}
