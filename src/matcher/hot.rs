//! The rule sets that many URLs meet: each is laid out anew in memory, by what some of these URLs are like.
//!
//! A snapshot has its rules as they are best for a few URLs of any of millions of sites. But a few sites make up much of most lists, and
//! where thousands of paths meet the same rules it pays to look at some of these paths first, and to make a [`Table`] of the rules, an
//! [index](StemIndex) of what they begin with, or a [`Sieve`] of those that begin with a wildcard.

use super::index::StemIndex;
use super::sieve::Sieve;
use super::table::Table;
use crate::error::Result;
use crate::snapshot::ruleset::RuleSet;
use std::mem;

/// URLs that meet a rule set before it is laid out anew, which costs as much as matching about as many.
const MANY: u32 = 4096;

/// How many of the paths until then are looked at.
const SAMPLES: usize = 256;

/// How much of each is looked at: a line may be of megabytes, and these are kept.
const SAMPLE_LEN: usize = 256;

/// How much memory the tables and indexes of a thread may take: those of a hundred sites with ten thousand rules each.
const ROOM: usize = 128 << 20;

/// Rule sets kept, each at the place that its number gives.
const KEPT: usize = 256;

/// The rule sets that many URLs of one thread met.
#[derive(Debug)]
pub(crate) struct HotSets {
    sets: Box<[HotSet; KEPT]>,
    many: u32,
    /// What is left of [`ROOM`].
    room: usize,
    /// Debug builds only: the sample paths of the last promotion, until the caller judges them
    /// again.
    promoted: Vec<Vec<u8>>,
}

/// One cache line, so that its place is found by a shift.
#[derive(Debug, Default)]
#[repr(align(64))]
struct HotSet {
    /// The place of the rule set in the snapshot.
    place: u32,
    /// URLs that met it, less those that met others which would stand here.
    met: u32,
    /// It was met since another one came.
    is_asked: bool,
    layout: Layout,
    /// Some of the paths that met it, by which it will be laid out anew.
    samples: Vec<Vec<u8>>,
}

/// How rules are laid out.
#[derive(Debug, Default)]
pub(super) enum Layout {
    /// As they are in the snapshot.
    #[default]
    Stored,
    /// All rules in one table: they are few, as in nearly all sets.
    Table(Box<Table>),
    /// Those with wildcards and the stems apart.
    Large(Box<LargeSet>),
}

/// Rules too many for one table, as far as it pays to lay them out anew.
#[derive(Debug, Default)]
pub(crate) struct LargeSet {
    /// Those with wildcards, if these are few enough.
    pub(super) wild: Option<Table>,
    /// What dismisses those that begin with a wildcard, where there are many.
    pub(super) sieve: Option<Sieve>,
    /// What the stems are found by, if there are enough.
    pub(super) index: Option<StemIndex>,
}

impl Layout {
    /// Whether a rule set is to be laid out anew where many URLs meet it.
    #[inline]
    pub(super) fn fits(set: &RuleSet<'_>) -> bool {
        Table::fits(set) || StemIndex::fits(&set.stems)
    }

    /// The new one of a rule set that [`fits`](Self::fits), given some of the paths that are judged by it; of at most so many bytes.
    fn new(set: &RuleSet<'_>, samples: &[Vec<u8>], room: usize) -> Result<Self> {
        let table = if Table::fits(set) { Some(Table::new(set, samples)?) } else { None };
        let wild = match table.filter(|table| table.size() <= room) {
            Some(table) if !table.is_wild() => return Ok(Self::Table(Box::new(table))),
            wild => wild,
        };
        let mut large = LargeSet { wild, ..LargeSet::default() };
        if large.wild.is_none() && set.wild.len() > 0 {
            let sieve = Sieve::new(&set.wild)?;
            large.sieve = sieve.filter(|sieve| sieve.size() <= room);
        }
        if StemIndex::fits(&set.stems) {
            let index = StemIndex::new(&set.stems)?;
            large.index = index.filter(|index| large.size() + index.size() <= room);
        }
        Ok(Self::Large(Box::new(large)))
    }

    /// The bytes that it takes.
    fn size(&self) -> usize {
        match self {
            Self::Stored => 0,
            Self::Table(table) => table.size(),
            Self::Large(large) => large.size(),
        }
    }
}

impl LargeSet {
    fn size(&self) -> usize {
        let Self { wild, sieve, index } = self;
        let sizes =
            [wild.as_ref().map(Table::size), sieve.as_ref().map(Sieve::size), index.as_ref().map(StemIndex::size)];
        sizes.into_iter().flatten().sum()
    }
}

impl Default for HotSets {
    fn default() -> Self {
        Self::after(MANY)
    }
}

