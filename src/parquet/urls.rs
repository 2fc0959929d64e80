//! Reads the column of URLs in batches of lines, one value per line, because the judge works on
//! lines.

use crate::container::judged_records::TimedLines;
use crate::error::Result;
use crate::parquet::input::{ParquetInput, bad, guard};
use crate::parquet::times::TimeReader;
use crate::parquet::values::{ValueReader, ValueSink};
use crate::pipeline::{FilterStats, TimesFound};
use crate::records::UrlComposer;
use crate::url::page_url;
use parquet::data_type::ByteArray;
use std::collections::{HashMap, HashSet};

/// The rows of a batch, and the bytes of text at which it ends earlier.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 256 << 10;

/// The rows read at once. A batch can exceed its size by this many values.
const STEP: usize = 1024;

/// A longer value is not copied: a dictionary can repeat one long value a thousand times.
const MAX_COPIED: usize = 16 << 10;

/// The memory of long values at which a batch ends, unless they repeat earlier ones of the batch.
const MAX_LONG_BYTES: usize = 4 << 20;

/// A longer value is not a URL, like a longer line of a list.
const MAX_URL: usize = 64 << 20;

/// Neighbouring rows of one row group.
#[derive(Debug, Default)]
pub(super) struct UrlBatch {
    /// A line for each row. It is empty if the row is null, or if its value is long or has a line
    /// end.
    pub text: Vec<u8>,
    pub rows: usize,
    /// Bytes of the values.
    pub bytes: u64,
    /// The rows that are null, in order.
    pub nulls: Vec<usize>,
    /// The time of each row in seconds since 1970, `None` if it has no readable one. Empty if no
    /// times are asked for.
    pub times: Vec<Option<i64>>,
    /// The start of the first value that is not a time, for a message.
    pub unreadable_time: Option<Box<[u8]>>,
    /// Values that are too long to copy.
    pub long: Vec<LongValue>,
    /// The index in `long` of each value, by its address and its length. A dictionary gives every
    /// row with a value the same bytes.
    long_by_address: HashMap<(usize, usize), usize>,
    /// The most bytes that the long values keep in memory.
    long_bytes: usize,
    /// The ends of the lines of the last step.
    ends: Vec<usize>,
}

/// A value that is too long to copy.
#[derive(Debug)]
pub(super) struct LongValue {
    pub value: ByteArray,
    /// The rows with this value, in order, or by their times if these are asked for.
    pub rows: Vec<usize>,
    /// The times of these rows, if these are asked for.
    pub times: Vec<Option<i64>>,
}

/// Reads the column of URLs of one row group.
pub(super) struct UrlReader<'q> {
    pub input: &'q ParquetInput,
    values: ValueReader,
    /// `None` if no times are asked for.
    times: Option<TimeReader>,
    left: usize,
    row_group: usize,
}

impl<'q> UrlReader<'q> {
    pub(super) fn new(input: &'q ParquetInput, row_group: usize) -> Result<Self> {
        let left = input.meta.row_group(row_group).num_rows() as usize;
        Ok(Self {
            input,
            values: ValueReader::new(input, row_group, input.column)?,
            times: TimeReader::new(input, row_group)?,
            left,
            row_group,
        })
    }

    /// Makes `batch` the next rows; `false` after the last.
    pub(super) fn next(&mut self, batch: &mut UrlBatch) -> Result<bool> {
        batch.text.clear();
        batch.nulls.clear();
        batch.times.clear();
        batch.unreadable_time = None;
        batch.long.clear();
        batch.long_by_address.clear();
        batch.long_bytes = 0;
        batch.rows = 0;
        batch.bytes = 0;
        let mut lines = LineWriter {
            batch,
            composer: self.input.composer.as_ref(),
        };
        while self.left > 0 && lines.batch.rows < BATCH_ROWS && lines.batch.text.len() < BATCH_BYTES
        {
            let start = lines.batch.text.len();
            lines.batch.ends.clear();
            let (long_values, rows_before) = (lines.batch.long.len(), lines.batch.rows);
            let rows = guard(|| self.values.read(STEP.min(self.left), &mut lines))?;
            if rows == 0 {
                return bad(format!(
                    "damaged: row group {} ends {} rows too early",
                    self.row_group, self.left
                ));
            }
            if let Some(times) = &mut self.times {
                let UrlBatch {
                    times: read,
                    unreadable_time,
                    ..
                } = &mut *lines.batch;
                guard(|| times.read(rows, read, unreadable_time))?;
            }
            self.left -= rows;
            // One search in all values takes a fifth of the time of a search in each.
            if memchr::memchr_iter(b'\n', &lines.batch.text[start..]).count() > rows {
                lines.batch.blank_multiline_values(start);
            }
            if lines.batch.long.len() > long_values {
                lines.batch.long_bytes += self.values.bytes_kept();
                if rows_before > 0 && lines.batch.long_bytes > MAX_LONG_BYTES {
                    break;
                }
            }
        }
        batch.sort_long_rows();
        Ok(batch.rows > 0)
    }
}

