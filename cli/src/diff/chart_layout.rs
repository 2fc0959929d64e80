//! The columns of the chart: names, numbers, bars, numbers.

use super::chart_row::{ChartRow, numbers};
use crate::figures::svg::{push_text, text_width};
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
