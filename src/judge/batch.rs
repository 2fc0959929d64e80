//! Judges rows, such as the lines of a block, in batches: several passes overlap their cache misses.
//!
//! In a list in random order, nearly every row has another origin than the row before. Finding its
//! rules is a chain of cache misses, each of which needs the result of the last: bucket of the
//! index, entry, robots.txt, rules. Judged row by row, the processor waits for each of them. So a
//! batch of [`BATCH`] rows goes through five passes:
//!
//! 1. [`split`](JudgeRows::split) divides the rows into *origin runs*: consecutive rows with the
//!    same origin.
//! 2. [`hash`](JudgeRows::hash) hashes the origin of each run and prefetches its bucket.
//! 3. [`probe`](JudgeRows::probe) probes the index for each run.
//! 4. [`locate`](JudgeRows::locate) finds the entry of each run and what the agents obey, one step
//!    for all runs after the other. Each step prefetches what the next one reads.
//! 5. [`judge_run`](JudgeRows::judge_run) judges the paths of each run. By now their rules are in the
//!    cache. The few origins that the steps before could not settle are looked up one by one.
//!
//! Each pass writes arrays that the next one reads. In a sorted list, a run is often a whole batch,
//! so the passes over runs cost little.
//!
//! All of this is compiled into one function per vector backend, hence `inline(always)`. With calls
//! to the short vector functions, the time rose by a tenth.
//!
//! Batches of more than 64 rows, coroutines and interleaved state machines (AMAC) were no faster.

use super::emitter::{Emitter, Joined};
use super::engine::{Engine, Scratch};
use super::file_memo::{FileMemo, Obeyed};
use super::listed_runs::ListedRuns;
use super::options::{NoTime, Stage};
use super::origin_cache::SingleRuleSet;
use super::rows::{BATCH, LineRows, LineRun, RowSource, TimedRows};
use super::verdicts_ref::{OriginContext, VerdictBits, VerdictsRef};
use crate::error::Result;
use crate::explain::{Reason, Verdict};
use crate::filter_lists::{FilterLists, FirstSuffix, WordSearch, list_path};
use crate::simd::{Backend, Kernel};
use crate::snapshot::format::NONE;
use crate::snapshot::history::Validity;
use crate::snapshot::index::Probe;
use crate::snapshot::view::RulesEntry;
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
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each other, and the
    /// first error of `each`, which ends the work.
    pub(crate) fn judge_lines(
        &self,
        data: &[u8],
        until: Stage,
        joined: Joined,
        scratch: &mut Scratch<'s>,
        mut each: impl FnMut(LineRun<'_>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        let each = |lines: &LineRows<'_>, rows: Range<usize>, verdicts: VerdictsRef<'_>| {
            each(lines.run(rows), verdicts)
        };
        self.judge_rows(LineRows::new(data), until, joined, scratch, each)
    }

    /// As [`judge_lines`](Self::judge_lines), with each line as of the time in the same place of
    /// `times`, in seconds since 1970. What a line without a time gets, the options say
    /// ([`JudgeOptions::no_time`](super::JudgeOptions::no_time)).
    ///
    /// # Errors
    /// As [`judge_lines`](Self::judge_lines); [`NoHistory`](crate::ErrorKind::NoHistory).
    pub(crate) fn judge_timed_lines(
        &self,
        data: &[u8],
        times: &[Option<i64>],
        until: Stage,
        joined: Joined,
        scratch: &mut Scratch<'s>,
        mut each: impl FnMut(LineRun<'_>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        self.snapshot.require_history()?;
        let each =
            |lines: &TimedRows<'_, LineRows<'_>>, rows: Range<usize>, verdicts: VerdictsRef<'_>| {
                each(lines.rows.run(rows), verdicts)
            };
        let rows = TimedRows::new(LineRows::new(data), times);
        self.judge_rows(rows, until, joined, scratch, each)
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
        joined: Joined,
        scratch: &mut Scratch<'s>,
        each: impl FnMut(&S, Range<usize>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        self.backend.run(JudgeRows {
            engine: self,
            memo: self.memo(),
            rows,
            until,
            scratch,
            emitter: Emitter::new(each, joined, self.agents.len(), self.lists.as_ref()),
            listed: ListedRuns::default(),
            data: PhantomData,
        })
    }
}

