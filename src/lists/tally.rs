//! Counts lists of URLs for a report, or finds the origins that the snapshot lacks.

use crate::container::criterion::Criterion;
use crate::container::judged_records::{RecordUrls, judge_records};
use crate::error::Result;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Stage, Verdict, VerdictsRef};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{BlockKind, LineBlock};
use crate::records::ExtractedUrls;
use std::ops::Range;

/// Judges and counts the lines of a block. `count` gets lines with the same verdicts, and their
/// URLs. If it returns true they are disallowed, and the block keeps them.
pub(super) fn count_block<'s>(
    judge: &Engine<'s>,
    block: &mut LineBlock,
    scratch: &mut Scratch<'s>,
    mut count: impl FnMut(&VerdictsRef<'_>, u64, RecordUrls<'_>) -> bool,
) -> Result<()> {
    let criterion = Criterion::DISALLOWED_FOR_ANY;
    let mut disallowed = std::mem::take(&mut block.disallowed);
    disallowed.clear();
    let data = block.data();
    let mut stats = FilterStats::of_bytes(data.len() as u64);
    match block.kind {
        BlockKind::Lines => judge_records(
            judge,
            block,
            Stage::Match,
            scratch,
            |lines, urls, verdicts| {
                let number = lines.ends.len() as u64;
                criterion.count(&verdicts, number, &mut stats);
                if verdicts.unjudged() == Some(Verdict::Invalid) {
                    stats.count_blank(data, lines);
                }
                if count(&verdicts, number, urls) {
                    disallowed.extend(lines.ranges());
                }
            },
        )?,
        // The parts of a long line count once. It is invalid, so it is not sampled.
        BlockKind::LongLineStart => {
            let verdicts = VerdictsRef::invalid(judge.agents().len());
            criterion.count(&verdicts, 1, &mut stats);
            count(&verdicts, 1, RecordUrls::of_one(&[], &0));
        }
        BlockKind::Header | BlockKind::LongLineRest => {}
    }
    block.disallowed = disallowed;
    block.stats = stats;
    Ok(())
}

/// The URL of a record of a block.
pub(super) fn url_of(block: &LineBlock, record: Range<usize>) -> Vec<u8> {
    let text = block.data().get(record).unwrap_or_default();
    let Some(format) = &block.format else {
        return text.trim_ascii().to_vec();
    };
    let mut extracted = ExtractedUrls::default();
    format.extract(text, &mut extracted);
    extracted.urls.trim_ascii().to_vec()
}
