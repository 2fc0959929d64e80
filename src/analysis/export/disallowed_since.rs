//! Since when an origin disallows everything to an agent, by the history of the snapshot.
//!
//! The naive way walks back over the answers in force of each origin ([`Snapshot::timeline`]). If
//! eighty thousand origins redirect to one URL with eighty thousand versions, that is the product.
//! Here each URL is walked once for each agent, as in dynamic programming over a graph without
//! cycles:
//!
//! * Let `run(node, hops, agent, end)` be the earliest time from which the node disallows everything
//!   without a break until `end`, if `hops` redirects were followed before. The last version before
//!   `end` decides about its own part of that time. If it disallows all of it, the run goes on before
//!   its first second, and that is the run whose end is the start of a version: it is memoised.
//! * The part of a redirect is the run of its target, one hop later. So a chain of redirects costs a
//!   binary search per hop, and nothing is copied along it.
//!
//! The state of a node at a time depends on nothing else. A loop is not searched for: it goes on
//! until five redirects were followed, and that leads to no robots.txt as well.
//!
//! [`Snapshot::timeline`]: crate::Snapshot::timeline

use super::access::AccessReader;
use crate::bytes::wire::NO_TIME;
use crate::error::{Error, Result};
use crate::file_pass::{Coverage, FileReader};
use crate::judge::Ruling;
use crate::judge::engine::Engine;
use crate::snapshot::history::{Validity, Version, VersionAnswer, VersionFailure};
use crate::snapshot::{MAX_HOPS, Outcome, OutcomeClass, Snapshot};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

/// The bounds of the time in which an origin began to disallow everything to an agent, in seconds
/// since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DisallowedSince {
    /// The last time at which it was known not to. `None` if its first answer did.
    pub after: Option<i64>,
    /// The first time at which it did, without a break since. `None` if it does not, or if that time
    /// is not known.
    pub since: Option<i64>,
}

/// A URL that redirects lead to, the number of them, and an agent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct TargetKey {
    node: u32,
    hops: u8,
    agent: u32,
}

/// A start of a run that is not known yet. No version begins then.
const UNKNOWN: i64 = i64::MAX;

/// The entries of a memo that URLs with few versions may take: 32 MiB.
const MAX_ENTRIES: usize = 4 << 20;

/// The entries of URLs with more versions: 256 MiB. Hundreds of agents and long chains take more, and
/// then all is walked again.
const MAX_LARGE_ENTRIES: usize = 32 << 20;

/// A URL with more versions stays in the memo. It is cheap to walk a shorter one again.
const FEW_VERSIONS: usize = 1 << 10;

/// The bytes of an entry for a URL with few versions, in the entries of a run.
const ENTRY_OVERHEAD: usize = 6;

/// For each URL that redirects lead to, the start of the run that ends where each version begins.
///
/// Memory: 8 bytes per version of the URLs with over a thousand versions, for each agent and number
/// of redirects, up to 256 MiB, and some 32 MiB for all others.
#[derive(Default)]
struct RunMemo {
    starts: HashMap<TargetKey, Box<[i64]>>,
    /// The entries of the URLs with few versions.
    entries: usize,
    /// The entries of the others.
    large_entries: usize,
}

impl RunMemo {
    fn get(&self, key: TargetKey, version: usize) -> Option<i64> {
        let start = *self.starts.get(&key)?.get(version)?;
        Some(start).filter(|start| *start != UNKNOWN)
    }

    /// Counts the entries of one more URL with this number of versions, and drops others if they are too
    /// many.
    fn make_room(&mut self, count: usize) {
        if count > FEW_VERSIONS {
            self.large_entries += count;
            if self.large_entries > MAX_LARGE_ENTRIES {
                self.starts.retain(|_, starts| starts.len() <= FEW_VERSIONS);
                self.large_entries = count;
            }
            return;
        }
        self.entries += count + ENTRY_OVERHEAD;
        if self.entries > MAX_ENTRIES {
            self.starts.retain(|_, starts| starts.len() > FEW_VERSIONS);
            self.entries = count + ENTRY_OVERHEAD;
        }
    }

    /// Sets the start of the runs that end where these versions begin.
    fn fill(&mut self, key: TargetKey, versions: Range<usize>, count: usize, start: i64) {
        if !self.starts.contains_key(&key) {
            self.make_room(count);
        }
        let starts = self.starts.entry(key);
        let starts = starts.or_insert_with(|| vec![UNKNOWN; count].into());
        if let Some(starts) = starts.get_mut(versions) {
            starts.fill(start);
        }
    }
}

/// The memos of the workers of an export, from one block to the next.
#[derive(Default)]
pub(super) struct RunMemos(Mutex<Vec<RunMemo>>);

