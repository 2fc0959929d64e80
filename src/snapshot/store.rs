//! Rule sets on their way into the file: packed on all threads, then put one behind the other with the patterns that they share.

use crate::error::{ErrorKind, Result};
use crate::matcher::build;
use crate::matcher::encoded_set::EncodedSet;
use crate::matcher::packed_rule::PLACE_BITS;
use crate::snapshot::contents::{Rows, RuleSetContents};
use crate::snapshot::format::NONE;
use xxhash_rust::xxh3::xxh3_64;

/// So many rule sets are packed on all threads at a time.
const AT_ONCE: usize = 1 << 10;

/// Puts out all rule sets; gives the place of each, in units of 8 bytes, and their patterns.
///
/// Where a set and its patterns lie depends on those before, so they are put one behind the other, while the next are packed.
///
/// # Errors
/// [`ErrorKind::TooLarge`] for over 32 GiB.
pub(super) fn encode(
    rule_sets: &Rows<'_, RuleSetContents<'_>>,
    mut put: impl FnMut(&[u8]) -> Result<()> + Send,
) -> Result<(Vec<u32>, Patterns)> {
    let (count, [most]) = (rule_sets.len(), rule_sets.par_sum(|contents| [most_patterns(&contents) as u64])?);
    let mut line = Line { places: Vec::with_capacity(count), at: 0, patterns: Patterns::with_room(most as usize) };
    let pack = |start: usize| rule_sets.par_map(start..count.min(start + AT_ONCE), Ready::new);
    let (mut ready, mut out) = (pack(0)?, Vec::new());
    for next in (AT_ONCE..count + AT_ONCE).step_by(AT_ONCE) {
        let append = || {
            out.clear();
            line.append(&ready, &mut out)?;
            put(&out)
        };
        let (appended, packed) = rayon::join(append, || pack(next.min(count)));
        appended?;
        ready = packed?;
    }
    Ok((line.places, line.patterns))
}

/// How many bytes of patterns a rule set stores at most.
fn most_patterns(contents: &RuleSetContents<'_>) -> usize {
    match contents {
        RuleSetContents::Set(flat) => flat.bytes().len(),
        RuleSetContents::Packed(set) => set.patterns_len(),
        RuleSetContents::Union(_) => 0,
    }
}

/// The rule sets that were put out so far.
struct Line {
    places: Vec<u32>,
    /// Their length.
    at: u64,
    patterns: Patterns,
}

impl Line {
    /// Puts some more behind them; `out` is where these begin.
    fn append(&mut self, some: &[Ready<'_>], out: &mut Vec<u8>) -> Result<()> {
        for ready in some {
            let place = u32::try_from((self.at + out.len() as u64) / 8).ok().filter(|&place| place != NONE);
            self.places.push(place.ok_or_else(|| ErrorKind::TooLarge("over 32 GiB of rule sets".to_owned()))?);
            ready.append(&self.places, &mut self.patterns, out)?;
        }
        self.at += out.len() as u64;
        Ok(())
    }
}

/// A rule set of which all is known but what depends on those before.
enum Ready<'a> {
    /// Packed, with patterns of its own.
    Set(Vec<u8>, Vec<u8>),
    Packed(EncodedSet<'a>),
    /// The rule sets that are judged together.
    Union(Vec<u32>),
}

impl<'a> Ready<'a> {
    fn new(contents: RuleSetContents<'a>) -> Result<Self> {
        match contents {
            RuleSetContents::Set(flat) => {
                let (set, patterns) = build::pack(&flat.iter().collect::<Vec<_>>())?;
                Ok(Self::Set(set, patterns))
            }
            RuleSetContents::Packed(set) => Ok(Self::Packed(set)),
            RuleSetContents::Union(parts) => Ok(Self::Union(parts)),
        }
    }

    fn append(&self, places: &[u32], patterns: &mut Patterns, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Set(set, own) => EncodedSet::decode(set, own)?.copy(out, |text| patterns.place(text)),
            Self::Packed(set) => set.copy(out, |text| patterns.place(text)),
            Self::Union(parts) => {
                let parts: Vec<u32> = parts.iter().map(|&part| places[part as usize]).collect();
                build::encode_union(&parts, out);
                Ok(())
            }
        }
    }
}

/// How many patterns are remembered at most, each at the place that its hash gives. Always as many, so that equal rule sets give equal
/// sections.
const KNOWN: usize = 1 << 20;

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
        Self { bytes, known: vec![0; KNOWN] }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The place of a pattern, which is stored if it is not known.
    fn place(&mut self, text: &[u8]) -> u64 {
        let place = xxh3_64(text) as usize % KNOWN;
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
