//! Cuts the gzip members of a block into records, on any thread.
//!
//! The start of the block is a guess, so nothing here is an error: cutting stops at the first
//! member that is not whole, and [`chain`](super::chain) decides.

use crate::decode::MemberInflater;
use crate::warc::block::{StoredRecord, WarcBlock};
use crate::warc::record_parser::{ParseStep, RecordParser};

/// The longest text of a member that is held. Longer members are inflated piece by piece, on one
/// thread.
pub(super) const MAX_TEXT: usize = 16 << 20;

/// Inflates members and finds the records in them.
pub(super) struct MemberCutter {
    inflater: MemberInflater,
    parser: RecordParser,
}

impl MemberCutter {
    pub(super) fn new() -> Self {
        Self {
            inflater: MemberInflater::new(MAX_TEXT),
            parser: RecordParser::default(),
        }
    }

    /// Adds the records of the members from `from` on, as far as these are whole.
    pub(super) fn cut(&mut self, block: &mut WarcBlock, from: usize) {
        block.clear_records();
        let mut at = from;
        loop {
            // Zero bytes between members are padding.
            at += block.data[at..].iter().take_while(|b| **b == 0).count();
            block.stop = at;
            let Some((text, len)) = self.inflater.inflate(&block.data[at..]) else {
                return;
            };
            let records = block.records.len();
            match cut_text(&mut self.parser, text, at..at + len, block) {
                Ok(()) => at += len,
                Err(reason) => {
                    // The other records of the member are not written either.
                    block.records.truncate(records);
                    block.defect = Some(reason);
                    return;
                }
            }
        }
    }
}

/// Adds the records of one member. A single record is the member itself; several are texts.
fn cut_text(
    parser: &mut RecordParser,
    text: &[u8],
    member: std::ops::Range<usize>,
    block: &mut WarcBlock,
) -> Result<(), &'static str> {
    // All records of a member share its offset and length: an index cannot point into a member.
    let offset = block.base + member.start as u64;
    let length = member.len() as u64;
    let mut at = 0;
    let mut start = 0;
    let mut is_single = true;
    parser.reset();
    while at < text.len() {
        let (used, step) = parser.feed(&text[at..])?;
        at += used;
        match step {
            ParseStep::Blank => start = at,
            ParseStep::Next => {
                is_single = false;
                push_text(parser, &text[start..at], (offset, length), block);
                parser.reset();
                start = at;
            }
            ParseStep::Head | ParseStep::More => {}
        }
    }
    let ends_with_record = parser.finish().map_err(|_| UNFINISHED)?;
    if ends_with_record && is_single {
        block.push(parser, StoredRecord::Member(member), offset, length);
    } else if ends_with_record {
        push_text(parser, &text[start..], (offset, length), block);
    }
    Ok(())
}

fn push_text(
    parser: &RecordParser,
    text: &[u8],
    (offset, length): (u64, u64),
    block: &mut WarcBlock,
) {
    let start = block.texts.len();
    block.texts.extend_from_slice(text);
    block.push(
        parser,
        StoredRecord::Text(start..block.texts.len()),
        offset,
        length,
    );
}

/// The defect of a member that ends inside a record.
pub(super) const UNFINISHED: &str = "the gzip member ends inside a WARC record: its Content-Length \
                                     is wrong, or the record continues in the next member; \
                                     decompress the file first in that case";
