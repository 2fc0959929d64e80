//! A report as one HTML page. Every count has its JSON pointer in `data-m`; `scripts/x
//! recount-report` compares the two.

mod agents;
mod line_chart;
mod sections;
mod series;
mod unit_sections;

use super::fold::{ListFacts, Report, UnitKind};
use super::headlines;
use crate::figures::counts::counted;
use crate::figures::html::{document, fact, hatching, head, number, unbroken};
use crate::figures::shares::{interval, share};
use crate::time::{day, minute};
use maud::{Markup, html};
pub(super) use series::series_page;

/// The page; `made_at` is the date of the report, in seconds since 1970.
pub(super) fn page(report: &Report, made_at: i64) -> String {
    let title = headlines::title(report);
    document(html! {
            (head(&title))
            body {
                (hatching())
                (page_header(report, &title, made_at))
                main {
                    (agents::origins(report))
                    (unit_sections::sets(report))
                    (unit_sections::weighted(report))
                    (agents::urls(report))
                    (unit_sections::groups(report))
                    (sections::disallowed_since(report))
                    (sections::reasons(report))
                    (sections::top_origins(report))
                    (sections::deciding(report))
                    (sections::rules(report))
                    (sections::signals(report))
                    (sections::example(report))
                }
                (foot(report))
            }
    })
}

/// The title, the main shares, and what the figures are of.
fn page_header(report: &Report, title: &str, made_at: i64) -> Markup {
    let snapshot = &report.snapshot;
    let units = report.by.plural();
    // The tiles answer for all agents together, which the sections below do not. The facts are what
    // two reports must share to be compared.
    html! {
        header {
            p.kicker { "robots.txt report, " (day(made_at)) }
            h1 { (title) }
            div.tiles {
                (tile(number("/together/any_wholly", report.together.any_wholly), &share_of_units(report, report.together.any_wholly),
                    &format!("of the {units} wholly disallow at least one of the agents")))
                (tile(number("/together/any_refused", report.together.any_refused), &share_of_units(report, report.together.any_refused),
                    &format!("of the {units} disallow something to at least one of them")))
                @if let Some(lists) = &report.lists { (list_tiles(lists)) }
            }
            dl.facts {
                (fact("Counted by", html! { (report.by.name()) }))
                @if report.by != UnitKind::Origin {
                    (fact(&report.by.plural_title(), number("/units", report.units)))
                }
                @if let Some(sample) = &report.sample {
                    (fact("Random sample of", html! { (number("/sample/of", sample.of)) ", seed " (sample.seed) }))
                    (fact("Intervals", html! { "95\u{a0}%, Wilson" }))
                }
                (fact("Origins", number("/snapshot/origins", snapshot.origins)))
                (fact("Distinct robots.txt", number("/snapshot/robots_files", snapshot.robots_files)))
                (fact("Captured", html! { (headlines::captured(snapshot)) }))
                (fact("Rules parsed with", html! { "profile " (snapshot.profile.name()) }))
                (fact("Failures judged with", html! { "policy " (report.judging.status_policy) }))
                @if let Some(lists) = &report.lists {
                    (fact("Lines judged", number("/lists/lines", lists.lines)))
                    (fact("Known origins", number("/lists/origins", lists.origins)))
                }
            }
        }
    }
}

/// A share of the units, with the interval of a sample.
fn share_of_units(report: &Report, part: u64) -> String {
    let share = share(part, report.units);
    match report
        .sample
        .map(|sample| sample.interval(part, report.units))
    {
        Some(of) => format!("{share} ({})", interval(of.low, of.high)),
        None => share,
    }
}

fn tile(number: Markup, share: &str, label: &str) -> Markup {
    html! { div.tile { b { (unbroken(share)) } (label) " " span.soft { "(" (number) ")" } } }
}

fn list_tiles(lists: &ListFacts) -> Markup {
    html! {
        (tile(number("/lists/refused_to_any", lists.refused_to_any), &share(lists.refused_to_any, lists.lines),
            "of the URLs are disallowed to at least one of them"))
        (tile(number("/lists/allowed_to_all", lists.allowed_to_all), &share(lists.allowed_to_all, lists.lines),
            "of the URLs are allowed to all of them"))
    }
}

fn foot(report: &Report) -> Markup {
    let judging = &report.judging;
    // Readers of the page do not see the command, so the page states the options of the judge.
    html! {
        footer {
            p {
                (unit_sections::explanation(report.by))
                " It disallows an agent wholly if every URL is disallowed, except perhaps /robots.txt; \
                 partly if some are; not if none is. \
                 URLs of origins that are not in the snapshot count as "
                (judging.unknown_origins) "."
                @if judging.any_scheme {
                    " Origins without an entry were judged by the entry of the other of http and \
                     https."
                }
                @if let Some(at) = judging.at {
                    " Failing sites were judged as of " (minute(at)) "."
                }
            }
            p {
                "Made by robosieve " (env!("CARGO_PKG_VERSION"))
                " from snapshot " code { (report.snapshot.checksum) }
                " of " (counted(report.snapshot.bytes, "byte")) "."
            }
        }
    }
}
