//! An atomic output file that is compressed according to its name.

use crate::atomic::{self, AtomicFile};
use crate::error::{Error, ErrorKind, Result};
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// An output file that appears under its name only when [`commit`](Self::commit)ted, whole and
/// synced to disk. It is compressed if its name ends in `.gz` or `.zst`.
///
/// A commit replaces an existing file. A drop without commit leaves no file.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("list.txt");
/// use std::io::Write;
/// let mut file = robosieve::output::OutputFile::create(&path)?;
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
        f.debug_struct("OutputFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl OutputFile {
    /// Starts writing the file. A device, a pipe or an open file (`/dev/stdout`, `/dev/fd/3`) is
    /// written in place. Through a symbolic link, its target is replaced or created.
    ///
    /// # Errors
    /// [`ErrorKind::BadOutput`] for a directory, and errors of the operating system.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_as_is(path)?.compressed_by_name()
    }

    /// Compresses all further bytes if the name ends in `.gz` or `.zst`. For a file that was
    /// [created as it is](Self::create_as_is) and has no bytes yet.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub(crate) fn compressed_by_name(self) -> Result<Self> {
        let Self { path, encoder } = self;
        let file = match encoder {
            Encoder::Plain(file) => file,
            encoder => return Ok(Self { path, encoder }),
        };
        let encoder = if has_extension(&path, "gz") {
            Encoder::Gzip(GzEncoder::new(file, flate2::Compression::new(6)))
        } else if has_extension(&path, "zst") {
            Encoder::Zstd(
                zstd::stream::write::Encoder::new(file, 3).map_err(|err| Error::io(&path, err))?,
            )
        } else {
            Encoder::Plain(file)
        };
        Ok(Self { path, encoder })
    }

    /// Starts writing the file as [`create`](Self::create) does, but compresses nothing: the bytes
    /// are compressed already.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub(crate) fn create_as_is(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self {
            path: path.to_owned(),
            encoder: Encoder::Plain(AtomicFile::create(path)?),
        })
    }

    /// What the file cannot keep of the one that it will replace, in words: its owner, its group or
    /// its extended attributes. `None` if it keeps all, or is new.
    ///
    /// A replaced file keeps its permissions, and on Unix its owner, group and extended attributes,
    /// such as access control lists, as far as the process may set them. If it cannot keep the
    /// group, the new file has no permissions for a group. On other systems, access control lists
    /// are those that the folder gives to new files.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// let file = robosieve::output::OutputFile::create(dir.path().join("new.txt"))?;
    /// assert_eq!(file.lost_attributes(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lost_attributes(&self) -> Option<String> {
        let file = match &self.encoder {
            Encoder::Plain(file) => file,
            Encoder::Gzip(encoder) => encoder.get_ref(),
            Encoder::Zstd(encoder) => encoder.get_ref(),
        };
        file.lost_attributes().map(ToString::to_string)
    }

    /// Finishes the file, syncs it to disk and renames it to its name.
    ///
    /// # Errors
    /// Errors of the operating system, with the path of the file.
    pub fn commit(self) -> Result<()> {
        Self::commit_all([self])
    }

    /// Commits several files together: all are synced to disk before the first gets its name. If one
    /// of them fails, files that were replaced are put back, and new ones are removed.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// use robosieve::output::OutputFile;
    /// let files = ["a", "b"].map(|name| OutputFile::create(dir.path().join(name)));
    /// let [a, b] = files;
    /// OutputFile::commit_all([a?, b?])?;
    /// assert_eq!(std::fs::read_dir(&dir)?.count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of the operating system, with the path of the file. Then no file has changed, unless
    /// the error names files that could not be put back.
    pub fn commit_all(files: impl IntoIterator<Item = Self>) -> Result<()> {
        let files = files
            .into_iter()
            .map(Self::finish)
            .collect::<Result<Vec<_>>>()?;
        atomic::commit_all(files)
    }

    /// Finishes the compression.
    fn finish(self) -> Result<AtomicFile> {
        let file = match self.encoder {
            Encoder::Plain(file) => Ok(file),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        };
        file.map_err(|err| Error::io(&self.path, err))
    }

    /// The file itself, for a format that is not compressed as a whole.
    ///
    /// # Errors
    /// [`ErrorKind::BadOutput`] if the name is that of a compressed file.
    pub(crate) fn uncompressed(&mut self) -> Result<&mut AtomicFile> {
        match &mut self.encoder {
            Encoder::Plain(file) => Ok(file),
            _ => {
                let what =
                    "this format is not compressed; give a name without .gz or .zst".to_owned();
                Err(Error::from(ErrorKind::BadOutput(what)).at(&self.path))
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

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|other| other.eq_ignore_ascii_case(extension))
}

impl Write for OutputFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.encoder().write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder().flush()
    }
}
