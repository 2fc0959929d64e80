//! The answers of an origin over time, each with the bounds of the time in which it held.
//!
//! A capture shows an answer at one instant. So an answer has two bounds at its end: it was seen
//! unchanged until one capture, and found changed by a later one. What held between, nobody knows.

use crate::bytes::wire::NO_TIME;
use crate::error::Result;
use crate::snapshot::history::Validity;
use crate::snapshot::read::{OriginEntry, Snapshot};

/// The answer of an origin that was in force at some time. All times are in seconds since 1970.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AnswerInForce<'a> {
    /// The origin with this answer, after redirects.
    pub entry: OriginEntry<'a>,
    /// The capture that found it, of the origin or of a URL that its redirects lead to. `None` if the
    /// archive has an answer of unknown time, which is older than any other.
    pub since: Option<i64>,
    /// The last capture that found it unchanged: of all URLs on the way, the one that was seen least
    /// recently. `None` if its time is not known.
    pub last_seen: Option<i64>,
    /// The capture that found it changed; `None` if none did.
    pub changed_at: Option<i64>,
}

impl Snapshot {
    /// The answer in force at `time` of the origin in a row; `None` before its first capture. Cost: a
    /// binary search for each hop of a redirect.
    ///
    /// # Errors
    /// [`NoHistory`](crate::ErrorKind::NoHistory); [`Corrupt`](crate::ErrorKind::Corrupt) if there is
    /// no such row, or if the bytes that it reads are damaged.
    pub fn in_force(&self, row: u32, time: i64) -> Result<Option<AnswerInForce<'_>>> {
        self.require_history()?;
        let mut validity = Validity::ALWAYS;
        let entry = self.origin_as_of(row, time, &mut validity)?;
        Ok(entry.map(|entry| AnswerInForce {
            entry,
            since: Some(validity.from).filter(|from| *from != NO_TIME),
            last_seen: Some(validity.last_seen).filter(|seen| *seen != NO_TIME),
            changed_at: Some(validity.until).filter(|until| *until != i64::MAX),
        }))
    }

    /// The answers of the origin in a row, oldest first. Cost: as [`in_force`](Self::in_force) for each.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let archive = br#"
    ///     {"url": "https://e.example/robots.txt", "status": 404, "fetched_at": 10}
    ///     {"url": "https://e.example/robots.txt", "status": 404, "fetched_at": 20}
    ///     {"url": "https://e.example/robots.txt", "body": "", "fetched_at": 30}"#;
    /// let mut compiler = Compiler::default().history(true);
    /// compiler.add_reader("memory", archive.as_slice())?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let mut found = Vec::new();
    /// for answer in snapshot.timeline(0) {
    ///     let answer = answer?;
    ///     let status = answer.entry.outcome().status;
    ///     found.push((status, answer.since, answer.last_seen, answer.changed_at));
    /// }
    /// assert_eq!(
    ///     found,
    ///     [(404, Some(10), Some(20), Some(30)), (200, Some(30), Some(30), None)]
    /// );
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`in_force`](Self::in_force), as the last item.
    pub fn timeline(&self, row: u32) -> impl Iterator<Item = Result<AnswerInForce<'_>>> + '_ {
        // An answer of unknown time is older than any, so the search begins before all times.
        let mut next = Some(NO_TIME);
        std::iter::from_fn(move || {
            loop {
                let time = next.take()?;
                match self.first_from(row, time) {
                    Ok((answer, following)) => {
                        next = following;
                        if let Some(answer) = answer {
                            return Some(Ok(answer));
                        }
                    }
                    Err(err) => return Some(Err(err)),
                }
            }
        })
    }

    /// The answer at a time, and the time at which the next one begins.
    fn first_from(&self, row: u32, time: i64) -> Result<(Option<AnswerInForce<'_>>, Option<i64>)> {
        if let Some(answer) = self.in_force(row, time)? {
            let following = answer.changed_at.filter(|next| *next > time);
            return Ok((Some(answer), following));
        }
        // Before the first version: its time is the first bound.
        let first = self.version_at(row, time)?.validity.until;
        Ok((None, Some(first).filter(|first| *first != i64::MAX)))
    }
}
