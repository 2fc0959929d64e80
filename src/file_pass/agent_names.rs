//! The agent names that sites wrote, and the files that name them.
//!
//! A line `User-agent: MJ12bot` names `mj12bot`. RFC 9309's alphabet has no digits, so by the RFC
//! the same line names `mj`, and the snapshot stores both names. Judging the agent `mj` needs the
//! second one. A list of the names that sites wrote must not contain it. This module removes such
//! *truncated* names. A name that is truncated at a blank (`Kangaroo Bot`) is kept, because a site
//! may well mean the first word.

use crate::agent::is_token_byte;
use crate::error::Result;
use crate::profile::Profile;
use crate::robots::RobotsRef;
use crate::snapshot::Snapshot;
use crate::snapshot::format::{NAMED_LEN, NONE, NamedRow, Section};
use crate::snapshot::text_reader::TextReader;
use std::collections::HashSet;

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
        let truncated = (0..snapshot.token_count()?)
            .map(|number| number_of_truncated(snapshot, number))
            .collect::<Result<_>>()?;
        Ok(Self {
            snapshot,
            profile: snapshot.profile()?,
            truncated,
        })
    }

    /// The number of names in the snapshot, including truncated ones.
    pub(crate) fn len(&self) -> usize {
        self.truncated.len()
    }

    /// The rows of the agents that a robots.txt names, without truncated names, sorted by number.
    ///
    /// The text of the file is decompressed only if it may name a truncated agent.
    pub(super) fn named(&self, file: u32, texts: &mut TextReader) -> Result<Vec<NamedRow>> {
        let view = self.snapshot.view();
        let rows = view.named(&view.file(file)?)?;
        let rows: Vec<NamedRow> = rows.iter().map(NamedRow::decode).collect();
        let truncated = rows
            .iter()
            .filter_map(|row| self.truncated.get(row.token as usize));
        let truncated: HashSet<u32> = truncated
            .copied()
            .filter(|&number| number != NONE)
            .collect();
        if truncated.is_empty() {
            return Ok(rows);
        }
        // A site may also write the short name in another line, so the text decides.
        let written = written_tokens(&texts.read(file)?, self.profile);
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            if !truncated.contains(&row.token)
                || written.contains(self.snapshot.token(row.token.into())?)
            {
                kept.push(row);
            }
        }
        Ok(kept)
    }
}

/// For each of these names, sorted by number, the number of robots.txt files that name it.
///
/// Cost: a pass over the named agents of all files, truncated names included.
pub(crate) fn count_files_naming(snapshot: &Snapshot, numbers: &[u32]) -> Result<Vec<u64>> {
    snapshot.verify_section(Section::Named)?;
    let mut counts = vec![0; numbers.len()];
    for row in snapshot.section(Section::Named).as_chunks::<NAMED_LEN>().0 {
        if let Ok(index) = numbers.binary_search(&NamedRow::decode(row).token) {
            counts[index] += 1;
        }
    }
    Ok(counts)
}

/// The truncated form of a name: its prefix in RFC 9309's alphabet. `None` if the name has only
/// characters of that alphabet, or is truncated at a blank.
fn truncate(name: &[u8]) -> Option<&[u8]> {
    let end = name.iter().position(|&b| !is_token_byte(b))?;
    (end > 0 && name[end] != b' ').then(|| &name[..end])
}

/// The number of the truncated form of a name, or [`NONE`].
fn number_of_truncated(snapshot: &Snapshot, number: u64) -> Result<u32> {
    let Some(short) = truncate(snapshot.token(number)?) else {
        return Ok(NONE);
    };
    Ok(snapshot.token_number(short)?.unwrap_or(NONE))
}

/// The product tokens in a text that are not truncated names.
fn written_tokens(text: &[u8], profile: Profile) -> HashSet<Vec<u8>> {
    let robots = RobotsRef::parse(text, profile);
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
        let text = b"user-agent: MJ12bot\n\
                     user-agent: Foo/2\n\
                     user-agent: Bar Bot\n\
                     user-agent: *\n\
                     user-agent: mj*";
        let written = written_tokens(text, Profile::Google);
        for (name, expected) in [
            ("mj", true),
            ("foo", true),
            ("bar", true),
            ("mj12bot", false),
        ] {
            assert_eq!(written.contains(name.as_bytes()), expected, "{name}");
        }
        assert!(!written_tokens(b"user-agent: MJ12bot", Profile::Google).contains(&b"mj"[..]));
    }
}
