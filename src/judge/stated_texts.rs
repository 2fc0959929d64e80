//! What stored texts state in addition to rules, for many URLs: nearly all robots.txt files are soon
//! known to state nothing, and each thread parses the others once.
//!
//! Decompressing and parsing a text takes some microseconds, and a URL some 100 ns. So one byte for
//! each robots.txt records for all threads that it states nothing, and a cache of each thread holds
//! what the others state.

use super::owned::Judge;
use crate::error::Result;
use crate::snapshot::text_reader::TextReader;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// The texts of a judge's snapshot. Shared between threads.
#[derive(Debug)]
pub(super) struct StatedTexts<'j> {
    judge: &'j Judge,
    /// For each robots.txt: whether it is known to state nothing.
    silent: Vec<AtomicBool>,
}

/// What a text states, and its size, of which a cache has a limit.
pub(super) struct Stated<T> {
    pub value: T,
    pub size: usize,
}

/// What some texts state: the cache of one thread.
pub(super) struct StatedCache<T> {
    /// The judge whose agents the values are for.
    engine: Option<u64>,
    texts: Option<TextReader>,
    values: HashMap<u32, T>,
    /// The sum of the sizes.
    size: usize,
}

impl<T> Default for StatedCache<T> {
    fn default() -> Self {
        Self {
            engine: None,
            texts: None,
            values: HashMap::new(),
            size: 0,
        }
    }
}

impl<T> StatedCache<T> {
    /// What the text of this robots.txt states, if [`StatedTexts::has_any`] found something.
    pub(super) fn get(&self, file: u32) -> Option<&T> {
        self.values.get(&file)
    }

    /// The sum of the sizes of its values.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn insert(&mut self, file: u32, stated: Stated<T>, limit: usize) {
        if self.size + stated.size > limit {
            self.values.clear();
            self.size = 0;
        }
        self.size += stated.size;
        self.values.insert(file, stated.value);
    }
}

impl<'j> StatedTexts<'j> {
    pub(super) fn new(judge: &'j Judge) -> Self {
        // The texts of a history too: verdicts as of a time refer to them.
        let files = judge.snapshot().text_count() as usize;
        let silent = std::iter::repeat_with(AtomicBool::default)
            .take(files)
            .collect();
        Self { judge, silent }
    }

    pub(super) fn judge(&self) -> &'j Judge {
        self.judge
    }

    /// Whether the robots.txt with this number, if there is one, states anything. If it does,
    /// [`StatedCache::get`] has it. `parse` gets a text, and returns `None` if it states nothing. A
    /// cache above the limit is cleared; a single value is always cached.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    #[inline]
    pub(super) fn has_any<T>(
        &self,
        file: u32,
        cache: &mut StatedCache<T>,
        limit: usize,
        parse: impl FnOnce(&[u8]) -> Option<Stated<T>>,
    ) -> Result<bool> {
        // A thread that now serves another judge, with other agents, starts with an empty cache.
        let engine = self.judge.engine().id;
        if cache.engine != Some(engine) {
            *cache = StatedCache {
                engine: Some(engine),
                ..StatedCache::default()
            };
        }
        match self.silent.get(file as usize) {
            Some(silent) if !silent.load(Ordering::Relaxed) => {
                self.load(file, silent, cache, limit, parse)
            }
            _ => Ok(false),
        }
    }

    /// Parses a robots.txt into the thread's cache, or records for all threads that it states
    /// nothing.
    fn load<T>(
        &self,
        file: u32,
        silent: &AtomicBool,
        cache: &mut StatedCache<T>,
        limit: usize,
        parse: impl FnOnce(&[u8]) -> Option<Stated<T>>,
    ) -> Result<bool> {
        if cache.values.contains_key(&file) {
            return Ok(true);
        }
        let texts = cache
            .texts
            .get_or_insert_with(|| TextReader::new(self.judge.snapshot()));
        let stated = parse(&texts.read(file)?);
        silent.store(stated.is_none(), Ordering::Relaxed);
        let Some(stated) = stated else {
            return Ok(false);
        };
        cache.insert(file, stated, limit);
        Ok(true)
    }
}
