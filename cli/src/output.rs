//! Output targets: stdout, or a file that appears when it is complete, compressed according to its
//! extension.

use crate::figures::escape::{escape, escape_lines};
use crate::signals;
use crate::standard_streams;
use crate::stderr::print_line;
use robosieve::ErrorKind;
use robosieve::output::{OutputFile, is_standard_stream};
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// An output of `filter` or `annotate`.
pub(crate) enum OutputTarget {
    Stdout(Stdout),
    File(Box<OutputFile>),
}

/// Standard output, whose reader may close the pipe early (`robosieve … | head`).
pub(crate) struct Stdout {
    out: BufWriter<io::Stdout>,
    when_closed: WhenClosed,
}

/// The behaviour after the reader of standard output has closed the pipe.
enum WhenClosed {
    /// Fail, and end the run.
    Fail,
    /// Drop further bytes, and continue for the other outputs.
    Drop,
    /// The pipe is closed; all bytes are dropped.
    Dropping,
}

impl OutputTarget {
    pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        match path {
            None => Ok(Self::Stdout(Stdout::open()?)),
            Some(path) if is_stdout(path) => Self::open(None),
            Some(path) => Ok(Self::File(Box::new(create_file(path)?))),
        }
    }

    /// [`Stdout::outlive_reader`], if this is standard output.
    pub(crate) fn outlive_reader(&mut self) {
        if let Self::Stdout(stdout) = self {
            stdout.outlive_reader();
        }
    }

    /// Writes the whole content. A closed standard output is an error only in
    /// [`commit_all`](Self::commit_all), when the files are safe.
    pub(crate) fn write_whole(&mut self, text: &str) -> io::Result<()> {
        match self {
            // The buffer holds everything, so nothing is written until the commit.
            Self::Stdout(stdout) => {
                let bytes = text.as_bytes();
                stdout.out = BufWriter::with_capacity(bytes.len() + 1, io::stdout());
                stdout.out.write_all(bytes)
            }
            Self::File(file) => file.write_all(text.as_bytes()),
        }
    }

    /// Makes the output durable and visible.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        Self::commit_all([self])
    }

    /// Makes several outputs visible together. If one cannot be completed, none of the files
    /// appears. A closed standard output does not stop the files; it is an error afterwards.
    pub(crate) fn commit_all(outputs: impl IntoIterator<Item = Self>) -> anyhow::Result<()> {
        let mut files = Vec::new();
        let mut closed = Ok(());
        for output in outputs {
            match output {
                Self::Stdout(stdout) => closed = closed.and(stdout.finish()?),
                Self::File(file) => files.push(*file),
            }
        }
        if !files.is_empty() {
            signals::committing();
            OutputFile::commit_all(files)?;
        }
        Ok(closed?)
    }
}

/// Starts an output file, and warns if it cannot keep an attribute of the file that it will replace.
pub(crate) fn create_file(path: &Path) -> anyhow::Result<OutputFile> {
    if is_stdout(path) {
        standard_streams::check_stdout().map_err(named)?;
    }
    let file = OutputFile::create(path)?;
    warn_of_lost_attributes(path, file.lost_attributes());
    Ok(file)
}

/// Warns that an output cannot keep an attribute of the file that it will replace.
pub(crate) fn warn_of_lost_attributes(path: &Path, lost: Option<String>) {
    if let Some(lost) = lost {
        let message = format!("{}: {lost}", path.display());
        print_line(format_args!("robosieve: warning: {}", escape(&message)));
    }
}

/// Whether a path means standard output. Opening it by name would truncate a redirected file.
pub(crate) fn is_stdout(path: &Path) -> bool {
    let names = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    is_standard_stream(path) || names.iter().any(|name| path.as_os_str() == *name)
}

impl Write for OutputTarget {
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
    /// # Errors
    /// If standard output was closed when the program started: lines would be lost.
    pub(crate) fn open() -> io::Result<Self> {
        standard_streams::check_stdout().map_err(named)?;
        Ok(Self {
            out: BufWriter::with_capacity(1 << 16, io::stdout()),
            when_closed: WhenClosed::Fail,
        })
    }

    /// Continues the run for the other outputs after the reader has closed the pipe.
    pub(crate) fn outlive_reader(&mut self) {
        self.when_closed = WhenClosed::Drop;
    }

    /// Writes the rest. The inner error is that of a closed pipe, which does not stop other
    /// outputs.
    pub(crate) fn finish(mut self) -> io::Result<io::Result<()>> {
        match self.flush() {
            Err(err) if err.kind() == io::ErrorKind::BrokenPipe => Ok(Err(err)),
            flushed => flushed.map(Ok),
        }
    }

    /// Writes, unless the reader has closed the pipe; the result is then `dropped`.
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
            result => result.map_err(named),
        }
    }
}

/// An error of standard output, with its name.
fn named(err: io::Error) -> io::Error {
    io::Error::new(err.kind(), format!("standard output: {err}"))
}

impl Write for Stdout {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.attempt(buf.len(), |out| out.write(buf))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), BufWriter::flush)
    }
}

/// The error of a closed standard output. A closed pipe that is named as an output file gives
/// another error.
#[derive(Debug)]
struct StdoutClosed;

impl fmt::Display for StdoutClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output: its reader closed it before everything was written")
    }
}

impl std::error::Error for StdoutClosed {}

/// Whether a run ended because the reader closed standard output.
pub(crate) fn is_stdout_closed(err: &anyhow::Error) -> bool {
    err.chain().any(|cause| {
        match cause
            .downcast_ref::<robosieve::Error>()
            .map(robosieve::Error::kind)
        {
            Some(ErrorKind::Io(err)) => wraps_stdout_closed(err),
            Some(_) => false,
            None => cause
                .downcast_ref::<io::Error>()
                .is_some_and(wraps_stdout_closed),
        }
    })
}

fn wraps_stdout_closed(err: &io::Error) -> bool {
    err.get_ref()
        .is_some_and(|inner| inner.is::<StdoutClosed>())
}

/// Writes a text or JSON to standard output, with unsafe characters escaped.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_with(text, [])
}

/// Writes commands to a service that obeys them; their parts are escaped.
pub(crate) fn print_commands(commands: &str) -> anyhow::Result<()> {
    let mut out = OutputTarget::open(None)?;
    out.write_whole(commands)?;
    OutputTarget::commit_all([out])
}

/// Writes `text` to standard output, and commits the files that belong to it, unless the text
/// cannot be written.
pub(crate) fn print_with(
    text: &str,
    files: impl IntoIterator<Item = OutputTarget>,
) -> anyhow::Result<()> {
    let mut out = OutputTarget::open(None)?;
    out.write_whole(&escape_lines(text))?;
    OutputTarget::commit_all(std::iter::once(out).chain(files))
}
