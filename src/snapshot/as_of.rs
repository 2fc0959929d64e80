//! The entry of an origin as of an instant: its version at that time, with redirects followed through
//! the histories of their targets.
//!
//! It is what [`compile::resolve`](crate::compile) decides from the captures up to that instant: at
//! most five redirects, loops and missing targets, and for a failure the last good copy, which is
//! that of an earlier redirect's target when the failures began.

use crate::error::Result;
use crate::snapshot::details::{LOOP, NO_COPY, NO_LOCATION, TOO_MANY};
use crate::snapshot::format::{NONE, OriginMetadata};
use crate::snapshot::history::{BeforeFailures, Validity, Version, VersionAnswer, VersionFailure};
use crate::snapshot::outcome::{MAX_HOPS, Outcome, OutcomeClass};
use crate::snapshot::read::{OriginEntry, Snapshot};

/// The nodes of the longest chain, which has one more than redirects, and the target of one too many.
const MAX_NODES: usize = MAX_HOPS as usize + 2;

/// The outcome of a URL at a time.
pub(crate) struct OutcomeAt<'s> {
    pub outcome: Outcome,
    /// The number of the robots.txt with its rules.
    pub file: Option<u32>,
    pub last_good: Option<u32>,
    /// The URL that answered after redirects.
    source: Option<&'s [u8]>,
    detail: Option<&'static str>,
    /// The target of a redirect, if the archive lacks it.
    missing: Option<&'s [u8]>,
}

impl OutcomeAt<'_> {
    fn new(class: OutcomeClass, status: u16, hops: usize) -> Self {
        let mut outcome = Outcome::new(class, status);
        outcome.hops = hops as u8;
        Self {
            outcome,
            file: None,
            last_good: None,
            source: None,
            detail: None,
            missing: None,
        }
    }
}

/// The nodes of a chain of redirects so far, the current one last: one more than there are hops.
#[derive(Clone, Copy)]
struct VisitedNodes {
    nodes: [u32; MAX_NODES],
    count: usize,
}

impl VisitedNodes {
    fn new(node: u32) -> Self {
        Self {
            nodes: [node; MAX_NODES],
            count: 1,
        }
    }

    /// Adds a node. The number of hops bounds that of nodes.
    fn push(&mut self, node: u32) {
        if self.count < self.nodes.len() {
            self.nodes[self.count] = node;
            self.count += 1;
        }
    }

    fn all(&self) -> &[u32] {
        &self.nodes[..self.count]
    }

    fn current(&self) -> u32 {
        self.nodes[self.count - 1]
    }
}

/// A chain of redirects at one time.
struct ChainAt<'s, 'v> {
    snapshot: &'s Snapshot,
    time: i64,
    visited: VisitedNodes,
    hops: usize,
    /// The URL of the current node, if redirects led to it.
    source: Option<&'s [u8]>,
    /// The time in which the answer holds; `None` if the answer does not depend on the time that is
    /// asked about, as that of a last good copy.
    validity: Option<&'v mut Validity>,
}

impl Snapshot {
    /// The outcome of the origin in a row as of `time`, as [`origin_as_of`](Self::origin_as_of).
    pub(crate) fn outcome_as_of(
        &self,
        row: u32,
        time: i64,
        validity: &mut Validity,
    ) -> Result<Option<OutcomeAt<'_>>> {
        let chain = ChainAt {
            snapshot: self,
            time,
            visited: VisitedNodes::new(row),
            hops: 0,
            source: None,
            validity: Some(validity),
        };
        chain.outcome()
    }

    /// The entry of the origin in a row as of `time`, in seconds since 1970; `None` before its first
    /// capture. Its outcome has the time of the last capture of the version, if that is not later, or
    /// else of the first. `validity` is narrowed to the
    /// time in which this answer holds. Cost: a binary search for each hop of a redirect.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes that it reads are damaged.
    pub(crate) fn origin_as_of(
        &self,
        row: u32,
        time: i64,
        validity: &mut Validity,
    ) -> Result<Option<OriginEntry<'_>>> {
        let Some(found) = self.outcome_as_of(row, time, validity)? else {
            return Ok(None);
        };
        let newest = self.origin_at(row)?;
        Ok(Some(newest.with_outcome(
            OriginMetadata {
                outcome: found.outcome,
                entry: NONE,
                last_good: found.last_good.unwrap_or(NONE),
                source: NONE,
                detail: NONE,
            },
            found.file,
            found.source,
            found.detail.map(str::as_bytes),
            found.missing,
        )))
    }
}

impl Snapshot {
    /// The last good copy of a failing node that `hops` redirects lead to: that of its failures, or the
    /// answer of an earlier redirect's target when these began.
    pub(crate) fn last_good_copy(
        &self,
        node: u32,
        failure: &VersionFailure,
        hops: usize,
    ) -> Result<Option<u32>> {
        let chain = ChainAt {
            snapshot: self,
            time: failure.first_failure.unwrap_or(i64::MIN),
            visited: VisitedNodes::new(node),
            hops,
            source: None,
            validity: None,
        };
        chain.last_good(node, failure)
    }
}

