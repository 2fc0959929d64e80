//! The rule sets that the agents of an engine obey, and the coverage of each.
//!
//! A statistic that asks for the coverages of a file several times, on several threads, collects
//! the rule sets of all files first. Then each coverage is computed once.

use crate::error::Result;
use crate::file_pass::coverage::{AgentCoverage, Coverage, DecidedBy};
use crate::file_pass::coverage_cache::CoverageCache;
use crate::judge::engine::Engine;
use crate::judge::{AgentGroup, RuleSource};
use rayon::prelude::*;
use std::collections::HashMap;

/// The number of sets that one thread processes at a time.
const SETS: usize = 1024;

/// The coverage of each of some rule sets, by their offsets in the snapshot.
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
            for offset in sets {
                coverages.push((offset, cache.of_rules(offset)?));
            }
            Ok(coverages)
        });
        let computed = computed.collect::<Result<Vec<_>>>()?;
        Ok(Self(computed.into_iter().flatten().collect()))
    }

    /// How much a robots.txt disallows to each agent. Nothing is disallowed to agents without
    /// rules.
    pub(crate) fn of_file(&self, engine: &Engine<'_>, file: u32) -> Result<Vec<AgentCoverage>> {
        let agents = engine.agent_groups(file)?.into_iter();
        let coverages = agents.map(|of: AgentGroup| AgentCoverage {
            coverage: self.0.get(&of.offset).copied().unwrap_or(Coverage::Not),
            decided_by: DecidedBy::of_group(of),
        });
        Ok(coverages.collect())
    }

    /// How much an origin with this source of rules disallows to each agent.
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
