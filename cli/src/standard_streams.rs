//! Standard input and output that are closed when the program starts (`<&-`, `>&-` in a shell).
//!
//! Rust opens `/dev/null` in place of closed standard streams before `main`, so that no other file
//! gets their numbers. Then a program reads an empty list, or writes its lines to nowhere, and ends
//! with success. So the command records what is closed before Rust does that. A program of another
//! language that runs the command, such as Python, does not open `/dev/null`.
//!
//! A stream has one position, so it is read once only: [`StreamIdentity`] tells which paths are the
//! same one.

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

/// A key that is equal for two paths of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StreamIdentity {
    /// Standard input, if it is a file or a device.
    Stdin,
    /// A pipe or a socket, also as standard input.
    #[cfg(unix)]
    Pipe(u64, u64),
}

impl StreamIdentity {
    /// `None` for a path that can be read twice: a regular file, and a device such as `/dev/null`.
    /// Opens nothing, because opening a pipe waits for its writer.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        if let Some(pipe) = Self::of_pipe(path) {
            return Some(pipe);
        }
        is_stdin(path).then_some(Self::Stdin)
    }

    #[cfg(unix)]
    fn of_pipe(path: &Path) -> Option<Self> {
        use std::os::fd::AsFd;
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let meta = if is_standard_stream(path) {
            let stdin = io::stdin().as_fd().try_clone_to_owned().ok()?;
            std::fs::File::from(stdin).metadata().ok()?
        } else {
            std::fs::metadata(path).ok()?
        };
        let kind = meta.file_type();
        (kind.is_fifo() || kind.is_socket()).then(|| Self::Pipe(meta.dev(), meta.ino()))
    }
}

/// Whether a path means standard input.
fn is_stdin(path: impl AsRef<Path>) -> bool {
    let names = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    is_standard_stream(&path) || names.iter().any(|name| path.as_ref().as_os_str() == *name)
}
