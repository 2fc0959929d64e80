//! Which names a robots.txt was meant to name: those in a snapshot, without what only cutting made of them.
//!
//! A line `User-agent: MJ12bot` names `mj12bot`, and to the RFC, whose alphabet has no digits, `mj`. Who asks about an agent `mj` must find
//! that. Who lists the names that sites write must not: nobody wrote this one. Where the cut falls behind a word (`Kangaroo Bot`), what
//! stands before it may well be meant.

use crate::agent::is_token_byte;
use crate::analysis::coverage::{Coverage, coverage};
use crate::error::Result;
use crate::matcher::RuleCache;
use crate::profile::Profile;
use crate::robots::Robots;
use crate::snapshot::Snapshot;
use crate::snapshot::format::{FileRow, NONE, NamedRow};
use crate::snapshot::text::Unpacker;
use std::collections::{HashMap, HashSet};

/// What tells names that were written from cuts, for one snapshot. Four bytes a name.
pub(crate) struct Names<'s> {
    snapshot: &'s Snapshot,
    profile: Profile,
    /// For each name the number of the one that it is cut to within a word; [`NONE`] for most.
    cuts: Vec<u32>,
}

impl<'s> Names<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot) -> Result<Self> {
        let cut = |number: u64| {
            let name = snapshot.token(number)?;
            let found = cut_of(name).map(|cut| snapshot.token_number(cut)).transpose()?;
            Ok(found.flatten().unwrap_or(NONE))
        };
        let profile = snapshot.profile()?;
        Ok(Self { snapshot, profile, cuts: (0..snapshot.token_count()?).map(cut).collect::<Result<_>>()? })
    }

    /// How many names the snapshot has, cuts among them.
    pub(crate) fn len(&self) -> usize {
        self.cuts.len()
    }
}

/// Reads what robots.txt files say to names; one for each thread.
pub(crate) struct Reader<'n, 's> {
    names: &'n Names<'s>,
    unpacker: Option<Unpacker>,
    reaches: HashMap<u32, Coverage>,
    hot: RuleCache,
}

/// Rule sets that are remembered: most files refer to few others.
const KNOWN: usize = 1 << 14;

impl<'n, 's> Reader<'n, 's> {
    pub(crate) fn new(names: &'n Names<'s>) -> Self {
        Self { names, unpacker: None, reaches: HashMap::new(), hot: RuleCache::default() }
    }

    /// What a robots.txt says to the names that it was meant to name, sorted by number. Its text is read only where a name may be
    /// a cut.
    pub(crate) fn named(&mut self, file: &FileRow) -> Result<Vec<NamedRow>> {
        let rows: Vec<NamedRow> = self.names.snapshot.view().named(file)?.iter().map(NamedRow::decode).collect();
        let cut_of = |row: &NamedRow| self.names.cuts.get(row.token as usize).copied().filter(|&cut| cut != NONE);
        let cuts: HashSet<u32> = rows.iter().filter_map(cut_of).collect();
        if cuts.is_empty() {
            return Ok(rows);
        }
        let written = written(&self.text(file)?);
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            if !cuts.contains(&row.token) || written.contains(self.names.snapshot.token(row.token.into())?) {
                kept.push(row);
            }
        }
        Ok(kept)
    }

    /// The condensed text of a robots.txt.
    pub(crate) fn text(&mut self, file: &FileRow) -> Result<Vec<u8>> {
        let snapshot = self.names.snapshot;
        let unpacker = match &mut self.unpacker {
            Some(unpacker) => unpacker,
            none => none.insert(snapshot.unpacker()?),
        };
        unpacker.unpack(snapshot.frame(file)?, file.raw_len as usize)
    }

    /// How much the rules at a place refuse; where there are none ([`NONE`]), nothing.
    pub(crate) fn coverage(&mut self, place: u32) -> Result<Coverage> {
        if place == NONE {
            return Ok(Coverage::Not);
        }
        if let Some(known) = self.reaches.get(&place) {
            return Ok(*known);
        }
        let view = self.names.snapshot.view();
        let reach = coverage(&view, self.names.profile, place, &view.rules(place)?, &mut self.hot)?;
        if self.reaches.len() >= KNOWN {
            self.reaches.clear();
        }
        self.reaches.insert(place, reach);
        Ok(reach)
    }
}

/// What remains of a name that is cut within a word.
fn cut_of(name: &[u8]) -> Option<&[u8]> {
    let end = name.iter().position(|&b| !is_token_byte(b))?;
    (end > 0 && name[end] != b' ').then(|| &name[..end])
}

/// The product tokens that are more than cuts.
fn written(text: &[u8]) -> HashSet<Vec<u8>> {
    // Which lines name agents does not depend on the profile.
    let robots = Robots::parse(text, Profile::default());
    let named = robots.groups().iter().flat_map(|group| group.agents()).map(|line| line.named());
    let whole = named.filter(|named| named.extended.as_deref().is_none_or(|name| cut_of(name).is_none()));
    whole.map(|named| named.token.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_within_a_word_makes_no_name() {
        let cut = |name: &str| cut_of(name.as_bytes()).map(|cut| String::from_utf8_lossy(cut).into_owned());
        assert_eq!(cut("mj12bot").as_deref(), Some("mj"));
        assert_eq!(cut("panscient.com").as_deref(), Some("panscient"));
        for name in ["googlebot", "kangaroo bot", "360spider", ""] {
            assert_eq!(cut(name), None, "{name}");
        }
        let text = b"user-agent: MJ12bot\nuser-agent: Foo/2\nuser-agent: Bar Bot\nuser-agent: *\nuser-agent: mj*";
        let written = written(text);
        for (name, expected) in [("mj", true), ("foo", true), ("bar", true), ("mj12bot", false)] {
            assert_eq!(written.contains(name.as_bytes()), expected, "{name}");
        }
        assert!(!crate::analysis::census::names::written(b"user-agent: MJ12bot").contains(&b"mj"[..]));
    }
}
