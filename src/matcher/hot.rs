//! The rule sets that many URLs meet: each is laid out anew in memory, by what some of these URLs are like.
//!
//! A snapshot has its rules as they are best for a few URLs of any of millions of sites. But a few sites make up much of most lists, and
//! where thousands of paths meet the same rules it pays to look at some of these paths first, and to make a [`Table`] of the rules.

use super::table::Table;
use crate::error::Result;
use crate::snapshot::ruleset::RuleSet;

/// URLs that meet a rule set before its table is made, which costs as much as matching about as many.
const MANY: u32 = 4096;

/// How many of the paths until then are looked at.
const SAMPLES: usize = 256;

/// How much of each is looked at: a line may be of megabytes, and these are kept.
const SAMPLE_LEN: usize = 256;

/// Rule sets kept, each at the place that its number gives.
const KEPT: usize = 256;

/// The rule sets that many URLs of one thread met.
#[derive(Debug)]
pub(crate) struct HotSets {
    sets: Box<[HotSet; KEPT]>,
    many: u32,
}

#[derive(Debug, Default)]
struct HotSet {
    /// The place of the rule set in the snapshot.
    place: u32,
    /// URLs that met it, less those that met others which would stand here.
    met: u32,
    samples: Vec<Vec<u8>>,
    table: Option<Box<Table>>,
}

impl Default for HotSets {
    fn default() -> Self {
        Self::after(MANY)
    }
}

impl HotSets {
    /// Sets that have tables after so many URLs.
    pub(super) fn after(many: u32) -> Self {
        Self { sets: Box::new(std::array::from_fn(|_| HotSet::default())), many }
    }

    /// Counts that a path meets the rules at a place; gives their table, if many did.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if a rule's pattern lies outside the file.
    #[inline(always)]
    pub(super) fn meet(&mut self, place: u32, rules: &RuleSet<'_>, path: &[u8]) -> Result<Option<&Table>> {
        let set = &mut self.sets[place as usize % KEPT];
        if set.place == place && set.table.is_some() {
            set.met = self.many * 2;
            return Ok(set.table.as_deref());
        }
        if Table::fits(rules) {
            set.count(place, rules, path, self.many)?;
        }
        Ok(None)
    }
}

impl HotSet {
    #[cold]
    fn count(&mut self, place: u32, rules: &RuleSet<'_>, path: &[u8], many: u32) -> Result<()> {
        if self.place != place {
            self.met = self.met.saturating_sub(1);
            if self.met > 0 {
                return Ok(());
            }
            *self = Self { place, ..Self::default() };
        }
        self.met += 1;
        // Neighbours in a list are alike, so the samples are taken far apart. Where two sets take turns the count comes to the same number
        // again and again.
        if self.met.is_multiple_of((many / SAMPLES as u32).max(1)) && self.samples.len() < SAMPLES {
            self.samples.push(path[..path.len().min(SAMPLE_LEN)].to_vec());
        }
        if self.met >= many {
            self.table = Some(Box::new(Table::new(rules, &std::mem::take(&mut self.samples))?));
        }
        Ok(())
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
        let meets = |hot: &mut HotSets, place, path: &[u8]| hot.meet(place, &set, path).unwrap().is_some();
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
        assert!((0..10).all(|_| !meet(7)) && meet(7) && meet(7));
        let other = 7 + KEPT as u32;
        assert!(!meet(other) && meet(7), "it takes more than one to drive it out");
        assert!((0..40).any(|_| meet(other)), "but when nobody asks for it any more it goes");
    }
}
