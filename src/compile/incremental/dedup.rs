//! Deduplication against the previous snapshot: files and rule sets that it has already.
//!
//! A hash join on content: the new values are hashed, the previous snapshot is scanned once in
//! parallel.

use super::previous::{PreviousRules, PreviousSnapshot};
use crate::compile::ingest::file_store::{InternedFile, InternedRules, RulesContent};
use crate::error::Result;
use crate::matcher::encoded_set::EncodedRules;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

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
    let new: HashMap<&[u8], &InternedFile> = files.iter().map(|file| (&*file.frame, &**file)).collect();
    (0..previous.snapshot.file_count()).into_par_iter().try_for_each(|row| -> Result<()> {
        if let Some(file) = new.get(previous.frame(row)?) {
            file.previous_row.lower_to(row);
        }
        Ok(())
    })?;
    if files.iter().all(|file| file.previous_row.assigned().is_some()) {
        return Ok(());
    }
    let unions = dedup_sets(previous, sets)?;
    dedup_unions(&unions, sets);
    Ok(())
}

/// Finds equal rule sets; returns the unions of the previous snapshot, as first places by parts.
fn dedup_sets(previous: &PreviousSnapshot, sets: &[Arc<InternedRules>]) -> Result<HashMap<Vec<u32>, u32>> {
    let mut new: HashMap<&EncodedRules, &InternedRules> = HashMap::new();
    for set in sets {
        if let RulesContent::Set(rules) = &set.content {
            new.insert(rules, set);
        }
    }
    let found: Vec<Option<(Vec<u32>, u32)>> = previous
        .places()?
        .into_par_iter()
        .map(|place| match previous.rules(place)? {
            PreviousRules::Union(parts) => Ok(Some((parts, place))),
            PreviousRules::Set(set) => {
                if let Some(same) = new.get(&EncodedRules::of_set(&set)?) {
                    same.previous_place.lower_to(place);
                }
                Ok(None)
            }
        })
        .collect::<Result<_>>()?;
    let mut unions = HashMap::new();
    for (parts, place) in found.into_iter().flatten() {
        unions.entry(parts).or_insert(place);
    }
    Ok(unions)
}

/// Finds unions of the same parts; parts must be deduplicated first.
fn dedup_unions(unions: &HashMap<Vec<u32>, u32>, sets: &[Arc<InternedRules>]) {
    for set in sets {
        if let RulesContent::Union(parts) = &set.content
            && let Some(parts) = parts.iter().map(|part| part.previous_place.assigned()).collect::<Option<Vec<u32>>>()
            && let Some(place) = unions.get(&parts)
        {
            set.previous_place.lower_to(*place);
        }
    }
}
