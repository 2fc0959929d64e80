//! The rules of old versions of robots.txt files, parsed when a URL asks for their time.
//!
//! A snapshot stores the rule sets of the newest versions only. With those of all versions, the
//! snapshot of a weekly archive of five years took 94 times the space of the newest. An old text is
//! parsed on demand instead, and kept in a cache of bounded size.

use super::owned::Pool;
use crate::agent::{Agent, AgentMatch};
use crate::error::Result;
use crate::explain::answers::allows_path;
use crate::matcher::PathSignature;
use crate::profile::Profile;
use crate::robots::Robots;
use crate::snapshot::Snapshot;
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
    robots: Robots,
    /// Agents with the same groups.
    classes: Vec<AgentClass>,
    profile: Profile,
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
    fn new(text: Vec<u8>, agents: &[Agent], how: AgentMatch, profile: Profile) -> Self {
        let robots = Robots::parse(text, profile);
        let mut classes: Vec<AgentClass> = Vec::new();
        for (number, agent) in agents.iter().enumerate() {
            let groups = group_numbers(&robots, agent, how);
            let class = match classes.iter().position(|class| class.groups == groups) {
                Some(class) => class,
                None => {
                    classes.push(AgentClass {
                        groups,
                        agents: vec![0; agents.len().div_ceil(64)],
                    });
                    classes.len() - 1
                }
            };
            classes[class].agents[number / 64] |= 1 << (number % 64);
        }
        Self {
            robots,
            classes,
            profile,
        }
    }

    /// Sets the bits of the agents that may fetch a path in normal form.
    pub(super) fn judge(&self, path: &[u8], allowed: &mut [u64]) {
        allowed.fill(0);
        let all = self.robots.parsed().groups();
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

/// The old rules that were asked for lately. All threads of a judge share them.
#[derive(Debug)]
pub(super) struct OldRulesCache {
    rules: Mutex<CachedRules>,
    readers: Pool<TextReader>,
}

#[derive(Debug, Default)]
struct CachedRules {
    by_file: HashMap<u32, Arc<OldRules>>,
    bytes: usize,
}

impl OldRulesCache {
    pub(super) fn new() -> Self {
        Self {
            rules: Mutex::default(),
            readers: Pool::new(),
        }
    }

    /// The rules of the old robots.txt with this number. A full cache is cleared.
    ///
    /// Cost: decompresses and parses the text, unless it is cached; some 2 ms for 500 KB.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot has no such text, or a damaged one.
    pub(super) fn get(
        &self,
        snapshot: &Snapshot,
        file: u32,
        agents: &[Agent],
        how: AgentMatch,
        profile: Profile,
    ) -> Result<Arc<OldRules>> {
        if let Some(rules) = lock(&self.rules).by_file.get(&file) {
            return Ok(rules.clone());
        }
        let mut reader = self.readers.take_or_else(|| TextReader::new(snapshot));
        let text = reader.read(file)?;
        self.readers.put_back(reader);
        let bytes = text.len() + BYTES_PER_TEXT;
        let rules = Arc::new(OldRules::new(text, agents, how, profile));
        let mut cached = lock(&self.rules);
        if cached.bytes + bytes > CACHED_BYTES {
            *cached = CachedRules::default();
        }
        if cached.by_file.insert(file, rules.clone()).is_none() {
            cached.bytes += bytes;
        }
        Ok(rules)
    }
}
