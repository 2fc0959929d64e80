//! Access logs as a source of the ordered pipeline: blocks of whole lines with their format.

use crate::audit::block_audit::BlockAudit;
use crate::audit::detect::{detect, first_lines};
use crate::audit::format::{FormatParser, LogFormat};
use crate::audit::w3c::W3cColumns;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::pipeline::blocks::{LineBlock, LineBlockReader};
use crate::pipeline::source::BlockSource;
use crate::pipeline::{FilterProgress, Input};
use crate::records::{InputFormat, RecordOptions, without_end};
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks in flight beyond which no later log is read: 128 MiB of lines.
const MAX_IN_FLIGHT: usize = 512;

/// Reads logs block by block, detects their formats, and reports progress.
pub(super) struct LogSource<'r> {
    /// Each line is a text: the formats of lists do not apply.
    options: RecordOptions,
    format: Option<Arc<LogFormat>>,
    needs_host: bool,
    progress: &'r (dyn Fn(FilterProgress) + Sync),
    bytes_read: Mutex<u64>,
}

/// An open log.
pub(super) struct LogReader {
    blocks: LineBlockReader,
    /// The format of the next block.
    format: Option<Arc<LogFormat>>,
    is_checked: bool,
    /// The bytes that progress reports include already.
    reported: u64,
}

/// Whole lines of a log, and the results of auditing them.
#[derive(Default)]
pub(super) struct LogBlock {
    pub lines: LineBlock,
    pub format: Option<Arc<LogFormat>>,
    pub audit: BlockAudit,
}

impl<'r> LogSource<'r> {
    /// A source of logs in this format, or each in its detected one. `needs_host` refuses logs
    /// without hosts.
    pub(super) fn new(
        format: Option<LogFormat>,
        needs_host: bool,
        progress: &'r (dyn Fn(FilterProgress) + Sync),
    ) -> Self {
        let options = RecordOptions::default().format(InputFormat::Text);
        Self { options, format: format.map(Arc::new), needs_host, progress, bytes_read: Mutex::default() }
    }

    fn report_progress(&self, reader: &mut LogReader) {
        let bytes_read = reader.blocks.bytes_read();
        // The lock is held during the call, so that the figures never go back.
        let mut total = self.bytes_read.lock().unwrap_or_else(PoisonError::into_inner);
        *total += bytes_read - reader.reported;
        reader.reported = bytes_read;
        (self.progress)(FilterProgress { bytes_read: *total });
    }

    /// Detects the format by the first block, and refuses a log whose requests have no host.
    fn check(&self, reader: &mut LogReader, block: &mut LineBlock) -> Result<()> {
        block.load()?;
        let bad = |what: &str, remedy| Err(Error::from(ErrorKind::BadList(what.to_owned())).with_remedy(remedy));
        if reader.format.is_none() {
            reader.format = detect(block.data()).map(Arc::new);
        }
        let Some(format) = &reader.format else {
            return bad("none of its first lines has the format of a known access log", Remedy::NameLogFormat);
        };
        if !format.has_agent() && !matches!(format.0, FormatParser::W3c(_)) {
            return bad("its format (common) has no User-Agent, so no line names a crawler", Remedy::NameLogFormat);
        }
        let mut readable = first_lines(block.data()).filter(|line| format.record(line).is_some());
        let sample = readable.next().unwrap_or_default();
        if self.needs_host && !sample.is_empty() && !format.has_host(sample) {
            return bad("its lines do not name the host of the requests", Remedy::NameHost);
        }
        Ok(())
    }
}

impl BlockSource for LogSource<'_> {
    type Input = Input;
    type Reader = Box<LogReader>;
    type Block = LogBlock;

    fn open(&self, input: Input) -> Result<Box<LogReader>> {
        let blocks = LineBlockReader::new(input, &self.options)?;
        Ok(Box::new(LogReader { blocks, format: self.format.clone(), is_checked: false, reported: 0 }))
    }

    fn read(&self, reader: &mut Box<LogReader>, block: &mut LogBlock) -> Result<bool> {
        let has_block = reader.blocks.next(&mut block.lines)?;
        self.report_progress(reader);
        if !has_block {
            return Ok(false);
        }
        if !reader.is_checked {
            self.check(reader, &mut block.lines).map_err(|err| err.at(reader.blocks.path()))?;
            reader.is_checked = true;
        }
        block.format = reader.format.clone();
        if reader.format.as_ref().is_some_and(|format| matches!(format.0, FormatParser::W3c(_))) {
            // A later `#Fields:` line changes the format of the lines after it, also in other blocks.
            block.lines.load()?;
            if let Some(columns) = last_columns(block.lines.data()) {
                reader.format = Some(Arc::new(LogFormat(FormatParser::W3c(columns))));
            }
        }
        Ok(true)
    }

    /// Reads the lines of a plain file.
    fn load(&self, block: &mut LogBlock) -> Result<()> {
        block.lines.load()
    }

    /// Decompressing takes longer than auditing. All workers read a plain file at once as it is.
    fn is_slow(&self, reader: &Box<LogReader>) -> bool {
        reader.blocks.is_compressed()
    }

    fn max_in_flight(&self, _threads: usize) -> usize {
        MAX_IN_FLIGHT
    }
}

/// The columns that the last `#Fields:` line of a block names.
fn last_columns(data: &[u8]) -> Option<W3cColumns> {
    let starts = memchr::memrchr_iter(b'#', data).filter(|&at| at == 0 || data[at - 1] == b'\n');
    let line_at = |at: usize| {
        let end = memchr::memchr(b'\n', &data[at..]).map_or(data.len(), |len| at + len);
        without_end(&data[at..end])
    };
    starts.filter_map(|at| W3cColumns::of_line(line_at(at))).next()
}
