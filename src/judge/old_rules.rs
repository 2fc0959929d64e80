//! The rules of old robots.txt texts that are too long to be stored, parsed when a URL asks for their
//! time.
//!
//! A snapshot stores the rules of the newest versions, and of short old texts. With those of all
//! versions, the snapshot of a weekly archive of five years took 94 times the space of the newest. A
//! long old text is parsed on demand instead, and kept in a cache of bounded size.

use super::engine::Engine;
use super::owned::Pool;
use crate::agent::{Agent, AgentMatch};
use crate::error::Result;
use crate::explain::answers::allows_path;
use crate::matcher::PathSignature;
use crate::profile::Profile;
use crate::robots::Robots;
use crate::snapshot::text_reader::TextReader;
use crate::threads::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The bytes of texts whose rules are kept. Parsed rules take a few times as much.
const CACHED_BYTES: usize = 16 << 20;

/// What a text adds to the size of the cache beside its bytes.
const BYTES_PER_TEXT: usize = 512;

/// The rules of an old robots.txt, with the agents of a judge by the groups that they obey.
#[derive(Debug)]
pub(super) struct OldRules {
    text: Arc<OldText>,
    /// Agents with the same groups.
    classes: Vec<AgentClass>,
    profile: Profile,
}

/// A parsed text.
#[derive(Debug)]
struct OldText {
    robots: Robots,
    bytes: usize,
}

/// Agents that obey the same groups of a robots.txt.
#[derive(Debug)]
struct AgentClass {
    /// The numbers of the groups; none for agents that may fetch everything.
    groups: Vec<usize>,
    /// A bit for each agent.
    agents: Vec<u64>,
}

impl OldRules {
    fn new(text: Arc<OldText>, engine: &Engine<'_>) -> Self {
        let how = engine.options().agent_match;
        let mut classes: Vec<AgentClass> = Vec::new();
        for (number, agent) in engine.agents().iter().enumerate() {
            let groups = group_numbers(&text.robots, agent, how);
            let class = match classes.iter().position(|class| class.groups == groups) {
                Some(class) => class,
                None => {
                    classes.push(AgentClass {
                        groups,
                        agents: vec![0; engine.words()],
                    });
                    classes.len() - 1
                }
            };
            classes[class].agents[number / 64] |= 1 << (number % 64);
        }
        Self {
            text,
            classes,
            profile: engine.profile(),
        }
    }

    /// The length of the text.
    pub(super) fn text_bytes(&self) -> usize {
        self.text.bytes
    }

    /// Sets the bits of the agents that may fetch a path in normal form.
    pub(super) fn judge(&self, path: &[u8], allowed: &mut [u64]) {
        allowed.fill(0);
        let all = self.text.robots.parsed().groups();
        let mut signature = PathSignature::new();
        for class in &self.classes {
            let groups = class.groups.iter().filter_map(|number| all.get(*number));
            if allows_path(groups, path, self.profile, &mut signature) {
                for (word, agents) in allowed.iter_mut().zip(&class.agents) {
                    *word |= agents;
                }
            }
        }
    }
}

/// The numbers of the groups that an agent obeys.
fn group_numbers(robots: &Robots, agent: &Agent, how: AgentMatch) -> Vec<usize> {
    let all = robots.parsed().groups();
    let mut numbers = Vec::new();
    for group in robots.parsed().groups_of(agent, how) {
        numbers.extend(all.iter().position(|other| std::ptr::eq(other, group)));
    }
    numbers
}

/// The old rules that were asked for lately. All threads of a judge share them, and so may several
/// judges of one snapshot: then each text is parsed once, and the memory has one bound for all.
#[derive(Debug)]
pub(super) struct OldRulesCache {
    cached: Mutex<CachedRules>,
    readers: Pool<TextReader>,
}

#[derive(Debug, Default)]
struct CachedRules {
    by_file: HashMap<u32, CachedText>,
    bytes: usize,
}

/// A text, with its rules for the agents of each engine, by the number of the engine. Nearly always,
/// there is one engine, or one for each crawler of a log.
#[derive(Debug)]
struct CachedText {
    text: Arc<OldText>,
    rules: Vec<(u64, Arc<OldRules>)>,
}

impl CachedText {
    fn rules_for(&self, engine: u64) -> Option<&Arc<OldRules>> {
        let found = self.rules.iter().find(|(other, _)| *other == engine);
        found.map(|(_, rules)| rules)
    }
}

impl OldRulesCache {
    pub(super) fn new() -> Self {
        Self {
            cached: Mutex::default(),
            readers: Pool::new(),
        }
    }

    /// The rules of the old robots.txt with this number for the agents of an engine, whose snapshot
    /// is that of all callers. A full cache is cleared.
    ///
    /// Cost: decompresses and parses the text, unless it is cached; some 2 ms for 500 KB.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot has no such text, or a damaged one.
    pub(super) fn get(&self, file: u32, engine: &Engine<'_>) -> Result<Arc<OldRules>> {
        let cached_text = {
            let cached = lock(&self.cached);
            let found = cached.by_file.get(&file);
            if let Some(rules) = found.and_then(|found| found.rules_for(engine.id)) {
                return Ok(Arc::clone(rules));
            }
            found.map(|found| Arc::clone(&found.text))
        };
        // Other threads go on while a text is parsed.
        let text = match cached_text {
            Some(text) => text,
            None => self.read(file, engine)?,
        };
        let rules = Arc::new(OldRules::new(Arc::clone(&text), engine));
        lock(&self.cached).insert(file, text, engine.id, Arc::clone(&rules));
        Ok(rules)
    }

    /// Decompresses and parses a text.
    fn read(&self, file: u32, engine: &Engine<'_>) -> Result<Arc<OldText>> {
        let mut reader = self
            .readers
            .take_or_else(|| TextReader::new(engine.snapshot()));
        let text = reader.read(file)?;
        self.readers.put_back(reader);
        let bytes = text.len();
        let robots = Robots::parse(text, engine.profile());
        Ok(Arc::new(OldText { robots, bytes }))
    }
}

impl CachedRules {
    /// Adds the rules of a text for the agents of an engine. A full cache is cleared before.
    fn insert(&mut self, file: u32, text: Arc<OldText>, engine: u64, rules: Arc<OldRules>) {
        if self.bytes + text.bytes + BYTES_PER_TEXT > CACHED_BYTES {
            *self = Self::default();
        }
        let cached = self.by_file.entry(file).or_insert_with(|| {
            self.bytes += text.bytes;
            CachedText {
                text,
                rules: Vec::new(),
            }
        });
        // Another thread may have been here meanwhile.
        if cached.rules_for(engine).is_none() {
            cached.rules.push((engine, rules));
            self.bytes += BYTES_PER_TEXT;
        }
    }
}
