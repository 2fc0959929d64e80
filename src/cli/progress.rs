//! Progress of long work on stderr: a bar on a terminal, a plain line now and then otherwise.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often a plain line is printed where stderr is no terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(30);

pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    /// When the last plain line was printed; `None` where none are.
    plain: Option<Mutex<Instant>>,
    start: Instant,
    unit: &'static str,
    /// How many files there are, where they are counted.
    files: Option<u64>,
    files_done: AtomicU64,
    position: AtomicU64,
}

impl Progress {
    /// Counts something whose total is not known.
    pub(crate) fn count(unit: &'static str, quiet: bool) -> Self {
        Self::new(unit, None, quiet)
    }

    /// Bytes read of all inputs, whose total is known if all are regular files.
    pub(crate) fn of_inputs(paths: &[PathBuf], quiet: bool) -> Self {
        let length = |path: &PathBuf| std::fs::metadata(path).ok().filter(|meta| meta.is_file()).map(|meta| meta.len());
        Self::new("bytes", paths.iter().map(length).sum(), quiet)
    }

    /// Bytes read of files that are done side by side.
    pub(crate) fn of_files(bytes: u64, files: u64, quiet: bool) -> Self {
        let progress = Self { files: Some(files), ..Self::new("bytes", Some(bytes), quiet) };
        progress.show_files();
        progress
    }

    fn new(unit: &'static str, total: Option<u64>, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet).then(|| {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = match (unit, total) {
                ("bytes", Some(_)) => "{bar:40} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}{msg}",
                ("bytes", None) => "{spinner} {binary_bytes} {binary_bytes_per_sec}",
                _ => "{spinner} {human_pos} entries {elapsed}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        let plain = (!terminal && !quiet).then(|| Mutex::new(Instant::now()));
        let (files_done, position) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { bar, plain, start: Instant::now(), unit, files: None, files_done, position }
    }

    /// Shows how far it has come.
    pub(crate) fn set(&self, position: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        }
        if let Some(Ok(mut last)) = self.plain.as_ref().map(Mutex::try_lock)
            && last.elapsed() >= PLAIN_INTERVAL
        {
            *last = Instant::now();
            let (unit, files, seconds) = (self.unit, self.files_text(), self.elapsed().as_secs_f64());
            eprintln!("robosieve: {position} {unit}{files} after {seconds:.0} s");
        }
    }

    /// Shows that it has come so much further; for several threads.
    pub(crate) fn add(&self, more: u64) {
        self.set(self.position.fetch_add(more, Ordering::Relaxed) + more);
    }

    /// Shows that one more file is done.
    pub(crate) fn file_done(&self) {
        self.files_done.fetch_add(1, Ordering::Relaxed);
        self.show_files();
    }

    fn show_files(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message(self.files_text());
        }
    }

    fn files_text(&self) -> String {
        let done = self.files_done.load(Ordering::Relaxed);
        self.files.map_or_else(String::new, |files| format!(", {done} of {files} files"))
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}
