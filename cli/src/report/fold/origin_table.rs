//! The fold over the table of origins that `robosieve export` writes.
//!
//! Many origins share a robots.txt, and all of them disallow the same to each agent. So the fold
//! keeps for each origin what decides, in five bytes. It finds the groups of each robots.txt once,
//! and keeps the rule sets that agents obey and the number of its *pattern*: what it disallows to
//! each agent. Few patterns occur, so a figure is the number of origins with each pattern, for any
//! selection of rows.

use super::access::Access;
use super::model::{AgentSubset, CoverageCounts, Together};
use rayon::prelude::*;
use robosieve::export::{
    AgentCoverage, ExportBatch, ExportPosition, ExportTable, ExportValue, Exporter, StoredFiles,
};
use robosieve::judge::Reason;
use robosieve::{Judge, NamedValue, Result};
use std::collections::HashMap;

/// What decides about an origin: the number of a robots.txt, or one of the two below.
type Source = u32;

/// The status policy disallows everything, or allows everything. A snapshot has fewer files.
const DISALLOWED: Source = u32::MAX;
const ALLOWED: Source = u32::MAX - 1;

/// The rows of all origins, by their numbers in the snapshot.
pub(super) struct OriginTable {
    agents: usize,
    sources: Vec<Source>,
    reasons: Vec<Reason>,
    files: Vec<FileRow>,
    /// The rule sets of the files, file by file.
    sets: Vec<u32>,
    patterns: Patterns,
}

/// A robots.txt.
#[derive(Clone, Copy)]
struct FileRow {
    pattern: u32,
    /// The first origin that it decides about; [`UNUSED`] without any.
    first: u32,
    /// The index of its first rule set.
    first_set: usize,
}

/// What a robots.txt disallows to each agent, and which agents share their rules.
struct Pattern {
    accesses: Vec<Access>,
    /// For each rule set of the robots.txt the agents that obey it.
    groups: Vec<Vec<usize>>,
}

/// What a robots.txt disallows to an agent, and which of its rule sets the agent obeys.
type AgentPattern = (Access, Option<usize>);

/// Distinct patterns, numbered in the order of their first use.
#[derive(Default)]
struct Patterns {
    all: Vec<Pattern>,
    numbers: HashMap<Vec<AgentPattern>, u32>,
}

impl Patterns {
    fn number(&mut self, agents: &[AgentPattern]) -> u32 {
        if let Some(number) = self.numbers.get(agents) {
            return *number;
        }
        let number = self.all.len() as u32;
        let mut groups = Vec::new();
        for (agent, (_, group)) in agents.iter().enumerate() {
            let Some(group) = *group else { continue };
            groups.resize(groups.len().max(group + 1), Vec::new());
            groups[group].push(agent);
        }
        let accesses = agents.iter().map(|(access, _)| *access).collect();
        self.all.push(Pattern { accesses, groups });
        self.numbers.insert(agents.to_vec(), number);
        number
    }
}

/// The patterns and the rule sets of some files.
#[derive(Default)]
struct FilePatterns {
    patterns: Patterns,
    /// The pattern of each file.
    files: Vec<u32>,
    /// The rule sets, file by file.
    sets: Vec<u32>,
}

impl FilePatterns {
    /// Adds the next file.
    fn add(&mut self, agents: Vec<AgentCoverage>) {
        let first_set = self.sets.len();
        let mut pattern = Vec::with_capacity(agents.len());
        for agent in agents {
            let group = agent.set.map(|set| {
                let known = self.sets[first_set..]
                    .iter()
                    .position(|known| *known == set);
                known.unwrap_or_else(|| {
                    self.sets.push(set);
                    self.sets.len() - 1 - first_set
                })
            });
            pattern.push((Access::by_rules(agent), group));
        }
        self.files.push(self.patterns.number(&pattern));
    }
}

const UNUSED: u32 = u32::MAX;

/// Numbers of origins by pattern.
pub(super) type PatternCounts = HashMap<u32, u64>;

/// The columns that say what decides about an origin.
const COLUMNS: [&str; 3] = ["reason", "rules_file", "status_access"];

/// The number of files that one thread reads at a time.
const CHUNK: usize = 4096;

impl OriginTable {
    /// Reads all rows and what the robots.txt files disallow, on all threads.
    pub(super) fn read(judge: &Judge) -> Result<Self> {
        let agents = judge.agents().len();
        let unused = FileRow {
            pattern: 0,
            first: UNUSED,
            first_set: 0,
        };
        let mut patterns = Patterns::default();
        // Those of the status policy, which disallows everything or allows everything.
        for access in [Access::WhollyByStatus, Access::Not] {
            patterns.number(&vec![(access, None); agents]);
        }
        let mut table = Self {
            agents,
            sources: Vec::new(),
            reasons: Vec::new(),
            files: vec![unused; StoredFiles::new(judge).count() as usize],
            sets: Vec::new(),
            patterns,
        };
        let exporter = Exporter::new(judge, ExportTable::Origins)?.choose_columns(&COLUMNS)?;
        let mut position = ExportPosition::default();
        while let Some(batches) = exporter.read(&mut position)? {
            let parts: Vec<_> = batches.par_iter().map(read_batch).collect();
            for (sources, reasons) in parts {
                table.append(&sources, judge)?;
                table.reasons.extend(reasons);
            }
        }
        table.find_patterns(judge)?;
        Ok(table)
    }

    /// Appends rows.
    fn append(&mut self, sources: &[Source], judge: &Judge) -> Result<()> {
        for source in sources {
            let row = self.sources.len() as u32;
            match self.files.get_mut(*source as usize) {
                Some(file) => file.first = file.first.min(row),
                // A damaged snapshot names a file that it does not have: reading it is an error.
                None if *source < ALLOWED => drop(StoredFiles::new(judge).text(*source)?),
                None => {}
            }
            self.sources.push(*source);
        }
        Ok(())
    }

