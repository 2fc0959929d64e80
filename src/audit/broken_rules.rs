//! Counts of the rules that crawlers broke, of a block or of all logs.

use crate::audit::report::BrokenRule;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The rules that are counted at most, for all crawlers together. A log of many sites may break more
/// than fit in memory.
const MAX_RULES: usize = 1 << 20;

/// The bytes of an example at most. A hostile request can be as long as a block of lines.
const MAX_EXAMPLE: usize = 2048;

/// For each crawler and rule the breaches, and the URL of the first.
#[derive(Debug, Default)]
pub(super) struct BrokenRules {
    rules: HashMap<(u16, Arc<str>), Breaches>,
    /// Whether a rule was not counted because there were too many.
    is_full: bool,
}

#[derive(Debug)]
struct Breaches {
    requests: u64,
    example: Vec<u8>,
}

impl BrokenRules {
    /// Adds a request for `url` that broke a rule.
    pub(super) fn add(&mut self, crawler: u16, rule: Arc<str>, url: &[u8]) {
        let first = || url[..url.len().min(MAX_EXAMPLE)].to_vec();
        self.rules.entry((crawler, rule)).or_insert_with(|| Breaches { requests: 0, example: first() }).requests += 1;
    }

    /// Adds the counts of a later part of the logs.
    pub(super) fn append(&mut self, later: &mut Self) {
        let mut later: Vec<_> = later.rules.drain().collect();
        if self.rules.len() + later.len() > MAX_RULES {
            // Which rules are left out must not depend on the order of a hash table.
            later.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        }
        for (key, breaches) in later {
            let is_full = self.rules.len() >= MAX_RULES;
            match self.rules.entry(key) {
                Entry::Occupied(mut entry) => entry.get_mut().requests += breaches.requests,
                Entry::Vacant(_) if is_full => self.is_full = true,
                Entry::Vacant(entry) => drop(entry.insert(breaches)),
            }
        }
    }

    /// Removes all counts.
    pub(super) fn clear(&mut self) {
        self.rules.clear();
    }

    /// Whether every rule was counted.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_full
    }

    /// For each crawler the rules that it broke most, at most `top`; rules with equal counts are
    /// sorted by their text.
    pub(super) fn most_broken(&self, crawlers: usize, top: usize) -> Vec<Vec<BrokenRule>> {
        let mut all = vec![Vec::new(); crawlers];
        for ((crawler, rule), Breaches { requests, example }) in &self.rules {
            let example = String::from_utf8_lossy(example).into_owned();
            all[usize::from(*crawler)].push(BrokenRule { rule: rule.to_string(), requests: *requests, example });
        }
        for rules in &mut all {
            rules.sort_unstable_by(|a, b| b.requests.cmp(&a.requests).then_with(|| a.rule.cmp(&b.rule)));
            rules.truncate(top);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_url_is_the_example() {
        let mut sum = BrokenRules::default();
        for urls in [["/b", "/a"], ["/c", "/d"]] {
            let mut block = BrokenRules::default();
            urls.iter().for_each(|url| block.add(1, "disallow: /".into(), url.as_bytes()));
            block.add(1, "disallow: /c".into(), &[b'x'; 2 * MAX_EXAMPLE]);
            block.add(0, "disallow: /".into(), b"/");
            sum.append(&mut block);
        }
        let rule = |rule: &str, requests, example: String| BrokenRule { rule: rule.to_owned(), requests, example };
        let (all, cut) = (rule("disallow: /", 4, "/b".to_owned()), "x".repeat(MAX_EXAMPLE));
        assert_eq!(
            sum.most_broken(3, 5),
            [vec![rule("disallow: /", 2, "/".to_owned())], vec![all.clone(), rule("disallow: /c", 2, cut)], vec![]]
        );
        assert_eq!(sum.most_broken(2, 1)[1], [all]);
        assert!(sum.is_complete());
    }
}
