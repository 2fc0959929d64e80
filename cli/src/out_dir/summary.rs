//! The summary of a run over many files.

use super::state::Todo;
use crate::error_advice::message;
use crate::figures::counts::counted;
use crate::figures::escape::escape;
use crate::stderr::print_line;
use crate::summary::{JudgedBy, RunCounts, counts, print_filter, print_listed};
use anyhow::bail;
use robosieve::job::FilterStats;
use serde::Serialize;
use std::time::Duration;

/// The counts of this run and of skipped files, and the failures.
pub(crate) struct BatchSummary {
    files: usize,
    done: usize,
    skipped: usize,
    failures: Vec<String>,
    /// The counts of all files, including skipped ones.
    pub all: FilterStats,
    stats: FilterStats,
    skipped_stats: FilterStats,
    elapsed: Duration,
}

/// The numbers of files, and the counts of lines, also of skipped files, as JSON.
#[derive(Serialize)]
pub(crate) struct BatchCounts<'s> {
    files: usize,
    done: usize,
    skipped: usize,
    failures: &'s [String],
    #[serde(flatten)]
    all: RunCounts<'s>,
}

impl BatchSummary {
    /// Adds up the results, which are in the order of the files.
    pub(super) fn new(
        todo: Todo,
        results: Vec<anyhow::Result<FilterStats>>,
        elapsed: Duration,
    ) -> Self {
        let mut stats = FilterStats::default();
        let mut failures = Vec::new();
        for (file, result) in todo.files.iter().zip(results) {
            match result {
                Ok(of_file) => stats.add(&of_file),
                Err(err) => {
                    let name = file.input.display().to_string();
                    let message = message(&err);
                    failures.push(match message.contains(&name) {
                        true => message,
                        false => format!("{name}: {message}"),
                    });
                }
            }
        }
        let mut all = stats.clone();
        all.add(&todo.skipped_stats);
        Self {
            files: todo.skipped + todo.files.len(),
            done: todo.files.len() - failures.len(),
            skipped: todo.skipped,
            failures,
            all,
            stats,
            skipped_stats: todo.skipped_stats,
            elapsed,
        }
    }

    pub(crate) fn counts(&self, by: &JudgedBy) -> BatchCounts<'_> {
        BatchCounts {
            files: self.files,
            done: self.done,
            skipped: self.skipped,
            failures: &self.failures,
            all: by.counts(&self.all),
        }
    }

    pub(crate) fn print(&self, by: &JudgedBy) {
        let failed = self.failures.len();
        print_line(format_args!(
            "files {}  done {}  skipped {}  failed {failed}",
            self.files, self.done, self.skipped
        ));
        print_filter(&self.stats, by, self.elapsed);
        if self.skipped > 0 {
            print_line(format_args!(
                "{}",
                counts("skipped files: ", &self.skipped_stats, by)
            ));
            print_line(format_args!("{}", counts("together: ", &self.all, by)));
            print_listed(&self.all, by);
        }
    }

    /// Prints every failure; an error if there is any.
    pub(crate) fn result(&self) -> anyhow::Result<()> {
        if self.failures.is_empty() {
            return Ok(());
        }
        for failure in &self.failures {
            print_line(format_args!("robosieve: {}", escape(failure)));
        }
        bail!(
            "{} of {} failed, see above; the others are complete. After fixing the cause, the same \
             command with --resume processes only the missing files",
            self.failures.len(),
            counted(self.files as u64, "file")
        )
    }
}
