//! The sites that requests of crawlers went to, and how many of the requests no snapshot could judge.

use crate::audit::report::SiteAudit;
use crate::snapshot::Snapshot;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// The sites of all logs that are counted one by one. A hostile `Host` header per request must not
/// fill the memory.
const MAX_SITES: usize = 4096;

/// The sites of a block of lines.
const MAX_BLOCK_SITES: usize = 64;

/// The bytes of an origin that are kept.
const MAX_ORIGIN: usize = 256;

/// The sites that a report lists.
const LISTED: usize = 10;

/// The requests to a site.
#[derive(Clone, Copy, Debug, Default)]
struct SiteCount {
    requests: u64,
    unknown: u64,
}

/// Counts of requests by site.
#[derive(Debug)]
pub(super) struct SiteCounts {
    sites: HashMap<Vec<u8>, SiteCount>,
    /// Requests to sites beyond the maximum.
    others: SiteCount,
    max: usize,
}

impl Default for SiteCounts {
    /// The sites of a block.
    fn default() -> Self {
        Self::bounded(MAX_BLOCK_SITES)
    }
}

impl SiteCounts {
    fn bounded(max: usize) -> Self {
        Self {
            sites: HashMap::new(),
            others: SiteCount::default(),
            max,
        }
    }

    /// The sites of all logs.
    pub(super) fn of_all_logs() -> Self {
        Self::bounded(MAX_SITES)
    }

    pub(super) fn clear(&mut self) {
        self.sites.clear();
        self.others = SiteCount::default();
    }

    /// Counts a request.
    pub(super) fn add(&mut self, origin: &[u8], is_unknown: bool) {
        let request = SiteCount {
            requests: 1,
            unknown: u64::from(is_unknown),
        };
        self.add_count(&origin[..origin.len().min(MAX_ORIGIN)], request);
    }

    fn add_count(&mut self, origin: &[u8], count: SiteCount) {
        let sum = if let Some(site) = self.sites.get_mut(origin) {
            site
        } else if self.sites.len() < self.max {
            self.sites.entry(origin.to_vec()).or_default()
        } else {
            &mut self.others
        };
        sum.requests += count.requests;
        sum.unknown += count.unknown;
    }

    /// Adds the counts of a later part of the logs.
    pub(super) fn append(&mut self, later: &Self) {
        let mut sites: Vec<_> = later.sites.iter().collect();
        if self.sites.len() + sites.len() > self.max {
            // Which sites are left out must not depend on the order of a hash table.
            sites.sort_unstable_by_key(|(origin, _)| *origin);
        }
        for (origin, count) in sites {
            self.add_count(origin, *count);
        }
        self.others.requests += later.others.requests;
        self.others.unknown += later.others.unknown;
    }

    /// The number of sites that are counted one by one.
    pub(super) fn len(&self) -> u64 {
        self.sites.len() as u64
    }

    /// The sites with the most requests.
    pub(super) fn most_requested(&self) -> Vec<SiteAudit> {
        self.first_by(|site| site.requests)
    }

    /// The sites with the most requests that no snapshot could judge.
    pub(super) fn most_unknown(&self) -> Vec<SiteAudit> {
        let mut sites = self.first_by(|site| site.unknown);
        sites.retain(|site| site.unknown > 0);
        sites
    }

    /// The sites with the highest counts, then by name.
    fn first_by(&self, count: fn(&SiteAudit) -> u64) -> Vec<SiteAudit> {
        let sites = self.sites.iter().map(|(origin, site)| SiteAudit {
            origin: String::from_utf8_lossy(origin).into_owned(),
            requests: site.requests,
            unknown: site.unknown,
        });
        let mut sites: Vec<SiteAudit> = sites.collect();
        sites.sort_by(|a, b| (Reverse(count(a)), &a.origin).cmp(&(Reverse(count(b)), &b.origin)));
        sites.truncate(LISTED);
        sites
    }
}

/// The origins of snapshots for a message: those that resemble `wanted` first, at most five.
pub(super) fn known_origins(snapshots: &[Arc<Snapshot>], wanted: &str) -> String {
    let wanted = bare_host(wanted);
    let mut near: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    let mut count: u64 = 0;
    let entries = snapshots.iter().flat_map(|snapshot| snapshot.origins());
    for origin in entries.flatten().map(|entry| entry.origin()) {
        count += 1;
        let host = bare_host(&origin);
        let is_near = host == wanted
            || host.ends_with(&format!(".{wanted}"))
            || wanted.ends_with(&format!(".{host}"));
        let list = if is_near { &mut near } else { &mut others };
        if list.len() < 5 && !list.contains(&origin) {
            list.push(origin);
        }
    }
    let mut listed = near;
    listed.extend(others);
    listed.truncate(5);
    match count.saturating_sub(listed.len() as u64) {
        _ if listed.is_empty() => "no site at all".to_owned(),
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

/// The host of an origin, without `www.` and without a port.
fn bare_host(origin: &str) -> &str {
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    let host = host.strip_prefix("www.").unwrap_or(host);
    host.rsplit_once(':').map_or(host, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_beyond_the_maximum_are_counted_together() {
        let mut all = SiteCounts::of_all_logs();
        for block in 0..80 {
            let mut sites = SiteCounts::default();
            sites.add(b"https://every.example", block == 0);
            for site in 0..70 {
                sites.add(format!("https://{block}-{site}.example").as_bytes(), true);
            }
            all.append(&sites);
        }
        assert_eq!(all.len(), 4096);
        let most = all.most_requested();
        assert_eq!(most.len(), 10);
        assert_eq!((most[0].requests, most[0].unknown), (80, 1));
        let listed: u64 = all.sites.values().map(|site| site.requests).sum();
        assert_eq!(listed + all.others.requests, 80 * 71);
    }

    #[test]
    fn hosts_are_compared_without_www_and_port() {
        for (origin, host) in [
            ("https://www.shop.example", "shop.example"),
            ("http://shop.example:8080", "shop.example"),
            ("shop.example", "shop.example"),
        ] {
            assert_eq!(bare_host(origin), host);
        }
    }
}
