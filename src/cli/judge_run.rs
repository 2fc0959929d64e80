//! The run that `filter` and `annotate` share: open and verify the snapshot, judge one job or one
//! per input, print the summary.

use super::inputs::InputArgs;
use super::judge_args::JudgeArgs;
use super::judge_job;
use super::judge_task::{Action, JudgeTask, OutputPaths};
use super::option_guard::OptionGuard;
use super::out_dir::{OutDirArgs, OutDirRun, RunIdentity};
use super::progress::Progress;
use super::summary::print_filter;
use super::verify_args::VerifyArgs;
use robosieve::filter::FilterStats;
use robosieve::{Agent, Judge, Snapshot};
use std::path::{Path, PathBuf};

/// The arguments of a run.
pub(crate) struct JudgeRun<'a> {
    pub snapshot: &'a Path,
    pub verify: &'a VerifyArgs,
    pub judge: &'a JudgeArgs,
    pub out_dir: &'a OutDirArgs,
    pub inputs: &'a InputArgs,
    pub task: JudgeTask,
    /// The outputs, or with `--out-dir` their directories.
    pub paths: OutputPaths,
    pub quiet: bool,
}

impl JudgeRun<'_> {
    /// Runs the task and prints its summary; `print_more` adds the lines of the verb.
    pub(crate) fn perform(
        self,
        print_more: impl FnOnce(&FilterStats, &[Agent]),
    ) -> anyhow::Result<()> {
        let snapshot = Snapshot::open(self.snapshot)?;
        match &self.task.action {
            Action::Annotate(annotation) if annotation.preferences => {
                self.verify.all(&snapshot, self.snapshot)?
            }
            _ => self.verify.judging(&snapshot, self.snapshot)?,
        }
        let agent_args = &self.judge.agents;
        let agents = agent_args.resolve(self.quiet)?;
        agent_args.check_spelling_in(&agents, [(&snapshot, self.snapshot)])?;
        self.inputs
            .inputs
            .iter()
            .try_for_each(|input| agent_args.refuse_agent_as_input(input))?;
        let options = self.judge.options();
        let judge = Judge::new(&snapshot, &agents, options)?;
        if self.out_dir.out_dir.is_some() {
            let guard = self.overwrite_guard();
            let Self {
                inputs,
                task,
                paths,
                quiet,
                ..
            } = self;
            let identity = RunIdentity::new(&snapshot, &agents, &options, &task);
            let run = OutDirRun {
                task,
                judge: &judge,
                dirs: paths,
                identity,
                quiet,
            };
            let summary = run.run(inputs, guard, self.out_dir.resume)?;
            if !quiet {
                summary.print();
                print_more(&summary.all(), &agents);
            }
            return summary.result();
        }
        // Other shards may be read at the same time, so their inputs are protected too.
        let inputs = self.inputs.all(self.quiet)?;
        self.refuse_overwriting(&inputs)?;
        let Self {
            inputs: input_args,
            task,
            paths,
            quiet,
            ..
        } = self;
        let inputs = input_args.part(inputs);
        let progress = Progress::of_inputs(&inputs, quiet);
        let stats = judge_job::write(&task, &judge, &inputs, &paths, &|read| progress.set(read))?
            .commit()?;
        progress.finish();
        if !quiet {
            print_filter(&stats, progress.elapsed());
            print_more(&stats, &agents);
        }
        Ok(())
    }

    /// A guard with all files that are read, except the inputs.
    fn overwrite_guard(&self) -> OptionGuard {
        let guard = self
            .judge
            .agents
            .overwrite_guard()
            .add_inputs("the snapshot", [self.snapshot]);
        guard.add_inputs("--files-from", &self.inputs.files_from)
    }

    fn refuse_overwriting(&self, inputs: &[PathBuf]) -> anyhow::Result<()> {
        let mut guard = self.overwrite_guard().add_inputs("an input", inputs);
        if self.paths.main.is_none() {
            guard = guard.add_stdout()?;
        }
        self.paths
            .named()
            .try_for_each(|(output, path)| guard.add_output(self.paths.option_of(output), path))
    }
}
