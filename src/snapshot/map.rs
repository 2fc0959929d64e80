//! Memory mapping of a snapshot. This is the only code that relies on a file staying unchanged.

use crate::error::Result;
use crate::snapshot::format::not_a_snapshot;
use crate::snapshot::read::Snapshot;
use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::path::Path;

impl Snapshot {
    /// Opens the snapshot at `path` by mapping it into memory. Only the header is read.
    ///
    /// The file must not be changed in place while it is mapped. robosieve never does that: it
    /// replaces snapshots by renaming. If another program truncates the file, the process ends with
    /// SIGBUS.
    ///
    /// # Errors
    /// Errors of the operating system, [`NotASnapshot`](crate::ErrorKind::NotASnapshot),
    /// [`UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion), and
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a damaged header. Each names the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        map(path)
            .and_then(|map| Self::new(Bytes::from_owner(map)))
            .map_err(|err| err.at(path))
    }
}

#[expect(
    unsafe_code,
    reason = "mapping a file is unsafe by nature; every read of the bytes is checked"
)]
fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        let what = "a directory where a snapshot is expected";
        return Err(std::io::Error::new(std::io::ErrorKind::IsADirectory, what).into());
    }
    if !meta.is_file() {
        let what =
            "not a regular file, and a snapshot is mapped into memory: write it to a file first";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, what).into());
    }
    if meta.len() == 0 {
        return Err(not_a_snapshot(&[]));
    }
    // SAFETY: The map is only read, as bytes, with bounds-checked accesses that assume nothing
    // about the content. So changed bytes give wrong answers or `Corrupt`, but do not break memory
    // safety in practice. One risk remains: Rust treats bytes that change under a `&[u8]` as
    // undefined behaviour, and nothing keeps another process from writing to the file. All users of
    // memory maps share this risk; the documentation of `open` states it.
    Ok(unsafe { MmapOptions::new().map(&file)? })
}
