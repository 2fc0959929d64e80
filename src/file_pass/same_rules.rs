//! Compares the stored robots.txt files of two snapshots: equal texts, or equal rules.

use crate::error::Result;
use crate::matcher::rule_set::Rules;
use crate::snapshot::Snapshot;
use crate::snapshot::format::{NONE, NamedRow};
use crate::snapshot::view::View;
use std::collections::HashMap;

/// A robots.txt of one of two snapshots.
#[derive(Clone, Copy)]
pub(crate) struct StoredFile<'s> {
    pub snapshot: &'s Snapshot,
    /// Its number.
    pub file: u32,
}

#[derive(Clone, Copy)]
struct StoredRules<'s> {
    view: View<'s>,
    offset: u32,
}

impl<'s> StoredRules<'s> {
    fn new(view: View<'s>, offset: u32) -> Self {
        Self { view, offset }
    }
}

/// A set of fewer bytes is compared sooner than the earlier result is found.
const LARGE: usize = 4096;

/// The number of results that are kept. When full, they are forgotten.
const MAX_KEPT: usize = 1 << 14;

/// The results for large rule sets and unions of two snapshots, by their offsets. One per thread.
///
/// Thousands of files may share a rule set of megabytes, and each would compare it again.
#[derive(Default)]
pub(crate) struct ComparedRules(HashMap<(u32, u32), bool>);

impl ComparedRules {
    fn get(&self, old: StoredRules<'_>, new: StoredRules<'_>) -> Option<bool> {
        self.0.get(&(old.offset, new.offset)).copied()
    }

    fn insert(&mut self, old: StoredRules<'_>, new: StoredRules<'_>, same: bool) {
        if self.0.len() >= MAX_KEPT {
            self.0.clear();
        }
        self.0.insert((old.offset, new.offset), same);
    }
}

/// Whether two files have the same text, compared by the stored bytes. Then their rules are equal.
pub(crate) fn have_same_text(old: StoredFile<'_>, new: StoredFile<'_>) -> Result<bool> {
    let old_row = old.snapshot.view().file(old.file)?;
    let new_row = new.snapshot.view().file(new.file)?;
    Ok(
        old.snapshot.frame(&old_row)? == new.snapshot.frame(&new_row)?
            && old.snapshot.dictionary() == new.snapshot.dictionary(),
    )
}

/// Whether two files name the same agents and have the same rules for each and for all others.
///
/// `is_same_name` compares the numbers of two names, each in its snapshot.
pub(crate) fn have_same_rules(
    old: StoredFile<'_>,
    new: StoredFile<'_>,
    is_same_name: impl Fn(u32, u32) -> bool,
    compared: &mut ComparedRules,
) -> Result<bool> {
    let old_view = old.snapshot.view();
    let new_view = new.snapshot.view();
    let old_row = old_view.file(old.file)?;
    let new_row = new_view.file(new.file)?;
    let old_named = old_view.named(&old_row)?;
    let new_named = new_view.named(&new_row)?;
    if old_named.len() != new_named.len() {
        return Ok(false);
    }
    if !are_same_rules(
        StoredRules::new(old_view, old_row.global),
        StoredRules::new(new_view, new_row.global),
        compared,
    )? {
        return Ok(false);
    }
    // Names that share a group are often adjacent, and their rules are compared once.
    let mut last_offsets = (NONE, NONE);
    for (before, after) in old_named
        .iter()
        .map(NamedRow::decode)
        .zip(new_named.iter().map(NamedRow::decode))
    {
        if !is_same_name(before.token, after.token) {
            return Ok(false);
        }
        let offsets = (before.rule_set, after.rule_set);
        if offsets != last_offsets
            && !are_same_rules(
                StoredRules::new(old_view, before.rule_set),
                StoredRules::new(new_view, after.rule_set),
                compared,
            )?
        {
            return Ok(false);
        }
        last_offsets = offsets;
    }
    Ok(true)
}

fn are_same_rules(
    old: StoredRules<'_>,
    new: StoredRules<'_>,
    compared: &mut ComparedRules,
) -> Result<bool> {
    if old.offset == NONE || new.offset == NONE {
        return Ok(old.offset == new.offset);
    }
    match (old.view.rules(old.offset)?, new.view.rules(new.offset)?) {
        (Rules::Set(_), Rules::Set(_)) => are_same_sets(old, new, compared),
        (Rules::Union(first), Rules::Union(second)) if first.len() == second.len() => {
            // Comparing the members may take long although the union is short.
            if let Some(same) = compared.get(old, new) {
                return Ok(same);
            }
            let mut same = true;
            for (old_offset, new_offset) in first.iter().zip(second) {
                let old_member = StoredRules::new(old.view, u32::from_le_bytes(*old_offset));
                let new_member = StoredRules::new(new.view, u32::from_le_bytes(*new_offset));
                if !are_same_sets(old_member, new_member, compared)? {
                    same = false;
                    break;
                }
            }
            compared.insert(old, new, same);
            Ok(same)
        }
        _ => Ok(false),
    }
}

/// Compares two rule sets. A union is an error, as it cannot be a member of a union.
fn are_same_sets(
    old: StoredRules<'_>,
    new: StoredRules<'_>,
    compared: &mut ComparedRules,
) -> Result<bool> {
    old.view.rule_set(old.offset)?;
    new.view.rule_set(new.offset)?;
    let first = old.view.rule_bytes(old.offset)?;
    let second = new.view.rule_bytes(new.offset)?;
    // A forged union may have the same large set thousands of times.
    let is_large = first.len() >= LARGE;
    if is_large && let Some(same) = compared.get(old, new) {
        return Ok(same);
    }
    let same = first == second;
    if is_large {
        compared.insert(old, new, same);
    }
    Ok(same)
}
