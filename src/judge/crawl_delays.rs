//! Crawl-delays in bulk.

use super::owned::{Judge, Pool};
use super::stated_texts::{Stated, StatedCache, StatedTexts};
use super::verdicts_ref::VerdictsRef;
use crate::error::Result;
use crate::robots::RobotsRef;
use bstr::ByteSlice;
use std::time::Duration;

/// The number of delays that a thread caches. When full, the cache is cleared; the delays of a
/// single file are always cached.
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
    texts: StatedTexts<'j>,
    pool: Pool<CrawlDelayScratch>,
}

/// One thread's memory for crawl-delays. It serves one [`CrawlDelays`].
#[derive(Default)]
pub(crate) struct CrawlDelayScratch {
    /// For each robots.txt with a delay, the delay of each agent.
    delays: StatedCache<Box<[Option<Duration>]>>,
    /// The row of the last origin, and the number of its robots.txt.
    last: Option<(u32, Option<u32>)>,
}

impl std::fmt::Debug for CrawlDelayScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrawlDelayScratch")
            .field("cached_delays", &self.delays.size())
            .finish_non_exhaustive()
    }
}

impl<'j> CrawlDelays<'j> {
    /// For the agents and the options of a judge.
    pub fn new(judge: &'j Judge) -> Self {
        Self {
            texts: StatedTexts::new(judge),
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
        let file = match (verdicts.text_as_of(), memory.last) {
            (Some(file), _) => file,
            (None, Some((last, file))) if last == row => file,
            _ => {
                let file = self.texts.judge().snapshot().origin_at(row)?.file();
                memory.last = Some((row, file));
                file
            }
        };
        let Some(file) = file else { return Ok(&[]) };
        let CrawlDelayScratch { delays, .. } = memory;
        self.texts
            .has_any(file, delays, CACHED_DELAYS, |text| self.parse(text))?;
        Ok(delays.get(file).map_or(&[], |delays| delays))
    }

    /// The delay for each agent in a text, if one has any.
    fn parse(&self, text: &[u8]) -> Option<Stated<Box<[Option<Duration>]>>> {
        if !may_have_delay(text) {
            return None;
        }
        let judge = self.texts.judge();
        let robots = RobotsRef::parse(text, judge.engine().profile());
        let how = judge.engine().options().agent_match;
        let agents = judge.agents().iter();
        let delays: Box<[_]> = agents.map(|agent| robots.crawl_delay(agent, how)).collect();
        delays.iter().any(Option::is_some).then_some(Stated {
            size: delays.len(),
            value: delays,
        })
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
