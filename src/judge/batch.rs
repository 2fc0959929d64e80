//! Judges rows, such as the lines of a block, in batches: three passes overlap their cache misses.
//!
//! In a list in random order, nearly every row has another origin than the row before. Finding its
//! rules is a chain of cache misses, each of which needs the result of the last: bucket of the
//! index, entry, robots.txt, rules. Judged row by row, the processor waits for each of them. So a
//! batch of [`BATCH`] rows goes through three passes:
//!
//! 1. [`split`](JudgeRows::split) divides the rows into *origin runs*: consecutive rows with the
//!    same origin. It hashes each origin and prefetches its bucket.
//! 2. [`prefetch`](JudgeRows::prefetch) probes the index for all runs, then reads ahead one step
//!    after the other. Within a step, the cache misses of all runs overlap.
//! 3. [`judge_run`](JudgeRows::judge_run) looks up each run's origin and judges its paths. By now
//!    their data is in the cache.
//!
//! In a sorted list, a run is often a whole batch, so the first two passes cost little.
//!
//! All of this is compiled into one function per vector backend, hence `inline(always)`. With calls
//! to the short vector functions, the time rose by a tenth.

use super::engine::{Engine, Scratch};
use super::options::Stage;
use super::rows::{BATCH, LineRows, LineRun, RowSource};
use super::verdicts_ref::VerdictsRef;
use crate::error::Result;
use crate::simd::{Backend, Kernel};
use crate::snapshot::format::NONE;
use crate::snapshot::index::Probe;
use crate::url::{self, PlainOrigin};
use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::Range;

impl<'s> Engine<'s> {
    /// Calls `each` with runs of lines of `data` and their verdicts, in order.
    ///
    /// With an earlier stage than [`Stage::Match`], the work ends there and `each` is not called.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each other.
    pub(crate) fn judge_lines(
        &self,
        data: &[u8],
        until: Stage,
        scratch: &mut Scratch<'s>,
        mut each: impl FnMut(LineRun<'_>, VerdictsRef<'_>),
    ) -> Result<()> {
        let each = |lines: &LineRows<'_>, rows: Range<usize>, verdicts: VerdictsRef<'_>| {
            each(lines.run(rows), verdicts)
        };
        self.judge_rows(LineRows::new(data), until, scratch, each)
    }

    /// Calls `each` with the numbers of neighbouring rows of a batch and their verdicts, in order.
    /// The rows are those of the source in its present batch.
    ///
    /// # Errors
    /// As [`judge_lines`](Self::judge_lines).
    pub(super) fn judge_rows<'d, S: RowSource<'d>>(
        &self,
        rows: S,
        until: Stage,
        scratch: &mut Scratch<'s>,
        each: impl FnMut(&S, Range<usize>, VerdictsRef<'_>),
    ) -> Result<()> {
        self.backend.run(JudgeRows {
            engine: self,
            rows,
            until,
            scratch,
            each,
            data: PhantomData,
        })
    }
}

/// Rows, and the memory to judge them with.
struct JudgeRows<'w, 's, 'd, S, F> {
    engine: &'w Engine<'s>,
    rows: S,
    until: Stage,
    scratch: &'w mut Scratch<'s>,
    each: F,
    data: PhantomData<&'d [u8]>,
}

