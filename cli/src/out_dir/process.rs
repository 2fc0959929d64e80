//! The processing of the files of `--out-dir`, several at once.

use super::plan::FileJob;
use super::state::{self, InputFingerprint, RunIdentity, Todo};
use crate::figures::counts::counted_as;
use crate::judge_job::{self, JudgeTask};
use crate::progress::Progress;
use crate::signals;
use robosieve::Judge;
use robosieve::job::{FilterStats, Input};
use std::cmp::Reverse;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The parts that all jobs of a run share.
pub(crate) struct FileProcessor<'r> {
    pub task: JudgeTask,
    pub judge: &'r Judge,
    /// The file of its snapshot, if it has one.
    pub snapshot: Option<&'r Path>,
    /// Everything besides the input that determines the outputs.
    pub identity: RunIdentity,
}

impl FileProcessor<'_> {
    /// Processes the files, and returns their results in input order.
    ///
    /// Every thread of the pool takes one file after the other. Within a file, the pipeline spawns
    /// one worker per thread, so a thread without a file runs workers of the other files. The
    /// largest files start first, so that no large file is left to one thread at the end. No lock
    /// is held while a file is processed: a thread that waits for the workers of its file may run
    /// another file in the meantime.
    pub(super) fn process_all(
        &self,
        todo: &Todo,
        progress: &Progress,
    ) -> Vec<anyhow::Result<FilterStats>> {
        let files = &todo.files;
        let complete = AtomicUsize::new(todo.skipped);
        set_output_state(todo.skipped, todo);
        let results: Vec<OnceLock<_>> = files.iter().map(|_| OnceLock::new()).collect();
        let process_at = |i: usize| {
            let result = self.process(&files[i], progress);
            if result.is_ok() {
                set_output_state(complete.fetch_add(1, Ordering::Relaxed) + 1, todo);
            }
            progress.file_done();
            let _ = results[i].set(result);
        };
        // A file that keeps all threads busy is processed alone.
        let (alone, mut order): (Vec<usize>, Vec<usize>) =
            (0..files.len()).partition(|i| uses_all_threads(&files[*i]));
        order.sort_by_key(|&i| Reverse(files[i].size));
        let next = AtomicUsize::new(0);
        rayon::broadcast(|_| {
            while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                process_at(i);
            }
        });
        alone.into_iter().for_each(process_at);
        results
            .into_iter()
            .map(|result| result.into_inner().expect("every file was processed"))
            .collect()
    }

    fn process(&self, file: &FileJob, progress: &Progress) -> anyhow::Result<FilterStats> {
        // The fingerprint is taken first: if the file changes while it is read, a rerun notices.
        let input = InputFingerprint::of(file)?;
        let read = AtomicU64::new(0);
        let advance = |to: u64| progress.add(to.saturating_sub(read.swap(to, Ordering::Relaxed)));
        let inputs = std::slice::from_ref(&file.input);
        let written = judge_job::write(
            &self.task,
            self.judge,
            self.snapshot,
            inputs,
            &file.paths,
            &advance,
        );
        // After an error too: the progress bar must not wait for the unread rest.
        advance(file.size);
        state::commit(file, &self.identity, input, written?)
    }
}

/// Whether the input keeps all threads busy. The error of one that cannot be opened is that of its
/// job.
fn uses_all_threads(file: &FileJob) -> bool {
    Input::open(&file.input).is_ok_and(|input| input.uses_all_threads())
}

/// Sets the last line of an interrupted run.
fn set_output_state(complete: usize, todo: &Todo) {
    let files = (todo.skipped + todo.files.len()) as u64;
    signals::set_output_state(format!(
        "{complete} of {} complete; the same command with --resume does the others",
        counted_as(files, "file is", "files are")
    ));
}
