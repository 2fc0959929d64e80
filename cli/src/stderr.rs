//! Lines on standard error. A failure to print never changes what a run does or how it ends.

use indicatif::ProgressBar;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The current state of standard error.
struct StderrState {
    /// The progress bar, which lines must not break.
    bar: Option<ProgressBar>,
    /// Whether the last line is printed: a signal ends the process.
    closed: bool,
}

static STATE: Mutex<StderrState> = Mutex::new(StderrState {
    bar: None,
    closed: false,
});

fn state() -> MutexGuard<'static, StderrState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a line, and ignores a failure: the reader may have closed the pipe.
///
/// `eprintln!` panics in that case, which would replace the exit status of the run with 101.
pub(crate) fn print_line(line: fmt::Arguments<'_>) {
    let state = state();
    match &state.bar {
        _ if state.closed => {}
        Some(bar) => bar.suspend(|| write(line)),
        None => write(line),
    }
}

/// Replaces the progress bar by a line, and drops all later lines.
pub(crate) fn print_last_line(line: fmt::Arguments<'_>) {
    let mut state = state();
    state.closed = true;
    if let Some(bar) = state.bar.take() {
        bar.finish_and_clear();
    }
    write(line);
}

/// Sets the progress bar, or removes it.
pub(crate) fn set_bar(bar: Option<ProgressBar>) {
    state().bar = bar;
}

/// Writes the line in one call, so that lines of other processes do not mix with it.
fn write(line: fmt::Arguments<'_>) {
    let _ = io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}
