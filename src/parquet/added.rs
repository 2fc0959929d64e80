//! The columns of origins, reasons, crawl-delays and deciding lines, which annotating adds to those
//! of verdicts, and a filter to disallowed rows.

use crate::agent::Agent;
use crate::container::added::{AddedColumn, AddedColumns, AddedMemory};
use crate::container::judged_records::RecordUrls;
use crate::error::Result;
use crate::judge::{CrawlDelays, Judge, Reason, RefusingLine, VerdictsRef};
use crate::parquet::columns::{VerdictColumns, optional_field};
use crate::parquet::input::{bad, table_error};
use crate::parquet::spool::ChunkWriter;
use crate::url::Origin;
use bytes::Bytes;
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::schema::types::TypePtr;
use std::ops::Range;
use std::sync::Arc;

/// Fills the added columns of batches. Shared between threads.
pub(super) struct ColumnAdder<'j> {
    columns: AddedColumns,
    judge: &'j Judge,
    delays: Option<CrawlDelays<'j>>,
}

/// The values of the added columns for the rows of a batch. A column that is not added is empty.
#[derive(Debug, Default)]
pub(super) struct AddedBatch {
    origins: Vec<Option<ByteArray>>,
    reasons: Vec<Option<Reason>>,
    /// For each agent the delay in seconds.
    delays: Vec<Vec<Option<f64>>>,
    /// For each agent the lines that disallow the URLs.
    lines: Vec<Vec<Option<RefusingLine>>>,
    /// The names of the filter lists that name the URL, and their entry.
    lists: Vec<Option<ByteArray>>,
    entries: Vec<Option<Arc<str>>>,
    columns: AddedColumns,
}

impl<'j> ColumnAdder<'j> {
    pub(super) fn new(columns: AddedColumns, judge: &'j Judge) -> Self {
        Self {
            columns,
            judge,
            delays: columns
                .has(AddedColumn::CrawlDelay)
                .then(|| CrawlDelays::new(judge)),
        }
    }

    /// The columns next to those of the verdicts, which may have a name.
    pub(super) fn fields(
        &self,
        verdicts: VerdictColumns,
        name: Option<&str>,
    ) -> Result<Vec<TypePtr>> {
        let prefix = verdicts.prefix(name);
        let mut fields = Vec::new();
        for column in self.columns.iter() {
            let (physical, logical) = match column {
                AddedColumn::CrawlDelay => (PhysicalType::DOUBLE, None),
                AddedColumn::Line => (PhysicalType::INT32, None),
                _ => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            };
            for name in column.column_names(&prefix, self.judge.agents()) {
                fields.push(optional_field(&name, physical, logical.clone())?);
            }
        }
        Ok(fields)
    }

    /// The agents with columns of lines.
    fn agents_with_lines(&self) -> &[Agent] {
        match self.columns.has_lines() {
            true => self.judge.agents(),
            false => &[],
        }
    }

    /// The agents with a column of crawl-delays.
    fn delayed_agents(&self) -> &[Agent] {
        match &self.delays {
            Some(_) => self.judge.agents(),
            None => &[],
        }
    }

    /// Columns of nulls for a batch of rows.
    pub(super) fn batch(&self, rows: usize) -> AddedBatch {
        let rows_if = |column| if self.columns.has(column) { rows } else { 0 };
        AddedBatch {
            origins: vec![None; rows_if(AddedColumn::Origin)],
            reasons: vec![None; rows_if(AddedColumn::Reason)],
            delays: vec![vec![None; rows]; self.delayed_agents().len()],
            lines: vec![vec![None; rows]; self.agents_with_lines().len()],
            lists: vec![None; rows_if(AddedColumn::List)],
            entries: vec![None; rows_if(AddedColumn::Entry)],
            columns: self.columns,
        }
    }

    /// Sets the values of neighbouring rows with the same verdicts.
    pub(super) fn set(
        &self,
        batch: &mut AddedBatch,
        rows: Range<usize>,
        urls: RecordUrls<'_>,
        verdicts: &VerdictsRef<'_>,
        memory: &mut AddedMemory,
    ) -> Result<()> {
        if let Some(origins) = batch.origins.get_mut(rows.clone()) {
            if verdicts.row().is_some() {
                // The URLs are of one site.
                origins.fill(urls.iter().next().and_then(origin_of));
            } else {
                let of_urls = origins.iter_mut().zip(urls.iter());
                of_urls.for_each(|(origin, url)| *origin = origin_of(url));
            }
        }
        if let Some(reasons) = batch.reasons.get_mut(rows.clone()) {
            reasons.fill(Some(verdicts.reason()));
        }
        if let Some(delays) = &self.delays {
            let of_agents = delays.of_agents(verdicts, &mut memory.delays)?;
            for (agent, column) in batch.delays.iter_mut().enumerate() {
                let delay = of_agents.get(agent).copied().flatten();
                // A row with a long value comes twice, so it may have another value already.
                column[rows.clone()].fill(delay.map(|delay| delay.as_secs_f64()));
            }
        }
        let engine = self.judge.engine();
        for (agent, column) in batch.lines.iter_mut().enumerate() {
            for (line, url) in column[rows.clone()].iter_mut().zip(urls.iter()) {
                *line = memory.refusing_line(engine, url, verdicts, agent)?.cloned();
            }
        }
        if let Some(lists) = batch.lists.get_mut(rows.clone()) {
            let found = verdicts.list_match();
            lists.fill(found.map(|found| found.list_names().into_bytes().into()));
        }
        if let Some(entries) = batch.entries.get_mut(rows) {
            let found = verdicts.list_match();
            entries.fill(found.map(|found| memory.entry(found)).transpose()?);
        }
        Ok(())
    }
}

