//! The sorted table of all captures: blocks of records, with their first keys in memory.
//!
//! As in the tables of a log-structured merge tree, a look-up searches the first keys, and reads
//! one block. A block has 4 KiB, so the keys take some two bytes per capture.

use super::reader::RecordReader;
use crate::compile::ingest::capture_record::{CaptureRecord, Fetch};
use crate::compile::ingest::url_key::UrlKey;
use crate::error::Result;
use crate::spool::{Spool, SpoolOptions, SpooledBytes};
use crate::threads::lock;
use std::cmp::Ordering;
use std::sync::Mutex;

/// The length of a block, unless a record is longer.
const BLOCK_LEN: u64 = 4 << 10;

/// Blocks that are kept after they were read: 16 MiB. Redirects of neighbours lead to neighbours.
const CACHED_BLOCKS: usize = 1 << 12;

/// The start of a block, and the URL of its first record.
#[derive(Debug)]
struct TableBlock {
    start: u64,
    origin_len: u16,
    url: Box<[u8]>,
}

impl TableBlock {
    fn order(&self, (origin, path): (&[u8], &[u8])) -> Ordering {
        let (first_origin, first_path) = self.url.split_at(usize::from(self.origin_len));
        first_origin.cmp(origin).then_with(|| first_path.cmp(path))
    }
}

/// Builds a table from sorted records.
pub(super) struct TableBuilder {
    records: Spool,
    blocks: Vec<TableBlock>,
    counter: CaptureCounter,
}

/// The counts of a table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TableCounts {
    pub captures: u64,
    /// Captures of URLs other than an origin's robots.txt.
    pub other_urls: u64,
    /// Origins with a capture of their robots.txt.
    pub origins: u64,
    /// Captures that refer to the body of another one.
    pub revisits: u64,
    /// Captures that were left out.
    pub left_out: u64,
}

/// Counts sorted captures.
#[derive(Default)]
pub(crate) struct CaptureCounter {
    pub counts: TableCounts,
    /// The origin of the last robots.txt.
    origin: Vec<u8>,
}

impl CaptureCounter {
    pub(crate) fn count(&mut self, record: &CaptureRecord<'_>) {
        self.counts.captures += 1;
        self.counts.revisits += u64::from(record.is_revisit());
        if !record.is_robots() {
            self.counts.other_urls += 1;
        } else if self.counts.origins == 0 || self.origin != record.origin() {
            self.counts.origins += 1;
            self.origin.clear();
            self.origin.extend_from_slice(record.origin());
        }
    }
}

impl TableBuilder {
    pub(super) fn new(options: &SpoolOptions) -> Self {
        let records = Spool::new(options, "sorted captures");
        Self {
            records,
            blocks: Vec::new(),
            counter: CaptureCounter::default(),
        }
    }

    pub(super) fn leave_out(&mut self) -> Result<()> {
        self.counter.counts.left_out += 1;
        Ok(())
    }

    pub(super) fn append(&mut self, record: &CaptureRecord<'_>) -> Result<()> {
        let start = self.records.len();
        let origin = record.origin();
        let end = start + record.bytes().len() as u64;
        if self
            .blocks
            .last()
            .is_none_or(|block| end > block.start + BLOCK_LEN)
        {
            let url = [origin, record.path()].concat().into();
            self.blocks.push(TableBlock {
                start,
                origin_len: origin.len() as u16,
                url,
            });
        }
        self.counter.count(record);
        self.records.append(record.bytes())
    }

    pub(super) fn finish(self) -> Result<SortedTable> {
        let cache = std::iter::repeat_with(Mutex::default)
            .take(CACHED_BLOCKS.min(self.blocks.len()))
            .collect();
        Ok(SortedTable {
            records: self.records.finish()?,
            blocks: self.blocks,
            counts: self.counter.counts,
            cache,
        })
    }
}

/// All captures, sorted by origin and path, newest first. Several threads look up URLs.
#[derive(Debug)]
pub(crate) struct SortedTable {
    records: SpooledBytes,
    blocks: Vec<TableBlock>,
    pub counts: TableCounts,
    /// A direct-mapped cache of blocks by number.
    cache: Vec<Mutex<CachedBlock>>,
}

#[derive(Debug, Default)]
struct CachedBlock {
    /// The number of the block, from 1; 0 if there is none.
    number: usize,
    bytes: Vec<u8>,
}

