//! Where data goes: stdout, or a file that appears whole, compressed by its name.

use super::escape::escape_lines;
use anyhow::bail;
use robosieve::OutputFile;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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
            Self::Stdout(mut out) => Ok(out.flush().map_err(stdout_error)?),
            Self::File(file) => Ok(file.commit()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(buf).map_err(stdout_error),
            Self::File(out) => out.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush().map_err(stdout_error),
            Self::File(out) => out.flush(),
        }
    }
}

/// Writes a text for people, or JSON, to standard output. Whatever stands in it, printing it is
/// harmless.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = Output::open(None)?;
    out.write_all(escape_lines(text).as_bytes())?;
    out.commit()
}

/// An error that names standard output, of the kind that tells a closed pipe.
fn stdout_error(err: io::Error) -> io::Error {
    io::Error::new(err.kind(), format!("standard output: {err}"))
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
