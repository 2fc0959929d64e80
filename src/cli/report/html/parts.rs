//! Pieces of the page: numbers, bars, legends.

use super::super::super::escape::escape_cut;
use super::super::super::summary::grouped;
use super::super::words::share;
use maud::{Markup, html};

/// A counted number, and where it stands in the JSON.
pub(super) fn number(place: &str, value: u64) -> Markup {
    html! { span data-m=(place) { (grouped(value)) } }
}

/// A text of our own, in which a number stays with its unit.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%").replace("< ", "<\u{a0}").replace("> ", ">\u{a0}")
}

/// A number and its share of a whole.
pub(super) fn number_of(place: &str, value: u64, whole: u64) -> Markup {
    html! { (number(place, value)) " " span.soft { "(" (unbroken(&share(value, whole))) ")" } }
}

pub(super) fn fact(name: &str, value: Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// A text that a site wrote, in the type of code.
pub(super) fn code(text: &str, max: usize) -> Markup {
    html! { code { bdi { (escape_cut(text, max)) } } }
}

/// One of the parts of a bar: its class of colour, its name and its size.
pub(super) struct Part<'p> {
    pub class: &'p str,
    pub name: &'p str,
    pub size: u64,
}

/// The pattern of what is refused partly, which also tells it from its neighbours without colour. Defined once for all bars.
pub(super) fn hatching() -> Markup {
    html! {
        svg width="0" height="0" style="position:absolute" aria-hidden="true" {
            defs {
                pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.f-partly width="7" height="7" {}
                    line.hatch x1="0" y1="0" x2="0" y2="7" {}
                }
            }
        }
    }
}

/// A stacked bar of the parts' shares of their sum.
pub(super) fn bar(label: &str, parts: &[Part<'_>]) -> Markup {
    let whole: u64 = parts.iter().map(|part| part.size).sum();
    let text: Vec<String> = parts.iter().map(|part| format!("{} {}", part.name, share(part.size, whole))).collect();
    let mut before = 0;
    html! {
        svg.bar role="img" aria-label=(format!("{}: {}", escape_cut(label, 60), text.join(", "))) {
            @for (part, text) in parts.iter().zip(&text).filter(|(part, _)| part.size > 0) {
                rect class=(format!("f-{}", part.class)) x=(percent(before, whole)) width=(percent(part.size, whole)) height="100%" {
                    title { (text) }
                }
                ({ before += part.size; "" })
            }
        }
    }
}

/// A thin bar that shows a share.
pub(super) fn meter(class: &str, size: u64, whole: u64) -> Markup {
    html! {
        svg.meter aria-hidden="true" {
            rect class=(format!("f-{class}")) width=(percent(size, whole)) height="100%" rx="2" {}
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.3}%", part as f64 * 100.0 / whole.max(1) as f64)
}

/// What the colours of a bar mean.
pub(super) fn legend(keys: &[(&str, &str)]) -> Markup {
    html! {
        ul.legend {
            @for (class, name) in keys { li { (key(class)) (name) } }
        }
    }
}

/// A swatch of colour.
pub(super) fn key(class: &str) -> Markup {
    html! {
        svg.key aria-hidden="true" {
            rect class=(format!("f-{class}")) width="100%" height="100%" {}
        }
    }
}
