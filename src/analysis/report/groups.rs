//! Units in groups: by top-level domain, or by a list.
//!
//! The first pass gives each unit the number of its group; for top-level domains, another pass
//! before it finds the largest ones by the hashes of their names. The last pass looks up the
//! robots.txt of each unit. Sorted by group and file, units with the same rules are neighbours, and
//! are counted with one computation.

use crate::analysis::host_parts::last_label;
use crate::analysis::report::counts::{Merge, merge_all};
use crate::analysis::report::group_list::{GroupList, NO_GROUP};
use crate::analysis::report::model::{CoverageCounts, UnitGroup};
use crate::analysis::report::sampling::Sampling;
use crate::analysis::report::unit_kind::UnitKind;
use crate::analysis::report::units::{UnitRows, sample_hash};
use crate::error::Result;
use crate::file_pass::{AgentCoverage, SetCoverages};
use crate::judge::engine::Engine;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// The names of the group of addresses, and of the units beyond the largest groups.
const ADDRESSES: &str = "(ip)";
const OTHERS: &str = "(other)";

/// The number of units that one thread counts at a time.
const CHUNK: usize = 1 << 14;

/// What decides on the group of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) enum GroupKey<'g> {
    /// The top-level domain. At most this many are groups, the largest ones.
    TopLevelDomain { limit: usize },
    /// A list of units with their groups.
    List(&'g GroupList),
}

/// A unit, by the row of its representative, and the number of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupRow {
    pub group: u32,
    pub row: u32,
}

/// The units in their groups.
pub(super) struct UnitGrouping {
    /// The names of the groups. The last one has the units without a group of their own.
    names: Vec<String>,
    /// The number of leading groups that are reported without units too.
    listed: usize,
    /// Sorted by group and row.
    rows: Vec<GroupRow>,
    /// The number of units of each group before a sample was drawn.
    sizes: Vec<u64>,
}

impl UnitGrouping {
    /// Finds the group of each unit. Memory: 8 bytes per unit.
    pub(super) fn new(engine: &Engine<'_>, rows: &UnitRows, key: GroupKey<'_>) -> Result<Self> {
        match key {
            GroupKey::TopLevelDomain { limit } => {
                let mut names = largest_domains(engine, rows, limit)?;
                let numbers: HashMap<&str, u32> =
                    names.iter().map(String::as_str).zip(0..).collect();
                let others = names.len() as u32;
                let rows = number_rows(engine, rows, |host| {
                    numbers
                        .get(top_level_domain(host))
                        .copied()
                        .unwrap_or(others)
                })?;
                names.push(OTHERS.to_owned());
                Ok(Self::of_rows(names, 0, rows))
            }
            GroupKey::List(list) => {
                let others = list.names().len() as u32;
                let rows = number_rows(engine, rows, |host| {
                    list.group_of_host(host).unwrap_or(others)
                })?;
                let mut names = list.names().to_vec();
                names.push(NO_GROUP.to_owned());
                Ok(Self::of_rows(names, list.names().len(), rows))
            }
        }
    }

    fn of_rows(names: Vec<String>, listed: usize, rows: Vec<GroupRow>) -> Self {
        let mut sizes = vec![0; names.len()];
        for GroupRow { group, .. } in &rows {
            if let Some(size) = sizes.get_mut(*group as usize) {
                *size += 1;
            }
        }
        Self {
            names,
            listed,
            rows,
            sizes,
        }
    }

    /// Keeps a sample of each group, as [`UnitRows::sample`] keeps one of all units.
    ///
    /// Memory: 16 bytes per unit.
    pub(super) fn sample(
        &mut self,
        engine: &Engine<'_>,
        kind: UnitKind,
        sampling: Sampling,
    ) -> Result<()> {
        let hashed = self.rows.par_iter().map(|GroupRow { group, row }| {
            let hash = sample_hash(engine.snapshot(), kind, *row, sampling.seed)?;
            Ok((*group, hash, *row))
        });
        let mut hashed = hashed.collect::<Result<Vec<_>>>()?;
        hashed.par_sort_unstable();
        self.rows.clear();
        for of_group in hashed.chunk_by(|(a, ..), (b, ..)| a == b) {
            let drawn = of_group.iter().take(sampling.size as usize);
            self.rows
                .extend(drawn.map(|&(group, _, row)| GroupRow { group, row }));
        }
        self.rows.par_sort_unstable();
        Ok(())
    }

    /// The rows of the counted units.
    pub(super) fn unit_rows(&self) -> UnitRows {
        let mut rows: Vec<u32> = self.rows.iter().map(|row| row.row).collect();
        rows.par_sort_unstable();
        UnitRows::Selected(rows)
    }

    /// The number of units with a group of their own.
    pub(super) fn units_matched(&self) -> u64 {
        let (_others, matched) = self.sizes.split_last().unwrap_or((&0, &[]));
        matched.iter().sum()
    }

    /// Counts the units of each group by coverage. The largest group is first, and the units
    /// without a group are last.
    ///
    /// Memory: 16 bytes per unit, and 64 per group and agent.
    pub(super) fn count(&self, engine: &Engine<'_>, sets: &SetCoverages) -> Result<Vec<UnitGroup>> {
        let units = self.units_by_file(engine)?;
        // Each chunk has counters for its own groups only, so a list of many groups is cheap too.
        let parts = units
            .par_chunks(CHUNK)
            .map(|units| count_chunk(engine, units, sets));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let mut groups = self.empty_groups(engine.agents().len());
        for part in parts.iter().flatten() {
            if let Some(group) = groups.get_mut(part.group as usize) {
                part.add_to(group);
            }
        }
        let without = groups.pop();
        let mut position = 0;
        groups.retain(|group| {
            position += 1;
            group.units > 0 || position <= self.listed
        });
        groups.sort_by(|a, b| (Reverse(a.of), &a.name).cmp(&(Reverse(b.of), &b.name)));
        groups.extend(without.filter(|group| group.units > 0));
        Ok(groups)
    }

