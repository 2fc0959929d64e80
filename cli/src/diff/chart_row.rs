//! A row of the chart: an agent, and the sizes of its bars.

use super::table;
use crate::figures::counts::grouped;
use crate::figures::svg::cut_to_width;
use robosieve::crawlers::CrawlerRegistry;
use robosieve::diff::{AgentChange, Transition};

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
pub(super) fn numbers(segments: [u64; 3]) -> String {
    segments.map(grouped).join(" · ")
}
