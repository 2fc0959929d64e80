//! The hosts of a file: the index that finds the number of one, its text, and its class.

use super::format::{ClassRow, HOSTS_PER_BLOCK, LABEL_END, class_width, stored_bytes};
use super::read::FilterLists;
use crate::bytes::wire::{array, bytes, u32_at};
use crate::error::{Error, Result};
#[cfg(feature = "filter-lists")]
use crate::snapshot::format::NONE;
use crate::snapshot::format::Section;
use crate::snapshot::index::{self, BUCKET_LEN, Load};
use crate::url::is_address;

/// The most hosts that are compared with one suffix. A tag has 16 bits, so an honest index hardly
/// ever has two hosts to compare; a forged one could have all hosts of 64 buckets.
const MAX_COMPARED: usize = 64;

impl FilterLists {
    pub(super) fn buckets(&self) -> &[[u8; BUCKET_LEN]] {
        self.file.section(Section::HostIndex).as_chunks().0
    }

    /// The number of a host whose hash is known.
    pub(super) fn find_hashed(&self, host: &[u8], hash: u64) -> Result<Option<u32>> {
        let mut compared = 0;
        for number in index::candidates(self.buckets(), hash, Load::FourFifths) {
            compared += 1;
            if compared > MAX_COMPARED {
                return Err(Error::corrupt("too many hosts with one tag in the index"));
            }
            if self.has_text(number, host)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The number of a host, whether or not the filter has it.
    #[cfg(test)]
    pub(super) fn find_host(&self, host: &[u8]) -> Result<Option<u32>> {
        self.find_hashed(host, super::format::hash_host(host, self.file.seed()))
    }

    /// Whether the index has a host with the tag of this one.
    #[cfg(test)]
    pub(super) fn has_candidate(&self, host: &[u8]) -> bool {
        index::probe(
            self.buckets(),
            super::format::hash_host(host, self.file.seed()),
        ) != index::Probe::ABSENT
    }

    /// Whether the host with a number has this text.
    ///
    /// The block is not decoded. The loop tracks how many bytes at its start each host has in
    /// common with the text. A host that shares more bytes with the one before has just as many in
    /// common.
    pub(super) fn has_text(&self, number: u32, host: &[u8]) -> Result<bool> {
        let is_address = is_address(host);
        let mut rows = self.block_rows(number)?;
        let (mut common, mut len) = (0, 0);
        for _ in 0..=number % HOSTS_PER_BLOCK {
            let row = rows.next(len)?;
            len = row.shared + row.own.len();
            if row.shared <= common {
                let rest = host.get(..host.len() - row.shared).unwrap_or_default();
                common = row.shared + common_len(stored_bytes(rest, is_address), row.own);
            }
        }
        Ok(common == host.len() && len == host.len())
    }

    /// The stored form of the host with a number. Decodes its block up to it.
    pub(super) fn stored_host(&self, number: u32) -> Result<Vec<u8>> {
        let mut rows = self.block_rows(number)?;
        let mut stored = Vec::with_capacity(64);
        for _ in 0..=number % HOSTS_PER_BLOCK {
            let row = rows.next(stored.len())?;
            stored.truncate(row.shared);
            stored.extend_from_slice(row.own);
        }
        Ok(stored)
    }

    /// The rows of the block with a host.
    fn block_rows(&self, number: u32) -> Result<HostRows<'_>> {
        let blocks = self.file.section(Section::HostBlocks);
        let block = (number / HOSTS_PER_BLOCK) as usize;
        Ok(HostRows {
            texts: self.file.section(Section::HostTexts),
            at: u32_at(blocks, block * 4, "a block of hosts")? as usize,
        })
    }

    /// The number of hosts: each has a class.
    #[cfg(feature = "filter-lists")]
    pub(super) fn host_count(&self) -> Result<u32> {
        let len = self.file.section(Section::HostClasses).len();
        let width = class_width(self.file.section(Section::ClassRows));
        u32::try_from(len / width)
            .ok()
            .filter(|count| *count < NONE && len.is_multiple_of(width))
            .ok_or_else(|| Error::corrupt("a part of a class of a host, or too many hosts"))
    }

    /// Takes the stored forms of all hosts, with their numbers.
    #[cfg(feature = "filter-lists")]
    pub(super) fn for_each_host(
        &self,
        mut take: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let count = self.host_count()?;
        let mut stored = Vec::new();
        for first in (0..count).step_by(HOSTS_PER_BLOCK as usize) {
            let mut rows = self.block_rows(first)?;
            stored.clear();
            for number in first..count.min(first.saturating_add(HOSTS_PER_BLOCK)) {
                let row = rows.next(stored.len())?;
                stored.truncate(row.shared);
                stored.extend_from_slice(row.own);
                take(number, &stored)?;
            }
        }
        Ok(())
    }

    /// The host with a number in its canonical form.
    pub(super) fn host_text(&self, number: u32) -> Result<String> {
        let mut stored = self.stored_host(number)?;
        stored.reverse();
        for b in stored.iter_mut().filter(|b| **b == LABEL_END) {
            *b = b'.';
        }
        Ok(String::from_utf8_lossy(&stored).into_owned())
    }

    pub(super) fn class_of(&self, host: u32) -> Result<ClassRow> {
        let classes = self.file.section(Section::HostClasses);
        let rows = self.file.section(Section::ClassRows);
        let width = class_width(rows);
        let at = (host as usize).saturating_mul(width);
        let what = "the class of a host";
        let class = match width {
            1 => u16::from(array::<1>(classes, at, what)?[0]),
            _ => u16::from_le_bytes(array(classes, at, what)?),
        };
        ClassRow::decode(rows, class)
    }
}

/// Reads the rows of `host texts` one after the other.
struct HostRows<'f> {
    texts: &'f [u8],
    at: usize,
}

/// A row of `host texts`.
struct HostRow<'f> {
    /// The number of bytes that are those of the host before.
    shared: usize,
    /// The other bytes.
    own: &'f [u8],
}

impl<'f> HostRows<'f> {
    /// The next row, after a host of `len_before` bytes.
    #[inline]
    fn next(&mut self, len_before: usize) -> Result<HostRow<'f>> {
        let [shared, len] = array(self.texts, self.at, "a host")?;
        let at = self.at.saturating_add(2);
        let own = bytes(self.texts, at, len.into(), "the text of a host")?;
        let shared = usize::from(shared);
        if shared > len_before {
            return Err(Error::corrupt(
                "a host shares more than its predecessor has",
            ));
        }
        self.at = at + own.len();
        Ok(HostRow { shared, own })
    }
}

/// The number of bytes at the start that are equal.
#[inline]
pub(super) fn common_len(text: impl Iterator<Item = u8>, other: &[u8]) -> usize {
    text.zip(other).take_while(|(a, b)| a == *b).count()
}
