//! Preferences in bulk: of most robots.txt it is soon known that they have none, and the others are read once by each thread.

use super::judge::{Judge, Scratch};
use crate::error::Result;
use crate::preferences::{Answers, Preferences, Sheet, may_hold_any};
use crate::robots::Robots;
use crate::snapshot::text::Unpacker;
use crate::url;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Texts of robots.txt files that a thread may hold the preferences of, in bytes: what is read of them takes at worst some five times as
/// much. When it would be more, all are given up; a single one is always held.
const HELD: usize = 8 << 20;

/// Tells preferences for the agents of a [`Judge`], for many URLs.
///
/// Shared between threads; each brings its own [`Scratch`] and [`PreferenceScratch`]. It takes a byte for each distinct robots.txt of the
/// snapshot. The first URL of a robots.txt decompresses its stored text; where that has neither field, as nearly all, later URLs cost a
/// look-up of one byte. The others are read once by each thread, as long as not too many are in use: what a thread holds is what
/// 8 MiB of texts say.
///
/// ```
/// use robosieve::{Compiler, Judge, JudgeOptions, Preference, PreferenceJudge, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ncontent-usage: /x train-ai=n")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let preferences = PreferenceJudge::new(&judge);
/// let (mut scratch, mut memory) = (judge.scratch(), preferences.scratch());
/// let found = preferences.of(b"https://e.example/x/y", &mut scratch, &mut memory)?;
/// assert_eq!(found[0].train_ai, Preference::No);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct PreferenceJudge<'j, 's, D> {
    judge: &'j Judge<'s, D>,
    /// For each robots.txt whether it is known to say nothing to the agents.
    silent: Vec<AtomicBool>,
}

/// One thread's memory for preferences.
#[derive(Default)]
pub struct PreferenceScratch {
    /// The judge whose agents the sheets are for.
    judge: Option<u64>,
    unpacker: Option<Unpacker>,
    sheets: HashMap<u32, Sheet>,
    /// The length of their texts.
    held: usize,
    answers: Answers,
    key: Vec<u8>,
    nothing: Vec<Preferences>,
}

impl std::fmt::Debug for PreferenceScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreferenceScratch").field("held", &self.held).finish_non_exhaustive()
    }
}

impl<'j, 's, D: AsRef<[u8]>> PreferenceJudge<'j, 's, D> {
    /// For the agents, the policy and the options of a judge.
    pub fn new(judge: &'j Judge<'s, D>) -> Self {
        let silent = std::iter::repeat_with(AtomicBool::default).take(judge.snapshot.file_count() as usize).collect();
        Self { judge, silent }
    }

    /// Memory for one thread.
    pub fn scratch(&self) -> PreferenceScratch {
        PreferenceScratch::default()
    }

    /// What the robots.txt that decides about `url` says of its use, for each of the judge's agents in their order. That is the
    /// robots.txt whose rules decide about fetching; where none does, as with a 404, an unknown origin or what is no URL, nothing is said.
    ///
    /// Cost: that of [`Judge::judge`], and where there are such lines for one of the agents, at worst each `content-usage` line compared
    /// with the path.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    pub fn of<'a>(
        &self,
        url: &[u8],
        scratch: &mut Scratch<'s>,
        memory: &'a mut PreferenceScratch,
    ) -> Result<&'a [Preferences]> {
        let file = self.judge.judge(url, scratch)?.file();
        if self.has_any(file, memory)? {
            return Ok(self.at(file, url, memory));
        }
        memory.nothing.clear();
        memory.nothing.resize(self.judge.agents().len(), Preferences::default());
        Ok(&memory.nothing)
    }

    /// Whether the robots.txt of this number, if there is one, says anything to one of the agents.
    #[inline]
    pub(super) fn has_any(&self, file: u32, memory: &mut PreferenceScratch) -> Result<bool> {
        match self.silent.get(file as usize) {
            Some(silent) if !silent.load(Ordering::Relaxed) => self.look(file, silent, memory),
            _ => Ok(false),
        }
    }

    /// Sees to it that the thread holds what the robots.txt says, or that all know that it says nothing.
    fn look(&self, file: u32, silent: &AtomicBool, memory: &mut PreferenceScratch) -> Result<bool> {
        if memory.judge != Some(self.judge.id) {
            *memory = PreferenceScratch { judge: Some(self.judge.id), ..PreferenceScratch::default() };
        }
        if memory.sheets.contains_key(&file) {
            return Ok(true);
        }
        let text = self.text(file, memory)?;
        let sheet = if may_hold_any(&text) { self.sheet(&text) } else { None };
        silent.store(sheet.is_none(), Ordering::Relaxed);
        let Some(sheet) = sheet else { return Ok(false) };
        if memory.held + text.len() > HELD {
            memory.sheets.clear();
            memory.held = 0;
        }
        memory.held += text.len();
        memory.sheets.insert(file, sheet);
        Ok(true)
    }

    fn text(&self, file: u32, memory: &mut PreferenceScratch) -> Result<Vec<u8>> {
        let snapshot = self.judge.snapshot;
        let row = snapshot.view().file(file)?;
        let unpacker = match &mut memory.unpacker {
            Some(unpacker) => unpacker,
            None => memory.unpacker.insert(snapshot.unpacker()?),
        };
        unpacker.unpack(snapshot.frame(&row)?, row.raw_len as usize)
    }

    fn sheet(&self, text: &[u8]) -> Option<Sheet> {
        let robots = Robots::parse(text, self.judge.profile);
        Sheet::new(&robots, self.judge.agents(), self.judge.options.agent_match)
    }

    /// What a robots.txt that says something says about a URL.
    pub(super) fn at<'a>(&self, file: u32, url: &[u8], memory: &'a mut PreferenceScratch) -> &'a [Preferences] {
        let PreferenceScratch { sheets, answers, key, .. } = memory;
        let (Some(sheet), Some(parts)) = (sheets.get(&file), url::split(url, self.judge.profile, key)) else {
            return &[];
        };
        sheet.at(&self.judge.normal_path(parts.path), answers)
    }
}
