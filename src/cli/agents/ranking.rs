//! The names in the groups of a snapshot's robots.txt files, ranked by the number of origins.

use super::super::escape::{escape, escape_cut, to_json_pretty};
use super::super::summary::grouped;
use robosieve::Agent;
use robosieve::census::{Census, NamedAgent};
use robosieve::crawlers::KnownAgent;
use serde_json::{Value, json};
use std::fmt::Write;

const DEFAULT_TOP: usize = 50;

/// The global groups and the most frequent names; or the names of the given agents, each once.
pub(super) fn rows(census: &Census<'_>, agents: &[Agent], top: Option<usize>) -> robosieve::Result<Vec<NamedAgent>> {
    if agents.is_empty() {
        return Ok([vec![census.global()], census.top(top.unwrap_or(DEFAULT_TOP))?].concat());
    }
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
fn known(row: &NamedAgent) -> (&str, Option<&'static KnownAgent>) {
    let known = KnownAgent::find(&row.name);
    (known.map_or(row.name.as_str(), |known| known.token), known)
}

/// Longer names are cut: a name may have thousands of characters.
const LONGEST: usize = 40;

pub(super) fn text(census: &Census<'_>, rows: &[NamedAgent]) -> String {
    let names: Vec<String> = rows.iter().map(|row| escape_cut(known(row).0, LONGEST)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().max(4);
    let mut out = format!(
        "{} origins with a robots.txt, {} agent names\n{:width$} {:>12} {:>14} {:>12} {:>12}  {:<8}  operator\n",
        grouped(census.origins()),
        grouped(census.names() as u64),
        "name",
        "origins",
        "refuse wholly",
        "partly",
        "not",
        "purpose",
    );
    for (name, row) in names.iter().zip(rows) {
        let [origins, wholly, partly, not] = [row.origins, row.wholly, row.partly, row.not].map(grouped);
        let known = known(row).1;
        let (purpose, operator) = known.map_or(("-", "-"), |known| (known.purpose.name(), known.operator));
        let _ =
            writeln!(out, "{name:width$} {origins:>12} {wholly:>14} {partly:>12} {not:>12}  {purpose:<8}  {operator}");
    }
    out
}

pub(super) fn tsv(rows: &[NamedAgent]) -> String {
    let mut out = "name\torigins\twholly\tpartly\tnot\tpurpose\toperator\n".to_owned();
    for row in rows {
        let (name, known) = known(row);
        let (purpose, operator) = known.map_or(("", ""), |known| (known.purpose.name(), known.operator));
        let name = escape(name);
        let NamedAgent { origins, wholly, partly, not, .. } = row;
        let _ = writeln!(out, "{name}\t{origins}\t{wholly}\t{partly}\t{not}\t{purpose}\t{operator}");
    }
    out
}

pub(super) fn json(census: &Census<'_>, rows: &[NamedAgent]) -> anyhow::Result<String> {
    let object = |row: &NamedAgent| -> Value {
        let (name, known) = known(row);
        json!({
            "name": name, "origins": row.origins, "wholly": row.wholly, "partly": row.partly, "not": row.not,
            "purpose": known.map(|known| known.purpose.name()), "operator": known.map(|known| known.operator),
        })
    };
    let agents: Vec<Value> = rows.iter().map(object).collect();
    let value = json!({ "origins": census.origins(), "names": census.names(), "agents": agents });
    Ok(to_json_pretty(&value)?)
}
