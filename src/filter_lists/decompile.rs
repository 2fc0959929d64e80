//! Takes the entries out of a compiled file again, for a file of these and further lists.

use super::entries::{Entries, HostKind, PathEntry};
use super::format::{PathGroupRow, WordRow};
use super::read::FilterLists;
use super::word::{WordEntries, WordKind};
use super::words::{word_count, word_text};
use crate::error::Result;
use crate::snapshot::format::Section;

impl FilterLists {
    /// The entries of all lists, which are numbered from `first_list` on. The file was verified, so
    /// its sections are walked once, and the numbers are those of its lists.
    pub(super) fn entries(&self, first_list: u16) -> Result<(Entries, WordEntries)> {
        let mut entries = Entries::default();
        self.for_each_host(|number, stored| {
            let class = self.class_of(number)?;
            let kinds = [
                HostKind::Domain,
                HostKind::DomainException,
                HostKind::Host,
                HostKind::HostException,
            ];
            for (set, kind) in class.sets().into_iter().zip(kinds) {
                for list in self.renumbered(set, first_list)? {
                    let stored = stored.iter().copied();
                    entries.hosts.push_stored(stored, kind, list);
                }
            }
            if class.has_paths {
                self.add_paths(number, stored, first_list, &mut entries)?;
            }
            Ok(())
        })?;
        Ok((entries, self.word_entries(first_list)?))
    }

    /// Adds the entries for paths of the host with a number.
    fn add_paths(
        &self,
        number: u32,
        stored: &[u8],
        first_list: u16,
        entries: &mut Entries,
    ) -> Result<()> {
        let groups = self.file.section(Section::PathGroups);
        for group in self.groups_of(number)? {
            let end = PathGroupRow::decode(groups, group + 1)?.first_entry;
            let group = PathGroupRow::decode(groups, group)?;
            for entry in group.first_entry..end {
                let pattern = self.path_pattern(entry)?;
                for list in self.renumbered(pattern.row.set, first_list)? {
                    let host = stored.to_vec();
                    let entry = PathEntry::of_pattern(host, &group, &pattern, list);
                    entries.paths.push(entry);
                }
            }
        }
        Ok(())
    }

    fn word_entries(&self, first_list: u16) -> Result<WordEntries> {
        let rows = self.file.section(Section::Words);
        let mut words = WordEntries::default();
        for number in 0..word_count(&self.file) {
            let row = WordRow::decode(rows, number)?;
            let text = word_text(&self.file, number)?;
            for (set, kind) in [
                (row.word, WordKind::Word),
                (row.soft_word, WordKind::SoftWord),
                (row.substring, WordKind::Substring),
            ] {
                for list in self.renumbered(set, first_list)? {
                    words.push(text, kind, list);
                }
            }
        }
        Ok(words)
    }

    /// The lists of a set, 0 for none, by their new numbers.
    fn renumbered(&self, set: u16, first_list: u16) -> Result<impl Iterator<Item = u16> + use<'_>> {
        let lists = match set {
            0 => &[],
            set => self.lists_of(set)?,
        };
        // There are at most 65,535 lists together.
        let numbers = lists.iter().map(|list| u16::from_le_bytes(*list));
        Ok(numbers.map(move |list| first_list.saturating_add(list)))
    }
}
