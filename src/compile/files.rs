//! The distinct robots.txt files, rule sets and names: each stored once, whichever thread meets it first.

use crate::compile::canonical::{self, Merged};
use crate::error::Result;
use crate::matcher::encoded_set::EncodedRules;
use crate::profile::Profile;
use crate::robots::Robots;
use crate::robots::condense::{Delivery, condense};
use crate::snapshot::text::{DICTIONARY, Packer, Unpacker};
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The number that a file or rule set will have in the snapshot, given when all are known; or where the previous snapshot has it.
#[derive(Debug)]
pub(super) struct Number(AtomicU32);

impl Default for Number {
    fn default() -> Self {
        Self(AtomicU32::new(u32::MAX))
    }
}

impl Number {
    /// The number, which `next` makes if there is none yet.
    pub(super) fn get_or(&self, next: impl FnOnce() -> u32) -> u32 {
        match self.0.load(Ordering::Relaxed) {
            u32::MAX => {
                let number = next();
                self.0.store(number, Ordering::Relaxed);
                number
            }
            number => number,
        }
    }

    /// The number given before.
    pub(super) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// The number, if one was given.
    pub(super) fn known(&self) -> Option<u32> {
        Some(self.get()).filter(|&number| number != u32::MAX)
    }

    /// Gives a number in the place of any other.
    pub(super) fn set(&self, number: u32) {
        self.0.store(number, Ordering::Relaxed);
    }

    /// Gives a number; of several the lowest stays, whichever thread is first.
    pub(super) fn lower_to(&self, number: u32) {
        self.0.fetch_min(number, Ordering::Relaxed);
    }
}

/// A name, and what it is told.
type NamedRules = (Arc<Name>, Arc<RuleSetData>);

/// One distinct name. Each is there once, so it carries its number: files name 20 times as many as there are.
#[derive(Debug)]
pub(super) struct Name {
    pub text: Box<[u8]>,
    pub number: Number,
}

/// One distinct robots.txt: its condensed text, compressed, and the rule sets it has for whom.
#[derive(Debug)]
pub(super) struct File {
    frame: Box<[u8]>,
    pub raw_len: u32,
    pub global: Option<Arc<RuleSetData>>,
    /// Sorted by name.
    pub named: Box<[NamedRules]>,
    /// Rule sets before equal ones were merged.
    pub rule_sets_before: u32,
    pub number: Number,
    /// The row of the same file in the previous snapshot.
    pub old: Number,
}

impl File {
    /// The compressed text; equal texts have equal frames.
    pub(super) fn frame(&self) -> &[u8] {
        &self.frame
    }
}

/// One distinct rule set, or a union of some.
#[derive(Debug)]
pub(super) struct RuleSetData {
    pub content: SetContent,
    pub number: Number,
    /// The place of the same rules in the previous snapshot.
    pub old: Number,
}

#[derive(Debug)]
pub(super) enum SetContent {
    Set(EncodedRules),
    Union(Box<[Arc<RuleSetData>]>),
}

/// Rule sets are distinct, so unions are equal if their parts are the same ones.
impl PartialEq for SetContent {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(a), Self::Set(b)) => a == b,
            (Self::Union(a), Self::Union(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b)),
            _ => false,
        }
    }
}

impl SetContent {
    fn hash(&self, seed: u64) -> u64 {
        match self {
            Self::Set(rules) => xxh3_64_with_seed(rules.bytes(), seed),
            Self::Union(parts) => {
                let parts: Vec<u8> = parts.iter().flat_map(|part| (Arc::as_ptr(part) as usize).to_le_bytes()).collect();
                xxh3_64_with_seed(&parts, seed)
            }
        }
    }
}

/// Values found by a hash of their content, in shards so that threads seldom wait for each other. The hash is keyed
/// at random, and equal hashes are followed by a comparison: no site can make its robots.txt pass for another's.
#[derive(Debug)]
struct Shards<T> {
    shards: Vec<Mutex<Shard<T>>>,
    seed: u64,
}

/// Values with their hashes.
type Shard<T> = HashTable<(u64, T)>;

impl<T> Default for Shards<T> {
    fn default() -> Self {
        let shards = std::iter::repeat_with(|| Mutex::new(HashTable::new())).take(64);
        Self { shards: shards.collect(), seed: RandomState::new().hash_one(0) }
    }
}

