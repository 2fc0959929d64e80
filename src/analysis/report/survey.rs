//! A survey of the snapshot alone: the reason of each origin's verdicts, and its coverage per
//! agent.
//!
//! Origins share robots.txt files, and files share rule sets. So the survey first counts the
//! origins per file. Then it reads each file once, and counts the result for all origins of the
//! file.

use crate::analysis::report::counts::{
    AgentCounts, Merge, ReasonCount, ReasonCounts, RuleUse, merge_all,
};
use crate::analysis::report::model::AgentSubset;
use crate::analysis::report::rules::{SetUses, TopRules};
use crate::analysis::report::signals::SignalCounts;
use crate::analysis::report::units::UnitRows;
use crate::error::Result;
use crate::file_pass::{AgentCoverage, FileReader, FileUses, SetCoverages, UsedFile};
use crate::judge::Reason;
use crate::judge::engine::Engine;
use rayon::prelude::*;

/// Counts the origins in these rows by the file that decides, and by the reason of their verdicts.
pub(super) fn count_uses(engine: &Engine<'_>, rows: &UnitRows) -> Result<(FileUses, ReasonCounts)> {
    let uses = FileUses::none(engine.snapshot());
    let parts = rows.chunks().map(|rows| {
        let mut reasons = ReasonCounts::default();
        for row in rows {
            let source = engine.rule_source(row)?;
            let count = &mut reasons.0[source.reason as usize];
            count.origins += 1;
            count.refused += u64::from(source.refused);
            if let Some(file) = source.file {
                uses.add(file, row)?;
            }
        }
        Ok(reasons)
    });
    let reasons = merge_all(ReasonCounts::default, parts)?;
    Ok((uses, reasons))
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
    let parts = uses.chunks().map(|files| {
        let mut survey = SnapshotSurvey::default();
        let mut reader = FileReader::new(engine.snapshot());
        for used in files {
            add_sets(engine, used, &mut survey.sets)?;
            let text = reader.text(used.file)?;
            survey.signals.add_file(&text, used.origins.into());
        }
        Ok(survey)
    });
    merge_all(SnapshotSurvey::default, parts)
}

/// Collects only the rule sets that the agents obey, without reading texts.
pub(super) fn survey_sets(engine: &Engine<'_>, uses: &FileUses) -> Result<SetUses> {
    let parts = uses.chunks().map(|mut files| {
        let mut sets = SetUses::default();
        files.try_for_each(|used| add_sets(engine, used, &mut sets))?;
        Ok(sets)
    });
    merge_all(SetUses::default, parts)
}

fn add_sets(engine: &Engine<'_>, used: UsedFile, sets: &mut SetUses) -> Result<()> {
    for rules in engine.agent_rules(used.file)? {
        *sets.entry(rules.offset).or_default() +=
            u64::from(used.origins) * rules.agents.len() as u64;
    }
    Ok(())
}

/// Counts the origins by agent, and by rule of the ranking.
pub(super) fn count_by_agent(
    engine: &Engine<'_>,
    uses: &FileUses,
    reasons: &ReasonCounts,
    sets: &SetCoverages,
    subsets: &[AgentSubset],
    top: &TopRules,
) -> Result<AgentCounts> {
    let agents = engine.agents().len();
    let zero = || AgentCounts::new(agents, subsets.len(), top.len());
    let parts = uses.chunks().map(|files| {
        let mut counts = zero();
        for used in files {
            count_file(engine, used, sets, subsets, top, &mut counts)?;
        }
        Ok(counts)
    });
    let mut counts = merge_all(zero, parts)?;
    // Origins with rules are counted by file. For all others the status policy decides.
    for (reason, ReasonCount { origins, refused }) in Reason::ALL.iter().zip(reasons.0) {
        if !matches!(reason, Reason::Rules | Reason::LastGoodCopy) {
            let by_status = |is_refused| vec![AgentCoverage::by_status(is_refused); agents];
            counts.add(&by_status(true), subsets, refused);
            counts.add(&by_status(false), subsets, origins - refused);
        }
    }
    Ok(counts)
}

fn count_file(
    engine: &Engine<'_>,
    used: UsedFile,
    sets: &SetCoverages,
    subsets: &[AgentSubset],
    top: &TopRules,
    counts: &mut AgentCounts,
) -> Result<()> {
    let origins = u64::from(used.origins);
    counts.add(&sets.of_file(engine, used.file)?, subsets, origins);
    let mut rules: Vec<usize> = Vec::new();
    for rules_of_agents in engine.agent_rules(used.file)? {
        let agents = &rules_of_agents.agents;
        for &rule in top.rules_of(rules_of_agents.offset) {
            let count = &mut counts.rules[rule];
            agents
                .iter()
                .for_each(|agent| count.agents[*agent] += origins);
            count.first = count.first.or(agents.first().map(|agent| RuleUse {
                file: used.file,
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
