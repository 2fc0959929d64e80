//! Verdicts as of the times of requests, and the rules before and after those in force.
//!
//! An archive has captures, and a request comes at any time. So of a request that the rules in
//! force disallow, two doubts are left. Its crawler may have read the rules before, which it may
//! use for a day (RFC 9309 §2.4). Or the site changed its rules before the capture that found them
//! changed. Both are answered from the history: a walk back through the versions of a day, and one
//! look at the next version.

use super::engine::{Engine, Scratch};
use super::session::JudgeSession;
use super::status_policy::{Ruling, ruling};
use crate::bytes::wire::NO_TIME;
use crate::error::Result;
use crate::explain::{Reason, Verdict};
use crate::snapshot::format::NONE;
use crate::snapshot::history::Validity;
use crate::snapshot::index::Probe;
use crate::url;
use std::collections::HashSet;

/// A day, for which a crawler may use a copy of a robots.txt (RFC 9309 §2.4).
const DAY: i64 = 24 * 60 * 60;

/// The answers of a day that are looked at for a request. A site may have had one each second.
const MAX_ANSWERS: usize = 1024;

/// The bytes of the different texts of a day that are looked at for a request: some eight of the
/// longest.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// The verdict on a URL as of a time, for the first agent of a judge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedVerdict {
    pub verdict: Verdict,
    pub reason: Reason,
    /// The number of the robots.txt whose rules decided.
    pub file: Option<u32>,
    pub answer: TimedAnswer,
}

/// What a snapshot with a history has of an origin at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimedAnswer {
    /// Nothing at any time, or the text is not a URL.
    Never,
    /// Nothing yet: the time is before the first capture.
    NotYet,
    /// An answer in force, with its bounds, which are those of
    /// [`Snapshot::in_force`](crate::Snapshot::in_force). With the entries of both schemes, a first
    /// capture of the own scheme ends the answer of the other.
    InForce(Validity),
}

/// The rules before and after those in force, as far as they are in doubt at the time of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NearbyRules {
    /// None are in doubt.
    Settled,
    /// Rules that were found replaced at most a day before allow the URL.
    EarlierAllow,
    /// The answer was seen before the time, and found changed after it. The next one allows the
    /// URL.
    NextAllow,
    /// As `NextAllow`, but the next one disallows the URL too.
    NextDisallow,
    /// The answer was seen before the time, and none was after it.
    NoneLater,
}

impl<'j> JudgeSession<'j> {
    /// The verdict as of `time`, for the first agent. The snapshot has a history.
    ///
    /// # Errors
    /// As [`judge_as_of`](Self::judge_as_of).
    pub(crate) fn timed_verdict(&mut self, url: &[u8], time: i64) -> Result<TimedVerdict> {
        timed_verdict(self.engine, &mut self.scratch, url, time)
    }

    /// The rules near `time` for a URL that those in force, with the bounds `answer`, disallow to
    /// the first agent.
    ///
    /// The rules of the day before come first: a request that they allow is `EarlierAllow`,
    /// whatever the next rules say. So is one at a site whose answers of a day are too many or too
    /// long to be looked at ([`MAX_ANSWERS`], [`MAX_TEXT_BYTES`]): nobody can say what a crawler
    /// read there.
    ///
    /// Cost: nothing if the answer is older than a day and was seen after `time`. Else a verdict
    /// for each distinct robots.txt of the day before, and one for the next answer.
    ///
    /// # Errors
    /// As [`judge_as_of`](Self::judge_as_of).
    pub(crate) fn nearby_rules(
        &mut self,
        url: &[u8],
        time: i64,
        answer: Validity,
    ) -> Result<NearbyRules> {
        if self.was_allowed_within_day(url, time, answer.from)? {
            return Ok(NearbyRules::EarlierAllow);
        }
        if time <= answer.last_seen {
            return Ok(NearbyRules::Settled);
        }
        if answer.until == i64::MAX {
            return Ok(match answer.last_seen {
                NO_TIME => NearbyRules::Settled,
                _ => NearbyRules::NoneLater,
            });
        }
        // The end of an answer is the time of the capture that found the next one.
        let next = self.timed_verdict(url, answer.until)?;
        Ok(match next.verdict {
            Verdict::Allowed => NearbyRules::NextAllow,
            _ => NearbyRules::NextDisallow,
        })
    }

