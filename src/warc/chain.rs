//! Confirms the members of a file in order, and inflates those that no worker could.
//!
//! The end of a gzip member is known only once it is inflated. To inflate on all threads, the
//! reader guesses where a member begins ([`source`](super::source)), and workers inflate from there
//! ([`cut`](super::cut)). Compressed bytes may contain a WARC file, so a guess can be wrong. Here,
//! one thread at a time takes the blocks in order. The records of a worker count only if the member
//! before them ends exactly at the start of their block. Otherwise that member is inflated to
//! its end, piece by piece, and the rest of the block is cut again.

use crate::decode::MemberStream;
use crate::error::{Error, Result};
use crate::warc::block::{BlockContent, StoredRecord, WarcBlock};
use crate::warc::cut::{MAX_TEXT, MemberCutter, UNFINISHED};
use crate::warc::record_parser::{ParseStep, RecordParser};

/// The work on records: judging on all threads, writing to `W` on one at a time.
pub(super) trait RecordJob<W>: Sync {
    /// The memory of a worker.
    type Scratch;

    fn scratch(&self) -> Self::Scratch;

    /// Judges the records of a block, and prepares what is written.
    fn judge(&self, block: &mut WarcBlock, scratch: &mut Self::Scratch) -> Result<()>;

    /// Writes the whole records of a block.
    fn write(&self, block: &mut WarcBlock, writer: &mut W) -> Result<()>;

    /// Starts a record that is written in parts. It is the only one of `block`. A job that does not
    /// write its bytes waits for its end, and writes it then.
    fn begin(&self, _block: &WarcBlock, _writer: &mut W) -> Result<()> {
        Ok(())
    }

    /// Writes a part of that record, as it is stored.
    fn part(&self, _block: &WarcBlock, _bytes: &[u8], _writer: &mut W) -> Result<()> {
        Ok(())
    }

    /// Ends that record. Its length is known now, and it is judged again.
    fn end(&self, block: &mut WarcBlock, writer: &mut W) -> Result<()> {
        self.write(block, writer)
    }
}

/// Takes blocks in order, and writes their records.
pub(super) struct Chain<'j, J: RecordJob<W>, W> {
    job: &'j J,
    writer: W,
    scratch: J::Scratch,
    cutter: MemberCutter,
    parser: RecordParser,
    stream: MemberStream,
    /// The inflated text of a piece.
    text: Vec<u8>,
    /// The record that is written in parts.
    long: Option<LongRecord>,
}

/// A record that is too long to be held.
struct LongRecord {
    /// The record alone, once its header is known.
    block: WarcBlock,
    /// The offset of the record in the input.
    offset: u64,
    /// The stored bytes so far.
    length: u64,
    /// The bytes of the member up to the end of the record's header.
    pending: Vec<u8>,
    has_begun: bool,
}

impl LongRecord {
    fn new(block: &WarcBlock, offset: u64) -> Self {
        let block = WarcBlock {
            path: block.path.clone(),
            places: block.places.clone(),
            content: BlockContent::LongText,
            ..WarcBlock::default()
        };
        Self {
            block,
            offset,
            length: 0,
            pending: Vec::new(),
            has_begun: false,
        }
    }
}

/// The size of the pieces in which a long member is inflated.
const PIECE: usize = 256 << 10;

impl<'j, J: RecordJob<W>, W> Chain<'j, J, W> {
    pub(super) fn new(job: &'j J, writer: W) -> Self {
        Self {
            job,
            writer,
            scratch: job.scratch(),
            cutter: MemberCutter::new(),
            parser: RecordParser::default(),
            stream: MemberStream::new(),
            text: Vec::new(),
            long: None,
        }
    }

    pub(super) fn into_writer(self) -> W {
        self.writer
    }

    /// Writes the records of the next block.
    pub(super) fn take(&mut self, block: &mut WarcBlock) -> Result<()> {
        let taken = match block.content {
            BlockContent::Members { is_start } => self.take_members(block, is_start),
            BlockContent::Texts => self.job.write(block, &mut self.writer),
            BlockContent::LongText => self.start_text(block),
            BlockContent::LongTextRest { is_last } => self.continue_text(block, is_last),
        };
        taken.map_err(|err| at(err, block))
    }

    /// Ends an input.
    pub(super) fn end_input(&mut self) -> Result<()> {
        match self.long.take() {
            None => Ok(()),
            Some(long) => Err(at(
                damaged(long.offset, "the file ends inside this gzip member"),
                &long.block,
            )),
        }
    }

    fn take_members(&mut self, block: &mut WarcBlock, is_start: bool) -> Result<()> {
        let mut at = 0;
        let mut is_cut = is_start && self.long.is_none();
        loop {
            if self.long.is_some() {
                at += self.inflate_long(&block.data[at..])?;
                if self.long.is_some() {
                    return Ok(());
                }
            }
            // The guess was wrong, or a long member ends inside the block: the worker's records do
            // not start where a member does.
            if !is_cut {
                self.cutter.cut(block, at);
                self.job.judge(block, &mut self.scratch)?;
            }
            self.job.write(block, &mut self.writer)?;
            at = block.stop;
            if let Some(reason) = block.defect {
                return Err(damaged(block.base + at as u64, reason));
            }
            if at == block.data.len() {
                return Ok(());
            }
            // The member at the stop continues in the next block, or is too long to be held.
            self.long = Some(LongRecord::new(block, block.base + at as u64));
            self.stream.reset();
            self.parser.reset();
            is_cut = false;
        }
    }

