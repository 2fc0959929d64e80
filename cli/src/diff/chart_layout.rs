//! The rows of the chart, each an agent with the sizes of its bars, and its columns: names, numbers,
//! bars, numbers.

use super::table;
use crate::figures::counts::grouped;
use crate::figures::svg::{cut_to_width, push_text, text_width};
use robosieve::crawlers::CrawlerRegistry;
use robosieve::diff::{AgentChange, Transition};
use std::fmt::Write as _;

/// The height of a row, and of its bars.
pub(super) const ROW: f64 = 24.0;
const BAR: f64 = 15.0;
/// The width of the chart, and its margin on all sides.
pub(super) const WIDTH: f64 = 900.0;
pub(super) const MARGIN: f64 = 16.0;
/// The gap between a bar and the text next to it.
pub(super) const GAP: f64 = 8.0;

/// Where names end and bars begin, and the length of a bar per origin.
pub(super) struct Layout {
    pub names_end: f64,
    /// The ends of the track of all bars.
    left: f64,
    right: f64,
    /// The origin of both bars.
    pub middle: f64,
    per_origin: f64,
}

impl Layout {
    /// Names and numbers get the room that they need, and the bars the rest.
    pub(super) fn new(rows: &[ChartRow]) -> Self {
        let names_end = MARGIN + widest(rows.iter().map(|row| row.name.clone()));
        let allowed_numbers = widest(rows.iter().map(|row| numbers(row.allowed)));
        let left = names_end + 2.0 * GAP + allowed_numbers + GAP;
        let refused_numbers = widest(rows.iter().map(|row| numbers(row.refused)));
        let right = WIDTH - MARGIN - refused_numbers - GAP;
        // The longest bars of both sides share the room, so both have one scale.
        let allowed = longest_bar(rows.iter().map(|row| row.allowed));
        let refused = longest_bar(rows.iter().map(|row| row.refused));
        let per_origin = (right - left) / (allowed + refused).max(1.0);
        let middle = left + allowed * per_origin;
        Self {
            names_end,
            left,
            right,
            middle,
            per_origin,
        }
    }

    /// Appends the bars of a row, its name and its numbers.
    pub(super) fn draw_row(&self, out: &mut String, top: f64, row: &ChartRow) {
        let text = top + 16.0;
        let y = top + (ROW - BAR) / 2.0;
        push_bar(out, "t", y, self.left, self.right - self.left);
        // The segments grow from the middle in both directions.
        let mut left = self.middle;
        let mut right = self.middle;
        for (class, (&allowed, &refused)) in row.allowed.iter().zip(&row.refused).enumerate() {
            let allowed = allowed as f64 * self.per_origin;
            let refused = refused as f64 * self.per_origin;
            if refused > 0.0 {
                push_bar(out, &format!("r{class}"), y, right, refused);
            }
            if allowed > 0.0 {
                push_bar(out, &format!("a{class}"), y, left - allowed, allowed);
            }
            left -= allowed;
            right += refused;
        }
        push_text(out, self.names_end, text, "n", &row.name);
        push_text(out, self.left - GAP, text, "m n", &numbers(row.allowed));
        push_text(out, self.right + GAP, text, "m", &numbers(row.refused));
    }
}

/// The width of the widest text.
fn widest(texts: impl Iterator<Item = String>) -> f64 {
    texts.map(|text| text_width(&text)).fold(0.0, f64::max)
}

/// The most origins on one side of a row.
fn longest_bar(sizes: impl Iterator<Item = [u64; 3]>) -> f64 {
    let sums = sizes.map(|segments| segments.iter().sum::<u64>());
    sums.max().unwrap_or_default() as f64
}

fn push_bar(out: &mut String, class: &str, y: f64, x: f64, width: f64) {
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\"/>"
    );
}

/// The most room for names. Longer ones are cut.
const LONGEST_NAME: f64 = 210.0;

/// The sizes of the segments of a bar: wholly by name, wholly by `*`, partly.
fn segments(wholly: &Transition, partly: &Transition) -> [u64; 3] {
    [wholly.by_name, wholly.by_global, partly.origins]
}

/// A row of the chart.
pub(super) struct ChartRow {
    pub name: String,
    pub refused: [u64; 3],
    pub allowed: [u64; 3],
}

impl ChartRow {
    pub(super) fn new(row: &AgentChange, registry: &CrawlerRegistry) -> Self {
        let name = if row.name == "*" {
            "* (all others)".to_owned()
        } else {
            table::name(row, registry)
        };
        let refused = segments(&row.refused, &row.newly_partly);
        Self {
            name: cut_to_width(&name, LONGEST_NAME),
            refused,
            allowed: segments(&row.allowed, &row.no_longer_partly),
        }
    }
}

/// The numbers next to a bar, in the order of its segments.
fn numbers(segments: [u64; 3]) -> String {
    segments.map(grouped).join(" · ")
}
