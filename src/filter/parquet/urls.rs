//! The column of URLs as text, a batch at a time: one value a line, as the judge likes it best.

use super::input::{ParquetInput, bad, guard, table_error};
use crate::error::Result;
use crate::records::Compose;
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::reader::SerializedPageReader;
use std::sync::Arc;

/// Rows in a batch, and bytes of text behind which it ends before.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 256 << 10;

/// Rows taken at once: as many long values can lie in a batch beyond its size.
const STEP: usize = 1024;

/// A longer value is not copied: a dictionary can name one long value a thousand times.
const MAX_COPIED: usize = 16 << 10;

/// A longer value is no URL, as with lines.
const MAX_URL: usize = 64 << 20;

/// Neighbouring rows of one row group.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// A line for each row; empty where there is no value, or one that no line could hold.
    pub text: Vec<u8>,
    pub rows: usize,
    /// Bytes of the values.
    pub bytes: u64,
    /// Values too long to be copied, with the number of their row.
    pub long: Vec<(usize, ByteArray)>,
    values: Vec<ByteArray>,
    levels: Vec<i16>,
}

/// Reads the column of URLs of one row group.
pub(super) struct UrlReader {
    reader: ColumnReaderImpl<ByteArrayType>,
    /// The level of a value that is there.
    full: i16,
    left: usize,
    row_group: usize,
}

impl UrlReader {
    pub(super) fn new(input: &ParquetInput, row_group: usize) -> Result<Self> {
        let group = input.meta.row_group(row_group);
        let rows = group.num_rows() as usize;
        let pages = SerializedPageReader::new(Arc::new(input.chunks.clone()), group.column(input.column), rows, None);
        let descr = input.schema().column(input.column);
        let full = descr.max_def_level();
        let reader = get_typed_column_reader(get_column_reader(descr, Box::new(pages.map_err(table_error)?)));
        Ok(Self { reader, full, left: rows, row_group })
    }

    /// Makes `batch` the next rows; `false` behind the last.
    pub(super) fn next(&mut self, batch: &mut Batch, compose: Option<&Compose>) -> Result<bool> {
        batch.text.clear();
        batch.long.clear();
        (batch.rows, batch.bytes) = (0, 0);
        while self.left > 0 && batch.rows < BATCH_ROWS && batch.text.len() < BATCH_BYTES {
            self.step(batch, compose)?;
        }
        // Values hold the page they lie in.
        batch.values.clear();
        Ok(batch.rows > 0)
    }

    fn step(&mut self, batch: &mut Batch, compose: Option<&Compose>) -> Result<()> {
        batch.values.clear();
        batch.levels.clear();
        let wanted = STEP.min(self.left);
        let (values, levels) = (&mut batch.values, &mut batch.levels);
        let read = guard(|| self.reader.read_records(wanted, Some(levels), None, values).map_err(table_error))?;
        let (rows, ..) = read;
        if rows == 0 || rows > wanted {
            return bad(format!("damaged: row group {} ends {} rows too early", self.row_group, self.left));
        }
        self.left -= rows;
        let (full, levels) = (self.full, std::mem::take(&mut batch.levels));
        let mut values = std::mem::take(&mut batch.values).into_iter();
        if full == 0 {
            values.by_ref().take(rows).for_each(|value| batch.push(Some(value), compose));
        } else {
            for level in &levels {
                let value = if *level == full { values.next() } else { None };
                batch.push(value, compose);
            }
        }
        batch.levels = levels;
        Ok(())
    }
}

impl Batch {
    #[inline]
    fn push(&mut self, value: Option<ByteArray>, compose: Option<&Compose>) {
        if let Some(value) = value {
            let bytes = value.data();
            self.bytes += bytes.len() as u64;
            if bytes.len() > MAX_COPIED {
                self.push_long(value, compose);
            } else if memchr::memchr(b'\n', bytes).is_none() {
                match compose {
                    None => self.text.extend_from_slice(bytes),
                    Some(compose) => compose.put(bytes, &mut self.text),
                }
            }
        }
        self.text.push(b'\n');
        self.rows += 1;
    }

    #[cold]
    fn push_long(&mut self, value: ByteArray, compose: Option<&Compose>) {
        if value.len() > MAX_URL {
            return;
        }
        let whole = |compose: &Compose| {
            let mut url = Vec::with_capacity(value.len());
            compose.put(value.data(), &mut url);
            url.into()
        };
        let value = compose.map(whole).unwrap_or_else(|| value.clone());
        self.long.push((self.rows, value));
    }
}
