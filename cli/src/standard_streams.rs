//! Standard input and output that are closed when the program starts (`<&-`, `>&-` in a shell).
//!
//! Rust opens `/dev/null` in place of closed standard streams before `main`, so that no other file
//! gets their numbers. Then a program reads an empty list, or writes its lines to nowhere, and ends
//! with success. So the command records what is closed before Rust does that. A program of another
//! language that runs the command, such as Python, does not open `/dev/null`.

use anyhow::bail;
use robosieve::output::is_standard_stream;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

static STDIN_IS_CLOSED: AtomicBool = AtomicBool::new(false);
static STDOUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Records which standard streams are closed. Call it before `main`.
pub fn record_closed_streams() {
    #[cfg(unix)]
    {
        let is_closed = |stream| rustix::io::fcntl_getfd(stream) == Err(rustix::io::Errno::BADF);
        if is_closed(rustix::stdio::stdin()) {
            STDIN_IS_CLOSED.store(true, Ordering::Relaxed);
        }
        if is_closed(rustix::stdio::stdout()) {
            STDOUT_IS_CLOSED.store(true, Ordering::Relaxed);
        }
    }
}

/// Records which standard streams are closed, and opens `/dev/null` in their place. Otherwise an
/// output would get the number of standard error, and messages would go into it.
pub(crate) fn occupy_closed_streams() {
    record_closed_streams();
    #[cfg(unix)]
    {
        use std::os::fd::{AsRawFd, IntoRawFd};
        const STDERR: i32 = 2;
        // Each file gets the lowest number that is free.
        while let Ok(file) = std::fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
        {
            if file.as_raw_fd() > STDERR {
                break;
            }
            let _open_until_the_end = file.into_raw_fd();
        }
    }
}

/// Fails if standard output was closed when the program started.
pub(crate) fn check_stdout() -> io::Result<()> {
    match STDOUT_IS_CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other(
            "it is closed; redirect it to a file, a pipe or /dev/null",
        )),
        false => Ok(()),
    }
}

/// Fails if one of the inputs is standard input, which was closed when the program started.
pub(crate) fn check_stdin<P: AsRef<Path>>(
    inputs: impl IntoIterator<Item = P>,
) -> anyhow::Result<()> {
    if STDIN_IS_CLOSED.load(Ordering::Relaxed) && inputs.into_iter().any(is_stdin) {
        bail!("standard input: it is closed; name a file, or redirect it from a file or a pipe");
    }
    Ok(())
}

/// Whether a path means standard input.
fn is_stdin(path: impl AsRef<Path>) -> bool {
    let names = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    is_standard_stream(&path) || names.iter().any(|name| path.as_ref().as_os_str() == *name)
}