/// Rows, and the memory to judge them with.
struct JudgeRows<'w, 's, 'd, S, F> {
    engine: &'w Engine<'s>,
    memo: &'w FileMemo,
    rows: S,
    until: Stage,
    scratch: &'w mut Scratch<'s>,
    emitter: Emitter<'w, F>,
    /// What filter lists say about the runs of the batch.
    listed: ListedRuns<'d>,
    data: PhantomData<&'d [u8]>,
}

impl<'d, S: RowSource<'d>, F: FnMut(&S, Range<usize>, VerdictsRef<'_>) -> Result<()>> Kernel
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

impl<'s, 'd, S: RowSource<'d>, F: FnMut(&S, Range<usize>, VerdictsRef<'_>) -> Result<()>>
    JudgeRows<'_, 's, 'd, S, F>
{
    /// Runs the passes over a batch of `count` rows.
    #[inline(always)]
    fn judge_batch(
        &mut self,
        count: usize,
        runs: &mut OriginRuns,
        backend: impl Backend,
    ) -> Result<()> {
        self.split(count, runs, backend);
        if self.until == Stage::Split {
            black_box(&runs);
            return Ok(());
        }
        if let Some(lists) = &self.engine.lists {
            let possible = self.find_possible(runs, lists, backend);
            self.find_listed(runs, &possible, lists)?;
            if let Some(search) = lists.word_search(&mut self.scratch.list_memory.words) {
                let rows = &self.rows;
                let listed = &mut self.listed;
                backend.run(FindWords {
                    rows,
                    runs,
                    search,
                    listed,
                })?;
            }
        }
        self.hash(runs);
        self.probe(runs);
        if self.until == Stage::Probe {
            black_box(&runs);
            return Ok(());
        }
        self.locate(runs, backend);
        if S::IS_TIMED || self.engine.options.as_of.is_some() {
            return self.judge_batch_as_of(runs, backend);
        }
        let mut emitted = 0;
        for run in 0..runs.count.min(BATCH) {
            // Runs of unknown origins need no look-up. They wait until the next run of a known
            // origin, so that consecutive ones are emitted together.
            let is_absent = (runs.probes[run] == Probe::ABSENT) & (runs.lens[run] > 0);
            let rows = runs.rows(run);
            let is_listed = self.listed.concern(run, &rows);
            if is_absent & !self.engine.options.any_scheme & !is_listed {
                continue;
            }
            self.emit_unknown(emitted..rows.start)?;
            emitted = rows.end;
            if is_listed {
                self.judge_listed_run(runs, run, rows, backend)?;
            } else {
                self.judge_run(runs, run, rows, backend)?;
            }
        }
        self.emit_unknown(emitted..count)?;
        self.emitter.flush(&self.rows)
    }

    /// First pass: divides the rows of a batch into runs.
    ///
    /// Cost: a vector comparison for a row with the origin of the row before, as most rows of a
    /// sorted list, and some fifty instructions for any other.
    #[inline(always)]
    fn split(&self, count: usize, runs: &mut OriginRuns, backend: impl Backend) {
        runs.count = 0;
        let mut previous = PreviousOrigin::NONE;
        for row in 0..count {
            let text = self.rows.text(row);
            let is_whole = !S::IS_OPEN || self.rows.has_len(row, previous.len as usize + 1);
            if is_whole && previous.starts(text, backend) {
                continue;
            }
            let origin = self.plain_origin(row, text, backend);
            previous = PreviousOrigin::new(text, origin);
            runs.push(row, origin.len);
        }
        runs.end_at(count);
    }

    /// Finds the runs of a batch that may have entries in filter lists.
    ///
    /// Cost: the hash of the last two labels of each host, and a look-up in a filter of a megabyte,
    /// for all runs one after the other.
    #[inline(always)]
    fn find_possible(
        &self,
        runs: &OriginRuns,
        lists: &FilterLists,
        backend: impl Backend,
    ) -> PossibleRuns {
        let mut possible = PossibleRuns {
            runs: Runs::NONE,
            suffixes: [FirstSuffix::default(); BATCH],
        };
        let filter = lists.suffix_filter();
        let count = runs.count.min(BATCH);
        for run in 0..count {
            let text = self.rows.text(runs.firsts[run] as usize);
            let len = runs.lens[run] as usize;
            possible.suffixes[run] = filter.prefetch_plain(text, len, backend);
        }
        for run in 0..count {
            let may_have = filter.may_have(possible.suffixes[run].hash);
            possible.runs.push_if(run, (runs.lens[run] > 0) & may_have);
        }
        possible
    }

    /// Finds the entries in filter lists of the runs that may have some: few, unless the lists have
    /// many of the hosts.
    #[inline(never)]
    fn find_listed(
        &mut self,
        runs: &OriginRuns,
        possible: &PossibleRuns,
        lists: &FilterLists,
    ) -> Result<()> {
        self.listed.clear();
        for run in possible.runs.iter() {
            let text = self.rows.text(runs.firsts[run] as usize);
            let origin = &text[..runs.lens[run] as usize];
            if let Some(search) = lists.search_plain(origin, possible.suffixes[run])? {
                self.listed.push(run, search);
            }
        }
        self.listed.finish_searches(lists)
    }

    /// Judges the rows of a run whose origin has entries in filter lists, or some of whose rows have
    /// listed words. The verdicts are those of other rows; [`set_listed`](Emitter::set_listed) says what the lists do.
    #[inline(never)]
    fn judge_listed_run(
        &mut self,
        runs: &OriginRuns,
        run: usize,
        rows: Range<usize>,
        backend: impl Backend,
    ) -> Result<()> {
        let Some(lists) = &self.engine.lists else {
            return Ok(());
        };
        let entries = self.listed.take(run);
        let of_all = entries.decision_of_all();
        // Words count where no entry for the host or the path decides.
        let of_rows =
            of_all.filter(|all| all.is_some() || !self.listed.have_words_in(rows.clone()));
        if let Some(decision) = of_rows {
            self.emitter.set_listed(&self.rows, decision)?;
            self.judge_run_of_any_time(runs, run, rows, backend)?;
        } else {
            let len = runs.lens[run] as usize;
            let origin = &self.rows.text(rows.start)[..len];
            for row in rows {
                let decision = match of_all {
                    Some(decision) => decision,
                    None => lists.decide(origin, &entries, &list_path(self.rows.rest(row, len)))?,
                };
                let decision = decision.or_else(|| self.listed.word_in(row));
                self.emitter.set_listed(&self.rows, decision)?;
                self.judge_run_of_any_time(runs, run, row..row + 1, backend)?;
            }
        }
        self.emitter.set_listed(&self.rows, None)
    }

    /// Judges the rows of a run, as of times if there are any.
    fn judge_run_of_any_time(
        &mut self,
        runs: &OriginRuns,
        run: usize,
        rows: Range<usize>,
        backend: impl Backend,
    ) -> Result<()> {
        if S::IS_TIMED || self.engine.options.as_of.is_some() {
            self.judge_run_as_of(runs, run, rows, backend)
        } else {
            self.judge_run(runs, run, rows, backend)
        }
    }

    /// Second pass: hashes the origins, and prefetches the buckets of the index.
    ///
    /// Cost: some forty instructions per run. Of a row without a plain origin it hashes nothing.
    #[inline(always)]
    fn hash(&self, runs: &mut OriginRuns) {
        for run in 0..runs.count.min(BATCH) {
            let text = self.rows.text(runs.firsts[run] as usize);
            let hash = self.engine.view.hash(&text[..runs.lens[run] as usize]);
            self.engine.view.prefetch(hash);
            runs.hashes[run] = hash;
        }
    }

    /// The plain origin of a row, if it has one; `text` extends beyond the row.
    #[inline(always)]
    fn plain_origin(&self, row: usize, text: &[u8], backend: impl Backend) -> PlainOrigin {
        let origin = url::plain_origin(text, backend);
        if !S::IS_OPEN || (origin.has_path && self.rows.has_len(row, origin.len as usize + 1)) {
            return origin;
        }
        // What follows the row may have been taken for a part of its origin.
        url::plain_origin(self.rows.url(row), backend)
    }

    /// Third pass: probes the index for each run. No branch waits for the index.
    #[inline(always)]
    fn probe(&self, runs: &mut OriginRuns) {
        runs.found = Runs::NONE;
        for run in 0..runs.count.min(BATCH) {
            let probe = self.engine.view.probe(runs.hashes[run]);
            runs.probes[run] = probe;
            runs.obeyed[run] = Obeyed::OTHER;
            runs.found.push_if(run, probe.offset != NONE);
        }
    }

    /// Fourth pass: finds the entry of each run, and what all agents obey in its robots.txt.
    #[inline(always)]
    fn locate(&self, runs: &mut OriginRuns, backend: impl Backend) {
        let engine = self.engine;
        let view = engine.view;
        let found = runs.found;
        for run in found.iter() {
            view.prefetch_entry(runs.probes[run].offset);
        }
        let mut ruled = Runs::NONE;
        for run in found.iter() {
            let len = runs.lens[run] as usize;
            let text = self.rows.text(runs.firsts[run] as usize);
            let entry = view.rules_entry(runs.probes[run].offset, len, text, backend);
            self.memo.prefetch(entry.file);
            runs.entries[run] = entry;
            runs.obeyed[run] = if entry.has_no_robots_txt {
                Obeyed::NO_ROBOTS_TXT
            } else {
                Obeyed::OTHER
            };
            ruled.push_if(run, entry.file != NONE);
        }
        // Files that come for the first time: few, unless most files have one origin.
        let mut new = Runs::NONE;
        for run in ruled.iter() {
            new.push_if(run, self.memo.lacks(runs.entries[run].file));
        }
        for run in new.iter() {
            view.prefetch_file(runs.entries[run].file);
        }
        for run in new.iter() {
            view.prefetch_groups(runs.entries[run].file);
        }
        for run in ruled.iter() {
            let file = runs.entries[run].file;
            let obeyed = self.memo.get(file, || engine.look_up_obeyed(file));
            view.prefetch_rules(obeyed.offset());
            runs.obeyed[run] = obeyed;
        }
    }

    /// Fifth pass: judges the rows of a run.
    #[inline(always)]
    fn judge_run(
        &mut self,
        runs: &OriginRuns,
        run: usize,
        rows: Range<usize>,
        backend: impl Backend,
    ) -> Result<()> {
        let len = runs.lens[run] as usize;
        if len == 0 {
            return self.judge_unsplit(rows);
        }
        let engine = self.engine;
        let obeyed = runs.obeyed[run];
        let entry = runs.entries[run];
        if obeyed == Obeyed::OTHER {
            return self.judge_other_run(runs, run, rows, backend);
        }
        let context = OriginContext {
            reason: if obeyed == Obeyed::NO_ROBOTS_TXT {
                Reason::NoRobotsTxt
            } else {
                Reason::Rules
            },
            row: entry.row,
            file: entry.file,
            text: OriginContext::OF_NEWEST,
            via_other_scheme: false,
        };
        if (obeyed == Obeyed::NO_RULES) | (obeyed == Obeyed::NO_ROBOTS_TXT) {
            if self.until == Stage::Match {
                let verdicts = engine.verdicts(VerdictBits::Same(Verdict::Allowed), &context);
                return self.emitter.emit(&self.rows, rows, verdicts);
            }
            return Ok(());
        }
        let one = SingleRuleSet {
            offset: obeyed.offset(),
            all: engine.all_agents(),
            without_group: 0,
        };
        if self.until == Stage::Locate {
            black_box(&one);
            return Ok(());
        }
        self.judge_paths(rows, len, &context, &one, backend)
    }

    /// Judges the rows of a run whose agents do not all obey one rule set, or whose origin has no
    /// rules or is not in its first bucket.
    #[inline(never)]
    fn judge_other_run(
        &mut self,
        runs: &OriginRuns,
        run: usize,
        rows: Range<usize>,
        backend: impl Backend,
    ) -> Result<()> {
        let len = runs.lens[run] as usize;
        let key = &self.rows.text(rows.start)[..len];
        let hash = runs.hashes[run];
        let probe = runs.probes[run];
        let Scratch {
            origins,
            other_key,
            matching,
            ..
        } = &mut *self.scratch;
        self.engine.enter(key, hash, probe, origins, other_key)?;
        if self.until == Stage::Locate {
            return Ok(());
        }
        let origin = origins.current();
        if let Some(verdicts) = origin.verdicts_of_all() {
            return self.emitter.emit(&self.rows, rows, verdicts);
        }
        for row in rows {
            let path = self.rows.path(row, len);
            let verdicts = if !path.is_empty() && self.rows.is_plain(row, path, backend) {
                self.engine.judge_path(path, origin, matching, backend)?
            } else {
                let rest = self.rows.rest(row, len);
                self.engine.judge_rest(rest, origin, matching, backend)?
            };
            self.emitter.emit(&self.rows, row..row + 1, verdicts)?;
        }
        Ok(())
    }

    /// Judges the rows of an origin of which all agents obey one rule set.
    #[inline(always)]
    fn judge_paths(
        &mut self,
        rows: Range<usize>,
        origin_len: usize,
        context: &OriginContext,
        one: &SingleRuleSet,
        backend: impl Backend,
    ) -> Result<()> {
        let engine = self.engine;
        for row in rows {
            let path = self.rows.path(row, origin_len);
            let rules = &mut self.scratch.matching.rules;
            let is_allowed = if !path.is_empty() && self.rows.is_plain(row, path, backend) {
                // A plain path is its own normal form.
                engine.allows_path(path, one, rules, backend)?
            } else {
                engine.allows_odd(self.rows.rest(row, origin_len), one, rules, backend)?
            };
            let verdicts = engine.verdicts(one.answer(is_allowed), context);
            self.emitter.emit(&self.rows, row..row + 1, verdicts)?;
        }
        Ok(())
    }

    /// Judges rows whose origin is not plain, each like a single URL.
    fn judge_unsplit(&mut self, rows: Range<usize>) -> Result<()> {
        if self.until == Stage::Match {
            for row in rows {
                let verdicts = self.engine.judge(self.rows.url(row), self.scratch)?;
                let listed = verdicts.listed.map(|listed| *listed.decision);
                self.emitter.set_listed(&self.rows, listed)?;
                self.emitter.emit(&self.rows, row..row + 1, verdicts)?;
            }
            self.emitter.set_listed(&self.rows, None)?;
        }
        Ok(())
    }

    /// Judges the runs of a batch as of the times of its rows, or of the judge.
    #[inline(never)]
    fn judge_batch_as_of(&mut self, runs: &OriginRuns, backend: impl Backend) -> Result<()> {
        let snapshot = self.engine.snapshot;
        for run in runs.found.iter() {
            snapshot.prefetch_starts(runs.entries[run].row);
        }
        for run in runs.found.iter() {
            snapshot.prefetch_newest_version(runs.entries[run].row);
        }
        for run in 0..runs.count.min(BATCH) {
            let rows = runs.rows(run);
            if runs.lens[run] == 0 {
                self.judge_unsplit_as_of(rows)?;
            } else if self.listed.concern(run, &rows) {
                self.judge_listed_run(runs, run, rows, backend)?;
            } else {
                self.judge_run_as_of(runs, run, rows, backend)?;
            }
        }
        self.emitter.flush(&self.rows)
    }

    /// The time of a row, or that of the judge.
    #[inline(always)]
    fn time(&self, row: usize) -> Option<i64> {
        if S::IS_TIMED {
            self.rows.time(row)
        } else {
            self.engine.options.as_of
        }
    }

    /// Judges the rows of a run, each as of its time. Neighbours whose times are in the validity of
    /// one answer share it. Most rows are newer than the newest version of their origin: for these, all
    /// was found by [`locate`](Self::locate), and the history is read for the start of that version
    /// only.
    fn judge_run_as_of(
        &mut self,
        runs: &OriginRuns,
        run: usize,
        rows: Range<usize>,
        backend: impl Backend,
    ) -> Result<()> {
        let engine = self.engine;
        let is_absent = runs.probes[run] == Probe::ABSENT && !engine.options.any_scheme;
        let newest_since = if runs.obeyed[run] == Obeyed::OTHER {
            i64::MAX
        } else {
            engine.snapshot.newest_since(runs.entries[run].row)?
        };
        let mut selected = Selected::Nothing;
        for row in rows {
            let time = self.time(row);
            if time.is_none() && engine.options.no_time == NoTime::Unknown {
                self.emit_untimed(row)?;
                selected = Selected::Nothing;
                continue;
            }
            if is_absent {
                self.emit_unknown(row..row + 1)?;
                continue;
            }
            let is_newest = newest_since < i64::MAX && time.is_none_or(|time| time >= newest_since);
            if is_newest {
                // Rows that are joined have the same robots.txt.
                if selected != Selected::Newest {
                    self.emitter.flush(&self.rows)?;
                    selected = Selected::Newest;
                }
                self.judge_run(runs, run, row..row + 1, backend)?;
                continue;
            }
            if !selected.holds_at(time) {
                self.emitter.flush(&self.rows)?;
                selected = self.select_as_of(runs, run, row, time)?;
            }
            if self.until == Stage::Match {
                self.judge_row_of_selected(row, runs.lens[run] as usize, backend)?;
            }
        }
        Ok(())
    }

    /// Makes the origin of a run the current one, as of a time.
    fn select_as_of(
        &mut self,
        runs: &OriginRuns,
        run: usize,
        row: usize,
        time: Option<i64>,
    ) -> Result<Selected> {
        let Scratch {
            origins, other_key, ..
        } = &mut *self.scratch;
        let key = &self.rows.text(row)[..runs.lens[run] as usize];
        let (hash, probe) = (runs.hashes[run], runs.probes[run]);
        self.engine
            .enter_at(key, hash, probe, time, origins, other_key)?;
        let validity = origins.current().validity.unwrap_or(Validity::ALWAYS);
        Ok(match time {
            Some(_) => Selected::AsOf(validity),
            None => Selected::State,
        })
    }

    /// Judges a row by the current state of the cache.
    fn judge_row_of_selected(
        &mut self,
        row: usize,
        origin_len: usize,
        backend: impl Backend,
    ) -> Result<()> {
        let Scratch {
            origins, matching, ..
        } = &mut *self.scratch;
        let origin = origins.current();
        let verdicts = match origin.verdicts_of_all() {
            Some(verdicts) => verdicts,
            None => {
                let path = self.rows.path(row, origin_len);
                if !path.is_empty() && self.rows.is_plain(row, path, backend) {
                    self.engine.judge_path(path, origin, matching, backend)?
                } else {
                    let rest = self.rows.rest(row, origin_len);
                    self.engine.judge_rest(rest, origin, matching, backend)?
                }
            }
        };
        self.emitter.emit(&self.rows, row..row + 1, verdicts)
    }

    /// Judges rows whose origin is not plain, each as of its time.
    fn judge_unsplit_as_of(&mut self, rows: Range<usize>) -> Result<()> {
        if self.until != Stage::Match {
            return Ok(());
        }
        for row in rows {
            self.emitter.flush(&self.rows)?;
            let time = self.time(row);
            let is_unknown = time.is_none() && self.engine.options.no_time == NoTime::Unknown;
            let url = self.rows.url(row);
            let verdicts = self.engine.judge_as_of(url, time, self.scratch)?;
            let listed = verdicts.listed.map(|listed| *listed.decision);
            self.emitter.set_listed(&self.rows, listed)?;
            if is_unknown && verdicts.unjudged() != Some(Verdict::Invalid) {
                self.emit_untimed(row)?;
            } else {
                self.emitter.emit(&self.rows, row..row + 1, verdicts)?;
            }
        }
        self.emitter.set_listed(&self.rows, None)
    }

    /// Emits a row whose time is not known.
    fn emit_untimed(&mut self, row: usize) -> Result<()> {
        if self.until != Stage::Match {
            return Ok(());
        }
        let verdicts = self.engine.verdicts_on_untimed();
        self.emitter.emit(&self.rows, row..row + 1, verdicts)
    }

    /// Emits rows of origins that the snapshot does not contain.
    #[inline(always)]
    fn emit_unknown(&mut self, rows: Range<usize>) -> Result<()> {
        if rows.is_empty() || self.until != Stage::Match {
            return Ok(());
        }
        let verdicts = self.engine.verdicts_on_unknown();
        self.emitter.emit(&self.rows, rows, verdicts)
    }
}

