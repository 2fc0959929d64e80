//! The most frequent rules of the rule sets that agents obey.

use super::model::{RuleByOrigins, RulesByOrigins};
use rayon::prelude::*;
use robosieve::export::{StoredFiles, StoredRule};
use robosieve::{Judge, Result};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use xxhash_rust::xxh3::Xxh3;

/// The rule sets that agents obey, by their numbers. The value is the number of
/// pairs of an origin and an agent that obeys the set there.
pub(super) type SetUses = HashMap<u32, u64>;

/// The number of sets that one thread processes at a time.
const CHUNK: usize = 1024;

/// The entries of the rules with the most uses.
fn most_used(uses: &HashMap<u64, u64>, limit: usize) -> HashMap<u64, u64> {
    let mut ranking: Vec<(u64, u64)> = uses.iter().map(|(hash, uses)| (*uses, *hash)).collect();
    let limit = limit.min(ranking.len());
    if limit > 0 && limit < ranking.len() {
        ranking.select_nth_unstable_by(limit - 1, |a, b| b.cmp(a));
    }
    ranking[..limit]
        .iter()
        .map(|(uses, hash)| (*hash, *uses))
        .collect()
}

fn hash(rule: StoredRule<'_>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&[u8::from(rule.is_anchored)]);
    hash.update(rule.pattern);
    hash.digest()
}

/// A rule of the ranking. The order of the fields is the order of the ranking.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TopRule {
    uses: Reverse<u64>,
    text: String,
    /// A path that the rule matches: its pattern without stars.
    path: Vec<u8>,
}

impl TopRule {
    fn new(rule: StoredRule<'_>, uses: u64) -> Self {
        let end = match rule.pattern {
            // Trailing stars affect only the priority of a rule, and are not stored.
            [] => "*",
            _ if rule.is_anchored => "$",
            _ => "",
        };
        let mut path: Vec<u8> = rule
            .pattern
            .iter()
            .copied()
            .filter(|b| *b != b'*')
            .collect();
        if path.first() != Some(&b'/') {
            path.insert(0, b'/');
        }
        Self {
            uses: Reverse(uses),
            text: format!("Disallow: {}{end}", String::from_utf8_lossy(rule.pattern)),
            path,
        }
    }
}

/// The most frequent rules, numbered by rank.
#[derive(Debug, Default)]
pub(super) struct TopRules {
    /// The number of distinct disallow rules.
    distinct: u64,
    rules: Vec<TopRule>,
    /// For each set, by its offset, the numbers of its rules.
    by_set: HashMap<u32, Vec<usize>>,
}

impl TopRules {
    /// The disallow rules with the most uses.
    ///
    /// Two passes bound the memory. The first counts all rules by a 64-bit hash, at 16 bytes per
    /// distinct rule. The second collects the texts of only those rules whose hashes rank first.
    pub(super) fn new(judge: &Judge, sets: &[(u32, u64)], limit: usize) -> Result<Self> {
        // First pass: hashes only, because a snapshot has millions of distinct rules.
        let parts = sets.par_chunks(CHUNK).map(|sets| {
            let files = StoredFiles::new(judge);
            let mut counts: HashMap<u64, u64> = HashMap::new();
            for (set, uses) in sets {
                files.visit_rules(*set, |rule| {
                    if !rule.is_allow {
                        *counts.entry(hash(rule)).or_default() += uses;
                    }
                })?;
            }
            Ok::<_, robosieve::Error>(counts)
        });
        let counts: HashMap<u64, u64> =
            parts.try_reduce(HashMap::new, |sum, part| Ok(merged(sum, part)))?;
        let top_hashes = most_used(&counts, limit);
        let mut top = Self {
            distinct: counts.len() as u64,
            ..Self::default()
        };
        drop(counts);
        // Second pass: the texts of the few rules that ranked first.
        let parts = sets.par_chunks(CHUNK).map(|sets| {
            let files = StoredFiles::new(judge);
            let mut found = Vec::new();
            for (set, _) in sets {
                files.visit_rules(*set, |rule| {
                    if !rule.is_allow {
                        let uses = top_hashes.get(&hash(rule));
                        found.extend(uses.map(|uses| (*set, TopRule::new(rule, *uses))));
                    }
                })?;
            }
            Ok(found)
        });
        top.fill(parts.collect::<Result<Vec<_>>>()?.into_iter().flatten());
        Ok(top)
    }

