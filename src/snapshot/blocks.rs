//! Verification by blocks: a read of one record verifies the bytes that it reads, and no others.
//!
//! A section has a checksum for every block of 64 KiB, and the section table has a checksum of
//! these checksums. So the answer about one origin verifies some ten blocks, whatever the size of
//! the snapshot; with one checksum per section it read the whole file. Each block is verified once:
//! a bit records that it was.

use crate::error::{Error, Result};
use crate::snapshot::format::{BLOCK_LEN, CHECKSUM_LEN, Head, Section, SectionRow};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// The blocks of a file, and which of them are verified. Threads share it.
#[derive(Debug)]
pub(super) struct VerifiedBlocks {
    /// All sections in the order of the file, the checksums last.
    rows: Vec<VerifiedSection>,
    /// The positions of the known sections in `rows`.
    positions: [Option<u8>; Section::ALL.len()],
    /// A bit for the checksums of each section, then one for each block.
    bits: Box<[AtomicU64]>,
}

/// A section, and the number of blocks of all earlier ones.
#[derive(Debug)]
struct VerifiedSection {
    row: SectionRow,
    first_block: u64,
}

/// The checksums of a shorter file are computed on one thread. Waking other threads takes longer.
const SINGLE_THREADED: usize = 1 << 20;

/// The blocks that a thread verifies at least before another one takes some: 1 MiB.
const BLOCKS_PER_TASK: usize = 16;

impl VerifiedBlocks {
    /// The blocks of a file with this table, none verified.
    pub(super) fn new(head: &Head) -> Self {
        let mut rows = Vec::with_capacity(head.rows.len());
        let mut positions = [None; Section::ALL.len()];
        let mut blocks = 0;
        // `decode_head` bounds the number of rows.
        for (row, position) in head.rows.iter().zip(0u8..) {
            if let Some(section) = row.section {
                positions[section.index()] = Some(position);
            }
            rows.push(VerifiedSection {
                row: *row,
                first_block: blocks,
            });
            blocks += row.extent.blocks();
        }
        let bits = rows.len() as u64 + blocks;
        let bits = (0..bits.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self {
            rows,
            positions,
            bits,
        }
    }

    /// The position of a section, unless the file lacks it.
    #[inline]
    fn position(&self, section: Section) -> Option<usize> {
        self.positions[section.index()].map(usize::from)
    }

    /// Marks all as verified.
    pub(super) fn fill(&self) {
        self.bits
            .iter()
            .for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
    }

    /// Verifies the blocks with `len` bytes of a section of `file` from `start` on, as far as the
    /// section has them.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) with the section and the block.
    #[inline]
    pub(super) fn verify_range(
        &self,
        file: &[u8],
        section: Section,
        start: usize,
        len: usize,
    ) -> Result<()> {
        // A section that the file lacks has no bytes to read.
        let Some(position) = self.position(section) else {
            return Ok(());
        };
        let end = start
            .saturating_add(len)
            .min(self.rows[position].row.extent.len as usize);
        let blocks = if start < end {
            start / BLOCK_LEN..end.div_ceil(BLOCK_LEN)
        } else {
            0..0
        };
        // Nearly always one block, which is verified already.
        for block in blocks {
            self.verify(file, position, block)?;
        }
        Ok(())
    }

    /// Verifies all blocks of the file, those of unknown sections too.
    ///
    /// # Errors
    /// As [`verify_range`](Self::verify_range).
    pub(super) fn verify_all(&self, file: &[u8]) -> Result<()> {
        // The last section has the checksums of the others.
        (0..self.rows.len().saturating_sub(1))
            .try_for_each(|position| self.verify_section(file, position))
    }

    /// Verifies all blocks of some sections of `file`, on all threads of the current rayon pool.
    /// Blocks that count as verified already are verified again.
    ///
    /// # Errors
    /// As [`verify_range`](Self::verify_range).
    pub(super) fn verify_sections(&self, file: &[u8], sections: &[Section]) -> Result<()> {
        sections
            .iter()
            .filter_map(|&section| self.position(section))
            .try_for_each(|position| self.verify_section(file, position))
    }

    fn verify_section(&self, file: &[u8], position: usize) -> Result<()> {
        let mut blocks = 0..self.rows[position].row.extent.blocks() as usize;
        if file.len() <= SINGLE_THREADED {
            return blocks.try_for_each(|block| self.verify_block(file, position, block));
        }
        let blocks = blocks.into_par_iter().with_min_len(BLOCKS_PER_TASK);
        blocks.try_for_each(|block| self.verify_block(file, position, block))
    }

    #[inline]
    fn verify(&self, file: &[u8], position: usize, block: usize) -> Result<()> {
        if self.is_set(self.bit(position, block)) {
            Ok(())
        } else {
            self.verify_block(file, position, block)
        }
    }

    #[inline]
    fn bit(&self, position: usize, block: usize) -> u64 {
        self.rows.len() as u64 + self.rows[position].first_block + block as u64
    }

    #[cold]
    fn verify_block(&self, file: &[u8], position: usize, block: usize) -> Result<()> {
        let SectionRow { extent, .. } = &self.rows[position].row;
        let start = extent.offset as usize + block * BLOCK_LEN;
        let bytes = extent
            .bytes_in(file)
            .chunks(BLOCK_LEN)
            .nth(block)
            .unwrap_or_default();
        let wanted = self.checksums(file, position)?.get(block);
        if wanted.map(|checksum| u64::from_le_bytes(*checksum)) == Some(xxh3_64(bytes)) {
            self.set(self.bit(position, block));
            return Ok(());
        }
        let name = self.rows[position].row.name();
        let end = start + bytes.len();
        Err(Error::corrupt(format!(
            "the section \"{name}\" has another checksum, in the bytes {start} to {end} of the file"
        )))
    }

    /// The checksums of the blocks of a section, verified.
    fn checksums<'f>(&self, file: &'f [u8], position: usize) -> Result<&'f [[u8; CHECKSUM_LEN]]> {
        let VerifiedSection { row, first_block } = &self.rows[position];
        let extent = &row.extent;
        let start = *first_block as usize * CHECKSUM_LEN;
        let end = start + extent.blocks() as usize * CHECKSUM_LEN;
        let all = self
            .rows
            .last()
            .map_or(&[][..], |last| last.row.extent.bytes_in(file));
        let checksums = all.get(start..end).unwrap_or_default();
        let bit = position as u64;
        if !self.is_set(bit) {
            if xxh3_64(checksums) != extent.checksum {
                let what = format!(
                    "the checksums of the section \"{}\" have another checksum",
                    row.name()
                );
                return Err(Error::corrupt(what));
            }
            self.set(bit);
        }
        Ok(checksums.as_chunks().0)
    }

    #[inline]
    fn is_set(&self, bit: u64) -> bool {
        // A thread that misses the bit of another one verifies the block again.
        let word = self.bits.get((bit / 64) as usize);
        word.is_some_and(|word| word.load(Ordering::Relaxed) & 1 << (bit % 64) != 0)
    }

    fn set(&self, bit: u64) {
        if let Some(word) = self.bits.get((bit / 64) as usize) {
            word.fetch_or(1 << (bit % 64), Ordering::Relaxed);
        }
    }
}
