//! Crawl-delays in bulk: most robots.txt files are soon known to have none, and each thread parses
//! the others once.

use super::owned::Judge;
use super::pool::Pool;
use super::verdicts_ref::VerdictsRef;
use crate::error::Result;
use crate::profile::Profile;
use crate::robots::RobotsRef;
use crate::snapshot::text_reader::TextReader;
use bstr::ByteSlice;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The delays that a thread caches. When full, the cache is cleared; the delays of a single file
/// are always cached.
const CACHED_DELAYS: usize = 1 << 18;

/// Finds the crawl-delays for the agents of a [`Judge`], for many URLs.
///
/// A delay is that of [`Snapshot::crawl_delay`](crate::Snapshot::crawl_delay) for the origin that
/// decided. So it comes from the stored text, also if the status policy decides instead of rules,
/// and no verdict depends on it.
///
/// Shared between threads. It takes one byte for each distinct robots.txt of the snapshot. The
/// first URL of a robots.txt decompresses its stored text. If that gives the agents no delay, as
/// most, later URLs cost a look-up of one byte. Each thread keeps up to 4 MiB of other delays.
///
/// ```
/// use robosieve::judge::CrawlDelays;
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// use std::time::Duration;
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ncrawl-delay: 2.5")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let delays = CrawlDelays::new(&judge);
/// let verdicts = judge.judge(b"https://e.example/x")?;
/// assert_eq!(delays.of(&verdicts.as_ref(), 0)?, Some(Duration::from_millis(2500)));
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct CrawlDelays<'j> {
    judge: &'j Judge,
    /// For each robots.txt: whether it is known to give the agents no delay.
    without: Vec<AtomicBool>,
    pool: Pool<CrawlDelayScratch>,
}

/// One thread's memory for crawl-delays. It serves one [`CrawlDelays`].
#[derive(Default)]
pub(crate) struct CrawlDelayScratch {
    texts: Option<TextReader>,
    /// For each robots.txt with a delay, the delay of each agent.
    delays: HashMap<u32, Box<[Option<Duration>]>>,
    /// The row of the last origin, and the number of its robots.txt.
    last: Option<(u32, Option<u32>)>,
}

impl std::fmt::Debug for CrawlDelayScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrawlDelayScratch")
            .field("files", &self.delays.len())
            .finish_non_exhaustive()
    }
}

impl<'j> CrawlDelays<'j> {
    /// For the agents and the options of a judge.
    pub fn new(judge: &'j Judge) -> Self {
        let files = judge.snapshot().file_count() as usize;
        let without = std::iter::repeat_with(AtomicBool::default)
            .take(files)
            .collect();
        Self {
            judge,
            without,
            pool: Pool::new(),
        }
    }

    /// The delay for the agent with this number, under verdicts of this judge. `None` if the
    /// robots.txt gives none, and for unknown origins and texts that are not URLs.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn of(&self, verdicts: &VerdictsRef<'_>, agent: usize) -> Result<Option<Duration>> {
        let mut scratch = self.pool.take_or_else(CrawlDelayScratch::default);
        let delay = self.of_agents(verdicts, &mut scratch)?.get(agent).copied();
        self.pool.put_back(scratch);
        Ok(delay.flatten())
    }

    /// The delay for each agent; empty if none has one.
    pub(crate) fn of_agents<'a>(
        &self,
        verdicts: &VerdictsRef<'_>,
        memory: &'a mut CrawlDelayScratch,
    ) -> Result<&'a [Option<Duration>]> {
        let Some(row) = verdicts.row() else {
            return Ok(&[]);
        };
        // Neighbouring runs are often of one origin, which several verdicts divide.
        let file = match memory.last {
            Some((last, file)) if last == row => file,
            _ => self.judge.snapshot().origin_at(row)?.file(),
        };
        memory.last = Some((row, file));
        let Some(file) = file else { return Ok(&[]) };
        match self.without.get(file as usize) {
            Some(without) if !without.load(Ordering::Relaxed) => {
                self.load(file, without, memory)?;
                Ok(memory.delays.get(&file).map_or(&[], |delays| delays))
            }
            _ => Ok(&[]),
        }
    }

    /// Parses a robots.txt into the thread's cache, or records for all threads that it gives no
    /// delay.
    fn load(&self, file: u32, without: &AtomicBool, memory: &mut CrawlDelayScratch) -> Result<()> {
        if memory.delays.contains_key(&file) {
            return Ok(());
        }
        let texts = memory
            .texts
            .get_or_insert_with(|| TextReader::new(self.judge.snapshot()));
        let text = texts.read(file)?;
        let delays = if may_have_delay(&text) {
            self.parse(&text)
        } else {
            Vec::new()
        };
        if delays.iter().all(Option::is_none) {
            without.store(true, Ordering::Relaxed);
            return Ok(());
        }
        if (memory.delays.len() + 1) * delays.len() > CACHED_DELAYS {
            memory.delays.clear();
        }
        memory.delays.insert(file, delays.into());
        Ok(())
    }

    /// The delay for each agent in a text.
    fn parse(&self, text: &[u8]) -> Vec<Option<Duration>> {
        // The profile only matters for rules.
        let robots = RobotsRef::parse(text, Profile::default());
        let how = self.judge.engine().options().agent_match;
        let agents = self.judge.agents().iter();
        agents.map(|agent| robots.crawl_delay(agent, how)).collect()
    }
}

/// Whether a condensed text has a line that begins like the field. Few of them have.
fn may_have_delay(condensed: &[u8]) -> bool {
    const START: &[u8] = b"crawl-delay";
    condensed.lines().any(|line| {
        line.get(..START.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(START))
    })
}
