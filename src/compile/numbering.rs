//! Numbers by first use: of files and rule sets that were read now, and of those that the previous snapshot has.

use crate::compile::files::{File, Name, RuleSetData, SetContent};
use crate::compile::origins::FileAt;
use crate::compile::previous::{OldRules, Previous, damaged};
use crate::compile::resolve::FileRef;
use crate::error::{Error, Result};
use crate::snapshot::format::{FileRow, NAMED_LEN, NONE, Section};
use std::collections::HashMap;
use std::sync::Arc;

/// Where the texts of the previous snapshot come from, if there is one.
#[derive(Debug, Default)]
pub(super) struct Old {
    pub previous: Option<Previous>,
    /// What its texts were read as anew, by row, if its files cannot be used as they lie; else nothing.
    pub reread: Vec<Arc<File>>,
}

impl Old {
    /// The one file that counts, of two that are the same.
    fn chosen<'a>(&'a self, file: FileAt<'a>) -> FileAt<'a> {
        match file {
            FileAt::New(new) => new.old.known().map_or(file, FileAt::Old),
            FileAt::Old(row) => self.reread.get(row as usize).map_or(file, FileAt::New),
        }
    }

    pub(super) fn previous(&self) -> Result<&Previous> {
        self.previous.as_ref().ok_or_else(|| damaged(Error::corrupt("there is none")))
    }
}

/// Rules.
#[derive(Debug)]
pub(super) enum SetRef {
    /// Of files that were read now.
    New(Arc<RuleSetData>),
    /// At a place of the previous snapshot.
    Old(u32),
}

/// Which number each part of the previous snapshot has now.
#[derive(Debug, Default)]
pub(super) struct OldNumbers {
    /// By row; `NONE` for files that nothing refers to any more.
    files: Vec<u32>,
    /// By place.
    sets: HashMap<u32, u32>,
    /// By the number there; `NONE` for names that no file names any more.
    tokens: Vec<u32>,
}

impl OldNumbers {
    pub(super) fn set(&self, place: u32) -> Result<u32> {
        self.sets.get(&place).copied().ok_or_else(|| damaged(Error::corrupt("rules without a number")))
    }

    pub(super) fn token(&self, number: u32) -> Result<u32> {
        let token = self.tokens.get(number as usize).copied().filter(|&token| token != NONE);
        token.ok_or_else(|| damaged(Error::corrupt("a name without a number")))
    }
}

/// A name.
#[derive(Clone, Debug)]
pub(super) enum NameRef {
    /// Of files that were read now.
    New(Arc<Name>),
    /// That only files of the previous snapshot name.
    Old(Box<[u8]>),
}

impl NameRef {
    pub(super) fn text(&self) -> &[u8] {
        match self {
            Self::New(name) => &name.text,
            Self::Old(text) => text,
        }
    }
}

/// Files, rule sets and names in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub files: Vec<FileRef>,
    pub sets: Vec<SetRef>,
    /// In the order of their bytes.
    pub names: Vec<NameRef>,
    pub old: OldNumbers,
    /// Rule sets over all files before equal ones were merged, and rules in the distinct ones.
    pub rule_sets_before: u64,
    pub rules: u64,
}

/// What was taken over of sections whose parts do not overlap. In a file that was made to deceive they may, and a small one would then
/// become a huge one.
#[derive(Default)]
struct Taken {
    named: u64,
    texts: u64,
    rule_sets: u64,
}

impl Taken {
    fn check(&self, previous: &Previous) -> Result<()> {
        let too_much = self.named * NAMED_LEN as u64 > previous.len(Section::Named)
            || self.texts > previous.len(Section::Texts)
            || self.rule_sets > previous.len(Section::RuleSets);
        if too_much { Err(damaged(Error::corrupt("parts that overlap"))) } else { Ok(()) }
    }
}

/// Gives numbers, file by file.
pub(super) struct Numbering<'a> {
    old: &'a Old,
    numbers: Numbers,
    /// Whether a file that is taken over names this token of the previous snapshot.
    is_named: Vec<bool>,
    taken: Taken,
}

impl<'a> Numbering<'a> {
    pub(super) fn new(old: &'a Old) -> Result<Self> {
        let mut numbering = Self { old, numbers: Numbers::default(), is_named: Vec::new(), taken: Taken::default() };
        if let Some(previous) = &old.previous {
            numbering.numbers.old.files = vec![NONE; previous.file_count() as usize];
            numbering.is_named = vec![false; previous.token_count()? as usize];
        }
        Ok(numbering)
    }

    pub(super) fn file(&mut self, file: FileAt<'_>) -> Result<()> {
        match self.old.chosen(file) {
            FileAt::New(file) => self.new_file(file),
            FileAt::Old(row) => self.old_file(row),
        }
    }