/// What the rows of a run are judged by, as of their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selected {
    Nothing,
    /// The newest answer, as it was located.
    Newest,
    /// The current state of the cache, which is that of the newest answer.
    State,
    /// The current state of the cache, in the time in which it holds.
    AsOf(Validity),
}

impl Selected {
    /// Whether it is the state of the cache for a row of this time.
    fn holds_at(self, time: Option<i64>) -> bool {
        match (self, time) {
            (Self::State, None) => true,
            (Self::AsOf(validity), Some(time)) => validity.contains(time),
            _ => false,
        }
    }
}

/// Finds the listed words of each row of a batch, unless its origin is not plain.
struct FindWords<'a, 'd, S> {
    rows: &'a S,
    runs: &'a OriginRuns,
    search: WordSearch<'a>,
    listed: &'a mut ListedRuns<'d>,
}

impl<'d, S: RowSource<'d>> Kernel for FindWords<'_, 'd, S> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(mut self, backend: impl Backend) -> Result<()> {
        for run in 0..self.runs.count.min(BATCH) {
            let len = self.runs.lens[run] as usize;
            if len == 0 {
                continue;
            }
            for row in self.runs.rows(run) {
                let text = self.rows.text(row);
                // Blanks at its end, which are not part of the URL, divide words too.
                let rest_len = self.rows.path(row, len).len();
                if let Some(found) = self.search.find_plain(text, len, rest_len, backend)? {
                    self.listed.push_word(row, found);
                }
            }
        }
        Ok(())
    }
}