    /// The bytes of old texts whose rules the session took, over all of its time. It may still hold
    /// them.
    pub(crate) fn old_text_bytes(&self) -> usize {
        self.scratch.origins.old_text_bytes()
    }

    /// Whether an answer that was found replaced at most a day before `time` allowed a URL. `from`
    /// is the time from which the answer in force holds.
    ///
    /// Each answer counts by its last second: a failing site is never judged more strictly as its
    /// failure gets older. Answers from before the first capture are not known, so they allow
    /// nothing.
    fn was_allowed_within_day(&mut self, url: &[u8], time: i64, from: i64) -> Result<bool> {
        let earliest = time.saturating_sub(DAY);
        // Nearly always, the rules in force are older than a day.
        if from < earliest || from == i64::MIN {
            return Ok(false);
        }
        let Self { engine, scratch } = self;
        let (mut key, mut other_key) = (Vec::new(), Vec::new());
        let Some(parts) = url::split(url, engine.profile(), &mut key) else {
            return Ok(false);
        };
        let hash = engine.view.hash(parts.origin);
        let entries = engine.entries_of(parts.origin, hash, Probe::SKIPPED, &mut other_key)?;
        // A site may go to and fro between a few texts, so each is judged once. From the answer in
        // force back, each answer ends where the next one was found.
        let mut judged_files: HashSet<u32> = HashSet::new();
        let mut text_bytes = 0;
        let mut found_at = from;
        for _ in 0..MAX_ANSWERS {
            if found_at < earliest || found_at == i64::MIN {
                return Ok(false);
            }
            let last_second = found_at - 1;
            let mut bounds = Validity::ALWAYS;
            let Some(deciding) = engine.deciding_outcome(entries, last_second, &mut bounds)? else {
                return Ok(false);
            };
            found_at = bounds.from;
            // An answer without rules has one verdict for all paths.
            let found = &deciding.found;
            let has_last_good = found.last_good.is_some();
            let file = match ruling(
                engine.policy(),
                &found.outcome,
                has_last_good,
                Some(last_second),
            ) {
                Ruling::Allow => return Ok(true),
                Ruling::Disallow => continue,
                Ruling::Rules => found.file,
                Ruling::LastGood => found.last_good,
            };
            if !judged_files.insert(file.unwrap_or(NONE)) {
                continue;
            }
            let judged = timed_verdict(engine, scratch, url, last_second)?;
            if judged.verdict == Verdict::Allowed {
                return Ok(true);
            }
            // The lengths of all texts count, also of those whose rules are stored or are in a cache:
            // the answer depends on the site alone.
            text_bytes += match file {
                Some(file) => engine.snapshot.any_text_len(file)? as usize,
                None => 0,
            };
            if text_bytes > MAX_TEXT_BYTES {
                return Ok(true);
            }
        }
        Ok(true)
    }
}

fn timed_verdict<'s>(
    engine: &Engine<'s>,
    scratch: &mut Scratch<'s>,
    url: &[u8],
    time: i64,
) -> Result<TimedVerdict> {
    let found = engine.judge_as_of(url, Some(time), scratch)?;
    let (verdict, reason, file) = (found.get(0), found.reason(), found.deciding_file());
    let has_answer = found.row().is_some();
    // The current state of the cache is that of this URL's origin, unless the text is not a URL.
    let state = scratch.origins.current();
    let answer = match state.validity {
        _ if verdict == Verdict::Invalid => TimedAnswer::Never,
        None => TimedAnswer::Never,
        Some(_) if has_answer => TimedAnswer::InForce(state.answer),
        Some(_) => TimedAnswer::NotYet,
    };
    Ok(TimedVerdict {
        verdict,
        reason,
        file,
        answer,
    })
}
