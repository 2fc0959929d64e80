//! Robots.txt files and rule sets that were read now and that the previous snapshot holds too: found, so that each is stored once.

use crate::compile::files::{File, RuleSetData, SetContent};
use crate::compile::previous::{OldRules, Previous};
use crate::error::Result;
use crate::matcher::encoded_set::EncodedRules;
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Values by a hash that is keyed at random; what has the same hash is compared before it counts as the same.
struct ByHash<T> {
    hasher: RandomState,
    values: HashMap<u64, Vec<T>>,
}

impl<T> ByHash<T> {
    fn new(values: impl Iterator<Item = T>, hash: impl Fn(&RandomState, &T) -> Result<u64>) -> Result<Self> {
        let mut by_hash = Self { hasher: RandomState::new(), values: HashMap::new() };
        for value in values {
            by_hash.values.entry(hash(&by_hash.hasher, &value)?).or_default().push(value);
        }
        Ok(by_hash)
    }

    fn of(&self, hash: u64) -> &[T] {
        self.values.get(&hash).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Tells each file and rule set where the previous snapshot has the same. Of several equal ones there it is the first.
///
/// Reads the texts there once, as they are compressed, and the rule sets only if some text is new.
pub(super) fn find(previous: &Previous, files: &[Arc<File>], sets: &[Arc<RuleSetData>]) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let new = ByHash::new(files.iter(), |hasher, file| Ok(hasher.hash_one(file.frame())))?;
    (0..previous.file_count()).into_par_iter().try_for_each(|row| -> Result<()> {
        let frame = previous.frame(row)?;
        let same = new.of(new.hasher.hash_one(frame)).iter().find(|file| file.frame() == frame);
        same.iter().for_each(|file| file.old.lower_to(row));
        Ok(())
    })?;
    if files.iter().all(|file| file.old.known().is_some()) {
        return Ok(());
    }
    find_sets(previous, sets)
}

fn find_sets(previous: &Previous, sets: &[Arc<RuleSetData>]) -> Result<()> {
    let encoded = sets.iter().filter_map(|set| match &set.content {
        SetContent::Set(rules) => Some((rules, set)),
        SetContent::Union(_) => None,
    });
    let new = ByHash::new(encoded, |hasher, (rules, _)| Ok(hasher.hash_one(rules)))?;
    let old_unions: Vec<Option<(Vec<u32>, u32)>> = previous
        .places()?
        .into_par_iter()
        .map(|place| match previous.rules(place)? {
            OldRules::Union(parts) => Ok(Some((parts, place))),
            OldRules::Set(set) => {
                let old = EncodedRules::of_set(&set)?;
                for (_, set) in new.of(new.hasher.hash_one(&old)).iter().filter(|(rules, _)| **rules == old) {
                    set.old.lower_to(place);
                }
                Ok(None)
            }
        })
        .collect::<Result<_>>()?;
    let mut by_parts = HashMap::new();
    for (parts, place) in old_unions.into_iter().flatten() {
        by_parts.entry(parts).or_insert(place);
    }
    for set in sets {
        if let SetContent::Union(parts) = &set.content
            && let Some(parts) = parts.iter().map(|part| part.old.known()).collect::<Option<Vec<u32>>>()
            && let Some(place) = by_parts.get(&parts)
        {
            set.old.lower_to(*place);
        }
    }
    Ok(())
}
