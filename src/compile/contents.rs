//! Numbers what was compiled: origins by key, everything else by first use, so that equal inputs give equal bytes.

use super::Compiled;
use super::files::{File, RuleSetData, SetContent};
use super::report::CompileReport;
use super::resolve::Resolved;
use crate::error::{ErrorKind, Result};
use crate::snapshot::OutcomeClass;
use crate::snapshot::ruleset::stored_count;
use crate::snapshot::write::{Contents, FileContents, OriginContents, Rows, RuleSetContents};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Origins, files, rule sets and names in the order of the snapshot.
#[derive(Debug)]
pub(super) struct Numbered {
    origins: Vec<Resolved>,
    files: Vec<Arc<File>>,
    sets: Vec<Arc<RuleSetData>>,
    names: Vec<Arc<[u8]>>,
    captured: Option<(i64, i64)>,
}

/// Gives every part its number and the report its counts.
pub(super) fn number(origins: Vec<Resolved>, mut report: CompileReport) -> Result<Compiled> {
    let mut numbering = Numbering::default();
    for origin in &origins {
        for file in [&origin.file, &origin.last_good].into_iter().flatten() {
            numbering.file(file);
        }
    }
    if origins.len().max(numbering.files.len()) >= u32::MAX as usize {
        return Err(ErrorKind::TooLarge("four billion origins or more".to_owned()).into());
    }
    let times = || origins.iter().filter_map(|origin| origin.outcome.fetched);
    let captured = times().min().zip(times().max());
    count(&origins, &numbering, &mut report);
    let names = numbering.names.into_iter().collect();
    let contents = Numbered { origins, files: numbering.files, sets: numbering.sets, names, captured };
    Ok(Compiled { contents, report })
}

#[derive(Default)]
struct Numbering {
    files: Vec<Arc<File>>,
    sets: Vec<Arc<RuleSetData>>,
    names: BTreeSet<Arc<[u8]>>,
}

impl Numbering {
    fn file(&mut self, file: &Arc<File>) {
        let files = &mut self.files;
        let before = files.len();
        file.number.get_or(|| push(files, file));
        if self.files.len() == before {
            return;
        }
        for set in file.global.iter().chain(file.named.iter().map(|(_, set)| set)) {
            self.set(set);
        }
        for (name, _) in &file.named {
            if !self.names.contains(name) {
                self.names.insert(name.clone());
            }
        }
    }

    /// A union's parts are numbered before it.
    fn set(&mut self, set: &Arc<RuleSetData>) {
        if let SetContent::Union(parts) = &set.content {
            parts.iter().for_each(|part| self.set(part));
        }
        let sets = &mut self.sets;
        set.number.get_or(|| push(sets, set));
    }
}

fn push<T>(list: &mut Vec<Arc<T>>, value: &Arc<T>) -> u32 {
    list.push(value.clone());
    (list.len() - 1) as u32
}

fn count(origins: &[Resolved], numbering: &Numbering, report: &mut CompileReport) {
    let of_class = |class| origins.iter().filter(|origin| origin.outcome.class == class).count() as u64;
    let counts = &mut report.counts;
    counts.origins = origins.len() as u64;
    counts.redirected = origins
        .iter()
        .filter(|origin| origin.outcome.hops > 0 && origin.outcome.class != OutcomeClass::Unresolved)
        .count() as u64;
    counts.outcome_rules = of_class(OutcomeClass::Rules);
    counts.outcome_client_error = of_class(OutcomeClass::ClientError);
    counts.outcome_server_error = of_class(OutcomeClass::ServerError);
    counts.outcome_unreachable = of_class(OutcomeClass::Unreachable);
    counts.outcome_unresolved = of_class(OutcomeClass::Unresolved);
    counts.files = numbering.files.len() as u64;
    counts.rule_sets_before = numbering.files.iter().map(|file| u64::from(file.rule_sets_before)).sum();
    counts.rule_sets = numbering.sets.len() as u64;
    counts.rules = numbering.sets.iter().map(|set| rule_count(set)).sum();
    counts.tokens = numbering.names.len() as u64;
}

fn rule_count(set: &RuleSetData) -> u64 {
    match &set.content {
        SetContent::Set(rules) => stored_count(rules) as u64,
        SetContent::Union(_) => 0,
    }
}

impl Numbered {
    /// What the snapshot's writer takes.
    pub(super) fn view(&self, report: &CompileReport) -> Contents<'_> {
        let tokens: HashMap<&[u8], u32> = (0..).zip(&self.names).map(|(i, name)| (&**name, i)).collect();
        Contents {
            profile: report.profile,
            counts: report.counts,
            captured: self.captured,
            tokens: self.names.iter().map(|name| &**name).collect(),
            rule_sets: Rows::of(&self.sets, |set| set_contents(set)),
            files: Rows::of(&self.files, move |file| file_contents(file, &tokens)),
            origins: Rows::of(&self.origins, origin_contents),
        }
    }
}

fn set_contents(set: &RuleSetData) -> RuleSetContents<'_> {
    match &set.content {
        SetContent::Set(rules) => RuleSetContents::Set(rules),
        SetContent::Union(parts) => RuleSetContents::Union(parts.iter().map(|part| part.number.get()).collect()),
    }
}

fn file_contents<'a>(file: &'a File, tokens: &HashMap<&[u8], u32>) -> FileContents<'a> {
    // Names sort as their numbers do, so the pairs are in the order of the tokens.
    let named = file.named.iter().map(|(name, set)| (tokens[&**name], set.number.get()));
    FileContents {
        global: file.global.as_ref().map(|set| set.number.get()),
        named: named.collect(),
        frame: file.frame(),
        raw_len: file.raw_len,
    }
}

fn origin_contents(origin: &Resolved) -> OriginContents<'_> {
    let number = |file: &Option<Arc<File>>| file.as_ref().map(|file| file.number.get());
    OriginContents {
        key: &origin.key,
        outcome: origin.outcome.clone(),
        file: number(&origin.file),
        last_good: number(&origin.last_good),
        source: origin.source.as_deref(),
        detail: origin.detail.as_deref().map(str::as_bytes),
    }
}
