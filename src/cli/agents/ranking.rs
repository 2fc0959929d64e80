//! The names in the groups of a snapshot's robots.txt files, ranked by the number of origins.

use super::super::figures::counts::{counted, grouped};
use super::super::figures::csv::tsv_field;
use super::super::figures::escape::{escape, escape_cut, to_json_pretty};
use super::super::figures::table::longest;
use robosieve::Agent;
use robosieve::census::{Census, NamedAgent};
use robosieve::crawlers::{CrawlerRegistry, KnownAgent};
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

/// The name as its operator spells it, and the known crawler, if it is one.
fn known<'r>(
    row: &'r NamedAgent,
    registry: &'r CrawlerRegistry,
) -> (&'r str, Option<&'r KnownAgent>) {
    let known = registry.find(&row.name);
    (known.map_or(&row.name, |known| &known.token), known)
}

/// Purpose and operator, as far as they are known.
fn facts(known: Option<&KnownAgent>) -> (Option<&'static str>, Option<&str>) {
    (
        known.map(|known| known.purpose.name()),
        known.and_then(|known| known.operator.as_deref()),
    )
}

/// Longer names are cut: a name may have thousands of characters.
const LONGEST: usize = 40;

pub(super) fn text(census: &Census<'_>, rows: &[NamedAgent], registry: &CrawlerRegistry) -> String {
    let names: Vec<String> = rows
        .iter()
        .map(|row| escape_cut(known(row, registry).0, LONGEST))
        .collect();
    let width = longest(&names).max(4);
    let mut out = format!(
        "{} with a robots.txt, {}\n{:width$} {:>12} {:>14} {:>12} {:>12}  {:<13}  operator\n",
        counted(census.origins(), "origin"),
        counted(census.names() as u64, "agent name"),
        "name",
        "origins",
        "refuse wholly",
        "partly",
        "not",
        "purpose",
    );
    // Sites write the names, so they are escaped, and cut to keep the columns.
    for (name, row) in names.iter().zip(rows) {
        let [origins, wholly, partly, not] =
            [row.origins, row.wholly, row.partly, row.not].map(grouped);
        let (purpose, operator) = facts(known(row, registry).1);
        let purpose = purpose.unwrap_or("-");
        let operator = escape(operator.unwrap_or("-"));
        let _ = writeln!(
            out,
            "{name:width$} {origins:>12} {wholly:>14} {partly:>12} {not:>12}  {purpose:<13}  {operator}"
        );
    }
    out
}

pub(super) fn tsv(rows: &[NamedAgent], registry: &CrawlerRegistry) -> String {
    let mut out = "name\torigins\twholly\tpartly\tnot\tpurpose\toperator\n".to_owned();
    for row in rows {
        let (name, known) = known(row, registry);
        let (purpose, operator) = facts(known);
        let name = tsv_field(name);
        let purpose = purpose.unwrap_or_default();
        let operator = tsv_field(operator.unwrap_or_default());
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
        let (name, known) = known(row, registry);
        let (purpose, operator) = facts(known);
        agents.push(json!({
            "name": name, "origins": row.origins, "wholly": row.wholly, "partly": row.partly, "not": row.not,
            "purpose": purpose, "operator": operator,
        }));
    }
    let value = json!({
        "origins": census.origins(), "names": census.names(), "registry_date": registry.date(), "agents": agents,
    });
    Ok(to_json_pretty(&value)?)
}