fn origin_of(url: &[u8]) -> Option<ByteArray> {
    let mut key = Vec::new();
    Origin::append(url, &mut key).then(|| key.into())
}

impl AddedBatch {
    /// The memory without the texts of origins, lines and entries, which rows share.
    pub(super) fn bytes_held(&self) -> usize {
        let delays: usize = self.delays.iter().map(Vec::capacity).sum();
        let lines: usize = self.lines.iter().map(Vec::capacity).sum();
        self.origins.capacity() * size_of::<Option<ByteArray>>()
            + self.reasons.capacity() * size_of::<Option<Reason>>()
            + delays * size_of::<Option<f64>>()
            + lines * size_of::<Option<RefusingLine>>()
            + self.lists.capacity() * size_of::<Option<ByteArray>>()
            + self.entries.capacity() * size_of::<Option<Arc<str>>>()
    }

    /// Makes these rows null, which judging sees as empty lines.
    pub(super) fn drop_nulls(&mut self, null_rows: &[usize]) {
        for row in null_rows {
            if let Some(reason) = self.reasons.get_mut(*row) {
                *reason = None;
            }
        }
    }

    /// Keeps the rows that `is_kept` marks.
    pub(super) fn retain(&mut self, is_kept: &[bool]) {
        retain(&mut self.origins, is_kept);
        retain(&mut self.reasons, is_kept);
        for delays in &mut self.delays {
            retain(delays, is_kept);
        }
        for lines in &mut self.lines {
            retain(lines, is_kept);
        }
        retain(&mut self.lists, is_kept);
        retain(&mut self.entries, is_kept);
    }

    /// Encodes the columns, in the order of [`ColumnAdder::fields`].
    pub(super) fn write(&self, writers: &mut [ChunkWriter]) -> Result<()> {
        let mut writers = writers.iter_mut();
        for column in self.columns.iter() {
            match column {
                AddedColumn::Origin => {
                    write_texts(writers.next(), &self.origins, ByteArray::clone)?;
                }
                AddedColumn::Reason => write_texts(writers.next(), &self.reasons, |reason| {
                    Bytes::from_static(reason.name().as_bytes()).into()
                })?,
                AddedColumn::CrawlDelay => {
                    for delays in &self.delays {
                        write_delays(writers.next(), delays)?;
                    }
                }
                AddedColumn::Rule => {
                    for lines in &self.lines {
                        write_texts(writers.next(), lines, |line| text_of(&line.text))?;
                    }
                }
                AddedColumn::Line => {
                    for lines in &self.lines {
                        write_numbers(writers.next(), lines)?;
                    }
                }
                AddedColumn::Agent => {
                    for lines in &self.lines {
                        write_texts(writers.next(), lines, |line| text_of(&line.agent))?;
                    }
                }
                AddedColumn::List => {
                    write_texts(writers.next(), &self.lists, ByteArray::clone)?;
                }
                AddedColumn::Entry => write_texts(writers.next(), &self.entries, text_of)?,
            }
        }
        Ok(())
    }
}

fn write_delays(chunk: Option<&mut ChunkWriter>, delays: &[Option<f64>]) -> Result<()> {
    let Some(ColumnWriter::DoubleColumnWriter(writer)) = chunk.map(|chunk| &mut chunk.writer)
    else {
        return bad("a column of crawl-delays has another type");
    };
    let values: Vec<f64> = delays.iter().copied().flatten().collect();
    writer
        .write_batch(&values, Some(&levels(delays)), None)
        .map(drop)
        .map_err(table_error)
}

fn retain<T>(column: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    column.retain(|_| is_kept.next().is_some_and(|is_kept| *is_kept));
}

/// A shared text, without a copy.
fn text_of(text: &Arc<str>) -> ByteArray {
    Bytes::from_owner(SharedText(Arc::clone(text))).into()
}

struct SharedText(Arc<str>);

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

fn write_numbers(chunk: Option<&mut ChunkWriter>, lines: &[Option<RefusingLine>]) -> Result<()> {
    let Some(ColumnWriter::Int32ColumnWriter(writer)) = chunk.map(|chunk| &mut chunk.writer) else {
        return bad("a column of lines has another type");
    };
    // A robots.txt has at most 500 KiB, so its lines have small numbers.
    let numbers = lines.iter().flatten().map(|line| line.number.cast_signed());
    let numbers: Vec<i32> = numbers.collect();
    writer
        .write_batch(&numbers, Some(&levels(lines)), None)
        .map(drop)
        .map_err(table_error)
}

fn write_texts<T>(
    chunk: Option<&mut ChunkWriter>,
    column: &[Option<T>],
    text: impl Fn(&T) -> ByteArray,
) -> Result<()> {
    let Some(ColumnWriter::ByteArrayColumnWriter(writer)) = chunk.map(|chunk| &mut chunk.writer)
    else {
        return bad("a column of texts has another type");
    };
    let values: Vec<ByteArray> = column.iter().flatten().map(text).collect();
    writer
        .write_batch(&values, Some(&levels(column)), None)
        .map(drop)
        .map_err(table_error)
}

/// The definition level of each row: 0 if it is null, else 1.
fn levels<T>(column: &[Option<T>]) -> Vec<i16> {
    let levels = column.iter().map(|value| i16::from(value.is_some()));
    levels.collect()
}
