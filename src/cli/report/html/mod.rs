//! A report as one self-contained page: style and pictures inside, no script, nothing fetched.
//!
//! The page is made of templates that escape every text (`maud`); beyond that it forbids scripts and any loading, so what a site wrote stays text.
//! Every number that is counted names its place in the JSON (`data-m`), by which `scripts/check-report` compares the two.

mod parts;
mod sections;

use super::findings;
use super::words::{counted, day, minute, share};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use parts::{fact, number};
use robosieve::report::{ListFacts, Report};

const STYLE: &str = include_str!("style.css");

/// What the browser may do with the page: show it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page; `made_at` is its date, in seconds since 1970.
pub(super) fn page(report: &Report, made_at: i64) -> String {
    let title = findings::title(report);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – robosieve" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (parts::hatching())
                (head(report, &title, made_at))
                main {
                    (sections::origins(report))
                    (sections::urls(report))
                    (sections::bases(report))
                    (sections::top_origins(report))
                    (sections::deciding(report))
                    (sections::rules(report))
                    (sections::signals(report))
                    (sections::example(report))
                }
                (foot(report))
            }
        }
    };
    page.into_string() + "\n"
}

fn head(report: &Report, title: &str, made_at: i64) -> Markup {
    let snapshot = &report.snapshot;
    html! {
        header {
            p.kicker { "robots.txt report, " (day(made_at)) }
            h1 { (title) }
            div.tiles {
                (tile(number("/together/any_wholly", report.together.any_wholly), share(report.together.any_wholly, snapshot.origins),
                    "of the origins wholly refuse one of the agents or more"))
                (tile(number("/together/any_refused", report.together.any_refused), share(report.together.any_refused, snapshot.origins),
                    "of the origins refuse something to one of them or more"))
                @if let Some(lists) = &report.lists { (list_tiles(lists)) }
            }
            dl.facts {
                (fact("Origins", number("/snapshot/origins", snapshot.origins)))
                (fact("Distinct robots.txt", number("/snapshot/robots_files", snapshot.robots_files)))
                (fact("Captured", html! { (findings::captured(report)) }))
                (fact("Rules read as", html! { "profile " (snapshot.profile.name()) }))
                (fact("Failures judged by", html! { "policy " (report.judging.status_policy) }))
                @if let Some(lists) = &report.lists {
                    (fact("Lines judged", number("/lists/lines", lists.lines)))
                    (fact("Known origins in them", number("/lists/origins", lists.origins)))
                }
            }
        }
    }
}

fn tile(number: Markup, share: String, what: &str) -> Markup {
    html! { div.tile { b { (parts::unbroken(&share)) } (what) " " span.soft { "(" (number) ")" } } }
}

fn list_tiles(lists: &ListFacts) -> Markup {
    html! {
        (tile(number("/lists/refused_to_any", lists.refused_to_any), share(lists.refused_to_any, lists.lines),
            "of the URLs are refused to one of them or more"))
        (tile(number("/lists/allowed_to_all", lists.allowed_to_all), share(lists.allowed_to_all, lists.lines),
            "of the URLs may all of them fetch"))
    }
}

fn foot(report: &Report) -> Markup {
    let judging = &report.judging;
    html! {
        footer {
            p {
                "An origin is a scheme, host and port: http, https and www are origins of their own. It is refused wholly where every URL but perhaps \
                 /robots.txt is refused, partly where some are, and not where none is. "
                "URLs of origins that are not in the snapshot count as " (judging.unknown_origins) "."
                @if judging.any_scheme { " Origins without an entry were judged by that of the other of http and https." }
                @if let Some(at) = judging.at { " Failing sites were judged as of " (minute(at)) "." }
            }
            p {
                "Made by robosieve " (env!("CARGO_PKG_VERSION")) " from snapshot " code { (report.snapshot.checksum) }
                " of " (counted(report.snapshot.bytes, "byte")) "."
            }
        }
    }
}
