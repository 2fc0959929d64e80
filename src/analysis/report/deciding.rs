//! The rules that decide about disallowed URLs, estimated from a sample of these URLs.
//!
//! Filtering finds the verdict but not the deciding line, so each URL has to be explained. That is
//! slow, and a sample is enough.

use crate::analysis::report::model::{DecidingRule, DecidingRules};
use crate::analysis::report::sample::Sample;
use crate::analysis::report::text;
use crate::error::Result;
use crate::file_pass::FileReader;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{Verdict, explain};
use crate::robots::RobotsRef;
use rayon::prelude::*;
use std::collections::HashMap;

/// The number of explained URLs at most. The share of a rule in the sample differs by about two
/// percentage points from its share of all disallowed URLs.
pub(super) const SAMPLE: usize = 2048;

pub(super) struct DecidingSample {
    pub report: DecidingRules,
    pub example: Option<RefusedUrl>,
}

/// A URL that the first rule of the report disallows or, without rules, any disallowed URL.
pub(super) struct RefusedUrl {
    pub url: Vec<u8>,
    /// The number of an agent that it is disallowed to.
    pub agent: usize,
}

/// The explanation of a URL for an agent that it is disallowed to.
struct Refusal {
    agent: usize,
    /// The text of the deciding rule; `None` if no rule decides.
    rule: Option<String>,
}

/// Explains the URLs of a sample, each to all agents that it is disallowed to. The cost depends on
/// the size of the sample only.
pub(super) fn explain_sample(
    engine: &Engine<'_>,
    sample: &Sample,
    limit: usize,
) -> Result<DecidingSample> {
    let urls: Vec<&[u8]> = sample
        .urls()
        .iter()
        .map(Vec::as_slice)
        .filter(|url| !url.is_empty())
        .collect();
    let refusals = urls
        .par_iter()
        .map_init(
            || RefusalReader::new(engine),
            |reader, url| reader.refusals_of(url),
        )
        .collect::<Result<Vec<Vec<Refusal>>>>()?;
    let mut counts: HashMap<&str, DecidingRule> = HashMap::new();
    let mut not_by_rule = 0;
    for refusals in &refusals {
        // The rules that decide about this URL: each counts once, whatever the number of agents.
        let mut rules: Vec<&str> = Vec::new();
        for refusal in refusals {
            let Some(rule) = refusal.rule.as_deref() else {
                continue;
            };
            let count = counts.entry(rule).or_insert_with(|| DecidingRule {
                rule: rule.to_owned(),
                urls: 0,
                agents: vec![0; engine.agents().len()],
            });
            count.urls += u64::from(!rules.contains(&rule));
            count.agents[refusal.agent] += 1;
            rules.push(rule);
        }
        not_by_rule += u64::from(rules.is_empty());
    }
    let mut top: Vec<DecidingRule> = counts.into_values().collect();
    top.sort_by(|a, b| b.urls.cmp(&a.urls).then_with(|| a.rule.cmp(&b.rule)));
    top.truncate(limit.max(1));
    // The example shows the first rule of the ranking at work, if any rule decides at all.
    let example = refusals.iter().zip(&urls).find_map(|(refusals, url)| {
        let refusal = refusals.iter().find(|refusal| {
            top.first()
                .is_none_or(|first| refusal.rule.as_ref() == Some(&first.rule))
        })?;
        Some(RefusedUrl {
            url: url.to_vec(),
            agent: refusal.agent,
        })
    });
    let report = DecidingRules {
        every: sample.every(),
        explained: urls.len() as u64,
        not_by_rule,
        top,
    };
    Ok(DecidingSample { report, example })
}

/// One thread's memory for explaining URLs.
struct RefusalReader<'e> {
    engine: &'e Engine<'e>,
    scratch: Scratch<'e>,
    files: FileReader<'e>,
}

impl<'e> RefusalReader<'e> {
    fn new(engine: &'e Engine<'e>) -> Self {
        Self {
            engine,
            scratch: engine.scratch(),
            files: FileReader::new(engine.snapshot()),
        }
    }

    /// Explains a URL to each agent that it is disallowed to. The text of its robots.txt is read
    /// once.
    fn refusals_of(&mut self, url: &[u8]) -> Result<Vec<Refusal>> {
        let engine = self.engine;
        let verdicts = engine.judge(url, &mut self.scratch)?;
        let refused = verdicts
            .iter()
            .enumerate()
            .filter(|(_, verdict)| *verdict == Verdict::Disallowed);
        let agents: Vec<usize> = refused.map(|(agent, _)| agent).collect();
        let source = verdicts
            .row()
            .map(|row| engine.rule_source(row))
            .transpose()?;
        // What the status policy disallows has no rule.
        let Some(file) = source.and_then(|source| source.file) else {
            return Ok(agents
                .into_iter()
                .map(|agent| Refusal { agent, rule: None })
                .collect());
        };
        let body = self.files.text(file)?;
        let robots = RobotsRef::parse(&body, engine.profile());
        let refusals = agents.into_iter().map(|agent| Refusal {
            agent,
            rule: deciding_rule(engine, &robots, agent, url),
        });
        Ok(refusals.collect())
    }
}

/// The rule that decides about the URL for the agent with this number.
fn deciding_rule(
    engine: &Engine<'_>,
    robots: &RobotsRef<'_>,
    agent: usize,
    url: &[u8],
) -> Option<String> {
    let agent = engine.agents().get(agent)?;
    let deciding = explain(robots, agent, engine.options().agent_match, url).deciding?;
    Some(text(deciding.text.as_bytes()))
}
