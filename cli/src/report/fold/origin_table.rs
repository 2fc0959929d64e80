//! The fold over the table of origins that `robosieve export` writes.
//!
//! Many origins share a robots.txt, and all of them disallow the same to each agent. So the fold
//! keeps for each origin what decides, in five bytes, and for each robots.txt the number of its
//! *pattern*: what it disallows to each agent. Few patterns occur, so a figure is the number of
//! origins with each pattern, for any selection of rows.

use super::access::Access;
use super::model::{AgentSubset, CoverageCounts, Together};
use rayon::prelude::*;
use robosieve::export::{ExportBatch, ExportPosition, ExportTable, ExportValue, Exporter};
use robosieve::judge::Reason;
use robosieve::{Judge, NamedValue, Result};
use std::collections::HashMap;

/// What decides about an origin: the number of a robots.txt, or one of the two below.
type Source = u32;

/// The status policy disallows everything, or allows everything. A snapshot has fewer files.
const DISALLOWED: Source = u32::MAX;
const ALLOWED: Source = u32::MAX - 1;

/// The pattern of a robots.txt that no row had so far.
const UNSEEN: u32 = u32::MAX;

/// The rows of all origins, by their numbers in the snapshot.
pub(super) struct OriginTable {
    agents: usize,
    sources: Vec<Source>,
    reasons: Vec<Reason>,
    files: Vec<FileRow>,
    /// The number of patterns, and the accesses of all agents, pattern by pattern.
    patterns: u32,
    accesses: Vec<Access>,
}

/// A robots.txt.
#[derive(Clone, Copy)]
struct FileRow {
    pattern: u32,
    /// The first origin that it decides about.
    first: u32,
}

/// The rows of a batch, in which a robots.txt occurs for the first time.
#[derive(Default)]
struct BatchRows {
    sources: Vec<Source>,
    reasons: Vec<Reason>,
    /// The positions of rows with such a robots.txt, and the accesses of all agents in each.
    unseen: Vec<u32>,
    accesses: Vec<Access>,
}

/// Numbers of origins by pattern.
pub(super) type PatternCounts = HashMap<u32, u64>;

/// The first columns; two for each agent follow.
const COLUMNS: [&str; 2] = ["reason", "rules_file"];

impl OriginTable {
    /// Reads all rows, on all threads.
    pub(super) fn read(judge: &Judge) -> Result<Self> {
        let agents = judge.agents().len();
        let exporter = Exporter::new(judge, ExportTable::Origins)?;
        // The columns of agents are the last ones, three for each. Their names may repeat.
        let all = exporter.columns();
        let of_agents = all[all.len() - 3 * agents..].chunks(3);
        let of_agents = of_agents
            .flat_map(|columns| columns[..2].to_vec())
            .collect::<Vec<_>>();
        let exporter = exporter.choose_columns(&COLUMNS)?;
        let columns = [exporter.columns().to_vec(), of_agents].concat();
        let exporter = exporter.with_columns(columns);
        let mut table = Self {
            agents,
            sources: Vec::new(),
            reasons: Vec::new(),
            files: Vec::new(),
            // Those of the status policy, which disallows everything or allows everything.
            patterns: 2,
            accesses: [Access::WhollyByStatus, Access::Not]
                .map(|access| vec![access; agents])
                .concat(),
        };
        let mut patterns = HashMap::new();
        let mut position = ExportPosition::default();
        while let Some(batches) = exporter.read(&mut position)? {
            let parts: Vec<BatchRows> = batches
                .par_iter()
                .map(|batch| table.read_batch(batch))
                .collect();
            for part in parts {
                table.append(part, &mut patterns);
            }
        }
        Ok(table)
    }

    fn read_batch(&self, batch: &ExportBatch) -> BatchRows {
        let mut rows = BatchRows::default();
        let mut last_reason = Reason::Rules;
        for row in 0..batch.rows() {
            if let ExportValue::Text(name) = batch.value(row, 0)
                && name != last_reason.name()
                && let Some((reason, _)) = Reason::NAMES.iter().find(|(_, known)| *known == name)
            {
                last_reason = *reason;
            }
            rows.reasons.push(last_reason);
            let access = |agent: usize| {
                let column = COLUMNS.len() + 2 * agent;
                Access::read(batch.value(row, column), batch.value(row, column + 1))
            };
            rows.sources.push(match batch.value(row, 1) {
                ExportValue::Integer(file) => {
                    let known = self.files.get(file as usize);
                    if known.is_none_or(|file| file.pattern == UNSEEN) {
                        rows.unseen.push(row as u32);
                        rows.accesses.extend((0..self.agents).map(access));
                    }
                    file as u32
                }
                _ if self.agents > 0 && access(0) == Access::WhollyByStatus => DISALLOWED,
                _ => ALLOWED,
            });
        }
        rows
    }

    /// Appends the rows of a batch, and numbers their patterns.
    fn append(&mut self, rows: BatchRows, patterns: &mut HashMap<Vec<Access>, u32>) {
        for (number, &position) in rows.unseen.iter().enumerate() {
            let file = rows.sources[position as usize] as usize;
            if file >= self.files.len() {
                let pattern = UNSEEN;
                self.files.resize(file + 1, FileRow { pattern, first: 0 });
            }
            if self.files[file].pattern == UNSEEN {
                let accesses = &rows.accesses[number * self.agents..][..self.agents];
                let pattern = match patterns.get(accesses) {
                    Some(known) => *known,
                    None => {
                        let next = self.patterns;
                        patterns.insert(accesses.to_vec(), next);
                        self.accesses.extend_from_slice(accesses);
                        self.patterns += 1;
                        next
                    }
                };
                let first = self.sources.len() as u32 + position;
                self.files[file] = FileRow { pattern, first };
            }
        }
        self.sources.extend(rows.sources);
        self.reasons.extend(rows.reasons);
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
        self.patterns
    }

    /// What an origin with this pattern disallows to each agent.
    pub(super) fn accesses(&self, pattern: u32) -> &[Access] {
        &self.accesses[pattern as usize * self.agents..][..self.agents]
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
