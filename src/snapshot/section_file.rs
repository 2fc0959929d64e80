//! A file of sections, mapped or in memory: what snapshots and filter lists have in common.
//!
//! Opening reads the header alone. Look-ups verify the blocks that they read
//! ([`blocks`](super::blocks)).

use crate::bytes::wire::u64_at;
use crate::error::{Error, Result};
use crate::snapshot::blocks::VerifiedBlocks;
use crate::snapshot::format::{
    FileKind, HEADER_CHECKSUM_AT, Head, SECTION_ALIGN, Section, SectionTable, decode_head, head_len,
};
use crate::snapshot::mapped_file::{Change, MappedFile};
use ::bytes::Bytes;
use std::path::Path;
use std::sync::Arc;

/// A file of sections. Clones share the bytes, and which blocks are verified.
#[derive(Clone)]
pub(crate) struct SectionFile {
    data: Bytes,
    head: Head,
    /// The extents of the known sections.
    table: SectionTable,
    verified: Arc<VerifiedBlocks>,
    /// The file of the bytes; `None` for bytes in memory.
    pub(super) mapped: Option<Arc<MappedFile>>,
}

impl SectionFile {
    /// A file in memory. The cost does not depend on the number of bytes.
    ///
    /// # Errors
    /// Those of a wrong or damaged header, by the kind.
    pub(crate) fn new(data: Bytes, kind: FileKind) -> Result<Self> {
        let head = decode_head(&data, kind)?;
        let verified = Arc::new(VerifiedBlocks::new(&head));
        Ok(Self {
            data,
            table: head.table(),
            head,
            verified,
            mapped: None,
        })
    }

    /// The path of a mapped file; `None` for bytes in memory.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.mapped.as_deref().map(MappedFile::path)
    }

    /// Whether the file still has the content with which it was opened:
    /// [`Snapshot::verify_unchanged`](crate::Snapshot::verify_unchanged).
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) with the path, if the content is another.
    pub(crate) fn verify_unchanged(&self) -> Result<()> {
        let Some(mapped) = &self.mapped else {
            return Ok(());
        };
        let is_same = match mapped.change()? {
            Change::None => true,
            // Reading the map beyond the end of the file would end the process.
            Change::Shortened => false,
            // A program that restores the time has written the whole file before.
            Change::Attributes => self.has_same_head(),
            Change::Written => self.has_same_head() && self.verify_all().is_ok(),
        };
        if is_same {
            return Ok(());
        }
        let what = match self.head.kind {
            FileKind::Snapshot => {
                "it was overwritten while it was read; replace snapshots by renaming"
            }
            FileKind::FilterLists => {
                "it was overwritten while it was read; replace compiled lists by renaming"
            }
        };
        Err(Error::corrupt(what).at(mapped.path()))
    }

    /// Whether the file still has the header with which it was opened.
    fn has_same_head(&self) -> bool {
        decode_head(&self.data, self.head.kind).is_ok_and(|head| head == self.head)
    }

    /// Whether it was opened by the name `target`, and another file has this name now.
    pub(super) fn is_replaced_at(&self, target: &Path) -> Option<&Path> {
        self.mapped
            .as_ref()
            .filter(|mapped| mapped.is_replaced_at(target))
            .map(|mapped| mapped.path())
    }

    /// Verifies the blocks with these bytes of a section.
    #[inline]
    pub(crate) fn verify_range(&self, section: Section, start: usize, len: usize) -> Result<()> {
        self.verified.verify_range(&self.data, section, start, len)
    }

    /// Verifies all blocks of all sections again, as [`verify_sections`](Self::verify_sections) does.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a damaged block.
    pub(crate) fn verify_all(&self) -> Result<()> {
        self.verified.verify_all(&self.data)
    }

    /// Verifies all blocks of some sections again, on all threads of the current rayon pool.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a damaged block.
    pub(super) fn verify_sections(&self, sections: &[Section]) -> Result<()> {
        self.verified.verify_sections(&self.data, sections)
    }

    /// Checks the bytes between sections. No checksum covers them, but all of them are zero.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for other bytes.
    pub(crate) fn verify_padding(&self) -> Result<()> {
        let mut end = head_len(self.head.rows.len()) as u64;
        for extent in self.head.rows.iter().map(|row| row.extent) {
            let gap = self
                .data
                .get(end as usize..extent.offset as usize)
                .ok_or_else(|| Error::corrupt("the sections overlap"))?;
            if extent.offset % SECTION_ALIGN != 0
                || gap.len() as u64 >= SECTION_ALIGN
                || gap.iter().any(|&b| b != 0)
            {
                return Err(Error::corrupt(format!(
                    "the padding between byte {end} and byte {}",
                    extent.offset
                )));
            }
            end = extent.offset + extent.len;
        }
        if end == self.byte_len() {
            Ok(())
        } else {
            Err(Error::corrupt("bytes after the last section"))
        }
    }

    /// Counts all blocks as verified.
    pub(super) fn assume_verified(&self) {
        self.verified.fill();
    }

    /// The bytes of a section. `new` has checked its extent.
    #[inline]
    pub(crate) fn section(&self, section: Section) -> &[u8] {
        self.table[section.index()].bytes_in(&self.data)
    }

    /// Whether this is a clone of the other file.
    pub(super) fn shares_bytes_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.verified, &other.verified)
    }

    /// The length of the whole file in bytes.
    pub(crate) fn byte_len(&self) -> u64 {
        self.data.len() as u64
    }

    /// The header checksum, which identifies the content of an undamaged file.
    pub(crate) fn checksum(&self) -> u64 {
        // `new` has checked the length.
        u64_at(&self.data, HEADER_CHECKSUM_AT, "the header checksum").unwrap_or_default()
    }

    /// The seed of the hashes of the index.
    #[inline]
    pub(crate) fn seed(&self) -> u64 {
        self.head.seed
    }

    /// The name and the length in bytes of every section, in the order of the file.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.head
            .rows
            .iter()
            .map(|row| (row.name(), row.extent.len))
    }
}
