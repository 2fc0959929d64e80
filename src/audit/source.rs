//! Access logs as a source of the ordered pipeline: blocks of whole lines with their format.

use crate::audit::address_ranges::is_address;
use crate::audit::block_audit::BlockAudit;
use crate::audit::detect::{complete, detect, first_lines};
use crate::audit::format::{FormatParser, LogFormat};
use crate::audit::json_log::{JsonKeys, docker_output};
use crate::audit::record::is_agent;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::without_mark;
use crate::pipeline::blocks::{LineBlock, LineBlockReader, LineInput};
use crate::pipeline::progress::{Progress, ProgressMeter, ReportedBytes};
use crate::pipeline::source::BlockSource;
use crate::records::{InputFormat, RecordOptions};
use std::path::PathBuf;
use std::sync::Arc;

/// Fields without which a log is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequiredFields {
    pub host: bool,
    /// The address of the client.
    pub client: bool,
}

/// Reads logs block by block, detects their formats, and reports progress.
pub(super) struct LogSource<'r> {
    /// Each line is a text: the formats of lists do not apply.
    options: RecordOptions,
    format: Option<Arc<LogFormat>>,
    required: RequiredFields,
    meter: ProgressMeter<'r>,
}

/// An open log.
pub(super) struct LogReader {
    blocks: LineBlockReader,
    /// The format of the next block.
    format: Option<Arc<LogFormat>>,
    is_checked: bool,
    agents: AgentSearch,
    reported: ReportedBytes,
}

/// Whole lines of a log, and the results of auditing them.
#[derive(Default)]
pub(super) struct LogBlock {
    pub lines: LineBlock,
    pub format: Option<Arc<LogFormat>>,
    /// The log of the lines.
    pub path: PathBuf,
    pub audit: BlockAudit,
}

impl<'r> LogSource<'r> {
    /// A source of logs in this format, or each in its detected one.
    pub(super) fn new(
        format: Option<LogFormat>,
        required: RequiredFields,
        progress: &'r (dyn Fn(Progress) + Sync),
    ) -> Self {
        let options = RecordOptions::default().format(InputFormat::Text);
        Self {
            options,
            format: format.map(Arc::new),
            required,
            meter: ProgressMeter::new(progress),
        }
    }

    /// Detects the format by the first block, and refuses a log that lacks a required field.
    fn check(&self, reader: &mut LogReader, block: &mut LineBlock) -> Result<()> {
        block.load()?;
        if reader.format.is_none() {
            reader.format = detect(block.data()).map(Arc::new);
        }
        if let Some(completed) = reader
            .format
            .as_ref()
            .and_then(|format| complete(format, block.data()))
        {
            reader.format = Some(Arc::new(completed));
        }
        let Some(format) = &reader.format else {
            let keys = JsonKeys::default();
            let what = first_lines(block.data())
                .filter(|line| docker_output(line).is_none())
                .find_map(|line| keys.defect(line));
            let what = what.unwrap_or_else(|| {
                "none of its first lines has the format of a known access log".to_owned()
            });
            return Err(bad_log(&what).with_remedy(Remedy::NameLogFormat));
        };
        if !format.has_user_agent() {
            let what = match format.0 {
                FormatParser::Text(_) => {
                    "its format (common) has no User-Agent, so no line names a crawler".to_owned()
                }
                _ => format!(
                    "its lines have no User-Agent, so no line names a crawler: {}",
                    format.missing_agent()
                ),
            };
            return Err(bad_log(&what).with_remedy(Remedy::NameLogFormat));
        }
        // In JSON, only lines show which fields the log has. A log without a readable line passes:
        // its lines are counted as invalid.
        let readable = first_lines(block.data()).filter(|line| format.record(line).is_some());
        let samples: Vec<&[u8]> = readable.collect();
        if samples.is_empty() {
            return Ok(());
        }
        if self.required.host && !samples.iter().any(|line| format.has_host(line)) {
            return Err(bad_log("its lines do not name the host of the requests")
                .with_remedy(Remedy::NameHost));
        }
        if !self.required.client {
            return Ok(());
        }
        let clients: Vec<_> = samples
            .iter()
            .filter_map(|line| format.record(line))
            .map(|record| record.client.into_owned())
            .collect();
        if !clients.iter().any(|client| is_address(client)) {
            let shown = clients.iter().find(|client| !client.is_empty());
            let shown = shown.map_or(String::new(), |client| {
                format!(
                    " (the field of the client is `{}`)",
                    String::from_utf8_lossy(client)
                )
            });
            let what = format!(
                "its lines do not name the addresses of the clients{shown}, so they verify no crawler; \
                 log them, give the format that has them, or audit without published addresses"
            );
            return Err(bad_log(&what));
        }
        Ok(())
    }
}

