//! The sections of the page, each under its headline.

use super::super::fold::Coverage;
use super::super::fold::{Example, OriginReport, Report, SampleFacts};
use super::super::headlines;
use super::unit_sections::{number_in_sample, unit_number};
use crate::figures::escape::escape_cut;
use crate::figures::html::{
    BarSegment, LONGEST_NAME, LONGEST_TEXT, and_more, bar, code, key, meter, number, number_of,
    unbroken,
};
use crate::time::minute;
use maud::{Markup, html};
use robosieve::judge::Reason;
use robosieve::robots::RobotsLine;

/// The most columns and rows, so that the page stays small for any `--top`; the JSON has all.
const COLUMNS: usize = 24;
const ROWS: usize = 25;

/// The most periods.
const PERIODS: usize = 60;

/// The most characters of a name next to a cell.
const SHORT_NAME: usize = 16;

/// The most agents with horizontal headings above their columns.
const HORIZONTAL: usize = 8;
/// The characters of all names side by side, each by its longest word: some 330 pixels, which fit
/// next to the origins on a tablet.
const HORIZONTAL_CHARS: usize = 44;

/// The colour class of a reason.
fn class_of(reason: Reason) -> String {
    format!("b{}", reason as usize)
}

/// The reasons of the verdicts: a bar for the units, one for the URLs, and a table of both.
pub(super) fn reasons(report: &Report) -> Markup {
    // Both bars and the table share the colours, so the table is the legend.
    let classes: Vec<String> = report
        .reasons
        .iter()
        .map(|reason| class_of(reason.reason))
        .collect();
    let mut of_units = Vec::new();
    let mut of_urls = Vec::new();
    for (reason, class) in report.reasons.iter().zip(&classes) {
        let name = reason.reason.description();
        of_units.push(BarSegment::new(class, name, reason.origins));
        of_urls.push(BarSegment::new(
            class,
            name,
            reason.urls.unwrap_or_default(),
        ));
    }
    html! {
        section {
            p.kicker { "Where verdicts come from" }
            h2 { (unbroken(&headlines::reasons(report))) }
            @let units = report.by.plural_title();
            div.row { div { strong { (units) } } (bar(&units, &of_units)) }
            @if report.lists.is_some() {
                div.row { div { strong { "URLs" } } (bar("URLs", &of_urls)) }
            }
            table {
                thead {
                    tr {
                        th { "Decided by" }
                        th.n { (units) }
                        @if report.lists.is_some() { th.n { "URLs" } }
                    }
                }
                tbody {
                    @for (i, reason) in report.reasons.iter().enumerate() {
                        tr {
                            td { (key(&classes[i])) (reason.reason.description()) }
                            td.n { (unit_number(report, &format!("/bases/{i}/origins"), reason.origins)) }
                            @if let Some((urls, lists)) = reason.urls.zip(report.lists.as_ref()) {
                                td.n { (number_of(&format!("/bases/{i}/urls"), urls, lists.lines)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The units that began to disallow each agent, by period.
pub(super) fn disallowed_since(report: &Report) -> Markup {
    let (Some(since), Some(heading)) = (&report.disallowed_since, headlines::since(report)) else {
        return html! {};
    };
    let all = report.agents_by_refusal();
    let columns: Vec<usize> = all.into_iter().take(HORIZONTAL).collect();
    // The newest periods matter most, so the oldest are left out if there are many.
    let hidden = since.periods.len().saturating_sub(PERIODS);
    let cell = |agent: usize, field: &str, count: u64| {
        number(&format!("/disallowed_since/agents/{agent}/{field}"), count)
    };
    html! {
        section {
            p.kicker { "Since when" }
            h2 { (unbroken(&heading)) }
            div.wide tabindex="0" role="region" aria-label="Periods by agents" {
                table {
                    thead {
                        tr {
                            th { "Since" }
                            @for &agent in &columns {
                                th.n { (escape_cut(&since.agents[agent].agent, LONGEST_NAME)) }
                            }
                        }
                    }
                    tbody {
                        tr {
                            td { "the first answer" }
                            @for &agent in &columns {
                                td.n { (cell(agent, "first_answer", since.agents[agent].first_answer)) }
                            }
                        }
                        @for (at, period) in since.periods.iter().enumerate().skip(hidden) {
                            tr {
                                td { (period) }
                                @for &agent in &columns {
                                    td.n { (cell(agent, &format!("began/{at}"), since.agents[agent].began[at])) }
                                }
                            }
                        }
                        tr {
                            td { "all" }
                            @for &agent in &columns {
                                td.n { (cell(agent, "units", since.agents[agent].units)) }
                            }
                        }
                    }
                }
            }
            @if hidden > 0 { p.soft { "The " (hidden) " oldest periods are left out; the JSON has them." } }
            (and_more(report.agents.len(), HORIZONTAL, "agent"))
        }
    }
}

/// The origins that disallow most, with a cell per agent.
pub(super) fn top_origins(report: &Report) -> Markup {
    let top = &report.top_origins;
    // The most disallowed agents come first here too, so that a reader finds the same order.
    let columns: Vec<usize> = report
        .agents_by_refusal()
        .into_iter()
        .take(COLUMNS)
        .collect();
    let names: Vec<&str> = columns
        .iter()
        .map(|&i| report.agents[i].agent.as_str())
        .collect();
    // Many names side by side would make the table wider than the page, or break words, so they are
    // upright.
    let width: usize = names.iter().map(|name| longest_word(name)).sum();
    let headings = if names.len() > HORIZONTAL || width > HORIZONTAL_CHARS {
        "agent upright"
    } else {
        "agent"
    };
    html! {
        section {
            p.kicker { "The origins that disallow most" }
            h2 { (unbroken(&headlines::top_origins(report))) }
            @if !top.is_empty() {
                ul.legend {
                    @for coverage in [Coverage::Wholly, Coverage::Partly, Coverage::Not] {
                        li.cell {
                            span class=(format!("c-{}", coverage.name())) { (sign(coverage)) }
                            (coverage.description())
                        }
                    }
                }
                div.wide tabindex="0" role="region" aria-label="Origins by agents" {
                    table.strip {
                        thead {
                            tr {
                                th { "Origin" }
                                @if report.lists.is_some() { th.n { "URLs disallowed" } }
                                @for name in &names {
                                    th class=(headings) { span { (escape_cut(name, LONGEST_NAME)) } }
                                }
                            }
                        }
                        tbody {
                            @for (i, origin) in top.iter().take(ROWS).enumerate() {
                                (strip(i, origin, &columns, &names))
                            }
                        }
                    }
                }
                (and_more(top.len(), ROWS, "origin"))
                (and_more(report.agents.len(), COLUMNS, "agent"))
            }
        }
    }
}

/// The characters of the longest part of a name between hyphens and blanks, where a line may end.
fn longest_word(name: &str) -> usize {
    let words = name.split(['-', ' ']).map(|word| word.chars().count());
    words.max().unwrap_or_default()
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
            @for (coverage, name) in cells.zip(names) {
                td.cell data-agent=(escape_cut(name, SHORT_NAME)) {
                    span class=(format!("c-{}", coverage.name())) title=(coverage.description()) {
                        (sign(*coverage))
                    }
                }
            }
        }
    }
}

/// A symbol with the same meaning as the colour.
fn sign(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Wholly => "■",
        Coverage::Not => "□",
        // `Partly`, and any finer step between the two.
        _ => "◪",
    }
}

/// A rule, the pointer of its number, and the number.
type RuleRow<'r> = (&'r str, String, u64);

/// A table of rules with the number that each disallows, and a bar. Without rules, only the
/// caption.
fn rule_table(
    caption: &Markup,
    headings: [&str; 2],
    rows: &[RuleRow<'_>],
    whole: u64,
    sample: Option<&SampleFacts>,
) -> Markup {
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
                            td.n { (number_in_sample(sample, pointer, *count, whole)) }
                        }
                    }
                }
            }
        }
    }
}

/// The rules that disallow most URLs of the lists; nothing without lists.
pub(super) fn deciding(report: &Report) -> Markup {
    let Some((deciding, heading)) = report.deciding.as_ref().zip(headlines::deciding(report))
    else {
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
    // Counts of a sample are not those of all URLs, so the caption has its size. Disallowed URLs
    // without a rule explain shares that do not add up.
    let caption = html! {
        (headlines::sampled(report).unwrap_or_default()) " "
        @if deciding.not_by_rule > 0 {
            (number("/deciding/not_by_rule", deciding.not_by_rule))
            " of them are disallowed without a rule."
        }
    };
    html! {
        section {
            p.kicker { "The rules that disallow most URLs" }
            h2 { (unbroken(&heading)) }
            (rule_table(&caption, ["Deciding rule", "Disallowed URLs"], &rows, deciding.explained, None))
        }
    }
}

/// The rules that most units have.
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
    let caption = html! {
        (number("/rules/distinct", report.rules.distinct))
        " different disallow rules apply to the agents."
    };
    let headings = ["Rule", &report.by.plural_title()];
    html! {
        section {
            p.kicker { "The rules that most " (report.by.plural()) " have" }
            h2 { (unbroken(&headlines::rules(report))) }
            (rule_table(&caption, headings, &rows, report.units, report.sample.as_ref()))
        }
    }
}

/// The declared preferences, one table per field.
pub(super) fn signals(report: &Report) -> Markup {
    // A field that no unit declares would be an empty table. The others keep their numbers in the
    // JSON, which the pointers of their counts need.
    let signals = report
        .signals
        .iter()
        .enumerate()
        .filter(|(_, signal)| signal.origins > 0);
    html! {
        section {
            p.kicker { "Declared use of content" }
            h2 { (unbroken(&headlines::signals(report))) }
            @for (s, signal) in signals {
                table {
                    caption {
                        (headlines::field_name(signal.field)) " is in "
                        (number(&format!("/signals/{s}/files"), signal.files))
                        " different files, of "
                        (number(&format!("/signals/{s}/origins"), signal.origins))
                        " " (report.by.plural()) "."
                    }
                    thead { tr { th { "Declared" } th.n { (report.by.plural_title()) } } }
                    tbody {
                        @for (i, value) in signal.values.iter().take(ROWS).enumerate() {
                            @let pointer = format!("/signals/{s}/values/{i}/origins");
                            @let sample = report.sample.as_ref();
                            tr {
                                td.text {
                                    (code(&value.value, LONGEST_TEXT))
                                    (meter("rule", value.origins, signal.origins))
                                }
                                td.n {
                                    (number_in_sample(sample, &pointer, value.origins, signal.origins))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// One disallowed URL, so that a reader can check a verdict by hand.
pub(super) fn example(report: &Report) -> Markup {
    let Some(refusal) = &report.example else {
        return html! {};
    };
    html! {
        section {
            p.kicker { "One disallowed URL, explained" }
            h2 { (unbroken(&headlines::example(refusal))) }
            div.why { dl { (explanation(refusal)) } }
        }
    }
}

fn robots_line(line: &RobotsLine) -> Markup {
    html! { span.ln { "line " (line.line) ": " } (code(&line.text, LONGEST_TEXT)) }
}

/// The terms of the explanation, from the URL to the source of the deciding rule. A verdict by
/// status has no rule and no group, so it has a reason instead.
fn explanation(refusal: &Example) -> Markup {
    // A group may name hundreds of agents; the first lines are enough to find it.
    html! {
        dt { "URL" }
        dd { (code(&refusal.url, 300)) @if !refusal.from_lists { span.soft { " (made up from the rule)" } } }
        dt { "Agent" }
        dd { (escape_cut(&refusal.agent, LONGEST_NAME)) }
        @if let Some(rule) = &refusal.rule {
            dt { "Deciding rule" }
            dd { (robots_line(rule)) }
            dt { "Its group" }
            dd {
                @for named in refusal.agent_lines.iter().take(3) { div { (robots_line(named)) } }
                span.soft {
                    @if refusal.named {
                        "The group names this agent."
                    } @else {
                        "No group names this agent, so the group for all agents applies."
                    }
                }
            }
        } @else {
            dt { "Because" }
            dd { (refusal.reason.description()) }
        }
        @if let Some(url) = &refusal.robots_url {
            dt { "robots.txt" }
            dd {
                (code(url, 300))
                span.soft {
                    @if refusal.status > 0 { ", status " (refusal.status) }
                    @if let Some(time) = refusal.fetched_at { ", fetched " (minute(time)) }
                }
            }
        }
    }
}
