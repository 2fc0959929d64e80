//! Signals that end the program: no temporary file stays, one line says what was kept, and the
//! parent sees which signal it was.

use super::stderr::{print_last_line, print_line};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::Builder;
use std::time::Duration;

/// How long a blocked standard error may delay the end.
const PATIENCE: Duration = Duration::from_millis(500);

/// A signal has come, and its thread ends the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// What is kept if a signal comes now.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// Notes what is kept if a signal comes from now on, for the last line.
pub(crate) fn set_kept(what: impl Into<String>) {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(what.into());
}

/// Notes that outputs appear one by one from now on.
pub(crate) fn committing() {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.get_or_insert_with(|| "every output file is complete or as it was before".to_owned());
}

/// Begins to handle the signals that end a program, but for those that are ignored: `nohup` and
/// `trap '' INT` stay in force.
pub(crate) fn handle() {
    if let Err(err) = platform::handle() {
        print_line(format_args!("robosieve: note: if interrupted, temporary files will stay: {err}"));
    }
}

/// Waits for the end if a signal has come: the main thread must not end the process first, by
/// another status.
pub(crate) fn wait_if_ending() {
    while ENDING.load(Ordering::Acquire) {
        std::thread::park();
    }
}

/// Removes what is unfinished and says what is kept.
fn clean_up(signal: &str) {
    ENDING.store(true, Ordering::Release);
    robosieve::remove_unfinished();
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).take();
    let kept = kept.unwrap_or_else(|| "no output file was written or changed".to_owned());
    let line = format!("robosieve: interrupted by {signal}: {kept}");
    // A terminal that is stopped, or a full pipe, must not keep the process alive.
    let (sender, printed) = mpsc::channel::<()>();
    let print = move || {
        print_last_line(format_args!("{line}"));
        drop(sender);
    };
    if Builder::new().name("last line".to_owned()).spawn(print).is_ok() {
        // Both the end of the line and the end of patience are fine.
        let _ = printed.recv_timeout(PATIENCE);
    }
}

#[cfg(unix)]
mod platform {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, signal_name};
    use std::io;
    use std::sync::{Arc, mpsc};
    use std::thread::Builder;

    pub(super) fn handle() -> io::Result<()> {
        // With a handler, a file beyond `ulimit -f` is an error of writing, as on a full disk, and
        // not the end of the process.
        flag::register(SIGXFSZ, Arc::default())?;
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
        let (sender, receiver) = mpsc::channel::<Signals>();
        let wait = move || {
            let Ok(mut signals) = receiver.recv() else { return };
            if let Some(signal) = signals.forever().next() {
                super::clean_up(signal_name(signal).unwrap_or("a signal"));
                end(signal);
            }
        };
        // First the thread: a signal that is handled and that no thread waits for would do nothing.
        Builder::new().name("signals".to_owned()).spawn(wait)?;
        // The thread waits for this, so it is there.
        let _ = sender.send(Signals::new(wanted)?);
        Ok(())
    }

    /// Ends the process by the signal, so that a shell, `make` or a batch system sees that. (A
    /// shell shows 128 and the number.)
    fn end(signal: i32) -> ! {
        // The first process of a container is not killed by its own signals.
        if std::process::id() != 1 {
            let _ = emulate_default_handler(signal);
        }
        std::process::exit(128 + signal)
    }

    /// Whether the parent process had the signal ignored.
    fn is_ignored(signal: i32) -> bool {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action, `sigaction` only writes the present one, whose place is
        // valid; a zeroed one is valid too.
        let action = unsafe {
            libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
            action.assume_init()
        };
        action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
mod platform {
    pub(super) fn handle() -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(|| {
            super::clean_up("Ctrl-C");
            std::process::exit(130);
        })
    }
}
