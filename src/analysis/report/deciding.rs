//! The rules that decide about refused URLs, found by explaining a sample of them.

use crate::analysis::report::model::{DecidingRule, DecidingRules};
use crate::analysis::report::text;
use crate::error::Result;
use crate::filter::Sample;
use crate::judge::engine::Engine;
use crate::judge::{Verdict, explain};
use crate::robots::Robots;
use rayon::prelude::*;
use std::collections::HashMap;

/// How many URLs are explained at most. A share of the sample is that of all refused URLs within some 2 percentage points.
pub(super) const SAMPLE: usize = 2048;

/// What a sample shows.
pub(super) struct Deciding {
    pub report: DecidingRules,
    /// A URL that the first rule refuses, or any refused one, and the number of an agent that it is refused to.
    pub example: Option<(Vec<u8>, usize)>,
}

/// A rule's text for each agent that the URL is refused to; `None` where no rule decides.
type Explained = Vec<(usize, Option<String>)>;

/// Explains the URLs of a sample, each to all agents that it is refused to. The cost does not depend on how many URLs there were.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
pub(super) fn explain_sample(judge: &Engine<'_>, sample: &Sample, limit: usize) -> Result<Deciding> {
    let urls: Vec<&[u8]> = sample.urls().iter().map(Vec::as_slice).filter(|url| !url.is_empty()).collect();
    let explained = urls.par_iter().map(|url| explain_url(judge, url)).collect::<Result<Vec<Explained>>>()?;
    let mut counts: HashMap<&str, (u64, Vec<u64>)> = HashMap::new();
    let mut not_by_rule = 0;
    for explained in &explained {
        let mut rules: Vec<&str> = Vec::new();
        for (agent, rule) in explained {
            let Some(rule) = rule.as_deref() else { continue };
            let (urls, agents) = counts.entry(rule).or_insert_with(|| (0, vec![0; judge.agents().len()]));
            *urls += u64::from(!rules.contains(&rule));
            agents[*agent] += 1;
            rules.push(rule);
        }
        not_by_rule += u64::from(rules.is_empty());
    }
    let mut top: Vec<DecidingRule> =
        counts.into_iter().map(|(rule, (urls, agents))| DecidingRule { rule: rule.to_owned(), urls, agents }).collect();
    top.sort_by(|a, b| b.urls.cmp(&a.urls).then_with(|| a.rule.cmp(&b.rule)));
    top.truncate(limit.max(1));
    let refused_by = |first: Option<&DecidingRule>| {
        explained.iter().zip(&urls).find_map(|(explained, url)| {
            let by =
                |(_, rule): &&(usize, Option<String>)| first.is_none_or(|first| rule.as_ref() == Some(&first.rule));
            Some((url.to_vec(), explained.iter().find(by)?.0))
        })
    };
    let example = refused_by(top.first());
    let report = DecidingRules { every: sample.every(), explained: urls.len() as u64, not_by_rule, top };
    Ok(Deciding { report, example })
}

fn explain_url(judge: &Engine<'_>, url: &[u8]) -> Result<Explained> {
    let mut scratch = judge.scratch();
    let verdicts = judge.judge(url, &mut scratch)?;
    let refused: Vec<usize> =
        verdicts.iter().enumerate().filter(|(_, verdict)| *verdict == Verdict::Disallowed).map(|(i, _)| i).collect();
    let file = match verdicts.row() {
        Some(row) => judge.rule_source(row)?.file,
        None => None,
    };
    let Some(file) = file else { return Ok(refused.into_iter().map(|agent| (agent, None)).collect()) };
    let body = judge.snapshot().text(file)?;
    let robots = Robots::parse(&body, judge.profile());
    let rule_for = |agent: usize| {
        let agent = judge.agents().get(agent)?;
        let deciding = explain(&robots, agent, judge.options().agent_match, url).deciding?;
        Some(text(deciding.text.as_bytes()))
    };
    Ok(refused.into_iter().map(|agent| (agent, rule_for(agent))).collect())
}
