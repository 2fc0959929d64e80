//! The key-value metadata of written files about the runs that made them.
//!
//! `robosieve.agents` and the keys next to it describe the newest columns of verdicts, or a file of
//! an export. A run that annotates the file again renames them to `robosieve.earlier.N.agents` and
//! so on, because the older columns keep their meaning. A filter adds no column: its keys begin with
//! `robosieve.filter.N.`, and those of an annotated input stay. N counts the runs from 1.

use crate::agent::AgentMatch;
use crate::container::settings::Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::filter_lists::FilterLists;
use crate::judge::{Judge, NoTime, StatusPolicy, UnknownOrigin};
use crate::parquet::input::ParquetInput;
use crate::pipeline::{Destination, FilterStats};
use crate::records::Field;
use parquet::file::metadata::KeyValue;
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// The beginning of the keys of a run.
const RUN: &str = "robosieve.";

/// The beginning of the keys of annotations before the newest one.
const EARLIER: &str = "robosieve.earlier.";

/// The beginning of the keys of filters.
const FILTER: &str = "robosieve.filter.";

/// The key of the names of agents, after the beginning.
const AGENTS: &str = "agents";

/// The most digits of a run's number, so that the next number fits into an integer.
const MAX_DIGITS: usize = 9;

/// The options of a judge, so that counts of two runs can be compared. All are written: an entry that
/// is missing because the inputs differ must not look like a default.
#[derive(Serialize)]
struct OptionsRecord {
    status_policy: StatusPolicy,
    unknown: Option<UnknownOrigin>,
    any_scheme: bool,
    agent_match: AgentMatch,
    at: Option<i64>,
    as_of: Option<i64>,
    /// The column of the times as of which the rows are judged.
    as_of_column: Option<String>,
    no_time: NoTime,
}

impl OptionsRecord {
    fn of(judge: &Judge, as_of_column: Option<&Field>) -> Self {
        let engine = judge.engine();
        let options = engine.options();
        Self {
            // The default depends on the profile of the snapshot.
            status_policy: engine.policy(),
            unknown: options.unknown,
            any_scheme: options.any_scheme,
            agent_match: options.agent_match,
            at: options.at,
            as_of: options.as_of,
            as_of_column: as_of_column.map(|column| match column {
                Field::Name(name) => name.clone(),
                Field::Number(number) => number.to_string(),
            }),
            no_time: options.no_time,
        }
    }
}

/// The filter lists of a judge.
#[derive(Serialize)]
struct ListsRecord<'l> {
    checksum: String,
    /// The names of the lists, in the order of their counts.
    names: Vec<&'l str>,
}

impl<'l> ListsRecord<'l> {
    fn of(lists: &'l FilterLists) -> Self {
        let names = lists.metadata().lists.iter();
        Self {
            checksum: format!("{:016x}", lists.checksum()),
            names: names.map(|list| list.name.as_str()).collect(),
        }
    }
}

