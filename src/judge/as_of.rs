//! The policy of an origin as of an instant, by the history of the snapshot.
//!
//! A state holds for a span of time: that of the origin's own version, of the versions of all
//! targets on the way, and of a phase of failing. Rows whose times are in it share the state.

use super::engine::{Engine, Scratch};
use super::options::NoTime;
use super::origin_cache::{OriginCache, OriginPolicy, OriginState};
use super::status_policy::{Ruling, ruling, ruling_changes};
use super::verdicts_ref::{OriginContext, VerdictsRef};
use crate::error::{Error, Result};
use crate::explain::{Reason, Verdict};
use crate::profile::Profile;
use crate::snapshot::as_of::OutcomeAt;
use crate::snapshot::format::{Entry, NONE, RuleSections};
use crate::snapshot::history::Validity;
use crate::snapshot::index::Probe;
use crate::url::{self, Origin};
use std::ops::Range;

/// The outcome that decides on an origin at a time.
pub(super) struct DecidingOutcome<'s> {
    /// The row of its origin.
    pub row: u32,
    pub found: OutcomeAt<'s>,
    /// Whether it is that of the other scheme.
    pub via_other_scheme: bool,
}

impl<'s> Engine<'s> {
    /// Makes the origin with this key and hash the current one of the cache, as of `time`.
    pub(super) fn enter_as_of(
        &self,
        key: &[u8],
        hash: u64,
        probe: Probe,
        time: i64,
        origins: &mut OriginCache<'s>,
        other_key: &mut Vec<u8>,
    ) -> Result<()> {
        if origins.select_as_of(key, hash, time) {
            return Ok(());
        }
        let entries = self.entries_of(key, hash, probe, other_key)?;
        if entries.iter().all(Option::is_none) {
            origins.select_unknown();
            return Ok(());
        }
        origins.insert(key, hash, |state| self.resolve_as_of(entries, time, state))
    }

    /// The entry of an origin, and that of the other scheme if the options ask for it.
    pub(super) fn entries_of(
        &self,
        key: &[u8],
        hash: u64,
        probe: Probe,
        other_key: &mut Vec<u8>,
    ) -> Result<[Option<Entry<'s>>; 2]> {
        let own = self.find_probed(key, hash, probe)?;
        let other = if self.options.any_scheme && Origin::other_scheme(key, other_key) {
            self.view.find(other_key)?
        } else {
            None
        };
        Ok([own, other])
    }

    /// The outcome of the first of these entries that has one at `time`. `validity` is narrowed to the
    /// time in which that is so.
    pub(super) fn deciding_outcome(
        &self,
        entries: [Option<Entry<'s>>; 2],
        time: i64,
        validity: &mut Validity,
    ) -> Result<Option<DecidingOutcome<'s>>> {
        for (entry, via_other_scheme) in entries.into_iter().zip([false, true]) {
            let Some(entry) = entry else { continue };
            if let Some(found) = self.snapshot.outcome_as_of(entry.row, time, validity)? {
                return Ok(Some(DecidingOutcome {
                    row: entry.row,
                    found,
                    via_other_scheme,
                }));
            }
        }
        Ok(None)
    }

