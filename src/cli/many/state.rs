//! The state file of an output: what it was made of, so that a rerun knows whether it is complete.

use super::super::task::Task;
use super::plan::FileJob;
use anyhow::Context;
use robosieve::{Agent, FilterStats, JudgeOptions, OutputFile, Snapshot};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// What outputs follow from, beside their input. Everything that changes a byte of an output, or a count, must be in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    tool: String,
    snapshot: String,
    agents: Vec<String>,
    options: String,
}

impl Identity {
    pub(crate) fn new(snapshot: &Snapshot, agents: &[Agent], options: &JudgeOptions, task: &Task) -> Self {
        Self {
            tool: concat!("robosieve ", env!("CARGO_PKG_VERSION")).to_owned(),
            snapshot: format!("{:016x}", snapshot.checksum()),
            agents: agents.iter().map(Agent::to_string).collect(),
            // The debug forms have every field, those too that are yet to come.
            options: format!("{task:?} {options:?}"),
        }
    }
}

/// What tells an input from a changed one.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    path: String,
    size: u64,
    /// Nanoseconds since 1970.
    modified: i64,
}

impl Fingerprint {
    pub(crate) fn of(file: &FileJob) -> anyhow::Result<Self> {
        let at = || file.input.display().to_string();
        let meta = std::fs::metadata(&file.input).with_context(at)?;
        let modified = nanoseconds(meta.modified().with_context(at)?);
        Ok(Self { path: file.real.to_string_lossy().into_owned(), size: meta.len(), modified })
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

/// An output that was committed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Product {
    path: String,
    size: u64,
}

impl Product {
    fn at(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Ok(Self { size: path.metadata()?.len(), path: path.to_string_lossy().into_owned() })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct State {
    #[serde(flatten)]
    identity: Identity,
    input: Fingerprint,
    outputs: BTreeMap<String, Product>,
    counts: FilterStats,
}

impl State {
    /// The state of a file whose outputs were committed just now.
    pub(crate) fn new(
        file: &FileJob,
        identity: &Identity,
        input: Fingerprint,
        stats: &FilterStats,
    ) -> anyhow::Result<Self> {
        let mut outputs = BTreeMap::new();
        for (part, path) in file.places.named() {
            let product = Product::at(path).with_context(|| path.display().to_string())?;
            outputs.insert(part.to_owned(), product);
        }
        Ok(Self { identity: identity.clone(), input, outputs, counts: stats.clone() })
    }

    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut out = OutputFile::create(path)?;
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")?;
        Ok(out.commit()?)
    }

    /// Removes what speaks for outputs that are about to be replaced: after a kill amid that, a state of other options
    /// would fit some of them. The removal is on disk before the first new output can be.
    pub(crate) fn forget(path: &Path) -> anyhow::Result<()> {
        match std::fs::remove_file(path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
            removed => removed.with_context(|| path.display().to_string())?,
        }
        match path.parent() {
            Some(folder) if cfg!(unix) => {
                let synced = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
                synced.with_context(|| folder.display().to_string())
            }
            _ => Ok(()),
        }
    }

    fn fits(&self, file: &FileJob, identity: &Identity) -> Result<(), &'static str> {
        let is_there = |(part, path): (&str, &Path)| {
            let (now, then) = (Product::at(path).ok(), self.outputs.get(part));
            // The main output lies beside the state: if both were moved, it is still the same.
            now.as_ref().zip(then).is_some_and(|(now, then)| now.size == then.size && (part == "main" || now == then))
        };
        let checks = [
            (self.identity.tool == identity.tool, "made by another version"),
            (self.identity.snapshot == identity.snapshot, "made by another snapshot"),
            (self.identity == *identity, "made with other options"),
            (Fingerprint::of(file).is_ok_and(|input| input == self.input), "input changed"),
            (file.places.named().all(is_there), "output missing or changed"),
        ];
        checks.iter().find(|(fits, _)| !fits).map_or(Ok(()), |(_, why)| Err(why))
    }
}

/// The counts of a file whose outputs are complete, or why it must be done.
pub(crate) fn complete(file: &FileJob, identity: &Identity) -> Result<FilterStats, &'static str> {
    let bytes = std::fs::read(&file.state).map_err(|_| "not done yet")?;
    let state: State = serde_json::from_slice(&bytes).map_err(|_| "state not readable")?;
    state.fits(file, identity)?;
    Ok(state.counts)
}

#[cfg(test)]
mod tests {
    use super::super::super::args::Cli;
    use clap::CommandFactory;

    /// What `Identity` has.
    const MATTERS: &[&str] = &[
        "snapshot",
        "agents",
        "agents_from",
        "status_policy",
        "unknown",
        "scheme",
        "agent_match",
        "at",
        "keep",
        "require",
        "input_format",
        "field",
        "header",
        "delimiter",
        "json_key",
        "default_scheme",
        "host",
        "form",
        "as_name",
        "preferences",
    ];
    /// What changes no byte of an output and no count, or is looked at by itself.
    const OTHERS: &[&str] = &[
        "no_verify",
        "strict_agents",
        "disallowed_to",
        "unknown_to",
        "invalid_to",
        "output",
        "out_dir",
        "resume",
        "files_from",
        "shard",
        "inputs",
    ];

    #[test]
    fn every_option_is_known_to_matter_or_not() {
        for verb in ["filter", "annotate"] {
            let mut command = Cli::command();
            command.build();
            let verb = command.find_subcommand(verb).unwrap();
            // Those of all verbs change no output.
            let own: Vec<_> =
                verb.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_id() != "help").collect();
            assert!(own.len() > OTHERS.len(), "{} arguments", own.len());
            for arg in own {
                let id = arg.get_id().as_str();
                assert!(
                    MATTERS.contains(&id) || OTHERS.contains(&id),
                    "{id}: does it change outputs? Then into Identity"
                );
            }
        }
    }
}
