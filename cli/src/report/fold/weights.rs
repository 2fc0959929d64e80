//! Weights of hosts or domains, such as their ranks in a list of popular sites.

use super::model::{CoverageCounts, WeightFacts};
use super::name_list::{NameLine, canonical_name, cut, read_lines};
use super::origin_table::OriginTable;
use super::unit_kind::UnitKind;
use rayon::prelude::*;
use robosieve::{Result, Snapshot};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use xxhash_rust::xxh3::xxh3_128;

/// Weights by host or domain, read from lines of `name,weight` or `rank,name`.
///
/// Memory: about 50 bytes per line.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// The numbers of the entries, by the hashes of their names.
    numbers: HashMap<u128, u32>,
    entries: Vec<WeightEntry>,
}

#[derive(Clone, Copy, Debug)]
struct WeightEntry {
    weight: f64,
    line: u64,
}

/// The form of the lines, which the first line decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WeightForm {
    /// `name,weight`
    NameWeight,
    /// `rank,name`, as in the Tranco list. The weight is one divided by the rank.
    RankName,
}

impl Weights {
    /// Reads lines of a name, a TAB or a comma, and a weight; or of a rank, a TAB or a comma, and a
    /// name. The first line decides. Blank lines and lines that begin with `#` are skipped, and so
    /// is a first line without numbers and dots, which is a header.
    ///
    /// # Errors
    /// `ErrorKind::BadList` with the number of a line of another form,
    /// of a weight that is negative or not a number, of a rank of 0, of a name that an earlier line
    /// has, and of a line longer than 64 KiB. Errors of the reader.
    pub fn read(input: impl BufRead) -> Result<Self> {
        let mut weights = Self::default();
        let mut form = None;
        let fields = "a name and a weight, or a rank and a name";
        read_lines(input, fields, |line| weights.add_line(&line, &mut form))?;
        Ok(weights)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The weight of a host or domain in canonical form; `None` if it is not listed.
    pub fn of(&self, name: &str) -> Option<f64> {
        Some(self.entries.get(self.number(name)? as usize)?.weight)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(&xxh3_128(name.as_bytes())).copied()
    }

    fn add_line(
        &mut self,
        line: &NameLine<'_>,
        form: &mut Option<WeightForm>,
    ) -> Result<(), String> {
        let NameLine { first, second, .. } = *line;
        // A list may have a header, which has no number and no domain.
        if line.is_first && is_column(first) && is_column(second) {
            return Ok(());
        }
        let of_line = match number(second) {
            None if first.parse::<u64>().is_ok() => WeightForm::RankName,
            _ => WeightForm::NameWeight,
        };
        let form = *form.get_or_insert(of_line);
        let (name, weight) = match form {
            WeightForm::NameWeight => (first, weight(second)?),
            WeightForm::RankName => (second, weight_of_rank(first)?),
        };
        let unit = canonical_name(name)?;
        let entry = u32::try_from(self.entries.len())
            .map_err(|_| "more than 4 billion names".to_owned())?;
        match self.numbers.entry(xxh3_128(unit.as_bytes())) {
            Entry::Vacant(vacant) => vacant.insert(entry),
            Entry::Occupied(earlier) => {
                let earlier = self
                    .entries
                    .get(*earlier.get() as usize)
                    .map_or(0, |entry| entry.line);
                return Err(format!(
                    "line {earlier} has {unit:?} too; keep one of the two"
                ));
            }
        };
        self.entries.push(WeightEntry {
            weight,
            line: line.number,
        });
        Ok(())
    }
}

/// Whether a field of the first line is the name of a column, which has no dots.
fn is_column(field: &str) -> bool {
    number(field).is_none() && !field.contains('.')
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn weight(text: &str) -> Result<f64, String> {
    number(text).filter(|weight| *weight >= 0.0).ok_or_else(|| {
        format!(
            "{:?} is not a weight; give a number of 0 or more after the name",
            cut(text)
        )
    })
}

fn weight_of_rank(text: &str) -> Result<f64, String> {
    let rank = text.parse::<u64>().ok().filter(|rank| *rank > 0);
    rank.map(|rank| 1.0 / rank as f64).ok_or_else(|| {
        format!(
            "{:?} is not a rank; the first line begins with a rank, so give 1 or more",
            cut(text)
        )
    })
}

/// A unit with a weight.
#[derive(Clone, Copy, Debug)]
struct WeightedUnit {
    row: u32,
    entry: u32,
}

/// The units of a report that have weights.
pub(super) struct WeightedUnits<'w> {
    weights: &'w Weights,
    /// Sorted by row.
    units: Vec<WeightedUnit>,
}

/// The number of files in a chunk.
const CHUNK: usize = 1 << 14;

impl<'w> WeightedUnits<'w> {
    /// Looks up each unit by its name. An origin has the weight of its host.
    pub(super) fn find(
        snapshot: &Snapshot,
        kind: UnitKind,
        rows: &[u32],
        weights: &'w Weights,
    ) -> Result<Self> {
        let units = rows
            .par_iter()
            .filter_map(|&row| match snapshot.origin_at(row) {
                Ok(origin) => {
                    let entry = weights.number(kind.unit_of(origin.host()))?;
                    Some(Ok(WeightedUnit { row, entry }))
                }
                Err(err) => Some(Err(err)),
            });
        let units = units.collect::<Result<_>>()?;
        Ok(Self { weights, units })
    }

