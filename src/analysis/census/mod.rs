//! A census of agent names: how many origins name each agent, and how much they disallow to it.
//!
//! Origins share robots.txt files, and files share rule sets. So the census counts the origins per
//! file first. Then it reads each distinct file once, and computes the coverage of each rule set
//! once per thread.

mod snapshot_names;

pub use crate::crawlers::spell_check::{SpellCheck, UnnamedAgent};
pub use crate::crawlers::spelling::Misspelling;

use crate::error::{Error, Result};
use crate::file_pass::{AgentNames, FileReader, FileUses, UsedFile};
use crate::snapshot::Snapshot;
use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts of the agent names in the robots.txt files of a snapshot; returned by
/// [`Snapshot::census`].
#[derive(Debug)]
pub struct Census<'s> {
    snapshot: &'s Snapshot,
    origins: u64,
    global: CountsByCoverage,
    /// The numbers of names with their counts, sorted by frequency, then by name.
    ranking: Vec<(u32, CountsByCoverage)>,
}

/// An agent name with the number of origins that have a group for it, by coverage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NamedAgent {
    /// The name in lower case, with bytes that are not UTF-8 replaced; `*` for the global groups.
    ///
    /// Sites write it, so it may contain any characters except line ends.
    pub name: String,
    /// Origins whose robots.txt has a group for it.
    pub origins: u64,
    /// Origins that disallow every URL to it, except possibly `/robots.txt`
    /// ([`Coverage::Wholly`](crate::export::Coverage::Wholly)).
    pub wholly: u64,
    /// Origins that disallow some URLs to it.
    pub partly: u64,
    /// Origins that disallow nothing to it.
    pub not: u64,
}

/// The number of origins that have a group for the name.
fn total(counts: &CountsByCoverage) -> u64 {
    counts.iter().map(|count| u64::from(*count)).sum()
}

impl NamedAgent {
    fn new(name: String, counts: CountsByCoverage) -> Self {
        let [not, partly, wholly] = counts.map(u64::from);
        Self {
            name,
            origins: not + partly + wholly,
            wholly,
            partly,
            not,
        }
    }
}

impl Snapshot {
    /// Counts the agent names of robots.txt files, over the origins whose newest answer is a
    /// robots.txt. Last good copies of failing sites are not counted.
    ///
    /// Names are counted as sites write them: `User-agent: MJ12bot` counts for `mj12bot`, and not
    /// also for `mj`, which it names by RFC 9309.
    ///
    /// Cost: a pass over all origins and one over the distinct robots.txt files, on all threads of
    /// the current rayon pool. Memory: 8 bytes per file and about 30 per name.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://a.example", b"user-agent: GPTBot\ndisallow: /")?;
    /// let robots = b"user-agent: gptbot\ndisallow: /x\nuser-agent: CCBot\nallow: /";
    /// compiler.add_robots("https://b.example", robots)?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let census = snapshot.census()?;
    /// let top = &census.top(10)?[0];
    /// assert_eq!((top.name.as_str(), top.origins, top.wholly, top.partly), ("gptbot", 2, 1, 1));
    /// assert_eq!((census.origins(), census.names(), census.named("CCBot")?.not), (2, 2, 1));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn census(&self) -> Result<Census<'_>> {
        let uses = FileUses::of_newest_answers(self)?;
        let names = AgentNames::new(self)?;
        // All threads share the counters: three for each name, one per coverage.
        let counts: Vec<AtomicCounts> = (0..names.len()).map(|_| AtomicCounts::default()).collect();
        let global = AtomicCounts::default();
        uses.files().try_for_each_init(
            || FileReader::new(self),
            |reader, used| count_file(used, &names, reader, &counts, &global),
        )?;
        let counts = counts
            .into_iter()
            .map(|counts| counts.map(AtomicU32::into_inner));
        // The snapshot also has names that only last good copies contain. They are left out.
        let mut ranking: Vec<(u32, CountsByCoverage)> = (0..)
            .zip(counts)
            .filter(|(_, counts)| *counts != [0; 3])
            .collect();
        ranking.sort_unstable_by_key(|(number, counts)| (Reverse(total(counts)), *number));
        Ok(Census {
            snapshot: self,
            origins: uses.origins(),
            global: global.map(AtomicU32::into_inner),
            ranking,
        })
    }
}

/// Adds the agents of a robots.txt to the counts, for all origins that use it.
fn count_file(
    used: UsedFile,
    names: &AgentNames<'_>,
    reader: &mut FileReader<'_>,
    counts: &[AtomicCounts],
    global: &AtomicCounts,
) -> Result<()> {
    if let Some(coverage) = reader.global_coverage(used.file)? {
        global[coverage as usize].fetch_add(used.origins, Ordering::Relaxed);
    }
    for named in reader.named_coverages(used.file, names)? {
        let counts = counts
            .get(named.name as usize)
            .ok_or_else(|| Error::corrupt("a named agent's name"))?;
        counts[named.coverage as usize].fetch_add(used.origins, Ordering::Relaxed);
    }
    Ok(())
}

/// Numbers of origins by [`Coverage`](crate::export::Coverage), that is, by how much they disallow
/// to one name. Four bytes suffice, because rows of origins are numbered in four bytes.
type CountsByCoverage = [u32; 3];

/// [`CountsByCoverage`] that several threads add to.
type AtomicCounts = [AtomicU32; 3];

impl Census<'_> {
    /// The number of origins whose newest answer is a robots.txt.
    pub fn origins(&self) -> u64 {
        self.origins
    }

    /// The number of distinct names.
    pub fn names(&self) -> usize {
        self.ranking.len()
    }

    /// The counts of the global groups, which apply to agents that no group names. The name is `*`.
    pub fn global(&self) -> NamedAgent {
        NamedAgent::new("*".to_owned(), self.global)
    }

    /// The first `count` names, sorted by the number of origins that have a group for them, then by
    /// name.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn top(&self, count: usize) -> Result<Vec<NamedAgent>> {
        let mut top = Vec::with_capacity(count.min(self.ranking.len()));
        for (number, counts) in self.ranking.iter().take(count) {
            let name = self.snapshot.token(u64::from(*number))?;
            top.push(NamedAgent::new(
                String::from_utf8_lossy(name).into_owned(),
                *counts,
            ));
        }
        Ok(top)
    }

    /// The counts of one name, compared without case. All are 0 for a name in no robots.txt.
    ///
    /// Cost: a pass over all names.
    ///
    /// # Errors
    /// As [`top`](Self::top).
    pub fn named(&self, name: &str) -> Result<NamedAgent> {
        let name = name.to_ascii_lowercase();
        let number = self.snapshot.token_number(name.as_bytes())?;
        let found = self
            .ranking
            .iter()
            .find(|(other, _)| Some(*other) == number);
        Ok(NamedAgent::new(
            name,
            found.map_or([0; 3], |(_, counts)| *counts),
        ))
    }
}