    fn new_file(&mut self, file: &Arc<File>) -> Result<()> {
        if file.number.known().is_some() {
            return Ok(());
        }
        file.number.get_or(|| self.numbers.files.len() as u32);
        self.numbers.files.push(FileRef::New(file.clone()));
        self.numbers.rule_sets_before += u64::from(file.rule_sets_before);
        for set in file.global.iter().chain(file.named.iter().map(|(_, set)| set)) {
            self.new_set(set)?;
        }
        for (name, _) in &file.named {
            if name.number.known().is_none() {
                // That they are there; their order comes last.
                name.number.set(0);
                self.numbers.names.push(NameRef::New(name.clone()));
            }
        }
        Ok(())
    }

    /// A union's parts are numbered before it.
    fn new_set(&mut self, set: &Arc<RuleSetData>) -> Result<()> {
        if let Some(place) = set.old.known() {
            return self.old_set(place);
        }
        if set.number.known().is_some() {
            return Ok(());
        }
        match &set.content {
            SetContent::Set(rules) => self.numbers.rules += rules.set()?.rule_count() as u64,
            SetContent::Union(parts) => parts.iter().try_for_each(|part| self.new_set(part))?,
        }
        set.number.get_or(|| self.numbers.sets.len() as u32);
        self.numbers.sets.push(SetRef::New(set.clone()));
        Ok(())
    }

    fn old_file(&mut self, row: u32) -> Result<()> {
        let previous = self.old.previous()?;
        let file: FileRow = previous.file(row)?;
        match self.numbers.old.files.get_mut(row as usize) {
            Some(number) if *number == NONE => *number = self.numbers.files.len() as u32,
            _ => return Ok(()),
        }
        self.numbers.files.push(FileRef::Old(row));
        self.taken.named += u64::from(file.named_len);
        self.taken.texts += u64::from(file.text_len);
        self.taken.check(previous)?;
        self.numbers.rule_sets_before += u64::from(file.named_len) + u64::from(file.global != NONE);
        for place in previous.rules_of(&file)? {
            self.old_set(place)?;
        }
        for (token, _) in previous.named(&file)? {
            match self.is_named.get_mut(token as usize) {
                Some(is_named) => *is_named = true,
                None => return Err(damaged(Error::corrupt("a name that is not there"))),
            }
        }
        Ok(())
    }

    fn old_set(&mut self, place: u32) -> Result<()> {
        if self.numbers.old.sets.contains_key(&place) {
            return Ok(());
        }
        let previous = self.old.previous()?;
        match previous.rules(place)? {
            OldRules::Union(parts) => {
                self.taken.rule_sets += parts.len() as u64 * 4;
                parts.into_iter().try_for_each(|part| self.old_set(part))?;
            }
            OldRules::Set(set) => {
                self.taken.rule_sets += set.len() as u64;
                self.numbers.rules += set.rule_count() as u64;
            }
        }
        self.taken.check(previous)?;
        self.numbers.old.sets.insert(place, self.numbers.sets.len() as u32);
        self.numbers.sets.push(SetRef::Old(place));
        Ok(())
    }

    /// All numbers, names too, which are in their own order.
    pub(super) fn finish(mut self) -> Result<Numbers> {
        let names = &mut self.numbers.names;
        names.sort_unstable_by(|a, b| a.text().cmp(b.text()));
        let (new, mut named) = (names.len(), Vec::new());
        for token in (0..).zip(&self.is_named).filter(|(_, is_named)| **is_named).map(|(token, _)| token) {
            let name = self.old.previous()?.token(token)?;
            if names[..new].binary_search_by(|other| other.text().cmp(name)).is_err() {
                names.push(NameRef::Old(name.into()));
            }
            named.push((token, name));
        }
        names.sort_unstable_by(|a, b| a.text().cmp(b.text()));
        names.dedup_by(|a, b| a.text() == b.text());
        for (name, number) in names.iter().zip(0..) {
            if let NameRef::New(name) = name {
                name.number.set(number);
            }
        }
        self.numbers.old.tokens = vec![NONE; self.is_named.len()];
        for (token, name) in named {
            let place = names.binary_search_by(|other| other.text().cmp(name));
            self.numbers.old.tokens[token as usize] = place.map_or(NONE, |place| place as u32);
        }
        Ok(self.numbers)
    }
}

impl Numbers {
    /// The number of a file.
    pub(super) fn of_file(&self, file: FileAt<'_>, old: &Old) -> u32 {
        match old.chosen(file) {
            FileAt::New(file) => file.number.get(),
            FileAt::Old(row) => self.old.files.get(row as usize).copied().unwrap_or(NONE),
        }
    }

    /// The number of rules that were read now.
    pub(super) fn of_set(&self, set: &RuleSetData) -> Result<u32> {
        set.old.known().map_or(Ok(set.number.get()), |place| self.old.set(place))
    }
}