    /// Sets the state of an origin as of `time` from its entry and that of the other scheme.
    pub(super) fn resolve_as_of(
        &self,
        entries: [Option<Entry<'s>>; 2],
        time: i64,
        state: &mut OriginState<'s>,
    ) -> Result<()> {
        let mut validity = Validity::ALWAYS;
        let Some(DecidingOutcome {
            row,
            found,
            via_other_scheme,
        }) = self.deciding_outcome(entries, time, &mut validity)?
        else {
            state.policy = OriginPolicy::Uniform(self.verdict_on_unknown());
            state.context = OriginContext::UNKNOWN;
            state.answer = validity;
            state.validity = Some(validity);
            return Ok(());
        };
        state.answer = validity;
        let outcome = &found.outcome;
        for change in ruling_changes(self.policy, outcome) {
            if change <= time {
                validity.from = validity.from.max(change);
            } else {
                validity.until = validity.until.min(change);
            }
        }
        let ruling = ruling(self.policy, outcome, found.last_good.is_some(), Some(time));
        state.validity = Some(validity);
        state.context = OriginContext {
            reason: Reason::of(outcome, ruling),
            row,
            file: NONE,
            text: found.file.or(found.last_good).unwrap_or(NONE),
            via_other_scheme,
        };
        let file = match ruling {
            Ruling::Allow => {
                state.policy = OriginPolicy::Uniform(Verdict::Allowed);
                return Ok(());
            }
            Ruling::Disallow => {
                state.policy = match self.profile {
                    Profile::Rfc9309 => OriginPolicy::AllButRobots,
                    Profile::Google => OriginPolicy::Uniform(Verdict::Disallowed),
                };
                return Ok(());
            }
            Ruling::LastGood => found.last_good,
            Ruling::Rules => found.file,
        };
        let file = file.ok_or_else(|| Error::corrupt("a version with rules has no robots.txt"))?;
        if file < self.view.file_count() {
            return self.apply_rules(file, state);
        }
        state.context.file = file;
        if let Some(row) = self.snapshot.old_rules_of(file)? {
            let groups = &mut state.groups;
            groups.clear(self.words());
            self.snapshot.visit_rules_of(
                RuleSections::OLD,
                row,
                self.old_chains()?,
                |agent, offset| groups.add(agent, offset, &self.old_view),
            )?;
            state.policy = OriginPolicy::ByOldGroups;
            return Ok(());
        }
        state.old_rules = Some(self.old_rules.get(file, self)?);
        state.policy = OriginPolicy::OldRules;
        Ok(())
    }

    /// Judges one URL as of several times, which are in ascending order, those without a time first.
    /// Calls `each` in order with ranges of `times` that have the same verdicts. So a long URL that
    /// many rows share is matched once per answer of its origin, not once per row.
    ///
    /// # Errors
    /// Those of [`judge_timed_lines`](Self::judge_timed_lines).
    pub(crate) fn judge_at_times(
        &self,
        url: &[u8],
        times: &[Option<i64>],
        scratch: &mut Scratch<'s>,
        mut each: impl FnMut(Range<usize>, VerdictsRef<'_>) -> Result<()>,
    ) -> Result<()> {
        self.snapshot.require_history()?;
        self.claim(scratch);
        let mut start = 0;
        while let Some(&time) = times.get(start) {
            let rest = &times[start..];
            let validity = match time {
                Some(time) => self.validity_of_origin(url, time, scratch)?,
                None => None,
            };
            let len = match validity {
                // A text that is not a URL is that at any time.
                None if time.is_some() => rest.len(),
                None => rest.partition_point(Option::is_none),
                Some(validity) => {
                    rest.partition_point(|time| time.is_some_and(|time| validity.contains(time)))
                }
            };
            let range = start..start + len.max(1);
            start = range.end;
            let verdicts = self.judge_as_of(url, time, scratch)?;
            let is_untimed = time.is_none() && self.options.no_time == NoTime::Unknown;
            if is_untimed && verdicts.unjudged() != Some(Verdict::Invalid) {
                each(range, self.verdicts_on_untimed())?;
            } else {
                each(range, verdicts)?;
            }
        }
        Ok(())
    }

    /// The time in which the answer of a URL's origin as of `time` holds; `None` if the text is not a
    /// URL.
    fn validity_of_origin(
        &self,
        url: &[u8],
        time: i64,
        scratch: &mut Scratch<'s>,
    ) -> Result<Option<Validity>> {
        let mut key = Vec::new();
        let Some(parts) = url::split(url, self.profile, &mut key) else {
            return Ok(None);
        };
        let hash = self.view.hash(parts.origin);
        let Scratch {
            origins, other_key, ..
        } = scratch;
        self.enter_as_of(parts.origin, hash, Probe::SKIPPED, time, origins, other_key)?;
        // An origin that the snapshot does not hold is unknown at any time.
        Ok(Some(origins.current().validity.unwrap_or(Validity::ALWAYS)))
    }

    /// Verifies the blocks of the snapshot that judging an origin as of `time` reads. Those of the
    /// history are verified whenever they are read.
    pub(super) fn verify_origin_as_of(&self, key: &[u8], time: i64) -> Result<()> {
        let mut other_key = Vec::new();
        self.snapshot.find(key)?;
        if self.options.any_scheme && Origin::other_scheme(key, &mut other_key) {
            self.snapshot.find(&other_key)?;
        }
        let entries = self.entries_of(key, self.view.hash(key), Probe::SKIPPED, &mut other_key)?;
        let found = self.deciding_outcome(entries, time, &mut Validity::ALWAYS.clone())?;
        let Some(DecidingOutcome { found, .. }) = found else {
            return Ok(());
        };
        for file in [found.file, found.last_good].into_iter().flatten() {
            if file < self.view.file_count() {
                self.snapshot.verify_rules_of(file, &self.chains)?;
            }
        }
        Ok(())
    }

    /// Makes an origin the current one of the cache: as of `time`, or by its newest answer.
    #[inline]
    pub(super) fn enter_at(
        &self,
        key: &[u8],
        hash: u64,
        probe: Probe,
        time: Option<i64>,
        origins: &mut OriginCache<'s>,
        other_key: &mut Vec<u8>,
    ) -> Result<()> {
        match time {
            None => self.enter(key, hash, probe, origins, other_key),
            Some(time) => self.enter_as_of(key, hash, probe, time, origins, other_key),
        }
    }
}