    /// All groups, without units.
    fn empty_groups(&self, agents: usize) -> Vec<UnitGroup> {
        let groups = self
            .names
            .iter()
            .zip(&self.sizes)
            .map(|(name, size)| UnitGroup {
                name: name.clone(),
                of: *size,
                units: 0,
                intervals: None,
                agents: vec![CoverageCounts::default(); agents],
            });
        groups.collect()
    }

    /// The units with the robots.txt that decides, sorted by group and file.
    fn units_by_file(&self, engine: &Engine<'_>) -> Result<Vec<GroupedUnit>> {
        let units = self.rows.par_iter().map(|GroupRow { group, row }| {
            let source = engine.rule_source(*row)?;
            Ok(GroupedUnit {
                group: *group,
                file: source.file,
                refused: source.refused,
            })
        });
        let mut units = units.collect::<Result<Vec<_>>>()?;
        units.par_sort_unstable();
        Ok(units)
    }
}

/// Gives each unit the number of its group, by the host of its representative.
fn number_rows(
    engine: &Engine<'_>,
    rows: &UnitRows,
    group_of: impl Fn(&str) -> u32 + Sync,
) -> Result<Vec<GroupRow>> {
    let parts = rows.chunks().map(|rows| {
        let rows = rows.map(|row| {
            let entry = engine.snapshot().origin_at(row)?;
            Ok(GroupRow {
                group: group_of(entry.host()),
                row,
            })
        });
        rows.collect::<Result<Vec<_>>>()
    });
    let mut rows = parts.collect::<Result<Vec<_>>>()?.concat();
    rows.par_sort_unstable();
    Ok(rows)
}

/// A unit in a group: the units of a group that use one robots.txt are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupedUnit {
    group: u32,
    file: Option<u32>,
    /// Without a robots.txt: whether the status policy disallows everything.
    refused: bool,
}

/// The counts of some units of a group.
struct GroupCounts {
    group: u32,
    units: u64,
    agents: Vec<CoverageCounts>,
}

impl GroupCounts {
    fn add_to(&self, group: &mut UnitGroup) {
        group.units += self.units;
        group
            .agents
            .iter_mut()
            .zip(&self.agents)
            .for_each(|(sum, part)| sum.merge(part));
    }
}

/// Counts units that are sorted by group and file.
fn count_chunk(
    engine: &Engine<'_>,
    units: &[GroupedUnit],
    sets: &SetCoverages,
) -> Result<Vec<GroupCounts>> {
    let mut groups: Vec<GroupCounts> = Vec::new();
    let agents = engine.agents().len();
    for same_rules in units.chunk_by(|a, b| a == b) {
        let Some(first) = same_rules.first() else {
            continue;
        };
        if groups.last().is_none_or(|last| last.group != first.group) {
            groups.push(GroupCounts {
                group: first.group,
                units: 0,
                agents: vec![CoverageCounts::default(); agents],
            });
        }
        // They also have the same coverages, which are looked up once.
        let coverages = match first.file {
            Some(file) => sets.of_file(engine, file)?,
            None => vec![AgentCoverage::by_status(first.refused); agents],
        };
        let count = same_rules.len() as u64;
        if let Some(counts) = groups.last_mut() {
            counts.units += count;
            counts
                .agents
                .iter_mut()
                .zip(&coverages)
                .for_each(|(counts, of)| counts.add(*of, count));
        }
    }
    Ok(groups)
}

/// The name of a host's group.
fn top_level_domain(host: &str) -> &str {
    last_label(host).unwrap_or(ADDRESSES)
}

/// The number of units with a top-level domain, and the first row that has it.
#[derive(Clone, Copy, Debug)]
struct GroupSize {
    units: u64,
    row: u32,
}

/// The sizes of all groups, by the hashes of their names.
#[derive(Default)]
struct GroupSizes(HashMap<u64, GroupSize>);

impl GroupSizes {
    fn add(&mut self, hash: u64, of: GroupSize) {
        let size = self.0.entry(hash).or_insert(GroupSize {
            units: 0,
            row: of.row,
        });
        size.units += of.units;
        size.row = size.row.min(of.row);
    }
}

impl Merge for GroupSizes {
    fn merge(&mut self, mut later: Self) {
        if self.0.len() < later.0.len() {
            std::mem::swap(self, &mut later);
        }
        later
            .0
            .into_iter()
            .for_each(|(hash, size)| self.add(hash, size));
    }
}

/// The top-level domain of the host in a row.
fn domain_of<'s>(engine: &Engine<'s>, row: u32) -> Result<&'s str> {
    Ok(top_level_domain(engine.snapshot().origin_at(row)?.host()))
}

/// The names of the largest top-level domains.
fn largest_domains(engine: &Engine<'_>, rows: &UnitRows, limit: usize) -> Result<Vec<String>> {
    let parts = rows.chunks().map(|rows| {
        let mut sizes = GroupSizes::default();
        for row in rows {
            let hash = xxh3_64(domain_of(engine, row)?.as_bytes());
            sizes.add(hash, GroupSize { units: 1, row });
        }
        Ok(sizes)
    });
    let mut sizes: Vec<GroupSize> = merge_all(GroupSizes::default, parts)?
        .0
        .into_values()
        .collect();
    sizes.sort_unstable_by_key(|size| (Reverse(size.units), size.row));
    sizes.truncate(limit);
    let names = sizes
        .iter()
        .map(|size| Ok(domain_of(engine, size.row)?.to_owned()));
    names.collect()
}
