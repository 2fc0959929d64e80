//! The summary of a run over many files.

use super::state::Todo;
use crate::error_advice::message;
use crate::figures::counts::counted;
use crate::figures::escape::escape;
use crate::stderr::print_line;
use crate::summary::{counts, print_filter};
use anyhow::bail;
use robosieve::job::FilterStats;
use serde::Serialize;
use std::time::Duration;

/// The counts of this run and of skipped files, and the failures. As JSON: the numbers of files, and
/// the counts of lines, also of skipped files.
#[derive(Serialize)]
pub(crate) struct BatchSummary {
    files: usize,
    done: usize,
    skipped: usize,
    failures: Vec<String>,
    /// The counts of all files, including skipped ones.
    #[serde(flatten)]
    pub all: FilterStats,
    #[serde(skip)]
    stats: FilterStats,
    #[serde(skip)]
    skipped_stats: FilterStats,
    #[serde(skip)]
    elapsed: Duration,
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

    pub(crate) fn print(&self) {
        let failed = self.failures.len();
        print_line(format_args!(
            "files {}  done {}  skipped {}  failed {failed}",
            self.files, self.done, self.skipped
        ));
        print_filter(&self.stats, self.elapsed);
        if self.skipped > 0 {
            print_line(format_args!(
                "{}",
                counts("skipped files: ", &self.skipped_stats)
            ));
            print_line(format_args!("{}", counts("together: ", &self.all)));
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
