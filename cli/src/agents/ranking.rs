//! The names in the groups of a snapshot's robots.txt files, ranked by the number of origins.

use crate::figures::counts::{counted, grouped};
use crate::figures::csv::tsv_field;
use crate::figures::escape::{escape, escape_cut, to_json_pretty};
use crate::figures::table::longest;
use robosieve::Agent;
use robosieve::census::{Census, NamedAgent};
use robosieve::crawlers::CrawlerRegistry;
use serde_json::json;
use std::fmt::Write;

const DEFAULT_TOP: usize = 50;

/// The global groups and the most frequent names; or the names of the given agents, each once.
pub(super) fn rows(
    census: &Census<'_>,
    agents: &[Agent],
    top: Option<usize>,
) -> robosieve::Result<Vec<NamedAgent>> {
    if agents.is_empty() {
        return Ok([
            vec![census.global()],
            census.top(top.unwrap_or(DEFAULT_TOP))?,
        ]
        .concat());
    }
    // Each name of a chain has a row, because sites name them apart.
    let mut rows: Vec<NamedAgent> = Vec::new();
    for agent in agents {
        if agent.names().next().is_none() {
            rows.push(census.global());
        }
        for name in agent.names() {
            if rows.iter().all(|row| row.name != name) {
                rows.push(census.named(name)?);
            }
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.origins));
    rows.truncate(top.unwrap_or(usize::MAX));
    Ok(rows)
}

/// The texts of a row: those of the registry, if it has the name.
struct RowTexts<'r> {
    /// As its operator spells it.
    name: &'r str,
    purpose: Option<&'static str>,
    operator: Option<&'r str>,
}

impl<'r> RowTexts<'r> {
    fn of(row: &'r NamedAgent, registry: &'r CrawlerRegistry) -> Self {
        let known = registry.find(&row.name);
        Self {
            name: known.map_or(&row.name, |known| &known.token),
            purpose: known.map(|known| known.purpose.name()),
            operator: known.and_then(|known| known.operator.as_deref()),
        }
    }
}

/// Longer names are cut: a name may have thousands of characters.
const LONGEST: usize = 40;

pub(super) fn text(census: &Census<'_>, rows: &[NamedAgent], registry: &CrawlerRegistry) -> String {
    let names: Vec<String> = rows
        .iter()
        .map(|row| escape_cut(RowTexts::of(row, registry).name, LONGEST))
        .collect();
    let width = longest(&names).max(4);
    let mut out = format!(
        "{} with a robots.txt, {}\n{:width$} {:>12} {:>14} {:>12} {:>12}  {:<13}  operator\n",
        counted(census.origins(), "origin"),
        counted(census.names() as u64, "agent name"),
        "name",
        "origins",
        "wholly",
        "partly",
        "not",
        "purpose",
    );
    // Sites write the names, so they are escaped, and cut to keep the columns.
    for (name, row) in names.iter().zip(rows) {
        let [origins, wholly, partly, not] =
            [row.origins, row.wholly, row.partly, row.not].map(grouped);
        let texts = RowTexts::of(row, registry);
        let purpose = texts.purpose.unwrap_or("-");
        let operator = escape(texts.operator.unwrap_or("-"));
        let _ = writeln!(
            out,
            "{name:width$} {origins:>12} {wholly:>14} {partly:>12} {not:>12}  {purpose:<13}  \
             {operator}"
        );
    }
    out
}

pub(super) fn tsv(rows: &[NamedAgent], registry: &CrawlerRegistry) -> String {
    let mut out = "name\torigins\twholly\tpartly\tnot\tpurpose\toperator\n".to_owned();
    for row in rows {
        let texts = RowTexts::of(row, registry);
        let name = tsv_field(texts.name);
        let purpose = texts.purpose.unwrap_or_default();
        let operator = tsv_field(texts.operator.unwrap_or_default());
        let NamedAgent {
            origins,
            wholly,
            partly,
            not,
            ..
        } = row;
        let _ = writeln!(
            out,
            "{name}\t{origins}\t{wholly}\t{partly}\t{not}\t{purpose}\t{operator}"
        );
    }
    out
}

pub(super) fn json(
    census: &Census<'_>,
    rows: &[NamedAgent],
    registry: &CrawlerRegistry,
) -> anyhow::Result<String> {
    let mut agents = Vec::new();
    for row in rows {
        let texts = RowTexts::of(row, registry);
        agents.push(json!({
            "name": texts.name, "origins": row.origins, "wholly": row.wholly, "partly": row.partly,
            "not": row.not, "purpose": texts.purpose, "operator": texts.operator,
        }));
    }
    let value = json!({
        "origins": census.origins(), "names": census.names(), "registry_date": registry.date(), "agents": agents,
    });
    Ok(to_json_pretty(&value)?)
}
