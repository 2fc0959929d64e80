//! The run that `filter` and `annotate` share: open and verify the snapshot and the lists, judge one
//! job or one per input, print the summary.

use crate::agent_args::SelectedAgents;
use crate::help_text::COMMON;
use crate::history_args::AsOfArgs;
use crate::inputs::InputArgs;
use crate::judge_args::JudgeArgs;
use crate::judge_job::{self, Action, JobPaths, JudgeTask};
use crate::list_args::{ListArgs, OwnLists};
use crate::option_guard::OptionGuard;
use crate::out_dir::{FileProcessor, OutDirArgs, RunIdentity};
use crate::output::OutputTarget;
use crate::progress::Progress;
use crate::record_args::{RecordArgs, RecordTimeArgs};
use crate::stats_json::{RunRecord, StatsArgs};
use crate::summary::{JudgedBy, print_filter};
use crate::verify_args::VerifyArgs;
use clap::Args;
use robosieve::job::FilterStats;
use robosieve::judge::UnknownOrigin;
use robosieve::{Agent, Compiler, Judge, JudgeOptions, Snapshot};
use std::path::{Path, PathBuf};

// The options of `filter` and `annotate` that do not depend on the verb.
#[derive(Debug, Args)]
pub(crate) struct JudgeRunArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub lists: ListArgs,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub time: AsOfArgs,
    #[command(flatten)]
    pub records: RecordArgs,
    #[command(flatten)]
    pub record_times: RecordTimeArgs,
    #[command(flatten)]
    pub stats: StatsArgs,
    #[command(flatten)]
    pub out_dir: OutDirArgs,
    #[command(flatten)]
    pub inputs: InputArgs,
}

impl JudgeRunArgs {
    /// Runs the action and prints its summary; `print_more` adds the lines of the verb. With
    /// `--out-dir`, the outputs of `paths` are directories.
    pub(crate) fn perform(
        &self,
        action: Action,
        mut paths: JobPaths,
        quiet: bool,
        print_more: impl FnOnce(&FilterStats, &[Agent]),
    ) -> anyhow::Result<()> {
        if let Some(dir) = self.out_dir.dir(paths.main.as_deref())? {
            paths.main = Some(dir.to_owned());
            paths.of_directory = true;
        }
        let own = self
            .lists
            .open(!self.verify.no_verify, self.inputs.read_standard_input())?;
        let (snapshot, selected) = match &self.snapshot {
            Some(path) => {
                let snapshot = self.open_snapshot(path, &action)?;
                let selected = self.resolve_agents(&snapshot, path, quiet)?;
                (snapshot, selected)
            }
            None => (empty_snapshot()?, SelectedAgents::default()),
        };
        let agents = &selected.agents;
        let mut record = RunRecord::new().lists(own.as_ref()).agents(&selected);
        if let Some(path) = &self.snapshot {
            record = record.snapshot(path, &snapshot)?;
        }
        let options = self.options();
        let judge = self.judge(&snapshot, agents, options, own.as_ref())?;
        let judged_by = self.judged_by(own.as_ref());
        let task = JudgeTask {
            action,
            sets: record.sets_json(),
            records: self.record_times.add_to(self.records.options()),
        };
        if paths.of_directory {
            let lists = own.as_ref().map(|own| &own.lists);
            let snapshot = self.snapshot.as_ref().map(|_| &snapshot);
            let identity = RunIdentity::new(snapshot, lists, agents, &options, &task);
            let processor = FileProcessor {
                task,
                judge: &judge,
                snapshot: self.snapshot.as_deref(),
                identity,
            };
            let mut guard = self.overwrite_guard(own.as_ref());
            self.stats.refuse_overwriting(&mut guard)?;
            let mut stats = self.stats.open()?;
            let inputs = &self.inputs;
            let summary = self.out_dir.run(&processor, inputs, &paths, guard, quiet)?;
            // Each file has appeared with its outputs; this has the counts of all.
            record.write(summary.counts(&judged_by), &mut stats)?;
            stats.map_or(Ok(()), OutputTarget::commit)?;
            if !quiet {
                summary.print(&judged_by);
                print_more(&summary.all, agents);
            }
            return summary.result();
        }
        // Other shards may be read at the same time, so their inputs are protected too.
        let inputs = self.inputs.all(quiet)?;
        self.refuse_overwriting(&inputs, &paths, own.as_ref())?;
        let inputs = self.inputs.part(inputs);
        let progress = Progress::of_inputs(&inputs, quiet);
        let mut counts = self.stats.open()?;
        let snapshot = self.snapshot.as_deref();
        let written = judge_job::write(&task, &judge, snapshot, &inputs, &paths, &|read| {
            progress.set(read)
        })?;
        record.write(judged_by.counts(written.stats()), &mut counts)?;
        let stats = written.commit_with(counts)?;
        progress.finish();
        if !quiet {
            print_filter(&stats, &judged_by, progress.elapsed());
            print_more(&stats, agents);
        }
        Ok(())
    }