    /// Numbers the patterns of the used files. Each file is read once.
    fn find_patterns(&mut self, judge: &Judge) -> Result<()> {
        let used: Vec<usize> = (0..self.files.len())
            .filter(|file| self.files[*file].first != UNUSED)
            .collect();
        let parts = used.par_chunks(CHUNK).map(|files| {
            let mut reader = StoredFiles::new(judge);
            let mut found = FilePatterns::default();
            for file in files {
                found.add(reader.agent_coverages(*file as u32)?);
            }
            Ok(found)
        });
        let parts = parts.collect::<Result<Vec<FilePatterns>>>()?;
        for (files, part) in used.chunks(CHUNK).zip(parts) {
            let mut numbers = vec![0; part.patterns.all.len()];
            for (agents, number) in &part.patterns.numbers {
                numbers[*number as usize] = self.patterns.number(agents);
            }
            let mut first_set = self.sets.len();
            for (file, pattern) in files.iter().zip(part.files) {
                let file = &mut self.files[*file];
                file.pattern = numbers[pattern as usize];
                file.first_set = first_set;
                first_set += part.patterns.all[pattern as usize].groups.len();
            }
            self.sets.extend(part.sets);
        }
        Ok(())
    }

    /// The number of agents.
    pub(super) fn agents(&self) -> usize {
        self.agents
    }

    /// The number of robots.txt files, up to the last one that decides about an origin.
    pub(super) fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The number of patterns.
    pub(super) fn patterns(&self) -> u32 {
        self.patterns.all.len() as u32
    }

    /// What an origin with this pattern disallows to each agent.
    pub(super) fn accesses(&self, pattern: u32) -> &[Access] {
        &self.patterns.all[pattern as usize].accesses
    }

    /// The rule sets of a robots.txt, each with the agents that obey it.
    pub(super) fn rule_sets(&self, file: u32) -> impl Iterator<Item = (u32, &[usize])> {
        let file = self.files[file as usize];
        let groups = &self.patterns.all[file.pattern as usize].groups;
        let sets = self.sets[file.first_set..].iter().copied();
        sets.zip(groups.iter().map(Vec::as_slice))
    }

    /// The pattern of an origin.
    pub(super) fn pattern(&self, row: u32) -> u32 {
        match self.sources[row as usize] {
            DISALLOWED => 0,
            ALLOWED => 1,
            file => self.files[file as usize].pattern,
        }
    }

    pub(super) fn reason(&self, row: u32) -> Reason {
        self.reasons[row as usize]
    }

    /// The number of the robots.txt that decides about an origin.
    pub(super) fn file(&self, row: u32) -> Option<u32> {
        Some(self.sources[row as usize]).filter(|source| *source < ALLOWED)
    }

    /// Whether the status policy disallows everything.
    pub(super) fn is_disallowed(&self, row: u32) -> bool {
        self.sources[row as usize] == DISALLOWED
    }

    /// The first origin that a robots.txt decides about.
    pub(super) fn first_of_file(&self, file: u32) -> Option<u32> {
        Some(self.files.get(file as usize)?.first)
    }

    /// The first origin that the status policy disallows.
    pub(super) fn first_disallowed(&self) -> Option<u32> {
        let first = self.sources.iter().position(|source| *source == DISALLOWED);
        first.map(|row| row as u32)
    }

    /// Counts the origins in these rows by pattern.
    pub(super) fn count(&self, rows: &[u32]) -> PatternCounts {
        let mut counts = PatternCounts::new();
        for row in rows {
            *counts.entry(self.pattern(*row)).or_default() += 1;
        }
        counts
    }

    /// The counts of each agent.
    pub(super) fn by_agent(&self, counts: &PatternCounts) -> Vec<CoverageCounts> {
        let mut agents = vec![CoverageCounts::default(); self.agents];
        for (pattern, origins) in counts {
            for (agent, access) in agents.iter_mut().zip(self.accesses(*pattern)) {
                agent.add(*access, *origins);
            }
        }
        agents
    }

    /// Origins by the number of agents that they disallow.
    pub(super) fn together(&self, counts: &PatternCounts) -> Together {
        let mut together = Together::default();
        for (pattern, origins) in counts {
            together.add(self.accesses(*pattern).iter().copied(), *origins);
        }
        together
    }

    /// Origins by the number of agents of a set that they disallow.
    pub(super) fn together_of_set(&self, counts: &PatternCounts, set: &AgentSubset) -> Together {
        let mut together = Together::default();
        for (pattern, origins) in counts {
            let accesses = self.accesses(*pattern);
            let members = set.agents.iter().filter_map(|&agent| accesses.get(agent));
            together.add(members.copied(), *origins);
        }
        together
    }
}

/// What decides about the origins in the rows of a batch.
fn read_batch(batch: &ExportBatch) -> (Vec<Source>, Vec<Reason>) {
    let mut sources = Vec::with_capacity(batch.rows());
    let mut reasons = Vec::with_capacity(batch.rows());
    let mut reason = Reason::Rules;
    for row in 0..batch.rows() {
        // Neighbours often have the same reason, which saves the search by name.
        if let ExportValue::Text(name) = batch.value(row, 0)
            && name != reason.name()
            && let Some((found, _)) = Reason::NAMES.iter().find(|(_, known)| *known == name)
        {
            reason = *found;
        }
        reasons.push(reason);
        sources.push(match (batch.value(row, 1), batch.value(row, 2)) {
            (ExportValue::Integer(file), _) => file as Source,
            (_, ExportValue::Text("blocked")) => DISALLOWED,
            _ => ALLOWED,
        });
    }
    (sources, reasons)
}
