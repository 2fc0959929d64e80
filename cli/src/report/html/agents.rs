//! The sections with bars per agent: origins, and URLs of the lists.

use super::super::fold::{AgentReport, Report};
use super::super::headlines;
use super::unit_sections::{COVERAGES, WHOLLY, coverage_segments, unit_number};
use crate::figures::html::{
    BarRow, BarSegment, and_more, bar_rows, legend, number, number_of, unbroken,
};
use maud::{Markup, html};

/// The most agents, so that the page stays small. The JSON has all.
const AGENTS: usize = 40;

/// The units that disallow each agent.
pub(super) fn origins(report: &Report) -> Markup {
    let shown = report
        .agents_by_refusal()
        .into_iter()
        .filter_map(|i| Some((i, report.agents.get(i)?)));
    let agents: Vec<BarRow<'_>> = shown
        .take(AGENTS)
        .map(|(i, agent)| origins_row(i, agent, report))
        .collect();
    html! {
        section {
            p.kicker { (report.by.plural_title()) " by agent" }
            h2 { (unbroken(&headlines::origins(report))) }
            (legend(&COVERAGES))
            (bar_rows(&agents, report.by.plural()))
            (and_more(report.agents.len(), AGENTS, "agent"))
            @for sentence in headlines::concentrations(report) { p.soft { (unbroken(&sentence)) "." } }
        }
    }
}

/// The bar of an agent. Its numbers are next to it, each with its pointer into the JSON.
fn origins_row<'r>(i: usize, agent: &'r AgentReport, report: &Report) -> BarRow<'r> {
    let counts = &agent.units;
    let show = |key: &str| number(&format!("/agents/{i}/origins/{key}"), counts.get(key));
    let show_share = |key: &str| {
        let pointer = format!("/agents/{i}/origins/{key}");
        unit_number(report, &pointer, counts.get(key))
    };
    // The share of all units is next to the name, where a reader compares agents.
    let headline = html! { "wholly " (show_share("wholly")) };
    BarRow {
        name: &agent.agent,
        headline,
        // The colours separate sites that disallow this agent by name from those that disallow all.
        segments: coverage_segments(counts.causes().map(|count| count as f64)),
        refusals: WHOLLY,
        details: html! {
            span { "by name " (show_share("wholly_by_name")) ", " }
            span { "by * " (show_share("wholly_by_global")) ", " }
            span { "by status " (show("wholly_by_status")) "; " }
            span { "partly " (show_share("partly")) ", by name " (show("partly_by_name")) "; " }
            span { "not " (show("not")) }
        },
    }
}

/// The segments of the bars of URLs: the class, which is the key of the JSON, and the name.
const VERDICTS: [(&str, &str); 4] = [
    ("disallowed", "disallowed"),
    ("allowed", "allowed"),
    ("unknown", "unknown origin"),
    ("invalid", "not a URL"),
];

/// The URLs of the lists that each agent may fetch; nothing without lists.
pub(super) fn urls(report: &Report) -> Markup {
    let Some((lists, heading)) = report.lists.as_ref().zip(headlines::urls(report)) else {
        return html! {};
    };
    // The rows keep the numbers of the agents in the JSON, which the pointers of their counts need.
    let agents: Vec<BarRow<'_>> = report
        .agents_by_refused_urls()
        .into_iter()
        .filter_map(|i| urls_row(i, report.agents.get(i)?, lists.lines))
        .take(AGENTS)
        .collect();
    // Lines without a verdict are the same for all agents, so they are explained once.
    html! {
        section {
            p.kicker { "URLs by agent" }
            h2 { (unbroken(&heading)) }
            (legend(&VERDICTS))
            (bar_rows(&agents, "lines"))
            (and_more(report.agents.len(), AGENTS, "agent"))
            p.soft {
                "For all agents alike, "
                (number_of("/lists/unknown", lists.unknown, lists.lines))
                " of the lines have origins that are not in the snapshot, and "
                (number_of("/lists/invalid", lists.invalid, lists.lines)) " are not URLs."
            }
        }
    }
}

fn urls_row(i: usize, agent: &AgentReport, lines: u64) -> Option<BarRow<'_>> {
    let urls = agent.urls()?;
    let disallowed = format!("/agents/{i}/urls/disallowed");
    let allowed = format!("/agents/{i}/urls/allowed");
    Some(BarRow {
        name: &agent.agent,
        headline: html! { "disallowed " (number_of(&disallowed, urls.disallowed, lines)) },
        segments: VERDICTS
            .map(|(key, name)| BarSegment::new(key, name, urls.get(key)))
            .into(),
        refusals: 1,
        details: html! { span { "allowed " (number_of(&allowed, urls.allowed, lines)) } },
    })
}
