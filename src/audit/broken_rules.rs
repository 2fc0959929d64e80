//! Counts of the rules that crawlers broke, of a block or of all logs.
//!
//! All breaches are counted: a sample, explained at the end, gave estimates and took a tenth of the
//! time.

use crate::audit::report::BrokenRule;
use crate::judge::rfc3339;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The memory for the rules of all logs, which may have more sites than fit. Rules of usual length
/// fill it after some 900,000, rules of [`MAX_RULE`] bytes after 110,000.
const MAX_BYTES: usize = 256 << 20;

/// The memory for the rules of a block of lines; many blocks may wait for their turn. A block has
/// at most some 3,500 lines, so only many of the longest rules fill it.
const MAX_BLOCK_BYTES: usize = 4 << 20;

/// The bytes of a rule that are kept, before its hash. A rule may have 16 KiB.
const MAX_RULE: usize = 2048;

/// The bytes of an entry of the table without its texts: half-empty buckets, two allocations.
const ENTRY_BYTES: usize = 200;

/// The bytes of an example at most. A hostile request can be as long as a block of lines.
const MAX_EXAMPLE: usize = 2048;

/// For each row of the report and each rule the breaches, and the URL and the time of the first.
#[derive(Debug)]
pub(super) struct BrokenRules {
    rules: HashMap<(u32, Arc<str>), Breaches>,
    /// The requests of each row whose rule was not counted because memory is bounded.
    left_out: HashMap<u32, u64>,
    bytes: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct Breaches {
    requests: u64,
    example: Vec<u8>,
    example_time: i64,
}

impl Default for BrokenRules {
    /// The rules of a block of lines.
    fn default() -> Self {
        Self::bounded(MAX_BLOCK_BYTES)
    }
}

impl BrokenRules {
    /// The rules of all logs.
    pub(super) fn of_all_logs() -> Self {
        Self::bounded(MAX_BYTES)
    }

    fn bounded(max_bytes: usize) -> Self {
        Self {
            rules: HashMap::new(),
            left_out: HashMap::new(),
            bytes: 0,
            max_bytes,
        }
    }

    /// Adds a request for `url` that broke a rule at `time`.
    pub(super) fn add(&mut self, row: u32, rule: Arc<str>, url: &[u8], time: i64) {
        let rule = if rule.len() > MAX_RULE {
            cut_rule(&rule)
        } else {
            rule
        };
        let example = &url[..url.len().min(MAX_EXAMPLE)];
        self.add_breaches(
            (row, rule),
            example.len(),
            || Breaches {
                requests: 1,
                example: example.to_vec(),
                example_time: time,
            },
            1,
        );
    }

    /// Adds the counts of a later part of the logs.
    pub(super) fn append(&mut self, later: &mut Self) {
        let mut rules: Vec<_> = later.rules.drain().collect();
        if self.bytes + later.bytes > self.max_bytes {
            // Which rules are left out must not depend on the order of a hash table.
            rules.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        }
        for (key, breaches) in rules {
            let requests = breaches.requests;
            self.add_breaches(key, breaches.example.len(), || breaches, requests);
        }
        for (row, requests) in later.left_out.drain() {
            *self.left_out.entry(row).or_default() += requests;
        }
    }

    /// Counts breaches for their rule, or as left out if a new rule does not fit.
    fn add_breaches(
        &mut self,
        key: (u32, Arc<str>),
        example_len: usize,
        breaches: impl FnOnce() -> Breaches,
        requests: u64,
    ) {
        let row = key.0;
        let bytes = ENTRY_BYTES + key.1.len() + example_len;
        match self.rules.entry(key) {
            Entry::Occupied(mut entry) => entry.get_mut().requests += requests,
            Entry::Vacant(_) if self.bytes + bytes > self.max_bytes => {
                *self.left_out.entry(row).or_default() += requests;
            }
            Entry::Vacant(entry) => {
                self.bytes += bytes;
                entry.insert(breaches());
            }
        }
    }

    /// The estimated memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Removes all counts.
    pub(super) fn clear(&mut self) {
        self.rules.clear();
        self.left_out.clear();
        self.bytes = 0;
    }

    /// The requests of a row that no rule counts, because memory is bounded.
    pub(super) fn left_out(&self, row: u32) -> u64 {
        self.left_out.get(&row).copied().unwrap_or_default()
    }

