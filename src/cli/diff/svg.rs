//! A chart with a row per agent: origins that newly refuse it to the right, origins that newly allow
//! it to the left. Each bar is stacked: by name, by `*`, partly.

use super::super::figures::counts::grouped;
use super::DiffOutput;
use super::table;
use robosieve::crawlers::CrawlerRegistry;
use robosieve::diff::{AgentChange, Transition};
use std::fmt::Write;

const ROW: f64 = 24.0;
const BAR: f64 = 15.0;
/// The place of the first row; the title, the legend and the headings are above it.
const TOP: f64 = 116.0;
const WIDTH: f64 = 900.0;
const MARGIN: f64 = 16.0;
/// The gap between a bar and the text next to it.
const GAP: f64 = 8.0;
/// The most room for names. Longer ones are cut.
const LONGEST_NAME: f64 = 210.0;

/// The style. The colours of bars have a contrast of 3 with the background, and of texts 4.5; a
/// partial refusal is an outline, so that it differs without colour.
const STYLE: &str = "text { font: 12px sans-serif; fill: #1b2430 }
.h { font-size: 15px; font-weight: bold }
.b { font-weight: bold }
.m { fill: #586474 }
.n { text-anchor: end }
.g { fill: #fff }
.t { fill: #e3e8ee }
.x { stroke: #1b2430; fill: none }
.r0 { fill: #8f2410 }
.r1 { fill: #cf6f4d }
.r2 { fill: #fbeae3; stroke: #c05a3a }
.a0 { fill: #1d5591 }
.a1 { fill: #4f8fc9 }
.a2 { fill: #e4eff9; stroke: #3f7fb8 }
@media (prefers-color-scheme: dark) {
text { fill: #e6eaf0 }
.m { fill: #9da9b8 }
.g { fill: #12161c }
.t { fill: #2d3641 }
.x { stroke: #e6eaf0 }
.r0 { fill: #ff8a66 }
.r1 { fill: #b85c42 }
.r2 { fill: #35211b; stroke: #c96a4c }
.a0 { fill: #6fb1f2 }
.a1 { fill: #3f77ad }
.a2 { fill: #18293a; stroke: #4f8ac2 }
}
";

/// The sizes of the segments of a bar: wholly by name, wholly by `*`, partly.
fn segments(wholly: &Transition, partly: &Transition) -> [u64; 3] {
    [wholly.by_name, wholly.by_global, partly.origins]
}

/// A row of the chart.
struct ChartRow {
    name: String,
    refused: [u64; 3],
    allowed: [u64; 3],
}

impl ChartRow {
    fn new(row: &AgentChange, registry: &CrawlerRegistry) -> Self {
        let name = if row.name == "*" {
            "* (all others)".to_owned()
        } else {
            table::name(row, registry)
        };
        let refused = segments(&row.refused, &row.newly_partly);
        Self {
            name: cut(&name, LONGEST_NAME),
            refused,
            allowed: segments(&row.allowed, &row.no_longer_partly),
        }
    }
}

/// The numbers next to a bar, in the order of its segments.
fn numbers(segments: [u64; 3]) -> String {
    segments.map(grouped).join(" · ")
}

/// Where names end and bars begin, and the length of a bar per origin.
struct Layout {
    names_end: f64,
    /// The ends of the track of all bars.
    left: f64,
    right: f64,
    /// The origin of both bars.
    middle: f64,
    per_origin: f64,
}

impl Layout {
    /// Names and numbers get the room that they need, and the bars the rest.
    fn new(rows: &[ChartRow]) -> Self {
        let widest = |text: fn(&ChartRow) -> String| {
            rows.iter().map(|row| width(&text(row))).fold(0.0, f64::max)
        };
        let most = |size: fn(&ChartRow) -> [u64; 3]| {
            rows.iter()
                .map(|row| size(row).iter().sum::<u64>())
                .max()
                .unwrap_or_default() as f64
        };
        let names_end = MARGIN + widest(|row| row.name.clone());
        let left = names_end + 2.0 * GAP + widest(|row| numbers(row.allowed)) + GAP;
        let right = WIDTH - MARGIN - widest(|row| numbers(row.refused)) - GAP;
        let (allowed, refused) = (most(|row| row.allowed), most(|row| row.refused));
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
}

/// An estimate of the width of a text of 12 pixels, rather too large than too small.
fn width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ' ' | '·' | '|' | '\'' => 4.0,
        '0'..='9' => 7.6,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 12.0,
        'A'..='Z' => 9.4,
        ' '..='~' => 7.8,
        _ => 13.0,
    }
}

/// The longest prefix that fits, with an ellipsis if the text is longer.
fn cut(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut used = char_width('…');
    let fits = |c: &char| {
        used += char_width(*c);
        used <= room
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// A self-contained SVG file, for light and dark backgrounds.
pub(super) fn draw(output: &DiffOutput<'_>) -> String {
    let rows = table::sorted_rows(&output.diff).into_iter();
    let rows: Vec<ChartRow> = rows
        .map(|row| ChartRow::new(row, output.registry))
        .collect();
    let layout = Layout::new(&rows);
    let bottom = TOP + rows.len() as f64 * ROW;
    let height = bottom + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         style=\"max-width:100%;height:auto\" role=\"img\">\n\
         <title>Origins that newly refuse or newly allow agents</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"g\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    head(&mut out, output);
    legend(&mut out, layout.names_end + 2.0 * GAP);
    for (i, row) in rows.iter().enumerate() {
        bars(&mut out, TOP + i as f64 * ROW, row, &layout);
    }
    let Layout { middle, .. } = layout;
    let _ = writeln!(
        out,
        "<path class=\"x\" d=\"M{middle:.1} {:.1}V{bottom:.1}\"/>\n</svg>",
        TOP - 4.0
    );
    out
}

fn head(out: &mut String, output: &DiffOutput<'_>) {
    line(
        out,
        MARGIN,
        28.0,
        "h",
        "Origins that newly refuse or newly allow agents",
    );
    let day = |newest: &Option<String>| {
        newest
            .as_deref()
            .map_or("unknown time", |time| &time[..time.len().min(10)])
            .to_owned()
    };
    let about = format!(
        "{} to {}; {} origins answered in both; numbers are by name · by * · partly",
        day(&output.sides[0].1),
        day(&output.sides[1].1),
        grouped(output.diff.answered)
    );
    line(out, MARGIN, 48.0, "m", &about);
}

/// One line per side: its name, and a key for each segment in the order of the numbers.
fn legend(out: &mut String, start: f64) {
    for (y, side, heading, names) in [
        (
            74.0,
            'a',
            "← newly allowed:",
            [
                "was refused by name",
                "was refused by *",
                "was refused partly",
            ],
        ),
        (96.0, 'r', "→ newly refused:", ["by name", "by *", "partly"]),
    ] {
        line(out, start, y, "b", heading);
        let mut x = start + 130.0;
        for (class, name) in names.into_iter().enumerate() {
            let _ = writeln!(
                out,
                "<rect class=\"{side}{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"10\"/>",
                y - 9.0
            );
            line(out, x + 18.0, y, "", name);
            x += 160.0;
        }
    }
}

fn bars(out: &mut String, top: f64, row: &ChartRow, layout: &Layout) {
    let text = top + 16.0;
    let y = top + (ROW - BAR) / 2.0;
    let mut rect = |class: &str, x: f64, width: f64| {
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\"/>"
        );
    };
    rect("t", layout.left, layout.right - layout.left);
    let (mut left, mut right) = (layout.middle, layout.middle);
    for (class, (&allowed, &refused)) in row.allowed.iter().zip(&row.refused).enumerate() {
        let (allowed, refused) = (
            allowed as f64 * layout.per_origin,
            refused as f64 * layout.per_origin,
        );
        if refused > 0.0 {
            rect(&format!("r{class}"), right, refused);
        }
        if allowed > 0.0 {
            rect(&format!("a{class}"), left - allowed, allowed);
        }
        (left, right) = (left - allowed, right + refused);
    }
    line(out, layout.names_end, text, "n", &row.name);
    line(out, layout.left - GAP, text, "m n", &numbers(row.allowed));
    line(out, layout.right + GAP, text, "m", &numbers(row.refused));
}

fn line(out: &mut String, x: f64, y: f64, class: &str, text: &str) {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y}\">{text}</text>"
    );
}
