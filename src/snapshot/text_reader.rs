//! Reads the condensed texts of a snapshot, one after the other.
//!
//! A text is a zstd frame. Decompressing one takes a decompressor and a copy of the dictionary. A
//! loop would make both for each text, so a reader keeps them.

use crate::error::Result;
use crate::snapshot::read::Snapshot;
use crate::snapshot::text::{DeltaUnpacker, Unpacker};

/// Reads condensed texts of one snapshot; one per thread.
///
/// It shares the bytes of the snapshot. The decompressor is made when the first text is read, so a
/// reader that reads none costs next to nothing.
pub(crate) struct TextReader {
    snapshot: Snapshot,
    unpacker: Option<Unpacker>,
    /// For the old texts of a history.
    deltas: Option<DeltaUnpacker>,
}

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader").finish_non_exhaustive()
    }
}

impl TextReader {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        Self {
            snapshot: snapshot.clone(),
            unpacker: None,
            deltas: None,
        }
    }

    /// Whether it reads the texts of this snapshot, or of a clone of it.
    pub(crate) fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.snapshot.shares_bytes_with(snapshot)
    }

    /// The condensed text of a robots.txt, with the line numbers of the file as served.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes contradict each other.
    pub(crate) fn read(&mut self, file: u32) -> Result<Vec<u8>> {
        let unpacker = match &mut self.unpacker {
            Some(unpacker) => unpacker,
            none => none.insert(self.snapshot.unpacker()?),
        };
        self.snapshot.unpack_text(file, unpacker, &mut self.deltas)
    }
}

impl Snapshot {
    /// The condensed text of a robots.txt. For a single text: a loop keeps a [`TextReader`].
    pub(crate) fn text(&self, file: u32) -> Result<Vec<u8>> {
        TextReader::new(self).read(file)
    }
}
