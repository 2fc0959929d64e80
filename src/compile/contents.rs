//! What was compiled, in the order of the snapshot: origins by key, everything else by first use, so that equal inputs give equal bytes.

use crate::compile::Compiled;
use crate::compile::files::{File, RuleSetData, SetContent};
use crate::compile::numbering::{NameRef, Numbering, Numbers, Old, SetRef};
use crate::compile::origins::{FileAt, OriginAt, Origins};
use crate::compile::previous::{OldRules, Previous};
use crate::compile::report::CompileReport;
use crate::compile::resolve::FileRef;
use crate::error::{ErrorKind, Result};
use crate::snapshot::contents::{Contents, FileContents, OriginContents, Rows, RuleSetContents};
use crate::snapshot::{Counts, Outcome, OutcomeClass};

/// Origins, files, rule sets and names in the order of the snapshot.
#[derive(Debug)]
pub(super) struct Numbered {
    origins: Origins,
    numbers: Numbers,
    captured: Option<(i64, i64)>,
    old: Old,
}

/// Gives every part its number and the report its counts.
pub(super) fn number(origins: Origins, old: Old, mut report: CompileReport) -> Result<Compiled> {
    let mut numbering = Numbering::new(&old)?;
    let (mut counts, mut captured) = (Counts::default(), None);
    for i in 0..origins.len() {
        let origin = origins.get(i, old.previous.as_ref())?;
        for file in [origin.file, origin.last_good].into_iter().flatten() {
            numbering.file(file)?;
        }
        count(&origin.outcome, &mut counts);
        if let Some(time) = origin.outcome.fetched {
            let (oldest, newest) = captured.unwrap_or((time, time));
            captured = Some((time.min(oldest), time.max(newest)));
        }
    }
    let numbers = numbering.finish()?;
    if origins.len().max(numbers.files.len()) >= u32::MAX as usize {
        return Err(ErrorKind::TooLarge("four billion origins or more".to_owned()).into());
    }
    counts.files = numbers.files.len() as u64;
    counts.rule_sets_before = numbers.rule_sets_before;
    counts.rule_sets = numbers.sets.len() as u64;
    counts.rules = numbers.rules;
    counts.tokens = numbers.names.len() as u64;
    report.counts = counts;
    report.taken_over = origins.taken_over();
    Ok(Compiled { contents: Numbered { origins, numbers, captured, old }, report })
}

fn count(outcome: &Outcome, counts: &mut Counts) {
    counts.origins += 1;
    counts.redirected += u64::from(outcome.hops > 0 && outcome.class != OutcomeClass::Unresolved);
    *match outcome.class {
        OutcomeClass::Rules => &mut counts.outcome_rules,
        OutcomeClass::ClientError => &mut counts.outcome_client_error,
        OutcomeClass::ServerError => &mut counts.outcome_server_error,
        OutcomeClass::Unreachable => &mut counts.outcome_unreachable,
        OutcomeClass::Unresolved => &mut counts.outcome_unresolved,
    } += 1;
}

impl Numbered {
    /// What the snapshot's writer takes.
    pub(super) fn view(&self, report: &CompileReport) -> Contents<'_> {
        let Numbers { files, sets, names, .. } = &self.numbers;
        Contents {
            profile: report.profile,
            counts: report.counts,
            captured: self.captured,
            tokens: names.iter().map(NameRef::text).collect(),
            rule_sets: Rows::new(sets.len(), |i| self.set(&sets[i])),
            files: Rows::new(files.len(), |i| self.file(&files[i])),
            origins: Rows::new(self.origins.len(), |i| {
                Ok(self.origin(self.origins.get(i, self.old.previous.as_ref())?))
            }),
        }
    }

    fn set<'a>(&'a self, set: &'a SetRef) -> Result<RuleSetContents<'a>> {
        match set {
            SetRef::New(set) => self.new_set(set),
            SetRef::Old(place) => match self.old.previous()?.rules(*place)? {
                OldRules::Set(set) => Ok(RuleSetContents::Set(set)),
                OldRules::Union(parts) => {
                    let parts = parts.into_iter().map(|part| self.numbers.old.set(part));
                    parts.collect::<Result<_>>().map(RuleSetContents::Union)
                }
            },
        }
    }

    fn new_set<'a>(&'a self, set: &'a RuleSetData) -> Result<RuleSetContents<'a>> {
        match &set.content {
            SetContent::Set(rules) => rules.set().map(RuleSetContents::Set),
            SetContent::Union(parts) => {
                let parts = parts.iter().map(|part| self.numbers.of_set(part));
                parts.collect::<Result<_>>().map(RuleSetContents::Union)
            }
        }
    }

    fn file<'a>(&'a self, file: &'a FileRef) -> Result<FileContents<'a>> {
        match file {
            FileRef::New(file) => self.new_file(file),
            FileRef::Old(row) => self.old_file(*row, self.old.previous()?),
        }
    }

    fn new_file<'a>(&'a self, file: &'a File) -> Result<FileContents<'a>> {
        // Names sort as their numbers do, so the pairs are in the order of the tokens.
        let named =
            || file.named.iter().map(|(name, set)| Ok((name.number.get(), self.numbers.of_set(set)?))).collect();
        Ok(FileContents {
            global: file.global.as_ref().map(|set| self.numbers.of_set(set)).transpose()?,
            named_len: file.named.len() as u32,
            named: Box::new(named),
            frame: file.frame(),
            raw_len: file.raw_len,
        })
    }

    fn old_file<'a>(&'a self, row: u32, previous: &'a Previous) -> Result<FileContents<'a>> {
        let file = previous.file(row)?;
        let numbers = &self.numbers.old;
        let named = move || {
            previous.named(&file)?.map(|(token, place)| Ok((numbers.token(token)?, numbers.set(place)?))).collect()
        };
        Ok(FileContents {
            global: previous.global(&file).map(|place| numbers.set(place)).transpose()?,
            named_len: file.named_len,
            named: Box::new(named),
            frame: previous.frame(row)?,
            raw_len: file.raw_len,
        })
    }

    fn origin<'a>(&self, origin: OriginAt<'a>) -> OriginContents<'a> {
        let number = |file: Option<FileAt<'_>>| file.map(|file| self.numbers.of_file(file, &self.old));
        OriginContents {
            key: origin.key,
            file: number(origin.file),
            last_good: number(origin.last_good),
            outcome: origin.outcome,
            source: origin.source,
            detail: origin.detail,
        }
    }
}
