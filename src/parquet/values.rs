//! Reads the values of a flat column of strings. Pages of plain values are read in place, other
//! pages by the `parquet` crate.
//!
//! The crate makes every value a reference-counted slice of its page. Plain pages, which nearly all
//! pages of URLs are, hold only lengths and strings, so their values need no reference. Without
//! this, annotating takes an eighth more CPU time on an unsorted list of 3.5 million URLs (0.75 s
//! instead of 0.65), and a quarter more on a sorted list of 2.4 million (0.29 s instead of 0.23; a
//! sixth more with zstd).

use crate::error::Result;
use crate::parquet::input::{ParquetInput, bad, table_error};
use crate::parquet::levels::DefinitionLevels;
use crate::parquet::pages::CheckedPages;
use bytes::{Buf, Bytes};
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes values in the order of their rows.
pub(super) trait ValueSink {
    /// Appends a row without a value.
    fn push_null(&mut self);
    /// Appends a row with this value; `whole` gives a copy to keep.
    fn push(&mut self, value: &[u8], whole: impl FnOnce() -> ByteArray);
}

/// Reads the values of a column of one row group.
pub(super) struct ValueReader {
    pages: CheckedPages,
    /// The definition level of a row with a value.
    full_level: i16,
    page: CurrentPage,
    /// The bytes of the page, and of the dictionary. A value keeps one of them in memory.
    page_len: usize,
    dictionary_len: usize,
    /// The most rows that are read at once from this page.
    max_rows: usize,
    library: LibraryReader,
}

/// The most memory of the values that are read at once from a page of delta-coded strings. Such a
/// page may repeat one long value for every row.
const MAX_DELTA_BYTES: usize = 64 << 20;

enum CurrentPage {
    Plain(PlainPage),
    /// A page that the crate reads, with its unread rows.
    Library(usize),
}

impl ValueReader {
    pub(super) fn new(input: &ParquetInput, row_group: usize, column: usize) -> Result<Self> {
        let pages = CheckedPages::open(input, row_group, column)?;
        let descr = input.schema().column(column);
        let full_level = descr.max_def_level();
        let queue = PageQueue::default();
        let reader = get_typed_column_reader(get_column_reader(descr, Box::new(queue.clone())));
        let library = LibraryReader {
            queue,
            reader,
            values: Vec::new(),
            levels: Vec::new(),
        };
        Ok(Self {
            pages,
            full_level,
            page: CurrentPage::Library(0),
            page_len: 0,
            dictionary_len: 0,
            max_rows: usize::MAX,
            library,
        })
    }

    /// The most bytes that a value which was just read keeps in memory.
    pub(super) fn bytes_kept(&self) -> usize {
        self.page_len + self.dictionary_len
    }

    /// Appends the values of at most `wanted` rows to `sink` and returns their number,
    /// 0 after the last.
    pub(super) fn read(&mut self, wanted: usize, sink: &mut impl ValueSink) -> Result<usize> {
        loop {
            let wanted = wanted.min(self.max_rows);
            let rows = match &mut self.page {
                CurrentPage::Plain(page) => page.read(wanted, sink)?,
                CurrentPage::Library(left) => {
                    let rows = self
                        .library
                        .read(wanted.min(*left), self.full_level, sink)?;
                    *left -= rows;
                    rows
                }
            };
            if rows > 0 || !self.next_page()? {
                return Ok(rows);
            }
        }
    }

    /// Starts the next page; `false` after the last.
    fn next_page(&mut self) -> Result<bool> {
        let Some(page) = self.pages.get_next_page().map_err(table_error)? else {
            return Ok(false);
        };
        let rows = page.num_values() as usize;
        let len = page.buffer().len();
        if page.is_dictionary_page() {
            self.dictionary_len = len;
        } else {
            self.page_len = len;
            self.max_rows = match page.encoding() {
                Encoding::DELTA_BYTE_ARRAY => (MAX_DELTA_BYTES / len.max(1)).max(1),
                _ => usize::MAX,
            };
        }
        match PlainPage::of(&page, self.full_level)? {
            Some(page) => self.page = CurrentPage::Plain(page),
            None => {
                self.page = CurrentPage::Library(if page.is_dictionary_page() { 0 } else { rows });
                self.library.queue.push(page);
            }
        }
        Ok(true)
    }
}

