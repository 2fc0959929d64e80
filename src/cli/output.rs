//! Where data goes: stdout, or a file that appears whole, compressed by its name.

use super::escape::escape_lines;
use super::signals;
use robosieve::{ErrorKind, OutputFile};
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// An output of `filter` or `annotate`.
pub(crate) enum Output {
    Stdout(Stdout),
    File(Box<OutputFile>),
}

/// Standard output, whose reader may go away (`robosieve … | head`).
pub(crate) struct Stdout {
    out: BufWriter<io::Stdout>,
    when_closed: WhenClosed,
}

/// What to do once nobody reads standard output any more.
enum WhenClosed {
    /// Fail, which ends the run.
    Fail,
    /// Drop what is written, for the sake of the other outputs.
    Drop,
    /// It has happened, and all is dropped.
    Dropping,
}

impl Output {
    pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        match path {
            None => {
                let out = BufWriter::with_capacity(1 << 16, io::stdout());
                Ok(Self::Stdout(Stdout { out, when_closed: WhenClosed::Fail }))
            }
            Some(path) if is_stdout(path) => Self::open(None),
            Some(path) => Ok(Self::File(Box::new(OutputFile::create(path)?))),
        }
    }

    /// Goes on without standard output once its reader has gone, because other outputs want the
    /// rest of the run.
    pub(crate) fn outlive_reader(&mut self) {
        if let Self::Stdout(stdout) = self {
            stdout.when_closed = WhenClosed::Drop;
        }
    }

    /// Writes all that this output will hold. That the reader of standard output went away is an
    /// error of
    /// [`commit_all`](Self::commit_all), when the files are safe.
    pub(crate) fn write_whole(&mut self, text: &str) -> io::Result<()> {
        match self {
            // All of it is buffered, so nothing is written before the commit.
            Self::Stdout(stdout) => {
                let bytes = text.as_bytes();
                stdout.out = BufWriter::with_capacity(bytes.len() + 1, io::stdout());
                stdout.out.write_all(bytes)
            }
            Self::File(file) => file.write_all(text.as_bytes()),
        }
    }

    /// Makes what was written safe and visible.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        Self::commit_all([self])
    }

    /// Makes several outputs visible together. If one cannot be completed, none of the files
    /// appears; a reader of standard output that went away is no reason to lose them, and is an
    /// error afterwards.
    pub(crate) fn commit_all(outputs: impl IntoIterator<Item = Self>) -> anyhow::Result<()> {
        let (mut files, mut gone) = (Vec::new(), Ok(()));
        for output in outputs {
            match output {
                Self::Stdout(mut out) => match out.flush() {
                    Err(err) if err.kind() == io::ErrorKind::BrokenPipe => gone = Err(err),
                    flushed => flushed?,
                },
                Self::File(file) => files.push(*file),
            }
        }
        if !files.is_empty() {
            signals::committing();
            OutputFile::commit_all(files)?;
        }
        Ok(gone?)
    }
}

/// Whether a path means standard output. Opened by its name, a file that it leads to would be
/// started again.
pub(crate) fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path.as_os_str() == *name)
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(buf),
            Self::File(out) => out.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(out) => out.flush(),
        }
    }
}

impl Stdout {
    /// Writes something, unless nobody reads it; `dropped` stands for the result then.
    fn attempt<T>(
        &mut self,
        dropped: T,
        write: impl FnOnce(&mut BufWriter<io::Stdout>) -> io::Result<T>,
    ) -> io::Result<T> {
        if matches!(self.when_closed, WhenClosed::Dropping) {
            return Ok(dropped);
        }
        match write(&mut self.out) {
            Err(err) if err.kind() == io::ErrorKind::BrokenPipe => match self.when_closed {
                WhenClosed::Fail => Err(io::Error::new(err.kind(), StdoutClosed)),
                WhenClosed::Drop | WhenClosed::Dropping => {
                    self.when_closed = WhenClosed::Dropping;
                    Ok(dropped)
                }
            },
            result => result.map_err(|err| io::Error::new(err.kind(), format!("standard output: {err}"))),
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.attempt(buf.len(), |out| out.write(buf))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), BufWriter::flush)
    }
}

/// The error of standard output whose reader has gone. A pipe that is named as an output file gives
/// another.
#[derive(Debug)]
struct StdoutClosed;

impl fmt::Display for StdoutClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output: its reader went away before all was written")
    }
}

impl std::error::Error for StdoutClosed {}

/// Whether a run ended because nobody read standard output any more.
pub(crate) fn is_stdout_closed(err: &anyhow::Error) -> bool {
    let is_closed = |err: &io::Error| err.get_ref().is_some_and(|inner| inner.is::<StdoutClosed>());
    err.chain().any(|cause| match cause.downcast_ref::<robosieve::Error>().map(robosieve::Error::kind) {
        Some(ErrorKind::Io(err)) => is_closed(err),
        Some(_) => false,
        None => cause.downcast_ref::<io::Error>().is_some_and(is_closed),
    })
}

/// Writes a text for people, or JSON, to standard output. Whatever stands in it, printing it is
/// harmless.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_with(text, [])
}

/// Writes `text` to standard output, and makes files appear that belong to it. They do not if the
/// text cannot be written.
pub(crate) fn print_with(text: &str, files: impl IntoIterator<Item = Output>) -> anyhow::Result<()> {
    let mut out = Output::open(None)?;
    out.write_whole(&escape_lines(text))?;
    Output::commit_all(std::iter::once(out).chain(files))
}
