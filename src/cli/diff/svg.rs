//! A bar chart with a row per agent: origins that newly refuse it to the right, origins that newly
//! allow it to the left.

use super::super::summary::grouped;
use super::DiffOutput;
use super::table;
use robosieve::diff::AgentChange;
use std::fmt::Write;

const ROW: usize = 22;
const TOP: usize = 84;
const WIDTH: usize = 760;
/// The right end of the names, and the left end of the longest left bar; its number is between
/// them.
const NAMES: usize = 190;
const LEFT: f64 = 290.0;
/// The length of the longest bars of both sides together; a number fits after them.
const BARS: f64 = 400.0;

/// The start of all bars, and their length per origin.
struct BarScale {
    middle: f64,
    per_origin: f64,
}

impl BarScale {
    fn new(rows: &[&AgentChange]) -> Self {
        let most = |count: fn(&AgentChange) -> u64| rows.iter().map(|row| count(row)).max().unwrap_or_default() as f64;
        let (left, right) = (most(|row| row.allowed.origins), most(|row| row.refused.origins));
        let per_origin = BARS / (left + right).max(1.0);
        Self { middle: LEFT + left * per_origin, per_origin }
    }
}

/// A self-contained SVG file, for light and dark backgrounds.
pub(super) fn draw(output: &DiffOutput) -> String {
    let diff = &output.diff;
    let rows: Vec<&AgentChange> = std::iter::once(&diff.others).chain(&diff.agents).collect();
    let scale = BarScale::new(&rows);
    let middle = scale.middle;
    let height = TOP + rows.len() * ROW + 20;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>Origins that newly refuse or allow agents</title>\n\
         <style>\ntext {{ font: 12px sans-serif; fill: #222 }}\n.h {{ font-size: 15px; font-weight: bold }}\n\
         .m {{ fill: #666 }}\n.n {{ text-anchor: end }}\n.r {{ fill: #c4622d }}\n.a {{ fill: #2d7fb8 }}\n.x {{ stroke: #999 }}\n\
         .g {{ fill: #fff }}\n@media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} .m {{ fill: #aaa }} .g {{ fill: #1b1b1b }} }}\n\
         </style>\n<rect class=\"g\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    line(&mut out, 16.0, 26, "h", "Origins that newly refuse or allow everything to an agent");
    let day = |newest: &Option<String>| {
        newest.as_deref().map_or("unknown time", |time| &time[..time.len().min(10)]).to_owned()
    };
    let about = format!(
        "{} to {}; {} origins answered in both",
        day(&output.sides[0].1),
        day(&output.sides[1].1),
        grouped(diff.answered)
    );
    line(&mut out, 16.0, 46, "m", &about);
    line(&mut out, middle - 12.0, TOP - 10, "n", "newly allowed");
    line(&mut out, middle + 12.0, TOP - 10, "", "newly refused");
    for (i, row) in rows.iter().enumerate() {
        bars(&mut out, TOP + i * ROW, row, &scale);
    }
    let _ = writeln!(out, "<path class=\"x\" d=\"M{middle:.1} {TOP}V{}\"/>\n</svg>", TOP + rows.len() * ROW);
    out
}

fn bars(out: &mut String, top: usize, row: &AgentChange, &BarScale { middle, per_origin }: &BarScale) {
    let len = |count: u64| count as f64 * per_origin;
    let name = if row.name == "*" { "* (all others)".to_owned() } else { table::name(row) };
    let name = if name.chars().count() > 28 { name.chars().take(27).collect::<String>() + "…" } else { name };
    let text = top + ROW - 7;
    line(out, NAMES as f64, text, "n", &name);
    let [refused, allowed] = [row.refused.origins, row.allowed.origins].map(|count| (count, len(count)));
    for (class, start, len) in [("r", middle, refused.1), ("a", middle - allowed.1, allowed.1)] {
        let (y, height) = (top + 3, ROW - 6);
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{start:.1}\" y=\"{y}\" width=\"{len:.1}\" height=\"{height}\"/>"
        );
    }
    line(out, middle + refused.1 + 6.0, text, "m", &grouped(refused.0));
    line(out, middle - allowed.1 - 6.0, text, "m n", &grouped(allowed.0));
}

fn line(out: &mut String, x: f64, y: usize, class: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y}\">{text}</text>");
}
