//! The entry that decides about a URL: its lists and its text.

use super::format::{ClassRow, PathGroupRow};
use super::read::FilterLists;
use super::words::word_text;
use crate::bytes::wire::{bytes, u32_at};
use crate::error::{Error, Result};
use crate::snapshot::format::Section;
use crate::url::is_address;

/// An entry that decides about URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListDecision {
    pub is_exception: bool,
    /// The set of its lists.
    pub(super) set: u16,
    pub(super) entry: EntryPlace,
}

/// Where the text of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum EntryPlace {
    Domain {
        host: u32,
    },
    Host {
        host: u32,
    },
    Path {
        host: u32,
        group: u32,
        entry: u32,
    },
    Word {
        word: u32,
    },
    /// The first soft word of a URL, and the one that made them enough.
    SoftWords {
        first: u32,
        last: u32,
    },
    Substring {
        word: u32,
    },
}

impl ListDecision {
    /// The decision of an entry that is not an exception.
    pub(super) fn listed(set: u16, entry: EntryPlace) -> Self {
        Self {
            is_exception: false,
            set,
            entry,
        }
    }
}

/// The entry that decides about a URL.
#[derive(Clone, Copy, Debug)]
pub struct ListMatch<'l> {
    lists: &'l FilterLists,
    decision: ListDecision,
}

impl ClassRow {
    /// The entry for the whole host that decides: an exception if there is one, and of equal ones
    /// that of the list that comes first.
    pub(super) fn decision(
        &self,
        host: u32,
        is_whole: bool,
        first_list: impl Fn(u16) -> Result<u16>,
    ) -> Result<Option<ListDecision>> {
        let entries = [
            (true, self.domain_exception, EntryPlace::Domain { host }),
            (true, self.host_exception, EntryPlace::Host { host }),
            (false, self.domain, EntryPlace::Domain { host }),
            (false, self.host, EntryPlace::Host { host }),
        ];
        let mut deciding: Option<ListDecision> = None;
        for (is_exception, set, entry) in entries {
            let counts = set != 0 && (is_whole || matches!(entry, EntryPlace::Domain { .. }));
            if !counts {
                continue;
            }
            let is_earlier = match &deciding {
                None => true,
                Some(other) if other.is_exception != is_exception => false,
                Some(other) => first_list(set)? < first_list(other.set)?,
            };
            if is_earlier {
                deciding = Some(ListDecision {
                    is_exception,
                    set,
                    entry,
                });
            }
        }
        Ok(deciding)
    }
}

impl FilterLists {
    /// The lists of a set, in their order.
    pub(super) fn lists_of(&self, set: u16) -> Result<&[[u8; 2]]> {
        let sets = self.file.section(Section::ListSets);
        let count = u32_at(sets, 0, "the number of sets")? as usize;
        let set = usize::from(set);
        let Some(before) = set.checked_sub(1).filter(|_| set < count) else {
            return Err(Error::corrupt(format!("a set of lists {set} of {count}")));
        };
        let start = u32_at(sets, 4 + 4 * before, "the end of a set")? as usize;
        let end = u32_at(sets, 4 + 4 * set, "the end of a set")? as usize;
        let ends_len = count.saturating_mul(4).saturating_add(4);
        let at = start.saturating_mul(2).saturating_add(ends_len);
        let len = end.saturating_sub(start).saturating_mul(2);
        Ok(bytes(sets, at, len, "a set of lists")?.as_chunks().0)
    }

    /// The text of a word.
    fn word(&self, word: u32) -> Result<String> {
        let text = word_text(&self.file, word)?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// The first list of a set.
    pub(super) fn first_list(&self, set: u16) -> Result<u16> {
        let first = self.lists_of(set)?.first();
        first
            .map(|list| u16::from_le_bytes(*list))
            .ok_or_else(|| Error::corrupt("an empty set of lists"))
    }
}

impl<'l> ListMatch<'l> {
    pub(crate) fn new(lists: &'l FilterLists, decision: ListDecision) -> Self {
        Self { lists, decision }
    }

