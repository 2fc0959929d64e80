//! Groups of hosts or domains from a list, such as countries or the buckets of a ranking.

use super::name_list::{NameLine, canonical_name, cut, read_lines};
use super::unit_kind::UnitKind;
use robosieve::Result;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::BufRead;
use xxhash_rust::xxh3::xxh3_128;

/// The group of the units that a [`GroupList`] does not list.
pub const NO_GROUP: &str = "(no group)";

/// The most groups. A list with more has probably no groups in its second column.
const MAX_GROUPS: usize = 10_000;

/// The longest name of a group, in characters.
const MAX_NAME: usize = 200;

/// Groups of hosts or domains, read from lines of `name,group`.
///
/// Memory: about 60 bytes per line.
#[derive(Clone, Debug)]
pub struct GroupList {
    kind: UnitKind,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// By the hashes of the names of units.
    units: HashMap<u128, ListedUnit>,
    overruled: Overruled,
}

/// A unit of the list, and the line that decides on its group.
#[derive(Clone, Copy, Debug)]
struct ListedUnit {
    group: u32,
    line: u64,
    /// Whether the line has the name of the unit, and not that of one of its hosts.
    is_own_name: bool,
}

/// Lines that give a unit another group than the line that decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overruled {
    /// Their number.
    pub lines: u64,
    /// The first of them, and the line that decides instead; 0 if there is none.
    pub first: [u64; 2],
}

impl Overruled {
    fn add(&mut self, line: u64, by: u64) {
        if self.lines == 0 {
            self.first = [line, by];
        }
        self.lines += 1;
    }
}

impl GroupList {
    /// Reads lines of a host or domain, a TAB or a comma, and the name of its group, for reports
    /// that count these units. The group is the rest of the line, without quotes around it. Blank
    /// lines and lines that begin with `#` are skipped, and so is a first line whose first field
    /// has no dot and no colon, which is a header.
    ///
    /// A line with a host gives its registrable domain the group, if the units are domains. Of
    /// several hosts of a domain, a line with the name of the domain itself decides, else the first
    /// line. [`overruled`](Self::overruled) counts the lines that say something else.
    ///
    /// # Errors
    /// `ErrorKind::BadList` with the number of a line that has no
    /// name or no group, that gives a unit by its own name a second group, or that is longer than
    /// 64 KiB; and for more than 10,000 groups. Errors of the reader.
    pub fn read(input: impl BufRead, kind: UnitKind) -> Result<Self> {
        let mut list = Self {
            kind,
            names: Vec::new(),
            numbers: HashMap::new(),
            units: HashMap::new(),
            overruled: Overruled::default(),
        };
        let fields = "a host or domain and a group";
        read_lines(input, fields, |line| list.add_line(&line))?;
        Ok(list)
    }

    /// The names of the groups, in the order of their first lines.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of units that are listed.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether no unit is listed.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The lines that give a unit another group than the line that decides.
    pub fn overruled(&self) -> Overruled {
        self.overruled
    }

    /// The number of a unit's group in [`names`](Self::names), by a host of the unit in canonical
    /// form.
    pub(super) fn group_of_host(&self, host: &str) -> Option<u32> {
        let unit = xxh3_128(self.kind.unit_of(host).as_bytes());
        self.units.get(&unit).map(|listed| listed.group)
    }

    fn add_line(&mut self, line: &NameLine<'_>) -> Result<(), String> {
        // A ranking has its names in the second column, and a number is a host too (an address).
        if !line.first.is_empty() && line.first.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!(
                "{:?} is a number; give the host or domain first, and then its group",
                cut(line.first)
            ));
        }
        if line.is_first && !line.first.contains(['.', ':']) {
            return Ok(());
        }
        let name = canonical_name(line.first)?;
        let group = self.number_of(&unquoted(line.second))?;
        let unit = self.kind.unit_of(&name);
        let listed = ListedUnit {
            group,
            line: line.number,
            is_own_name: unit == name,
        };
        match self.units.entry(xxh3_128(unit.as_bytes())) {
            Entry::Vacant(vacant) => {
                vacant.insert(listed);
            }
            Entry::Occupied(mut occupied) => {
                let earlier = *occupied.get();
                let is_same = earlier.group == group;
                if !is_same && earlier.is_own_name && listed.is_own_name {
                    return Err(format!(
                        "line {} has {unit:?} in another group; keep one of the two",
                        earlier.line
                    ));
                }
                // The unit's own name decides, else the first line.
                if listed.is_own_name && !earlier.is_own_name {
                    occupied.insert(listed);
                    if !is_same {
                        self.overruled.add(earlier.line, listed.line);
                    }
                } else if !is_same {
                    self.overruled.add(listed.line, earlier.line);
                }
            }
        }
        Ok(())
    }

    /// The number of a group, which is new at its first line.
    fn number_of(&mut self, name: &str) -> Result<u32, String> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        if name.is_empty() || name == NO_GROUP {
            return Err(format!(
                "{name:?} is not the name of a group; leave out the hosts without a group"
            ));
        }
        if name.chars().count() > MAX_NAME {
            return Err(format!(
                "the group {:?} is longer than {MAX_NAME} characters; shorten it",
                cut(name)
            ));
        }
        if self.names.len() >= MAX_GROUPS {
            return Err(format!(
                "more than {} groups; is the second field a group?",
                MAX_GROUPS
            ));
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }
}