/// A page of strings. Four bytes with its length precede each string.
struct PlainPage {
    bytes: Bytes,
    at: usize,
    /// `None` if every row has a value.
    levels: Option<DefinitionLevels>,
    rows_left: usize,
}

impl PlainPage {
    /// The page, if its values are plain and its definition levels are at most 1.
    fn of(page: &Page, full_level: i16) -> Result<Option<Self>> {
        let rows = page.num_values() as usize;
        let bytes = page.buffer();
        // The offset of the definition levels, if there are any, and that of the first value. Each
        // version of the format stores the length of the levels elsewhere.
        let (levels, at) = match page {
            _ if full_level > 1 || page.encoding() != Encoding::PLAIN => return Ok(None),
            Page::DictionaryPage { .. }
            | Page::DataPageV2 {
                rep_levels_byte_len: 1..,
                ..
            } => return Ok(None),
            Page::DataPageV2 {
                def_levels_byte_len,
                ..
            } => ((full_level > 0).then_some(0), *def_levels_byte_len as usize),
            _ if full_level == 0 => (None, 0),
            Page::DataPage {
                def_level_encoding: Encoding::RLE,
                ..
            } => {
                let len = bytes
                    .clone()
                    .try_get_u32_le()
                    .map_or(usize::MAX, |len| len as usize);
                (Some(4), len.saturating_add(4))
            }
            Page::DataPage { .. } => return Ok(None),
        };
        if at > bytes.len() {
            return bad("damaged: the levels of a page reach past its end");
        }
        let levels = levels.map(|from| DefinitionLevels::new(bytes.slice(from..at)));
        Ok(Some(Self {
            bytes: bytes.clone(),
            at,
            levels,
            rows_left: rows,
        }))
    }

    fn read(&mut self, wanted: usize, sink: &mut impl ValueSink) -> Result<usize> {
        let wanted = wanted.min(self.rows_left);
        let mut rows = 0;
        while rows < wanted {
            let run = self
                .levels
                .as_mut()
                .map_or(Some((true, wanted)), |levels| levels.next(wanted - rows));
            let Some((present, count)) = run else {
                return bad("damaged: a page has fewer levels than rows");
            };
            match present {
                true => self.push_values(count, sink)?,
                false => (0..count).for_each(|_| sink.push_null()),
            }
            rows += count;
        }
        self.rows_left -= rows;
        Ok(rows)
    }

    /// Appends the next `count` values to `sink`.
    fn push_values(&mut self, count: usize, sink: &mut impl ValueSink) -> Result<()> {
        for _ in 0..count {
            let value = self.bytes[self.at..]
                .split_first_chunk()
                .and_then(|(len, rest)| {
                    let len = u32::from_le_bytes(*len) as usize;
                    rest.get(..len)
                });
            let Some(value) = value else {
                return bad("damaged: a value reaches past the end of its page");
            };
            self.at += 4 + value.len();
            sink.push(value, || self.bytes.slice_ref(value).into());
        }
        Ok(())
    }
}

/// Reads pages with the column reader of the crate.
struct LibraryReader {
    queue: PageQueue,
    reader: ColumnReaderImpl<ByteArrayType>,
    values: Vec<ByteArray>,
    levels: Vec<i16>,
}

impl LibraryReader {
    fn read(&mut self, wanted: usize, full_level: i16, sink: &mut impl ValueSink) -> Result<usize> {
        if wanted == 0 {
            return Ok(0);
        }
        self.values.clear();
        self.levels.clear();
        let read = self
            .reader
            .read_records(wanted, Some(&mut self.levels), None, &mut self.values);
        let (rows, ..) = read.map_err(table_error)?;
        if rows == 0 || rows > wanted {
            return bad("damaged: a page ends before its rows do");
        }
        let mut values = self.values.iter();
        for row in 0..rows {
            let is_present = full_level == 0 || self.levels.get(row) == Some(&full_level);
            match if is_present { values.next() } else { None } {
                Some(value) => sink.push(value.data(), || value.clone()),
                None => sink.push_null(),
            }
        }
        // Values keep their page in memory.
        self.values.clear();
        Ok(rows)
    }
}

/// The pages for a reader of the crate. Clones share them.
#[derive(Clone, Default)]
struct PageQueue(Arc<Mutex<VecDeque<Page>>>);

impl PageQueue {
    fn push(&self, page: Page) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(page);
    }
}

impl Iterator for PageQueue {
    type Item = parquet::errors::Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
            .map(Ok)
    }
}

impl PageReader for PageQueue {
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
