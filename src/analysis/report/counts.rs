//! Map-reduce over rows: chunks are counted on all threads, and the partial counts are merged.

use crate::analysis::report::model::{AgentSubset, CoverageCounts, Together};
use crate::error::Result;
use crate::file_pass::{AgentCoverage, Coverage};
use crate::judge::Reason;
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// The number of rows or files in a chunk, which one thread counts at a time.
const CHUNK: u32 = 4096;

/// Divides this number of rows into chunks.
pub(super) fn row_chunks(count: u32) -> impl IndexedParallelIterator<Item = Range<u32>> {
    let chunks = count.div_ceil(CHUNK);
    (0..chunks)
        .into_par_iter()
        .map(move |number| number * CHUNK..(number * CHUNK).saturating_add(CHUNK).min(count))
}

/// Partial counts. `merge` is associative, so the result does not depend on the division into
/// chunks.
pub(super) trait Merge: Send {
    fn merge(&mut self, later: Self);
}

/// Merges partial counts in the order of their chunks. `zero` gives the neutral element.
pub(super) fn merge_all<T: Merge>(
    zero: impl Fn() -> T + Send + Sync,
    parts: impl ParallelIterator<Item = Result<T>>,
) -> Result<T> {
    parts.try_reduce(zero, |mut sum, part| {
        sum.merge(part);
        Ok(sum)
    })
}

impl<K: Eq + Hash + Send> Merge for HashMap<K, u64> {
    /// Adds the smaller map to the larger one: the order does not matter.
    fn merge(&mut self, mut later: Self) {
        if self.len() < later.len() {
            std::mem::swap(self, &mut later);
        }
        later
            .into_iter()
            .for_each(|(key, count)| *self.entry(key).or_default() += count);
    }
}

/// The number of origins by the reason of their verdicts.
#[derive(Clone, Debug, Default)]
pub(super) struct ReasonCounts(pub [ReasonCount; Reason::ALL.len()]);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReasonCount {
    pub origins: u64,
    /// Of these, the origins that the status policy disallows to all agents, without a rule.
    pub refused: u64,
}

impl Merge for ReasonCounts {
    fn merge(&mut self, later: Self) {
        for (sum, part) in self.0.iter_mut().zip(later.0) {
            sum.origins += part.origins;
            sum.refused += part.refused;
        }
    }
}

/// Numbers of origins by agent, and by rule of the ranking.
#[derive(Clone, Debug)]
pub(super) struct AgentCounts {
    /// For each agent.
    pub coverage: Vec<CoverageCounts>,
    pub together: Together,
    /// For each set of agents.
    pub sets: Vec<Together>,
    /// For each rule of the ranking.
    pub rules: Vec<RuleCount>,
}

/// The number of origins with a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleCount {
    pub origins: u64,
    /// For each agent the origins with the rule in the rules that it obeys.
    pub agents: Vec<u64>,
    /// The first use of the rule.
    pub first: Option<RuleUse>,
}

/// A use of a rule: a file with the rule, and an agent that obeys it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleUse {
    pub file: u32,
    pub agent: usize,
}

impl AgentCounts {
    pub(super) fn new(agents: usize, sets: usize, rules: usize) -> Self {
        let rule = RuleCount {
            agents: vec![0; agents],
            ..RuleCount::default()
        };
        Self {
            coverage: vec![CoverageCounts::default(); agents],
            together: Together::default(),
            sets: vec![Together::default(); sets],
            rules: vec![rule; rules],
        }
    }

    /// Adds origins with this coverage for each agent.
    pub(super) fn add(&mut self, coverages: &[AgentCoverage], sets: &[AgentSubset], origins: u64) {
        self.coverage
            .iter_mut()
            .zip(coverages)
            .for_each(|(counts, coverage)| counts.add(*coverage, origins));
        let of_agent = |of: &AgentCoverage| of.coverage;
        self.together.add(coverages.iter().map(of_agent), origins);
        for (counts, set) in self.sets.iter_mut().zip(sets) {
            let members = set.agents.iter().filter_map(|&agent| coverages.get(agent));
            counts.add(members.map(of_agent), origins);
        }
    }
}

impl Together {
    /// Adds origins with these coverages for the agents.
    fn add(&mut self, coverages: impl Iterator<Item = Coverage>, origins: u64) {
        let mut is_any_refused = false;
        let mut is_any_wholly = false;
        let mut is_all_wholly = true;
        for coverage in coverages {
            is_any_refused |= coverage != Coverage::Not;
            is_any_wholly |= coverage == Coverage::Wholly;
            is_all_wholly &= coverage == Coverage::Wholly;
        }
        self.any_refused += u64::from(is_any_refused) * origins;
        self.any_wholly += u64::from(is_any_wholly) * origins;
        self.all_wholly += u64::from(is_all_wholly) * origins;
    }

    fn merge(&mut self, later: &Self) {
        self.all_wholly += later.all_wholly;
        self.any_wholly += later.any_wholly;
        self.any_refused += later.any_refused;
    }
}

impl Merge for AgentCounts {
    fn merge(&mut self, later: Self) {
        self.coverage
            .iter_mut()
            .zip(&later.coverage)
            .for_each(|(sum, part)| sum.merge(part));
        self.together.merge(&later.together);
        self.sets
            .iter_mut()
            .zip(&later.sets)
            .for_each(|(sum, part)| sum.merge(part));
        for (sum, part) in self.rules.iter_mut().zip(later.rules) {
            sum.origins += part.origins;
            sum.agents
                .iter_mut()
                .zip(part.agents)
                .for_each(|(sum, n)| *sum += n);
            sum.first = sum.first.or(part.first);
        }
    }
}