    fn options(&self) -> JudgeOptions {
        let options = self
            .judge
            .options()
            .as_of(self.time.as_of)
            .no_time(self.record_times.no_time);
        match self.snapshot {
            Some(_) => options,
            // Only lists decide, so a line that they do not name is kept.
            None => options.unknown(Some(UnknownOrigin::Allow)),
        }
    }

    fn judge(
        &self,
        snapshot: &Snapshot,
        agents: &[Agent],
        options: JudgeOptions,
        own: Option<&OwnLists>,
    ) -> robosieve::Result<Judge> {
        let judge = Judge::new(snapshot, agents, options);
        let judge = match &self.snapshot {
            Some(path) => judge.map_err(|err| err.at(path))?,
            None => judge?,
        };
        Ok(match own {
            Some(own) => judge.with_lists(own.lists.clone()),
            None => judge,
        })
    }

    fn judged_by(&self, own: Option<&OwnLists>) -> JudgedBy {
        JudgedBy {
            has_snapshot: self.snapshot.is_some(),
            lists: own.map(|own| own.names().map(str::to_owned).collect()),
        }
    }

    /// Opens the snapshot, and verifies as much of it as the action reads.
    fn open_snapshot(&self, path: &Path, action: &Action) -> anyhow::Result<Snapshot> {
        let snapshot = Snapshot::open(path)?;
        if action.reads_texts() {
            self.verify.all(&snapshot, path)?;
        } else {
            self.verify.judging(&snapshot, path)?;
        }
        Ok(snapshot)
    }

    fn resolve_agents(
        &self,
        snapshot: &Snapshot,
        path: &Path,
        quiet: bool,
    ) -> anyhow::Result<SelectedAgents> {
        let args = &self.judge.agents;
        let selected = args.resolve_with_sets(quiet)?;
        args.check_spelling_in(&selected.agents, [(snapshot, path)])?;
        self.inputs
            .inputs
            .iter()
            .try_for_each(|input| args.refuse_agent_as_input(input))?;
        Ok(selected)
    }

    /// A guard with all files that are read, except the inputs.
    fn overwrite_guard(&self, own: Option<&OwnLists>) -> OptionGuard {
        let guard = self
            .judge
            .agents
            .overwrite_guard()
            .add_inputs("the snapshot", &self.snapshot);
        let guard = match own {
            Some(own) => own.guard(guard),
            None => guard,
        };
        guard.add_inputs("--files-from", &self.inputs.files_from)
    }

    fn refuse_overwriting(
        &self,
        inputs: &[PathBuf],
        paths: &JobPaths,
        own: Option<&OwnLists>,
    ) -> anyhow::Result<()> {
        let mut guard = self.overwrite_guard(own).add_inputs("an input", inputs);
        if paths.main.is_none() {
            guard = guard.add_stdout()?;
        }
        paths
            .named()
            .try_for_each(|(output, path)| guard.add_output(paths.option_of(output), path))?;
        self.stats.refuse_overwriting(&mut guard)
    }
}

/// A snapshot without origins, for runs in which only lists decide.
fn empty_snapshot() -> robosieve::Result<Snapshot> {
    let snapshot = Snapshot::new(Compiler::default().finish()?.to_vec()?)?;
    // It was made here, so nothing in it can be damaged.
    snapshot.assume_verified();
    Ok(snapshot)
}
