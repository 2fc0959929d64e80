//! The agent names that sites wrote, and the rules of robots.txt files for them.
//!
//! A line `User-agent: MJ12bot` names `mj12bot`. RFC 9309's alphabet has no digits, so by the RFC
//! the same line names `mj`, and the snapshot stores both names. Judging the agent `mj` needs the
//! second one. A list of the names that sites wrote must not contain it. This module removes such
//! *truncated* names. A name that is truncated at a blank (`Kangaroo Bot`) is kept, because a site
//! may well mean the first word.

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

/// The agent names of a snapshot, and which of them may be truncated. Four bytes per name.
pub(crate) struct AgentNames<'s> {
    snapshot: &'s Snapshot,
    profile: Profile,
    /// For each name the number of its truncated form; [`NONE`] for most.
    truncated: Vec<u32>,
}

impl<'s> AgentNames<'s> {
    /// Looks up the truncated form of every name. Cost: a pass over all names, with a binary search
    /// for each name that has digits or the like.
    pub(crate) fn new(snapshot: &'s Snapshot) -> Result<Self> {
        let number_of_truncated = |number: u64| {
            let name = snapshot.token(number)?;
            let found = truncate(name)
                .map(|short| snapshot.token_number(short))
                .transpose()?;
            Ok(found.flatten().unwrap_or(NONE))
        };
        let profile = snapshot.profile()?;
        let truncated = (0..snapshot.token_count()?)
            .map(number_of_truncated)
            .collect::<Result<_>>()?;
        Ok(Self {
            snapshot,
            profile,
            truncated,
        })
    }

    /// The number of names in the snapshot, including truncated ones.
    pub(crate) fn len(&self) -> usize {
        self.truncated.len()
    }
}

/// Reads the named agents of robots.txt files and the coverage of their rules. One per thread.
pub(crate) struct CoverageReader<'n, 's> {
    names: &'n AgentNames<'s>,
    unpacker: Option<Unpacker>,
    /// The coverage of rule sets by their places. Most files refer to the same few rule sets.
    coverages: HashMap<u32, Coverage>,
    rule_cache: RuleCache,
}

/// The number of cached coverages. When full, the cache is cleared.
const MAX_CACHED: usize = 1 << 14;

impl<'n, 's> CoverageReader<'n, 's> {
    pub(crate) fn new(names: &'n AgentNames<'s>) -> Self {
        Self {
            names,
            unpacker: None,
            coverages: HashMap::new(),
            rule_cache: RuleCache::default(),
        }
    }

    /// The rows of the agents that a robots.txt names, without truncated names, sorted by number.
    ///
    /// The text of the file is decompressed only if it may name a truncated agent.
    pub(crate) fn named(&mut self, file: &FileRow) -> Result<Vec<NamedRow>> {
        let rows: Vec<NamedRow> = self
            .names
            .snapshot
            .view()
            .named(file)?
            .iter()
            .map(NamedRow::decode)
            .collect();
        let truncated = rows
            .iter()
            .filter_map(|row| self.names.truncated.get(row.token as usize));
        let truncated: HashSet<u32> = truncated
            .copied()
            .filter(|&number| number != NONE)
            .collect();
        if truncated.is_empty() {
            return Ok(rows);
        }
        // A site may also write the short name in another line, so the text decides.
        let written = written_tokens(&self.text(file)?);
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            if !truncated.contains(&row.token)
                || written.contains(self.names.snapshot.token(row.token.into())?)
            {
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
        unpacker.unpack(snapshot.frame(file)?)
    }

    /// How much the rules at a place refuse. Without rules ([`NONE`]) nothing is refused.
    pub(crate) fn coverage(&mut self, place: u32) -> Result<Coverage> {
        if place == NONE {
            return Ok(Coverage::Not);
        }
        if let Some(cached) = self.coverages.get(&place) {
            return Ok(*cached);
        }
        let view = self.names.snapshot.view();
        let found = coverage(
            &view,
            self.names.profile,
            place,
            &view.rules(place)?,
            &mut self.rule_cache,
        )?;
        if self.coverages.len() >= MAX_CACHED {
            self.coverages.clear();
        }
        self.coverages.insert(place, found);
        Ok(found)
    }
}

/// The truncated form of a name: its prefix in RFC 9309's alphabet. `None` if the name has only
/// characters of that alphabet, or is truncated at a blank.
fn truncate(name: &[u8]) -> Option<&[u8]> {
    let end = name.iter().position(|&b| !is_token_byte(b))?;
    (end > 0 && name[end] != b' ').then(|| &name[..end])
}

/// The product tokens in a text that are not truncated names.
fn written_tokens(text: &[u8]) -> HashSet<Vec<u8>> {
    // The names in user-agent lines do not depend on the profile.
    let robots = Robots::parse(text, Profile::default());
    let named = robots
        .groups()
        .iter()
        .flat_map(|group| group.agents())
        .map(|line| line.named());
    let whole = named.filter(|named| {
        named
            .extended
            .as_deref()
            .is_none_or(|name| truncate(name).is_none())
    });
    whole.map(|named| named.token.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_truncated_within_a_word_are_not_written() {
        let truncated = |name: &str| {
            truncate(name.as_bytes()).map(|short| String::from_utf8_lossy(short).into_owned())
        };
        assert_eq!(truncated("mj12bot").as_deref(), Some("mj"));
        assert_eq!(truncated("panscient.com").as_deref(), Some("panscient"));
        for name in ["googlebot", "kangaroo bot", "360spider", ""] {
            assert_eq!(truncated(name), None, "{name}");
        }
        let text = b"user-agent: MJ12bot\nuser-agent: Foo/2\nuser-agent: Bar Bot\nuser-agent: *\nuser-agent: mj*";
        let written = written_tokens(text);
        for (name, expected) in [
            ("mj", true),
            ("foo", true),
            ("bar", true),
            ("mj12bot", false),
        ] {
            assert_eq!(written.contains(name.as_bytes()), expected, "{name}");
        }
        assert!(!written_tokens(b"user-agent: MJ12bot").contains(&b"mj"[..]));
    }
}