impl HotSets {
    /// Sets that have tables after so many URLs.
    pub(super) fn after(many: u32) -> Self {
        Self { sets: Box::new(std::array::from_fn(|_| HotSet::default())), many, room: ROOM, promoted: Vec::new() }
    }

    /// How the rules at a place are laid out, if paths met them.
    #[inline(always)]
    pub(super) fn layout(&mut self, place: u32) -> Option<&Layout> {
        let set = &mut self.sets[place as usize % KEPT];
        if set.place != place {
            return None;
        }
        // No more than a flag is written: this is done for nearly each path.
        set.is_asked = true;
        Some(&set.layout)
    }

    /// Counts that a path meets the rules at a place; gives how they are laid out.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if a rule's pattern lies outside the file.
    #[inline(always)]
    pub(super) fn meet(&mut self, place: u32, rules: &RuleSet<'_>, path: &[u8]) -> Result<Option<&Layout>> {
        let set = &mut self.sets[place as usize % KEPT];
        if Layout::fits(rules) && (set.place != place || matches!(set.layout, Layout::Stored)) {
            let samples = set.count((place, rules), path, self.many, &mut self.room)?;
            if cfg!(debug_assertions) {
                self.promoted = samples;
            }
        }
        Ok(self.layout(place))
    }

    /// The sample paths of the last promotion, once. Always empty in release builds.
    pub(super) fn take_promoted(&mut self) -> Vec<Vec<u8>> {
        mem::take(&mut self.promoted)
    }
}

impl HotSet {
    /// Counts one URL. Promotes the rule set when enough were counted, and then returns the sample
    /// paths it used.
    #[cold]
    fn count(
        &mut self,
        (place, rules): (u32, &RuleSet<'_>),
        path: &[u8],
        many: u32,
        room: &mut usize,
    ) -> Result<Vec<Vec<u8>>> {
        if self.place != place {
            if mem::take(&mut self.is_asked) && !matches!(self.layout, Layout::Stored) {
                self.met = 2 * many;
            }
            self.met = self.met.saturating_sub(1);
            if self.met > 0 {
                return Ok(Vec::new());
            }
            *room += self.layout.size();
            *self = Self { place, ..Self::default() };
        }
        self.met += 1;
        // Neighbours in a list are alike, so the samples are taken far apart. Where two sets take turns the count comes to the same number
        // again and again.
        if self.met.is_multiple_of((many / SAMPLES as u32).max(1)) && self.samples.len() < SAMPLES {
            self.samples.push(path[..path.len().min(SAMPLE_LEN)].to_vec());
        }
        if self.met < many {
            return Ok(Vec::new());
        }
        let samples = mem::take(&mut self.samples);
        let layout = Layout::new(rules, &samples, *room)?;
        *room -= layout.size();
        self.layout = layout;
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RuleKind;
    use crate::snapshot::draft::SetRule;
    use crate::snapshot::ruleset::pack;

    #[test]
    fn a_set_is_told_when_many_paths_met_it_and_makes_room_when_they_stay_away() {
        let texts = ["/*?a=", "/*?b=", "/x/*.c", "/*/d/*", "*.pdf", "/x/*/y/*/z"];
        let rules =
            texts.map(|text| SetRule { text: text.as_bytes().into(), anchored: false, kind: RuleKind::Disallow });
        let (sets, patterns) = pack(&rules).unwrap();
        let set = RuleSet::decode(&sets, 0, &patterns).unwrap();
        let meets = |hot: &mut HotSets, place, path: &[u8]| {
            let layout = hot.meet(place, &set, path).unwrap();
            layout.is_some_and(|layout| !matches!(layout, Layout::Stored))
        };
        let mut turns = HotSets::after(1000);
        let long = [b"/".as_slice(), &[b'x'; 5000]].concat();
        for turn in 0..5000 {
            let place = 7 + if turn < 30 || turn % 2 == 1 { 0 } else { KEPT as u32 };
            assert!(!meets(&mut turns, place, &long));
        }
        let kept: Vec<usize> = turns.sets[7].samples.iter().map(Vec::len).collect();
        assert!(kept.len() <= SAMPLES && kept.iter().all(|len| *len <= SAMPLE_LEN), "{} samples", kept.len());
        let mut hot = HotSets::after(10);
        let mut meet = |place| meets(&mut hot, place, b"/x/a.html");
        assert!((0..9).all(|_| !meet(7)) && meet(7) && meet(7));
        let other = 7 + KEPT as u32;
        assert!(!meet(other) && meet(7), "it takes more than one to drive it out");
        assert!((0..40).any(|_| meet(other)), "but when nobody asks for it any more it goes");
    }
}