    pub(crate) fn decision(&self) -> ListDecision {
        self.decision
    }

    /// Whether the entry is an exception, so that the URL is not listed.
    pub fn is_exception(&self) -> bool {
        self.decision.is_exception
    }

    /// The names of the lists that have the entry, in their order.
    pub fn lists(&self) -> impl Iterator<Item = &'l str> + use<'l> {
        let names = &self.lists.metadata.lists;
        let numbers = self.list_numbers();
        numbers.filter_map(|list| names.get(list).map(|list| list.name.as_str()))
    }

    /// These names with commas between them, as columns of tables have them.
    pub(crate) fn list_names(&self) -> String {
        self.lists().collect::<Vec<_>>().join(",")
    }

    /// The positions of these lists in [`ListsMetadata::lists`](super::ListsMetadata::lists), ascending.
    pub fn list_numbers(&self) -> impl Iterator<Item = usize> + use<'l> {
        // A set of a damaged file has no lists.
        let lists = self.lists.lists_of(self.decision.set).unwrap_or_default();
        let numbers = lists.iter().map(|list| u16::from_le_bytes(*list).into());
        let count = self.lists.metadata.lists.len();
        // The lists of a set ascend. A forged set could repeat one with a long name.
        let mut next = 0;
        numbers.map_while(move |list: usize| {
            if list < next || list >= count {
                return None;
            }
            next = list + 1;
            Some(list)
        })
    }

    /// The entry as a line of a list: `example.com`, `=example.com` for a host without its
    /// subdomains, or a URL prefix. Exceptions begin with `@@`. Words are `word:casino`,
    /// `soft:live,adult` for the first and the last of those that were needed, and
    /// `substring:bigwin`.
    ///
    /// # Errors
    /// [`DamagedLists`](crate::ErrorKind::DamagedLists) if the bytes contradict each other.
    pub fn entry(&self) -> Result<String> {
        self.entry_text().map_err(|err| self.lists.damage(err))
    }

    fn entry_text(&self) -> Result<String> {
        let mark = if self.is_exception() { "@@" } else { "" };
        let lists = self.lists;
        Ok(match self.decision.entry {
            EntryPlace::Word { word } => format!("word:{}", lists.word(word)?),
            EntryPlace::Substring { word } => format!("substring:{}", lists.word(word)?),
            EntryPlace::SoftWords { first, last } if first == last => {
                format!("soft:{}", lists.word(first)?)
            }
            EntryPlace::SoftWords { first, last } => {
                format!("soft:{},{}", lists.word(first)?, lists.word(last)?)
            }
            EntryPlace::Domain { host } => format!("{mark}{}", lists.host_text(host)?),
            EntryPlace::Host { host } => {
                let text = lists.host_text(host)?;
                // An address has no subdomains.
                let exact = if is_address(text.as_bytes()) { "" } else { "=" };
                format!("{mark}{exact}{text}")
            }
            EntryPlace::Path { host, group, entry } => {
                let group = PathGroupRow::decode(lists.file.section(Section::PathGroups), group)?;
                let pattern = lists.path_pattern(entry)?;
                let scheme = group.scheme.name().map(|name| format!("{name}://"));
                // `*.gif/` would be taken for a part of a path.
                let domain = match (group.is_domain, &scheme) {
                    (false, _) => "",
                    (true, Some(_)) => "*.",
                    (true, None) => "||",
                };
                let port = if group.port == 0 {
                    String::new()
                } else {
                    format!(":{}", group.port)
                };
                let end = if pattern.row.is_anchored { "$" } else { "" };
                // An entry for a scheme or a port has all paths.
                let has_origin = group.port != 0 || scheme.is_some();
                let path = String::from_utf8_lossy(pattern.text);
                let path = match &*path {
                    "/" if has_origin && end.is_empty() => "",
                    path => path,
                };
                format!(
                    "{mark}{}{domain}{}{port}{path}{end}",
                    scheme.unwrap_or_default(),
                    lists.host_text(host)?,
                )
            }
        })
    }
}