/// The lines of which one must have a User-Agent.
const LINES_FOR_AGENT: usize = 1000;

/// The search for a line with a User-Agent. A log without any names no crawler, which would read as
/// if no crawler broke the rules.
#[derive(Debug, Default)]
struct AgentSearch {
    /// The lines without one so far that have the format of the log.
    lines: usize,
    is_done: bool,
}

impl AgentSearch {
    /// Searches the next lines of a log. The error is that of the last line that was to have one.
    fn search(&mut self, lines: &[u8], format: &LogFormat) -> Option<Error> {
        let mut changed: Option<LogFormat> = None;
        for line in lines.split(|byte| *byte == b'\n') {
            let format = changed.as_ref().unwrap_or(format);
            if format.is_comment(line) {
                changed = format.after_line(line).or(changed);
                continue;
            }
            let Some(record) = format.record(without_mark(line)) else {
                continue;
            };
            self.lines += 1;
            if is_agent(&record.user_agent) {
                self.is_done = true;
                return None;
            }
            if self.lines == LINES_FOR_AGENT {
                return Some(self.error(format));
            }
        }
        None
    }

    /// The error of a log that ended before it had a User-Agent.
    fn at_end(&self, format: Option<&LogFormat>) -> Option<Error> {
        let format = format.filter(|_| !self.is_done && self.lines > 0)?;
        Some(self.error(format))
    }

    fn error(&self, format: &LogFormat) -> Error {
        let lines = match self.lines {
            1 => "its line has no User-Agent, so it names no crawler".to_owned(),
            LINES_FOR_AGENT => {
                "none of its first 1,000 lines has a User-Agent, so no line names a crawler"
                    .to_owned()
            }
            lines => {
                format!("none of its {lines} lines has a User-Agent, so no line names a crawler")
            }
        };
        let what = format!("{lines}: {}; or leave the log out", format.missing_agent());
        bad_log(&what)
    }
}

fn bad_log(what: &str) -> Error {
    ErrorKind::BadList(what.to_owned()).into()
}

impl BlockSource for LogSource<'_> {
    type Input = LineInput;
    type Reader = Box<LogReader>;
    type Block = LogBlock;

    fn open(&self, input: LineInput) -> Result<Box<LogReader>> {
        let blocks = LineBlockReader::new(input, &self.options)?;
        Ok(Box::new(LogReader {
            blocks,
            format: self.format.clone(),
            is_checked: false,
            agents: AgentSearch::default(),
            reported: ReportedBytes::default(),
        }))
    }

    fn read(
        &self,
        reader: &mut Box<LogReader>,
        block: &mut LogBlock,
        grow: &dyn Fn(usize),
    ) -> Result<bool> {
        let has_block = reader.blocks.next(&mut block.lines, grow)?;
        self.meter
            .advance(&mut reader.reported, reader.blocks.bytes_read());
        if !has_block {
            return match reader.agents.at_end(reader.format.as_deref()) {
                Some(err) => Err(err.at(reader.blocks.path())),
                None => Ok(false),
            };
        }
        if !reader.is_checked {
            self.check(reader, &mut block.lines)
                .map_err(|err| err.at(reader.blocks.path()))?;
            reader.is_checked = true;
        }
        block.format = reader.format.clone();
        reader.blocks.path().clone_into(&mut block.path);
        if let Some(format) = reader.format.as_deref().filter(|_| !reader.agents.is_done) {
            block.lines.load()?;
            if let Some(err) = reader.agents.search(block.lines.data(), format) {
                return Err(err.at(reader.blocks.path()));
            }
        }
        if let Some(format) = reader.format.as_ref().filter(|format| format.is_w3c()) {
            // A header changes the format of the lines after it, also in other blocks.
            block.lines.load()?;
            reader.format = format
                .after_lines(block.lines.data())
                .map(Arc::new)
                .or(reader.format.take());
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

    fn bytes_held(&self, block: &LogBlock) -> usize {
        block.lines.bytes_held() + block.audit.bytes_held()
    }
}
