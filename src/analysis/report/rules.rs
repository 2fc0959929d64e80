//! The most frequent rules of the rule sets that agents obey.

use crate::analysis::report::counts::{AgentCounts, merge_all};
use crate::analysis::report::model::{RuleByOrigins, RulesByOrigins};
use crate::analysis::report::text;
use crate::error::Result;
use crate::file_pass::{ListedRule, visit_rule_set};
use crate::judge::engine::Engine;
use crate::snapshot::Snapshot;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use xxhash_rust::xxh3::Xxh3;

/// The rule sets that agents obey, by their offsets in the snapshot. The value is the number of
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

/// Calls `each` with the disallow rules of a set.
fn visit_disallow(
    snapshot: &Snapshot,
    set: u32,
    mut each: impl FnMut(&ListedRule<'_>),
) -> Result<()> {
    visit_rule_set(snapshot, set, |rule| {
        if !rule.allow {
            each(&rule);
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn hash(rule: &ListedRule<'_>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&[u8::from(rule.anchored)]);
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
    fn new(rule: &ListedRule<'_>, uses: u64) -> Self {
        let end = match rule.pattern {
            // Trailing stars affect only the priority of a rule, and are not stored.
            [] => "*",
            _ if rule.anchored => "$",
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
            text: format!("Disallow: {}{end}", text(rule.pattern)),
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
    pub(super) fn new(engine: &Engine<'_>, sets: &[(u32, u64)], limit: usize) -> Result<Self> {
        let snapshot = engine.snapshot();
        // First pass: hashes only, because a snapshot has millions of distinct rules.
        let parts = sets.par_chunks(CHUNK).map(|sets| {
            let mut counts: HashMap<u64, u64> = HashMap::new();
            for (set, uses) in sets {
                visit_disallow(snapshot, *set, |rule| {
                    *counts.entry(hash(rule)).or_default() += uses
                })?;
            }
            Ok(counts)
        });
        let counts = merge_all(HashMap::new, parts)?;
        let top_hashes = most_used(&counts, limit);
        let mut top = Self {
            distinct: counts.len() as u64,
            ..Self::default()
        };
        drop(counts);
        // Second pass: the texts of the few rules that ranked first.
        let parts = sets.par_chunks(CHUNK).map(|sets| {
            let mut found = Vec::new();
            for (set, _) in sets {
                visit_disallow(snapshot, *set, |rule| {
                    let uses = top_hashes.get(&hash(rule));
                    found.extend(uses.map(|uses| (*set, TopRule::new(rule, *uses))));
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

    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    /// The numbers of the ranked rules in the set at an offset.
    pub(super) fn rules_of(&self, set: u32) -> &[usize] {
        self.by_set.get(&set).map_or(&[], Vec::as_slice)
    }

    /// A path that the rule with this number matches.
    pub(super) fn path(&self, number: usize) -> &[u8] {
        self.rules.get(number).map_or(b"/", |rule| &rule.path)
    }

    /// The ranking with the counts of each rule, sorted by the number of origins.
    pub(super) fn report(&self, counts: &AgentCounts) -> RulesByOrigins {
        let rules = self.rules.iter().zip(&counts.rules);
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