/// The entries of a file: agents, version, snapshot and options, then further ones.
pub(crate) fn run_metadata<'m>(
    judge: &Judge,
    as_of_column: Option<&Field>,
    more: &'m [(String, String)],
) -> Vec<(&'m str, String)> {
    let names: Vec<String> = judge.agents().iter().map(ToString::to_string).collect();
    let checksum = judge.snapshot().checksum();
    let options =
        serde_json::to_string(&OptionsRecord::of(judge, as_of_column)).unwrap_or_default();
    let mut entries = vec![
        ("robosieve.agents", names.join(",")),
        ("robosieve.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("robosieve.snapshot", format!("{checksum:016x}")),
        ("robosieve.options", options),
    ];
    if decide_lists_alone(judge) {
        // Nobody was judged: the others would state that robots.txt files were asked.
        entries.retain(|(key, _)| *key == "robosieve.version");
    }
    if let Some(lists) = judge.engine().lists() {
        let record = ListsRecord::of(lists);
        let record = serde_json::to_string(&record).unwrap_or_default();
        entries.push(("robosieve.lists", record));
    }
    entries.extend(
        more.iter()
            .map(|(key, value)| (key.as_str(), value.clone())),
    );
    entries
}

/// Whether filter lists alone decide, because the judge has no agents.
fn decide_lists_alone(judge: &Judge) -> bool {
    judge.agents().is_empty() && judge.engine().lists().is_some()
}

/// The metadata of the outputs of a run, and the beginning of its keys.
pub(super) struct RunEntries {
    entries: Vec<KeyValue>,
    beginning: String,
    /// Whether filter lists alone decide.
    is_by_lists: bool,
}

impl RunEntries {
    /// The entries of an annotated file. Those of an earlier annotation are renamed.
    pub(super) fn of_annotation(settings: &Settings<'_>, inputs: &[ParquetInput]) -> Result<Self> {
        let mut entries = inherited(inputs)?;
        let earlier = next_run(inputs, EARLIER);
        for entry in &mut entries {
            if let Some(name) = entry.key.strip_prefix(RUN)
                && !name.contains('.')
            {
                entry.key = format!("{earlier}{name}");
            }
        }
        Ok(Self::new(settings, entries, RUN.to_owned()))
    }

    /// The entries of all outputs of a filter.
    pub(super) fn of_filter(settings: &Settings<'_>, inputs: &[ParquetInput]) -> Result<Self> {
        let mut run = Self::new(settings, inherited(inputs)?, next_run(inputs, FILTER));
        if !run.is_by_lists {
            let criterion = settings.criterion;
            run.set("keep", criterion.keep.name().to_owned());
            run.set("require", criterion.require.name().to_owned());
            run.set("reasons", criterion.reasons.names());
        }
        Ok(run)
    }

    /// The inherited entries with those of every run. A key outside the run's is taken as given.
    fn new(settings: &Settings<'_>, entries: Vec<KeyValue>, beginning: String) -> Self {
        let mut run = Self {
            entries,
            beginning,
            is_by_lists: decide_lists_alone(settings.judge),
        };
        for (key, value) in run_metadata(
            settings.judge,
            settings.records.as_of_column.as_ref(),
            &settings.metadata,
        ) {
            match key.strip_prefix(RUN) {
                Some(name) => run.set(name, value),
                None => replace(&mut run.entries, key.to_owned(), value),
            }
        }
        run
    }

    fn set(&mut self, name: &str, value: String) {
        let key = format!("{}{name}", self.beginning);
        replace(&mut self.entries, key, value);
    }

    /// The entries of a file that is still without rows.
    pub(super) fn before_rows(&self) -> Vec<KeyValue> {
        self.entries.clone()
    }

    /// The entries of the output of a filter for rows with this destination.
    pub(super) fn with_destination(&self, destination: Destination) -> Vec<KeyValue> {
        let key = format!("{}verdict", self.beginning);
        let mut entries = self.entries.clone();
        let name = match destination {
            Destination::Allowed if self.is_by_lists => "not-listed",
            destination => destination.name(),
        };
        replace(&mut entries, key, name.to_owned());
        entries
    }

    /// The entry that is known after the last row.
    pub(super) fn counts(&self, stats: &FilterStats) -> KeyValue {
        let counts = match self.is_by_lists {
            true => serde_json::to_string(&stats.of_lists_alone()),
            false => serde_json::to_string(stats),
        };
        let counts = counts.unwrap_or_default();
        KeyValue::new(format!("{}counts", self.beginning), counts)
    }
}

/// Sets an entry, in place of those with its key.
fn replace(entries: &mut Vec<KeyValue>, key: String, value: String) {
    entries.retain(|entry| entry.key != key);
    entries.push(KeyValue::new(key, value));
}

/// The metadata that an output keeps: that of the first input. An entry of a run also needs the same
/// value in all other inputs, because it would describe their rows too.
///
/// # Errors
/// [`ErrorKind::BadTable`] for columns of verdicts that belong to different agents.
fn inherited(inputs: &[ParquetInput]) -> Result<Vec<KeyValue>> {
    check_agents(inputs)?;
    let Some((first, others)) = inputs.split_first() else {
        return Ok(Vec::new());
    };
    let mut kept = entries_of(first).to_vec();
    for other in others {
        let entries: HashMap<&str, &KeyValue> = entries_of(other)
            .iter()
            .map(|entry| (entry.key.as_str(), entry))
            .collect();
        kept.retain(|entry| {
            !entry.key.starts_with(RUN) || entries.get(entry.key.as_str()) == Some(&entry)
        });
    }
    Ok(kept)
}

/// Refuses inputs whose metadata name different agents for the same columns: the bits of a mask
/// would mean one agent in some rows and another one in others.
fn check_agents(inputs: &[ParquetInput]) -> Result<()> {
    let mut found: HashMap<&str, (&KeyValue, &Path)> = HashMap::new();
    for input in inputs {
        for entry in entries_of(input) {
            if !names_agents_of_columns(&entry.key) {
                continue;
            }
            match found.entry(&entry.key) {
                Entry::Vacant(vacant) => {
                    vacant.insert((entry, &input.path));
                }
                Entry::Occupied(occupied) => {
                    let (before, path) = *occupied.get();
                    if before != entry {
                        let what = format!(
                            "its columns of verdicts belong to other agents than those of {} \
                             (metadata {:?}); give each an output of its own",
                            path.display(),
                            entry.key
                        );
                        return Err(Error::from(ErrorKind::BadTable(what)).at(&input.path));
                    }
                }
            }
        }
    }
    Ok(())
}

fn names_agents_of_columns(key: &str) -> bool {
    let earlier = key
        .strip_prefix(EARLIER)
        .and_then(|rest| rest.split_once('.'));
    match earlier {
        Some((_, name)) => name == AGENTS,
        None => key.strip_prefix(RUN) == Some(AGENTS),
    }
}

/// The beginning of the keys of the next run: the number after the highest one in any input.
fn next_run(inputs: &[ParquetInput], beginning: &str) -> String {
    let entries = inputs.iter().flat_map(entries_of);
    let numbers = entries.filter_map(|entry| run_number(entry.key.strip_prefix(beginning)?));
    let next = numbers.max().unwrap_or(0) + 1;
    format!("{beginning}{next}.")
}

/// The number in `N.name`. A longer one than any run writes is not a number.
fn run_number(rest: &str) -> Option<u32> {
    let (number, _) = rest.split_once('.')?;
    let digits = Some(number).filter(|number| number.len() <= MAX_DIGITS)?;
    digits.parse().ok()
}

fn entries_of(input: &ParquetInput) -> &[KeyValue] {
    let entries = input.meta.file_metadata().key_value_metadata();
    entries.map_or(&[], Vec::as_slice)
}
