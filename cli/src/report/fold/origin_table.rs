//! The fold over the table of origins that `robosieve export` writes.
//!
//! Many origins share a robots.txt, and all of them disallow the same to each agent. So the fold
//! keeps for each origin what decides, in five bytes. It finds the groups of each robots.txt once,
//! and keeps the rule sets that agents obey and the number of its *pattern*: what it disallows to
//! each agent. Few patterns occur, so a figure is the number of origins with each pattern, for any
//! selection of rows.
//!
//! Only rows that a figure needs are read: a sample of a thousand of ten million origins needs a
//! thousand.

use super::access::Access;
use super::model::{AgentSubset, CoverageCounts, Together};
use rayon::prelude::*;
use robosieve::export::{
    AgentCoverage, ExportBatch, ExportTable, ExportValue, Exporter, StoredFiles,
};
use robosieve::judge::Reason;
use robosieve::{Judge, NamedValue, Result};
use std::collections::HashMap;

/// What decides about an origin: the number of a robots.txt, or one of those below.
type Source = u32;

/// The status policy disallows everything, or allows everything. A snapshot has fewer files.
const DISALLOWED: Source = u32::MAX;
const ALLOWED: Source = u32::MAX - 1;

/// The row was not read yet.
const UNREAD: Source = u32::MAX - 2;

/// The rows of origins, by their numbers in the snapshot.
pub(super) struct OriginTable<'j> {
    judge: &'j Judge,
    exporter: Exporter<'j>,
    sources: Vec<Source>,
    reasons: Vec<Reason>,
    files: Vec<FileRow>,
    /// The rule sets of the files, file by file.
    sets: Vec<u32>,
    patterns: Vec<Pattern>,
    /// The numbers of the patterns.
    numbers: HashMap<Vec<AgentPattern>, u32>,
}

/// A robots.txt.
#[derive(Clone, Copy, Default)]
struct FileRow {
    pattern: u32,
    /// Whether the file was read. Else the other fields mean nothing.
    is_read: bool,
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

/// Numbers of origins by pattern.
pub(super) type PatternCounts = HashMap<u32, u64>;

/// The columns that say what decides about an origin.
const COLUMNS: [&str; 3] = ["reason", "rules_file", "status_access"];

/// The number of rows or files that one thread reads at a time.
const CHUNK: usize = 4096;

impl<'j> OriginTable<'j> {
    /// A table without rows.
    pub(super) fn new(judge: &'j Judge) -> Result<Self> {
        let origins = judge.snapshot().origin_count() as usize;
        let files = StoredFiles::new(judge).count() as usize;
        let mut table = Self {
            judge,
            exporter: Exporter::new(judge, ExportTable::Origins)?.choose_columns(&COLUMNS)?,
            sources: vec![UNREAD; origins],
            reasons: vec![Reason::Rules; origins],
            files: vec![FileRow::default(); files],
            sets: Vec::new(),
            patterns: Vec::new(),
            numbers: HashMap::new(),
        };
        // Those of the status policy, which disallows everything or allows everything.
        for access in [Access::WhollyByStatus, Access::Not] {
            table.number_pattern(&vec![(access, None); table.agents()]);
        }
        Ok(table)
    }

    /// Reads these rows, and what the robots.txt files disallow that decide about them, on all
    /// threads. Each file is read once.
    pub(super) fn read(&mut self, rows: &[u32]) -> Result<()> {
        self.read_sources(rows)?;
        let mut files = Vec::new();
        for row in rows {
            if let Some(number) = self.file(*row) {
                let file = &mut self.files[number as usize];
                if !std::mem::replace(&mut file.is_read, true) {
                    files.push(number);
                }
            }
        }
        // In the order of the snapshot, which makes reading them fast.
        files.par_sort_unstable();
        // Some chunks at a time, which bounds the memory of their coverages.
        for files in files.chunks(CHUNK * rayon::current_num_threads()) {
            let parts = files.par_chunks(CHUNK).map(|files| {
                let mut reader = StoredFiles::new(self.judge);
                let read = files.iter().map(|file| reader.agent_coverages(*file));
                read.collect::<Result<Vec<_>>>()
            });
            let coverages = parts.collect::<Result<Vec<_>>>()?;
            for (file, agents) in files.iter().zip(coverages.into_iter().flatten()) {
                self.add_file(*file, &agents);
            }
        }
        Ok(())
    }

