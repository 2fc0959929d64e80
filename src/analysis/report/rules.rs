//! The rule sets that agents obey: the coverage of each, and the most frequent rules.

use crate::analysis::coverage::{Coverage, coverage};
use crate::analysis::report::counts::{AgentCounts, Merge, merge_all};
use crate::analysis::report::model::{RuleByOrigins, RulesByOrigins};
use crate::analysis::report::text;
use crate::error::Result;
use crate::judge::engine::Engine;
use crate::matcher::RuleCache;
use crate::snapshot::listing::ListedRule;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use xxhash_rust::xxh3::Xxh3;

/// The used rule sets by their places in the snapshot. About 50 bytes each.
#[derive(Debug, Default)]
pub(super) struct UsedRuleSets(HashMap<u32, UsedRuleSet>);

/// A rule set that an agent obeys at an origin.
#[derive(Clone, Copy, Debug)]
struct UsedRuleSet {
    /// The number of pairs of an origin and an agent that obeys the set there.
    uses: u64,
    coverage: Coverage,
}

/// The number of sets that one thread processes at a time.
const CHUNK: usize = 1024;

impl UsedRuleSets {
    /// Adds this number of pairs of an origin and an agent.
    pub(super) fn add_use(&mut self, place: u32, uses: u64) {
        self.0.entry(place).or_insert(UsedRuleSet { uses: 0, coverage: Coverage::Not }).uses += uses;
    }

    /// The coverage of a set, after [`compute_coverages`](Self::compute_coverages).
    pub(super) fn coverage(&self, place: u32) -> Coverage {
        self.0.get(&place).map_or(Coverage::Not, |set| set.coverage)
    }

    /// The places of all sets with the numbers of their uses, in the order of the file.
    fn places(&self) -> Vec<(u32, u64)> {
        let mut places: Vec<(u32, u64)> = self.0.iter().map(|(place, set)| (*place, set.uses)).collect();
        places.sort_unstable();
        places
    }