    /// Inflates the long member further: the number of bytes that belong to it.
    fn inflate_long(&mut self, bytes: &[u8]) -> Result<usize> {
        self.text.resize(PIECE, 0);
        let mut used = 0;
        loop {
            let Some(long) = &mut self.long else {
                return Ok(used);
            };
            let offset = long.offset;
            let fed = self.stream.feed(&bytes[used..], &mut self.text);
            let fed = fed.map_err(|reason| damaged(offset, &format!("gzip member: {reason}")))?;
            parse_single(&mut self.parser, &self.text[..fed.inflated])
                .map_err(|reason| damaged(offset, reason))?;
            let raw = &bytes[used..used + fed.used];
            long.length += raw.len() as u64;
            used += fed.used;
            // No output is known before the header is. Until then, the stored bytes wait.
            if long.has_begun {
                self.job.part(&long.block, raw, &mut self.writer)?;
            } else {
                long.pending.extend_from_slice(raw);
                if self.parser.head().is_some() {
                    self.begin_member()?;
                }
            }
            if self.stream.is_done() {
                self.end_member()?;
                return Ok(used);
            }
            if fed.used == 0 && fed.inflated == 0 {
                return Ok(used);
            }
        }
    }

    /// Writes the start of the long member, whose header is complete.
    fn begin_member(&mut self) -> Result<()> {
        let Some(long) = &mut self.long else {
            return Ok(());
        };
        long.block
            .push(&self.parser, StoredRecord::Member(0..0), long.offset, 0);
        self.job.judge(&mut long.block, &mut self.scratch)?;
        self.job.begin(&long.block, &mut self.writer)?;
        long.has_begun = true;
        let pending = std::mem::take(&mut long.pending);
        self.job.part(&long.block, &pending, &mut self.writer)
    }

    /// Ends the long member. One without a record is left out.
    fn end_member(&mut self) -> Result<()> {
        let Some(long) = self.long.take() else {
            return Ok(());
        };
        let ends_with_record = self
            .parser
            .finish()
            .map_err(|_| damaged(long.offset, UNFINISHED))?;
        if ends_with_record {
            self.end_record(long)
        } else {
            Ok(())
        }
    }

    /// Ends a long record: its length and the first bytes of its block are known now.
    fn end_record(&mut self, mut long: LongRecord) -> Result<()> {
        let Some(stored) = long.block.records.pop().map(|record| record.stored) else {
            return Ok(());
        };
        long.block.clear_records();
        long.block
            .push(&self.parser, stored, long.offset, long.length);
        self.job.judge(&mut long.block, &mut self.scratch)?;
        self.job.end(&mut long.block, &mut self.writer)
    }

    /// Starts a long record of text. The reader has parsed its header.
    fn start_text(&mut self, block: &mut WarcBlock) -> Result<()> {
        let Some(record) = block.records.first() else {
            return Ok(());
        };
        let mut long = LongRecord::new(block, record.offset);
        long.has_begun = true;
        long.length = block.texts.len() as u64;
        self.job.begin(block, &mut self.writer)?;
        self.job.part(block, &block.texts, &mut self.writer)?;
        std::mem::swap(&mut long.block.heads, &mut block.heads);
        std::mem::swap(&mut long.block.records, &mut block.records);
        std::mem::swap(&mut long.block.results, &mut block.results);
        self.long = Some(long);
        Ok(())
    }

    fn continue_text(&mut self, block: &WarcBlock, is_last: bool) -> Result<()> {
        let Some(long) = &mut self.long else {
            return Ok(());
        };
        long.length += block.texts.len() as u64;
        self.job.part(&long.block, &block.texts, &mut self.writer)?;
        if !is_last {
            return Ok(());
        }
        let Some(mut long) = self.long.take() else {
            return Ok(());
        };
        if let Some(record) = long.block.records.first_mut() {
            record.length = long.length;
            record.text_len = long.length;
        }
        self.job.judge(&mut long.block, &mut self.scratch)?;
        self.job.end(&mut long.block, &mut self.writer)
    }
}

/// Parses text of a member that must hold one record.
fn parse_single(parser: &mut RecordParser, mut text: &[u8]) -> Result<(), &'static str> {
    while !text.is_empty() {
        let (used, step) = parser.feed(text)?;
        if step == ParseStep::Next {
            return Err(SEVERAL);
        }
        text = &text[used..];
    }
    Ok(())
}

const _: () = assert!(MAX_TEXT == 16 << 20, "the message names the limit");
const SEVERAL: &str = "this gzip member holds several WARC records and more than 16 MiB, while \
                       earlier members hold one each; decompress the file first";

fn damaged(offset: u64, what: &str) -> Error {
    Error::damaged(offset, what, false)
}

fn at(err: Error, block: &WarcBlock) -> Error {
    match &block.path {
        Some(path) if err.path().is_none() && is_damage(&err) => err.at(path),
        _ => err,
    }
}

/// Whether an error concerns the input. An output names itself.
fn is_damage(err: &Error) -> bool {
    matches!(err.kind(), crate::error::ErrorKind::Damaged { .. })
}