impl<'d, S: RowSource<'d>, F: FnMut(&S, Range<usize>, VerdictsRef<'_>)> Kernel
    for JudgeRows<'_, '_, 'd, S, F>
{
    type Output = Result<()>;

    /// Judges the rows batch by batch.
    #[inline(always)]
    fn run(mut self, backend: impl Backend) -> Result<()> {
        self.engine.claim(self.scratch);
        let mut runs = OriginRuns::new();
        loop {
            let count = self.rows.next_batch(backend);
            if count == 0 {
                return Ok(());
            }
            self.judge_batch(count, &mut runs, backend)?;
        }
    }
}

impl<'d, S: RowSource<'d>, F: FnMut(&S, Range<usize>, VerdictsRef<'_>)>
    JudgeRows<'_, '_, 'd, S, F>
{
    /// Runs the three passes over a batch of `count` rows.
    #[inline(always)]
    fn judge_batch(
        &mut self,
        count: usize,
        runs: &mut OriginRuns,
        backend: impl Backend,
    ) -> Result<()> {
        self.split(count, runs, backend);
        if self.until == Stage::Split {
            black_box(&runs.all);
            return Ok(());
        }
        self.prefetch(runs);
        let mut emitted = 0;
        for (run, next) in runs.pairs() {
            // Runs of unknown origins need no look-up. They wait until the next run of a known
            // origin, so that consecutive ones are emitted together.
            if run.probe == Probe::ABSENT && !self.engine.options.any_scheme {
                continue;
            }
            let (first, end) = (run.first as usize, next.first as usize);
            self.emit_unknown(emitted..first);
            self.judge_run(run, first..end, backend)?;
            emitted = end;
        }
        self.emit_unknown(emitted..count);
        Ok(())
    }

    /// First pass: divides the rows of a batch into runs, and prefetches the buckets of the index.
    #[inline(always)]
    fn split(&self, count: usize, runs: &mut OriginRuns, backend: impl Backend) {
        runs.len = 0;
        let mut previous = PreviousOrigin::NONE;
        for row in 0..count {
            let text = self.rows.text(row);
            // One vector comparison finds that a row has the same origin, without parsing it.
            let is_whole = !S::IS_OPEN || self.rows.has_len(row, previous.origin.len() + 1);
            if !(is_whole && previous.starts(text, backend)) {
                let origin = self.plain_origin(row, text, backend);
                previous = PreviousOrigin::new(text, origin);
                let len = origin.map_or(0, |origin| origin.len);
                let hash = self.engine.view.hash(&text[..len]);
                self.engine.view.prefetch(hash);
                runs.push(OriginRun {
                    first: row as u32,
                    origin_len: len as u32,
                    hash,
                    probe: Probe::SKIPPED,
                });
            }
        }
        if let Some(sentinel) = runs.all.get_mut(runs.len) {
            sentinel.first = count as u32;
        }
    }

    /// The plain origin of a row, if it has one; `text` goes on after the row.
    #[inline(always)]
    fn plain_origin(&self, row: usize, text: &[u8], backend: impl Backend) -> Option<PlainOrigin> {
        let origin = url::plain_origin(text, backend);
        if !S::IS_OPEN
            || origin
                .is_some_and(|origin| origin.has_path && self.rows.has_len(row, origin.len + 1))
        {
            return origin;
        }
        // What follows the row may have been taken for a part of its origin.
        url::plain_origin(self.rows.url(row), backend)
    }

    /// Second pass: probes the index for each run, and reads ahead for origins that are not cached.
    ///
    /// Each loop reads what the loop above it has prefetched. The results after the probe are
    /// guesses: nothing depends on them except what is prefetched next.
    #[inline(always)]
    fn prefetch(&self, runs: &mut OriginRuns) {
        let (view, origins) = (self.engine.view, &self.scratch.origins);
        let mut offsets = [NONE; BATCH];
        let mut count = 0;
        for run in runs.iter_mut().filter(|run| run.origin_len > 0) {
            run.probe = view.probe(run.hash);
            // The offset is always written, and counted if there is one. So no branch waits for the
            // index.
            if let Some(free) = offsets.get_mut(count) {
                *free = run.probe.offset;
            }
            count += usize::from((run.probe.offset != NONE) & !origins.may_contain(run.hash));
        }
        // From here on, `offsets` has for each new origin: its entry, then its robots.txt, then the
        // global rules of that.
        let offsets = &mut offsets[..count];
        offsets
            .iter_mut()
            .for_each(|offset| *offset = view.likely_file(*offset));
        offsets
            .iter_mut()
            .for_each(|offset| *offset = view.likely_rules(*offset));
        offsets.iter().for_each(|offset| {
            black_box(view.likely_head(*offset));
        });
    }

    /// Third pass: judges the rows of a run.
    #[inline(always)]
    fn judge_run(
        &mut self,
        run: &OriginRun,
        rows: Range<usize>,
        backend: impl Backend,
    ) -> Result<()> {
        let len = run.origin_len as usize;
        if len == 0 {
            return self.judge_unsplit(rows);
        }
        let key = &self.rows.text(rows.start)[..len];
        let Scratch {
            origins, other_key, ..
        } = &mut *self.scratch;
        self.engine
            .enter(key, run.hash, run.probe, origins, other_key)?;
        if self.until == Stage::Locate {
            return Ok(());
        }
        if let Some(verdicts) = self.scratch.origins.current().verdicts_of_all() {
            (self.each)(&self.rows, rows, verdicts);
            return Ok(());
        }
        for row in rows {
            let path = self.rows.path(row, len);
            if path.is_empty() || !self.rows.is_plain(row, path, backend) {
                self.judge_odd_row(row, len, backend)?;
                continue;
            }
            // A plain path is its own normal form.
            let (origin, matching) = (self.scratch.origins.current(), &mut self.scratch.matching);
            let verdicts = self.engine.judge_path(path, origin, matching, backend)?;
            (self.each)(&self.rows, row..row + 1, verdicts);
        }
        Ok(())
    }

    /// Judges a row of the current origin whose path is not plain or is empty. The origin has
    /// `origin_len` bytes.
    #[inline(never)]
    fn judge_odd_row(
        &mut self,
        row: usize,
        origin_len: usize,
        backend: impl Backend,
    ) -> Result<()> {
        let url = self.rows.url(row);
        let verdicts = if matches!(url.last(), Some(..=b' ')) {
            // Only the parser trims a trailing blank.
            self.engine.judge(url, self.scratch)?
        } else {
            let Scratch {
                origins, matching, ..
            } = self.scratch;
            let rest = url.get(origin_len..).unwrap_or_default();
            self.engine
                .judge_rest(rest, origins.current(), matching, backend)?
        };
        (self.each)(&self.rows, row..row + 1, verdicts);
        Ok(())
    }

    /// Judges rows whose origin is not plain, each like a single URL.
    fn judge_unsplit(&mut self, rows: Range<usize>) -> Result<()> {
        if self.until == Stage::Match {
            for row in rows {
                let verdicts = self.engine.judge(self.rows.url(row), self.scratch)?;
                (self.each)(&self.rows, row..row + 1, verdicts);
            }
        }
        Ok(())
    }

    /// Emits rows of origins that the snapshot does not contain.
    #[inline(always)]
    fn emit_unknown(&mut self, rows: Range<usize>) {
        if !rows.is_empty() && self.until == Stage::Match {
            (self.each)(&self.rows, rows, self.engine.verdicts_on_unknown());
        }
    }
}

/// Consecutive lines of a batch with the same plain origin, or one line whose origin is not plain.
///
/// It has numbers only: with slices and enums, the compiler assembled it from its parts at each
/// use.
#[derive(Clone, Copy)]
struct OriginRun {
    /// The number of its first line in the batch.
    first: u32,
    /// The length of the origin, or 0 if it is not plain.
    origin_len: u32,
    /// The hash of the origin.
    hash: u64,
    /// The result of probing the index.
    probe: Probe,
}

/// The runs of a batch, and a sentinel that begins at the end of the batch.
struct OriginRuns {
    all: [OriginRun; BATCH + 1],
    /// The number of runs without the sentinel.
    len: usize,
}

impl OriginRuns {
    fn new() -> Self {
        let none = OriginRun {
            first: 0,
            origin_len: 0,
            hash: 0,
            probe: Probe::SKIPPED,
        };
        Self {
            all: [none; BATCH + 1],
            len: 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, run: OriginRun) {
        if let Some(free) = self.all.get_mut(self.len) {
            *free = run;
            self.len += 1;
        }
    }

    /// Each run with the next one, or with the sentinel.
    #[inline(always)]
    fn pairs(&self) -> impl Iterator<Item = (&OriginRun, &OriginRun)> {
        let pairs = self.all.get(..=self.len).unwrap_or_default().windows(2);
        pairs.map(|pair| (&pair[0], &pair[1]))
    }

    #[inline(always)]
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut OriginRun> {
        self.all.get_mut(..self.len).unwrap_or_default().iter_mut()
    }
}

/// The origin of the previous line, if it is plain and a path follows it.
#[derive(Clone, Copy)]
struct PreviousOrigin<'b> {
    origin: &'b [u8],
    /// The first bytes of the previous line.
    window: &'b [u8; 32],
    /// A bit for each byte of the window up to the `/` after the origin.
    mask: u32,
}

impl<'b> PreviousOrigin<'b> {
    /// No line has this origin.
    const NONE: Self = Self {
        origin: &[],
        window: &[0; 32],
        mask: u32::MAX,
    };

    #[inline(always)]
    fn new(text: &'b [u8], origin: Option<PlainOrigin>) -> Self {
        match (text.first_chunk(), origin) {
            (
                Some(window),
                Some(PlainOrigin {
                    len,
                    has_path: true,
                }),
            ) => {
                let mask = 2u32.unbounded_shl(len as u32).wrapping_sub(1);
                Self {
                    origin: &text[..len],
                    window,
                    mask,
                }
            }
            _ => Self::NONE,
        }
    }

    /// Whether `text` starts with this origin and a path.
    #[inline(always)]
    fn starts(self, text: &[u8], backend: impl Backend) -> bool {
        let Some(window) = text.first_chunk() else {
            return false;
        };
        let is_equal = !backend.equal_bytes(window, self.window) & self.mask == 0;
        // `NONE` has no origin, but its window can be equal.
        let is_short = (1..window.len()).contains(&self.origin.len());
        is_equal && (is_short || self.starts_long(text))
    }

    /// The same for an origin that may be longer than the window.
    #[inline(never)]
    fn starts_long(self, text: &[u8]) -> bool {
        text.starts_with(self.origin) && text.get(self.origin.len()) == Some(&b'/')
    }
}
