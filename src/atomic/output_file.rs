//! A file for lines: appears whole or not at all, compressed by the ending of its name.

use crate::atomic::{self, AtomicFile};
use crate::error::{Error, ErrorKind, Result};
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
    /// Begins to write the file. A device, a pipe or an open file (`/dev/stdout`, `/dev/fd/3`) is
    /// written to as it is; of a symbolic link the target is replaced or made.
    ///
    /// # Errors
    /// [`ErrorKind::BadOutput`] for a directory; what the operating system refuses.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = AtomicFile::create(path)?;
        let ends_in = |ending: &str| path.extension().is_some_and(|other| other.eq_ignore_ascii_case(ending));
        let encoder = if ends_in("gz") {
            Encoder::Gzip(GzEncoder::new(file, flate2::Compression::new(6)))
        } else if ends_in("zst") {
            Encoder::Zstd(zstd::stream::write::Encoder::new(file, 3).map_err(|err| Error::io(path, err))?)
        } else {
            Encoder::Plain(file)
        };
        Ok(Self { path: path.to_owned(), encoder })
    }

    /// Ends the file and makes it appear, its bytes safe on disk.
    ///
    /// # Errors
    /// What the operating system refuses, naming the file.
    pub fn commit(self) -> Result<()> {
        Self::commit_all([self])
    }

    /// Ends several files and makes them appear together: the bytes of all are safe on disk before
    /// the first appears.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// use robosieve::OutputFile;
    /// let files = ["a", "b"].map(|name| OutputFile::create(dir.path().join(name)));
    /// let [a, b] = files;
    /// OutputFile::commit_all([a?, b?])?;
    /// assert_eq!(std::fs::read_dir(&dir)?.count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What the operating system refuses, naming the file; none has appeared then, unless it was a
    /// rename that failed, after which files that were replaced before it keep their new content.
    pub fn commit_all(files: impl IntoIterator<Item = Self>) -> Result<()> {
        let files = files.into_iter().map(Self::end).collect::<Result<Vec<_>>>()?;
        atomic::commit_all(files)
    }

    /// Ends the compression.
    fn end(self) -> Result<AtomicFile> {
        match self.encoder {
            Encoder::Plain(file) => Ok(file),
            Encoder::Gzip(encoder) => encoder.finish().map_err(|err| Error::io(&self.path, err)),
            Encoder::Zstd(encoder) => encoder.finish().map_err(|err| Error::io(&self.path, err)),
        }
    }

    /// The file itself, for a form that is not compressed as a whole.
    pub(crate) fn uncompressed(&mut self) -> Result<&mut AtomicFile> {
        match &mut self.encoder {
            Encoder::Plain(file) => Ok(file),
            _ => {
                let what =
                    "its name is that of a compressed file, and it is not compressed; name it without .gz or .zst";
                Err(Error::from(ErrorKind::BadOutput(what.to_owned())).at(&self.path))
            }
        }
    }

    fn encoder(&mut self) -> &mut dyn Write {
        match &mut self.encoder {
            Encoder::Plain(out) => out,
            Encoder::Gzip(out) => out,
            Encoder::Zstd(out) => out,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.encoder().write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder().flush()
    }
}
