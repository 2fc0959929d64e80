//! Whether two robots.txt files, each in its snapshot, say the same to everybody.

use crate::error::Result;
use crate::matcher::encoded_set::EncodedSet;
use crate::matcher::rule_set::Rules;
use crate::snapshot::Snapshot;
use crate::snapshot::format::{FileRow, NONE, NamedRow};
use crate::snapshot::view::View;

/// Whether the texts are the same, by the bytes as they are stored. Then all else is too.
pub(super) fn same_text(
    (old, old_file): (&Snapshot, &FileRow),
    (new, new_file): (&Snapshot, &FileRow),
) -> Result<bool> {
    Ok(old_file.raw_len == new_file.raw_len
        && old.frame(old_file)? == new.frame(new_file)?
        && old.dictionary() == new.dictionary())
}

/// Whether the same names are named, and the same rules hold for each and for all others. `same_name` compares numbers of names.
pub(super) fn same_rules(
    (old, old_file): (&View<'_>, &FileRow),
    (new, new_file): (&View<'_>, &FileRow),
    same_name: impl Fn(u32, u32) -> bool,
) -> Result<bool> {
    let (old_named, new_named) = (old.named(old_file)?, new.named(new_file)?);
    if old_named.len() != new_named.len() {
        return Ok(false);
    }
    // Names that share rules come one behind the other more often than not.
    let mut last = (NONE, NONE);
    if !same_set((old, old_file.global), (new, new_file.global))? {
        return Ok(false);
    }
    for (before, after) in old_named.iter().map(NamedRow::decode).zip(new_named.iter().map(NamedRow::decode)) {
        let places = (before.rule_set, after.rule_set);
        if !same_name(before.token, after.token) || places != last && !same_set((old, places.0), (new, places.1))? {
            return Ok(false);
        }
        last = places;
    }
    Ok(true)
}

fn same_set((old, before): (&View<'_>, u32), (new, after): (&View<'_>, u32)) -> Result<bool> {
    if before == NONE || after == NONE {
        return Ok(before == after);
    }
    match (old.rules(before)?, new.rules(after)?) {
        (Rules::Set(first), Rules::Set(second)) => Ok(first.len() == second.len()
            && packed(&old.encoded_set(before, first)?)? == packed(&new.encoded_set(after, second)?)?),
        (Rules::Union(first), Rules::Union(second)) => {
            let mut pairs = first.iter().zip(second).map(|(a, b)| (u32::from_le_bytes(*a), u32::from_le_bytes(*b)));
            Ok(first.len() == second.len()
                && pairs
                    .try_fold(true, |same, (a, b)| Ok::<_, crate::error::Error>(same && same_plain(old, a, new, b)?))?)
        }
        _ => Ok(false),
    }
}

/// Of two parts of unions, which are no unions themselves; in a damaged file one may say it is.
fn same_plain(old: &View<'_>, before: u32, new: &View<'_>, after: u32) -> Result<bool> {
    let first = old.encoded_set(before, old.rule_set(before)?)?;
    let second = new.encoded_set(after, new.rule_set(after)?)?;
    Ok(packed(&first)? == packed(&second)?)
}

/// A rule set without the places of its patterns, and these.
fn packed(set: &EncodedSet<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut bytes, mut patterns) = (Vec::new(), Vec::new());
    set.copy(&mut bytes, |text| {
        patterns.extend_from_slice(text);
        0
    })?;
    Ok((bytes, patterns))
}
