//! The registry of crawlers, or its rows for the given agents.

use super::AgentsArgs;
use crate::figures::escape::{escape, to_json_pretty};
use crate::figures::table::longest;
use robosieve::crawlers::{CrawlerRegistry, KnownAgent};
use serde_json::json;
use std::fmt::Write;

/// An agent's name, and the known crawler, if it is one.
pub(super) type CrawlerRow<'r> = (String, Option<&'r KnownAgent>);

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
        // The first name of a chain identifies the crawler. A set gives it the chain of the
        // registry, which has columns of its own.
        let known = agent.names().next().and_then(|name| registry.find(name));
        let name = match known {
            Some(known) if known.agent()?.label() == agent.label() => known.token.clone(),
            _ => agent.to_string(),
        };
        Ok((name, known))
    });
    rows.collect()
}

/// The columns after the token, as far as they are known.
fn facts_of(known: Option<&KnownAgent>) -> [Option<&str>; 6] {
    let Some(known) = known else { return [None; 6] };
    let names = known.falls_back_to.as_deref();
    [
        known.operator.as_deref(),
        Some(known.purpose.name()),
        Some(known.obeys.name()),
        Some(names.unwrap_or("none")),
        Some(if known.ignores_star { "yes" } else { "no" }),
        known.source.as_deref(),
    ]
}

/// The cells of a row. `missing` stands for facts that are not known.
fn cells_of((name, known): &CrawlerRow<'_>, missing: [&str; 6]) -> [String; 7] {
    let mut cells = [name.as_str(); 7];
    for (cell, (fact, missing)) in cells[1..]
        .iter_mut()
        .zip(facts_of(*known).into_iter().zip(missing))
    {
        *cell = fact.unwrap_or(missing);
    }
    cells.map(|cell| escape(cell).into_owned())
}

pub(super) fn text(rows: &[CrawlerRow<'_>], registry: &CrawlerRegistry, numbered: bool) -> String {
    let mut lines: Vec<[String; 7]> = vec![CrawlerRegistry::COLUMNS.map(str::to_owned)];
    lines.extend(rows.iter().map(|row| cells_of(row, ["-"; 6])));
    let mut widths = [0; 7];
    for (column, width) in widths.iter_mut().enumerate() {
        *width = longest(lines.iter().map(|cells| &cells[column]));
    }
    let mut out = String::new();
    for (number, cells) in lines.iter().enumerate() {
        let mut line = match (numbered, number) {
            (false, _) => String::new(),
            (true, 0) => " ".repeat(5),
            (true, number) => format!("{number:>3}  "),
        };
        for (cell, width) in cells.iter().zip(widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if let Some(date) = registry.date() {
        let _ = writeln!(out, "\nRegistry of {date}");
    }
    out
}

/// The format of `datasets/agents.tsv`.
pub(super) fn tsv(rows: &[CrawlerRow<'_>]) -> String {
    let mut out = CrawlerRegistry::COLUMNS.join("\t") + "\n";
    for row in rows {
        // A crawler of the registry without an operator; other agents have empty fields.
        let operator = if row.1.is_some() { "unknown" } else { "" };
        let cells = cells_of(row, [operator, "", "", "", "", ""]);
        let _ = writeln!(out, "{}", cells.join("\t"));
    }
    out
}

pub(super) fn json(rows: &[CrawlerRow<'_>], registry: &CrawlerRegistry) -> anyhow::Result<String> {
    let mut agents = Vec::new();
    for (name, known) in rows {
        let [operator, purpose, obeys, _, _, source] = facts_of(*known);
        agents.push(json!({
            "token": name, "operator": operator, "purpose": purpose, "obeys": obeys,
            "falls_back_to": known.and_then(|known| known.falls_back_to.as_deref()),
            "ignores_star": known.map(|known| known.ignores_star), "source": source,
        }));
    }
    Ok(to_json_pretty(
        &json!({ "registry_date": registry.date(), "agents": agents }),
    )?)
}
