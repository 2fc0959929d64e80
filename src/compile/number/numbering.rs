//! Assigns numbers by first use to files and rule sets, and by sort order to names.

use super::origins::PreviousFiles;
use crate::compile::incremental::previous::{PreviousRules, PreviousSnapshot, damaged};
use crate::compile::ingest::file_store::{InternedFile, InternedName, InternedRules, LateNumber, RulesContent};
use crate::compile::resolve::resolved_origin::{ContentRef, FileRef, FileView};
use crate::error::{Error, Result};
use crate::snapshot::format::{FileRow, NAMED_LEN, NONE, Section};
use std::collections::HashMap;
use std::sync::Arc;

/// The new numbers of the parts of the previous snapshot.
#[derive(Debug, Default)]
pub(super) struct PreviousNumbers {
    /// Files by row; `NONE` for files without an origin now.
    files: Vec<u32>,
    /// Rule sets by place.
    sets: HashMap<u32, u32>,
    /// Tokens by number; `NONE` for names that no inherited file has.
    tokens: Vec<u32>,
}

impl PreviousNumbers {
    pub(super) fn set(&self, place: u32) -> Result<u32> {
        self.sets.get(&place).copied().ok_or_else(|| damaged(Error::corrupt("rules without a number")))
    }

    pub(super) fn token(&self, number: u32) -> Result<u32> {
        let token = self.tokens.get(number as usize).copied().filter(|&token| token != NONE);
        token.ok_or_else(|| damaged(Error::corrupt("a name without a number")))
    }
}

/// Files, rule sets and names in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct AssignedNumbers {
    pub files: Vec<FileRef>,
    pub sets: Vec<ContentRef<Arc<InternedRules>>>,
    /// Sorted.
    pub names: Vec<Arc<InternedName>>,
    pub previous: PreviousNumbers,
    /// The rule sets of all files, equal ones included.
    pub rule_sets_before: u64,
    /// The rules of the distinct rule sets.
    pub rules: u64,
}

/// Lengths of inherited parts, which do not overlap in a valid snapshot.
///
/// In a crafted one they may, so that a small file would become a huge one.
#[derive(Default)]
struct InheritedLengths {
    named: u64,
    texts: u64,
    rule_sets: u64,
}

impl InheritedLengths {
    /// Fails if they exceed the sections of the previous snapshot.
    fn check(&self, previous: &PreviousSnapshot) -> Result<()> {
        let len = |section| previous.snapshot.section(section).len() as u64;
        let is_too_long = self.named * NAMED_LEN as u64 > len(Section::Named)
            || self.texts > len(Section::Texts)
            || self.rule_sets > len(Section::RuleSets);
        if is_too_long { Err(damaged(Error::corrupt("parts that overlap"))) } else { Ok(()) }
    }
}

/// Assigns numbers, file by file.
pub(super) struct NumberAssigner<'a> {
    previous: &'a PreviousFiles,
    numbers: AssignedNumbers,
    /// By token of the previous snapshot, whether an inherited file names it.
    is_named: Vec<bool>,
    inherited: InheritedLengths,
}

impl<'a> NumberAssigner<'a> {
    pub(super) fn new(previous: &'a PreviousFiles) -> Result<Self> {
        let (mut numbers, mut is_named) = (AssignedNumbers::default(), Vec::new());
        if let Some(previous) = &previous.snapshot {
            numbers.previous.files = vec![NONE; previous.snapshot.file_count() as usize];
            is_named = vec![false; previous.token_count()? as usize];
        }
        Ok(Self { previous, numbers, is_named, inherited: InheritedLengths::default() })
    }

    /// Numbers a file with its rule sets, unless it has a number.
    pub(super) fn add_file(&mut self, file: FileView<'_>) -> Result<()> {
        match self.previous.stored(file) {
            FileView::New(file) => self.add_new_file(file),
            FileView::Previous(row) => self.add_previous_file(row),
        }
    }

    fn add_new_file(&mut self, file: &Arc<InternedFile>) -> Result<()> {
        if file.number.assigned().is_some() {
            return Ok(());
        }
        file.number.set(self.numbers.files.len() as u32);
        self.numbers.files.push(FileRef::New(file.clone()));
        self.numbers.rule_sets_before += u64::from(file.rule_sets_before);
        for rules in file.global.iter().chain(file.named.iter().map(|named| &named.rules)) {
            self.add_new_rules(rules)?;
        }
        for name in file.named.iter().map(|named| &named.name) {
            if name.number.assigned().is_none() {
                // Marks the name as used; `finish` assigns its number.
                name.number.set(0);
                self.numbers.names.push(name.clone());
            }
        }
        Ok(())
    }

