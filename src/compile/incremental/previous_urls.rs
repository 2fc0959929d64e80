//! The previous snapshot as one more source of answers: its texts by number, and its URLs.

use super::previous::{PreviousSnapshot, damaged};
use super::previous_answer::{EarlierRedirect, PreviousAnswer};
use crate::compile::ingest::capture_record::{BodyFlags, RobotsBody};
use crate::compile::ingest::text_store::{TextId, TextStore};
use crate::compile::ingest::url_key::UrlKey;
use crate::error::{Error, Result};
use crate::snapshot::read::OriginEntry;
use crate::url::ROBOTS_PATH;
use hashbrown::HashTable;
use rayon::prelude::*;
use std::hash::{BuildHasher, RandomState};

/// The previous snapshot of one compilation.
#[derive(Debug)]
pub(crate) struct PreviousUrls<'p> {
    pub previous: &'p PreviousSnapshot,
    /// The texts of this compilation by their numbers in the previous snapshot.
    texts: Vec<TextId>,
    sources: RedirectEnds,
}

/// For URLs that are not the robots.txt of an origin: the first row whose redirects end there.
#[derive(Debug, Default)]
struct RedirectEnds {
    /// The seed is random, because sites choose their URLs.
    hasher: RandomState,
    rows: HashTable<u32>,
}

impl<'p> PreviousUrls<'p> {
    /// Gives the texts of the previous snapshot numbers, old ones too, and looks for redirects on all
    /// threads. Memory: four bytes per text, and five per origin whose redirects end at another URL than a
    /// robots.txt.
    pub(crate) fn new(
        previous: &'p PreviousSnapshot,
        store: &TextStore,
        has_captures: bool,
    ) -> Result<Self> {
        let texts = (0..)
            .zip(&previous.digests)
            .map(|(row, digest)| store.intern_previous(*digest, row));
        let mut urls = Self {
            previous,
            texts: texts.collect::<Result<_>>()?,
            sources: RedirectEnds::default(),
        };
        if has_captures {
            urls.sources = urls.redirect_ends()?;
        }
        Ok(urls)
    }

    /// Whether the redirects of an origin end at a URL that is not the robots.txt of any origin.
    fn ends_elsewhere(&self, row: u32) -> Result<bool> {
        // Most rows are dismissed by their metadata, without their entry.
        let metadata = self.previous.snapshot.origin_metadata(row);
        if metadata.map_err(damaged)?.outcome.hops == 0 {
            return Ok(false);
        }
        let entry = self.previous.origin(row)?;
        Ok(redirect_end(&entry).is_some_and(|source| !is_robots_url(source)))
    }

    fn redirect_ends(&self) -> Result<RedirectEnds> {
        let rows = (0..self.previous.snapshot.origin_count()).into_par_iter();
        let found: Vec<u32> = rows
            .filter_map(|row| match self.ends_elsewhere(row) {
                Ok(false) => None,
                Ok(true) => Some(Ok(row)),
                Err(err) => Some(Err(err)),
            })
            .collect::<Result<_>>()?;
        let mut ends = RedirectEnds::default();
        for row in found {
            let entry = self.previous.origin(row)?;
            let Some(source) = redirect_end(&entry) else {
                continue;
            };
            if ends.find(source, self.previous)?.is_none() {
                let RedirectEnds { hasher, rows } = &mut ends;
                // A row that cannot be read any more gets any hash: it is not found then.
                let hash_of = |row: &u32| {
                    let entry = self.previous.origin(*row).ok();
                    hasher.hash_one(entry.as_ref().and_then(redirect_end).unwrap_or_default())
                };
                rows.insert_unique(hash_of(&row), row, hash_of);
            }
        }
        Ok(ends)
    }

    /// The answer of a URL in the previous snapshot.
    pub(crate) fn answer_of(&self, url: &[u8]) -> Result<Option<PreviousAnswer<'p>>> {
        if let Some(entry) = self.previous.origin_of(url)? {
            return self.answer(entry).map(Some);
        }
        let Some(row) = self.sources.find(url, self.previous)? else {
            return Ok(None);
        };
        // It is the URL that answered, so no redirect is left.
        Ok(Some(PreviousAnswer {
            hops: 0,
            ..self.answer(self.previous.origin(row)?)?
        }))
    }

    fn has_answer_of(&self, url: &[u8]) -> Result<bool> {
        Ok(self.previous.origin_of(url)?.is_some()
            || self.sources.find(url, self.previous)?.is_some())
    }

    /// The answer of the robots.txt of an origin.
    pub(crate) fn answer(&self, entry: OriginEntry<'p>) -> Result<PreviousAnswer<'p>> {
        let rules = entry.rules_file();
        let rules = rules.map(|row| self.text(row)).transpose()?;
        let last_good = entry.last_good();
        let last_good = last_good.map(|row| self.text(row)).transpose()?;
        let hops = entry.outcome().hops;
        let snapshot = &self.previous.snapshot;
        let payload = snapshot.payload(entry.row()).map_err(damaged)?;
        let redirect = snapshot.earlier_redirect(entry.row()).map_err(damaged)?;
        let earlier_redirect = match redirect {
            None => None,
            Some(redirect) => Some(EarlierRedirect {
                status: redirect.status,
                end: redirect.end.and_then(UrlKey::of_canonical),
                hops: redirect.hops,
                is_without_copy: match redirect.end {
                    None => true,
                    Some(end) => self.has_answer_of(end)?,
                },
            }),
        };
        Ok(PreviousAnswer {
            entry,
            rules,
            last_good,
            payload,
            earlier_redirect,
            hops,
        })
    }

    /// Passes the body of each origin whose digest is known to `take`: the robots.txt in force, or
    /// the last good copy.
    ///
    /// # Errors
    /// Damage in the previous snapshot, and errors of `take`.
    pub(crate) fn for_each_payload(
        &self,
        take: &mut dyn FnMut(RobotsBody) -> Result<()>,
    ) -> Result<()> {
        for row in 0..self.previous.snapshot.origin_count() {
            let payload = self.previous.snapshot.payload(row).map_err(damaged)?;
            if payload.is_none() {
                continue;
            }
            let entry = self.previous.origin(row)?;
            if let Some(file) = entry.file() {
                take(RobotsBody {
                    text: self.text(file)?,
                    flags: BodyFlags::of_outcome(entry.outcome()),
                    payload,
                })?;
            }
        }
        Ok(())
    }

    /// The text with this number: that of a file, or an old one.
    pub(super) fn text(&self, row: u32) -> Result<TextId> {
        let text = self.texts.get(row as usize).copied();
        text.ok_or_else(|| damaged(Error::corrupt("a robots.txt that is not there")))
    }
}

impl RedirectEnds {
    fn find(&self, url: &[u8], previous: &PreviousSnapshot) -> Result<Option<u32>> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        for row in self.rows.iter_hash(self.hasher.hash_one(url)) {
            if redirect_end(&previous.origin(*row)?) == Some(url) {
                return Ok(Some(*row));
            }
        }
        Ok(None)
    }
}

/// Whether a canonical URL is that of an origin's robots.txt. A snapshot has the origins of all
/// such URLs that answered.
pub(crate) fn is_robots_url(url: &[u8]) -> bool {
    url.strip_suffix(ROBOTS_PATH)
        .is_some_and(|origin| memchr::memchr_iter(b'/', origin).count() == 2)
}

/// The URL at the end of an origin's redirects.
fn redirect_end<'p>(entry: &OriginEntry<'p>) -> Option<&'p [u8]> {
    entry.strings().0.filter(|_| entry.outcome().hops > 0)
}