    /// For each row the rules that it broke most, at most `top`; rules with equal counts are sorted
    /// by their text.
    pub(super) fn most_broken(&self, rows: usize, top: usize) -> Vec<Vec<BrokenRule>> {
        let mut all: Vec<Vec<(&str, &Breaches)>> = vec![Vec::new(); rows];
        for ((row, rule), breaches) in &self.rules {
            all[*row as usize].push((rule, breaches));
        }
        let mut most_broken = Vec::with_capacity(rows);
        for mut rules in all {
            rules.sort_unstable_by_key(|(rule, breaches)| (Reverse(breaches.requests), *rule));
            let rules = rules.into_iter().take(top);
            let rules = rules.map(|(rule, breaches)| BrokenRule {
                rule: rule.to_owned(),
                requests: breaches.requests,
                example: String::from_utf8_lossy(&breaches.example).into_owned(),
                example_time: rfc3339(breaches.example_time),
            });
            most_broken.push(rules.collect());
        }
        most_broken
    }
}

/// A long rule as its start, its length and its hash, so that two long rules stay two.
fn cut_rule(rule: &str) -> Arc<str> {
    let end = (0..=MAX_RULE)
        .rev()
        .find(|end| rule.is_char_boundary(*end))
        .unwrap_or_default();
    format!(
        "{}… ({} bytes, xxh3 {:016x})",
        &rule[..end],
        rule.len(),
        xxh3_64(rule.as_bytes())
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_url_is_the_example() {
        let mut sum = BrokenRules::of_all_logs();
        for (time, urls) in [["/b", "/a"], ["/c", "/d"]].into_iter().enumerate() {
            let time = time as i64;
            let mut block = BrokenRules::default();
            urls.iter()
                .for_each(|url| block.add(1, "disallow: /".into(), url.as_bytes(), time));
            block.add(1, "disallow: /c".into(), &[b'x'; 2 * MAX_EXAMPLE], time);
            block.add(0, "disallow: /".into(), b"/", time);
            sum.append(&mut block);
        }
        let rule = |rule: &str, requests, example: String| BrokenRule {
            rule: rule.to_owned(),
            requests,
            example,
            example_time: "1970-01-01T00:00:00Z".to_owned(),
        };
        let (all, cut) = (
            rule("disallow: /", 4, "/b".to_owned()),
            "x".repeat(MAX_EXAMPLE),
        );
        assert_eq!(
            sum.most_broken(3, 5),
            [
                vec![rule("disallow: /", 2, "/".to_owned())],
                vec![all.clone(), rule("disallow: /c", 2, cut)],
                vec![]
            ]
        );
        assert_eq!(sum.most_broken(2, 1)[1], [all]);
        assert_eq!((sum.left_out(0), sum.left_out(1)), (0, 0));
    }

    #[test]
    fn memory_is_bounded_by_bytes_and_the_rest_is_counted() {
        // As many rules as fit, of 1,802 bytes with their examples, and requests for thrice as
        // many.
        let (mut sum, fits) = (
            BrokenRules::bounded(1 << 20),
            (1 << 20) / (ENTRY_BYTES + 1_802),
        );
        let rule = |number: usize| format!("{number:05} {}", "x".repeat(1_794));
        for blocks in (0..3 * fits).collect::<Vec<_>>().chunks(10) {
            let mut block = BrokenRules::default();
            for number in blocks {
                block.add(2, rule(*number).as_str().into(), b"/a", 0);
            }
            block.add(2, rule(0).as_str().into(), b"/b", 0);
            sum.append(&mut block);
            assert!(sum.bytes <= 1 << 20);
            assert_eq!((block.rules.len(), block.left_out.len()), (0, 0));
        }
        let counted = sum.most_broken(3, usize::MAX).remove(2);
        assert_eq!(counted.len(), fits);
        let counted: u64 = counted.iter().map(|rule| rule.requests).sum();
        let blocks = (3 * fits).div_ceil(10) as u64;
        assert_eq!(
            (counted + sum.left_out(2), sum.left_out(2)),
            (3 * fits as u64 + blocks, 2 * fits as u64)
        );
        // A block has a bound of its own, and states what it leaves out.
        let mut block = BrokenRules::default();
        (0..3000).for_each(|number| block.add(0, rule(number).as_str().into(), b"/a", 0));
        assert!(block.bytes <= MAX_BLOCK_BYTES && block.left_out(0) > 0);
        let left_out = block.left_out(0);
        sum.append(&mut block);
        assert_eq!(sum.left_out(0), 3000, "{left_out} of them by the block");
    }

    #[test]
    fn long_rules_are_cut_and_stay_apart() {
        let mut rules = BrokenRules::default();
        let rule = |end: &str| format!("disallow: /{}{end}", "é".repeat(8000));
        for end in ["a", "b", "a"] {
            rules.add(0, rule(end).as_str().into(), b"/", 0);
        }
        rules.add(0, "x".repeat(MAX_RULE).as_str().into(), b"/", 0);
        let listed = rules.most_broken(1, 9).remove(0);
        assert_eq!(
            listed.iter().map(|rule| rule.requests).collect::<Vec<_>>(),
            [2, 1, 1]
        );
        assert!(
            listed[0].rule.starts_with("disallow: /éé")
                && listed[0].rule.contains("é… (16012 bytes, xxh3 ")
        );
        assert_eq!(listed[2].rule, "x".repeat(MAX_RULE));
        assert!(rules.bytes < 3 * (ENTRY_BYTES + MAX_RULE + 64));
    }
}
