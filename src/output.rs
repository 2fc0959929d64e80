//! A file for lines: appears whole or not at all, compressed by the ending of its name.

use crate::atomic::AtomicFile;
use crate::error::{Error, Result};
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// An output file that is compressed if its name ends in `.gz` or `.zst` and that appears under its name, whole, when
/// [`commit`](Self::commit)ted; dropped before, it leaves nothing behind. An existing file is replaced.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("list.txt");
/// use std::io::Write;
/// let mut file = robosieve::OutputFile::create(&path)?;
/// file.write_all(b"https://e.example/\n")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OutputFile {
    path: PathBuf,
    encoder: Encoder,
}

enum Encoder {
    Plain(AtomicFile),
    Gzip(GzEncoder<AtomicFile>),
    Zstd(zstd::stream::write::Encoder<'static, AtomicFile>),
}

impl std::fmt::Debug for OutputFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl OutputFile {
    /// Begins to write the file.
    ///
    /// # Errors
    /// [`ErrorKind::BadOutput`](crate::ErrorKind::BadOutput) for a directory; what the operating system refuses.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = AtomicFile::create(path)?;
        let encoder = match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Encoder::Gzip(GzEncoder::new(file, flate2::Compression::new(6))),
            Some("zst") => {
                let encoder = zstd::stream::write::Encoder::new(file, 3).map_err(|err| Error::io(path, err))?;
                Encoder::Zstd(encoder)
            }
            _ => Encoder::Plain(file),
        };
        Ok(Self { path: path.to_owned(), encoder })
    }

    /// Ends the file and makes it appear, its bytes safe on disk.
    ///
    /// # Errors
    /// What the operating system refuses, naming the file.
    pub fn commit(self) -> Result<()> {
        let at = |err| Error::io(&self.path, err);
        match self.encoder {
            Encoder::Plain(file) => file.commit(),
            Encoder::Gzip(encoder) => encoder.finish().map_err(at)?.commit(),
            Encoder::Zstd(encoder) => encoder.finish().map_err(at)?.commit(),
        }
    }
}

impl OutputFile {
    fn encoder(&mut self) -> &mut dyn Write {
        match &mut self.encoder {
            Encoder::Plain(out) => out,
            Encoder::Gzip(out) => out,
            Encoder::Zstd(out) => out,
        }
    }

    /// An error that names the file: among several outputs, who writes cannot tell.
    fn named(&self, err: io::Error) -> io::Error {
        io::Error::new(err.kind(), format!("{}: {err}", self.path.display()))
    }
}

impl Write for OutputFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.encoder().write(buf).map_err(|err| self.named(err))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder().flush().map_err(|err| self.named(err))
    }
}
