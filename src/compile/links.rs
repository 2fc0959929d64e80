//! What a new compilation knows through the previous snapshot: of any URL, and which of its origins the new captures touch.

use crate::compile::fetch::{FetchAnswer, Fetches, ROBOTS_PATH};
use crate::compile::previous::{Known, Previous};
use crate::error::Result;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// The previous snapshot beside the new captures.
#[derive(Debug)]
pub(super) struct Links<'f> {
    pub previous: &'f Previous,
    /// The URLs that were captured.
    mentioned: HashSet<&'f [u8]>,
    /// Of URLs that are no origin's robots.txt and may be asked for: the first row whose origin they answered for.
    by_source: HashMap<&'f [u8], u32>,
    /// The robots.txt of origins that were not captured, but of which what was captured may change what is known: redirects led from
    /// them to a URL that was.
    touched: Vec<Vec<u8>>,
}

impl<'f> Links<'f> {
    /// One pass over the rows of the previous snapshot. Memory: some bytes for each new capture.
    pub(super) fn new(previous: &'f Previous, fetches: &'f Fetches) -> Result<Self> {
        let mentioned: HashSet<&[u8]> = fetches.iter().map(|fetch| fetch.key.text()).collect();
        let mut links = Self { previous, mentioned, by_source: HashMap::new(), touched: Vec::new() };
        if links.mentioned.is_empty() {
            return Ok(links);
        }
        let target = |answer: &'f FetchAnswer| match answer {
            FetchAnswer::Redirect(target) => target.as_ref().map(|target| target.text()),
            _ => None,
        };
        let targets: HashSet<&[u8]> = fetches.iter().filter_map(|fetch| target(&fetch.answer)).collect();
        let rows = (0..previous.origin_count()).into_par_iter();
        let found: Vec<_> = rows.filter_map(|row| links.look(row, &targets).transpose()).collect::<Result<_>>()?;
        for (row, source, touched) in found {
            if let Some(source) = source {
                links.by_source.entry(source).or_insert(row);
            }
            links.touched.extend(touched);
        }
        Ok(links)
    }

    /// Of a row: its source, if that may be asked for, and the URL of its robots.txt, if what is known of that may change.
    #[expect(clippy::type_complexity, reason = "the parts are told apart where they are named")]
    fn look(&self, row: u32, targets: &HashSet<&[u8]>) -> Result<Option<(u32, Option<&'f [u8]>, Option<Vec<u8>>)>> {
        let known = Known::of_origin(self.previous.origin(row)?);
        let (source, lacked) = (known.end().map(|(url, _)| url), known.lacked().map(|(url, _)| url));
        let is_mentioned = |url: Option<&[u8]>| url.is_some_and(|url| self.mentions(url));
        let touched = is_mentioned(source) || is_mentioned(lacked);
        let source = source.filter(|url| touched || targets.contains(url));
        if source.is_none() && !touched {
            return Ok(None);
        }
        let url = [known.entry.key(), ROBOTS_PATH].concat();
        let touched = (touched && !self.mentions(&url)).then_some(url);
        Ok(Some((row, source, touched)))
    }

    /// Whether the URL was captured.
    pub(super) fn mentions(&self, url: &[u8]) -> bool {
        self.mentioned.contains(url)
    }

    /// What the previous snapshot knows of a URL.
    pub(super) fn known(&self, url: &[u8]) -> Result<Option<Known<'f>>> {
        if let Some(entry) = self.previous.origin_of(url)? {
            return Ok(Some(Known::of_origin(entry)));
        }
        let row = self.by_source.get(url);
        row.map(|&row| self.previous.origin(row).map(Known::of_source)).transpose()
    }

    /// The robots.txt URLs of origins that were not captured and may change all the same, in the order of their keys.
    pub(super) fn touched(&self) -> &[Vec<u8>] {
        &self.touched
    }
}
