//! Writes sections: several at a time, in large aligned pieces, with their checksums.
//!
//! The offset of a section must be known before it is written. So each gets a slot first; then any
//! thread writes it.

use crate::error::{Error, Result};
use crate::snapshot::format::{
    BLOCK_LEN, Extent, FileKind, Head, SECTION_ALIGN, Section, SectionRow, encode_head, head_len,
};
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// The size and alignment of writes: a huge page.
///
/// Linux keeps the bytes of one write in one folio if it can, and maps a folio with one page table
/// entry. That matters because nearly every access is the first to its page. Judging two million
/// unsorted URLs with ten million origins took 2.5 s after writes of 64 KiB, 1.7 s after 256 KiB
/// and 1.5 s after these.
const PIECE: usize = 2 << 20;

/// A file of sections in progress.
pub(crate) struct Sections<W> {
    file: Mutex<UnfinishedFile<W>>,
    /// The end of the last slot.
    end: u64,
}

struct UnfinishedFile<W> {
    out: W,
    head: Head,
    /// The checksums of the blocks of each section.
    checksums: Vec<Vec<u8>>,
}

/// The position of a section in the file, with its padding.
pub(crate) struct SectionSlot {
    /// The position of the section in the table.
    position: usize,
    /// The start of the padding before it.
    start: u64,
    offset: u64,
    len: u64,
}

impl<W: Write + Seek> Sections<W> {
    /// A file of a kind with this many sections, that of the checksums included.
    pub(crate) fn new(out: W, kind: FileKind, sections: usize) -> Self {
        let head = Head {
            kind,
            rows: Vec::new(),
            seed: 0,
        };
        let file = UnfinishedFile {
            out,
            head,
            checksums: Vec::new(),
        };
        Self {
            file: Mutex::new(file),
            end: head_len(sections) as u64,
        }
    }

    /// Reserves the slot of the next section.
    pub(crate) fn reserve(&mut self, section: Section, len: u64) -> SectionSlot {
        let position = self.with_file(|file| {
            file.head.rows.push(SectionRow {
                section: Some(section),
                extent: Extent::default(),
            });
            file.checksums.push(Vec::new());
            file.checksums.len() - 1
        });
        let slot = SectionSlot {
            position,
            start: self.end,
            offset: self.end.next_multiple_of(SECTION_ALIGN),
            len,
        };
        self.end = slot.offset + len;
        slot
    }

    /// Writes a section with `write`, and returns its result. Several threads may write one each.
    ///
    /// # Errors
    /// I/O errors; `Corrupt` if the section is not as long as its slot.
    pub(crate) fn fill<T>(
        &self,
        slot: SectionSlot,
        write: impl FnOnce(&mut SectionWriter<'_, W>) -> Result<T>,
    ) -> Result<T> {
        let SectionSlot {
            position,
            start,
            offset,
            len: expected,
        } = slot;
        // The padding before the section, which aligns it.
        self.write_at(start, &vec![0; (offset - start) as usize])?;
        let mut writer = SectionWriter {
            sections: self,
            piece: Vec::new(),
            start: offset,
            len: 0,
            hasher: Xxh3Default::new(),
            checksums: Vec::new(),
        };
        let written = write(&mut writer)?;
        writer.end()?;
        let SectionWriter { len, checksums, .. } = writer;
        self.with_file(|file| {
            let row = &mut file.head.rows[position];
            if expected != len {
                return Err(Error::corrupt(format!(
                    "the length of the section \"{}\"",
                    row.name()
                )));
            }
            row.extent = Extent {
                offset,
                len,
                checksum: xxh3_64(&checksums),
            };
            file.checksums[position] = checksums;
            Ok(written)
        })
    }

    /// Writes the section of checksums, and the head, which makes the file valid. Returns the
    /// length of the file. `seed` is that of the index.
    pub(crate) fn finish(mut self, seed: u64) -> Result<u64> {
        let checksums = self.with_file(|file| file.checksums.concat());
        let slot = self.reserve(Section::Checksums, checksums.len() as u64);
        self.fill(slot, |out| out.append(&checksums))?;
        let head = self.with_file(|file| {
            file.head.seed = seed;
            // Nothing has the checksum of the checksums themselves.
            if let Some(last) = file.head.rows.last_mut() {
                last.extent.checksum = 0;
            }
            encode_head(&file.head, self.end)
        });
        self.write_at(0, &head)?;
        self.with_file(|file| file.out.flush())?;
        Ok(self.end)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.with_file(|file| {
            file.out.seek(SeekFrom::Start(at))?;
            file.out.write_all(bytes)
        })
    }

    fn with_file<T>(&self, work: impl FnOnce(&mut UnfinishedFile<W>) -> T) -> T {
        // A panic during a write leaves the file without its head, so it stays invalid.
        work(&mut self.file.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes the bytes of one section, in pieces.
pub(crate) struct SectionWriter<'w, W> {
    sections: &'w Sections<W>,
    piece: Vec<u8>,
    /// The offset of the piece in the file.
    start: u64,
    len: u64,
    /// Has the bytes of the last block.
    hasher: Xxh3Default,
    /// The checksums of the blocks before it.
    checksums: Vec<u8>,
}

impl<W: Write + Seek> SectionWriter<'_, W> {
    /// Appends bytes to the section.
    pub(crate) fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.add_to_checksums(bytes);
        while let Some((part, rest)) = bytes.split_at_checked(self.missing()) {
            if self.piece.is_empty() {
                self.write(part)?;
            } else {
                self.piece.extend_from_slice(part);
                self.write_piece()?;
            }
            bytes = rest;
        }
        self.piece.extend_from_slice(bytes);
        Ok(())
    }

    fn add_to_checksums(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = BLOCK_LEN - self.len as usize % BLOCK_LEN;
            let (part, rest) = bytes.split_at(left.min(bytes.len()));
            self.hasher.update(part);
            self.len += part.len() as u64;
            if part.len() == left {
                self.end_block();
            }
            bytes = rest;
        }
    }

