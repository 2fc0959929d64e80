//! The values of a flat column of texts: pages of plain values are read in place, those of other encodings by the `parquet` crate.
//!
//! The crate makes every value a reference to its page, which is counted up and down again: an eighth of annotating. Where a page
//! holds nothing but lengths and texts, as nearly all of URLs do, the texts are looked at where they lie.

use crate::error::Result;
use crate::parquet::input::{ParquetInput, bad, table_error};
use crate::parquet::levels::Levels;
use bytes::{Buf, Bytes};
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::reader::SerializedPageReader;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes values in the order of their rows.
pub(super) trait Sink {
    /// A row without a value.
    fn put_null(&mut self);
    /// A row with this value; `whole` gives it for keeping.
    fn put(&mut self, value: &[u8], whole: impl FnOnce() -> ByteArray);
}

/// Reads the values of a column of one row group.
pub(super) struct Values {
    pages: SerializedPageReader<crate::parquet::chunks::Chunks>,
    /// The level of a value that is there.
    full: i16,
    page: Current,
    other: Other,
}

/// The page being read.
enum Current {
    Plain(PlainPage),
    /// One that the crate reads, with so many rows left.
    Other(usize),
}

impl Values {
    pub(super) fn new(input: &ParquetInput, row_group: usize) -> Result<Self> {
        let group = input.meta.row_group(row_group);
        let rows = group.num_rows() as usize;
        let pages = SerializedPageReader::new(Arc::new(input.chunks.clone()), group.column(input.column), rows, None);
        let descr = input.schema().column(input.column);
        let full = descr.max_def_level();
        let handed = Handed::default();
        let reader = get_typed_column_reader(get_column_reader(descr, Box::new(handed.clone())));
        let other = Other { handed, reader, values: Vec::new(), levels: Vec::new() };
        Ok(Self { pages: pages.map_err(table_error)?, full, page: Current::Other(0), other })
    }

    /// Puts the values of the next rows, `wanted` of them at most; how many they were: none behind the last.
    pub(super) fn read(&mut self, wanted: usize, sink: &mut impl Sink) -> Result<usize> {
        loop {
            let rows = match &mut self.page {
                Current::Plain(page) => page.read(wanted, sink)?,
                Current::Other(left) => {
                    let rows = self.other.read(wanted.min(*left), self.full, sink)?;
                    *left -= rows;
                    rows
                }
            };
            if rows > 0 || !self.next_page()? {
                return Ok(rows);
            }
        }
    }

    /// Begins the next page; `false` behind the last.
    fn next_page(&mut self) -> Result<bool> {
        let Some(page) = self.pages.get_next_page().map_err(table_error)? else { return Ok(false) };
        let rows = page.num_values() as usize;
        match PlainPage::of(&page, self.full)? {
            Some(page) => self.page = Current::Plain(page),
            None => {
                self.page = Current::Other(if page.is_dictionary_page() { 0 } else { rows });
                self.other.handed.put(page);
            }
        }
        Ok(true)
    }
}

/// A page of texts, each behind its length in four bytes.
struct PlainPage {
    bytes: Bytes,
    at: usize,
    /// `None` where every row has a value.
    levels: Option<Levels>,
    left: usize,
}

impl PlainPage {
    /// The page, if it is one of plain values whose levels are 0 and 1 at most.
    fn of(page: &Page, full: i16) -> Result<Option<Self>> {
        let (rows, bytes) = (page.num_values() as usize, page.buffer());
        let (levels, at) = match page {
            _ if full > 1 || page.encoding() != Encoding::PLAIN => return Ok(None),
            Page::DictionaryPage { .. } | Page::DataPageV2 { rep_levels_byte_len: 1.., .. } => return Ok(None),
            Page::DataPageV2 { def_levels_byte_len, .. } => ((full > 0).then_some(0), *def_levels_byte_len as usize),
            _ if full == 0 => (None, 0),
            Page::DataPage { def_level_encoding: Encoding::RLE, .. } => {
                let len = bytes.clone().try_get_u32_le().map_or(usize::MAX, |len| len as usize);
                (Some(4), len.saturating_add(4))
            }
            Page::DataPage { .. } => return Ok(None),
        };
        if at > bytes.len() {
            return bad("damaged: the levels of a page reach behind its end");
        }
        let levels = levels.map(|from| Levels::new(bytes.slice(from..at)));
        Ok(Some(Self { bytes: bytes.clone(), at, levels, left: rows }))
    }

    fn read(&mut self, wanted: usize, sink: &mut impl Sink) -> Result<usize> {
        let wanted = wanted.min(self.left);
        let mut rows = 0;
        while rows < wanted {
            let run = self.levels.as_mut().map_or(Some((true, wanted)), |levels| levels.next(wanted - rows));
            let Some((present, count)) = run else { return bad("damaged: a page has fewer levels than rows") };
            match present {
                true => self.put(count, sink)?,
                false => (0..count).for_each(|_| sink.put_null()),
            }
            rows += count;
        }
        self.left -= rows;
        Ok(rows)
    }

    fn put(&mut self, count: usize, sink: &mut impl Sink) -> Result<()> {
        for _ in 0..count {
            let value = self.bytes[self.at..].split_first_chunk().and_then(|(len, rest)| {
                let len = u32::from_le_bytes(*len) as usize;
                rest.get(..len)
            });
            let Some(value) = value else { return bad("damaged: a value reaches behind the end of its page") };
            self.at += 4 + value.len();
            sink.put(value, || self.bytes.slice_ref(value).into());
        }
        Ok(())
    }
}

/// Reads the pages that the crate has to read.
struct Other {
    handed: Handed,
    reader: ColumnReaderImpl<ByteArrayType>,
    values: Vec<ByteArray>,
    levels: Vec<i16>,
}

impl Other {
    fn read(&mut self, wanted: usize, full: i16, sink: &mut impl Sink) -> Result<usize> {
        if wanted == 0 {
            return Ok(0);
        }
        self.values.clear();
        self.levels.clear();
        let read = self.reader.read_records(wanted, Some(&mut self.levels), None, &mut self.values);
        let (rows, ..) = read.map_err(table_error)?;
        if rows == 0 || rows > wanted {
            return bad("damaged: a page ends before its rows do");
        }
        let mut values = self.values.iter();
        for row in 0..rows {
            let present = full == 0 || self.levels.get(row) == Some(&full);
            match if present { values.next() } else { None } {
                Some(value) => sink.put(value.data(), || value.clone()),
                None => sink.put_null(),
            }
        }
        // Values hold the page they lie in.
        self.values.clear();
        Ok(rows)
    }
}

/// Pages handed to a reader of the crate one by one. Clones share them.
#[derive(Clone, Default)]
struct Handed(Arc<Mutex<VecDeque<Page>>>);

impl Handed {
    fn put(&self, page: Page) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(page);
    }
}

impl Iterator for Handed {
    type Item = parquet::errors::Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().map(Ok)
    }
}

impl PageReader for Handed {
    fn get_next_page(&mut self) -> parquet::errors::Result<Option<Page>> {
        self.next().transpose()
    }

    fn peek_next_page(&mut self) -> parquet::errors::Result<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> parquet::errors::Result<()> {
        self.next();
        Ok(())
    }
}
