//! Lines on standard error. Whether they can be printed never changes what a run does or how it
//! ends.

use indicatif::ProgressBar;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What standard error shows at present.
struct Shown {
    /// The progress bar, which lines must not break.
    bar: Option<ProgressBar>,
    /// The last line was printed: a signal ends the process.
    closed: bool,
}

static SHOWN: Mutex<Shown> = Mutex::new(Shown { bar: None, closed: false });

fn shown() -> MutexGuard<'static, Shown> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a line. A failure is ignored: the reader may have gone away, and there is nobody else to
/// tell.
///
/// `eprintln!` panics there, which would replace the exit status of the run with 101.
pub(crate) fn print_line(line: fmt::Arguments<'_>) {
    let shown = shown();
    match &shown.bar {
        _ if shown.closed => {}
        Some(bar) => bar.suspend(|| write(line)),
        None => write(line),
    }
}

/// Prints a line in place of the progress bar, and drops all later ones.
pub(crate) fn print_last_line(line: fmt::Arguments<'_>) {
    let mut shown = shown();
    shown.closed = true;
    if let Some(bar) = shown.bar.take() {
        bar.finish_and_clear();
    }
    write(line);
}

/// Shows a progress bar, or none.
pub(crate) fn set_bar(bar: Option<ProgressBar>) {
    shown().bar = bar;
}

/// Writes the line by one call, so that lines of other processes do not get into it.
fn write(line: fmt::Arguments<'_>) {
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
