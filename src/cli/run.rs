//! What `filter` and `annotate` share: a judge, one job or one for each input, and the summary.

use super::inputs::InputArgs;
use super::job;
use super::judging::JudgeArgs;
use super::many::{Identity, Many, ManyArgs};
use super::overlap::Files;
use super::progress::Progress;
use super::snapshot::VerifyArgs;
use super::summary::print_filter;
use super::task::{Places, Task, What};
use robosieve::{Agent, FilterStats, Judge, Snapshot};
use std::path::{Path, PathBuf};

/// What is judged by what, and how it is asked for.
pub(crate) struct Run<'a> {
    pub snapshot: &'a Path,
    pub verify: &'a VerifyArgs,
    pub judge: &'a JudgeArgs,
    pub many: &'a ManyArgs,
    pub from: &'a InputArgs,
    pub task: Task,
    /// The outputs, or with `--out-dir` their directories.
    pub places: Places,
    pub quiet: bool,
}

impl Run<'_> {
    /// Does it, and sums it up; `more` prints what the verb has to say beside.
    pub(crate) fn perform(self, more: impl FnOnce(&FilterStats, &[Agent])) -> anyhow::Result<()> {
        let snapshot = Snapshot::open(self.snapshot)?;
        match &self.task.what {
            What::Annotate(annotation) if annotation.preferences => self.verify.all(&snapshot, self.snapshot)?,
            _ => self.verify.judging(&snapshot, self.snapshot)?,
        }
        let who = &self.judge.who;
        let agents = who.agents(self.quiet)?;
        who.check_in(&agents, [(&snapshot, self.snapshot)])?;
        self.from.inputs.iter().try_for_each(|input| who.refuse_agent_as_input(input))?;
        let options = self.judge.options();
        let judge = Judge::new(&snapshot, &agents, options)?;
        if self.many.out_dir.is_some() {
            let reads = self.reads();
            let Self { from, task, places, quiet, .. } = self;
            let identity = Identity::new(&snapshot, &agents, &options, &task);
            let many = Many { task, judge: &judge, dirs: places, identity, quiet };
            let summary = many.run(from, reads, self.many.resume)?;
            if !quiet {
                summary.print();
                more(&summary.all(), &agents);
            }
            return summary.result();
        }
        // Other shards may be read meanwhile, so their inputs too are none to write over.
        let inputs = self.from.all(self.quiet)?;
        self.refuse_overlap(&inputs)?;
        let Self { from, task, places, quiet, .. } = self;
        let inputs = from.part(inputs);
        let progress = Progress::of_inputs(&inputs, quiet);
        let stats = job::write(&task, &judge, &inputs, &places, &|read| progress.set(read))?.commit()?;
        progress.finish();
        if !quiet {
            print_filter(&stats, progress.elapsed());
            more(&stats, &agents);
        }
        Ok(())
    }

    /// What is read, but for the inputs.
    fn reads(&self) -> Files {
        self.judge.who.reads().reads("the snapshot", [self.snapshot]).reads("--files-from", &self.from.files_from)
    }

    fn refuse_overlap(&self, inputs: &[PathBuf]) -> anyhow::Result<()> {
        let mut files = self.reads().reads("an input", inputs);
        if self.places.main.is_none() {
            files = files.and_stdout()?;
        }
        self.places.named().try_for_each(|(part, path)| files.writes(self.places.option_of(part), path))
    }
}
