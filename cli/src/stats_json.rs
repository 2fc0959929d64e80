//! `--stats-json`: the counts of a run as JSON, with what they depend on, for data cards.

use crate::agent_args::SelectedAgents;
use crate::figures::escape::to_json_pretty;
use crate::help_text::OUTPUT;
use crate::list_args::OwnLists;
use crate::option_guard::OptionGuard;
use crate::output::OutputTarget;
use crate::time::time;
use anyhow::Context;
use clap::Args;
use robosieve::output::OutputFormat;
use robosieve::{Agent, Snapshot};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The arguments of this process, which runs one command.
static ARGUMENTS: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers the arguments, the first of which is the name of the program.
pub(crate) fn remember_arguments(args: &[OsString]) {
    let args = args.iter().skip(1);
    let _ = ARGUMENTS.set(args.map(|arg| arg.to_string_lossy().into_owned()).collect());
}

// Shared by the verbs that count. Those without a heading of outputs move it to another one.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Write the counts as JSON (`-`: standard output)
    ///
    /// With them are the version and the arguments. Runs that judge also have the snapshot and own
    /// lists, with their checksums, and the agents with the members of each set. The file appears
    /// together with the other outputs.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = OUTPUT)]
    pub stats_json: Option<PathBuf>,
}

impl StatsArgs {
    /// Opens the output of the counts, so that an unwritable one fails at once.
    pub(crate) fn open(&self) -> anyhow::Result<Option<OutputTarget>> {
        let mut stats = self
            .stats_json
            .as_deref()
            .map(|path| OutputTarget::open(Some(path)))
            .transpose()?;
        stats.iter_mut().for_each(OutputTarget::outlive_reader);
        Ok(stats)
    }

    /// Refuses a file of counts that would overwrite an input or an output, or that has the
    /// extension of another format.
    pub(crate) fn refuse_overwriting(&self, guard: &mut OptionGuard) -> anyhow::Result<()> {
        let Some(path) = &self.stats_json else {
            return Ok(());
        };
        guard.add_output("--stats-json", path)?;
        Ok(OutputFormat::Text.check(path)?)
    }
}

/// What the counts of a run depend on.
#[derive(Default, Serialize)]
pub(crate) struct RunRecord {
    made_by: &'static str,
    arguments: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    snapshots: Vec<SnapshotRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lists: Option<ListsRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sets: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize)]
struct SnapshotRecord {
    path: String,
    /// As `--resume` compares it: it depends on every byte of the file.
    checksum: String,
    profile: &'static str,
    origins: u64,
    newest_capture: Option<String>,
}

/// Filter lists that were asked.
#[derive(Serialize)]
struct ListsRecord {
    /// The compiled file, or the texts.
    paths: Vec<String>,
    checksum: String,
    /// The names of the lists, in the order of `listed_by`.
    names: Vec<String>,
}

/// A record with counts.
#[derive(Serialize)]
struct Counted<'c, C> {
    #[serde(flatten)]
    record: &'c RunRecord,
    #[serde(flatten)]
    counts: C,
}

impl RunRecord {
    pub(crate) fn new() -> Self {
        Self {
            made_by: concat!("robosieve ", env!("CARGO_PKG_VERSION")),
            arguments: ARGUMENTS.get().cloned().unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Adds a snapshot that was read.
    pub(crate) fn snapshot(mut self, path: &Path, snapshot: &Snapshot) -> anyhow::Result<Self> {
        let shown = path.display().to_string();
        let metadata = snapshot.metadata().with_context(|| shown.clone())?;
        self.snapshots.push(SnapshotRecord {
            path: shown,
            checksum: format!("{:016x}", snapshot.checksum()),
            profile: metadata.profile.name(),
            origins: metadata.counts.origins,
            newest_capture: metadata.captured.map(|span| time(span.newest)),
        });
        Ok(self)
    }

    /// Adds filter lists that were asked.
    pub(crate) fn lists(mut self, own: Option<&OwnLists>) -> Self {
        self.lists = own.map(|own| ListsRecord {
            paths: own.paths().map(|path| path.display().to_string()).collect(),
            checksum: format!("{:016x}", own.lists.checksum()),
            names: own.names().map(str::to_owned).collect(),
        });
        self
    }

    /// Adds the agents, and the members of their sets.
    pub(crate) fn agents(mut self, selected: &SelectedAgents) -> Self {
        self.agents = selected.agents.iter().map(Agent::to_string).collect();
        for set in &selected.sets {
            let members = set.members.iter().map(|number| &selected.agents[*number]);
            self.sets
                .insert(set.name.clone(), members.map(Agent::to_string).collect());
        }
        self
    }

    /// The members of the sets as JSON; `None` without a set.
    pub(crate) fn sets_json(&self) -> Option<String> {
        let sets = Some(&self.sets).filter(|sets| !sets.is_empty())?;
        serde_json::to_string(sets).ok()
    }

    /// Writes the record and the counts, whose keys follow those of the record.
    pub(crate) fn write(
        &self,
        counts: impl Serialize,
        out: &mut Option<OutputTarget>,
    ) -> anyhow::Result<()> {
        if let Some(out) = out {
            let record = self;
            out.write_whole(&to_json_pretty(&Counted { record, counts })?)?;
        }
        Ok(())
    }
}
