//! The distinct robots.txt files that decide about the counted origins: the rule sets that agents
//! obey, and the preferences that files declare.

use super::origin_table::OriginTable;
use super::rules::{RuleCount, SetUses, TopRules, merged};
use super::signals::SignalCounts;
use rayon::prelude::*;
use robosieve::export::StoredFiles;
use robosieve::{Judge, Result};

/// The number of files that one thread reads at a time.
const CHUNK: usize = 4096;

/// A robots.txt, and the number of counted origins that it decides about.
#[derive(Clone, Copy)]
pub(super) struct UsedFile {
    file: u32,
    origins: u64,
}

/// The files that decide about the origins in these rows, in the order of their numbers.
pub(super) fn used_files(table: &OriginTable, rows: &[u32]) -> Vec<UsedFile> {
    let mut origins: Vec<u32> = vec![0; table.file_count()];
    for file in rows.iter().filter_map(|row| table.file(*row)) {
        origins[file as usize] += 1;
    }
    let files = (0..).zip(origins).filter(|(_, origins)| *origins > 0);
    files
        .map(|(file, origins)| UsedFile {
            file,
            origins: origins.into(),
        })
        .collect()
}

/// The rule sets and the declared preferences of all used files.
#[derive(Default)]
pub(super) struct FileSurvey {
    pub sets: SetUses,
    pub signals: SignalCounts,
}

/// Decompresses each file once.
pub(super) fn survey_files(
    judge: &Judge,
    table: &OriginTable,
    files: &[UsedFile],
) -> Result<FileSurvey> {
    let parts = files.par_chunks(CHUNK).map(|files| {
        let mut survey = FileSurvey::default();
        let mut reader = StoredFiles::new(judge);
        for used in files {
            for (set, agents) in table.rule_sets(used.file) {
                *survey.sets.entry(set).or_default() += used.origins * agents.len() as u64;
            }
            let text = reader.text(used.file)?;
            survey.signals.add_file(&text, used.origins);
        }
        Ok(survey)
    });
    parts.try_reduce(FileSurvey::default, |mut sum, part| {
        sum.sets = merged(sum.sets, part.sets);
        sum.signals.merge(part.signals);
        Ok(sum)
    })
}

/// Counts the origins with each of the most frequent rules.
pub(super) fn count_rules(
    table: &OriginTable,
    files: &[UsedFile],
    top: &TopRules,
) -> Vec<RuleCount> {
    let zero = || top.no_counts(table.agents());
    let parts = files.par_chunks(CHUNK).map(|files| {
        let mut counts = zero();
        for used in files {
            let sets = table.rule_sets(used.file);
            top.count_file(used.file, sets, used.origins, &mut counts);
        }
        counts
    });
    parts.reduce(zero, |mut sum, part| {
        for (sum, part) in sum.iter_mut().zip(part) {
            sum.merge(part);
        }
        sum
    })
}
