//! Progress of long work on stderr: a bar on a terminal, otherwise a plain line every 30 seconds.

use crate::stderr::{print_line, set_bar};
use indicatif::{BinaryBytes, ProgressBar, ProgressStyle};
use std::fs::Metadata;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The interval between plain lines if stderr is not a terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(30);

pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    /// The time of the last plain line; `None` if none are printed.
    plain: Option<Mutex<Instant>>,
    start: Instant,
    /// The number of bytes, if known.
    total: Option<u64>,
    /// What the bytes belong to, if that is not the whole inputs: " of texts".
    part: &'static str,
    /// The number of files, if they are counted.
    files: Option<u64>,
    files_done: AtomicU64,
    position: AtomicU64,
    /// The step after reading, and its start.
    step: Mutex<Option<(&'static str, Instant)>>,
}

impl Progress {
    /// Counts the bytes of all inputs; the total is known if all are regular files.
    pub(crate) fn of_inputs(paths: &[PathBuf], quiet: bool) -> Self {
        Self::new(paths.iter().map(|path| file_length(path)).sum(), quiet)
    }

    /// Counts the bytes of all archives; the total is known if all are regular files or directories
    /// of them.
    pub(crate) fn of_archives(paths: &[PathBuf], quiet: bool) -> Self {
        Self::new(paths.iter().map(|path| archive_length(path)).sum(), quiet)
    }

    /// Counts bytes with a known total.
    pub(crate) fn of_bytes(total: u64, quiet: bool) -> Self {
        Self::new(Some(total), quiet)
    }

    /// Counts the bytes of a part of the inputs, such as " of texts". A reader would compare their
    /// total with the length of the file, so the part is named.
    pub(crate) fn of_part(total: u64, part: &'static str, quiet: bool) -> Self {
        let mut progress = Self::new(Some(total), quiet);
        progress.part = part;
        if let Some(bar) = &progress.bar {
            bar.set_message(part);
        }
        progress
    }

    /// Counts the bytes of files that are processed concurrently.
    pub(crate) fn of_files(bytes: u64, files: u64, quiet: bool) -> Self {
        let mut progress = Self::new(Some(bytes), quiet);
        progress.files = Some(files);
        progress.show_files();
        progress
    }

    fn new(total: Option<u64>, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet).then(|| new_bar(total));
        set_bar(bar.clone());
        let plain = (!terminal && !quiet).then(|| Mutex::new(Instant::now()));
        Self {
            bar,
            plain,
            start: Instant::now(),
            total,
            part: "",
            files: None,
            files_done: AtomicU64::new(0),
            position: AtomicU64::new(0),
            step: Mutex::default(),
        }
    }

    /// Sets the position.
    pub(crate) fn set(&self, position: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        }
        if let Some(Ok(mut last)) = self.plain.as_ref().map(Mutex::try_lock)
            && last.elapsed() >= PLAIN_INTERVAL
        {
            *last = Instant::now();
            print_line(format_args!("{}", self.plain_line(position)));
        }
    }

    fn plain_line(&self, position: u64) -> String {
        let total = self
            .total
            .map_or_else(String::new, |total| format!(" of {}", BinaryBytes(total)));
        let files = self.files_text();
        let seconds = self.elapsed().as_secs_f64();
        let rate = BinaryBytes((position as f64 / seconds.max(1e-9)) as u64);
        format!(
            "robosieve: {}{total}{}{files} after {seconds:.0} s, {rate}/s",
            BinaryBytes(position),
            self.part
        )
    }

    /// Advances the position; several threads may call it.
    pub(crate) fn add(&self, more: u64) {
        self.set(self.position.fetch_add(more, Ordering::Relaxed) + more);
    }

    /// Counts a finished file.
    pub(crate) fn file_done(&self) {
        self.files_done.fetch_add(1, Ordering::Relaxed);
        self.show_files();
    }

    /// Shows that the input is read, and the next step.
    pub(crate) fn end_of_input(&self, next: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.total.unwrap_or(bar.position()));
            bar.set_message(format!(", {next}"));
        }
    }

    /// Shows the share of a step after reading, and the time that is left.
    pub(crate) fn step(&self, name: &'static str, done: u64, total: u64) {
        let Ok(mut step) = self.step.try_lock() else {
            return;
        };
        let start = match *step {
            Some((current, start)) if current == name => start,
            _ => step.insert((name, Instant::now())).1,
        };
        let text = step_text(name, done, total, start.elapsed());
        if let Some(bar) = &self.bar {
            bar.set_message(format!(", {text}"));
        }
        if let Some(Ok(mut last)) = self.plain.as_ref().map(Mutex::try_lock)
            && last.elapsed() >= PLAIN_INTERVAL
        {
            *last = Instant::now();
            print_line(format_args!(
                "robosieve: {text}, after {:.0} s",
                self.elapsed().as_secs_f64()
            ));
        }
    }

    fn show_files(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message(self.files_text());
        }
    }

    fn files_text(&self) -> String {
        let done = self.files_done.load(Ordering::Relaxed);
        self.files
            .map_or_else(String::new, |files| format!(", {done} of {files} files"))
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            set_bar(None);
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Removes the bar if the work fails.
impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A bar with bytes, rate and time left, which fits 80 columns.
fn new_bar(total: Option<u64>) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = match total {
        Some(_) => "{bar:20} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}{msg}",
        None => "{spinner} {binary_bytes} {binary_bytes_per_sec}{msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// A step with its share, and the time left if the rest is as fast.
fn step_text(name: &str, done: u64, total: u64, elapsed: Duration) -> String {
    if done == 0 || total == 0 {
        return name.to_owned();
    }
    let share = done.min(total) as f64 / total as f64;
    let left = elapsed.as_secs_f64() * (1.0 - share) / share;
    format!("{name} {:.0} %, {left:.0} s left", (share * 100.0).floor())
}

/// The bytes of an archive, or of those in a directory.
fn archive_length(path: &Path) -> Option<u64> {
    if path.is_dir() {
        directory_length(path)
    } else {
        file_length(path)
    }
}

/// The length of a regular file; `None` for anything else.
fn file_length(path: &Path) -> Option<u64> {
    std::fs::metadata(path)
        .ok()
        .filter(Metadata::is_file)
        .map(|meta| meta.len())
}

/// The length of all files in a directory, without hidden ones.
fn directory_length(dir: &Path) -> Option<u64> {
    let entries = std::fs::read_dir(dir).ok()?.flatten();
    let visible = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    Some(visible.filter_map(|entry| file_length(&entry.path())).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_inputs_is_named() {
        let line = Progress::of_part(4 << 20, " of texts", true).plain_line(1 << 20);
        assert!(
            line.starts_with("robosieve: 1.00 MiB of 4.00 MiB of texts after "),
            "{line}"
        );
        let line = Progress::of_bytes(4 << 20, true).plain_line(1 << 20);
        assert!(line.contains("of 4.00 MiB after"), "{line}");
    }

    #[test]
    fn steps_have_a_share_and_the_time_left() {
        let text = |done, total| step_text("sorting", done, total, Duration::from_secs(30));
        assert_eq!([text(0, 0), text(0, 9)], ["sorting", "sorting"]);
        assert_eq!(
            [text(1, 4), text(4, 4)],
            ["sorting 25 %, 90 s left", "sorting 100 %, 0 s left"]
        );
    }
}
