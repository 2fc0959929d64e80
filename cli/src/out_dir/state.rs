//! The state file of an output: a record of everything that determined it, so that `--resume` can
//! tell whether it is complete.

use super::plan::FileJob;
use crate::figures::counts::{counted_as, grouped};
use crate::figures::escape::escape;
use crate::judge_job::{JudgeTask, PendingOutputs};
use crate::stderr::print_line;
use anyhow::Context;
use robosieve::filter_lists::FilterLists;
use robosieve::job::FilterStats;
use robosieve::output::OutputFile;
use robosieve::{Agent, JudgeOptions, Snapshot};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Everything besides the input that determines an output. An option that changes a byte of an
/// output, or a count, must be part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunIdentity {
    tool: String,
    /// The checksum of the snapshot; empty if only lists decide.
    snapshot: String,
    /// That of the filter lists; empty without any.
    #[serde(default)]
    lists: String,
    agents: Vec<String>,
    options: String,
}

impl RunIdentity {
    pub(crate) fn new(
        snapshot: Option<&Snapshot>,
        lists: Option<&FilterLists>,
        agents: &[Agent],
        options: &JudgeOptions,
        task: &JudgeTask,
    ) -> Self {
        let shown = |checksum: Option<u64>| match checksum {
            Some(checksum) => format!("{checksum:016x}"),
            None => String::new(),
        };
        Self {
            tool: concat!("robosieve ", env!("CARGO_PKG_VERSION")).to_owned(),
            snapshot: shown(snapshot.map(Snapshot::checksum)),
            lists: shown(lists.map(FilterLists::checksum)),
            agents: agents.iter().map(Agent::to_string).collect(),
            // The debug forms include every field, also future ones.
            options: format!("{task:?} {options:?}"),
        }
    }
}

/// Identifies the content of an input by path, size and modification time.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InputFingerprint {
    path: String,
    size: u64,
    /// Nanoseconds since 1970.
    modified: i64,
}

impl InputFingerprint {
    pub(super) fn of(file: &FileJob) -> anyhow::Result<Self> {
        let name = || file.input.display().to_string();
        let meta = std::fs::metadata(&file.input).with_context(name)?;
        let modified = nanoseconds(meta.modified().with_context(name)?);
        Ok(Self {
            path: file.real.to_string_lossy().into_owned(),
            size: meta.len(),
            modified,
        })
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

/// The path and size of a committed output.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CommittedOutput {
    path: String,
    size: u64,
}

impl CommittedOutput {
    fn at(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Ok(Self {
            size: path.metadata()?.len(),
            path: path.to_string_lossy().into_owned(),
        })
    }
}

/// The files that a run processes, and the counts of the complete ones, which it skips.
#[derive(Default)]
pub(super) struct Todo {
    pub files: Vec<FileJob>,
    pub skipped: usize,
    pub skipped_stats: FilterStats,
}

impl Todo {
    pub(super) fn all(files: Vec<FileJob>) -> Self {
        Self {
            files,
            ..Self::default()
        }
    }

    /// The incomplete files. Prints how many are skipped and how many not, and for which reasons.
    pub(super) fn incomplete(files: Vec<FileJob>, identity: &RunIdentity, quiet: bool) -> Self {
        let total = files.len();
        let mut todo = Self::default();
        // Each with the number of files and the first.
        let mut reasons: Vec<(&str, u64, String)> = Vec::new();
        for file in files {
            match complete(&file, identity) {
                Ok(stats) => {
                    todo.skipped += 1;
                    todo.skipped_stats.add(&stats);
                }
                Err(reason) => {
                    match reasons.iter_mut().find(|(other, ..)| *other == reason) {
                        Some((_, number, _)) => *number += 1,
                        None => reasons.push((reason, 1, file.input.display().to_string())),
                    }
                    todo.files.push(file);
                }
            }
        }
        if quiet {
            return todo;
        }
        print_line(format_args!(
            "resume: {} of {} complete and skipped, {} to do",
            todo.skipped,
            counted_as(total as u64, "file is", "files are"),
            todo.files.len()
        ));
        for (reason, number, first) in reasons {
            let more = if number > 1 { " and others" } else { "" };
            print_line(format_args!(
                "  {reason:<26}{:>14}  {}{more}",
                grouped(number),
                escape(&first)
            ));
        }
        todo
    }
}

/// The counts of a file whose outputs are complete, or the reason to process it.
fn complete(file: &FileJob, identity: &RunIdentity) -> Result<FilterStats, &'static str> {
    let bytes = std::fs::read(&file.state).map_err(|_| "not done yet")?;
    let state: ResumeState = serde_json::from_slice(&bytes).map_err(|_| "state not readable")?;
    state.fits(file, identity)?;
    Ok(state.counts)
}