/// A field of CSV without the quotes around it.
fn unquoted(field: &str) -> String {
    match field
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inner) => inner.replace("\"\"", "\"").trim().to_owned(),
        None => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, kind: UnitKind) -> Result<GroupList> {
        GroupList::read(text.as_bytes(), kind)
    }

    fn group<'l>(list: &'l GroupList, host: &str) -> Option<&'l str> {
        let number = list.group_of_host(host)?;
        Some(list.names[number as usize].as_str())
    }

    #[test]
    fn lines_give_units_their_groups() {
        let text = "\u{feff}domain\tgroup\r\n# a comment\n\nwww.News.example.\tdaily, \"large\"\r\n\
                    b\u{fc}cher.example,\"a \"\"quoted\"\", one\"\n[::1],local\n1.2.3.4,local\n";
        let list = read(text, UnitKind::Domain).unwrap();
        assert_eq!(
            list.names(),
            ["daily, \"large\"", "a \"quoted\", one", "local"]
        );
        assert_eq!(group(&list, "blog.news.example"), Some("daily, \"large\""));
        assert_eq!(
            group(&list, "xn--bcher-kva.example."),
            Some("a \"quoted\", one")
        );
        assert_eq!(group(&list, "[::1]"), Some("local"));
        assert_eq!(group(&list, "other.example"), None);
        assert_eq!((list.len(), list.overruled().lines), (4, 0));
        let list = read(text, UnitKind::Host).unwrap();
        assert_eq!(group(&list, "blog.news.example"), None);
        assert_eq!(group(&list, "www.news.example"), Some("daily, \"large\""));
    }

    #[test]
    fn the_own_name_of_a_unit_decides_else_the_first_line() {
        for (text, expected, overruled) in [
            ("a.e.com,x\nb.e.com,y\n", "x", (1, [2, 1])),
            ("a.e.com,x\ne.com,y\nb.e.com,x\n", "y", (2, [1, 2])),
            ("e.com,y\na.e.com,x\n", "y", (1, [2, 1])),
            ("e.com,y\ne.com,y\na.e.com,y\n", "y", (0, [0, 0])),
        ] {
            let list = read(text, UnitKind::Domain).unwrap();
            assert_eq!(group(&list, "e.com"), Some(expected), "{text}");
            let found = list.overruled();
            assert_eq!((found.lines, found.first), overruled, "{text}");
        }
    }

    #[test]
    fn defects_name_the_line() {
        let many: String = (0..=MAX_GROUPS)
            .map(|i| format!("a{i}.com,{i}\n"))
            .collect();
        let long = format!("a.com,{}\n", "x".repeat(1 << 16));
        let name = format!("a.com,{}\n", "x".repeat(MAX_NAME + 1));
        for (text, expected) in [
            (
                "a.com\n",
                "line 1: \"a.com\" has no TAB or comma; give a host or domain and a group",
            ),
            (
                "a.com,x\nb.com,\n",
                "line 2: \"\" is not the name of a group",
            ),
            (
                "a.com,(no group)\n",
                "line 1: \"(no group)\" is not the name of a group",
            ),
            (
                "a.com,x\na.com,y\n",
                "line 2: line 1 has \"a.com\" in another group; keep one",
            ),
            (
                "rank,domain\n1,a.com\n",
                "line 2: \"1\" is a number; give the host or domain first",
            ),
            (
                "https://a.com/,x\n",
                "line 1: \"https://a.com/\" is not a host or domain",
            ),
            (
                &many,
                "line 10001: more than 10000 groups; is the second field a group?",
            ),
            (
                &long,
                "line 1: longer than 64 KiB; give a host or domain and a group",
            ),
            (&name, "line 1: the group \"xxx"),
        ] {
            let err = read(text, UnitKind::Domain).unwrap_err().to_string();
            assert!(err.contains(expected), "{err}");
        }
    }
}
