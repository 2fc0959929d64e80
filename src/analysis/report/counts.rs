//! Counts that are gathered by parcels of rows, on all threads, and added up.

use crate::analysis::coverage::Coverage;
use crate::analysis::report::model::{ReachCounts, Together};
use crate::error::Result;
use crate::judge::Reason;
use rayon::prelude::*;
use std::ops::Range;

/// Rows or files that one thread takes at a time.
const PARCEL: u32 = 4096;

/// The parcels of so many rows.
pub(super) fn parcels(count: u32) -> impl IndexedParallelIterator<Item = Range<u32>> {
    let parcels = count.div_ceil(PARCEL);
    (0..parcels).into_par_iter().map(move |number| number * PARCEL..(number * PARCEL).saturating_add(PARCEL).min(count))
}

/// What parcels add up to, whoever counted them. It does not matter in which steps they are added.
pub(super) trait Sum: Default + Send {
    fn add(&mut self, later: Self);
}

/// Adds up what comes of parcels, in their order.
pub(super) fn sum<T: Sum>(parts: impl ParallelIterator<Item = Result<T>>) -> Result<T> {
    parts.try_reduce(T::default, |mut sum, part| {
        sum.add(part);
        Ok(sum)
    })
}

/// The origins by what their verdicts rest on, and of each those that the policy refuses to all agents without a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Bases(pub [[u64; 2]; Reason::ALL.len()]);

impl Sum for Bases {
    fn add(&mut self, later: Self) {
        self.0.as_flattened_mut().iter_mut().zip(later.0.as_flattened()).for_each(|(sum, n)| *sum += n);
    }
}

/// Counts by agent.
#[derive(Clone, Debug, Default)]
pub(super) struct ByAgent {
    /// For each agent.
    pub reach: Vec<ReachCounts>,
    pub together: Together,
    /// For each rule of the top.
    pub rules: Vec<Having>,
}

/// The origins that have a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Having {
    pub origins: u64,
    /// For each agent those that have it for this one.
    pub agents: Vec<u64>,
    /// The first file that has it, and the first agent that it is for.
    pub first: Option<(u32, usize)>,
}

impl ByAgent {
    pub(super) fn new(agents: usize, rules: usize) -> Self {
        let having = Having { agents: vec![0; agents], ..Having::default() };
        Self { reach: vec![ReachCounts::default(); agents], together: Together::default(), rules: vec![having; rules] }
    }

    /// Counts origins that treat the agents in this way.
    pub(super) fn count(&mut self, agents: &[Coverage], origins: u64) {
        self.reach.iter_mut().zip(agents).for_each(|(counts, reach)| counts.count(*reach, origins));
        let any = |test: fn(Coverage) -> bool| u64::from(agents.iter().any(|reach| test(*reach))) * origins;
        self.together.any_refused += any(|reach| reach != Coverage::Not);
        self.together.any_wholly += any(|reach| reach == Coverage::Wholly);
        self.together.all_wholly += origins - any(|reach| reach != Coverage::Wholly);
    }
}

impl Sum for ByAgent {
    fn add(&mut self, later: Self) {
        if self.reach.is_empty() {
            *self = later;
            return;
        }
        for (sum, part) in self.reach.iter_mut().zip(later.reach) {
            sum.wholly += part.wholly;
            sum.partly += part.partly;
            sum.not += part.not;
        }
        self.together.all_wholly += later.together.all_wholly;
        self.together.any_wholly += later.together.any_wholly;
        self.together.any_refused += later.together.any_refused;
        for (sum, part) in self.rules.iter_mut().zip(later.rules) {
            sum.origins += part.origins;
            sum.agents.iter_mut().zip(part.agents).for_each(|(sum, n)| *sum += n);
            sum.first = sum.first.or(part.first);
        }
    }
}