    /// Computes the coverage of each set.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each other.
    pub(super) fn compute_coverages(&mut self, engine: &Engine<'_>) -> Result<()> {
        let (view, profile) = (engine.snapshot().view(), engine.profile());
        let places = self.places();
        let computed = places.par_chunks(CHUNK).map(|places| {
            let mut cache = RuleCache::default();
            let compute = |(place, _): &(u32, u64)| {
                Ok((*place, coverage(&view, profile, *place, &view.rules(*place)?, &mut cache)?))
            };
            places.iter().map(compute).collect::<Result<Vec<_>>>()
        });
        for (place, coverage) in computed.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            if let Some(set) = self.0.get_mut(&place) {
                set.coverage = coverage;
            }
        }
        Ok(())
    }

    /// The disallow rules with the most uses.
    ///
    /// Two passes bound the memory. The first counts all rules by a 64-bit hash, at 16 bytes per
    /// distinct rule. The second collects the texts of only those rules whose hashes rank first.
    ///
    /// # Errors
    /// As [`compute_coverages`](Self::compute_coverages).
    pub(super) fn top(&self, engine: &Engine<'_>, limit: usize) -> Result<TopRules> {
        let view = engine.snapshot().view();
        let places = self.places();
        let counts = merge_all(places.par_chunks(CHUNK).map(|places| {
            let mut counts = UsesByHash::default();
            for (place, uses) in places {
                view.visit_rules(&view.rules(*place)?, |rule| {
                    if !rule.allow {
                        *counts.0.entry(hash(&rule)).or_default() += uses;
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            Ok(counts)
        }))?;
        let top_hashes = counts.top(limit);
        let mut top = TopRules { distinct: counts.0.len() as u64, ..TopRules::default() };
        drop(counts);
        let parts = places.par_chunks(CHUNK).map(|places| {
            let mut found = Vec::new();
            for (place, _) in places {
                view.visit_rules(&view.rules(*place)?, |rule| {
                    if let Some(uses) = top_hashes.get(&hash(&rule)).filter(|_| !rule.allow) {
                        found.push((*place, TopRule::new(&rule, *uses)));
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            Ok(found)
        });
        top.fill(parts.collect::<Result<Vec<_>>>()?.into_iter().flatten());
        Ok(top)
    }
}

impl Merge for UsedRuleSets {
    fn merge(&mut self, later: Self) {
        // The smaller map is added to the larger one: the order does not matter.
        if self.0.len() < later.0.len() {
            let earlier = std::mem::replace(self, later);
            return self.merge(earlier);
        }
        later.0.into_iter().for_each(|(place, set)| self.add_use(place, set.uses));
    }
}

/// The number of uses of each rule, by the rule's hash.
#[derive(Debug, Default)]
struct UsesByHash(HashMap<u64, u64>);

impl UsesByHash {
    /// The entries with the most uses.
    fn top(&self, limit: usize) -> HashMap<u64, u64> {
        let mut ranking: Vec<(u64, u64)> = self.0.iter().map(|(hash, uses)| (*uses, *hash)).collect();
        let limit = limit.min(ranking.len());
        if limit > 0 && limit < ranking.len() {
            ranking.select_nth_unstable_by(limit - 1, |a, b| b.cmp(a));
        }
        ranking[..limit].iter().map(|(uses, hash)| (*hash, *uses)).collect()
    }
}

impl Merge for UsesByHash {
    fn merge(&mut self, mut later: Self) {
        if self.0.len() < later.0.len() {
            std::mem::swap(self, &mut later);
        }
        later.0.into_iter().for_each(|(hash, uses)| *self.0.entry(hash).or_default() += uses);
    }
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
    /// A path that the rule matches.
    path: Vec<u8>,
}

impl TopRule {
    fn new(rule: &ListedRule<'_>, uses: u64) -> Self {
        Self { uses: Reverse(uses), text: rule_text(rule), path: matching_path(rule) }
    }
}

fn rule_text(rule: &ListedRule<'_>) -> String {
    let end = match rule.pattern {
        // Trailing stars affect only the priority of a rule, and are not stored.
        [] => "*",
        _ if rule.anchored => "$",
        _ => "",
    };
    format!("Disallow: {}{end}", text(rule.pattern))
}

/// A path that the rule matches: its pattern without stars.
fn matching_path(rule: &ListedRule<'_>) -> Vec<u8> {
    let mut path: Vec<u8> = rule.pattern.iter().copied().filter(|b| *b != b'*').collect();
    if path.first() != Some(&b'/') {
        path.insert(0, b'/');
    }
    path
}

/// The most frequent rules, numbered by rank.
#[derive(Debug, Default)]
pub(super) struct TopRules {
    /// The number of distinct disallow rules.
    distinct: u64,
    rules: Vec<TopRule>,
    /// For each set, by its place, the numbers of its rules.
    by_set: HashMap<u32, Vec<usize>>,
}

impl TopRules {
    /// Ranks the rules found, each with the place of its set.
    fn fill(&mut self, found: impl Iterator<Item = (u32, TopRule)>) {
        let mut sets_of: BTreeMap<TopRule, Vec<u32>> = BTreeMap::new();
        found.for_each(|(place, rule)| sets_of.entry(rule).or_default().push(place));
        for (number, (rule, places)) in sets_of.into_iter().enumerate() {
            self.rules.push(rule);
            for place in places {
                let numbers = self.by_set.entry(place).or_default();
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

    /// The numbers of the ranked rules in the set at a place.
    pub(super) fn rules_of(&self, place: u32) -> &[usize] {
        self.by_set.get(&place).map_or(&[], Vec::as_slice)
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
            agents: count.agents.clone(),
        });
        let mut top: Vec<RuleByOrigins> = top.collect();
        top.sort_by_key(|rule| Reverse(rule.origins));
        RulesByOrigins { distinct: self.distinct, top }
    }
}
