//! The run that `filter` and `annotate` share: open and verify the snapshot, judge one job or one
//! per input, print the summary.

use crate::agent_args::SelectedAgents;
use crate::help_text::COMMON;
use crate::history_args::AsOfArgs;
use crate::inputs::InputArgs;
use crate::judge_args::JudgeArgs;
use crate::judge_job::{self, Action, JobPaths, JudgeTask};
use crate::option_guard::OptionGuard;
use crate::out_dir::{FileProcessor, OutDirArgs, RunIdentity};
use crate::output::OutputTarget;
use crate::progress::Progress;
use crate::record_args::{RecordArgs, RecordTimeArgs};
use crate::stats_json::{RunRecord, StatsArgs};
use crate::summary::print_filter;
use crate::verify_args::VerifyArgs;
use clap::Args;
use robosieve::job::FilterStats;
use robosieve::{Agent, Judge, Snapshot};
use std::path::PathBuf;

// The options of `filter` and `annotate` that do not depend on the verb.
#[derive(Debug, Args)]
pub(crate) struct JudgeRunArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: PathBuf,
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
        let snapshot = self.open_snapshot(&action)?;
        let selected = self.resolve_agents(&snapshot, quiet)?;
        let agents = &selected.agents;
        let record = RunRecord::new()
            .snapshot(&self.snapshot, &snapshot)?
            .agents(&selected);
        let options = self
            .judge
            .options()
            .as_of(self.time.as_of)
            .no_time(self.record_times.no_time);
        let judge = Judge::new(&snapshot, agents, options).map_err(|err| err.at(&self.snapshot))?;
        let task = JudgeTask {
            action,
            sets: record.sets_json(),
            records: self.record_times.add_to(self.records.options()),
        };
        if paths.of_directory {
            let identity = RunIdentity::new(&snapshot, agents, &options, &task);
            let processor = FileProcessor {
                task,
                judge: &judge,
                snapshot: &self.snapshot,
                identity,
            };
            let mut guard = self.overwrite_guard();
            self.stats.refuse_overwriting(&mut guard)?;
            let mut stats = self.stats.open()?;
            let inputs = &self.inputs;
            let summary = self.out_dir.run(&processor, inputs, &paths, guard, quiet)?;
            // Each file has appeared with its outputs; this has the counts of all.
            record.write(&summary, &mut stats)?;
            stats.map_or(Ok(()), OutputTarget::commit)?;
            if !quiet {
                summary.print();
                print_more(&summary.all, agents);
            }
            return summary.result();
        }
        // Other shards may be read at the same time, so their inputs are protected too.
        let inputs = self.inputs.all(quiet)?;
        self.refuse_overwriting(&inputs, &paths)?;
        let inputs = self.inputs.part(inputs);
        let progress = Progress::of_inputs(&inputs, quiet);
        let mut counts = self.stats.open()?;
        let written = judge_job::write(&task, &judge, &self.snapshot, &inputs, &paths, &|read| {
            progress.set(read)
        })?;
        record.write(written.stats(), &mut counts)?;
        let stats = written.commit_with(counts)?;
        progress.finish();
        if !quiet {
            print_filter(&stats, progress.elapsed());
            print_more(&stats, agents);
        }
        Ok(())
    }

    /// Opens the snapshot, and verifies as much of it as the action reads.
    fn open_snapshot(&self, action: &Action) -> anyhow::Result<Snapshot> {
        let snapshot = Snapshot::open(&self.snapshot)?;
        if action.reads_texts() {
            self.verify.all(&snapshot, &self.snapshot)?;
        } else {
            self.verify.judging(&snapshot, &self.snapshot)?;
        }
        Ok(snapshot)
    }

    fn resolve_agents(&self, snapshot: &Snapshot, quiet: bool) -> anyhow::Result<SelectedAgents> {
        let args = &self.judge.agents;
        let selected = args.resolve_with_sets(quiet)?;
        args.check_spelling_in(&selected.agents, [(snapshot, self.snapshot.as_path())])?;
        self.inputs
            .inputs
            .iter()
            .try_for_each(|input| args.refuse_agent_as_input(input))?;
        Ok(selected)
    }

    /// A guard with all files that are read, except the inputs.
    fn overwrite_guard(&self) -> OptionGuard {
        let guard = self
            .judge
            .agents
            .overwrite_guard()
            .add_inputs("the snapshot", [&self.snapshot]);
        guard.add_inputs("--files-from", &self.inputs.files_from)
    }

    fn refuse_overwriting(&self, inputs: &[PathBuf], paths: &JobPaths) -> anyhow::Result<()> {
        let mut guard = self.overwrite_guard().add_inputs("an input", inputs);
        if paths.main.is_none() {
            guard = guard.add_stdout()?;
        }
        paths
            .named()
            .try_for_each(|(output, path)| guard.add_output(paths.option_of(output), path))?;
        self.stats.refuse_overwriting(&mut guard)
    }
}
