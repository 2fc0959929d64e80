//! Weights of hosts or domains, such as their ranks in a list of popular sites.

use crate::analysis::report::model::{CoverageCounts, WeightFacts};
use crate::analysis::report::name_list::{NameLine, canonical_name, cut, read_lines};
use crate::analysis::report::unit_kind::UnitKind;
use crate::analysis::report::units::UnitRows;
use crate::error::Result;
use crate::file_pass::{AgentCoverage, SetCoverages};
use crate::judge::engine::Engine;
use crate::snapshot::Snapshot;
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::BufRead;
use xxhash_rust::xxh3::xxh3_128;

/// Weights by host or domain, read from lines of `name,weight` or `rank,name`.
///
/// Memory: about 50 bytes per line.
///
/// ```
/// use robosieve::report::{Reporter, UnitKind, Weights};
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://large.example", b"user-agent: a\ndisallow: /")?;
/// compiler.add_robots("https://small.example", b"")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["a".parse()?], JudgeOptions::default())?;
///
/// let weights = Weights::read("large.example\t3\nsmall.example\t1\n".as_bytes())?;
/// let report = Reporter::new(&judge).by(UnitKind::Host).weights(&weights).of_snapshot()?;
/// let weighted = report.agents[0].weighted.unwrap();
/// assert_eq!((weighted.wholly, weighted.not), (3.0, 1.0));
/// # Ok::<(), robosieve::Error>(())
/// ```
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
    /// [`ErrorKind::BadList`](crate::ErrorKind::BadList) with the number of a line of another form,
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

/// The number of files that one thread weighs at a time.
const CHUNK: usize = 1 << 14;

impl<'w> WeightedUnits<'w> {
    /// Looks up each unit by its name. An origin has the weight of its host.
    pub(super) fn find(
        snapshot: &Snapshot,
        kind: UnitKind,
        rows: &UnitRows,
        weights: &'w Weights,
    ) -> Result<Self> {
        let parts = rows.chunks().map(|rows| {
            let mut found = Vec::new();
            for row in rows {
                let entry = snapshot.origin_at(row)?;
                let number = weights.number(kind.unit_of(entry.host()));
                found.extend(number.map(|entry| WeightedUnit { row, entry }));
            }
            Ok(found)
        });
        Ok(Self {
            weights,
            units: parts.collect::<Result<Vec<_>>>()?.concat(),
        })
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
    /// Weights are added in a fixed order, because sums of floating-point numbers depend on it. So
    /// the result does not depend on the number of threads.
    pub(super) fn count(
        &self,
        engine: &Engine<'_>,
        sets: &SetCoverages,
    ) -> Result<Vec<CoverageCounts<f64>>> {
        let sources = self
            .units
            .par_iter()
            .map(|unit| engine.rule_source(unit.row));
        let sources = sources.collect::<Result<Vec<_>>>()?;
        let mut by_file: HashMap<u32, f64> = HashMap::new();
        // Files are counted once, with the sum of the weights of their units. `by_status` has the
        // units that the status policy disallows, and those that it allows.
        let mut by_status = [0.0; 2];
        for (source, unit) in sources.iter().zip(&self.units) {
            let sum = match source.file {
                Some(file) => by_file.entry(file).or_default(),
                None => &mut by_status[usize::from(!source.refused)],
            };
            *sum += self.weight(unit.entry);
        }
        let mut by_file: Vec<(u32, f64)> = by_file.into_iter().collect();
        by_file.sort_unstable_by_key(|(file, _)| *file);
        let zero = vec![CoverageCounts::<f64>::default(); engine.agents().len()];
        let parts = by_file.par_chunks(CHUNK).map(|files| {
            let mut counts = zero.clone();
            for (file, weight) in files {
                let coverages = sets.of_file(engine, *file)?;
                counts
                    .iter_mut()
                    .zip(coverages)
                    .for_each(|(counts, of)| counts.add(of, *weight));
            }
            Ok(counts)
        });
        let mut counts = zero.clone();
        for part in parts.collect::<Result<Vec<_>>>()? {
            counts
                .iter_mut()
                .zip(&part)
                .for_each(|(sum, part)| sum.merge(part));
        }
        for (is_refused, weight) in [true, false].into_iter().zip(by_status) {
            counts
                .iter_mut()
                .for_each(|counts| counts.add(AgentCoverage::by_status(is_refused), weight));
        }
        Ok(counts)
    }
}