/// Appends values to a batch as lines.
struct LineWriter<'b, 'c> {
    batch: &'b mut UrlBatch,
    composer: Option<&'c UrlComposer>,
}

impl ValueSink for LineWriter<'_, '_> {
    #[inline]
    fn push_null(&mut self) {
        self.batch.nulls.push(self.batch.rows);
        self.batch.end_line();
    }

    #[inline]
    fn push(&mut self, value: &[u8], whole: impl FnOnce() -> ByteArray) {
        self.batch.bytes += value.len() as u64;
        if value.len() > MAX_COPIED {
            self.batch.add_long(value, whole, self.composer);
        } else {
            let value = page_url(value);
            match self.composer {
                None => self.batch.text.extend_from_slice(value),
                Some(composer) => composer.append(value, &mut self.batch.text),
            }
        }
        self.batch.end_line();
    }
}

impl UrlBatch {
    /// The memory of the lines and of the long values.
    pub(super) fn bytes_held(&self) -> usize {
        let numbers = self.nulls.capacity() + self.ends.capacity();
        let times = self.times.capacity() * size_of::<Option<i64>>();
        self.text.capacity() + numbers * size_of::<usize>() + times + self.long_bytes
    }

    /// Ends the line of a row.
    #[inline]
    fn end_line(&mut self) {
        self.text.push(b'\n');
        self.ends.push(self.text.len());
        self.rows += 1;
    }

    /// The counts of the batch before its rows are counted.
    pub(super) fn new_stats(&self) -> FilterStats {
        FilterStats {
            times: TimesFound::of(&self.times, self.unreadable_time.as_deref()),
            ..FilterStats::of_bytes(self.bytes)
        }
    }

    /// The lines with their times.
    pub(super) fn lines(&self) -> TimedLines<'_> {
        TimedLines {
            text: &self.text,
            times: &self.times,
        }
    }

    /// Sorts the rows of each long value by their times, if these are asked for. Rows with the same
    /// verdicts are then neighbours.
    fn sort_long_rows(&mut self) {
        let Self { long, times, .. } = self;
        if times.is_empty() {
            return;
        }
        for value in long {
            value.rows.sort_by_key(|row| times[*row]);
            value.times = value.rows.iter().map(|row| times[*row]).collect();
        }
    }

    /// Removes the lines of long values, and their times, so that lines no longer have the numbers
    /// of their rows.
    pub(super) fn remove_long_lines(&mut self) {
        if self.long.is_empty() {
            return;
        }
        let long: HashSet<usize> = self
            .long
            .iter()
            .flat_map(|long| &long.rows)
            .copied()
            .collect();
        let read = std::mem::take(&mut self.text);
        for (row, line) in read.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if !long.contains(&row) {
                self.text.extend_from_slice(line);
            }
        }
        let mut row = 0;
        self.times.retain(|_| {
            let is_kept = !long.contains(&row);
            row += 1;
            is_kept
        });
    }

    /// Empties the lines from `start` on whose value has a line end.
    #[cold]
    fn blank_multiline_values(&mut self, start: usize) {
        let read = self.text.split_off(start);
        let mut from = 0;
        for end in &self.ends {
            let line = &read[from..end - start];
            let is_multiline = line
                .strip_suffix(b"\n")
                .is_some_and(|value| value.contains(&b'\n'));
            self.text
                .extend_from_slice(if is_multiline { b"\n" } else { line });
            from = end - start;
        }
    }

    #[cold]
    fn add_long(
        &mut self,
        value: &[u8],
        whole: impl FnOnce() -> ByteArray,
        composer: Option<&UrlComposer>,
    ) {
        if value.len() > MAX_URL {
            return;
        }
        let address = (value.as_ptr() as usize, value.len());
        if let Some(&known) = self.long_by_address.get(&address) {
            self.long[known].rows.push(self.rows);
            return;
        }
        let value = whole();
        let url_len = page_url(value.data()).len();
        let value = value.slice(value.len() - url_len, url_len);
        let value = match composer {
            None => value,
            Some(composer) => {
                let mut url = Vec::with_capacity(value.len());
                composer.append(value.data(), &mut url);
                self.long_bytes += url.len();
                url.into()
            }
        };
        self.long_bytes += value.len();
        self.long_by_address.insert(address, self.long.len());
        self.long.push(LongValue {
            value,
            rows: vec![self.rows],
            times: Vec::new(),
        });
    }
}