impl<'s> ChainAt<'s, '_> {
    /// The version of a node at the time of this chain.
    fn version_of(&mut self, node: u32) -> Result<Option<Version>> {
        let found = self.snapshot.version_at(node, self.time)?;
        if let Some(validity) = &mut self.validity {
            validity.intersect(found.validity);
        }
        Ok(found.version)
    }

    /// The outcome of the current node, the last one that was visited; `None` before its first
    /// version.
    fn outcome(mut self) -> Result<Option<OutcomeAt<'s>>> {
        loop {
            let node = self.visited.current();
            let Some(version) = self.version_of(node)? else {
                return Ok(None);
            };
            let link = match version.answer {
                VersionAnswer::Redirect(link) => link,
                VersionAnswer::LostRedirect => {
                    return Ok(Some(self.missing_target(&version, b"a URL of over 64 KiB")));
                }
                _ => return self.answer(node, &version).map(Some),
            };
            let Some(url) = self.snapshot.string(link.target)? else {
                return Ok(Some(self.unresolved(&version, NO_LOCATION)));
            };
            let next = self.snapshot.node_of(url)?;
            if next.is_some_and(|next| self.visited.all().contains(&next)) {
                return Ok(Some(self.unresolved(&version, LOOP)));
            }
            let hops = self.hops + link.hops();
            if hops > usize::from(MAX_HOPS) {
                return Ok(Some(self.unresolved(&version, TOO_MANY)));
            }
            let Some(next) = next else {
                return Ok(Some(self.missing_target(&version, url)));
            };
            if self.version_of(next)?.is_none() {
                return Ok(Some(self.missing_target(&version, url)));
            }
            self.visited.push(next);
            self.hops = hops;
            self.source = Some(url);
        }
    }

    /// The outcome of a version that is not a redirect.
    fn answer(self, node: u32, version: &Version) -> Result<OutcomeAt<'s>> {
        let hops = self.hops;
        let source = self.source;
        let fetched = self.fetched(version);
        let class = match version.answer {
            VersionAnswer::Rules { .. } => OutcomeClass::Rules,
            VersionAnswer::Failure { class, .. } => class,
            _ => OutcomeClass::ClientError,
        };
        let mut found = OutcomeAt::new(class, version.status, hops);
        found.source = source;
        found.outcome.fetched = fetched;
        match version.answer {
            VersionAnswer::Rules { file, flags } => {
                found.file = Some(file);
                flags.apply(&mut found.outcome);
            }
            VersionAnswer::Failure { row, .. } => {
                let failure = self.snapshot.version_failure(row)?;
                found.outcome.first_failure = failure.first_failure;
                found.outcome.first_unreachable = failure.first_unreachable;
                found.last_good = self.last_good(node, &failure)?;
                if version.status == 304 {
                    found.detail = Some(NO_COPY);
                }
            }
            _ => {}
        }
        Ok(found)
    }

    /// The last good copy of a failing node.
    fn last_good(self, node: u32, failure: &VersionFailure) -> Result<Option<u32>> {
        let link = match failure.before {
            BeforeFailures::Nothing => return Ok(None),
            BeforeFailures::File(file) => return Ok(Some(file)),
            BeforeFailures::Redirect(link) => link,
        };
        let hops = self.hops + link.hops();
        // The answer of the target when the failures began, whatever happened since. A URL of the
        // chain that redirects here now may have had an answer of its own then, so only this node
        // counts as visited. Its redirects add to those before, so the search ends.
        let Some(url) = self.snapshot.string(link.target)? else {
            return Ok(None);
        };
        let next = self.snapshot.node_of(url)?.filter(|next| *next != node);
        let Some(next) = next.filter(|_| hops <= usize::from(MAX_HOPS)) else {
            return Ok(None);
        };
        let mut visited = VisitedNodes::new(node);
        visited.push(next);
        let earlier = ChainAt {
            snapshot: self.snapshot,
            time: failure.first_failure.unwrap_or(self.time),
            visited,
            hops,
            source: None,
            // A failure of unknown time began before any instant that is asked about.
            validity: self.validity.filter(|_| failure.first_failure.is_none()),
        };
        let found = earlier.outcome()?;
        Ok(found.and_then(|found| found.file.or(found.last_good)))
    }

    /// A capture of a version up to the time: its last one, or else the one that found it. Those
    /// between are not stored.
    fn fetched(&self, version: &Version) -> Option<i64> {
        version
            .last_seen
            .filter(|seen| *seen <= self.time)
            .or(version.from)
    }

    /// The outcome of a redirect that leads nowhere.
    fn unresolved(&self, version: &Version, detail: &'static str) -> OutcomeAt<'s> {
        let mut found = OutcomeAt::new(OutcomeClass::Unresolved, version.status, self.hops);
        found.outcome.fetched = self.fetched(version);
        found.source = self.source;
        found.detail = Some(detail);
        found
    }

    /// The outcome of a redirect to a URL that is not in the archive at the time.
    fn missing_target(&self, version: &Version, target: &'s [u8]) -> OutcomeAt<'s> {
        let mut found = OutcomeAt {
            detail: None,
            missing: Some(target),
            ..self.unresolved(version, NO_LOCATION)
        };
        found.outcome.target_missing = true;
        found
    }
}
