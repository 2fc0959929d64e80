//! The column of URLs as text, a batch at a time: one value a line, as the judge likes it best.

use crate::error::Result;
use crate::parquet::input::{ParquetInput, bad, guard};
use crate::parquet::values::{Sink, Values};
use crate::records::Compose;
use parquet::data_type::ByteArray;

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
    /// Where the lines of the rows read last end.
    ends: Vec<usize>,
}

/// Reads the column of URLs of one row group.
pub(super) struct UrlReader {
    values: Values,
    left: usize,
    row_group: usize,
}

impl UrlReader {
    pub(super) fn new(input: &ParquetInput, row_group: usize) -> Result<Self> {
        let left = input.meta.row_group(row_group).num_rows() as usize;
        Ok(Self { values: Values::new(input, row_group)?, left, row_group })
    }

    /// Makes `batch` the next rows; `false` behind the last.
    pub(super) fn next(&mut self, batch: &mut Batch, compose: Option<&Compose>) -> Result<bool> {
        batch.text.clear();
        batch.long.clear();
        (batch.rows, batch.bytes) = (0, 0);
        let mut lines = Lines { batch, compose };
        while self.left > 0 && lines.batch.rows < BATCH_ROWS && lines.batch.text.len() < BATCH_BYTES {
            let start = lines.batch.text.len();
            lines.batch.ends.clear();
            let rows = guard(|| self.values.read(STEP.min(self.left), &mut lines))?;
            if rows == 0 {
                return bad(format!("damaged: row group {} ends {} rows too early", self.row_group, self.left));
            }
            self.left -= rows;
            // Looked for in all values at once, which takes a fifth of the time.
            if memchr::memchr_iter(b'\n', &lines.batch.text[start..]).count() > rows {
                lines.batch.blank_broken(start);
            }
        }
        Ok(batch.rows > 0)
    }
}

/// Makes values the lines of a batch.
struct Lines<'b, 'c> {
    batch: &'b mut Batch,
    compose: Option<&'c Compose>,
}

impl Sink for Lines<'_, '_> {
    #[inline]
    fn put_null(&mut self) {
        self.batch.text.push(b'\n');
        self.batch.ends.push(self.batch.text.len());
        self.batch.rows += 1;
    }

    #[inline]
    fn put(&mut self, value: &[u8], whole: impl FnOnce() -> ByteArray) {
        self.batch.bytes += value.len() as u64;
        if value.len() > MAX_COPIED {
            self.batch.put_long(whole, self.compose);
        } else {
            match self.compose {
                None => self.batch.text.extend_from_slice(value),
                Some(compose) => compose.put(value, &mut self.batch.text),
            }
        }
        self.put_null();
    }
}

impl Batch {
    /// Empties those of the lines from `start` on that hold a line end.
    #[cold]
    fn blank_broken(&mut self, start: usize) {
        let read = self.text.split_off(start);
        let mut from = 0;
        for end in &self.ends {
            let line = &read[from..end - start];
            let is_broken = line.strip_suffix(b"\n").is_some_and(|value| value.contains(&b'\n'));
            self.text.extend_from_slice(if is_broken { b"\n" } else { line });
            from = end - start;
        }
    }

    #[cold]
    fn put_long(&mut self, whole: impl FnOnce() -> ByteArray, compose: Option<&Compose>) {
        let value = whole();
        if value.len() > MAX_URL {
            return;
        }
        let composed = |compose: &Compose| {
            let mut url = Vec::with_capacity(value.len());
            compose.put(value.data(), &mut url);
            url.into()
        };
        let value = compose.map(composed).unwrap_or_else(|| value.clone());
        self.long.push((self.rows, value));
    }
}
