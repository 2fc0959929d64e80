//! The captures of a block of a captures file, validated: no byte of another program gets into the
//! sort unchecked.
//!
//! The digest of a text is trusted, as the block's checksum covers it. Computing it would
//! decompress each text, also the many that an earlier block or archive had.

use super::capture_record::{CaptureRecord, RecordValidator};
use super::text_store::{TextId, TextStore};
use crate::archive::captures_file::{BlockContent, CapturesBlock, FIRST_VERSION};
use crate::error::Result;
use crate::robots::condense::condense;
use crate::robots::line::MAX_LINE;
use crate::snapshot::text::{Packer, Unpacker, is_one_frame};
use crate::snapshot::write::has_current_texts;
use bstr::ByteSlice;

/// The records of a block, each of which is valid and refers to a text of the block.
pub(crate) struct BlockCaptures<'b> {
    records: &'b [u8],
}

impl<'b> BlockCaptures<'b> {
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) for a record that is not valid, and for
    /// another number of them than the block says.
    pub(crate) fn new(block: &CapturesBlock, content: &'b BlockContent<'_>) -> Result<Self> {
        let mut rest = &*content.records;
        let mut count = 0;
        let mut validator = RecordValidator::new(block.header.version);
        while !rest.is_empty() {
            let record = validator
                .first_of(rest)
                .filter(|record| {
                    record
                        .text()
                        .is_none_or(|text| (text.0 as usize) < content.texts.len())
                })
                .ok_or_else(|| block.damaged(&format!("its capture {count}")))?;
            rest = &rest[record.bytes().len()..];
            count += 1;
        }
        if count != block.captures() {
            return Err(block.damaged("it has another number of captures than it says"));
        }
        Ok(Self {
            records: &content.records,
        })
    }

    /// The records in order.
    pub(crate) fn records(&self) -> impl Iterator<Item = CaptureRecord<'b>> {
        let mut rest = self.records;
        std::iter::from_fn(move || {
            let record = CaptureRecord::first_of(rest)?;
            rest = &rest[record.bytes().len()..];
            Some(record)
        })
    }
}

/// The texts of a block in a store.
pub(super) struct InternedTexts {
    /// The number of each text; `None` for those that are not used.
    pub numbers: Vec<Option<TextId>>,
    /// Texts with a line whose end the first version of captures files may have cut off.
    pub cut: u64,
}

/// The length from which on a line counts as one that may be cut. The limit is [`MAX_LINE`], and
/// blanks around the line were cut off then.
const MAY_BE_CUT: usize = MAX_LINE - 663;

/// Adds the `used` texts of a block to a store. `count_cut`: count those with a line that may be
/// cut.
///
/// # Errors
/// Frames that are damaged; those of [`TextStore::intern`].
pub(super) fn intern_texts(
    block: &CapturesBlock,
    content: &BlockContent<'_>,
    used: impl Iterator<Item = TextId>,
    store: &TextStore,
    packer: &mut Packer,
    count_cut: bool,
) -> Result<InternedTexts> {
    // Another version may keep other lines, so its texts are condensed again.
    let is_current = has_current_texts(&block.header.tool, &block.header.dictionary);
    let count_cut = count_cut && block.header.version == FIRST_VERSION;
    let mut unpacker = if is_current && !count_cut {
        None
    } else {
        let unpacker = Unpacker::new(&block.header.dictionary);
        Some(unpacker.map_err(|_| block.damaged("the dictionary of its texts"))?)
    };
    let mut interned = InternedTexts {
        numbers: vec![None; content.texts.len()],
        cut: 0,
    };
    for number in used.map(|text| text.0 as usize) {
        if interned.numbers[number].is_some() {
            continue;
        }
        let text = content.texts[number];
        let damaged = || block.damaged(&format!("its text {number}"));
        interned.numbers[number] = Some(match &mut unpacker {
            None if is_one_frame(text.frame, text.raw_len) => {
                store.intern_frame(text.digest, text.raw_len, text.frame)?
            }
            None => return Err(damaged()),
            Some(unpacker) => {
                let text = unpacker.unpack(text.frame).map_err(|_| damaged())?;
                if count_cut {
                    interned.cut += u64::from(text.lines().any(|line| line.len() >= MAY_BE_CUT));
                }
                store.intern(&condense(&text, false), packer)?
            }
        });
    }
    Ok(interned)
}
