//! Units in groups: by top-level domain, or by a list.

use super::group_list::{GroupList, NO_GROUP};
use super::model::UnitGroup;
use super::origin_table::OriginTable;
use super::sampling::Sampling;
use super::unit_kind::UnitKind;
use super::units::draw_sample;
use rayon::prelude::*;
use robosieve::{Result, Snapshot};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use xxhash_rust::xxh3::xxh3_64;

/// The names of the group of addresses, and of the units beyond the largest groups.
const ADDRESSES: &str = "(ip)";
const OTHERS: &str = "(other)";

/// What decides on the group of a unit.
#[derive(Clone, Copy)]
pub(super) enum GroupKey<'g> {
    /// The top-level domain. At most this many are groups, the largest ones.
    TopLevelDomain { limit: usize },
    /// A list of units with their groups.
    List(&'g GroupList),
}

/// The units in their groups.
pub(super) struct UnitGrouping {
    /// The names of the groups. The last one has the units without a group of their own.
    names: Vec<String>,
    /// The number of leading groups that are reported without units too.
    listed: usize,
    /// The rows of the units of each group, sorted.
    rows: Vec<Vec<u32>>,
}

impl UnitGrouping {
    /// Finds the group of each unit. Memory: 12 bytes per unit.
    pub(super) fn new(snapshot: &Snapshot, rows: &[u32], key: GroupKey<'_>) -> Result<Self> {
        match key {
            GroupKey::TopLevelDomain { limit } => {
                let hash = |host: &str| xxh3_64(top_level_domain(host).as_bytes());
                let hashes = map_hosts(snapshot, rows, hash)?;
                let largest = largest(&hashes, limit);
                let names = largest.iter().map(|&(_, index)| {
                    let origin = snapshot.origin_at(rows[index])?;
                    Ok(top_level_domain(origin.host()).to_owned())
                });
                let mut names = names.collect::<Result<Vec<_>>>()?;
                names.push(OTHERS.to_owned());
                let numbers: HashMap<u64, u32> =
                    largest.into_iter().map(|(hash, _)| hash).zip(0..).collect();
                let numbers = hashes.iter().map(|hash| numbers.get(hash).copied());
                Ok(Self::of_numbers(names, 0, rows, numbers))
            }
            GroupKey::List(list) => {
                let numbers = map_hosts(snapshot, rows, |host| list.group_of_host(host))?;
                let mut names = list.names().to_vec();
                names.push(NO_GROUP.to_owned());
                let listed = list.names().len();
                Ok(Self::of_numbers(names, listed, rows, numbers.into_iter()))
            }
        }
    }

    /// Gives each unit the group with its number, or the last one.
    fn of_numbers(
        names: Vec<String>,
        listed: usize,
        units: &[u32],
        numbers: impl Iterator<Item = Option<u32>>,
    ) -> Self {
        let last = names.len() - 1;
        let mut rows = vec![Vec::new(); names.len()];
        for (&row, number) in units.iter().zip(numbers) {
            rows[number.map_or(last, |number| number as usize)].push(row);
        }
        Self {
            names,
            listed,
            rows,
        }
    }

    /// The number of units with a group of their own.
    pub(super) fn units_matched(&self) -> u64 {
        let matched = self
            .rows
            .split_last()
            .map_or(&[][..], |(_, matched)| matched);
        matched.iter().map(|rows| rows.len() as u64).sum()
    }

    /// Counts the units of each group by coverage, or a sample of them. The largest group is first,
    /// and the units without a group are last.
    pub(super) fn count(
        self,
        snapshot: &Snapshot,
        kind: UnitKind,
        table: &mut OriginTable,
        sampling: Option<Sampling>,
    ) -> Result<Vec<UnitGroup>> {
        let mut groups = Vec::new();
        for (name, all) in self.names.into_iter().zip(self.rows) {
            let of = all.len() as u64;
            let rows = match sampling {
                Some(sampling) => draw_sample(snapshot, kind, &all, sampling)?,
                None => all,
            };
            table.read(&rows)?;
            let units = rows.len() as u64;
            let agents = table.by_agent(&table.count(&rows));
            let intervals = sampling.map(|sampling| {
                let sample = sampling.facts(units, of);
                agents.iter().map(|of| of.intervals(&sample)).collect()
            });
            groups.push(UnitGroup {
                name,
                of,
                units,
                agents,
                intervals,
            });
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
}

/// Maps the host of each row, on all threads.
fn map_hosts<T: Send>(
    snapshot: &Snapshot,
    rows: &[u32],
    map: impl Fn(&str) -> T + Sync,
) -> Result<Vec<T>> {
    let mapped = rows
        .par_iter()
        .map(|&row| Ok(map(snapshot.origin_at(row)?.host())));
    mapped.collect()
}

/// The most frequent hashes, each with the index of its first unit, which decides between equals.
fn largest(hashes: &[u64], limit: usize) -> Vec<(u64, usize)> {
    let mut sizes: HashMap<u64, (u64, usize)> = HashMap::new();
    for (index, hash) in hashes.iter().enumerate() {
        sizes.entry(*hash).or_insert((0, index)).0 += 1;
    }
    let mut sizes: Vec<(u64, (u64, usize))> = sizes.into_iter().collect();
    sizes.sort_unstable_by_key(|(_, (units, first))| (Reverse(*units), *first));
    sizes.truncate(limit);
    sizes
        .into_iter()
        .map(|(hash, (_, first))| (hash, first))
        .collect()
}

/// The name of a host's group: its last label.
fn top_level_domain(host: &str) -> &str {
    let host = host.trim_end_matches('.');
    if host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok() {
        return ADDRESSES;
    }
    host.rsplit_once('.').map_or(host, |(_, label)| label)
}
