//! Rows of an agent's name, its bars and its numbers.
//!
//! What is disallowed is often a small share, and nearly equal for all agents. So each row has two bars:
//! one of that only, on a scale up to the largest share, and a thin one of the whole.

use super::super::escape::escape_cut;
use super::components::{BarSegment, LONGEST_NAME, bar, bar_to};
use super::scale::{ShareScale, axis};
use maud::{Markup, html};

/// One row.
pub(crate) struct BarRow<'r> {
    pub name: &'r str,
    /// The number next to the name.
    pub headline: Markup,
    /// The segments of the bar of the whole.
    pub segments: Vec<BarSegment<'r>>,
    /// The number of leading segments that count what is disallowed.
    pub refusals: usize,
    /// The other numbers.
    pub details: Markup,
}

impl BarRow<'_> {
    fn whole(&self) -> f64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }

    fn refused_percent(&self) -> f64 {
        let refused: f64 = self
            .segments
            .iter()
            .take(self.refusals)
            .map(|segment| segment.size)
            .sum();
        ShareScale::WHOLE.position(refused, self.whole())
    }

    fn draw(&self, scale: ShareScale) -> Markup {
        let disallowed = &self.segments[..self.refusals.min(self.segments.len())];
        html! {
            div.bars {
                div.who { strong { (escape_cut(self.name, LONGEST_NAME)) } " " span { (self.headline) } }
                div {
                    @if scale.is_whole() {
                        (bar(self.name, &self.segments))
                    } @else {
                        (bar_to(self.name, disallowed, self.whole(), scale))
                        div.thin { (bar(self.name, &self.segments)) }
                    }
                    div.details { (self.details) }
                }
            }
        }
    }
}

/// All rows on one scale, with its axis and an explanation above. `unit` is the noun of the whole.
pub(crate) fn bar_rows(rows: &[BarRow<'_>], unit: &str) -> Markup {
    let scale = ShareScale::of_bars(rows.iter().map(BarRow::refused_percent).fold(0.0, f64::max));
    html! {
        @if !scale.is_whole() {
            p.soft {
                "The wide bars show only what is disallowed, on a scale up to " (scale.ticks()[2])
                ". The thin bars show all " (unit) "."
            }
        }
        (axis(scale))
        @for row in rows { (row.draw(scale)) }
    }
}
