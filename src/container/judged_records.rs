//! Judges the records of a block of lines.

use crate::error::Result;
use crate::judge::emitter::Joined;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::rows::LineRun;
use crate::judge::{Stage, VerdictsRef};
use crate::pipeline::blocks::LineBlock;
use std::ops::Range;

/// The URLs of neighbouring records, as lines of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordUrls<'u> {
    text: &'u [u8],
    lines: LineRun<'u>,
}

impl<'u> RecordUrls<'u> {
    /// Lines of a text.
    pub(crate) fn new(text: &'u [u8], lines: LineRun<'u>) -> Self {
        Self { text, lines }
    }

    /// One URL.
    pub(crate) fn of_one(url: &'u [u8], end: &'u usize) -> Self {
        let ends = std::slice::from_ref(end);
        Self::new(url, LineRun { start: 0, ends })
    }

    #[inline]
    pub(crate) fn count(self) -> usize {
        self.lines.ends.len()
    }

    /// The range of each URL in the text, with its line end.
    #[inline]
    pub(crate) fn ranges(self) -> impl Iterator<Item = Range<usize>> + use<'u> {
        self.lines.ranges()
    }

    /// Each URL, with its line end.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'u [u8]> + use<'u> {
        self.ranges().map(move |range| &self.text[range])
    }
}

/// Calls `each` in order with neighbouring records of a block that have the same verdicts, their
/// URLs, and those verdicts. The first error of `each` ends the work.
pub(crate) fn judge_records<'s>(
    judge: &Engine<'s>,
    block: &LineBlock,
    until: Stage,
    joined: Joined,
    scratch: &mut Scratch<'s>,
    mut each: impl FnMut(LineRun<'_>, RecordUrls<'_>, VerdictsRef<'_>) -> Result<()>,
) -> Result<()> {
    let Some(extracted) = block.extracted() else {
        let text = block.data();
        return judge.judge_lines(text, until, joined, scratch, |lines, verdicts| {
            each(lines, RecordUrls::new(text, lines), verdicts)
        });
    };
    // The extracted text has one line per record, so its runs are runs of the block's records too.
    let mut start = 0;
    let mut ends = extracted.ends.as_slice();
    let urls = TimedLines {
        text: &extracted.urls,
        times: &extracted.times,
    };
    judge_timed(
        judge,
        urls,
        until,
        joined,
        scratch,
        &mut |urls, verdicts| {
            let (own, rest) = ends.split_at(urls.ends.len().min(ends.len()));
            each(
                LineRun { start, ends: own },
                RecordUrls::new(&extracted.urls, urls),
                verdicts,
            )?;
            start = own.last().copied().unwrap_or(start);
            ends = rest;
            Ok(())
        },
    )
}

/// URLs, one per line, and their times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedLines<'u> {
    pub text: &'u [u8],
    /// An entry per line, `None` for a line without a readable time. Empty if no times are asked
    /// for.
    pub times: &'u [Option<i64>],
}

/// Calls `each` in order with runs of lines that have the same verdicts: by the rules in force at
/// their times, if there are times. The first error of `each` ends the work.
///
/// `each` is a trait object, so that judging records is compiled once and not for each job: the call
/// costs little beside extracting a record, and the copies made a wheel a tenth larger.
pub(crate) fn judge_timed<'s>(
    judge: &Engine<'s>,
    lines: TimedLines<'_>,
    until: Stage,
    joined: Joined,
    scratch: &mut Scratch<'s>,
    each: &mut dyn FnMut(LineRun<'_>, VerdictsRef<'_>) -> Result<()>,
) -> Result<()> {
    let TimedLines { text, times } = lines;
    // One branch per block. A block without lines has no times either, and nothing to judge.
    if times.is_empty() {
        judge.judge_lines(text, until, joined, scratch, each)
    } else {
        judge.judge_timed_lines(text, times, until, joined, scratch, each)
    }
}