impl<T: Clone> Shards<T> {
    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard<T>> {
        // Not by the lowest or highest bits, which tell values apart inside a shard.
        let number = (hash >> 32) as usize % self.shards.len();
        // A thread that panicked while it held the lock has at worst not added its value.
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_values(self) -> Vec<T> {
        let shards = self.shards.into_iter().map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner));
        shards.flatten().map(|(_, value)| value).collect()
    }

    fn find(&self, hash: u64, same: impl Fn(&T) -> bool) -> Option<T> {
        let shard = self.shard(hash);
        shard.find(hash, |(other, value)| *other == hash && same(value)).map(|(_, value)| value.clone())
    }

    /// The value that is the same as `value`, which becomes it if there is none.
    fn find_or_insert(&self, hash: u64, value: T, same: impl Fn(&T) -> bool) -> T {
        let mut shard = self.shard(hash);
        let is_same = |(other, value): &(u64, T)| *other == hash && same(value);
        let entry = shard.entry(hash, is_same, |(hash, _)| *hash).or_insert_with(|| (hash, value));
        entry.get().1.clone()
    }
}

/// All files, rule sets and names met so far.
#[derive(Debug, Default)]
pub(super) struct FileStore {
    files: Shards<Arc<File>>,
    sets: Shards<Arc<RuleSetData>>,
    names: Shards<Arc<Name>>,
}

impl FileStore {
    /// The file that `body` says the same as.
    pub(super) fn intern(
        &self,
        body: &[u8],
        delivery: Delivery,
        profile: Profile,
        packer: &mut Packer,
    ) -> Result<Arc<File>> {
        self.intern_text(&condense(body, delivery), profile, packer)
    }

    /// The file with this condensed text.
    pub(super) fn intern_text(&self, text: &[u8], profile: Profile, packer: &mut Packer) -> Result<Arc<File>> {
        let hash = xxh3_64_with_seed(text, self.files.seed);
        let same =
            |file: &Arc<File>| file.raw_len as usize == text.len() && unpack(file).is_some_and(|other| other == text);
        if let Some(file) = self.files.find(hash, same) {
            return Ok(file);
        }
        let file = Arc::new(self.build(text, profile, packer)?);
        Ok(self.files.find_or_insert(hash, file.clone(), |other| other.frame == file.frame))
    }

    /// All files and all rule sets met so far.
    pub(super) fn all(self) -> (Vec<Arc<File>>, Vec<Arc<RuleSetData>>) {
        (self.files.into_values(), self.sets.into_values())
    }

    fn build(&self, text: &[u8], profile: Profile, packer: &mut Packer) -> Result<File> {
        let robots = Robots::parse(text, profile);
        let by_agent = canonical::by_agent(&robots);
        let rule_sets_before = by_agent.named.len() as u32 + u32::from(by_agent.global.is_some());
        let sets = by_agent.merged.into_iter().map(|merged| self.intern_merged(merged)).collect::<Result<Vec<_>>>()?;
        let named = by_agent.named.into_iter().map(|(name, set)| (self.intern_name(name), sets[set].clone()));
        Ok(File {
            frame: packer.pack(text)?.into(),
            raw_len: text.len() as u32,
            global: by_agent.global.map(|set| sets[set].clone()),
            named: named.collect(),
            rule_sets_before,
            number: Number::default(),
            old: Number::default(),
        })
    }

    fn intern_merged(&self, merged: Merged<'_>) -> Result<Arc<RuleSetData>> {
        let content = match merged {
            Merged::Set(rules) => SetContent::Set(EncodedRules::encode(&rules)?),
            Merged::Union(sets) => {
                let mut parts: Vec<Arc<RuleSetData>> = Vec::new();
                for rules in sets {
                    let part = self.intern_set(SetContent::Set(EncodedRules::encode(&rules)?));
                    if !parts.iter().any(|known| Arc::ptr_eq(known, &part)) {
                        parts.push(part);
                    }
                }
                SetContent::Union(parts.into())
            }
        };
        Ok(self.intern_set(content))
    }

    fn intern_set(&self, content: SetContent) -> Arc<RuleSetData> {
        let hash = content.hash(self.sets.seed);
        if let Some(set) = self.sets.find(hash, |other| other.content == content) {
            return set;
        }
        let set = Arc::new(RuleSetData { content, number: Number::default(), old: Number::default() });
        self.sets.find_or_insert(hash, set.clone(), |other| other.content == set.content)
    }

    fn intern_name(&self, name: &[u8]) -> Arc<Name> {
        let hash = xxh3_64_with_seed(name, self.names.seed);
        let same = |other: &Arc<Name>| *other.text == *name;
        self.names.find(hash, same).unwrap_or_else(|| {
            let name = Name { text: name.into(), number: Number::default() };
            self.names.find_or_insert(hash, Arc::new(name), same)
        })
    }
}

/// The text of a file; `None` never happens to a frame of our own.
fn unpack(file: &File) -> Option<Vec<u8>> {
    thread_local! {
        static UNPACKER: std::cell::RefCell<Option<Unpacker>> = const { std::cell::RefCell::new(None) };
    }
    UNPACKER.with_borrow_mut(|unpacker| {
        if unpacker.is_none() {
            *unpacker = Unpacker::new(DICTIONARY).ok();
        }
        unpacker.as_mut()?.unpack(&file.frame, file.raw_len as usize).ok()
    })
}
