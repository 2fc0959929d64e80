//! What the snapshot alone tells: what each origin's verdicts rest on, and how much each robots.txt refuses to whom.
//!
//! Origins share robots.txt files, and files share rule sets. So origins are counted by file first; what a file says is found once and
//! counts for all its origins.

use super::model::{ReachCounts, Together};
use super::rules::{RuleSets, TopRules};
use super::signals::Signals;
use crate::error::Result;
use crate::filter::{Basis, Held, Judge, Obeyed};
use crate::matcher::Reach;
use crate::snapshot::text::Unpacker;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

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
pub(super) struct Bases(pub [[u64; 2]; Basis::ALL.len()]);

impl Sum for Bases {
    fn add(&mut self, later: Self) {
        self.0.as_flattened_mut().iter_mut().zip(later.0.as_flattened()).for_each(|(sum, n)| *sum += n);
    }
}

/// How many origins obey each file: four bytes a file.
pub(super) struct Files(Vec<AtomicU32>);

impl Files {
    /// Looks at all origins once.
    pub(super) fn count<D: AsRef<[u8]> + Sync>(judge: &Judge<'_, D>) -> Result<(Self, Bases)> {
        let files = Self((0..judge.snapshot().file_count()).map(|_| AtomicU32::new(0)).collect());
        let parts = parcels(judge.snapshot().origin_count()).map(|rows| {
            let mut bases = Bases::default();
            for row in rows {
                let held = judge.held(row)?;
                let [origins, refused] = &mut bases.0[held.basis as usize];
                *origins += 1;
                *refused += u64::from(held.refused);
                if let Some(count) = held.file.and_then(|file| files.0.get(file as usize)) {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(bases)
        });
        let bases = sum(parts)?;
        Ok((files, bases))
    }

    /// Calls `each` for every file that any origin obeys, with the number of these, and adds up what comes of it. `tools` makes what a
    /// parcel needs beside.
    fn each<T: Sum, S>(
        &self,
        new: impl Fn() -> T + Sync,
        tools: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut T, &mut S, u32, u64) -> Result<()> + Sync,
    ) -> Result<T> {
        sum(parcels(self.0.len() as u32).map(|files| {
            let (mut part, mut tools) = (new(), tools()?);
            for file in files {
                let origins = self.0.get(file as usize).map_or(0, |count| count.load(Ordering::Relaxed));
                if origins > 0 {
                    each(&mut part, &mut tools, file, u64::from(origins))?;
                }
            }
            Ok(part)
        }))
    }
}

/// What files and rule sets say, before anything is counted by agent.
#[derive(Default)]
pub(super) struct Found {
    pub sets: RuleSets,
    pub signals: Signals,
}

impl Sum for Found {
    fn add(&mut self, later: Self) {
        self.sets.add(later.sets);
        self.signals.add(later.signals);
    }
}

/// Finds the rule sets that the agents meet, and what files say about the use of content.
pub(super) fn find<D: AsRef<[u8]> + Sync>(judge: &Judge<'_, D>, files: &Files) -> Result<Found> {
    let snapshot = judge.snapshot();
    let unpacker = || Unpacker::new(snapshot.dictionary());
    files.each(Found::default, unpacker, |found, unpacker, file, origins| {
        for Obeyed { place, agents } in judge.obeyed(file)? {
            found.sets.meet(place, origins * agents.len() as u64);
        }
        let row = snapshot.view().file(file)?;
        found.signals.read(&unpacker.unpack(snapshot.frame(&row)?, row.raw_len as usize)?, origins);
        Ok(())
    })
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
    fn new(agents: usize, rules: usize) -> Self {
        let having = Having { agents: vec![0; agents], ..Having::default() };
        Self { reach: vec![ReachCounts::default(); agents], together: Together::default(), rules: vec![having; rules] }
    }

    /// Counts origins that treat the agents in this way.
    pub(super) fn count(&mut self, agents: &[Reach], origins: u64) {
        self.reach.iter_mut().zip(agents).for_each(|(counts, reach)| counts.count(*reach, origins));
        let any = |test: fn(Reach) -> bool| u64::from(agents.iter().any(|reach| test(*reach))) * origins;
        self.together.any_refused += any(|reach| reach != Reach::Not);
        self.together.any_wholly += any(|reach| reach == Reach::Wholly);
        self.together.all_wholly += origins - any(|reach| reach != Reach::Wholly);
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

/// Counts the origins by agent, and those that have each rule of the top.
pub(super) fn by_agent<D: AsRef<[u8]> + Sync>(
    judge: &Judge<'_, D>,
    (files, bases): (&Files, &Bases),
    sets: &RuleSets,
    top: &TopRules,
) -> Result<ByAgent> {
    let agents = judge.agents().len();
    let new = || ByAgent::new(agents, top.len());
    let mut counts = files.each(
        new,
        || Ok(()),
        |counts, (), file, origins| {
            let obeyed = judge.obeyed(file)?;
            counts.count(&of_rules(&obeyed, agents, sets), origins);
            let mut rules: Vec<usize> = Vec::new();
            for Obeyed { place, agents } in &obeyed {
                for &rule in top.of_set(*place) {
                    let having = &mut counts.rules[rule];
                    agents.iter().for_each(|agent| having.agents[*agent] += origins);
                    having.first = having.first.or(agents.first().map(|agent| (file, *agent)));
                    rules.push(rule);
                }
            }
            rules.sort_unstable();
            rules.dedup();
            rules.into_iter().for_each(|rule| counts.rules[rule].origins += origins);
            Ok(())
        },
    )?;
    if counts.reach.is_empty() {
        counts = new();
    }
    // Where rules hold, the files counted them.
    for (basis, [origins, refused]) in Basis::ALL.iter().zip(bases.0) {
        if !matches!(basis, Basis::Rules | Basis::LastGoodCopy) {
            counts.count(&vec![Reach::Wholly; agents], refused);
            counts.count(&vec![Reach::Not; agents], origins - refused);
        }
    }
    Ok(counts)
}

fn of_rules(obeyed: &[Obeyed], agents: usize, sets: &RuleSets) -> Vec<Reach> {
    let mut out = vec![Reach::Not; agents];
    for Obeyed { place, agents } in obeyed {
        agents.iter().for_each(|agent| out[*agent] = sets.reach(*place));
    }
    out
}

/// How much an origin refuses to each agent; the reach of its rule sets is known.
pub(super) fn of_origin<D: AsRef<[u8]>>(judge: &Judge<'_, D>, held: &Held, sets: &RuleSets) -> Result<Vec<Reach>> {
    let agents = judge.agents().len();
    Ok(match held.file {
        Some(file) => of_rules(&judge.obeyed(file)?, agents, sets),
        None if held.refused => vec![Reach::Wholly; agents],
        None => vec![Reach::Not; agents],
    })
}

/// The first origin that obeys a file.
pub(super) fn first_origin_of<D: AsRef<[u8]> + Sync>(judge: &Judge<'_, D>, file: u32) -> Result<Option<u32>> {
    let found = parcels(judge.snapshot().origin_count()).map(|mut rows| {
        rows.find_map(|row| match judge.held(row) {
            Ok(held) => (held.file == Some(file)).then_some(Ok(row)),
            Err(err) => Some(Err(err)),
        })
    });
    found.find_first(Option::is_some).flatten().transpose()
}
