//! Maps a snapshot's file into memory: the one place that trusts a file not to change underneath.

use crate::error::Result;
use crate::snapshot::format::not_a_snapshot;
use crate::snapshot::read::Snapshot;
use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::path::Path;

impl Snapshot {
    /// Opens the snapshot at `path` by mapping it into memory; nothing is read but the header.
    ///
    /// # Errors
    /// What the operating system refuses, [`NotASnapshot`](crate::ErrorKind::NotASnapshot),
    /// [`UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion), and [`Corrupt`](crate::ErrorKind::Corrupt) for a damaged header; each names the file.
    ///
    /// The file must not be changed in place while it is mapped: robosieve itself never does that, it replaces
    /// snapshots by renaming. A file cut short by someone else ends the process with SIGBUS.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        map(path).and_then(|map| Self::new(Bytes::from_owner(map))).map_err(|err| err.at(path))
    }
}

#[expect(unsafe_code, reason = "mapping a file is unsafe by nature; every read of the bytes is checked")]
fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        let what = "a directory where a snapshot is expected";
        return Err(std::io::Error::new(std::io::ErrorKind::IsADirectory, what).into());
    }
    if !meta.is_file() {
        let what = "not a regular file, and a snapshot is mapped into memory: write it to a file first";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, what).into());
    }
    if meta.len() == 0 {
        return Err(not_a_snapshot(&[]));
    }
    // SAFETY: the map is only ever read, as bytes, through bounds-checked accesses that hold no assumption about what
    // they find, so changed bytes give wrong or `Corrupt` answers but no broken memory as far as this program goes.
    // The doubt that stays: Rust calls bytes that change under a `&[u8]` undefined behaviour, and nothing can keep another
    // process from writing to the file. Every user of a memory map lives with that; the documentation of `open` says it.
    Ok(unsafe { MmapOptions::new().map(&file)? })
}
