//! The rule sets that agents meet: how much each refuses, and which rules most origins have.

use crate::analysis::coverage::{Coverage, coverage};
use crate::analysis::report::counts::{ByAgent, Sum, sum};
use crate::analysis::report::model::{RuleByOrigins, RulesByOrigins};
use crate::analysis::report::text;
use crate::error::Result;
use crate::judge::engine::Engine;
use crate::matcher::RuleCache;
use crate::snapshot::listing::ListedRule;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use xxhash_rust::xxh3::Xxh3;

/// Rule sets by their places in the snapshot: some 50 bytes for each that is met.
#[derive(Debug, Default)]
pub(super) struct RuleSets(HashMap<u32, Met>);

/// A rule set that is met.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// Pairs of origin and agent that meet it.
    pairs: u64,
    reach: Coverage,
}

/// Sets that one thread takes at a time.
const PARCEL: usize = 1024;

impl RuleSets {
    /// Counts so many pairs of origin and agent that meet the set.
    pub(super) fn meet(&mut self, place: u32, pairs: u64) {
        self.0.entry(place).or_insert(Met { pairs: 0, reach: Coverage::Not }).pairs += pairs;
    }

    /// How much it refuses, once that is [found](Self::find_reach).
    pub(super) fn coverage(&self, place: u32) -> Coverage {
        self.0.get(&place).map_or(Coverage::Not, |met| met.reach)
    }

    fn places(&self) -> Vec<(u32, u64)> {
        let mut places: Vec<(u32, u64)> = self.0.iter().map(|(place, met)| (*place, met.pairs)).collect();
        places.sort_unstable();
        places
    }

    /// Finds out how much each refuses.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    pub(super) fn find_reach(&mut self, judge: &Engine<'_>) -> Result<()> {
        let (view, profile) = (judge.snapshot().view(), judge.profile());
        let places = self.places();
        let found = places.par_chunks(PARCEL).map(|places| {
            let mut hot = RuleCache::default();
            let of = |(place, _): &(u32, u64)| {
                Ok((*place, coverage(&view, profile, *place, &view.rules(*place)?, &mut hot)?))
            };
            places.iter().map(of).collect::<Result<Vec<_>>>()
        });
        for (place, reach) in found.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            if let Some(met) = self.0.get_mut(&place) {
                met.reach = reach;
            }
        }
        Ok(())
    }

    /// The disallow rules that most pairs of origin and agent meet.
    ///
    /// All are counted by a hash first, 16 bytes and some room for each; only those that may be of the top are compared.
    ///
    /// # Errors
    /// As [`find_reach`](Self::find_reach).
    pub(super) fn top(&self, judge: &Engine<'_>, limit: usize) -> Result<TopRules> {
        let view = judge.snapshot().view();
        let places = self.places();
        let counts = places.par_chunks(PARCEL).map(|places| {
            let mut counts = Counts::default();
            for (place, pairs) in places {
                view.each_rule(&view.rules(*place)?, |rule| {
                    if !rule.allow {
                        *counts.0.entry(hash(&rule)).or_default() += pairs;
                    }
                    Ok(true)
                })?;
            }
            Ok(counts)
        });
        let counts = sum(counts)?;
        let mut best: Vec<(u64, u64)> = counts.0.iter().map(|(hash, pairs)| (*pairs, *hash)).collect();
        let limit = limit.min(best.len());
        if limit > 0 && limit < best.len() {
            best.select_nth_unstable_by(limit - 1, |a, b| b.cmp(a));
        }
        let best: HashMap<u64, u64> = best[..limit].iter().map(|(pairs, hash)| (*hash, *pairs)).collect();
        let mut top = TopRules { distinct: counts.0.len() as u64, ..TopRules::default() };
        drop(counts);
        let parts = places.par_chunks(PARCEL).map(|places| {
            let mut found = Vec::new();
            for (place, _) in places {
                view.each_rule(&view.rules(*place)?, |rule| {
                    let hash = hash(&rule);
                    if let Some(pairs) = best.get(&hash).filter(|_| !rule.allow) {
                        found.push((*place, (std::cmp::Reverse(*pairs), rule_text(&rule), pattern_path(&rule))));
                    }
                    Ok(true)
                })?;
            }
            Ok(found)
        });
        top.fill(parts.collect::<Result<Vec<_>>>()?.into_iter().flatten());
        Ok(top)
    }
}

impl Sum for RuleSets {
    fn add(&mut self, later: Self) {
        if self.0.len() < later.0.len() {
            let earlier = std::mem::replace(self, later);
            return self.add(earlier);
        }
        later.0.into_iter().for_each(|(place, met)| self.meet(place, met.pairs));
    }
}

/// Pairs of origin and agent by the hash of a rule that they meet.
#[derive(Debug, Default)]
struct Counts(HashMap<u64, u64>);

impl Sum for Counts {
    fn add(&mut self, mut later: Self) {
        if self.0.len() < later.0.len() {
            std::mem::swap(self, &mut later);
        }
        later.0.into_iter().for_each(|(hash, pairs)| *self.0.entry(hash).or_default() += pairs);
    }
}

fn hash(rule: &ListedRule<'_>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&[u8::from(rule.anchored)]);
    hash.update(rule.pattern);
    hash.digest()
}

fn rule_text(rule: &ListedRule<'_>) -> String {
    let end = match rule.pattern {
        // Stars at the end, which change nothing but the priority, are not kept.
        [] => "*",
        _ if rule.anchored => "$",
        _ => "",
    };
    format!("Disallow: {}{end}", text(rule.pattern))
}

/// A path that the rule matches.
fn pattern_path(rule: &ListedRule<'_>) -> Vec<u8> {
    let mut path: Vec<u8> = rule.pattern.iter().copied().filter(|b| *b != b'*').collect();
    if path.first() != Some(&b'/') {
        path.insert(0, b'/');
    }
    path
}

/// The rules that most origins have.
#[derive(Debug, Default)]
pub(super) struct TopRules {
    distinct: u64,
    /// Text, and a path that it matches.
    rules: Vec<(String, Vec<u8>)>,
    /// The numbers of those that each set holds.
    of_set: HashMap<u32, Vec<usize>>,
}

impl TopRules {
    fn fill(&mut self, found: impl Iterator<Item = (u32, (std::cmp::Reverse<u64>, String, Vec<u8>))>) {
        let mut sets_of: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        found.for_each(|(place, rule)| sets_of.entry(rule).or_default().push(place));
        for (number, ((_, text, path), places)) in sets_of.into_iter().enumerate() {
            self.rules.push((text, path));
            for place in places {
                let numbers = self.of_set.entry(place).or_default();
                // The sets of a union may hold it several times.
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    /// The numbers of the rules that the set at a place holds.
    pub(super) fn of_set(&self, place: u32) -> &[usize] {
        self.of_set.get(&place).map_or(&[], Vec::as_slice)
    }

    /// A path that the rule of a number matches.
    pub(super) fn path(&self, number: usize) -> &[u8] {
        self.rules.get(number).map_or(b"/", |(_, path)| path)
    }

    /// The figures, with what was counted for each.
    pub(super) fn report(&self, counts: &ByAgent) -> RulesByOrigins {
        let rules = self.rules.iter().zip(&counts.rules);
        let top = rules.map(|((rule, _), having)| RuleByOrigins {
            rule: rule.clone(),
            origins: having.origins,
            agents: having.agents.clone(),
        });
        let mut top: Vec<RuleByOrigins> = top.collect();
        top.sort_by_key(|rule| std::cmp::Reverse(rule.origins));
        RulesByOrigins { distinct: self.distinct, top }
    }
}