/// The origin runs of a batch, as arrays with one value per run. A run is consecutive rows with the
/// same plain origin, or one row whose origin is not plain.
#[derive(Debug)]
struct OriginRuns {
    /// The number of the first row; after the last run, the number of rows.
    firsts: [u32; BATCH + 1],
    /// The length of the origin, or 0 if it is not plain.
    lens: [u32; BATCH],
    /// The hash of the origin.
    hashes: [u64; BATCH],
    /// The result of probing the index.
    probes: [Probe; BATCH],
    /// The runs whose origin is probably in the snapshot.
    found: Runs,
    /// The entry, if it is that of an origin with rules.
    entries: [RulesEntry; BATCH],
    /// What the agents obey; [`Obeyed::OTHER`] without an entry.
    obeyed: [Obeyed; BATCH],
    /// The number of runs.
    count: usize,
}

impl OriginRuns {
    fn new() -> Self {
        Self {
            firsts: [0; BATCH + 1],
            lens: [0; BATCH],
            hashes: [0; BATCH],
            probes: [Probe::SKIPPED; BATCH],
            found: Runs::NONE,
            entries: [RulesEntry::NONE; BATCH],
            obeyed: [Obeyed::OTHER; BATCH],
            count: 0,
        }
    }

    /// Adds a run.
    #[inline(always)]
    fn push(&mut self, first: usize, origin_len: u32) {
        if self.count < BATCH {
            self.firsts[self.count] = first as u32;
            self.lens[self.count] = origin_len;
            self.count += 1;
        }
    }

