//! Deduplication against the previous snapshot: files and rule sets that it has already.
//!
//! A hash join on content: the new values are hashed, the previous snapshot is scanned once in
//! parallel. Hashes have a random seed, and equal hashes are followed by a comparison.

use super::previous::{PreviousRules, PreviousSnapshot};
use crate::compile::ingest::file_store::{InternedFile, InternedRules, RulesContent};
use crate::error::Result;
use crate::matcher::encoded_set::EncodedRules;
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Values by the hash of their content.
struct HashIndex<T> {
    hasher: RandomState,
    values: HashMap<u64, Vec<T>>,
}

impl<T> HashIndex<T> {
    fn new(values: impl Iterator<Item = T>, hash: impl Fn(&RandomState, &T) -> u64) -> Self {
        let mut index = Self { hasher: RandomState::new(), values: HashMap::new() };
        for value in values {
            index.values.entry(hash(&index.hasher, &value)).or_default().push(value);
        }
        index
    }

    fn of(&self, hash: u64) -> &[T] {
        self.values.get(&hash).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Sets `previous_row` and `previous_place` of values that the previous snapshot has, to its first
/// equal one.
///
/// Reads its compressed texts once, and its rule sets only if some text is new.
pub(crate) fn dedup(
    previous: &PreviousSnapshot,
    files: &[Arc<InternedFile>],
    sets: &[Arc<InternedRules>],
) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let new = HashIndex::new(files.iter(), |hasher, file| hasher.hash_one(file.frame()));
    (0..previous.file_count()).into_par_iter().try_for_each(|row| -> Result<()> {
        let frame = previous.frame(row)?;
        let same = new.of(new.hasher.hash_one(frame)).iter().find(|file| file.frame() == frame);
        same.iter().for_each(|file| file.previous_row.lower_to(row));
        Ok(())
    })?;
    if files.iter().all(|file| file.previous_row.assigned().is_some()) {
        return Ok(());
    }
    let unions = dedup_sets(previous, sets)?;
    dedup_unions(&unions, sets);
    Ok(())
}

/// A union of the previous snapshot.
struct PreviousUnion {
    parts: Vec<u32>,
    place: u32,
}

/// Finds equal rule sets; returns the unions of the previous snapshot, in its order.
fn dedup_sets(previous: &PreviousSnapshot, sets: &[Arc<InternedRules>]) -> Result<Vec<PreviousUnion>> {
    let encoded = sets.iter().filter_map(|set| match &set.content {
        RulesContent::Set(rules) => Some((rules, set)),
        RulesContent::Union(_) => None,
    });
    let new = HashIndex::new(encoded, |hasher, (rules, _)| hasher.hash_one(rules));
    let unions: Vec<Option<PreviousUnion>> = previous
        .places()?
        .into_par_iter()
        .map(|place| match previous.rules(place)? {
            PreviousRules::Union(parts) => Ok(Some(PreviousUnion { parts, place })),
            PreviousRules::Set(set) => {
                let old = EncodedRules::of_set(&set)?;
                for (_, set) in new.of(new.hasher.hash_one(&old)).iter().filter(|(rules, _)| **rules == old) {
                    set.previous_place.lower_to(place);
                }
                Ok(None)
            }
        })
        .collect::<Result<_>>()?;
    Ok(unions.into_iter().flatten().collect())
}

/// Finds unions of the same parts; parts must be deduplicated first.
fn dedup_unions(unions: &[PreviousUnion], sets: &[Arc<InternedRules>]) {
    let mut by_parts: HashMap<&[u32], u32> = HashMap::new();
    for union in unions {
        by_parts.entry(&union.parts).or_insert(union.place);
    }
    for set in sets {
        if let RulesContent::Union(parts) = &set.content
            && let Some(parts) = parts.iter().map(|part| part.previous_place.assigned()).collect::<Option<Vec<u32>>>()
            && let Some(place) = by_parts.get(parts.as_slice())
        {
            set.previous_place.lower_to(*place);
        }
    }
}