    fn end_block(&mut self) {
        self.checksums
            .extend_from_slice(&self.hasher.digest().to_le_bytes());
        self.hasher.reset();
    }

    /// The bytes missing until the piece ends at a multiple of [`PIECE`].
    fn missing(&self) -> usize {
        PIECE - self.start as usize % PIECE - self.piece.len()
    }

    fn write_piece(&mut self) -> Result<()> {
        let mut piece = std::mem::take(&mut self.piece);
        self.write(&piece)?;
        piece.clear();
        self.piece = piece;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.sections.write_at(self.start, bytes)?;
        self.start += bytes.len() as u64;
        Ok(())
    }

    /// Writes the last piece, and completes the checksums.
    fn end(&mut self) -> Result<()> {
        self.write_piece()?;
        if !self.len.is_multiple_of(BLOCK_LEN as u64) {
            self.end_block();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use xxhash_rust::xxh3::xxh3_64;

    /// Records the offset and the length of each write.
    #[derive(Default)]
    struct RecordedWrites(Cursor<Vec<u8>>, Vec<(usize, usize)>);

    impl Write for RecordedWrites {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            self.1.push((self.0.position() as usize, buf.len()));
            self.0.write(buf)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for RecordedWrites {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn writes_are_aligned_and_complete() {
        let mut recorded = RecordedWrites::default();
        let mut sections = Sections::new(&mut recorded, FileKind::Snapshot, 2);
        let parts = [1, PIECE, 100, 3 * PIECE, PIECE - 102, 7].map(|len| vec![len as u8; len]);
        let all = parts.concat();
        let slot = sections.reserve(Section::Metadata, all.len() as u64);
        let offset = slot.offset as usize;
        sections
            .fill(slot, |out| {
                parts.iter().try_for_each(|part| out.append(part))
            })
            .unwrap();
        sections.finish(0).unwrap();
        let RecordedWrites(bytes, writes) = recorded;
        // The padding before the section, the section, the padding before the checksums, and so on.
        let section = writes
            .iter()
            .skip(1)
            .take_while(|(start, _)| *start < offset + all.len());
        let section: Vec<_> = section.filter(|(_, len)| *len > 0).collect();
        let (first, rest) = section.split_first().unwrap();
        assert_eq!(**first, (offset, PIECE - offset));
        assert!(
            rest.iter().all(|(start, _)| start % PIECE == 0),
            "{writes:?}"
        );
        assert!(
            rest.iter().rev().skip(1).all(|(_, len)| *len == PIECE),
            "{writes:?}"
        );
        assert!(bytes.into_inner()[offset..][..all.len()] == all);
    }

    #[test]
    fn sections_are_written_in_any_order() {
        let mut out = Cursor::new(Vec::new());
        let mut sections = Sections::new(&mut out, FileKind::Snapshot, 13);
        let (first, second) = (
            sections.reserve(Section::Metadata, 3),
            sections.reserve(Section::Index, 5),
        );
        sections.fill(second, |out| out.append(b"index")).unwrap();
        let (third, last) = (
            sections.reserve(Section::Origins, 0),
            sections.reserve(Section::OriginMetadata, 0),
        );
        sections.fill(last, |_| Ok(())).unwrap();
        sections.fill(third, |_| Ok(())).unwrap();
        sections.fill(first, |out| out.append(b"met")).unwrap();
        let rows = sections.with_file(|file| file.head.rows.clone());
        let table: Vec<Extent> = rows.iter().map(|row| row.extent).collect();
        let end = table[3].offset;
        assert_eq!(sections.finish(7).unwrap(), end + 16);
        let bytes = out.into_inner();
        let checksums = [xxh3_64(b"met"), xxh3_64(b"index")].map(u64::to_le_bytes);
        assert_eq!(
            (&bytes[512..515], &bytes[576..581]),
            (&b"met"[..], &b"index"[..])
        );
        assert_eq!(bytes[end as usize..], checksums.concat());
        assert_eq!(
            table[1],
            Extent {
                offset: 576,
                len: 5,
                checksum: xxh3_64(&checksums[1])
            }
        );
        assert_eq!((table[2].offset, table[3].offset), (640, 640));
    }

    #[test]
    fn wrong_lengths_are_refused() {
        let mut sections = Sections::new(Cursor::new(Vec::new()), FileKind::Snapshot, 2);
        let slot = sections.reserve(Section::Metadata, 3);
        assert!(sections.fill(slot, |out| out.append(b"four")).is_err());
    }
}
