//! Counts the transitions of each agent: one comparison per distinct pair of robots.txt files.

use crate::analysis::diff::comparison::{
    Comparison, CoverageChange, PairChanges, PairReader, TransitionKind,
};
use crate::analysis::diff::examples::{self, DiffRow, transition};
use crate::analysis::diff::origins::FilePair;
use crate::analysis::diff::{AgentChange, Diff, DiffOptions, Transition};
use crate::error::{Error, Result};
use crate::file_pass::{StoredFile, have_same_rules, have_same_text};
use crate::snapshot::Snapshot;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers of origins with a transition, by its kind. Four bytes suffice, because rows of origins
/// are numbered in four bytes.
#[derive(Debug, Default)]
struct TransitionCounts([AtomicU32; TransitionKind::ALL.len()]);

impl TransitionCounts {
    fn add(&self, change: &CoverageChange, origins: u32) {
        if let Some(kind) = change.kind() {
            self.0[kind as usize].fetch_add(origins, Ordering::Relaxed);
        }
    }

    fn get(&self, kind: TransitionKind) -> u64 {
        self.0[kind as usize].load(Ordering::Relaxed).into()
    }
}

#[derive(Debug, Default)]
struct ComparedAgent {
    /// At origins where the file that disallows more names the agent.
    by_name: TransitionCounts,
    /// At origins where only the other file names it.
    named_elsewhere: TransitionCounts,
    /// For a requested agent: its transitions at the other origins.
    ///
    /// For a name, other origins are not visited. So this counts the transitions of unnamed agents
    /// at the origins that name it. Their total less this is the count of the other origins.
    unnamed: TransitionCounts,
}

impl ComparedAgent {
    fn has_named_transition(&self) -> bool {
        TransitionKind::ALL
            .iter()
            .any(|&kind| self.by_name.get(kind) + self.named_elsewhere.get(kind) > 0)
    }

    /// The row of this agent; `unnamed` counts its transitions at the origins that do not name it.
    fn change(&self, name: String, unnamed: impl Fn(TransitionKind) -> u64) -> AgentChange {
        let mut change = AgentChange::new(name);
        for kind in TransitionKind::ALL {
            let by_name = self.by_name.get(kind);
            let elsewhere = self.named_elsewhere.get(kind);
            let by_global = elsewhere + unnamed(kind);
            *transition(&mut change, kind) = Transition {
                origins: by_name + by_global,
                by_name,
                by_global,
                named: by_name + elsewhere,
                examples: Vec::new(),
            };
        }
        change
    }
}

/// All counts, shared by all threads.
struct DiffCounts {
    agents: Vec<ComparedAgent>,
    /// Of agents that neither file names.
    unnamed: TransitionCounts,
}

impl DiffCounts {
    /// The row of the name with this number.
    fn change_of(&self, number: usize, name: String) -> AgentChange {
        let agent = &self.agents[number];
        agent.change(name, |kind| {
            let all = self.unnamed.get(kind);
            all.saturating_sub(agent.unnamed.get(kind))
        })
    }
}

#[derive(Default)]
struct PairResult {
    rules_changed: bool,
    /// Whether any compared agent, or the unnamed ones, have a transition.
    has_transition: bool,
}

/// Compares all pairs, and completes `diff`.
pub(super) fn count(
    old: &Snapshot,
    new: &Snapshot,
    options: &DiffOptions,
    pairs: &[FilePair],
    diff: &mut Diff,
) -> Result<()> {
    let comparison = Comparison::new(old, new, options)?;
    // All pairs first, because the ranking of the rows needs the counts of every agent.
    let counts = DiffCounts {
        agents: (0..comparison.agent_count)
            .map(|_| ComparedAgent::default())
            .collect(),
        unnamed: TransitionCounts::default(),
    };
    let results: Vec<PairResult> = pairs
        .par_iter()
        .map_init(
            || comparison.reader(),
            |reader, pair| compare_pair(&comparison, pair, reader, &counts),
        )
        .collect::<Result<_>>()?;
    for (pair, _) in pairs
        .iter()
        .zip(&results)
        .filter(|(_, result)| result.rules_changed)
    {
        diff.rules_changed.origins += u64::from(pair.count);
        if diff.rules_changed.examples.len() < options.examples {
            diff.rules_changed
                .examples
                .push(old.origin_at(pair.row)?.origin());
        }
    }
    // Examples need the texts of both files, so only pairs with a transition are read again.
    let mut rows = rows(&comparison, options, &counts, diff)?;
    let changed = pairs
        .iter()
        .zip(&results)
        .filter(|(_, result)| result.has_transition)
        .map(|(pair, _)| pair);
    examples::add(&comparison, changed, options.examples, &mut rows)?;
    // The first row is that of the agents without a row of their own.
    let mut rows = rows.into_iter().map(|row| row.change);
    if let Some(others) = rows.next() {
        diff.others = others;
    }
    diff.agents = rows.collect();
    Ok(())
}

