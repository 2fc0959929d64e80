//! The registry of crawlers, or its rows for the given agents.

use super::AgentsArgs;
use crate::figures::escape::{escape, to_json_pretty};
use crate::figures::table::longest;
use robosieve::crawlers::{CrawlerRegistry, KnownAgent};
use serde_json::json;
use std::fmt::Write;

/// An agent's name, and the known crawler, if it is one.
pub(super) type CrawlerRow<'r> = (String, Option<&'r KnownAgent>);

/// The columns of the registry.
const COLUMNS: [&str; 5] = ["token", "operator", "purpose", "obeys", "source"];

/// The given agents in the order of their letters, or the whole registry.
pub(super) fn rows<'r>(
    args: &AgentsArgs,
    registry: &'r CrawlerRegistry,
    quiet: bool,
) -> anyhow::Result<Vec<CrawlerRow<'r>>> {
    if args.agents.is_empty() {
        return Ok(registry
            .crawlers()
            .iter()
            .map(|known| (known.token.clone(), Some(known)))
            .collect());
    }
    let agents = args.agents.resolve(quiet)?;
    args.agents.check_spelling_with(
        args.agents.spell_check(&agents)?,
        "the registry of crawlers does not have",
    )?;
    let rows = agents.iter().map(|agent| {
        // The first name of a chain identifies the crawler.
        let known = agent.names().next().and_then(|name| registry.find(name));
        (agent.to_string(), known)
    });
    Ok(rows.collect())
}

/// Operator, purpose, compliance and source, as far as they are known.
fn columns_of(known: Option<&KnownAgent>) -> [Option<&str>; 4] {
    let Some(known) = known else { return [None; 4] };
    let KnownAgent {
        operator,
        purpose,
        obeys,
        source,
        ..
    } = known;
    [
        operator.as_deref(),
        Some(purpose.name()),
        Some(obeys.name()),
        source.as_deref(),
    ]
}

pub(super) fn text(rows: &[CrawlerRow<'_>], registry: &CrawlerRegistry, numbered: bool) -> String {
    let header = COLUMNS.map(str::to_owned);
    let mut cells: Vec<[String; 5]> = vec![header];
    for (name, known) in rows {
        let [operator, purpose, obeys, source] = columns_of(*known).map(|fact| fact.unwrap_or("-"));
        cells.push([name, operator, purpose, obeys, source].map(|cell| escape(cell).into_owned()));
    }
    // The last column needs no width.
    let [names, operators, purposes, obeying] =
        [0, 1, 2, 3].map(|column| longest(cells.iter().map(|row| &row[column])));
    let mut out = String::new();
    for (number, [name, operator, purpose, obeys, source]) in cells.iter().enumerate() {
        if numbered {
            let number = if number == 0 {
                String::new()
            } else {
                number.to_string()
            };
            let _ = write!(out, "{number:>3}  ");
        }
        let _ = writeln!(
            out,
            "{name:<names$}  {operator:<operators$}  {purpose:<purposes$}  {obeys:<obeying$}  \
             {source}"
        );
    }
    if let Some(date) = registry.date() {
        let _ = writeln!(out, "\nRegistry of {date}");
    }
    out
}

/// The format of `datasets/agents.tsv`.
pub(super) fn tsv(rows: &[CrawlerRow<'_>]) -> String {
    let mut out = COLUMNS.join("\t") + "\n";
    for (name, known) in rows {
        let [operator, purpose, obeys, source] = columns_of(*known).map(Option::unwrap_or_default);
        // A crawler of the registry without an operator; other agents have empty fields.
        let operator = if known.is_some() && operator.is_empty() {
            "unknown"
        } else {
            operator
        };
        let fields =
            [name, operator, purpose, obeys, source].map(|field| escape(field).into_owned());
        let _ = writeln!(out, "{}", fields.join("\t"));
    }
    out
}

pub(super) fn json(rows: &[CrawlerRow<'_>], registry: &CrawlerRegistry) -> anyhow::Result<String> {
    let mut agents = Vec::new();
    for (name, known) in rows {
        let [operator, purpose, obeys, source] = columns_of(*known);
        agents.push(json!({
            "token": name, "operator": operator, "purpose": purpose, "obeys": obeys, "source": source,
        }));
    }
    Ok(to_json_pretty(
        &json!({ "registry_date": registry.date(), "agents": agents }),
    )?)
}
