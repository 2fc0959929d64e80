//! What the snapshot alone tells: what each origin's verdicts rest on, and how much each robots.txt refuses to whom.
//!
//! Origins share robots.txt files, and files share rule sets. So origins are counted by file first; what a file says is found once and
//! counts for all its origins.

use crate::analysis::coverage::Coverage;
use crate::analysis::report::counts::{Bases, ByAgent, Sum, parcels, sum};
use crate::analysis::report::rules::{RuleSets, TopRules};
use crate::analysis::report::signals::Signals;
use crate::error::Result;
use crate::judge::engine::Engine;
use crate::judge::{AgentRules, Reason, RuleSource};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many origins obey each file: four bytes a file.
pub(super) struct Files(Vec<AtomicU32>);

impl Files {
    /// Looks at all origins once.
    pub(super) fn count(judge: &Engine<'_>) -> Result<(Self, Bases)> {
        let files = Self((0..judge.snapshot().file_count()).map(|_| AtomicU32::new(0)).collect());
        let parts = parcels(judge.snapshot().origin_count()).map(|rows| {
            let mut bases = Bases::default();
            for row in rows {
                let held = judge.rule_source(row)?;
                let [origins, refused] = &mut bases.0[held.reason as usize];
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
pub(super) fn find(judge: &Engine<'_>, files: &Files) -> Result<Found> {
    let snapshot = judge.snapshot();
    let unpacker = || snapshot.unpacker();
    files.each(Found::default, unpacker, |found, unpacker, file, origins| {
        for AgentRules { place, agents } in judge.agent_rules(file)? {
            found.sets.meet(place, origins * agents.len() as u64);
        }
        let row = snapshot.view().file(file)?;
        found.signals.read(&unpacker.unpack(snapshot.frame(&row)?, row.raw_len as usize)?, origins);
        Ok(())
    })
}

/// Counts the origins by agent, and those that have each rule of the top.
pub(super) fn by_agent(
    judge: &Engine<'_>,
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
            let obeyed = judge.agent_rules(file)?;
            counts.count(&of_rules(&obeyed, agents, sets), origins);
            let mut rules: Vec<usize> = Vec::new();
            for AgentRules { place, agents } in &obeyed {
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
    for (basis, [origins, refused]) in Reason::ALL.iter().zip(bases.0) {
        if !matches!(basis, Reason::Rules | Reason::LastGoodCopy) {
            counts.count(&vec![Coverage::Wholly; agents], refused);
            counts.count(&vec![Coverage::Not; agents], origins - refused);
        }
    }
    Ok(counts)
}

fn of_rules(obeyed: &[AgentRules], agents: usize, sets: &RuleSets) -> Vec<Coverage> {
    let mut out = vec![Coverage::Not; agents];
    for AgentRules { place, agents } in obeyed {
        agents.iter().for_each(|agent| out[*agent] = sets.coverage(*place));
    }
    out
}

/// How much an origin refuses to each agent; the reach of its rule sets is known.
pub(super) fn of_origin(judge: &Engine<'_>, held: &RuleSource, sets: &RuleSets) -> Result<Vec<Coverage>> {
    let agents = judge.agents().len();
    Ok(match held.file {
        Some(file) => of_rules(&judge.agent_rules(file)?, agents, sets),
        None if held.refused => vec![Coverage::Wholly; agents],
        None => vec![Coverage::Not; agents],
    })
}

/// The first origin that obeys a file.
pub(super) fn first_origin_of(judge: &Engine<'_>, file: u32) -> Result<Option<u32>> {
    let found = parcels(judge.snapshot().origin_count()).map(|mut rows| {
        rows.find_map(|row| match judge.rule_source(row) {
            Ok(held) => (held.file == Some(file)).then_some(Ok(row)),
            Err(err) => Some(Err(err)),
        })
    });
    found.find_first(Option::is_some).flatten().transpose()
}
