//! Judges rows that have times of their own.

use super::emitter::Joined;
use super::engine::{Engine, Scratch};
use super::options::Stage;
use super::rows::LineRun;
use super::verdicts_ref::VerdictsRef;
use crate::error::Result;
use std::ops::Range;

impl<'s> Engine<'s> {
    /// [`judge_lines`](Self::judge_lines) by the rules in force at the time of each line. `times` has
    /// an entry per line, in seconds since 1970; `None` if the line has no readable time.
    pub(crate) fn judge_timed_lines(
        &self,
        data: &[u8],
        times: &[Option<i64>],
        until: Stage,
        joined: Joined,
        scratch: &mut Scratch<'s>,
        each: impl FnMut(LineRun<'_>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        debug_assert_eq!(memchr::memchr_iter(b'\n', data).count(), times.len());
        self.judge_lines(data, until, joined, scratch, each)
    }

    /// Judges one URL at several times, which are in ascending order, those without a time first.
    /// Calls `each` in order with ranges of `times` that have the same verdicts. So a long URL
    /// that many rows share is matched once per version of its rules, not once per row.
    pub(crate) fn judge_at_times(
        &self,
        url: &[u8],
        times: &[Option<i64>],
        scratch: &mut Scratch<'s>,
        mut each: impl FnMut(Range<usize>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        debug_assert!(times.is_sorted());
        let verdicts = self.judge(url, scratch)?;
        each(0..times.len(), verdicts)
    }
}