/// Finds since when agents are disallowed. One per worker.
pub(super) struct SinceReader<'s> {
    engine: &'s Engine<'s>,
    memos: &'s RunMemos,
    memo: RunMemo,
    /// The versions that were walked.
    #[cfg(test)]
    steps: usize,
}

impl Drop for SinceReader<'_> {
    fn drop(&mut self) {
        crate::threads::lock(&self.memos.0).push(std::mem::take(&mut self.memo));
    }
}

/// Reads the rules of texts.
pub(super) struct TextAccess<'a, 's, 'f> {
    pub access: &'a mut AccessReader<'s>,
    pub files: &'a mut FileReader<'f>,
}

impl TextAccess<'_, '_, '_> {
    fn is_disallowed(&mut self, file: Option<u32>, agent: usize) -> Result<bool> {
        let file = file.ok_or_else(|| Error::corrupt("a version with rules has no robots.txt"))?;
        let agents = self.access.of_file(file, self.files)?;
        Ok(agents
            .get(agent)
            .is_some_and(|agent| agent.coverage == Coverage::Wholly))
    }
}

/// A node, and the redirects that led to it.
#[derive(Clone, Copy)]
struct Place {
    node: u32,
    hops: usize,
}

impl<'s> SinceReader<'s> {
    pub(super) fn new(engine: &'s Engine<'s>, memos: &'s RunMemos) -> Self {
        let memo = crate::threads::lock(&memos.0).pop();
        Self {
            engine,
            memos,
            memo: memo.unwrap_or_default(),
            #[cfg(test)]
            steps: 0,
        }
    }

