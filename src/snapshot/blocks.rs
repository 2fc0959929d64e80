//! Verification by blocks: a read of one record verifies the bytes that it reads, and no others.
//!
//! A section has a checksum for every block of 64 KiB, and the section table has a checksum of
//! these checksums. So the answer about one origin verifies some ten blocks, whatever the size of
//! the snapshot; with one checksum per section it read the whole file. Each block is verified once:
//! a bit records that it was.

use crate::error::{Error, Result};
use crate::snapshot::format::{BLOCK_LEN, CHECKSUM_LEN, Extent, Section, SectionTable};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// The blocks of a file, and which of them are verified. Threads share it.
#[derive(Debug)]
pub(super) struct VerifiedBlocks {
    table: SectionTable,
    /// For each section, the number of blocks of all earlier ones.
    first_blocks: [u64; Section::ALL.len()],
    /// A bit for the checksums of each section, then one for each block.
    bits: Box<[AtomicU64]>,
}

/// The checksums of a shorter file are computed on one thread. Waking other threads takes longer.
const SINGLE_THREADED: usize = 1 << 20;

/// The blocks that a thread verifies at least before another one takes some: 1 MiB.
const BLOCKS_PER_TASK: usize = 16;

impl VerifiedBlocks {
    /// The blocks of a file with this table, none verified.
    pub(super) fn new(table: &SectionTable) -> Self {
        let mut first_blocks = [0; Section::ALL.len()];
        for number in 1..first_blocks.len() {
            first_blocks[number] = first_blocks[number - 1] + table[number - 1].blocks();
        }
        let bits = Section::ALL.len() as u64 + table.iter().map(Extent::blocks).sum::<u64>();
        let bits = (0..bits.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self {
            table: *table,
            first_blocks,
            bits,
        }
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
        let end = start
            .saturating_add(len)
            .min(self.table[section.number()].len as usize);
        let blocks = if start < end {
            start / BLOCK_LEN..end.div_ceil(BLOCK_LEN)
        } else {
            0..0
        };
        // Nearly always one block, which is verified already.
        for block in blocks {
            self.verify(file, section, block)?;
        }
        Ok(())
    }

    /// Verifies all blocks of some sections of `file`, on all threads of the current rayon pool.
    /// Blocks that count as verified already are verified again.
    ///
    /// # Errors
    /// As [`verify_range`](Self::verify_range).
    pub(super) fn verify_sections(&self, file: &[u8], sections: &[Section]) -> Result<()> {
        for &section in sections {
            let blocks = 0..self.table[section.number()].blocks() as usize;
            if file.len() <= SINGLE_THREADED {
                blocks
                    .into_iter()
                    .try_for_each(|block| self.verify_block(file, section, block))?;
            } else {
                let blocks = blocks.into_par_iter().with_min_len(BLOCKS_PER_TASK);
                blocks.try_for_each(|block| self.verify_block(file, section, block))?;
            }
        }
        Ok(())
    }

    #[inline]
    fn verify(&self, file: &[u8], section: Section, block: usize) -> Result<()> {
        if self.is_set(self.bit(section, block)) {
            Ok(())
        } else {
            self.verify_block(file, section, block)
        }
    }

    #[inline]
    fn bit(&self, section: Section, block: usize) -> u64 {
        Section::ALL.len() as u64 + self.first_blocks[section.number()] + block as u64
    }

    #[cold]
    fn verify_block(&self, file: &[u8], section: Section, block: usize) -> Result<()> {
        let extent = &self.table[section.number()];
        let start = extent.offset as usize + block * BLOCK_LEN;
        let bytes = extent
            .bytes_in(file)
            .chunks(BLOCK_LEN)
            .nth(block)
            .unwrap_or_default();
        let wanted = self.checksums(file, section)?.get(block);
        if wanted.map(|checksum| u64::from_le_bytes(*checksum)) == Some(xxh3_64(bytes)) {
            self.set(self.bit(section, block));
            return Ok(());
        }
        let name = section.name();
        let end = start + bytes.len();
        Err(Error::corrupt(format!(
            "the section \"{name}\" has another checksum, in the bytes {start} to {end} of the file"
        )))
    }

    /// The checksums of the blocks of a section, verified.
    fn checksums<'f>(&self, file: &'f [u8], section: Section) -> Result<&'f [[u8; CHECKSUM_LEN]]> {
        let extent = &self.table[section.number()];
        let start = self.first_blocks[section.number()] as usize * CHECKSUM_LEN;
        let end = start + extent.blocks() as usize * CHECKSUM_LEN;
        let checksums = self.table[Section::Checksums.number()]
            .bytes_in(file)
            .get(start..end)
            .unwrap_or_default();
        let bit = section.number() as u64;
        if !self.is_set(bit) {
            if xxh3_64(checksums) != extent.checksum {
                let what = format!(
                    "the checksums of the section \"{}\" have another checksum",
                    section.name()
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