    fn weight(&self, entry: u32) -> f64 {
        self.weights
            .entries
            .get(entry as usize)
            .map_or(0.0, |entry| entry.weight)
    }

    pub(super) fn facts(&self) -> WeightFacts {
        let mut entries: Vec<u32> = self.units.iter().map(|unit| unit.entry).collect();
        entries.sort_unstable();
        entries.dedup();
        WeightFacts {
            entries: self.weights.len() as u64,
            entries_matched: entries.len() as u64,
            units_matched: self.units.len() as u64,
            listed: self.weights.entries.iter().map(|entry| entry.weight).sum(),
            matched: self.units.iter().map(|unit| self.weight(unit.entry)).sum(),
        }
    }

    /// The sums of the weights by coverage, for each agent.
    ///
    /// Sums of floating-point numbers depend on the order: this one is by robots.txt, and within one
    /// by row, in chunks.
    pub(super) fn count(&self, table: &OriginTable) -> Vec<CoverageCounts<f64>> {
        let mut by_file: BTreeMap<u32, (u32, f64)> = BTreeMap::new();
        // The units that the status policy disallows, and those that it allows, by pattern.
        let mut by_status = [0.0; 2];
        for unit in &self.units {
            let pattern = table.pattern(unit.row);
            let sum = match table.file(unit.row) {
                Some(file) => &mut by_file.entry(file).or_insert((pattern, 0.0)).1,
                None => &mut by_status[pattern as usize],
            };
            *sum += self.weight(unit.entry);
        }
        let by_file: Vec<(u32, f64)> = by_file.into_values().collect();
        let mut counts = vec![CoverageCounts::default(); table.agents()];
        for files in by_file.chunks(CHUNK) {
            let part = sum_up(table, files);
            counts
                .iter_mut()
                .zip(&part)
                .for_each(|(sum, part)| sum.merge(part));
        }
        for (pattern, weight) in (0..).zip(by_status) {
            add(&mut counts, table, pattern, weight);
        }
        counts
    }
}

/// The sums of some files, each with its pattern and the weight of its units.
fn sum_up(table: &OriginTable, files: &[(u32, f64)]) -> Vec<CoverageCounts<f64>> {
    let mut counts = vec![CoverageCounts::default(); table.agents()];
    for (pattern, weight) in files {
        add(&mut counts, table, *pattern, *weight);
    }
    counts
}

fn add(counts: &mut [CoverageCounts<f64>], table: &OriginTable, pattern: u32, weight: f64) {
    for (count, access) in counts.iter_mut().zip(table.accesses(pattern)) {
        count.add(*access, weight);
    }
}
