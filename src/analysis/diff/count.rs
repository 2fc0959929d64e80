//! Each distinct pair of robots.txt files looked at once: who is newly refused or allowed, and at how many origins.

use crate::analysis::diff::examples::{self, Shown};
use crate::analysis::diff::origins::Pair;
use crate::analysis::diff::same::{same_rules, same_text};
use crate::analysis::diff::subjects::{Change, Readers, Subjects, Turn};
use crate::analysis::diff::{AgentChange, Diff, DiffOptions};
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering};

/// Origins that turned, by which way. They are fewer than 2^32, since rows are numbered in four bytes.
#[derive(Debug, Default)]
pub(super) struct Tally {
    refused: AtomicU32,
    allowed: AtomicU32,
}

impl Tally {
    fn add(&self, change: &Change, origins: u32) {
        match change.turn() {
            Some(Turn::Refused) => self.refused.fetch_add(origins, Ordering::Relaxed),
            Some(Turn::Allowed) => self.allowed.fetch_add(origins, Ordering::Relaxed),
            None => 0,
        };
    }

    /// Newly refused, and newly allowed.
    fn counts(&self) -> [u64; 2] {
        [&self.refused, &self.allowed].map(|count| count.load(Ordering::Relaxed).into())
    }
}

/// What is counted of one subject.
#[derive(Debug, Default)]
struct Tallies {
    /// At origins where either robots.txt names it.
    named: Tally,
    /// Of an agent that was asked for: at the others. Of a name, which is not looked at there: how those turned for the unnamed where it is
    /// named, so that the others are the rest.
    unnamed: Tally,
}

/// What is known of a pair of files.
struct PathSignature {
    rules_changed: bool,
    turned: bool,
}

/// Compares all pairs, and completes `diff`.
pub(super) fn count(
    old: &Snapshot,
    new: &Snapshot,
    options: &DiffOptions,
    pairs: &[Pair],
    diff: &mut Diff,
) -> Result<()> {
    let subjects = Subjects::new(old, new, options)?;
    let tallies: Vec<Tallies> = std::iter::repeat_with(Tallies::default).take(subjects.count).collect();
    let others = Tally::default();
    let seen: Vec<PathSignature> = pairs
        .par_iter()
        .map_init(|| subjects.readers(), |readers, pair| see(&subjects, pair, readers, &tallies, &others))
        .collect::<Result<_>>()?;
    for (pair, _) in pairs.iter().zip(&seen).filter(|(_, seen)| seen.rules_changed) {
        diff.rules_changed.origins += u64::from(pair.count);
        if diff.rules_changed.examples.len() < options.examples {
            diff.rules_changed.examples.push(old.origin_at(pair.row)?.origin());
        }
    }
    let mut shown = shown(&subjects, options, &tallies, &others, diff)?;
    let turned = pairs.iter().zip(&seen).filter(|(_, seen)| seen.turned).map(|(pair, _)| pair);
    examples::find(&subjects, turned, options.examples, &mut shown)?;
    let mut rows = shown.into_iter().map(|shown| shown.row);
    diff.others = rows.next().unwrap_or_else(|| AgentChange::none("*".to_owned()));
    diff.agents = rows.collect();
    Ok(())
}

/// Looks at one pair.
fn see<'s>(
    subjects: &Subjects<'s>,
    pair: &Pair,
    readers: &mut Readers<'_, 's>,
    tallies: &[Tallies],
    others: &Tally,
) -> Result<PathSignature> {
    let (old, new) = (&subjects.old, &subjects.new);
    let mut rules_changed = false;
    if let (Some(before), Some(after)) = (old.file(pair.old)?, new.file(pair.new)?) {
        if same_text((old.snapshot, &before), (new.snapshot, &after))? {
            return Ok(PathSignature { rules_changed, turned: false });
        }
        let same_name = |first: u32, second: u32| old.numbers.get(first as usize) == new.numbers.get(second as usize);
        rules_changed = !same_rules((&old.snapshot.view(), &before), (&new.snapshot.view(), &after), same_name)?;
        if !rules_changed {
            return Ok(PathSignature { rules_changed, turned: false });
        }
    }
    let mut changes = Vec::new();
    let unnamed = subjects.compare(pair, readers, |number, change| {
        changes.push((number, change));
        Ok(())
    })?;
    others.add(&unnamed, pair.count);
    let mut turned = unnamed.turn().is_some();
    for (number, change) in changes {
        let tallies = tallies.get(number as usize).ok_or_else(|| Error::corrupt("the number of a name"))?;
        turned |= change.turn().is_some();
        if change.named { &tallies.named } else { &tallies.unnamed }.add(&change, pair.count);
        if !subjects.asked {
            tallies.unnamed.add(&unnamed, pair.count);
        }
    }
    Ok(PathSignature { rules_changed, turned })
}

/// The rows that are shown, without examples: that of all others, and the agents that were asked for or the names with the most changes.
fn shown<'s>(
    subjects: &Subjects<'s>,
    options: &DiffOptions,
    tallies: &[Tallies],
    others: &Tally,
    diff: &mut Diff,
) -> Result<Vec<Shown>> {
    let unnamed = others.counts();
    let mut rows = vec![Shown::others(row("*".to_owned(), [0; 2], unnamed))];
    let named: Vec<[u64; 2]> = tallies.iter().map(|tallies| tallies.named.counts()).collect();
    if subjects.asked {
        for (number, (agent, tallies)) in (0..).zip(options.agents.iter().zip(tallies)) {
            let row = row(agent.to_string(), named[number as usize], tallies.unnamed.counts());
            diff.agents_changed += u64::from(row.refused.origins + row.allowed.origins > 0);
            let keys = agent.keys(options.agent_match).map(<[u8]>::to_vec).collect();
            rows.push(Shown { number: Some(number), keys, row });
        }
        return Ok(rows);
    }
    let mut ranking: Vec<usize> = (0..named.len()).filter(|&number| named[number] != [0; 2]).collect();
    diff.agents_changed = ranking.len() as u64;
    ranking.sort_by_key(|&number| Reverse(named[number][0] + named[number][1]));
    for number in ranking.into_iter().take(options.top) {
        let name = subjects.name(number as u32)?;
        let elsewhere = tallies[number].unnamed.counts();
        let rest = [unnamed[0].saturating_sub(elsewhere[0]), unnamed[1].saturating_sub(elsewhere[1])];
        let row = row(String::from_utf8_lossy(name).into_owned(), named[number], rest);
        rows.push(Shown { number: Some(number as u32), keys: vec![name.to_vec()], row });
    }
    Ok(rows)
}

fn row(name: String, named: [u64; 2], unnamed: [u64; 2]) -> AgentChange {
    let mut row = AgentChange::none(name);
    for (turned, (named, unnamed)) in [&mut row.refused, &mut row.allowed].into_iter().zip(named.iter().zip(unnamed)) {
        (turned.origins, turned.named) = (named + unnamed, *named);
    }
    row
}
