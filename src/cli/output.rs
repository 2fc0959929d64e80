//! Where data goes: stdout, or a file that appears whole, compressed by its name.

use super::escape::escape_lines;
use super::signals;
use anyhow::bail;
use robosieve::{ErrorKind, OutputFile};
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An output of `filter` or `annotate`.
pub(crate) enum Output {
    Stdout(Stdout),
    File(Box<OutputFile>),
}

/// Whether a path means standard output: opened by its name, a file that it leads to would be begun
/// again.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
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

    /// What was written is safe and visible.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(mut out) => Ok(out.flush()?),
            Self::File(file) => {
                signals::committing();
                Ok(file.commit()?)
            }
        }
    }
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
    let mut out = Output::open(None)?;
    out.write_all(escape_lines(text).as_bytes())?;
    out.commit()
}

/// Two outputs must not overwrite each other.
pub(crate) fn refuse_same(paths: &[Option<&Path>]) -> anyhow::Result<()> {
    let paths: Vec<&Path> = paths.iter().flatten().copied().filter(|path| !path.starts_with("/dev")).collect();
    for (i, path) in paths.iter().enumerate() {
        if paths[..i].iter().any(|other| place_of(other) == place_of(path)) {
            bail!("{}: named for two outputs; give each a file of its own", path.display());
        }
    }
    Ok(())
}

/// Where an output will lie, however its path is spelled.
fn place_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}