    /// Numbers rules, the parts of a union first.
    fn add_new_rules(&mut self, rules: &Arc<InternedRules>) -> Result<()> {
        if let Some(place) = rules.previous_place.assigned() {
            return self.add_previous_rules(place);
        }
        if rules.number.assigned().is_some() {
            return Ok(());
        }
        match &rules.content {
            RulesContent::Set(encoded) => self.numbers.rules += encoded.set()?.rule_count() as u64,
            RulesContent::Union(parts) => parts.iter().try_for_each(|part| self.add_new_rules(part))?,
        }
        rules.number.set(self.numbers.sets.len() as u32);
        self.numbers.sets.push(ContentRef::New(rules.clone()));
        Ok(())
    }

    fn add_previous_file(&mut self, row: u32) -> Result<()> {
        let previous = self.previous.snapshot()?;
        let file: FileRow = previous.file(row)?;
        match self.numbers.previous.files.get_mut(row as usize) {
            Some(number) if *number == NONE => *number = self.numbers.files.len() as u32,
            _ => return Ok(()),
        }
        self.numbers.files.push(FileRef::Previous(row));
        self.inherited.named += u64::from(file.named_len);
        self.inherited.texts += u64::from(file.text_len);
        self.inherited.check(previous)?;
        self.numbers.rule_sets_before += u64::from(file.named_len) + u64::from(file.global != NONE);
        for place in previous.rules_of(&file)? {
            self.add_previous_rules(place)?;
        }
        for (token, _) in previous.named(&file)? {
            match self.is_named.get_mut(token as usize) {
                Some(is_named) => *is_named = true,
                None => return Err(damaged(Error::corrupt("a name that is not there"))),
            }
        }
        Ok(())
    }

    fn add_previous_rules(&mut self, place: u32) -> Result<()> {
        if self.numbers.previous.sets.contains_key(&place) {
            return Ok(());
        }
        let previous = self.previous.snapshot()?;
        match previous.rules(place)? {
            PreviousRules::Union(parts) => {
                self.inherited.rule_sets += parts.len() as u64 * 4;
                parts.into_iter().try_for_each(|part| self.add_previous_rules(part))?;
            }
            PreviousRules::Set(set) => {
                self.inherited.rule_sets += set.len() as u64;
                self.numbers.rules += set.rule_count() as u64;
            }
        }
        self.inherited.check(previous)?;
        self.numbers.previous.sets.insert(place, self.numbers.sets.len() as u32);
        self.numbers.sets.push(ContentRef::Previous(place));
        Ok(())
    }

    /// All numbers; names are sorted and numbered here.
    pub(super) fn finish(mut self) -> Result<AssignedNumbers> {
        let names = &mut self.numbers.names;
        names.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        let (new, mut inherited) = (names.len(), Vec::new());
        for token in (0..).zip(&self.is_named).filter(|(_, is_named)| **is_named).map(|(token, _)| token) {
            let name = self.previous.snapshot()?.token(token)?;
            if names[..new].binary_search_by(|other| (*other.text).cmp(name)).is_err() {
                names.push(Arc::new(InternedName { text: name.into(), number: LateNumber::default() }));
            }
            inherited.push((token, name));
        }
        names.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        names.dedup_by(|a, b| a.text == b.text);
        names.iter().zip(0..).for_each(|(name, number)| name.number.set(number));
        self.numbers.previous.tokens = vec![NONE; self.is_named.len()];
        for (token, name) in inherited {
            let number = names.binary_search_by(|other| (*other.text).cmp(name));
            self.numbers.previous.tokens[token as usize] = number.map_or(NONE, |number| number as u32);
        }
        Ok(self.numbers)
    }
}

impl AssignedNumbers {
    /// The number of a file.
    pub(super) fn of_file(&self, file: FileView<'_>, previous: &PreviousFiles) -> u32 {
        match previous.stored(file) {
            FileView::New(file) => file.number.get(),
            FileView::Previous(row) => self.previous.files.get(row as usize).copied().unwrap_or(NONE),
        }
    }

    /// The number of rules of the captures.
    pub(super) fn of_rules(&self, rules: &InternedRules) -> Result<u32> {
        rules.previous_place.assigned().map_or(Ok(rules.number.get()), |place| self.previous.set(place))
    }
}
