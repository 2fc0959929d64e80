//! A census: which agents the robots.txt files of a snapshot name, how many origins do, and how much they refuse to each.

pub(crate) mod names;
mod spelling;

pub use spelling::{Misspelling, SpellCheck, UnnamedAgent};

use crate::analysis::coverage::Coverage;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use crate::snapshot::format::{FileRow, NONE};
use names::{Names, Reader};
use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which agents the robots.txt files of a snapshot name; made by [`Snapshot::census`].
#[derive(Debug)]
pub struct Census<'s> {
    snapshot: &'s Snapshot,
    origins: u64,
    global: [u32; 3],
    /// Numbers of names and their counts, the most frequent first, and then by name.
    ranking: Vec<(u32, [u32; 3])>,
}

/// A name that robots.txt files have groups for, and how many origins say how much to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedAgent {
    /// The name in lower case; bytes that are not UTF-8 are replaced. It comes from strangers: it may hold any characters but
    /// line ends. `*` stands for the global groups.
    pub name: String,
    /// Origins whose robots.txt has a group for it.
    pub origins: u64,
    /// Of these, those that refuse it every URL, but perhaps `/robots.txt` ([`Coverage::Wholly`]).
    pub wholly: u64,
    /// Those that refuse some.
    pub partly: u64,
    /// Those that refuse nothing.
    pub not: u64,
}

impl NamedAgent {
    fn new(name: String, counts: [u32; 3]) -> Self {
        let [not, partly, wholly] = counts.map(u64::from);
        Self { name, origins: not + partly + wholly, wholly, partly, not }
    }
}

impl Snapshot {
    /// Counts the names that robots.txt files have groups for, over the origins whose newest answer was a robots.txt (last good
    /// copies of failing sites are left out).
    ///
    /// A name is what a site wrote: of `User-agent: MJ12bot` it is `mj12bot`, not also the `mj` that RFC 9309 makes of it.
    ///
    /// Cost: a pass over all origins and one over the distinct robots.txt files, on all threads of the current rayon pool; 4 bytes for
    /// each of these files and some 30 for each name.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://a.example", b"user-agent: GPTBot\ndisallow: /")?;
    /// compiler.add_robots("https://b.example", b"user-agent: gptbot\ndisallow: /x\nuser-agent: CCBot\nallow: /")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let census = snapshot.census()?;
    /// let top = &census.top(10)?[0];
    /// assert_eq!((top.name.as_str(), top.origins, top.wholly, top.partly), ("gptbot", 2, 1, 1));
    /// assert_eq!((census.origins(), census.names(), census.named("CCBot")?.not), (2, 2, 1));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    pub fn census(&self) -> Result<Census<'_>> {
        let (origins, uses) = uses(self)?;
        let names = Names::new(self)?;
        let counts: Vec<Counts> = std::iter::repeat_with(Counts::default).take(names.len()).collect();
        let global = Counts::default();
        let files = uses.into_par_iter().enumerate().map(|(file, uses)| (file as u32, uses.into_inner()));
        files.filter(|(_, uses)| *uses > 0).try_for_each_init(
            || Reader::new(&names),
            |reader, (file, uses)| count(&self.view().file(file)?, uses, reader, &counts, &global),
        )?;
        let counts = counts.into_iter().map(Counts::into_inner);
        let mut ranking: Vec<(u32, [u32; 3])> = (0..).zip(counts).filter(|(_, counts)| *counts != [0; 3]).collect();
        ranking.sort_unstable_by_key(|(number, counts)| (Reverse(sum(counts)), *number));
        Ok(Census { snapshot: self, origins, global: global.into_inner(), ranking })
    }
}

/// Counts what a robots.txt that so many origins obey says to each name, and to all others.
fn count(file: &FileRow, uses: u32, reader: &mut Reader<'_, '_>, counts: &[Counts], global: &Counts) -> Result<()> {
    if file.global != NONE {
        global.add(reader.coverage(file.global)?, uses);
    }
    for row in reader.named(file)? {
        let counts = counts.get(row.token as usize).ok_or_else(|| Error::corrupt("a named agent's name"))?;
        counts.add(reader.coverage(row.rule_set)?, uses);
    }
    Ok(())
}

/// How many origins obey each robots.txt, and how many obey any.
fn uses(snapshot: &Snapshot) -> Result<(u64, Vec<AtomicU32>)> {
    let uses: Vec<AtomicU32> =
        std::iter::repeat_with(AtomicU32::default).take(snapshot.file_count() as usize).collect();
    let rows = (0..snapshot.origin_count()).into_par_iter();
    let origins = rows.map(|row| -> Result<u64> {
        let Some(file) = snapshot.origin_at(row)?.rules_file() else { return Ok(0) };
        let uses = uses.get(file as usize).ok_or_else(|| Error::corrupt("the number of an origin's robots.txt"))?;
        uses.fetch_add(1, Ordering::Relaxed);
        Ok(1)
    });
    Ok((origins.try_reduce(|| 0, |a, b| Ok(a + b))?, uses))
}

/// How many origins refuse so much; they are fewer than 2^32, since rows are numbered in four bytes.
#[derive(Debug, Default)]
struct Counts([AtomicU32; 3]);

impl Counts {
    fn add(&self, reach: Coverage, origins: u32) {
        self.0[reach as usize].fetch_add(origins, Ordering::Relaxed);
    }

    fn into_inner(self) -> [u32; 3] {
        self.0.map(AtomicU32::into_inner)
    }
}

fn sum(counts: &[u32; 3]) -> u64 {
    counts.iter().map(|count| u64::from(*count)).sum()
}

impl Census<'_> {
    /// The origins whose newest answer was a robots.txt.
    pub fn origins(&self) -> u64 {
        self.origins
    }

    /// How many names there are.
    pub fn names(&self) -> usize {
        self.ranking.len()
    }

    /// What the global groups say, which hold for agents that no group names; its name is `*`.
    pub fn global(&self) -> NamedAgent {
        NamedAgent::new("*".to_owned(), self.global)
    }

    /// The names that the most origins have groups for, the most frequent first; of equally frequent ones by name.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    pub fn top(&self, count: usize) -> Result<Vec<NamedAgent>> {
        let named = |(number, counts): &(u32, [u32; 3])| {
            let name = self.snapshot.token(u64::from(*number))?;
            Ok(NamedAgent::new(String::from_utf8_lossy(name).into_owned(), *counts))
        };
        self.ranking.iter().take(count).map(named).collect()
    }

    /// What is said to one name, compared without case; nothing for one that no robots.txt names. Cost: a pass over all names.
    ///
    /// # Errors
    /// As [`top`](Self::top).
    pub fn named(&self, name: &str) -> Result<NamedAgent> {
        let name = name.to_ascii_lowercase();
        let number = self.snapshot.token_number(name.as_bytes())?;
        let found = self.ranking.iter().find(|(other, _)| Some(*other) == number);
        Ok(NamedAgent::new(name, found.map_or([0; 3], |(_, counts)| *counts)))
    }
}
