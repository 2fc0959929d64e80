//! Line charts of shares, as inline SVG: they need no script, and scale with the window.

use crate::figures::escape::escape_cut;
use crate::figures::html::{ShareScale, unbroken};
use crate::figures::shares::weight_share;
use maud::{Markup, html};

/// The size of a chart, and the area of its lines. Charts are shown at about this width, so that
/// texts keep their size.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 160.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 308.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 134.0;

/// The most characters of a label on the axis, and an estimate of their width.
const LABEL: usize = 12;
const CHARACTER: f64 = 7.0;

/// The least gap between two labels.
const LABEL_GAP: f64 = 8.0;

/// One line of a chart.
pub(super) struct ChartLine<'c> {
    /// The class of its style.
    pub class: &'c str,
    pub name: &'c str,
    /// Its value at each label, in per cent.
    pub percents: Vec<f64>,
    /// Whether each value has a point that shows it when pointed at.
    pub has_points: bool,
}

/// A chart of these lines over the labels.
pub(super) fn line_chart(
    title: &str,
    labels: &[&str],
    lines: &[ChartLine<'_>],
    scale: ShareScale,
) -> Markup {
    let ticks = scale.ticks();
    html! {
        svg.chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(description(title, labels, lines)) {
            @for (i, tick) in ticks.iter().enumerate() {
                @let y = BOTTOM - i as f64 / 2.0 * (BOTTOM - TOP);
                line class=(if i == 0 { "axis" } else { "grid" }) x1=(LEFT) x2=(RIGHT) y1=(y) y2=(y) {}
                text.end x=(LEFT - 6.0) y=(y + 4.0) { (tick) }
            }
            @for (i, position) in shown_labels(labels) {
                text class=(position.class) x=(format!("{:.1}", position.x)) y=(BOTTOM + 20.0) { (escape_cut(labels[i], LABEL)) }
            }
            @for line in lines { (draw_line(line, labels, scale)) }
        }
    }
}

/// The first and the last value of each line, for screen readers.
fn description(title: &str, labels: &[&str], lines: &[ChartLine<'_>]) -> String {
    let mut text = format!("{}: ", escape_cut(title, 60));
    let (Some(from), Some(to)) = (labels.first(), labels.last()) else {
        return text + "no snapshots";
    };
    let ends = lines.iter().filter_map(|line| {
        let first = line.percents.first()?;
        let last = line.percents.last()?;
        Some(format!(
            "{} {} to {}",
            line.name,
            percent(*first),
            percent(*last)
        ))
    });
    text += &ends.collect::<Vec<_>>().join(", ");
    text + &format!(
        ", from {} to {}",
        escape_cut(from, LABEL),
        escape_cut(to, LABEL)
    )
}

fn percent(value: f64) -> String {
    weight_share(value, 100.0)
}

fn x_of(i: usize, count: usize) -> f64 {
    match count {
        0 | 1 => (LEFT + RIGHT) / 2.0,
        _ => LEFT + (RIGHT - LEFT) * i as f64 / (count - 1) as f64,
    }
}

fn y_of(percent: f64, scale: ShareScale) -> f64 {
    BOTTOM - scale.position(percent, 100.0) / 100.0 * (BOTTOM - TOP)
}

fn draw_line(line: &ChartLine<'_>, labels: &[&str], scale: ShareScale) -> Markup {
    let positions: Vec<(f64, f64)> = line
        .percents
        .iter()
        .enumerate()
        .map(|(i, value)| (x_of(i, line.percents.len()), y_of(*value, scale)))
        .collect();
    let points: Vec<String> = positions
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    html! {
        g class=(line.class) {
            polyline points=(points.join(" ")) {}
            @if line.has_points {
            @for (((x, y), value), label) in positions.iter().zip(&line.percents).zip(labels) {
                circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="2.5" {
                    title { (unbroken(&format!("{}, {}: {}", escape_cut(label, LABEL), line.name, percent(*value)))) }
                }
            }
            }
        }
    }
}

/// The position and the anchor of a label.
struct LabelPosition {
    x: f64,
    class: &'static str,
}

impl LabelPosition {
    /// The outer labels begin and end at the edge of the area, and the others are centred.
    fn of(i: usize, count: usize) -> Self {
        if count == 1 {
            Self {
                x: x_of(0, 1),
                class: "middle",
            }
        } else if i == 0 {
            Self {
                x: LEFT,
                class: "start",
            }
        } else if i + 1 == count {
            Self {
                x: RIGHT,
                class: "end",
            }
        } else {
            Self {
                x: x_of(i, count),
                class: "middle",
            }
        }
    }
}

/// The labels with room on the axis: the first, the last, and some between them at nearly equal
/// distances.
fn shown_labels(labels: &[&str]) -> Vec<(usize, LabelPosition)> {
    let count = labels.len();
    let shown = match count {
        0..=2 => (0..count).collect(),
        _ => spread_labels(labels),
    };
    shown
        .into_iter()
        .map(|i| (i, LabelPosition::of(i, count)))
        .collect()
}

/// The most labels, of at least two, that do not overlap.
fn spread_labels(labels: &[&str]) -> Vec<usize> {
    let last = labels.len() - 1;
    let widest = labels
        .iter()
        .map(|label| label.chars().count().min(LABEL + 1))
        .max()
        .unwrap_or_default();
    let width = widest as f64 * CHARACTER;
    // More labels than one per 20 units would be hard to read, and the bound shortens the search.
    let most = last.min((RIGHT - LEFT) as usize / 20);
    for intervals in (2..=most).rev() {
        let shown: Vec<usize> = (0..=intervals)
            .map(|i| (i * last + intervals / 2) / intervals)
            .collect();
        if labels_fit(&shown, labels.len(), width) {
            return shown;
        }
    }
    vec![0, last]
}

/// Whether labels of this width do not overlap. An outer label is not centred, so it
/// takes more of the space next to it.
fn labels_fit(shown: &[usize], count: usize, width: f64) -> bool {
    shown.windows(2).all(|pair| {
        let is_outer = pair[0] == 0 || pair[1] + 1 == count;
        let room = x_of(pair[1], count) - x_of(pair[0], count);
        room >= width * if is_outer { 1.5 } else { 1.0 } + LABEL_GAP
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_thinned() {
        let months: Vec<String> = (1..=12).map(|month| format!("2025-{month:02}")).collect();
        let shown = |count: usize| -> Vec<usize> {
            let labels: Vec<&str> = months
                .iter()
                .cycle()
                .take(count)
                .map(String::as_str)
                .collect();
            shown_labels(&labels).into_iter().map(|(i, _)| i).collect()
        };
        assert_eq!(shown(0), [0; 0]);
        assert_eq!(shown(1), [0]);
        assert_eq!(shown(2), [0, 1]);
        assert_eq!(shown(3), [0, 1, 2]);
        assert_eq!(shown(4), [0, 1, 2, 3]);
        assert_eq!(shown(5), [0, 2, 4]);
        assert_eq!(shown(12), [0, 4, 7, 11]);
        assert_eq!(shown(1000), [0, 333, 666, 999]);
        assert_eq!(shown_labels(&["a long label with words"; 5]).len(), 2);
    }
}
