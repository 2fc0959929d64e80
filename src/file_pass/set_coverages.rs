//! The rule sets that the agents of an engine obey, and the coverage of each.
//!
//! A statistic that asks for the coverages of a file several times, on several threads, collects
//! the rule sets of all files first. Then each coverage is computed once.

use crate::error::Result;
use crate::file_pass::coverage::{AgentCoverage, Coverage, DecidedBy};
use crate::file_pass::coverage_cache::CoverageCache;
use crate::judge::engine::Engine;
use crate::judge::{AgentPlace, RuleSource};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// The number of sets that one thread processes at a time.
const SETS: usize = 1024;

/// The number of rows that one thread searches at a time.
const ROWS: u32 = 4096;

/// The coverage of each of some rule sets, by their places in the snapshot.
pub(crate) struct SetCoverages(HashMap<u32, Coverage>);

impl SetCoverages {
    /// Computes the coverages of these rule sets, on all threads.
    pub(crate) fn compute(
        engine: &Engine<'_>,
        sets: impl IndexedParallelIterator<Item = u32>,
    ) -> Result<Self> {
        let computed = sets.chunks(SETS).map(|sets| {
            let mut cache = CoverageCache::new(engine.snapshot());
            let mut coverages = Vec::with_capacity(sets.len());
            for place in sets {
                coverages.push((place, cache.of_rules(place)?));
            }
            Ok(coverages)
        });
        let computed = computed.collect::<Result<Vec<_>>>()?;
        Ok(Self(computed.into_iter().flatten().collect()))
    }

    /// How much a robots.txt refuses to each agent. Agents without rules are refused nothing.
    pub(crate) fn of_file(&self, engine: &Engine<'_>, file: u32) -> Result<Vec<AgentCoverage>> {
        let places = engine.agent_places(file)?.into_iter();
        let coverages = places.map(|of: AgentPlace| AgentCoverage {
            coverage: self.0.get(&of.place).copied().unwrap_or(Coverage::Not),
            decided_by: DecidedBy::of_place(of),
        });
        Ok(coverages.collect())
    }

    /// How much an origin with this source of rules refuses to each agent.
    pub(crate) fn of_origin(
        &self,
        engine: &Engine<'_>,
        source: &RuleSource,
    ) -> Result<Vec<AgentCoverage>> {
        match source.file {
            Some(file) => self.of_file(engine, file),
            None => Ok(vec![
                AgentCoverage::by_status(source.refused);
                engine.agents().len()
            ]),
        }
    }
}

/// The first origin with a wanted rule source. Scans all origins, as files do not refer to origins.
pub(crate) fn find_origin(
    engine: &Engine<'_>,
    is_wanted: impl Fn(&RuleSource) -> bool + Sync,
) -> Result<Option<u32>> {
    let count = engine.snapshot().origin_count();
    let chunks = (0..count.div_ceil(ROWS)).into_par_iter();
    let found = chunks.map(|chunk| {
        let rows = chunk * ROWS..(chunk * ROWS).saturating_add(ROWS).min(count);
        first_wanted(engine, rows, &is_wanted)
    });
    found.find_first(Option::is_some).flatten().transpose()
}

/// The first of these rows with a wanted rule source, or the first error.
fn first_wanted(
    engine: &Engine<'_>,
    rows: Range<u32>,
    is_wanted: impl Fn(&RuleSource) -> bool,
) -> Option<Result<u32>> {
    for row in rows {
        match engine.rule_source(row) {
            Ok(source) if !is_wanted(&source) => {}
            Ok(_) => return Some(Ok(row)),
            Err(err) => return Some(Err(err)),
        }
    }
    None
}
