//! URLs in the previous snapshot, and its origins that new captures affect.

use super::previous::PreviousSnapshot;
use super::previous_answer::PreviousAnswer;
use crate::compile::ingest::fetch::{Fetch, FetchAnswer, Fetches};
use crate::compile::ingest::url_key::ROBOTS_PATH;
use crate::error::Result;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// The previous snapshot, indexed for one set of captures.
#[derive(Debug)]
pub(crate) struct PreviousUrls<'f> {
    pub previous: &'f PreviousSnapshot,
    /// The captured URLs.
    captured: HashSet<&'f [u8]>,
    /// For URLs other than a robots.txt that may be looked up: the first row whose redirects end
    /// there.
    by_source: HashMap<&'f [u8], u32>,
    /// The robots.txt URLs of origins that were not captured, but whose redirects lead to a
    /// captured URL, so that their outcome may change. Sorted by origin.
    pub affected: Vec<Vec<u8>>,
}

/// A row whose redirects matter to the captures.
struct RedirectedRow<'f> {
    row: u32,
    /// The end of its redirects, if that may be looked up.
    source: Option<&'f [u8]>,
    /// Its robots.txt URL, if captures may change its outcome.
    affected: Option<Vec<u8>>,
}

impl<'f> PreviousUrls<'f> {
    /// One pass over the rows of the previous snapshot. Memory: some bytes per capture.
    pub(crate) fn new(previous: &'f PreviousSnapshot, fetches: &'f Fetches) -> Result<Self> {
        let captured: HashSet<&[u8]> = fetches.iter().map(|fetch| fetch.key.text()).collect();
        let mut urls = Self { previous, captured, by_source: HashMap::new(), affected: Vec::new() };
        if urls.captured.is_empty() {
            return Ok(urls);
        }
        let target = |fetch: &'f Fetch| match &fetch.answer {
            FetchAnswer::Redirect(Some(target)) => Some(target.text()),
            _ => None,
        };
        let targets: HashSet<&[u8]> = fetches.iter().filter_map(target).collect();
        let rows = (0..previous.snapshot.origin_count()).into_par_iter();
        let found: Vec<_> =
            rows.filter_map(|row| urls.redirected_row(row, &targets).transpose()).collect::<Result<_>>()?;
        for RedirectedRow { row, source, affected } in found {
            if let Some(source) = source {
                urls.by_source.entry(source).or_insert(row);
            }
            urls.affected.extend(affected);
        }
        Ok(urls)
    }

    /// The redirects of a row, if they matter to the captures.
    fn redirected_row(&self, row: u32, targets: &HashSet<&[u8]>) -> Result<Option<RedirectedRow<'f>>> {
        let answer = PreviousAnswer::of_origin(self.previous.origin(row)?);
        let source = answer.redirect_end().map(|(url, _)| url);
        let missing = answer.missing_target().map(|(url, _)| url);
        let is_affected = [source, missing].into_iter().flatten().any(|url| self.captured.contains(url));
        let source = source.filter(|url| is_affected || targets.contains(url));
        if source.is_none() && !is_affected {
            return Ok(None);
        }
        let url = [answer.entry.key(), ROBOTS_PATH].concat();
        let affected = (is_affected && !self.captured.contains(&*url)).then_some(url);
        Ok(Some(RedirectedRow { row, source, affected }))
    }

    /// The answer of a URL in the previous snapshot.
    pub(crate) fn answer_of(&self, url: &[u8]) -> Result<Option<PreviousAnswer<'f>>> {
        if let Some(entry) = self.previous.origin_of(url)? {
            return Ok(Some(PreviousAnswer::of_origin(entry)));
        }
        let row = self.by_source.get(url);
        // It is the URL that answered, so no redirect is left.
        row.map(|&row| Ok(PreviousAnswer { entry: self.previous.origin(row)?, hops: 0 })).transpose()
    }
}