    /// Ends the last run at this row.
    #[inline(always)]
    fn end_at(&mut self, rows: usize) {
        self.firsts[self.count.min(BATCH)] = rows as u32;
    }

    /// The rows of a run.
    #[inline(always)]
    fn rows(&self, run: usize) -> Range<usize> {
        self.firsts[run] as usize..self.firsts[run + 1] as usize
    }
}

/// The numbers of some runs of a batch, in order.
#[derive(Clone, Copy, Debug)]
struct Runs {
    numbers: [u8; BATCH],
    count: usize,
}

impl Runs {
    const NONE: Self = Self {
        numbers: [0; BATCH],
        count: 0,
    };

    /// Adds a run if the condition holds. It is always written, and counted if it is of use, so that
    /// no branch waits for the condition.
    #[inline(always)]
    fn push_if(&mut self, run: usize, condition: bool) {
        self.numbers[self.count % BATCH] = run as u8;
        self.count += usize::from(condition);
    }

    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = usize> {
        let numbers = self.numbers[..self.count.min(BATCH)].iter();
        numbers.map(|number| usize::from(*number) % BATCH)
    }
}

/// The runs of a batch that may have entries in filter lists.
struct PossibleRuns {
    runs: Runs,
    /// For each run of the batch, the suffix that the search of its origin begins with.
    suffixes: [FirstSuffix; BATCH],
}

