//! Units grouped by top-level domain.
//!
//! The first pass counts the units of each group by the hash of its name, and finds the largest
//! groups. The second pass collects the robots.txt and the group of each unit. Sorted by file,
//! these are counted with one computation per file.

use crate::analysis::report::counts::{Merge, merge_all};
use crate::analysis::report::model::{CoverageCounts, UnitGroup};
use crate::analysis::report::unit_kind::is_address;
use crate::analysis::report::units::UnitRows;
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

/// The last label of a host without its final dot, in the same way for all hosts of a domain.
fn top_level_domain(host: &str) -> &str {
    if is_address(host) {
        return ADDRESSES;
    }
    let host = host.trim_end_matches('.');
    host.rsplit_once('.').map_or(host, |(_, label)| label)
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

/// A unit in a group: the units of a group that use one robots.txt are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupedUnit {
    file: Option<u32>,
    /// Without a robots.txt: whether the status policy refuses everything.
    refused: bool,
    /// The number of the group.
    group: u32,
}

/// Counts the units by top-level domain. At most `limit` groups are listed, the largest first, and
/// then the other units together.
///
/// Memory: 16 bytes per unit, and about 40 per top-level domain.
pub(super) fn group_by_tld(
    engine: &Engine<'_>,
    rows: &UnitRows,
    sets: &SetCoverages,
    limit: usize,
) -> Result<Vec<UnitGroup>> {
    let names = largest_groups(engine, rows, limit)?;
    let units = grouped_units(engine, rows, &names)?;
    let agents = engine.agents().len();
    let parts = units.par_chunks(CHUNK).map(|units| {
        let mut groups = empty_groups(&names, agents);
        for same_file in units.chunk_by(|a, b| (a.file, a.refused) == (b.file, b.refused)) {
            count_units(engine, same_file, sets, &mut groups)?;
        }
        Ok(groups)
    });
    let groups: Result<Vec<UnitGroup>> =
        parts.try_reduce(|| empty_groups(&names, agents), add_groups);
    let mut groups = groups?;
    groups.retain(|group| group.units > 0);
    Ok(groups)
}

/// All units with the numbers of their groups, sorted by file. Units of groups without a name have
/// the number after the last.
fn grouped_units(
    engine: &Engine<'_>,
    rows: &UnitRows,
    names: &[String],
) -> Result<Vec<GroupedUnit>> {
    let numbers: HashMap<&str, u32> = (0..)
        .zip(names)
        .map(|(number, name)| (name.as_str(), number))
        .collect();
    let others = names.len() as u32;
    let parts = rows.chunks().map(|rows| {
        let mut units = Vec::new();
        for row in rows {
            let source = engine.rule_source(row)?;
            let group = numbers.get(group_of(engine, row)?);
            units.push(GroupedUnit {
                file: source.file,
                refused: source.refused,
                group: group.copied().unwrap_or(others),
            });
        }
        Ok(units)
    });
    let mut units = parts.collect::<Result<Vec<_>>>()?.concat();
    // Units with one file become neighbours, which are counted together.
    units.par_sort_unstable();
    Ok(units)
}

/// The name of a unit's group.
fn group_of<'s>(engine: &Engine<'s>, row: u32) -> Result<&'s str> {
    Ok(top_level_domain(engine.snapshot().origin_at(row)?.host()))
}

/// The named groups and the group of all others, without units.
fn empty_groups(names: &[String], agents: usize) -> Vec<UnitGroup> {
    names
        .iter()
        .map(String::as_str)
        .chain([OTHERS])
        .map(|name| UnitGroup {
            name: name.to_owned(),
            units: 0,
            agents: vec![CoverageCounts::default(); agents],
        })
        .collect()
}

/// Adds the counts of a part to those of the same groups.
fn add_groups(mut sum: Vec<UnitGroup>, part: Vec<UnitGroup>) -> Result<Vec<UnitGroup>> {
    sum.iter_mut()
        .zip(part)
        .for_each(|(sum, part)| merge(sum, &part));
    Ok(sum)
}

/// The names of the largest groups, sorted by size and name.
fn largest_groups(engine: &Engine<'_>, rows: &UnitRows, limit: usize) -> Result<Vec<String>> {
    let parts = rows.chunks().map(|rows| {
        let mut sizes = GroupSizes::default();
        for row in rows {
            let hash = xxh3_64(group_of(engine, row)?.as_bytes());
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
    let named = sizes
        .iter()
        .map(|size| Ok((Reverse(size.units), group_of(engine, size.row)?.to_owned())));
    let mut named = named.collect::<Result<Vec<_>>>()?;
    named.sort_unstable();
    Ok(named.into_iter().map(|(_, name)| name).collect())
}

/// Adds units with the same robots.txt to their groups.
fn count_units(
    engine: &Engine<'_>,
    units: &[GroupedUnit],
    sets: &SetCoverages,
    groups: &mut [UnitGroup],
) -> Result<()> {
    let Some(first) = units.first() else {
        return Ok(());
    };
    // They also have the same coverages, which are looked up once.
    let coverages = match first.file {
        Some(file) => sets.of_file(engine, file)?,
        None => vec![AgentCoverage::by_status(first.refused); engine.agents().len()],
    };
    for unit in units {
        let Some(group) = groups.get_mut(unit.group as usize) else {
            continue;
        };
        group.units += 1;
        group
            .agents
            .iter_mut()
            .zip(&coverages)
            .for_each(|(counts, of)| counts.add(*of, 1));
    }
    Ok(())
}

fn merge(sum: &mut UnitGroup, part: &UnitGroup) {
    sum.units += part.units;
    sum.agents
        .iter_mut()
        .zip(&part.agents)
        .for_each(|(sum, part)| sum.merge(part));
}
