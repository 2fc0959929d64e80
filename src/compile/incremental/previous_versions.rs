//! The history of one URL in the previous snapshot, as versions of this compilation.

use super::previous::{damaged, time_text};
use super::previous_urls::PreviousUrls;
use crate::compile::ingest::capture_record::BodyFlags;
use crate::compile::ingest::url_key::UrlKey;
use crate::compile::resolve::versions::{AnswerBefore, RedirectTarget, UrlAnswer, UrlVersion};
use crate::compile::sort::table::{SortedTable, UrlTimes};
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::format::{BodyBits, NONE};
use crate::snapshot::history::{BeforeFailures, RedirectLink, Version, VersionAnswer};
use crate::snapshot::{Outcome, OutcomeClass};

impl PreviousUrls<'_> {
    /// Whether the previous snapshot has a history.
    pub(crate) fn has_history(&self) -> bool {
        self.previous.snapshot.has_history()
    }

    /// The versions of a URL in the history, oldest first; none for a URL that is not in it.
    ///
    /// # Errors
    /// Damage in the previous snapshot.
    pub(crate) fn versions_of(&self, url: &[u8]) -> Result<Vec<UrlVersion>> {
        let snapshot = &self.previous.snapshot;
        let Some(node) = snapshot.node_of(url).map_err(damaged)? else {
            return Ok(Vec::new());
        };
        snapshot
            .versions_of(node)
            .map_err(damaged)?
            .map(|number| self.version(&snapshot.version(number).map_err(damaged)?))
            .collect()
    }

    /// The time when a URL was seen last: in its history, or by its answer in a snapshot without one.
    /// `None` for a URL that the previous snapshot does not have.
    ///
    /// # Errors
    /// Damage in the previous snapshot.
    pub(crate) fn last_seen(&self, url: &[u8]) -> Result<Option<LastSeen>> {
        if !self.has_history() {
            let answer = self.answer_of(url)?;
            return Ok(answer.map(|answer| LastSeen(answer.entry.outcome().fetched)));
        }
        let snapshot = &self.previous.snapshot;
        let Some(node) = snapshot.node_of(url).map_err(damaged)? else {
            return Ok(None);
        };
        let Some(newest) = snapshot.versions_of(node).map_err(damaged)?.next_back() else {
            return Ok(None);
        };
        let newest = snapshot.version(newest).map_err(damaged)?;
        Ok(Some(LastSeen(newest.last_seen)))
    }

    /// Fails if a capture is not newer than what the previous snapshot has of its URL: only all captures
    /// together tell where it belongs in the history.
    ///
    /// # Errors
    /// [`ErrorKind::BadPrevious`] with the number of such captures, and the first of them.
    pub(crate) fn refuse_older_captures(&self, table: &SortedTable) -> Result<()> {
        let mut refused = 0;
        let mut first = None;
        let mut reader = table.reader()?;
        while let Some(UrlTimes { url, times }) = reader.next_url()? {
            let Some(last_seen) = self.last_seen(url.text())? else {
                continue;
            };
            let newer = times.partition_point(|time| *time > last_seen.0);
            refused += times.len() - newer;
            if let Some(time) = times.get(newer)
                && first.is_none()
            {
                first = Some(OlderCapture {
                    url,
                    time: *time,
                    last_seen: last_seen.0,
                });
            }
        }
        match first {
            None => Ok(()),
            Some(first) => Err(ErrorKind::BadPrevious(first.message(refused)).into()),
        }
    }

    fn version(&self, version: &Version) -> Result<UrlVersion> {
        let answer = match version.answer {
            VersionAnswer::Rules { file, flags } => UrlAnswer::Rules {
                text: self.text(file)?,
                flags: body_flags(flags),
            },
            VersionAnswer::ClientError => UrlAnswer::ClientError,
            VersionAnswer::LostRedirect => UrlAnswer::LostRedirect,
            VersionAnswer::Redirect(link) if link.target == NONE => UrlAnswer::Redirect(None),
            VersionAnswer::Redirect(link) => UrlAnswer::Redirect(Some(self.target(link)?)),
            VersionAnswer::Failure { class, row } => {
                let failure = self
                    .previous
                    .snapshot
                    .version_failure(row)
                    .map_err(damaged)?;
                UrlAnswer::Failure {
                    class,
                    first_failure: failure.first_failure,
                    first_unreachable: failure.first_unreachable,
                    before: match failure.before {
                        BeforeFailures::Nothing => AnswerBefore::Nothing,
                        BeforeFailures::File(file) => AnswerBefore::Text(self.text(file)?),
                        BeforeFailures::Redirect(link) => {
                            AnswerBefore::Redirect(self.target(link)?)
                        }
                    },
                }
            }
        };
        Ok(UrlVersion {
            from: version.from,
            last_seen: version.last_seen,
            status: version.status,
            answer,
        })
    }

    fn target(&self, link: RedirectLink) -> Result<RedirectTarget> {
        let snapshot = &self.previous.snapshot;
        let url = snapshot.string(link.target).map_err(damaged)?;
        let url = url
            .and_then(UrlKey::of_canonical)
            .ok_or_else(|| damaged(Error::corrupt("a redirect to a text that is not a URL")))?;
        Ok(RedirectTarget {
            url,
            hops: link.skipped.saturating_add(1),
        })
    }
}

/// The time of the newest capture of a URL; `None` if it is not known, which is before any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LastSeen(pub Option<i64>);

/// A capture that is not newer than what the previous snapshot has of its URL.
struct OlderCapture {
    url: UrlKey,
    time: Option<i64>,
    last_seen: Option<i64>,
}

impl OlderCapture {
    /// `count`: the number of all such captures.
    fn message(&self, count: usize) -> String {
        let captures = match count {
            1 => "1 capture is".to_owned(),
            count => format!("{count} captures are"),
        };
        let Self {
            url,
            time,
            last_seen,
        } = self;
        format!(
            "a history is continued with newer captures, and {captures} not newer than what it has \
             of the same URL, such as {} of {}, which it saw last at {}; compile all captures \
             together, from archives or captures files",
            String::from_utf8_lossy(url.text()),
            time_or_unknown(*time),
            time_or_unknown(*last_seen),
        )
    }
}

fn time_or_unknown(time: Option<i64>) -> String {
    time.map_or_else(|| "an unknown time".to_owned(), time_text)
}

/// The flags of a body that a version records.
fn body_flags(bits: BodyBits) -> BodyFlags {
    let mut outcome = Outcome::new(OutcomeClass::Rules, 0);
    bits.apply(&mut outcome);
    BodyFlags::of_outcome(&outcome)
}
