//! Reads the files of a snapshot: texts, groups, and how much the groups disallow.

use crate::error::Result;
use crate::file_pass::agent_names::AgentNames;
use crate::file_pass::coverage::{
    AgentCoverage, Coverage, CoverageCache, DecidedBy, coverage_of_groups,
};
use crate::judge::engine::Engine;
use crate::robots::{Group, RobotsRef};
use crate::snapshot::Snapshot;
use crate::snapshot::format::NONE;
use crate::snapshot::text_reader::TextReader;
use crate::snapshot::view::{TokenChain, View};
use std::collections::HashMap;

/// Reads the robots.txt files of a snapshot, by number. One per thread.
///
/// It keeps a decompressor, and the coverages of rule sets. Creating one costs next to nothing.
pub(crate) struct FileReader<'s> {
    snapshot: &'s Snapshot,
    texts: TextReader,
    coverages: CoverageCache<'s>,
}

/// How much a robots.txt disallows to an agent that it names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedCoverage {
    /// The number of the name.
    pub name: u32,
    pub coverage: Coverage,
}

impl<'s> FileReader<'s> {
    /// A reader for the files of a snapshot.
    pub(crate) fn new(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            texts: TextReader::new(snapshot),
            coverages: CoverageCache::new(snapshot),
        }
    }

    /// The condensed text of a robots.txt, with the line numbers of the file as served. Cost:
    /// decompresses it.
    pub(crate) fn text(&mut self, file: u32) -> Result<Vec<u8>> {
        self.texts.read(file)
    }

    /// The length of the stored, compressed text. All of them sum up to the section `texts`.
    pub(crate) fn stored_text_len(&self, file: u32) -> Result<u64> {
        let row = self.snapshot.view().file(file)?;
        Ok(row.text.1.saturating_sub(row.text.0))
    }

    /// How much the global groups disallow; `None` without such a group.
    pub(crate) fn global_coverage(&mut self, file: u32) -> Result<Option<Coverage>> {
        match self.snapshot.view().file(file)?.global {
            NONE => Ok(None),
            offset => self.coverages.of_rules(offset).map(Some),
        }
    }

    /// The agents that a robots.txt names, without truncated names, sorted by number.
    ///
    /// The text of the file is decompressed only if it may name a truncated agent.
    pub(crate) fn named_coverages(
        &mut self,
        file: u32,
        names: &AgentNames<'_>,
    ) -> Result<Vec<NamedCoverage>> {
        let rows = names.named(file, &mut self.texts)?;
        let mut named = Vec::with_capacity(rows.len());
        for row in rows {
            named.push(NamedCoverage {
                name: row.token,
                coverage: self.coverages.of_rules(row.rule_set)?,
            });
        }
        Ok(named)
    }

    /// How much a robots.txt disallows to an agent by the group of the first name of its chain;
    /// `None` if no group names it, so that the global groups apply.
    pub(crate) fn first_named_coverage(
        &mut self,
        file: u32,
        chain: &TokenChain,
    ) -> Result<Option<Coverage>> {
        let view = self.snapshot.view();
        let named = view.named(&view.file(file)?)?;
        match View::first_named(named, &chain.tokens) {
            Some(offset) => self.coverages.of_rules(offset).map(Some),
            None => Ok(chain.ignores_star.then_some(Coverage::Not)),
        }
    }

    /// How much the rules at an offset disallow; nothing for [`NONE`].
    pub(crate) fn coverage_of_rules(&mut self, offset: u32) -> Result<Coverage> {
        self.coverages.of_rules(offset)
    }

    /// How much a robots.txt disallows to each agent of an engine, and why. It may be an old one of a
    /// history: that is parsed, in some tens of microseconds.
    pub(crate) fn agent_coverages(
        &mut self,
        file: u32,
        engine: &Engine<'_>,
    ) -> Result<Vec<AgentCoverage>> {
        if file >= self.snapshot.file_count() {
            return self.old_agent_coverages(file, engine);
        }
        let offsets = engine.agent_groups(file)?;
        let mut agents = Vec::with_capacity(offsets.len());
        for of in offsets {
            agents.push(AgentCoverage {
                coverage: self.coverages.of_rules(of.offset)?,
                decided_by: DecidedBy::of_group(of),
            });
        }
        Ok(agents)
    }

    /// [`agent_coverages`](Self::agent_coverages) of an old robots.txt. It parses the
    /// text, also if rules are stored, because it needs the groups.
    fn old_agent_coverages(
        &mut self,
        file: u32,
        engine: &Engine<'_>,
    ) -> Result<Vec<AgentCoverage>> {
        let text = self.texts.read(file)?;
        let robots = RobotsRef::parse(&text, engine.profile());
        let mut agents: Vec<AgentCoverage> = Vec::with_capacity(engine.agents().len());
        // Most agents obey the same groups, those for `*`, so each choice of groups is judged once.
        let mut known: HashMap<Vec<usize>, Coverage> = HashMap::new();
        for agent in engine.agents() {
            let (numbers, name) = robots.groups_for(agent, engine.options().agent_match);
            let decided_by = match name {
                Some(_) => DecidedBy::Name,
                None if numbers.is_empty() => DecidedBy::NoGroup,
                None => DecidedBy::Global,
            };
            let coverage = match known.get(&numbers) {
                Some(coverage) => *coverage,
                None => {
                    let groups: Vec<&Group<'_>> = numbers
                        .iter()
                        .filter_map(|number| robots.groups().get(*number))
                        .collect();
                    let coverage = coverage_of_groups(&groups, engine.profile())?;
                    known.insert(numbers, coverage);
                    coverage
                }
            };
            agents.push(AgentCoverage {
                coverage,
                decided_by,
            });
        }
        Ok(agents)
    }
}
