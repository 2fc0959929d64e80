//! A chart with a row per agent: origins that newly disallow it to the right, origins that newly
//! allow it to the left. Each bar is stacked: by name, by `*`, partly.

use super::DiffOutput;
use super::chart_layout::{ChartRow, GAP, Layout, MARGIN, ROW, WIDTH};
use super::table;
use crate::figures::counts::counted;
use crate::figures::svg::push_text;
use std::fmt::Write as _;

/// The top of the first row; the title, the legend and the headings are above it.
const TOP: f64 = 116.0;

/// The style. The colours of bars have a contrast of 3 with the background, and of texts 4.5; the
/// bar of partly disallowed sites is an outline, so that it differs without colour.
const STYLE: &str = include_str!("chart.css");

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
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" style=\"max-width:100%;height:auto\" role=\"img\">\n\
         <title>Origins that newly disallow or newly allow agents</title>\n\
         <style>\n\
         {STYLE}</style>\n\
         <rect class=\"g\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    head(&mut out, output);
    legend(&mut out, layout.names_end + 2.0 * GAP);
    for (i, row) in rows.iter().enumerate() {
        layout.draw_row(&mut out, TOP + i as f64 * ROW, row);
    }
    // SVG draws later elements on top, so the axis follows the bars.
    let Layout { middle, .. } = layout;
    let _ = writeln!(
        out,
        "<path class=\"x\" d=\"M{middle:.1} {:.1}V{bottom:.1}\"/>\n</svg>",
        TOP - 4.0
    );
    out
}

fn head(out: &mut String, output: &DiffOutput<'_>) {
    push_text(
        out,
        MARGIN,
        28.0,
        "h",
        "Origins that newly disallow or newly allow agents",
    );
    let [old, new] = [&output.sides[0].1, &output.sides[1].1].map(|newest| {
        let time = newest.as_deref();
        time.map_or("unknown time", |time| &time[..time.len().min(10)])
    });
    let about = format!(
        "{old} to {new}; {} answered in both; numbers are by name · by * · partly",
        counted(output.diff.answered, "origin")
    );
    push_text(out, MARGIN, 48.0, "m", &about);
}

/// One line per side: its name, and a key for each segment in the order of the numbers.
fn legend(out: &mut String, start: f64) {
    for (y, side, heading, names) in [
        (
            74.0,
            'a',
            "← newly allowed:",
            [
                "was disallowed by name",
                "was disallowed by *",
                "was disallowed partly",
            ],
        ),
        (
            96.0,
            'r',
            "→ newly disallowed:",
            ["by name", "by *", "partly"],
        ),
    ] {
        push_text(out, start, y, "b", heading);
        // A fixed start aligns the keys of the two lines.
        let mut x = start + 150.0;
        for (class, name) in names.into_iter().enumerate() {
            let _ = writeln!(
                out,
                "<rect class=\"{side}{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" \
                 height=\"10\"/>",
                y - 9.0
            );
            push_text(out, x + 18.0, y, "", name);
            x += 160.0;
        }
    }
}
