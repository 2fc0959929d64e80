//! Handles signals that end the program: removes temporary files, prints a line about the outputs,
//! and ends the process by the same signal.
//!
//! SIGBUS means that a mapped snapshot was shortened. It arrives in a thread that reads the map, and
//! again each time that this thread tries to read on. Meanwhile the thread of the other signals
//! prints the name of the file and exits with status 2, as after an error. Only Linux names the file,
//! so elsewhere the process ends by the signal.

use crate::stderr::{print_last_line, print_line};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::Builder;
use std::time::Duration;

/// The longest delay by a blocked standard error.
const STDERR_TIMEOUT: Duration = Duration::from_millis(500);

/// A signal has arrived, and the signal thread ends the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The state of the outputs, for the last line after a signal.
static OUTPUT_STATE: Mutex<Option<String>> = Mutex::new(None);

/// Sets the state of the outputs, for the last line after a signal.
pub(crate) fn set_output_state(state: impl Into<String>) {
    *OUTPUT_STATE.lock().unwrap_or_else(PoisonError::into_inner) = Some(state.into());
}

/// Records that outputs become visible one by one from now on.
pub(crate) fn committing() {
    let mut state = OUTPUT_STATE.lock().unwrap_or_else(PoisonError::into_inner);
    state.get_or_insert_with(|| "every output file is complete or as it was before".to_owned());
}

/// Starts to handle the signals that end a program, except ignored ones: `nohup` and `trap '' INT`
/// stay in force.
pub(crate) fn handle() {
    if let Err(err) = platform::handle() {
        print_line(format_args!(
            "robosieve: note: if interrupted, temporary files will stay: {err}"
        ));
    }
}

/// Lets Ctrl-C end the process until [`handle`] is called, as in a program without a handler, unless
/// the process ignores it. Python installs a handler that only sets a flag.
pub fn end_by_interrupt() {
    platform::end_by_interrupt();
}

/// Waits for the signal thread if a signal has arrived: the main thread must not end the process
/// first with another status.
pub(crate) fn wait_if_ending() {
    while ENDING.load(Ordering::Acquire) {
        std::thread::park();
    }
}

/// Removes unfinished files, and prints what happened with the state of the outputs.
fn clean_up(event: &str) {
    ENDING.store(true, Ordering::Release);
    robosieve::output::remove_unfinished();
    let state = OUTPUT_STATE
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let state = state.unwrap_or_else(|| "no output file was written or changed".to_owned());
    let line = format!("robosieve: {event}: {state}");
    // A stopped terminal or a full pipe must not keep the process alive.
    let (sender, printed) = mpsc::channel::<()>();
    let printer = Builder::new().name("last line".to_owned()).spawn(move || {
        print_last_line(format_args!("{line}"));
        drop(sender);
    });
    if printer.is_ok() {
        // The process ends after the line, or after the timeout.
        let _ = printed.recv_timeout(STDERR_TIMEOUT);
    }
}

#[cfg(unix)]
mod platform {
    use libc::siginfo_t;
    use signal_hook::consts::{SIGBUS, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    use signal_hook::iterator::SignalsInfo;
    use signal_hook::iterator::exfiltrator::WithRawSiginfo;
    use signal_hook::low_level::{emulate_default_handler, signal_name};
    use std::io;
    use std::ops::Range;
    use std::sync::{Arc, mpsc};
    use std::thread::Builder;

    /// The signals with their causes.
    type Signals = SignalsInfo<WithRawSiginfo>;

    pub(super) fn handle() -> io::Result<()> {
        // With a handler, a file beyond `ulimit -f` is a write error, as on a full disk, and does
        // not end the process.
        flag::register(SIGXFSZ, Arc::default())?;
        let wanted = [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .chain(cfg!(target_os = "linux").then_some(SIGBUS))
            .filter(|signal| !is_ignored(*signal));
        let (sender, receiver) = mpsc::channel::<Signals>();
        // The standard library takes a SIGBUS for an overflow of the stack, and gives it back to the
        // system if it is none. On Linux such an overflow is a SIGSEGV.
        // SAFETY: the default action runs no code of this process.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::signal(SIGBUS, libc::SIG_DFL)
        };
        // The thread starts first: a handled signal without a waiting thread would be lost.
        Builder::new()
            .name("signals".to_owned())
            .spawn(move || wait_for_signal(&receiver))?;
        // The thread waits for this message, so the receiver exists.
        let _ = sender.send(Signals::new(wanted)?);
        Ok(())
    }

    pub(super) fn end_by_interrupt() {
        if !is_ignored(SIGINT) {
            // SAFETY: the default action runs no code of this process.
            unsafe { libc::signal(SIGINT, libc::SIG_DFL) };
        }
    }

    /// Ends the process at the first signal. If no handler can be installed, the sender is dropped,
    /// and the thread ends.
    fn wait_for_signal(receiver: &mpsc::Receiver<Signals>) {
        let Ok(mut signals) = receiver.recv() else {
            return;
        };
        if let Some(info) = signals.forever().next() {
            if let Some(file) = shortened_file(&info) {
                super::clean_up(&format!(
                    "{file} was shortened while it was in use; write a new snapshot next to it and \
                     rename that, as compile does"
                ));
                std::process::exit(2);
            }
            let name = signal_name(info.si_signo).unwrap_or("a signal");
            super::clean_up(&format!("interrupted by {name}"));
            end(info.si_signo);
        }
    }

    /// The file whose map ends before the address that was read, for a SIGBUS of that cause.
    fn shortened_file(info: &siginfo_t) -> Option<String> {
        /// `BUS_ADRERR`: there is no memory behind the address.
        const NO_MEMORY: i32 = 2;
        if (info.si_signo, info.si_code) != (SIGBUS, NO_MEMORY) {
            return None;
        }
        // SAFETY: the kernel sets the address for this signal and this code.
        let address = unsafe { info.si_addr() } as usize;
        Some(mapped_file(address).unwrap_or_else(|| "a mapped snapshot".to_owned()))
    }

    /// The file that is mapped at an address, by the list of maps that Linux has.
    fn mapped_file(address: usize) -> Option<String> {
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let line = maps
            .lines()
            .find(|line| range_of_map(line).is_some_and(|range| range.contains(&address)))?;
        // The path is the last field, and may have blanks.
        line.find('/').map(|at| line[at..].to_owned())
    }

    /// The addresses of a line of the list, which begins `7f00a000-7f00b000 r--p`.
    fn range_of_map(line: &str) -> Option<Range<usize>> {
        let (start, rest) = line.split_once('-')?;
        let (end, _) = rest.split_once(' ')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        Some(start..usize::from_str_radix(end, 16).ok()?)
    }

    /// Ends the process by the signal, so that a shell, `make` or a batch system sees it. (A shell
    /// reports 128 plus the number.)
    fn end(signal: i32) -> ! {
        // The first process of a container ignores its own signals.
        if std::process::id() != 1 {
            let _ = emulate_default_handler(signal);
        }
        std::process::exit(128 + signal)
    }

    /// Whether the parent process ignores the signal.
    fn is_ignored(signal: i32) -> bool {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action, `sigaction` only writes the current one to a valid pointer;
        // a zeroed `sigaction` is valid too.
        let action = unsafe {
            libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
            action.assume_init()
        };
        action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
mod platform {
    /// The handler that [`handle`] adds runs first.
    pub(super) fn end_by_interrupt() {}

    pub(super) fn handle() -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(|| {
            super::clean_up("interrupted by Ctrl-C");
            std::process::exit(130);
        })
    }
}