    fn snapshot(&self) -> &'s Snapshot {
        self.engine.snapshot()
    }

    /// Since when the origin in a row disallows everything to each of these agents, to which its newest
    /// answer disallows everything.
    pub(super) fn of_origin(
        &mut self,
        row: u32,
        agents: impl Iterator<Item = usize>,
        texts: &mut TextAccess<'_, '_, '_>,
    ) -> Result<Vec<(usize, DisallowedSince)>> {
        // The newest answer has disallowed everything since it began. A failure too: with its age, a
        // policy may come to allow, and never to disallow.
        let mut newest_from = None;
        let mut found: Vec<(usize, DisallowedSince)> = Vec::new();
        for agent in agents {
            let from = match newest_from {
                Some(from) => from,
                None => *newest_from.insert(self.newest_from(row)?),
            };
            let start = self.run(Place { node: row, hops: 0 }, agent, from, texts)?;
            // Most agents are disallowed by one version.
            let same = found.iter().find(|(_, known)| known.since == Some(start));
            let since = match same {
                Some((_, known)) => *known,
                None if start == NO_TIME => DisallowedSince::default(),
                None => DisallowedSince {
                    after: self.seen_before(row, start)?,
                    since: Some(start),
                },
            };
            found.push((agent, since));
        }
        Ok(found)
    }

    /// The time from which the newest answer of an origin holds, after redirects.
    fn newest_from(&self, row: u32) -> Result<i64> {
        let mut validity = Validity::ALWAYS;
        let found = self
            .snapshot()
            .outcome_as_of(row, i64::MAX, &mut validity)?;
        match found {
            Some(_) => Ok(validity.from),
            None => Err(Error::corrupt("an origin without a version")),
        }
    }

    /// The last time before `start` at which an origin was known not to disallow everything: the last
    /// capture of that answer, or the time when it began to mean that. `None` without an answer.
    fn seen_before(&self, row: u32, start: i64) -> Result<Option<i64>> {
        let last = start.saturating_sub(1);
        let mut validity = Validity::ALWAYS;
        let found = self.snapshot().outcome_as_of(row, last, &mut validity)?;
        let Some(found) = found else { return Ok(None) };
        // A failure may have come to mean something else between two captures.
        let changes = self.engine.ruling_changes(&found.outcome);
        let changes = changes.filter(|change| *change <= last);
        let from = changes.fold(validity.from, i64::max);
        Ok(Some(validity.last_seen.min(last).max(from)).filter(|seen| *seen != NO_TIME))
    }

    /// The earliest time from which a node disallows everything to an agent without a break until the
    /// second before `end`; `end` if it does not then.
    fn run(
        &mut self,
        place: Place,
        agent: usize,
        end: i64,
        texts: &mut TextAccess<'_, '_, '_>,
    ) -> Result<i64> {
        let snapshot = self.snapshot();
        let versions = snapshot.versions_of(place.node)?;
        let first = versions.start;
        let before = snapshot.versions_before(place.node, end)?;
        let Some(newest) = before.checked_sub(1) else {
            return Ok(self.run_before_first(place, end));
        };
        let version = snapshot.version(first + newest)?;
        let from = version.from.unwrap_or(NO_TIME);
        let start = self.start_in_version(place, &version, from..end, agent, texts)?;
        if start > from {
            return Ok(start);
        }
        // The run that ends where the version `at` begins. Those of the versions on the way begin at
        // the same time.
        let key = TargetKey {
            node: place.node,
            hops: place.hops as u8,
            agent: agent as u32,
        };
        let mut at = newest;
        let mut end = from;
        let start = loop {
            if let Some(known) = self.memo.get(key, at as usize) {
                break known;
            }
            let Some(earlier) = at.checked_sub(1) else {
                break self.run_before_first(place, end);
            };
            let version = snapshot.version(first + earlier)?;
            let from = version.from.unwrap_or(NO_TIME);
            let start = self.start_in_version(place, &version, from..end, agent, texts)?;
            if start > from {
                break start;
            }
            (at, end) = (earlier, from);
        };
        // An origin is walked once, unless it is a target too.
        if place.hops > 0 {
            let walked = at as usize..newest as usize + 1;
            self.memo.fill(key, walked, versions.len(), start);
        }
        Ok(start)
    }

    /// The run of a node before its first version, which ends at `end`. For a redirect, its target is
    /// missing then.
    fn run_before_first(&self, place: Place, end: i64) -> i64 {
        match place.hops > 0 && self.is_missing_disallowed() {
            true => NO_TIME,
            false => end,
        }
    }

    /// Whether the policy disallows everything where the target of a redirect is missing.
    fn is_missing_disallowed(&self) -> bool {
        let mut outcome = Outcome::new(OutcomeClass::Unresolved, 301);
        outcome.target_missing = true;
        self.engine.ruling_at(&outcome, false, 0) == Ruling::Disallow
    }

    /// The earliest time in `times`, of which all are in a version, from which that version disallows
    /// everything to an agent; the end of `times` if it does not at the last of them.
    fn start_in_version(
        &mut self,
        place: Place,
        version: &Version,
        times: Range<i64>,
        agent: usize,
        texts: &mut TextAccess<'_, '_, '_>,
    ) -> Result<i64> {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        let snapshot = self.snapshot();
        let is_disallowed = match version.answer {
            VersionAnswer::Rules { file, .. } => texts.is_disallowed(Some(file), agent)?,
            VersionAnswer::ClientError => {
                let outcome = Outcome::new(OutcomeClass::ClientError, version.status);
                self.engine.ruling_at(&outcome, false, times.start) == Ruling::Disallow
            }
            VersionAnswer::LostRedirect => self.is_missing_disallowed(),
            VersionAnswer::Failure { class, row } => {
                let failure = snapshot.version_failure(row)?;
                let mut outcome = Outcome::new(class, version.status);
                outcome.first_failure = failure.first_failure;
                outcome.first_unreachable = failure.first_unreachable;
                let last_good = || last_good(snapshot, place, &failure);
                return self.start_of_failure(&outcome, last_good, times, agent, texts);
            }
            VersionAnswer::Redirect(link) => {
                let hops = place.hops + link.hops();
                // Without a target, and after too many redirects, there is no robots.txt.
                match snapshot.string(link.target)? {
                    Some(url) if hops <= usize::from(MAX_HOPS) => match snapshot.node_of(url)? {
                        Some(node) => {
                            let next = Place { node, hops };
                            let start = self.run(next, agent, times.end, texts)?;
                            return Ok(start.clamp(times.start.min(times.end), times.end));
                        }
                        None => self.is_missing_disallowed(),
                    },
                    _ => false,
                }
            }
        };
        Ok(match is_disallowed {
            true => times.start,
            false => times.end,
        })
    }

    /// [`start_in_version`](Self::start_in_version) of a failing answer, which means one thing after
    /// the other. `last_good` finds its last good copy.
    fn start_of_failure(
        &self,
        outcome: &Outcome,
        last_good: impl Fn() -> Result<Option<u32>>,
        times: Range<i64>,
        agent: usize,
        texts: &mut TextAccess<'_, '_, '_>,
    ) -> Result<i64> {
        let mut changes: Vec<i64> = self.engine.ruling_changes(outcome).collect();
        changes.retain(|change| *change > times.start && *change < times.end);
        changes.push(times.start);
        changes.sort_unstable();
        let mut start = times.end;
        let mut copy = None;
        // From the last phase back to the first.
        for from in changes.into_iter().rev() {
            let mut ruling = self.engine.ruling_at(outcome, true, from);
            let mut file = None;
            if ruling == Ruling::LastGood {
                file = match copy {
                    Some(known) => known,
                    None => *copy.insert(last_good()?),
                };
                ruling = self.engine.ruling_at(outcome, file.is_some(), from);
            }
            let is_disallowed = match ruling {
                Ruling::Disallow => true,
                Ruling::LastGood => texts.is_disallowed(file, agent)?,
                Ruling::Allow | Ruling::Rules => false,
            };
            if !is_disallowed {
                break;
            }
            start = from;
        }
        Ok(start)
    }
}

