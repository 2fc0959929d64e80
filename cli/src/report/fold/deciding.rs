//! The rules that decide about disallowed URLs, estimated from a sample of these URLs.
//!
//! Filtering finds the verdict but not the deciding line, so each URL has to be explained. That is
//! slow, and a sample is enough.

use super::model::{DecidingRule, DecidingRules};
use super::sample::Sample;
use rayon::prelude::*;
use robosieve::judge::explain;
use robosieve::{Judge, Result, RobotsRef, Verdict};
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
    judge: &Judge,
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
        .map(|url| refusals_of(judge, url))
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
                agents: vec![0; judge.agents().len()],
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

/// Explains a URL to each agent that it is disallowed to. The text of its robots.txt is parsed twice,
/// however many agents there are.
fn refusals_of(judge: &Judge, url: &[u8]) -> Result<Vec<Refusal>> {
    let verdicts = judge.judge(url)?;
    let refused = verdicts
        .iter()
        .enumerate()
        .filter(|(_, verdict)| *verdict == Verdict::Disallowed);
    let agents: Vec<usize> = refused.map(|(agent, _)| agent).collect();
    let Some(&first) = agents.first() else {
        return Ok(Vec::new());
    };
    let explanation = judge.explain(url, first)?;
    let snapshot = judge.snapshot();
    // What the status policy disallows has no rule.
    let text = match explanation.entry.filter(|_| explanation.rules.is_some()) {
        Some(entry) => snapshot.robots_text(&entry)?,
        None => None,
    };
    let Some(text) = text else {
        let refusals = agents
            .into_iter()
            .map(|agent| Refusal { agent, rule: None });
        return Ok(refusals.collect());
    };
    let robots = RobotsRef::parse(&text, snapshot.profile()?);
    let refusals = agents.into_iter().map(|agent| {
        let how = judge.options().agent_match;
        let deciding = explain(&robots, &judge.agents()[agent], how, url).deciding;
        Refusal {
            agent,
            rule: deciding.map(|rule| rule.text),
        }
    });
    Ok(refusals.collect())
}