    /// Ranks the rules found, each with the offset of its set.
    fn fill(&mut self, found: impl Iterator<Item = (u32, TopRule)>) {
        let mut sets_of: BTreeMap<TopRule, Vec<u32>> = BTreeMap::new();
        found.for_each(|(set, rule)| sets_of.entry(rule).or_default().push(set));
        for (number, (rule, sets)) in sets_of.into_iter().enumerate() {
            self.rules.push(rule);
            for set in sets {
                let numbers = self.by_set.entry(set).or_default();
                // Several sets of a union may have the rule.
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
    }

    /// Counts that no file was added to.
    pub(super) fn no_counts(&self, agents: usize) -> Vec<RuleCount> {
        let agents = vec![0; agents];
        let none = RuleCount {
            agents,
            ..RuleCount::default()
        };
        vec![none; self.rules.len()]
    }

    /// Adds the origins of a file with these sets, each with the agents that obey it.
    pub(super) fn count_file<'t>(
        &self,
        file: u32,
        sets: impl Iterator<Item = (u32, &'t [usize])>,
        origins: u64,
        counts: &mut [RuleCount],
    ) {
        let mut rules: Vec<usize> = Vec::new();
        for (set, agents) in sets {
            for &rule in self.by_set.get(&set).into_iter().flatten() {
                let count = &mut counts[rule];
                for agent in agents {
                    count.agents[*agent] += origins;
                }
                let first = agents.first().map(|agent| RuleUse {
                    file,
                    agent: *agent,
                });
                count.first = count.first.or(first);
                rules.push(rule);
            }
        }
        // Several groups may have the same rule, but each origin counts once.
        rules.sort_unstable();
        rules.dedup();
        rules
            .into_iter()
            .for_each(|rule| counts[rule].origins += origins);
    }

    /// A path that the rule with this number matches.
    pub(super) fn path(&self, number: usize) -> &[u8] {
        self.rules.get(number).map_or(b"/", |rule| &rule.path)
    }

    /// The ranking with the counts of each rule, sorted by the number of origins.
    pub(super) fn report(&self, counts: &[RuleCount]) -> RulesByOrigins {
        let rules = self.rules.iter().zip(counts);
        let top = rules.map(|(rule, count)| RuleByOrigins {
            rule: rule.text.clone(),
            origins: count.origins,
            interval: None,
            agents: count.agents.clone(),
        });
        let mut top: Vec<RuleByOrigins> = top.collect();
        top.sort_by_key(|rule| Reverse(rule.origins));
        RulesByOrigins {
            distinct: self.distinct,
            top,
        }
    }
}

/// The number of origins with a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleCount {
    origins: u64,
    /// For each agent the origins with the rule in the rules that it obeys.
    agents: Vec<u64>,
    /// The first use of the rule.
    pub first: Option<RuleUse>,
}

/// A use of a rule: a file with the rule, and an agent that obeys it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleUse {
    pub file: u32,
    pub agent: usize,
}

impl RuleCount {
    /// Adds the counts of later files.
    pub(super) fn merge(&mut self, later: Self) {
        self.origins += later.origins;
        for (sum, part) in self.agents.iter_mut().zip(later.agents) {
            *sum += part;
        }
        self.first = self.first.or(later.first);
    }
}

/// The sums of two maps. The smaller one is added to the larger one, as the order does not matter.
pub(super) fn merged<K: Eq + Hash>(
    mut sum: HashMap<K, u64>,
    mut later: HashMap<K, u64>,
) -> HashMap<K, u64> {
    if sum.len() < later.len() {
        std::mem::swap(&mut sum, &mut later);
    }
    for (key, count) in later {
        *sum.entry(key).or_default() += count;
    }
    sum
}
