//! Components of the page: numbers, bars, legends.

use super::super::counts::{counted, grouped};
use super::super::escape::escape_cut;
use super::super::shares::{interval, share, weight_share};
use super::scale::ShareScale;
use maud::{Markup, html};

/// The most characters of a name, and of a text of a site.
pub(crate) const LONGEST_NAME: usize = 40;
pub(crate) const LONGEST_TEXT: usize = 120;

/// A count with its JSON pointer.
pub(crate) fn number(pointer: &str, value: u64) -> Markup {
    html! { span data-m=(pointer) { (grouped(value)) } }
}

/// Replaces spaces between numbers and units by no-break spaces.
pub(crate) fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
        .replace("< ", "<\u{a0}")
        .replace("> ", ">\u{a0}")
}

/// A count and its share of a whole.
pub(crate) fn number_of(pointer: &str, value: u64, whole: u64) -> Markup {
    html! { (number(pointer, value)) " " span.soft { "(" (unbroken(&share(value, whole))) ")" } }
}

/// A count and its share of a whole, with the interval of the share, if it is estimated.
pub(crate) fn number_within(
    pointer: &str,
    value: u64,
    whole: u64,
    ends: Option<(f64, f64)>,
) -> Markup {
    let Some((low, high)) = ends else {
        return number_of(pointer, value, whole);
    };
    let share = format!("{}; {} %", share(value, whole), interval(low, high));
    html! { (number(pointer, value)) " " span.soft { "(" (unbroken(&share)) ")" } }
}

pub(crate) fn fact(name: &str, value: Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// A text of a site, in a code font.
pub(crate) fn code(text: &str, max: usize) -> Markup {
    html! { code { bdi { (escape_cut(text, max)) } } }
}

/// A segment of a stacked bar.
pub(crate) struct BarSegment<'p> {
    /// The colour class.
    pub class: &'p str,
    pub name: &'p str,
    /// A count, or a sum of weights.
    pub size: f64,
}

impl<'p> BarSegment<'p> {
    pub(crate) fn new(class: &'p str, name: &'p str, count: u64) -> Self {
        Self {
            class,
            name,
            size: count as f64,
        }
    }
}

/// The hatching of "disallowed partly", which is visible without colour. Defined once for all bars.
pub(crate) fn hatching() -> Markup {
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

/// A stacked bar of the segments' shares of their sum.
pub(crate) fn bar(label: &str, segments: &[BarSegment<'_>]) -> Markup {
    let whole: f64 = segments.iter().map(|segment| segment.size).sum();
    bar_to(label, segments, whole, ShareScale::WHOLE)
}

/// A stacked bar of the segments' shares of `whole`, on this scale.
pub(super) fn bar_to(
    label: &str,
    segments: &[BarSegment<'_>],
    whole: f64,
    scale: ShareScale,
) -> Markup {
    let text: Vec<String> = segments
        .iter()
        .map(|segment| format!("{} {}", segment.name, weight_share(segment.size, whole)))
        .collect();
    let mut before = 0.0;
    html! {
        svg.bar role="img" aria-label=(format!("{}: {}", escape_cut(label, 60), text.join(", "))) {
            @for (segment, text) in segments.iter().zip(&text).filter(|(segment, _)| segment.size > 0.0) {
                rect
                    class=(format!("f-{}", segment.class))
                    x=(scale.percentage(before, whole))
                    width=(scale.percentage(segment.size, whole))
                    height="100%" {
                    title { (text) }
                }
                // A splice prints the value of its block, so this one ends in an empty text.
                ({ before += segment.size; "" })
            }
        }
    }
}

/// A thin bar that shows a share.
pub(crate) fn meter(class: &str, size: u64, whole: u64) -> Markup {
    html! {
        svg.meter aria-hidden="true" {
            rect
                class=(format!("f-{class}"))
                width=(ShareScale::WHOLE.percentage(size as f64, whole as f64))
                height="100%" rx="2" {}
        }
    }
}

/// The legend of a bar.
pub(crate) fn legend(keys: &[(&str, &str)]) -> Markup {
    html! {
        ul.legend {
            @for (class, name) in keys { li { (key(class)) (name) } }
        }
    }
}

/// A swatch of colour.
pub(crate) fn key(class: &str) -> Markup {
    html! {
        svg.key aria-hidden="true" {
            rect class=(format!("f-{class}")) width="100%" height="100%" {}
        }
    }
}

/// A note that the page does not show all.
pub(crate) fn and_more(all: usize, shown: usize, noun: &str) -> Markup {
    html! {
        @if all > shown {
            p.soft { "And " (counted((all - shown) as u64, &format!("more {noun}"))) ", which --json and --csv have." }
        }
    }
}
