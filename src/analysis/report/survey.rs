//! A survey of the snapshot alone: the reason of each origin's verdicts, and its coverage per
//! agent.
//!
//! Origins share robots.txt files, and files share rule sets. So the survey first counts the
//! origins per file. Then it reads each file once, and counts the result for all origins of the
//! file.

use crate::analysis::report::counts::{
    AgentCounts, Merge, ReasonCount, ReasonCounts, RuleUse, merge_all, row_chunks,
};
use crate::analysis::report::rules::{SetCoverages, SetUses, TopRules};
use crate::analysis::report::signals::SignalCounts;
use crate::analysis::report::units::UnitRows;
use crate::error::Result;
use crate::file_pass::{AgentCoverage, Coverage, DecidedBy};
use crate::judge::engine::Engine;
use crate::judge::{AgentPlace, AgentRules, Reason, RuleSource};
use crate::snapshot::text_reader::TextReader;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// For each robots.txt the number of origins that use it. Four bytes per file.
pub(super) struct FileUses(Vec<AtomicU32>);

impl FileUses {
    /// Counts the origins in these rows by file, and by the reason of their verdicts.
    pub(super) fn count(engine: &Engine<'_>, rows: &UnitRows) -> Result<(Self, ReasonCounts)> {
        let uses = Self(
            (0..engine.snapshot().file_count())
                .map(|_| AtomicU32::new(0))
                .collect(),
        );
        let parts = rows.chunks().map(|rows| {
            let mut reasons = ReasonCounts::default();
            for row in rows {
                let source = engine.rule_source(row)?;
                let count = &mut reasons.0[source.reason as usize];
                count.origins += 1;
                count.refused += u64::from(source.refused);
                if let Some(count) = source.file.and_then(|file| uses.0.get(file as usize)) {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(reasons)
        });
        let reasons = merge_all(ReasonCounts::default, parts)?;
        Ok((uses, reasons))
    }

    /// The files of a chunk that an origin uses, each with the number of such origins.
    fn used(&self, files: Range<u32>) -> impl Iterator<Item = (u32, u64)> {
        let count = |file: u32| {
            self.0
                .get(file as usize)
                .map_or(0, |count| count.load(Ordering::Relaxed))
        };
        files
            .map(move |file| (file, u64::from(count(file))))
            .filter(|(_, origins)| *origins > 0)
    }
}

/// The rule sets and the declared preferences of all used files.
#[derive(Default)]
pub(super) struct SnapshotSurvey {
    pub sets: SetUses,
    pub signals: SignalCounts,
}

impl Merge for SnapshotSurvey {
    fn merge(&mut self, later: Self) {
        self.sets.merge(later.sets);
        self.signals.merge(later.signals);
    }
}

/// Collects the rule sets that the agents obey, and the preferences that files declare.
pub(super) fn survey_files(engine: &Engine<'_>, uses: &FileUses) -> Result<SnapshotSurvey> {
    let snapshot = engine.snapshot();
    let parts = row_chunks(snapshot.file_count()).map(|files| {
        let mut survey = SnapshotSurvey::default();
        let mut texts = TextReader::new(snapshot);
        for (file, origins) in uses.used(files) {
            add_sets(engine, file, origins, &mut survey.sets)?;
            survey.signals.add_file(&texts.read(file)?, origins);
        }
        Ok(survey)
    });
    merge_all(SnapshotSurvey::default, parts)
}

/// Collects only the rule sets that the agents obey, without reading texts.
pub(super) fn survey_sets(engine: &Engine<'_>, uses: &FileUses) -> Result<SetUses> {
    let parts = row_chunks(engine.snapshot().file_count()).map(|files| {
        let mut sets = SetUses::default();
        uses.used(files)
            .try_for_each(|(file, origins)| add_sets(engine, file, origins, &mut sets))?;
        Ok(sets)
    });
    merge_all(SetUses::default, parts)
}

fn add_sets(engine: &Engine<'_>, file: u32, origins: u64, sets: &mut SetUses) -> Result<()> {
    for AgentRules { place, agents } in engine.agent_rules(file)? {
        *sets.entry(place).or_default() += origins * agents.len() as u64;
    }
    Ok(())
}

/// Counts the origins by agent, and by rule of the ranking.
pub(super) fn count_by_agent(
    engine: &Engine<'_>,
    uses: &FileUses,
    reasons: &ReasonCounts,
    sets: &SetCoverages,
    top: &TopRules,
) -> Result<AgentCounts> {
    let agents = engine.agents().len();
    let zero = || AgentCounts::new(agents, top.len());
    let parts = row_chunks(engine.snapshot().file_count()).map(|files| {
        let mut counts = zero();
        for (file, origins) in uses.used(files) {
            count_file(engine, file, origins, sets, top, &mut counts)?;
        }
        Ok(counts)
    });
    let mut counts = merge_all(zero, parts)?;
    // Origins with rules are counted by file. For all others the status policy decides.
    for (reason, ReasonCount { origins, refused }) in Reason::ALL.iter().zip(reasons.0) {
        if !matches!(reason, Reason::Rules | Reason::LastGoodCopy) {
            counts.add(&vec![AgentCoverage::by_status(true); agents], refused);
            counts.add(
                &vec![AgentCoverage::by_status(false); agents],
                origins - refused,
            );
        }
    }
    Ok(counts)
}

fn count_file(
    engine: &Engine<'_>,
    file: u32,
    origins: u64,
    sets: &SetCoverages,
    top: &TopRules,
    counts: &mut AgentCounts,
) -> Result<()> {
    counts.add(&file_coverages(engine, file, sets)?, origins);
    let mut rules: Vec<usize> = Vec::new();
    for AgentRules { place, agents } in engine.agent_rules(file)? {
        for &rule in top.rules_of(place) {
            let count = &mut counts.rules[rule];
            agents
                .iter()
                .for_each(|agent| count.agents[*agent] += origins);
            count.first = count.first.or(agents.first().map(|agent| RuleUse {
                file,
                agent: *agent,
            }));
            rules.push(rule);
        }
    }
    // Several groups may have the same rule, but each origin counts once.
    rules.sort_unstable();
    rules.dedup();
    rules
        .into_iter()
        .for_each(|rule| counts.rules[rule].origins += origins);
    Ok(())
}

/// The coverage of a robots.txt for each agent. Agents without rules are refused nothing.
pub(super) fn file_coverages(
    engine: &Engine<'_>,
    file: u32,
    sets: &SetCoverages,
) -> Result<Vec<AgentCoverage>> {
    let places = engine.agent_places(file)?.into_iter();
    let coverages = places.map(|AgentPlace { place, is_named }| AgentCoverage {
        coverage: sets.get(&place).copied().unwrap_or(Coverage::Not),
        decided_by: if is_named {
            DecidedBy::Name
        } else {
            DecidedBy::Global
        },
    });
    Ok(coverages.collect())
}

pub(super) fn origin_coverages(
    engine: &Engine<'_>,
    source: &RuleSource,
    sets: &SetCoverages,
) -> Result<Vec<AgentCoverage>> {
    match source.file {
        Some(file) => file_coverages(engine, file, sets),
        None => Ok(vec![
            AgentCoverage::by_status(source.refused);
            engine.agents().len()
        ]),
    }
}

/// The first origin with a wanted rule source. Scans all origins, as files do not refer to origins.
pub(super) fn find_origin(
    engine: &Engine<'_>,
    is_wanted: impl Fn(&RuleSource) -> bool + Sync,
) -> Result<Option<u32>> {
    let wanted = |row| {
        engine
            .rule_source(row)
            .map(|source| is_wanted(&source).then_some(row))
            .transpose()
    };
    let found = row_chunks(engine.snapshot().origin_count()).map(|mut rows| rows.find_map(wanted));
    found.find_first(Option::is_some).flatten().transpose()
}