    /// Reads what decides about the origins in those of these rows that were not read yet.
    fn read_sources(&mut self, rows: &[u32]) -> Result<()> {
        let unread = rows
            .iter()
            .filter(|row| self.sources[**row as usize] == UNREAD);
        let rows: Vec<u32> = unread.copied().collect();
        let parts = rows.par_chunks(CHUNK).map(|rows| {
            let batches = self.exporter.read_origins(rows)?;
            Ok(batches.iter().flat_map(read_batch).collect::<Vec<_>>())
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        for (row, (source, reason)) in rows.iter().zip(parts.into_iter().flatten()) {
            if source < UNREAD && source as usize >= self.files.len() {
                // A damaged snapshot names a file that it does not have: reading it is an error.
                StoredFiles::new(self.judge).text(source)?;
            }
            self.sources[*row as usize] = source;
            self.reasons[*row as usize] = reason;
        }
        Ok(())
    }

    /// Keeps the rule sets of a robots.txt, and the number of its pattern.
    fn add_file(&mut self, file: u32, agents: &[AgentCoverage]) {
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
            pattern.push((Access::by_rules(*agent), group));
        }
        self.files[file as usize] = FileRow {
            pattern: self.number_pattern(&pattern),
            is_read: true,
            first_set,
        };
    }

    /// The number of a pattern, which is new at its first use.
    fn number_pattern(&mut self, agents: &[AgentPattern]) -> u32 {
        if let Some(number) = self.numbers.get(agents) {
            return *number;
        }
        let number = self.patterns.len() as u32;
        let mut groups = Vec::new();
        for (agent, (_, group)) in agents.iter().enumerate() {
            let Some(group) = *group else { continue };
            groups.resize(groups.len().max(group + 1), Vec::new());
            groups[group].push(agent);
        }
        let accesses = agents.iter().map(|(access, _)| *access).collect();
        self.patterns.push(Pattern { accesses, groups });
        self.numbers.insert(agents.to_vec(), number);
        number
    }

    /// The number of agents.
    pub(super) fn agents(&self) -> usize {
        self.judge.agents().len()
    }

    /// The number of robots.txt files in the snapshot.
    pub(super) fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The number of patterns.
    pub(super) fn patterns(&self) -> u32 {
        self.patterns.len() as u32
    }

    /// What an origin with this pattern disallows to each agent.
    pub(super) fn accesses(&self, pattern: u32) -> &[Access] {
        &self.patterns[pattern as usize].accesses
    }

    /// The rule sets of a robots.txt, each with the agents that obey it.
    pub(super) fn rule_sets(&self, file: u32) -> impl Iterator<Item = (u32, &[usize])> {
        let file = self.files[file as usize];
        let groups = &self.patterns[file.pattern as usize].groups;
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
        Some(self.sources[row as usize]).filter(|source| *source < UNREAD)
    }

    /// Whether the status policy disallows everything.
    pub(super) fn is_disallowed(&self, row: u32) -> bool {
        self.sources[row as usize] == DISALLOWED
    }

    /// The first origin of the snapshot that a robots.txt decides about.
    pub(super) fn first_of_file(&mut self, file: u32) -> Result<Option<u32>> {
        self.find(|source| source == file)
    }

    /// The first origin of the snapshot that the status policy disallows.
    pub(super) fn first_disallowed(&mut self) -> Result<Option<u32>> {
        self.find(|source| source == DISALLOWED)
    }

    /// The first origin with such a source. Reads the rows before it that were not read yet.
    fn find(&mut self, is_wanted: impl Fn(Source) -> bool) -> Result<Option<u32>> {
        let step = CHUNK * rayon::current_num_threads();
        for start in (0..self.sources.len()).step_by(step) {
            let end = self.sources.len().min(start + step);
            let rows: Vec<u32> = (start as u32..end as u32).collect();
            self.read_sources(&rows)?;
            let found = self.sources[start..end]
                .iter()
                .position(|source| is_wanted(*source));
            if let Some(found) = found {
                return Ok(Some((start + found) as u32));
            }
        }
        Ok(None)
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
        let mut agents = vec![CoverageCounts::default(); self.agents()];
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

/// What decides about the origins in the rows of a batch, and the reasons.
fn read_batch(batch: &ExportBatch) -> Vec<(Source, Reason)> {
    let mut rows = Vec::with_capacity(batch.rows());
    let mut reason = Reason::Rules;
    for row in 0..batch.rows() {
        // Neighbours often have the same reason, which saves the search by name.
        if let ExportValue::Text(name) = batch.value(row, 0)
            && name != reason.name()
            && let Some((found, _)) = Reason::NAMES.iter().find(|(_, known)| *known == name)
        {
            reason = *found;
        }
        let source = match (batch.value(row, 1), batch.value(row, 2)) {
            (ExportValue::Integer(file), _) => file as Source,
            (_, ExportValue::Text("blocked")) => DISALLOWED,
            _ => ALLOWED,
        };
        rows.push((source, reason));
    }
    rows
}
