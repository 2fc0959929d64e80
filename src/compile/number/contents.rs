//! The numbered contents of a compiled snapshot, as its writer reads them.

use super::numbering::{AssignedNumbers, NumberAssigner};
use super::origins::{MergedOrigins, PreviousFiles};
use crate::compile::incremental::previous::PreviousRules;
use crate::compile::ingest::file_store::{NamedRules, RulesContent};
use crate::compile::resolve::resolved_origin::{ContentRef, FileRef, FileView};
use crate::error::{ErrorKind, Result};
use crate::profile::Profile;
use crate::snapshot::contents::{FileContents, NamedContents, OriginContents, RuleSetContents, SnapshotContents};
use crate::snapshot::write::TOOL;
use crate::snapshot::{Counts, Metadata, Outcome, OutcomeClass};

/// Origins, files, rule sets and names in the order of the snapshot.
#[derive(Debug)]
pub(crate) struct NumberedContents {
    profile: Profile,
    origins: MergedOrigins,
    numbers: AssignedNumbers,
    /// The times of the oldest and the newest capture.
    captured: Option<(i64, i64)>,
    previous: PreviousFiles,
    pub counts: Counts,
}

impl NumberedContents {
    /// Assigns all numbers, and counts.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for four billion origins or files; damage in the previous snapshot.
    pub(crate) fn new(profile: Profile, origins: MergedOrigins, previous: PreviousFiles) -> Result<Self> {
        let mut assigner = NumberAssigner::new(&previous)?;
        let (mut counts, mut captured) = (Counts::default(), None);
        for i in 0..origins.len() {
            let origin = origins.get(i, &previous)?;
            for file in [origin.file, origin.last_good].into_iter().flatten() {
                assigner.add_file(file)?;
            }
            count(&origin.outcome, &mut counts);
            if let Some(time) = origin.outcome.fetched {
                let (oldest, newest) = captured.unwrap_or((time, time));
                captured = Some((time.min(oldest), time.max(newest)));
            }
        }
        let numbers = assigner.finish()?;
        if origins.len().max(numbers.files.len()) >= u32::MAX as usize {
            return Err(ErrorKind::TooLarge("four billion origins or more".to_owned()).into());
        }
        counts.files = numbers.files.len() as u64;
        counts.rule_sets_before = numbers.rule_sets_before;
        counts.rule_sets = numbers.sets.len() as u64;
        counts.rules = numbers.rules;
        counts.tokens = numbers.names.len() as u64;
        Ok(Self { profile, origins, numbers, captured, previous, counts })
    }
}

impl SnapshotContents for NumberedContents {
    fn metadata(&self) -> Metadata {
        Metadata { tool: TOOL.to_owned(), profile: self.profile, counts: self.counts, captured: self.captured }
    }

    fn tokens(&self) -> Vec<&[u8]> {
        self.numbers.names.iter().map(|name| &*name.text).collect()
    }

    fn rule_set_count(&self) -> usize {
        self.numbers.sets.len()
    }

    fn rule_set(&self, number: usize) -> Result<RuleSetContents<'_>> {
        let parts: Result<Vec<u32>> = match &self.numbers.sets[number] {
            ContentRef::New(rules) => match &rules.content {
                RulesContent::Set(encoded) => return encoded.set().map(RuleSetContents::Set),
                RulesContent::Union(parts) => parts.iter().map(|part| self.numbers.of_rules(part)).collect(),
            },
            ContentRef::Previous(place) => match self.previous.snapshot()?.rules(*place)? {
                PreviousRules::Set(set) => return Ok(RuleSetContents::Set(set)),
                PreviousRules::Union(parts) => parts.iter().map(|&part| self.numbers.previous.set(part)).collect(),
            },
        };
        parts.map(RuleSetContents::Union)
    }

    fn file_count(&self) -> usize {
        self.numbers.files.len()
    }

    fn file(&self, number: usize) -> Result<FileContents<'_>> {
        match &self.numbers.files[number] {
            FileRef::New(file) => Ok(FileContents {
                global: file.global.as_ref().map(|rules| self.numbers.of_rules(rules)).transpose()?,
                named_len: file.named.len() as u32,
                frame: &file.frame,
                raw_len: file.raw_len,
            }),
            FileRef::Previous(row) => {
                let previous = self.previous.snapshot()?;
                let file = previous.file(*row)?;
                Ok(FileContents {
                    global: previous.global(&file).map(|place| self.numbers.previous.set(place)).transpose()?,
                    named_len: file.named_len,
                    frame: previous.frame(*row)?,
                    raw_len: file.raw_len,
                })
            }
        }
    }

    // Names sort as their numbers do, so both sources are sorted by token.
    fn named(&self, file: usize) -> Result<Vec<NamedContents>> {
        match &self.numbers.files[file] {
            FileRef::New(file) => {
                let number = |named: &NamedRules| -> Result<NamedContents> {
                    let rule_set = self.numbers.of_rules(&named.rules)?;
                    Ok(NamedContents { token: named.name.number.get(), rule_set })
                };
                file.named.iter().map(number).collect()
            }
            FileRef::Previous(row) => {
                let (previous, numbers) = (self.previous.snapshot()?, &self.numbers.previous);
                let named = previous.named(&previous.file(*row)?)?;
                named
                    .map(|(token, place)| {
                        Ok(NamedContents { token: numbers.token(token)?, rule_set: numbers.set(place)? })
                    })
                    .collect()
            }
        }
    }

    fn origin_count(&self) -> usize {
        self.origins.len()
    }

    fn origin(&self, row: usize) -> Result<OriginContents<'_>> {
        let origin = self.origins.get(row, &self.previous)?;
        let number = |file: Option<FileView<'_>>| file.map(|file| self.numbers.of_file(file, &self.previous));
        Ok(OriginContents {
            key: origin.key,
            file: number(origin.file),
            last_good: number(origin.last_good),
            outcome: origin.outcome,
            source: origin.source,
            detail: origin.detail,
        })
    }
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