impl SortedTable {
    /// The captures of a URL, newest first.
    ///
    /// Cost: a binary search in memory, and a block that is read or cached.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn captures_of(&self, url: &UrlKey) -> Result<Vec<Fetch>> {
        let mut captures = Vec::new();
        self.for_each_of(url, |record| {
            captures.push(record.decode());
            true
        })?;
        Ok(captures)
    }

    /// The newest capture of a URL.
    ///
    /// # Errors
    /// As [`captures_of`](Self::captures_of).
    pub(crate) fn newest_of(&self, url: &UrlKey) -> Result<Option<Fetch>> {
        let mut newest = None;
        self.for_each_of(url, |record| {
            newest = Some(record.decode());
            false
        })?;
        Ok(newest)
    }

    /// Passes the captures of a URL to `take`, until it returns `false`.
    ///
    /// # Errors
    /// As [`captures_of`](Self::captures_of).
    pub(crate) fn for_each_of(
        &self,
        url: &UrlKey,
        mut take: impl FnMut(&CaptureRecord<'_>) -> bool,
    ) -> Result<()> {
        let key = url.split();
        // The captures of a URL may begin in the block before the first that begins with it.
        let first = self
            .blocks
            .partition_point(|block| block.order(key).is_lt())
            .saturating_sub(1);
        for (number, block) in self.blocks.iter().enumerate().skip(first) {
            if block.order(key).is_gt() {
                break;
            }
            let end = self
                .blocks
                .get(number + 1)
                .map_or(self.records.len(), |next| next.start);
            let goes_on = self.with_block(number, block.start, end, |mut bytes| {
                while let Some(record) = CaptureRecord::first_of(bytes) {
                    match record
                        .origin()
                        .cmp(key.0)
                        .then_with(|| record.path().cmp(key.1))
                    {
                        Ordering::Less => {}
                        Ordering::Equal if take(&record) => {}
                        Ordering::Equal | Ordering::Greater => return false,
                    }
                    bytes = &bytes[record.bytes().len()..];
                }
                true
            })?;
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Calls `work` with the bytes of a block.
    fn with_block<T>(
        &self,
        number: usize,
        start: u64,
        end: u64,
        work: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        if let Some(bytes) = self.records.in_memory(start, (end - start) as usize) {
            return Ok(work(bytes));
        }
        let mut cached = lock(&self.cache[number % self.cache.len()]);
        if cached.number != number + 1 {
            cached.number = 0;
            cached.bytes.resize((end - start) as usize, 0);
            self.records.read_at(&mut cached.bytes, start)?;
            cached.number = number + 1;
        }
        Ok(work(&cached.bytes))
    }

    /// All captures in order.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn reader(&self) -> Result<TableReader<'_>> {
        Ok(TableReader {
            reader: RecordReader::new(&self.records)?,
        })
    }
}

/// Reads a table in order, origin by origin.
pub(crate) struct TableReader<'t> {
    reader: RecordReader<'t>,
}

/// The captures of an origin's robots.txt.
pub(crate) struct RobotsCaptures {
    pub origin: Box<[u8]>,
    /// Newest first.
    pub captures: Vec<Fetch>,
}

/// A captured URL, and the times of its captures.
pub(crate) struct UrlTimes {
    pub url: UrlKey,
    /// Newest first; `None`, the last, for those of unknown time.
    pub times: Vec<Option<i64>>,
}

impl TableReader<'_> {
    /// The times of the captures of the next URL.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn next_url(&mut self) -> Result<Option<UrlTimes>> {
        let mut found: Option<UrlTimes> = None;
        while let Some(record) = self.reader.record() {
            match &mut found {
                Some(found) if found.url.split() != (record.origin(), record.path()) => break,
                Some(found) => found.times.push(record.time()),
                None => {
                    let text = [record.origin(), record.path()].concat();
                    let origin_len = record.origin().len() as u16;
                    found = Some(UrlTimes {
                        url: UrlKey::from_parts(&text, origin_len),
                        times: vec![record.time()],
                    });
                }
            }
            self.reader.advance()?;
        }
        Ok(found)
    }

    /// The next capture of any URL.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn next_capture(&mut self) -> Result<Option<Fetch>> {
        let capture = self.reader.record().map(|record| record.decode());
        if capture.is_some() {
            self.reader.advance()?;
        }
        Ok(capture)
    }

    /// The captures of the next origin's robots.txt; other URLs are skipped.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn next_origin(&mut self) -> Result<Option<RobotsCaptures>> {
        let mut found: Option<RobotsCaptures> = None;
        while let Some(record) = self.reader.record() {
            match &mut found {
                Some(found) if *found.origin != *record.origin() || !record.is_robots() => break,
                Some(found) => found.captures.push(record.decode()),
                None if record.is_robots() => {
                    found = Some(RobotsCaptures {
                        origin: record.origin().into(),
                        captures: vec![record.decode()],
                    });
                }
                None => {}
            }
            self.reader.advance()?;
        }
        Ok(found)
    }
}
