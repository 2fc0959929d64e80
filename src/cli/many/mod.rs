//! `--out-dir`: one job for each input, several side by side, and a rerun that skips what is complete.

mod plan;
mod state;
mod summary;

pub(crate) use state::Identity;
pub(crate) use summary::Summary;

use super::inputs::InputArgs;
use super::job;
use super::overlap::Files;
use super::progress::Progress;
use super::signals;
use super::task::{Places, Task};
use anyhow::bail;
use clap::Args;
use plan::FileJob;
use robosieve::{FilterStats, Judge, ParquetInput};
use state::{Fingerprint, State};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

// One output for each input.
#[derive(Debug, Args)]
pub(crate) struct ManyArgs {
    /// Write one output for each input into this directory, under the input's name; made if it is
    /// not there. The inputs of a glob like 'part/**/*.parquet' keep their directories below
    /// 'part'; all inputs do if two have the same name
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// With --out-dir: skip the inputs whose outputs are complete, made by the same snapshot and options
    #[arg(long)]
    pub resume: bool,
}

impl ManyArgs {
    /// The directory, if there is to be one output for each input.
    pub(crate) fn dir(&self, output: Option<&Path>) -> anyhow::Result<Option<&Path>> {
        if self.out_dir.is_some() && output.is_some() {
            bail!("-o names one output for all inputs and --out-dir one for each; leave one of them out");
        }
        if self.resume && self.out_dir.is_none() {
            bail!("--resume needs --out-dir DIR: only files of their own can be complete or not");
        }
        Ok(self.out_dir.as_deref())
    }
}

/// What all jobs of a run share.
pub(crate) struct Many<'r> {
    pub task: Task,
    pub judge: &'r Judge,
    /// The directories of the outputs.
    pub dirs: Places,
    /// What the outputs follow from, beside the input.
    pub identity: Identity,
    pub quiet: bool,
}

/// How many files are complete, for the last line of a run that a signal ends.
struct Complete {
    complete: AtomicUsize,
    files: usize,
}

impl Complete {
    fn new(skipped: usize, todo: usize) -> Self {
        let complete = Self { complete: AtomicUsize::new(skipped), files: skipped + todo };
        complete.note(skipped);
        complete
    }

    fn add(&self) {
        self.note(self.complete.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn note(&self, complete: usize) {
        let files = self.files;
        signals::set_kept(format!(
            "{complete} of {files} files are complete; the same command with --resume does the others"
        ));
    }
}

impl Many<'_> {
    /// Does all inputs of this shard, or those that are not complete. A file that fails is told in the end and stops no other.
    pub(crate) fn run(&self, from: &InputArgs, reads: Files, resume: bool) -> anyhow::Result<Summary> {
        // Every shard refuses what does not go together, so that runs side by side do not write over each other.
        let files = from.part(plan::plan(from.all_located(self.quiet)?, &self.dirs, reads)?);
        plan::make_dirs(&files, &self.dirs)?;
        let mut summary = Summary::new(files.len());
        let todo = if resume { self.not_complete(files, &mut summary) } else { files };
        let bytes = todo.iter().map(|file| file.size).sum();
        let progress = Progress::of_files(bytes, todo.len() as u64, self.quiet);
        let complete = Complete::new(summary.skipped(), todo.len());
        for (file, result) in self.all(todo, &progress, &complete) {
            summary.add(&file, result);
        }
        progress.finish();
        summary.elapsed = progress.elapsed();
        Ok(summary)
    }

    fn not_complete(&self, files: Vec<FileJob>, summary: &mut Summary) -> Vec<FileJob> {
        let mut todo = Vec::new();
        for file in files {
            match state::complete(&file, &self.identity) {
                Ok(stats) => summary.skip(&stats),
                Err(why) => {
                    summary.redo(&file, why);
                    todo.push(file);
                }
            }
        }
        if !self.quiet {
            summary.print_resume();
        }
        todo
    }

    /// Does the files, and gives what came of each, in their order.
    ///
    /// Every thread of the pool takes one file after the other, and within a file the pipeline spawns a worker for each thread:
    /// a thread that finds no more files takes up workers of the others' files. The largest begin first, so that there is no
    /// large one left when the others are done. No lock is held while a file is done: a thread that waits for the workers of
    /// its file may work on another one meanwhile.
    fn all(
        &self,
        files: Vec<FileJob>,
        progress: &Progress,
        complete: &Complete,
    ) -> Vec<(FileJob, anyhow::Result<FilterStats>)> {
        // Parquet files spread over all threads by their own way, so they are done one after the other.
        let is_table = |i: &usize| ParquetInput::is_parquet(&files[*i].input);
        let (tables, mut order): (Vec<usize>, Vec<usize>) = (0..files.len()).partition(is_table);
        order.sort_by_key(|&i| Reverse(files[i].size));
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        rayon::broadcast(|_| {
            while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = self.list(&files[i], progress).inspect(|_| complete.add());
                results.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
                progress.file_done();
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        for i in tables {
            results.push((i, self.table(&files[i], progress).inspect(|_| complete.add())));
            progress.file_done();
        }
        results.sort_by_key(|(i, _)| *i);
        files.into_iter().zip(results).map(|(file, (_, result))| (file, result)).collect()
    }

    fn list(&self, file: &FileJob, progress: &Progress) -> anyhow::Result<FilterStats> {
        self.one(file, progress, || State::forget(&file.state))
    }

    /// A Parquet file, whose outputs appear as soon as they are written.
    fn table(&self, file: &FileJob, progress: &Progress) -> anyhow::Result<FilterStats> {
        State::forget(&file.state)?;
        self.one(file, progress, || Ok(()))
    }

    /// Does a file; `before_commit` is called when its outputs are written.
    fn one(
        &self,
        file: &FileJob,
        progress: &Progress,
        before_commit: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<FilterStats> {
        // Looked at before it is read: if it changes meanwhile, a rerun sees another.
        let input = Fingerprint::of(file)?;
        let read = AtomicU64::new(0);
        let advance = |to: u64| progress.add(to.saturating_sub(read.swap(to, Ordering::Relaxed)));
        let written = job::write(&self.task, self.judge, std::slice::from_ref(&file.input), &file.places, &advance)
            .inspect_err(
                // What is not read of it is not to be waited for.
                |_| advance(file.size),
            )?;
        advance(file.size);
        before_commit()?;
        let stats = written.commit()?;
        State::new(file, &self.identity, input, &stats)?.write(&file.state)?;
        Ok(stats)
    }
}
