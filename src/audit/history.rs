//! The figures that depend on the order of requests, and the samples of broken rules.

use crate::audit::block_audit::{AuditEvent, Breach};
use crate::audit::report::{BrokenRule, RobotsFetches};
use crate::audit::timeline::Timeline;
use crate::error::Result;
use crate::filter::Sample;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// The breaches that are explained at most, per crawler and snapshot.
const SAMPLE: usize = 1024;

/// The sites whose last request of the robots.txt is remembered. A hostile `Host` header per request
/// must not fill the memory.
const MAX_SITES: usize = 1 << 20;

/// A day, for which a crawler may keep a robots.txt (RFC 9309 §2.4).
const DAY: i64 = 24 * 60 * 60;

/// The requests so far.
#[derive(Debug, Default)]
pub(super) struct AuditHistory {
    /// The time of a crawler's last request of a site's robots.txt.
    fetches: HashMap<(u16, u64), i64>,
    delays: BTreeMap<u16, Delays>,
    /// By crawler and snapshot.
    samples: BTreeMap<(u16, usize), Sample>,
}

/// How long after a request of the robots.txt a crawler broke its rules.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    after: u64,
    within_day: u64,
    without: u64,
    sum: i128,
    /// The shortest and the longest.
    span: Option<(i64, i64)>,
}

impl AuditHistory {
    /// Adds a request. All requests come in the order of the logs.
    pub(super) fn add(&mut self, event: &AuditEvent, urls: &[u8]) {
        let key = (event.crawler, event.site);
        let Some(Breach { snapshot, url }) = &event.breach else {
            if self.fetches.len() < MAX_SITES || self.fetches.contains_key(&key) {
                self.fetches.insert(key, event.time);
            }
            return;
        };
        let delays = self.delays.entry(event.crawler).or_default();
        match self.fetches.get(&key) {
            Some(fetched) => delays.add(event.time.saturating_sub(*fetched).max(0)),
            None => delays.without += 1,
        }
        let sample = self.samples.entry((event.crawler, *snapshot)).or_insert_with(|| Sample::new(SAMPLE));
        sample.add(1, |_| urls[url.clone()].to_vec());
    }

    /// The delays of a crawler.
    pub(super) fn robots_fetches(&self, crawler: u16) -> RobotsFetches {
        let delays = self.delays.get(&crawler).copied().unwrap_or_default();
        RobotsFetches {
            disallowed_after: delays.after,
            disallowed_within_day: delays.within_day,
            disallowed_without: delays.without,
            shortest_seconds: delays.span.map(|(shortest, _)| shortest),
            longest_seconds: delays.span.map(|(_, longest)| longest),
            mean_seconds: (delays.after > 0).then(|| (delays.sum / i128::from(delays.after.max(1))) as i64),
        }
    }

    /// The rules that a crawler broke most, at most `top`, and whether their counts are exact.
    pub(super) fn broken_rules(
        &self,
        crawler: u16,
        timeline: &Timeline,
        top: usize,
    ) -> Result<(Vec<BrokenRule>, bool)> {
        let mut rules: BTreeMap<String, BrokenRule> = BTreeMap::new();
        let mut is_exact = true;
        for (&(_, snapshot), sample) in self.samples.range((crawler, 0)..=(crawler, usize::MAX)) {
            is_exact &= sample.every() == 1;
            let judge = timeline.judge(snapshot, crawler);
            let explain = |url: &Vec<u8>| {
                let why = judge.explain(url, 0)?;
                let deciding = why.rules.and_then(|rules| rules.deciding);
                Ok(deciding.map_or_else(|| why.reason.name().to_owned(), |rule| rule.text))
            };
            let urls: Vec<&Vec<u8>> = sample.urls().iter().filter(|url| !url.is_empty()).collect();
            let texts: Vec<String> = urls.par_iter().map(|url| explain(url)).collect::<Result<_>>()?;
            for (url, text) in urls.into_iter().zip(texts) {
                let example = || String::from_utf8_lossy(url).into_owned();
                let new = || BrokenRule { rule: text.clone(), requests: 0, example: example() };
                rules.entry(text.clone()).or_insert_with(new).requests += sample.every();
            }
        }
        let mut rules: Vec<BrokenRule> = rules.into_values().collect();
        // Stable, so rules with equal counts stay sorted by their text.
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.requests));
        rules.truncate(top);
        Ok((rules, is_exact))
    }
}

impl Delays {
    fn add(&mut self, seconds: i64) {
        self.after += 1;
        self.within_day += u64::from(seconds <= DAY);
        self.sum += i128::from(seconds);
        let (shortest, longest) = self.span.unwrap_or((seconds, seconds));
        self.span = Some((shortest.min(seconds), longest.max(seconds)));
    }
}
