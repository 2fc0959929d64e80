//! Where data goes: stdout, or a file that appears whole, compressed by its name.

use anyhow::{Context, bail};
use robosieve::OutputFile;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// An output of `filter` or `annotate`.
pub(crate) enum Output {
    Stdout(BufWriter<io::Stdout>),
    File(Box<OutputFile>),
}

impl Output {
    pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        match path {
            None => Ok(Self::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()))),
            Some(path) if path.as_os_str() == "-" => Self::open(None),
            Some(path) => Ok(Self::File(Box::new(OutputFile::create(path)?))),
        }
    }

    /// What was written is safe and visible.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(mut out) => Ok(out.flush().context("standard output")?),
            Self::File(file) => Ok(file.commit()?),
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

/// Two outputs must not overwrite each other.
pub(crate) fn refuse_same(paths: &[Option<&Path>]) -> anyhow::Result<()> {
    let paths: Vec<&Path> = paths.iter().flatten().copied().filter(|path| !path.starts_with("/dev")).collect();
    for (i, path) in paths.iter().enumerate() {
        if paths[..i].contains(path) {
            bail!("{}: named for two outputs; give each a file of its own", path.display());
        }
    }
    Ok(())
}