/// Compares one pair, and adds its origins to the counts.
fn compare_pair<'s>(
    comparison: &Comparison<'s>,
    pair: &FilePair,
    reader: &mut PairReader<'s>,
    counts: &DiffCounts,
) -> Result<PairResult> {
    let old = &comparison.old;
    let new = &comparison.new;
    let mut rules_changed = false;
    if let (Some(before), Some(after)) = (pair.old, pair.new) {
        let before = StoredFile {
            snapshot: old.snapshot,
            file: before,
        };
        let after = StoredFile {
            snapshot: new.snapshot,
            file: after,
        };
        let is_same_name = |first: u32, second: u32| {
            old.numbers.get(first as usize) == new.numbers.get(second as usize)
        };
        // Equal texts are the fast way out, and equal rules the next one.
        if have_same_text(before, after)?
            || have_same_rules(before, after, is_same_name, &mut reader.compared)?
        {
            return Ok(PairResult::default());
        }
        rules_changed = true;
    }
    let PairChanges { unnamed, by_agent } = comparison.compare(pair, reader)?;
    counts.unnamed.add(&unnamed, pair.count);
    let mut has_transition = unnamed.kind().is_some();
    for (number, change) in by_agent {
        let agent = counts
            .agents
            .get(number as usize)
            .ok_or_else(|| Error::corrupt("the number of a name"))?;
        has_transition |= change.kind().is_some();
        let counts = match (change.is_named(), change.is_by_name()) {
            (true, true) => &agent.by_name,
            (true, false) => &agent.named_elsewhere,
            (false, _) => &agent.unnamed,
        };
        counts.add(&change, pair.count);
        if !comparison.is_by_request {
            agent.unnamed.add(&unnamed, pair.count);
        }
    }
    Ok(PairResult {
        rules_changed,
        has_transition,
    })
}

/// The rows of the diff without examples: that of unnamed agents, then the requested agents or the
/// first names of the ranking.
fn rows(
    comparison: &Comparison<'_>,
    options: &DiffOptions,
    counts: &DiffCounts,
    diff: &mut Diff,
) -> Result<Vec<DiffRow>> {
    let others = ComparedAgent::default().change("*".to_owned(), |kind| counts.unnamed.get(kind));
    let mut rows = vec![DiffRow {
        number: None,
        keys: Vec::new(),
        change: others,
    }];
    // Requested agents are listed in the order of the request, with and without a change.
    if comparison.is_by_request {
        for (number, (agent, counts)) in (0..).zip(options.agents.iter().zip(&counts.agents)) {
            let change = counts.change(agent.to_string(), |kind| counts.unnamed.get(kind));
            diff.agents_changed += u64::from(!change.is_empty());
            let keys = agent
                .keys(options.agent_match)
                .map(<[u8]>::to_vec)
                .collect();
            rows.push(DiffRow {
                number: Some(number),
                keys,
                change,
            });
        }
        return Ok(rows);
    }
    // A name has a row only if a group that names it changed.
    let numbers = 0..counts.agents.len();
    let mut ranking: Vec<usize> = numbers
        .filter(|&number| counts.agents[number].has_named_transition())
        .collect();
    diff.agents_changed = ranking.len() as u64;
    ranking.sort_by_cached_key(|&number| counts.change_of(number, String::new()).ranking());
    for number in ranking.into_iter().take(options.top) {
        let name = comparison.name(number as u32)?;
        let change = counts.change_of(number, String::from_utf8_lossy(name).into_owned());
        rows.push(DiffRow {
            number: Some(number as u32),
            keys: vec![name.to_vec()],
            change,
        });
    }
    Ok(rows)
}
