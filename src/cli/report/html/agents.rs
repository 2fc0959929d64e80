//! The sections with bars per agent: origins, and URLs of the lists.

use super::super::super::figures::html::{
    BarRow, BarSegment, and_more, bar_rows, legend, number, number_of, unbroken,
};
use super::super::findings;
use super::super::unit_names::{plural_title, units};
use super::unit_sections::{COVERAGES, WHOLLY, coverage_segments};
use maud::{Markup, html};
use robosieve::report::{AgentReport, CoverageCounts, Report, UrlCounts};

/// The most agents, so that the page stays small. The JSON has all.
const AGENTS: usize = 40;

pub(super) fn origins(report: &Report) -> Markup {
    let whole = report.units;
    let shown = report
        .agents_by_refusal()
        .into_iter()
        .filter_map(|i| Some((i, report.agents.get(i)?)));
    let agents: Vec<BarRow<'_>> = shown
        .take(AGENTS)
        .map(|(i, agent)| origins_row(i, agent, whole))
        .collect();
    html! {
        section {
            p.kicker { (plural_title(report.by)) " by agent" }
            h2 { (unbroken(&findings::origins(report))) }
            (legend(&COVERAGES))
            (bar_rows(&agents, units(report.by)))
            (and_more(report.agents.len(), AGENTS, "agents"))
            @for sentence in findings::concentrations(report) { p.soft { (unbroken(&sentence)) "." } }
        }
    }
}

fn origins_row(i: usize, agent: &AgentReport, whole: u64) -> BarRow<'_> {
    let CoverageCounts {
        wholly,
        wholly_by_name,
        wholly_by_global,
        wholly_by_status,
        partly,
        partly_by_name,
        not,
        ..
    } = agent.origins;
    let place = |key: &str| format!("/agents/{i}/origins/{key}");
    let of = |key: &str, count: u64| number_of(&place(key), count, whole);
    BarRow {
        name: &agent.agent,
        headline: html! { "wholly " (of("wholly", wholly)) },
        segments: coverage_segments(
            [
                wholly_by_name,
                wholly_by_global,
                wholly_by_status,
                partly,
                not,
            ]
            .map(|count| count as f64),
        ),
        refusals: WHOLLY,
        details: html! {
            span { "by name " (of("wholly_by_name", wholly_by_name)) ", " }
            span { "by * " (of("wholly_by_global", wholly_by_global)) ", " }
            span { "by status " (number(&place("wholly_by_status"), wholly_by_status)) "; " }
            span { "partly " (of("partly", partly)) ", by name " (number(&place("partly_by_name"), partly_by_name)) "; " }
            span { "not " (number(&place("not"), not)) }
        },
    }
}

pub(super) fn urls(report: &Report) -> Markup {
    let Some((lists, heading)) = report.lists.as_ref().zip(findings::urls(report)) else {
        return html! {};
    };
    let counted = |i: usize| {
        report
            .agents
            .get(i)
            .and_then(|agent| Some((i, agent, agent.urls?)))
    };
    let shown = report
        .agents_by_refused_urls()
        .into_iter()
        .filter_map(counted);
    let agents: Vec<BarRow<'_>> = shown
        .take(AGENTS)
        .map(|(i, agent, urls)| urls_row(i, agent, urls, lists.lines))
        .collect();
    html! {
        section {
            p.kicker { "URLs by agent" }
            h2 { (unbroken(&heading)) }
            (legend(&[("disallowed", "refused"), ("allowed", "allowed"), ("unknown", "unknown origin"), ("invalid", "not a URL")]))
            (bar_rows(&agents, "lines"))
            (and_more(report.agents.len(), AGENTS, "agents"))
            p.soft {
                "For all agents alike, " (number_of("/lists/unknown", lists.unknown, lists.lines)) " of the lines have origins that are not in the snapshot, and "
                (number_of("/lists/invalid", lists.invalid, lists.lines)) " are not URLs."
            }
        }
    }
}

fn urls_row(i: usize, agent: &AgentReport, urls: UrlCounts, lines: u64) -> BarRow<'_> {
    BarRow {
        name: &agent.agent,
        headline: html! { "refused " (number_of(&format!("/agents/{i}/urls/disallowed"), urls.disallowed, lines)) },
        segments: vec![
            BarSegment::new("disallowed", "refused", urls.disallowed),
            BarSegment::new("allowed", "allowed", urls.allowed),
            BarSegment::new("unknown", "unknown origin", urls.unknown),
            BarSegment::new("invalid", "not a URL", urls.invalid),
        ],
        refusals: 1,
        details: html! { span { "allowed " (number_of(&format!("/agents/{i}/urls/allowed"), urls.allowed, lines)) } },
    }
}
