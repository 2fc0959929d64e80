//! `--out-dir`: one job per input, several at once; `--resume` skips the complete ones.

mod plan;
mod state;
mod summary;

pub(crate) use state::RunIdentity;
pub(crate) use summary::BatchSummary;

use crate::figures::counts::counted_as;
use crate::help_text::MANY_FILES;
use crate::inputs::InputArgs;
use crate::judge_job::{self, JobPaths, JudgeTask};
use crate::option_guard::OptionGuard;
use crate::progress::Progress;
use crate::signals;
use anyhow::bail;
use clap::Args;
use plan::FileJob;
use robosieve::Judge;
use robosieve::job::{FilterStats, Input};
use state::{InputFingerprint, ResumeState};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

// One output per input.
#[derive(Debug, Args)]
pub(crate) struct OutDirArgs {
    /// Write one output per input here
    ///
    /// An output has the name of its input. The directory is created if needed. The matches of a
    /// glob such as 'part/**/*.parquet' keep their directories below `part`. If two inputs have the
    /// same name, all inputs keep their directories.
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
}

/// The parts that all jobs of a run share.
pub(crate) struct OutDirRun<'r> {
    pub task: JudgeTask,
    pub judge: &'r Judge,
    /// The directories of the outputs.
    pub dirs: JobPaths,
    /// Everything besides the input that determines the outputs.
    pub identity: RunIdentity,
    pub quiet: bool,
}

/// Counts complete files, for the last line of an interrupted run.
struct CompletionCounter {
    complete: AtomicUsize,
    files: usize,
}

impl CompletionCounter {
    fn new(skipped: usize, todo: usize) -> Self {
        let complete = Self {
            complete: AtomicUsize::new(skipped),
            files: skipped + todo,
        };
        complete.publish(skipped);
        complete
    }

    fn add(&self) {
        self.publish(self.complete.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn publish(&self, complete: usize) {
        let files = counted_as(self.files as u64, "file is", "files are");
        signals::set_output_state(format!(
            "{complete} of {files} complete; the same command with --resume does the others"
        ));
    }
}

impl OutDirRun<'_> {
    /// Processes the inputs of this shard, with `resume` only the incomplete ones. A file that
    /// fails stops no other; the summary lists it.
    pub(crate) fn run(
        &self,
        input_args: &InputArgs,
        guard: OptionGuard,
        resume: bool,
    ) -> anyhow::Result<BatchSummary> {
        // Every shard checks the outputs of all shards, so that concurrent runs do not overwrite
        // each other.
        let files = input_args.part(plan::plan(
            input_args.all_located(self.quiet)?,
            &self.dirs,
            guard,
        )?);
        plan::make_dirs(&files, &self.dirs)?;
        let mut summary = BatchSummary::new(files.len());
        let todo = if resume {
            self.incomplete(files, &mut summary)
        } else {
            files
        };
        let bytes = todo.iter().map(|file| file.size).sum();
        let progress = Progress::of_files(bytes, todo.len() as u64, self.quiet);
        let complete = CompletionCounter::new(summary.skipped(), todo.len());
        for (file, result) in self.process_all(todo, &progress, &complete) {
            summary.add(&file, result);
        }
        progress.finish();
        summary.elapsed = progress.elapsed();
        Ok(summary)
    }

    fn incomplete(&self, files: Vec<FileJob>, summary: &mut BatchSummary) -> Vec<FileJob> {
        let mut todo = Vec::new();
        for file in files {
            match state::complete(&file, &self.identity) {
                Ok(stats) => summary.skip(&stats),
                Err(reason) => {
                    summary.redo(&file, reason);
                    todo.push(file);
                }
            }
        }
        if !self.quiet {
            summary.print_resume();
        }
        todo
    }

    /// Processes the files, and returns their results in input order.
    ///
    /// Every thread of the pool takes one file after the other. Within a file, the pipeline spawns
    /// one worker per thread, so a thread without a file runs workers of the other files. The
    /// largest files start first, so that no large file is left to one thread at the end. No lock
    /// is held while a file is processed: a thread that waits for the workers of its file may run
    /// another file in the meantime.
    fn process_all(
        &self,
        files: Vec<FileJob>,
        progress: &Progress,
        complete: &CompletionCounter,
    ) -> Vec<(FileJob, anyhow::Result<FilterStats>)> {
        // A file that keeps all threads busy is processed alone.
        let (alone, mut order): (Vec<usize>, Vec<usize>) =
            (0..files.len()).partition(|i| uses_all_threads(&files[*i]));
        order.sort_by_key(|&i| Reverse(files[i].size));
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        rayon::broadcast(|_| {
            while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = self
                    .process(&files[i], progress)
                    .inspect(|_| complete.add());
                results
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((i, result));
                progress.file_done();
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        for i in alone {
            let result = self.process(&files[i], progress);
            results.push((i, result.inspect(|_| complete.add())));
            progress.file_done();
        }
        results.sort_by_key(|(i, _)| *i);
        files
            .into_iter()
            .zip(results)
            .map(|(file, (_, result))| (file, result))
            .collect()
    }

    fn process(&self, file: &FileJob, progress: &Progress) -> anyhow::Result<FilterStats> {
        // The fingerprint is taken first: if the file changes while it is read, a rerun notices.
        let input = InputFingerprint::of(file)?;
        let read = AtomicU64::new(0);
        let advance = |to: u64| progress.add(to.saturating_sub(read.swap(to, Ordering::Relaxed)));
        let written = judge_job::write(
            &self.task,
            self.judge,
            std::slice::from_ref(&file.input),
            &file.paths,
            &advance,
        )
        .inspect_err(
            // The progress bar must not wait for the unread rest.
            |_| advance(file.size),
        )?;
        advance(file.size);
        ResumeState::forget(&file.state)?;
        let stats = written.commit()?;
        ResumeState::new(file, &self.identity, input, &stats)?.write(&file.state)?;
        Ok(stats)
    }
}

/// Whether the input keeps all threads busy. The error of one that cannot be opened is that of its
/// job.
fn uses_all_threads(file: &FileJob) -> bool {
    Input::open(&file.input).is_ok_and(|input| input.uses_all_threads())
}