/// Commits the outputs of a file, then their state.
pub(super) fn commit(
    file: &FileJob,
    identity: &RunIdentity,
    input: InputFingerprint,
    outputs: PendingOutputs,
) -> anyhow::Result<FilterStats> {
    forget(&file.state)?;
    let counts = outputs.commit()?;
    let mut outputs = BTreeMap::new();
    for (output, path) in file.paths.named() {
        let committed = CommittedOutput::at(path).with_context(|| path.display().to_string())?;
        outputs.insert(output.to_owned(), committed);
    }
    let state = ResumeState {
        identity: identity.clone(),
        input,
        outputs,
        counts,
    };
    let mut out = OutputFile::create(&file.state)?;
    serde_json::to_writer_pretty(&mut out, &state)?;
    out.write_all(b"\n")?;
    out.commit()?;
    Ok(state.counts)
}

/// Removes the state of outputs that are about to be replaced. Otherwise, if the process is killed
/// during the replacement, the old state would still fit some outputs. The removal is durable ahead
/// of the first new output.
fn forget(path: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => removed.with_context(|| path.display().to_string())?,
    }
    match path.parent() {
        Some(parent) if cfg!(unix) => {
            let synced = std::fs::File::open(parent).and_then(|dir| dir.sync_all());
            synced.with_context(|| parent.display().to_string())
        }
        _ => Ok(()),
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct ResumeState {
    #[serde(flatten)]
    identity: RunIdentity,
    input: InputFingerprint,
    outputs: BTreeMap<String, CommittedOutput>,
    counts: FilterStats,
}

impl ResumeState {
    /// Checks that this state describes the current input, options and outputs.
    fn fits(&self, file: &FileJob, identity: &RunIdentity) -> Result<(), &'static str> {
        // The first check that fails is the reason that the user reads, so general ones come first.
        let checks = [
            (
                self.identity.tool == identity.tool,
                "made by another version",
            ),
            (
                self.identity.snapshot == identity.snapshot,
                "made by another snapshot",
            ),
            (self.identity.lists == identity.lists, "made by other lists"),
            (self.identity == *identity, "made with other options"),
            (
                InputFingerprint::of(file).is_ok_and(|input| input == self.input),
                "input changed",
            ),
            (
                file.paths
                    .named()
                    .all(|(output, path)| self.is_unchanged(output, path)),
                "output missing or changed",
            ),
        ];
        checks
            .iter()
            .find(|(fits, _)| !fits)
            .map_or(Ok(()), |(_, reason)| Err(reason))
    }

    /// Whether an output is still the committed one.
    fn is_unchanged(&self, output: &str, path: &Path) -> bool {
        let Some(then) = self.outputs.get(output) else {
            return false;
        };
        // The main output and the state file may have been moved together.
        CommittedOutput::at(path)
            .is_ok_and(|now| now.size == then.size && (output == "main" || now == *then))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::args::Cli;
    use clap::CommandFactory;

    /// The options that are part of `RunIdentity`.
    const MATTERS: &[&str] = &[
        "snapshot",
        "agents",
        "agents_from",
        "crawlers",
        "only_crawlers",
        "status_policy",
        "unknown",
        "scheme",
        "agent_match",
        "at",
        "keep",
        "require",
        "reason",
        "disallowed_add",
        "input_format",
        "field",
        "header",
        "delimiter",
        "json_key",
        "default_scheme",
        "host",
        "as_of",
        "as_of_column",
        "as_of_record",
        "no_time",
        "form",
        "as_name",
        "add",
        "preferences",
        "lists",
        "block",
        "allow",
        "allow_suffixes",
        "block_words",
        "soft_words",
        "soft_threshold",
        "block_substrings",
        "words_in",
    ];
    /// The options that change no byte of an output and no count, or that are checked separately.
    const OTHERS: &[&str] = &[
        "stats_json",
        "no_verify",
        "strict_agents",
        "disallowed_to",
        "unknown_to",
        "invalid_to",
        "listed_to",
        "strict_lists",
        "cdxj",
        "output",
        "out_dir",
        "resume",
        "files_from",
        "shard",
        "inputs",
    ];

    #[test]
    fn every_option_is_classified() {
        for verb in ["filter", "annotate"] {
            let mut command = Cli::command();
            command.build();
            let verb = command.find_subcommand(verb).unwrap();
            // The options of all verbs change no output.
            let own: Vec<_> = verb
                .get_arguments()
                .filter(|arg| !arg.is_global_set() && arg.get_id() != "help")
                .collect();
            assert!(own.len() > OTHERS.len(), "{} arguments", own.len());
            for arg in own {
                let id = arg.get_id().as_str();
                assert!(
                    MATTERS.contains(&id) || OTHERS.contains(&id),
                    "{id}: does it change outputs? Then add it to RunIdentity"
                );
            }
        }
    }
}