/// The last good copy of a failing version. A failure of unknown time never gets old, so its copy is
/// never asked for.
fn last_good(snapshot: &Snapshot, place: Place, failure: &VersionFailure) -> Result<Option<u32>> {
    match failure.first_failure {
        Some(_) => snapshot.last_good_copy(place.node, failure, place.hops),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compiler, Judge, JudgeOptions};
    use std::fmt::Write;

    const REFUSING: [&str; 2] = ["User-agent: *\\nDisallow: /", "User-agent: a\\nDisallow: /"];

    /// A capture as a line of an archive.
    fn push_capture(host: &str, time: usize, answer: &str, archive: &mut String) {
        let url = format!("https://{host}/robots.txt");
        let _ = writeln!(
            archive,
            r#"{{"url": "{url}", "fetched_at": {time}, {answer}}}"#
        );
    }

    fn redirect(host: &str) -> String {
        let url = format!("https://{host}/robots.txt");
        format!(r#""status": 301, "headers": {{"location": "{url}"}}"#)
    }

    /// The versions that are walked for `hosts` that redirect, each at its own time and by a host of
    /// its own, to one with as many versions, all of which disallow.
    fn steps_of_hub(hosts: usize) -> usize {
        let mut archive = String::new();
        for number in 0..hosts {
            let body = REFUSING[number % 2];
            push_capture(
                "hub.example",
                10 + number,
                &format!(r#""body": "{body}""#),
                &mut archive,
            );
            let (outer, inner) = (format!("o{number}.example"), format!("i{number}.example"));
            push_capture(&outer, 10 + number, &redirect(&inner), &mut archive);
            push_capture(&inner, 10, &redirect("hub.example"), &mut archive);
            // An own version at the end: the redirect is a window of the hub's history.
            push_capture(
                &outer,
                20 + number,
                r#""body": "User-agent: a\nDisallow: /""#,
                &mut archive,
            );
        }
        let mut compiler = Compiler::default().history(true);
        compiler.add_reader("hub", archive.as_bytes()).unwrap();
        let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
        let judge = Judge::new(snapshot, &["a".parse().unwrap()], JudgeOptions::default()).unwrap();
        let engine = judge.engine();
        let memos = RunMemos::default();
        let mut reader = SinceReader::new(engine, &memos);
        let mut files = FileReader::new(engine.snapshot());
        let mut access = AccessReader::new(engine);
        for row in 0..engine.snapshot().origin_count() {
            let mut texts = TextAccess {
                access: &mut access,
                files: &mut files,
            };
            let found = reader.of_origin(row, 0..1, &mut texts).unwrap();
            let since = found[0].1;
            let entry = engine.snapshot().origin_at(row).unwrap();
            let expected = match entry.host().strip_prefix('o') {
                Some(host) => 10 + host.split('.').next().unwrap().parse::<i64>().unwrap(),
                None => 10,
            };
            assert_eq!((since.since, since.after), (Some(expected), None));
        }
        reader.steps
    }

    #[test]
    fn a_hub_takes_steps_in_proportion_to_its_hosts() {
        let [half, all] = [2000, 4000].map(steps_of_hub);
        assert!(half > 2000 && all < 2 * half + half / 10, "{half} {all}");
    }

    /// A memo that is full forgets the URLs with few versions, and finds the same again.
    #[test]
    fn a_full_memo_forgets_short_histories() {
        let key = |node| TargetKey {
            node,
            hops: 1,
            agent: 0,
        };
        let mut memo = RunMemo::default();
        memo.fill(key(0), 0..2, FEW_VERSIONS + 1, 7);
        memo.fill(key(1), 0..1, 1, 8);
        assert_eq!(memo.get(key(0), 1), Some(7));
        assert_eq!(memo.get(key(0), 2), None);
        assert_eq!(memo.get(key(1), 0), Some(8));
        let many = (MAX_ENTRIES / (FEW_VERSIONS + ENTRY_OVERHEAD)) as u32;
        for node in 2..many + 3 {
            memo.fill(key(node), 0..1, FEW_VERSIONS, 9);
        }
        assert_eq!(memo.get(key(0), 0), Some(7));
        assert_eq!(memo.get(key(1), 0), None);
        assert_eq!(memo.get(key(many + 2), 0), Some(9));
    }
}
