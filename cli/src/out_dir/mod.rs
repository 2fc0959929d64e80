//! `--out-dir`: one job per input, several at once; `--resume` skips the complete ones.
//!
//! [`OutDirArgs::run`] is the whole run. Its stages are the modules, in this order, and each hands
//! its struct to the next: `plan` names the outputs, `state` skips complete files, `process` judges
//! the others and has `state` commit each, and `summary` adds up the results.

mod plan;
mod process;
mod state;
mod summary;

pub(crate) use process::FileProcessor;
pub(crate) use state::RunIdentity;

use crate::help_text::MANY_FILES;
use crate::inputs::InputArgs;
use crate::judge_job::JobPaths;
use crate::option_guard::OptionGuard;
use crate::progress::Progress;
use anyhow::bail;
use clap::Args;
use state::Todo;
use std::path::{Path, PathBuf};
use summary::BatchSummary;

// One output per input.
#[derive(Debug, Args)]
pub(crate) struct OutDirArgs {
    /// Write one output per input here
    ///
    /// An output has the name of its input; annotations of pages.warc.gz are named
    /// pages.warc.tsv.gz. The directory is created if needed. The matches of a glob such as
    /// 'part/**/*.parquet' keep their directories below `part`. If two inputs have the same name, all
    /// inputs keep their directories.
    #[arg(long, value_name = "DIR", help_heading = MANY_FILES)]
    pub out_dir: Option<PathBuf>,
    /// With --out-dir, skip inputs whose outputs are complete
    ///
    /// An output is complete if the same input, snapshot, options and version produced it.
    #[arg(long, help_heading = MANY_FILES)]
    pub resume: bool,
}

impl OutDirArgs {
    /// The directory of `--out-dir`.
    ///
    /// # Errors
    /// If options contradict each other.
    pub(crate) fn dir(&self, output: Option<&Path>) -> anyhow::Result<Option<&Path>> {
        if self.out_dir.is_some() && output.is_some() {
            bail!(
                "-o names one output for all inputs and --out-dir one per input; leave one of them \
                 out"
            );
        }
        if self.resume && self.out_dir.is_none() {
            bail!("--resume needs --out-dir DIR: only an output per input can be skipped");
        }
        Ok(self.out_dir.as_deref())
    }

    /// Processes the inputs of this shard, with `--resume` only the incomplete ones, into outputs
    /// in `dirs`. `guard` has the other files that the run reads. A file that fails stops no other;
    /// the summary lists it.
    pub(crate) fn run(
        &self,
        processor: &FileProcessor<'_>,
        inputs: &InputArgs,
        dirs: &JobPaths,
        guard: OptionGuard,
        quiet: bool,
    ) -> anyhow::Result<BatchSummary> {
        let files = plan::plan(&processor.task.action, inputs, dirs, guard, quiet)?;
        let todo = match self.resume {
            true => Todo::incomplete(files, &processor.identity, quiet),
            false => Todo::all(files),
        };
        let bytes = todo.files.iter().map(|file| file.size).sum();
        let progress = Progress::of_files(bytes, todo.files.len() as u64, quiet);
        let results = processor.process_all(&todo, &progress);
        progress.finish();
        Ok(BatchSummary::new(todo, results, progress.elapsed()))
    }
}
