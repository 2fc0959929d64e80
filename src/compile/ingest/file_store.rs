//! The distinct robots.txt files, rule sets and agent names: each is stored once.

use super::interner::Interner;
use crate::compile::rule_sets::{self, MergedRules};
use crate::error::Result;
use crate::matcher::encoded_set::EncodedRules;
use crate::profile::Profile;
use crate::robots::Robots;
use crate::robots::condense::CondensedText;
use crate::snapshot::text::{DICTIONARY, Packer, Unpacker};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A number that is assigned once all contents are known: of a row or place in a snapshot.
#[derive(Debug)]
pub(crate) struct LateNumber(AtomicU32);

impl Default for LateNumber {
    fn default() -> Self {
        Self(AtomicU32::new(u32::MAX))
    }
}

impl LateNumber {
    /// The assigned number; `u32::MAX` if there is none.
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// The assigned number, if there is one.
    pub(crate) fn assigned(&self) -> Option<u32> {
        Some(self.get()).filter(|&number| number != u32::MAX)
    }

    /// Assigns a number, and replaces an earlier one.
    pub(crate) fn set(&self, number: u32) {
        self.0.store(number, Ordering::Relaxed);
    }

    /// Assigns the lowest of the numbers passed here, whichever thread is first.
    pub(crate) fn lower_to(&self, number: u32) {
        self.0.fetch_min(number, Ordering::Relaxed);
    }
}

/// One distinct agent name. Files name 20 times as many agents as there are distinct ones.
#[derive(Debug)]
pub(crate) struct InternedName {
    pub text: Box<[u8]>,
    pub number: LateNumber,
}

/// One distinct robots.txt: its condensed text, compressed, and its rules by agent.
#[derive(Debug)]
pub(crate) struct InternedFile {
    /// The compressed text; equal texts have equal frames.
    pub frame: Box<[u8]>,
    pub raw_len: u32,
    pub global: Option<Arc<InternedRules>>,
    /// Sorted by name.
    pub named: Box<[NamedRules]>,
    /// The number of rule sets, equal ones included.
    pub rule_sets_before: u32,
    pub number: LateNumber,
    /// The row of the same file in the previous snapshot.
    pub previous_row: LateNumber,
}

/// An agent name and its rules.
#[derive(Debug)]
pub(crate) struct NamedRules {
    pub name: Arc<InternedName>,
    pub rules: Arc<InternedRules>,
}

/// One distinct rule set, or a union of several.
#[derive(Debug)]
pub(crate) struct InternedRules {
    pub content: RulesContent,
    pub number: LateNumber,
    /// The place of the same rules in the previous snapshot.
    pub previous_place: LateNumber,
}

#[derive(Debug)]
pub(crate) enum RulesContent {
    Set(EncodedRules),
    Union(Box<[Arc<InternedRules>]>),
}

/// Rule sets are interned first, so unions are equal if their parts are the same allocations.
impl PartialEq for RulesContent {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(a), Self::Set(b)) => a == b,
            (Self::Union(a), Self::Union(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b)),
            _ => false,
        }
    }
}

impl RulesContent {
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

/// All files, rule sets and names so far.
#[derive(Debug, Default)]
pub(crate) struct FileStore {
    files: Interner<Arc<InternedFile>>,
    sets: Interner<Arc<InternedRules>>,
    names: Interner<Arc<InternedName>>,
}

impl FileStore {
    /// The file with this condensed text. Only distinct texts are parsed and compressed.
    pub(crate) fn intern_text(
        &self,
        condensed: &CondensedText,
        profile: Profile,
        packer: &mut Packer,
    ) -> Result<Arc<InternedFile>> {
        let text = condensed.text();
        let hash = xxh3_64_with_seed(text, self.files.seed);
        let is_same = |file: &Arc<InternedFile>| {
            file.raw_len as usize == text.len() && unpack(file).is_some_and(|other| other == text)
        };
        if let Some(file) = self.files.find(hash, is_same) {
            return Ok(file);
        }
        let file = Arc::new(self.build(condensed, profile, packer)?);
        Ok(self.files.find_or_insert(hash, file.clone(), |other| other.frame == file.frame))
    }

    /// All files and all rule sets, in no order.
    pub(crate) fn into_parts(self) -> (Vec<Arc<InternedFile>>, Vec<Arc<InternedRules>>) {
        (self.files.into_values(), self.sets.into_values())
    }

    /// Parses a text, merges the rules of each agent, encodes them, and compresses the text.
    fn build(&self, condensed: &CondensedText, profile: Profile, packer: &mut Packer) -> Result<InternedFile> {
        let robots = Robots::from_lines(condensed.lines(), profile);
        let text = condensed.text();
        let by_agent = rule_sets::by_agent(&robots);
        let rule_sets_before = by_agent.named.len() as u32 + u32::from(by_agent.global.is_some());
        let sets = by_agent.merged.into_iter().map(|merged| self.intern_merged(merged)).collect::<Result<Vec<_>>>()?;
        let named = by_agent.named.into_iter();
        let named = named.map(|(name, set)| NamedRules { name: self.intern_name(name), rules: sets[set].clone() });
        Ok(InternedFile {
            frame: packer.pack(text)?.into(),
            raw_len: text.len() as u32,
            global: by_agent.global.map(|set| sets[set].clone()),
            named: named.collect(),
            rule_sets_before,
            number: LateNumber::default(),
            previous_row: LateNumber::default(),
        })
    }

    fn intern_merged(&self, merged: MergedRules<'_>) -> Result<Arc<InternedRules>> {
        let content = match merged {
            MergedRules::Set(rules) => RulesContent::Set(EncodedRules::encode(&rules)?),
            MergedRules::Union(sets) => {
                let mut parts: Vec<Arc<InternedRules>> = Vec::new();
                for rules in sets {
                    let part = self.intern_rules(RulesContent::Set(EncodedRules::encode(&rules)?));
                    if !parts.iter().any(|other| Arc::ptr_eq(other, &part)) {
                        parts.push(part);
                    }
                }
                RulesContent::Union(parts.into())
            }
        };
        Ok(self.intern_rules(content))
    }

    fn intern_rules(&self, content: RulesContent) -> Arc<InternedRules> {
        let hash = content.hash(self.sets.seed);
        if let Some(rules) = self.sets.find(hash, |other| other.content == content) {
            return rules;
        }
        let (number, previous_place) = (LateNumber::default(), LateNumber::default());
        let rules = Arc::new(InternedRules { content, number, previous_place });
        self.sets.find_or_insert(hash, rules.clone(), |other| other.content == rules.content)
    }

    fn intern_name(&self, name: &[u8]) -> Arc<InternedName> {
        let hash = xxh3_64_with_seed(name, self.names.seed);
        let is_same = |other: &Arc<InternedName>| *other.text == *name;
        self.names.find(hash, is_same).unwrap_or_else(|| {
            let name = InternedName { text: name.into(), number: LateNumber::default() };
            self.names.find_or_insert(hash, Arc::new(name), is_same)
        })
    }
}

/// The text of a file; frames made here always decompress.
fn unpack(file: &InternedFile) -> Option<Vec<u8>> {
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