/// The origin of an earlier row, if it is plain and a path follows it.
#[derive(Clone, Copy)]
struct PreviousOrigin<'b> {
    /// The text of that row.
    text: &'b [u8],
    /// The first bytes of the text.
    window: &'b [u8; 32],
    /// The length of the origin.
    len: u32,
    /// A bit for each byte of the window up to the `/` after the origin; 0 if no row can have the
    /// same origin.
    mask: u32,
}

impl<'b> PreviousOrigin<'b> {
    /// No row has this origin.
    const NONE: Self = Self {
        text: &[],
        window: &[0; 32],
        len: 0,
        mask: 0,
    };

    #[inline(always)]
    fn new(text: &'b [u8], origin: PlainOrigin) -> Self {
        let Some(window) = text.first_chunk() else {
            return Self::NONE;
        };
        // All bits for an origin that fills the window.
        let mask = 2u32.unbounded_shl(origin.len).wrapping_sub(1);
        Self {
            text,
            window,
            len: origin.len,
            mask: if origin.has_path { mask } else { 0 },
        }
    }

    /// Whether `text` starts with this origin and a path.
    #[inline(always)]
    fn starts(self, text: &[u8], backend: impl Backend) -> bool {
        let Some(window) = text.first_chunk() else {
            return false;
        };
        let differing = !backend.equal_bytes(window, self.window) & self.mask;
        (self.mask != 0) & (differing == 0) && (self.len < 32 || self.starts_long(text))
    }

    /// The same for an origin that is longer than the window.
    #[inline(never)]
    fn starts_long(self, text: &[u8]) -> bool {
        let with_slash = self.len as usize + 1;
        self.text
            .get(..with_slash)
            .is_some_and(|origin| text.starts_with(origin))
    }
}
