//! Memory mapping of snapshots and filter lists. This is the only code that relies on a file staying unchanged.
//!
//! `MADV_HUGEPAGE` is not set: with it, the first run from disk took 22 s instead of 5, because
//! each touch reads 2 MiB.

use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::format::FileKind;
use crate::snapshot::mapped_file::MappedFile;
use crate::snapshot::read::Snapshot;
use crate::snapshot::section_file::SectionFile;
use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};
use std::fs::{File, Metadata};
use std::path::Path;
use std::sync::Arc;

impl Snapshot {
    /// Opens the snapshot at `path` by mapping it into memory. Only the header is read.
    ///
    /// The file must not be changed in place while it is mapped. robosieve never does that: it
    /// replaces snapshots by renaming. If another program truncates the file, the process ends with
    /// SIGBUS. [`verify_unchanged`](Self::verify_unchanged) reports whether it was overwritten.
    ///
    /// # Errors
    /// Errors of the operating system, [`NotASnapshot`](crate::ErrorKind::NotASnapshot),
    /// [`UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion), and
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a damaged header. Each names the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let sections = SectionFile::open(path, FileKind::Snapshot).map_err(|err| err.at(path))?;
        Ok(Self { sections })
    }

    /// Whether the file still has the content with which it was opened, so that answers read until
    /// now are right. A snapshot in memory never changes.
    ///
    /// Programs such as `cp` overwrite a file in place, and a judge may then have read old and new
    /// bytes. Jobs and exports call this before they commit their outputs.
    ///
    /// Cost: one system call. If the time of the last change differs from that at opening, all
    /// checksums are verified once more, so a mere `touch` is not an error. If only that of the
    /// last change of attributes differs (`chmod`, a hard link, `rsync --inplace --times`), the
    /// header with the checksums is compared.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("web.rsieve");
    /// let compile = |robots: &[u8]| -> robosieve::Result<Vec<u8>> {
    ///     let mut compiler = Compiler::default();
    ///     compiler.add_robots("https://e.example", robots)?;
    ///     compiler.finish()?.to_vec()
    /// };
    /// std::fs::write(&path, compile(b"user-agent: *\ndisallow: /a")?)?;
    /// let snapshot = Snapshot::open(&path)?;
    /// snapshot.verify_unchanged()?;
    /// // Overwrites the file in place. Programs should write another file, and rename it.
    /// use std::io::Write;
    /// let mut file = std::fs::File::options().write(true).open(&path)?;
    /// file.write_all(&compile(b"user-agent: *\ndisallow: /b")?)?;
    /// assert!(snapshot.verify_unchanged().unwrap_err().to_string().contains("overwritten"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) with the path, if the content is another.
    pub fn verify_unchanged(&self) -> Result<()> {
        self.sections.verify_unchanged()
    }

    /// Fails if the file was [overwritten](Self::verify_unchanged), or if it was opened by the name
    /// `target` and another program has given this name to another file since: replacing that one
    /// would lose its content.
    pub(crate) fn verify_replaceable(&self, target: Option<&Path>) -> Result<()> {
        self.verify_unchanged()?;
        match target.and_then(|target| self.sections.is_replaced_at(target)) {
            Some(path) => {
                let what = "another program replaced it during this run, and its update would be \
                            lost; run again, and the new one is the previous snapshot";
                Err(Error::from(ErrorKind::BadPrevious(what.to_owned())).at(path))
            }
            None => Ok(()),
        }
    }
}

impl SectionFile {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// Errors of the operating system, and those of [`new`](Self::new), without the path.
    pub(crate) fn open(path: &Path, kind: FileKind) -> Result<Self> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        let map = map(&file, &meta, kind)?;
        let mut sections = Self::new(Bytes::from_owner(map), kind)?;
        sections.mapped = Some(Arc::new(MappedFile::new(file, &meta, path)));
        Ok(sections)
    }
}

#[expect(
    unsafe_code,
    reason = "mapping a file is unsafe by nature; every read of the bytes is checked"
)]
fn map(file: &File, meta: &Metadata, kind: FileKind) -> Result<Mmap> {
    if meta.is_dir() {
        let what = format!("a directory where {} is expected", kind.name());
        return Err(std::io::Error::new(std::io::ErrorKind::IsADirectory, what).into());
    }
    if !meta.is_file() {
        let what = format!(
            "not a regular file, and {} is mapped into memory: write it to a file first",
            kind.name()
        );
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, what).into());
    }
    if meta.len() == 0 {
        return Err(kind.mismatch(&[]));
    }
    // SAFETY: The map is only read, as bytes, with bounds-checked accesses that assume nothing
    // about the content. So changed bytes give wrong answers or `Corrupt`, but do not break memory
    // safety in practice. One risk remains: Rust treats bytes that change under a `&[u8]` as
    // undefined behaviour, and nothing keeps another process from writing to the file. All users of
    // memory maps share this risk; the documentation of `open` states it.
    Ok(unsafe { MmapOptions::new().map(file)? })
}
