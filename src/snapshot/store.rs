//! Rule sets on their way into the file: where each will lie, then its bytes, and the patterns that they share.
//!
//! Files refer to rule sets that are written behind them, so all places are found first, by packing every set to see how long it becomes,
//! and the bytes are made a second time when they are written: keeping them would take as much memory as the section. Both is done on
//! all threads. Where patterns lie is found behind that, set by set, as it depends on those before.

use super::copy::PackedSet;
use super::draft::SetRule;
use super::format::NONE;
use super::packed::PLACE_BITS;
use super::ruleset;
use super::write::{Rows, RuleSetContents};
use crate::error::{ErrorKind, Result};
use xxhash_rust::xxh3::xxh3_64;

/// The place of each rule set, in units of 8 bytes, and room for all patterns.
///
/// # Errors
/// [`ErrorKind::TooLarge`] for over 32 GiB.
pub(super) fn places(rule_sets: &Rows<'_, RuleSetContents<'_>>) -> Result<(Vec<u32>, Patterns)> {
    let lens = rule_sets.par_map(0..rule_sets.len(), |contents| match contents {
        RuleSetContents::Set(flat) => Ok(ruleset::encoded_len(&flat.iter().collect::<Vec<_>>())),
        RuleSetContents::Packed(set) => Ok((set.len(), set.stored_len())),
        RuleSetContents::Union(parts) => Ok((ruleset::union_len(parts.len()), 0)),
    })?;
    let patterns = Patterns::with_room(lens.iter().map(|(_, stored)| stored).sum());
    let mut at = 0;
    let place = |(len, _): (usize, usize)| -> Result<u32> {
        let place = u32::try_from(at / 8).ok().filter(|&place| place != NONE);
        at += len as u64;
        place.ok_or_else(|| ErrorKind::TooLarge("over 32 GiB of rule sets".to_owned()).into())
    };
    Ok((lens.into_iter().map(place).collect::<Result<_>>()?, patterns))
}

/// So many rule sets are packed on all threads before they are put out.
const AT_ONCE: usize = 1 << 10;

/// Puts out all rule sets, some at a time.
pub(super) fn encode(
    rule_sets: &Rows<'_, RuleSetContents<'_>>,
    places: &[u32],
    patterns: &mut Patterns,
    mut put: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut out = Vec::new();
    for start in (0..places.len()).step_by(AT_ONCE) {
        let some = start..places.len().min(start + AT_ONCE);
        for ready in rule_sets.par_map(some, |contents| Ready::new(contents, places))? {
            ready.append(patterns, &mut out)?;
        }
        put(&out)?;
        out.clear();
    }
    Ok(())
}

/// A rule set of which all is known but where its patterns will lie.
enum Ready<'a> {
    /// Packed, with patterns of its own.
    Set(Vec<u8>, Vec<u8>),
    Packed(PackedSet<'a>),
    Union(Vec<u8>),
}

impl<'a> Ready<'a> {
    fn new(contents: RuleSetContents<'a>, places: &[u32]) -> Result<Self> {
        let (mut set, mut patterns) = (Vec::new(), Vec::new());
        match contents {
            RuleSetContents::Set(flat) => {
                let rules: Vec<SetRule<'_>> = flat.iter().collect();
                ruleset::encode(&rules, &mut set, |text| {
                    patterns.extend_from_slice(text);
                    (patterns.len() - text.len()) as u64
                })?;
                Ok(Self::Set(set, patterns))
            }
            RuleSetContents::Packed(set) => Ok(Self::Packed(set)),
            RuleSetContents::Union(parts) => {
                let parts: Vec<u32> = parts.iter().map(|&part| places[part as usize]).collect();
                ruleset::encode_union(&parts, &mut set);
                Ok(Self::Union(set))
            }
        }
    }

    fn append(&self, patterns: &mut Patterns, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Set(set, own) => PackedSet::of_bytes(set, own)?.copy(out, |text| patterns.place(text)),
            Self::Packed(set) => set.copy(out, |text| patterns.place(text)),
            Self::Union(set) => {
                out.extend_from_slice(set);
                Ok(())
            }
        }
    }
}

/// How many patterns are remembered at most, each at the place that its hash gives.
const MAX_KNOWN: usize = 1 << 20;

/// The section `patterns`, in which a pattern that was stored before is found again: not every one, but those that come often. To know
/// all of them took more memory than any other part of writing, and spares another few per cent of the section.
pub(super) struct Patterns {
    bytes: Vec<u8>,
    /// Where patterns begin, and above [`PLACE_BITS`] how long they are: one word, as most looks are at memory that no cache holds.
    known: Vec<u64>,
}

impl Patterns {
    /// Room for so many bytes, of which none counts before it is used. Growing would hold the patterns twice while they are moved;
    /// a system that promises no memory which it does not have makes them grow all the same.
    fn with_room(len: usize) -> Self {
        let mut bytes = Vec::new();
        let _ = bytes.try_reserve_exact(len);
        // By the bytes alone, so that equal rule sets give equal sections.
        Self { bytes, known: vec![0; (len / 8 + 1).next_power_of_two().min(MAX_KNOWN)] }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The place of a pattern, which is stored if it is not known.
    fn place(&mut self, text: &[u8]) -> u64 {
        let place = xxh3_64(text) as usize % self.known.len();
        let known = self.known[place];
        let (start, len) = (known & ((1 << PLACE_BITS) - 1), (known >> PLACE_BITS) as usize);
        if len == text.len() && self.bytes.get(start as usize..start as usize + len) == Some(text) {
            return start;
        }
        // What lies further behind is refused by who asks.
        let start = self.bytes.len() as u64;
        self.known[place] = (text.len() as u64) << PLACE_BITS | start;
        self.bytes.extend_from_slice(text);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_stored_once_while_it_is_known() {
        let mut patterns = Patterns::with_room(100);
        let places: Vec<u64> =
            [&b"/a*b"[..], b"/c*", b"/a*b", b"", b"/c*"].iter().map(|text| patterns.place(text)).collect();
        assert_eq!((places, patterns.bytes()), (vec![0, 4, 0, 0, 4], &b"/a*b/c*"[..]));
    }
}
