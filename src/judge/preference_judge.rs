//! Preferences in bulk: nearly all robots.txt files are soon known to have none, and each thread
//! parses the others once.

use super::applied::{none_stated, under};
use super::owned::Judge;
use super::pool::Pool;
use super::status_policy::Verdict;
use super::verdicts::Verdicts;
use crate::error::Result;
use crate::preferences::{PreferenceBuffers, PreferenceSet, Preferences, may_have_preferences};
use crate::robots::RobotsRef;
use crate::snapshot::text_reader::TextReader;
use crate::url;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// The texts whose preferences a thread caches, in bytes; the parsed form takes at most some five
/// times as much. When full, the cache is cleared; a single text is always cached.
const CACHE_BYTES: usize = 8 << 20;

/// Finds the preferences that apply to the agents of a [`Judge`], for many URLs.
///
/// Shared between threads. It takes one byte for each distinct robots.txt of the snapshot. The
/// first URL of a robots.txt decompresses its stored text. If that has neither field, as nearly
/// all, later URLs cost a look-up of one byte. Each thread parses the others once, as long as it
/// does not need more than 8 MiB of such texts at a time.
///
/// ```
/// use robosieve::judge::PreferenceJudge;
/// use robosieve::preferences::Preference;
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ncontent-usage: /x train-ai=n")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let preferences = PreferenceJudge::new(&judge);
/// assert_eq!(preferences.of(b"https://e.example/x/y")?[0].train_ai, Preference::No);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct PreferenceJudge<'j> {
    judge: &'j Judge,
    /// For each robots.txt: whether it is known to say nothing to the agents.
    silent: Vec<AtomicBool>,
    pool: Pool<PreferenceScratch>,
}

/// The statements of a robots.txt about the use of a URL's content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileStatements<'a> {
    /// The preferences for each agent.
    pub preferences: &'a [Preferences],
    /// The URLs of the licences.
    pub licenses: &'a [String],
}

/// One thread's memory for preferences.
#[derive(Default)]
pub(crate) struct PreferenceScratch {
    /// The judge whose agents the sets are for.
    engine: Option<u64>,
    texts: Option<TextReader>,
    sets: HashMap<u32, PreferenceSet>,
    /// The length of their texts.
    cached_bytes: usize,
    answers: PreferenceBuffers,
    /// The answers under the verdicts on the URL.
    applied: Vec<Preferences>,
    key: Vec<u8>,
}

impl std::fmt::Debug for PreferenceScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreferenceScratch")
            .field("cached_bytes", &self.cached_bytes)
            .finish_non_exhaustive()
    }
}

impl<'j> PreferenceJudge<'j> {
    /// For the agents, the policy and the options of a judge.
    pub fn new(judge: &'j Judge) -> Self {
        let files = judge.snapshot().file_count() as usize;
        let silent = std::iter::repeat_with(AtomicBool::default)
            .take(files)
            .collect();
        Self {
            judge,
            silent,
            pool: Pool::new(),
        }
    }

    /// What the robots.txt that decides about `url` says of its use, for each of the judge's agents
    /// in their order. That is the robots.txt whose rules decide about fetching. If there is none
    /// (a 404, an unknown origin, not a URL), nothing is said. To an agent that may not fetch the
    /// URL, `content-usage` does not apply ([`Preferences::of_refused_url`]).
    ///
    /// Cost: that of [`Judge::judge`], and if there are such lines for one of the agents, at worst
    /// one comparison of each `content-usage` line with the path.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn of(&self, url: &[u8]) -> Result<Vec<Preferences>> {
        let (file, verdicts) = self.judge.with_scratch(|engine, scratch| {
            engine
                .judge(url, scratch)
                .map(|verdicts| (verdicts.file(), Verdicts::new(verdicts)))
        })?;
        let mut scratch = self.pool.take_or_else(PreferenceScratch::default);
        let found = match self.has_any(file, &mut scratch)? {
            true => self
                .at(file, url, verdicts.iter(), &mut scratch)
                .preferences
                .to_vec(),
            false => none_stated(verdicts.iter()).collect(),
        };
        self.pool.put_back(scratch);
        Ok(found)
    }

    /// Whether the robots.txt with this number, if there is one, says anything to one of the
    /// agents, or names a licence.
    #[inline]
    pub(crate) fn has_any(&self, file: u32, memory: &mut PreferenceScratch) -> Result<bool> {
        match self.silent.get(file as usize) {
            Some(silent) if !silent.load(Ordering::Relaxed) => self.load(file, silent, memory),
            _ => Ok(false),
        }
    }

    /// Parses a robots.txt into the thread's cache, or records for all threads that it says
    /// nothing.
    fn load(&self, file: u32, silent: &AtomicBool, memory: &mut PreferenceScratch) -> Result<bool> {
        // A cached set answers for the agents of one judge. A thread that now serves another judge
        // starts with an empty cache.
        if memory.engine != Some(self.judge.engine().id) {
            *memory = PreferenceScratch {
                engine: Some(self.judge.engine().id),
                ..PreferenceScratch::default()
            };
        }
        if memory.sets.contains_key(&file) {
            return Ok(true);
        }
        let texts = memory
            .texts
            .get_or_insert_with(|| TextReader::new(self.judge.snapshot()));
        let text = texts.read(file)?;
        let set = if may_have_preferences(&text) {
            self.parse(&text)
        } else {
            None
        };
        silent.store(set.is_none(), Ordering::Relaxed);
        let Some(set) = set else { return Ok(false) };
        if memory.cached_bytes + text.len() > CACHE_BYTES {
            memory.sets.clear();
            memory.cached_bytes = 0;
        }
        memory.cached_bytes += text.len();
        memory.sets.insert(file, set);
        Ok(true)
    }

    fn parse(&self, text: &[u8]) -> Option<PreferenceSet> {
        let robots = RobotsRef::parse(text, self.judge.engine().profile());
        PreferenceSet::new(
            &robots,
            self.judge.agents(),
            self.judge.engine().options().agent_match,
        )
    }

    /// The preferences and licences of a robots.txt that has any, for a URL with these verdicts.
    pub(crate) fn at<'a>(
        &self,
        file: u32,
        url: &[u8],
        verdicts: impl Iterator<Item = Verdict>,
        memory: &'a mut PreferenceScratch,
    ) -> FileStatements<'a> {
        let PreferenceScratch {
            sets,
            answers,
            applied,
            key,
            ..
        } = memory;
        let (Some(set), Some(parts)) = (
            sets.get(&file),
            url::split(url, self.judge.engine().profile(), key),
        ) else {
            return FileStatements::default();
        };
        // A preference on the use of a page says nothing if the page may not be fetched.
        let stated = set.evaluate(&self.judge.engine().normal_path(parts.path), answers);
        applied.clear();
        applied.extend(
            stated
                .iter()
                .zip(verdicts)
                .map(|(stated, verdict)| under(*stated, verdict)),
        );
        FileStatements {
            preferences: applied,
            licenses: set.licenses(),
        }
    }
}
