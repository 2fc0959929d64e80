//! The shipped table of crawlers, or what it says of the agents that are asked for.

use super::super::escape::to_json_pretty;
use super::AgentsArgs;
use robosieve::{KnownAgent, SpellCheck};
use serde_json::json;
use std::fmt::Write;

/// An agent's name, and what is known of it.
pub(super) type Row = (String, Option<&'static KnownAgent>);

/// The agents that are asked for, in the order of their letters, or the whole table.
pub(super) fn rows(args: &AgentsArgs, quiet: bool) -> anyhow::Result<Vec<Row>> {
    if args.who.is_empty() {
        return Ok(KnownAgent::all().iter().map(|known| (known.token.to_owned(), Some(known))).collect());
    }
    let agents = args.who.agents(quiet)?;
    args.who.check_names_against(SpellCheck::new(&agents), "the table of crawlers does not have")?;
    // Of a chain the first name says who it is.
    let known = |agent: &robosieve::Agent| agent.names().next().and_then(KnownAgent::find);
    Ok(agents.iter().map(|agent| (agent.to_string(), known(agent))).collect())
}

/// Operator, purpose and source, where they are known.
fn facts(known: Option<&KnownAgent>) -> [Option<&str>; 3] {
    [known.map(|known| known.operator), known.map(|known| known.purpose.name()), known.map(|known| known.source)]
}

pub(super) fn text(rows: &[Row], numbered: bool) -> String {
    let width = |column: &dyn Fn(&Row) -> usize| rows.iter().map(column).max().unwrap_or_default();
    let names = width(&|(name, _)| name.chars().count());
    let operators = width(&|(_, known)| known.map_or(1, |known| known.operator.chars().count()));
    let mut out = String::new();
    for (i, (name, known)) in rows.iter().enumerate() {
        if numbered {
            let _ = write!(out, "{:>3}  ", i + 1);
        }
        let [operator, purpose, source] = facts(*known).map(|fact| fact.unwrap_or("-"));
        let _ = writeln!(out, "{name:<names$}  {operator:<operators$}  {purpose:<9}  {source}");
    }
    out
}

/// As `datasets/agents.tsv` has it.
pub(super) fn tsv(rows: &[Row]) -> String {
    let mut out = "token\toperator\tpurpose\tsource\n".to_owned();
    for (name, known) in rows {
        let [operator, purpose, source] = facts(*known).map(Option::unwrap_or_default);
        let _ = writeln!(out, "{name}\t{operator}\t{purpose}\t{source}");
    }
    out
}

pub(super) fn json(rows: &[Row]) -> anyhow::Result<String> {
    let object = |(name, known): &Row| {
        let [operator, purpose, source] = facts(*known);
        json!({ "token": name, "operator": operator, "purpose": purpose, "source": source })
    };
    Ok(to_json_pretty(&rows.iter().map(object).collect::<Vec<_>>())?)
}
