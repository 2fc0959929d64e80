//! The summary of a run over many files.

use super::plan::FileJob;
use crate::error_advice::message;
use crate::figures::counts::{counted, counted_as, grouped};
use crate::figures::escape::escape;
use crate::stderr::print_line;
use crate::summary::{counts, print_filter};
use anyhow::bail;
use robosieve::job::FilterStats;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// The counts of all files as JSON: the numbers of files, and the counts of lines, also of skipped
/// files.
impl Serialize for BatchSummary {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Counts<'s> {
            files: usize,
            done: usize,
            skipped: usize,
            failures: &'s [String],
            #[serde(flatten)]
            lines: FilterStats,
        }
        let counts = Counts {
            files: self.files,
            done: self.done,
            skipped: self.skipped,
            failures: &self.failures,
            lines: self.all(),
        };
        counts.serialize(to)
    }
}

/// The counts of this run and of skipped files, and the failures.
pub(crate) struct BatchSummary {
    files: usize,
    done: usize,
    skipped: usize,
    pub stats: FilterStats,
    skipped_stats: FilterStats,
    /// The reasons for which `--resume` processes files, with the number of files and the first.
    todo: Vec<(&'static str, usize, String)>,
    failures: Vec<String>,
    pub elapsed: Duration,
}

impl BatchSummary {
    pub(super) fn new(files: usize) -> Self {
        Self {
            files,
            done: 0,
            skipped: 0,
            stats: FilterStats::default(),
            skipped_stats: FilterStats::default(),
            todo: Vec::new(),
            failures: Vec::new(),
            elapsed: Duration::ZERO,
        }
    }

    pub(super) fn skip(&mut self, stats: &FilterStats) {
        self.skipped += 1;
        self.skipped_stats.add(stats);
    }

    pub(super) fn skipped(&self) -> usize {
        self.skipped
    }

    pub(super) fn redo(&mut self, file: &FileJob, reason: &'static str) {
        match self.todo.iter_mut().find(|(other, ..)| *other == reason) {
            Some((_, number, _)) => *number += 1,
            None => self
                .todo
                .push((reason, 1, file.input.display().to_string())),
        }
    }

    pub(super) fn add(&mut self, file: &FileJob, result: anyhow::Result<FilterStats>) {
        match result {
            Ok(stats) => {
                self.done += 1;
                self.stats.add(&stats);
            }
            Err(err) => {
                let message = message(&err);
                let name = file.input.display().to_string();
                let named = message.contains(&name);
                self.failures.push(if named {
                    message
                } else {
                    format!("{name}: {message}")
                });
            }
        }
    }

    /// Prints how many files `--resume` skips, how many it processes, and for which reasons.
    pub(super) fn print_resume(&self) {
        let todo = self.files - self.skipped;
        print_line(format_args!(
            "resume: {} of {} complete and skipped, {todo} to do",
            self.skipped,
            counted_as(self.files as u64, "file is", "files are")
        ));
        for (reason, number, first) in &self.todo {
            let more = if *number > 1 { " and others" } else { "" };
            print_line(format_args!(
                "  {reason:<26}{:>14}  {}{more}",
                grouped(*number as u64),
                escape(first)
            ));
        }
    }

    /// The counts of all files, including skipped ones.
    pub(crate) fn all(&self) -> FilterStats {
        let mut all = self.stats.clone();
        all.add(&self.skipped_stats);
        all
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
            print_line(format_args!("{}", counts("together: ", &self.all())));
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
