//! Progress of long work on stderr: a bar on a terminal, a plain line now and then otherwise.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often a plain line is printed where stderr is no terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(30);

pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    /// When the last plain line was printed; `None` where none are.
    plain: Option<Mutex<Instant>>,
    start: Instant,
    unit: &'static str,
}

impl Progress {
    /// Counts something whose total is not known.
    pub(crate) fn count(unit: &'static str, quiet: bool) -> Self {
        Self::new(unit, None, quiet)
    }

    /// Bytes read of a known total, if it is known.
    pub(crate) fn bytes(total: Option<u64>, quiet: bool) -> Self {
        Self::new("bytes", total, quiet)
    }

    fn new(unit: &'static str, total: Option<u64>, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet).then(|| {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = match (unit, total) {
                ("bytes", Some(_)) => "{bar:40} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}",
                ("bytes", None) => "{spinner} {binary_bytes} {binary_bytes_per_sec}",
                _ => "{spinner} {human_pos} entries {elapsed}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        let plain = (!terminal && !quiet).then(|| Mutex::new(Instant::now()));
        Self { bar, plain, start: Instant::now(), unit }
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
            eprintln!("robosieve: {position} {} after {:.0} s", self.unit, self.elapsed().as_secs_f64());
        }
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
