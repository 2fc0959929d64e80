//! The sections of the page; each heading states the main finding.

use super::super::super::figures::escape::escape_cut;
use super::super::super::figures::html::{
    BarSegment, LONGEST_NAME, LONGEST_TEXT, and_more, bar, code, key, meter, number, number_of,
    unbroken,
};
use super::super::super::time::minute;
use super::super::findings;
use super::super::unit_names::{plural_title, units};
use maud::{Markup, html};
use robosieve::judge::Reason;
use robosieve::report::Coverage;
use robosieve::report::{Example, OriginReport, ReasonReport, Report};
use robosieve::robots::RobotsLine;

/// The most columns and rows, so that the page stays small for any `--top`; the JSON has all.
const COLUMNS: usize = 24;
const ROWS: usize = 25;

/// The most characters of a name next to a cell.
const SHORT_NAME: usize = 16;

/// The most agents with horizontal headings above their columns.
const HORIZONTAL: usize = 8;

/// The colour class of a basis.
fn class_of(basis: Reason) -> String {
    format!("b{}", basis as usize)
}

pub(super) fn bases(report: &Report) -> Markup {
    let classes: Vec<String> = report.bases.iter().map(|of| class_of(of.basis)).collect();
    let parts = |size: fn(&ReasonReport) -> u64| -> Vec<BarSegment<'_>> {
        let of_classes = report.bases.iter().zip(&classes);
        of_classes
            .map(|(of, class)| BarSegment::new(class, of.basis.description(), size(of)))
            .collect()
    };
    html! {
        section {
            p.kicker { "Where verdicts come from" }
            h2 { (unbroken(&findings::bases(report))) }
            @let units = plural_title(report.by);
            div.row { div { strong { (units) } } (bar(&units, &parts(|of| of.origins))) }
            @if report.lists.is_some() {
                div.row { div { strong { "URLs" } } (bar("URLs", &parts(|of| of.urls.unwrap_or_default()))) }
            }
            table {
                thead { tr { th { "Decided by" } th.n { (units) } @if report.lists.is_some() { th.n { "URLs" } } } }
                tbody {
                    @for (i, of) in report.bases.iter().enumerate() {
                        tr {
                            td { (key(&classes[i])) (of.basis.description()) }
                            td.n { (number_of(&format!("/bases/{i}/origins"), of.origins, report.units)) }
                            @if let Some((urls, lists)) = of.urls.zip(report.lists.as_ref()) {
                                td.n { (number_of(&format!("/bases/{i}/urls"), urls, lists.lines)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn top_origins(report: &Report) -> Markup {
    let top = &report.top_origins;
    let columns: Vec<usize> = report
        .agents_by_refusal()
        .into_iter()
        .take(COLUMNS)
        .collect();
    let names: Vec<&str> = columns
        .iter()
        .map(|&i| report.agents[i].agent.as_str())
        .collect();
    let headings = if names.len() > HORIZONTAL {
        "agent upright"
    } else {
        "agent"
    };
    html! {
        section {
            p.kicker { "The origins that refuse most" }
            h2 { (unbroken(&findings::top_origins(report))) }
            @if !top.is_empty() {
                ul.legend {
                    @for reach in [Coverage::Wholly, Coverage::Partly, Coverage::Not] {
                        li.cell { span class=(format!("c-{}", reach.name())) { (sign(reach)) } (reach.description()) }
                    }
                }
                div.wide tabindex="0" role="region" aria-label="Origins by agents" {
                    table.strip {
                        thead {
                            tr {
                                th { "Origin" }
                                @if report.lists.is_some() { th.n { "URLs refused" } }
                                @for name in &names { th class=(headings) { span { (escape_cut(name, LONGEST_NAME)) } } }
                            }
                        }
                        tbody { @for (i, origin) in top.iter().take(ROWS).enumerate() { (strip(i, origin, &columns, &names)) } }
                    }
                }
                (and_more(top.len(), ROWS, "origins"))
                (and_more(report.agents.len(), COLUMNS, "agents"))
            }
        }
    }
}

/// The row of one origin, with a cell per agent. On a phone, the row is a block, and each cell has
/// the short name of its agent.
fn strip(i: usize, origin: &OriginReport, columns: &[usize], names: &[&str]) -> Markup {
    let cells = columns.iter().filter_map(|&agent| origin.agents.get(agent));
    html! {
        tr {
            th.origin { bdi { (escape_cut(&origin.origin, LONGEST_TEXT)) } }
            @if let Some((refused, urls)) = origin.urls_refused.zip(origin.urls) {
                td.n {
                    (number(&format!("/top_origins/{i}/urls_refused"), refused))
                    span.soft { " of " (number(&format!("/top_origins/{i}/urls"), urls)) }
                }
            }
            @for (reach, name) in cells.zip(names) {
                td.cell data-agent=(escape_cut(name, SHORT_NAME)) {
                    span class=(format!("c-{}", reach.name())) title=(reach.description()) { (sign(*reach)) }
                }
            }
        }
    }
}

/// A symbol with the same meaning as the colour.
fn sign(reach: Coverage) -> &'static str {
    match reach {
        Coverage::Wholly => "■",
        Coverage::Not => "□",
        // `Partly`, and any finer step between the two.
        _ => "◪",
    }
}

/// A rule, the pointer of its number, and the number.
type RuleRow<'r> = (&'r str, String, u64);

/// A table of rules with the number that each refuses, and a bar. Without rules, only the caption.
fn rule_table(caption: &Markup, headings: [&str; 2], rows: &[RuleRow<'_>], whole: u64) -> Markup {
    html! {
        @if rows.is_empty() {
            p.soft { (caption) }
        } @else {
            table {
                caption { (caption) }
                thead { tr { th { (headings[0]) } th.n { (headings[1]) } } }
                tbody {
                    @for (rule, pointer, count) in rows.iter().take(ROWS) {
                        tr {
                            td.text { (code(rule, LONGEST_TEXT)) (meter("rule", *count, whole)) }
                            td.n { (number_of(pointer, *count, whole)) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn deciding(report: &Report) -> Markup {
    let Some((deciding, heading)) = report.deciding.as_ref().zip(findings::deciding(report)) else {
        return html! {};
    };
    let rows = deciding.top.iter().enumerate();
    let rows: Vec<RuleRow<'_>> = rows
        .map(|(i, rule)| {
            (
                rule.rule.as_str(),
                format!("/deciding/top/{i}/urls"),
                rule.urls,
            )
        })
        .collect();
    let caption = html! {
        (findings::sampled(report).unwrap_or_default()) " "
        @if deciding.not_by_rule > 0 { (number("/deciding/not_by_rule", deciding.not_by_rule)) " of them are refused without a rule." }
    };
    html! {
        section {
            p.kicker { "The rules that refuse most URLs" }
            h2 { (unbroken(&heading)) }
            (rule_table(&caption, ["Deciding rule", "Refused URLs"], &rows, deciding.explained))
        }
    }
}

pub(super) fn rules(report: &Report) -> Markup {
    let rows = report.rules.top.iter().enumerate();
    let rows: Vec<RuleRow<'_>> = rows
        .map(|(i, rule)| {
            (
                rule.rule.as_str(),
                format!("/rules/top/{i}/origins"),
                rule.origins,
            )
        })
        .collect();
    let caption = html! { (number("/rules/distinct", report.rules.distinct)) " different disallow rules apply to the agents." };
    html! {
        section {
            p.kicker { "The rules that most " (units(report.by)) " have" }
            h2 { (unbroken(&findings::rules(report))) }
            (rule_table(&caption, ["Rule", &plural_title(report.by)], &rows, report.units))
        }
    }
}

pub(super) fn signals(report: &Report) -> Markup {
    let signals = report
        .signals
        .iter()
        .enumerate()
        .filter(|(_, signal)| signal.origins > 0);
    html! {
        section {
            p.kicker { "Declared use of content" }
            h2 { (unbroken(&findings::signals(report))) }
            @for (s, signal) in signals {
                table {
                    caption {
                        (findings::field_name(signal.field)) " is in " (number(&format!("/signals/{s}/files"), signal.files))
                        " different files, of " (number(&format!("/signals/{s}/origins"), signal.origins)) " " (units(report.by)) "."
                    }
                    thead { tr { th { "Declared" } th.n { (plural_title(report.by)) } } }
                    tbody {
                        @for (i, value) in signal.values.iter().take(ROWS).enumerate() {
                            tr {
                                td.text { (code(&value.value, LONGEST_TEXT)) (meter("rule", value.origins, signal.origins)) }
                                td.n { (number_of(&format!("/signals/{s}/values/{i}/origins"), value.origins, signal.origins)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn example(report: &Report) -> Markup {
    let Some(why) = &report.example else {
        return html! {};
    };
    html! {
        section {
            p.kicker { "One refusal, explained" }
            h2 { (unbroken(&findings::example(why))) }
            div.why { dl { (reasons(why)) } }
        }
    }
}

fn reasons(why: &Example) -> Markup {
    let line = |line: &RobotsLine| html! { span.ln { "line " (line.line) ": " } (code(&line.text, LONGEST_TEXT)) };
    html! {
        dt { "URL" }
        dd { (code(&why.url, 300)) @if !why.from_lists { span.soft { " (made up from the rule)" } } }
        dt { "Agent" }
        dd { (escape_cut(&why.agent, LONGEST_NAME)) }
        @if let Some(rule) = &why.rule {
            dt { "Deciding rule" }
            dd { (line(rule)) }
            dt { "Its group" }
            dd {
                @for named in why.agent_lines.iter().take(3) { div { (line(named)) } }
                span.soft { @if why.named { "The group names this agent." } @else { "No group names this agent, so the group for all agents applies." } }
            }
        } @else {
            dt { "Because" }
            dd { (why.basis.description()) }
        }
        @if let Some(url) = &why.robots_url {
            dt { "robots.txt" }
            dd {
                (code(url, 300))
                span.soft {
                    @if why.status > 0 { ", status " (why.status) }
                    @if let Some(time) = why.fetched_at { ", fetched " (minute(time)) }
                }
            }
        }
    }
}
