//! The built-in table of crawlers, or its rows for the given agents.

use super::super::escape::to_json_pretty;
use super::AgentsArgs;
use robosieve::census::SpellCheck;
use robosieve::crawlers::KnownAgent;
use serde_json::json;
use std::fmt::Write;

/// An agent's name, and the known crawler, if it is one.
pub(super) type CrawlerRow = (String, Option<&'static KnownAgent>);

/// The given agents in the order of their letters, or the whole table.
pub(super) fn rows(args: &AgentsArgs, quiet: bool) -> anyhow::Result<Vec<CrawlerRow>> {
    if args.agents.is_empty() {
        return Ok(KnownAgent::all().iter().map(|known| (known.token.to_owned(), Some(known))).collect());
    }
    let agents = args.agents.resolve(quiet)?;
    args.agents.check_spelling_with(SpellCheck::new(&agents), "the table of crawlers does not have")?;
    // The first name of a chain identifies the crawler.
    let known = |agent: &robosieve::Agent| agent.names().next().and_then(KnownAgent::find);
    Ok(agents.iter().map(|agent| (agent.to_string(), known(agent))).collect())
}

/// Operator, purpose and source, if they are known.
fn facts(known: Option<&KnownAgent>) -> [Option<&str>; 3] {
    [known.map(|known| known.operator), known.map(|known| known.purpose.name()), known.map(|known| known.source)]
}

pub(super) fn text(rows: &[CrawlerRow], numbered: bool) -> String {
    let width = |column: &dyn Fn(&CrawlerRow) -> usize| rows.iter().map(column).max().unwrap_or_default();
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

/// The format of `datasets/agents.tsv`.
pub(super) fn tsv(rows: &[CrawlerRow]) -> String {
    let mut out = "token\toperator\tpurpose\tsource\n".to_owned();
    for (name, known) in rows {
        let [operator, purpose, source] = facts(*known).map(Option::unwrap_or_default);
        let _ = writeln!(out, "{name}\t{operator}\t{purpose}\t{source}");
    }
    out
}

pub(super) fn json(rows: &[CrawlerRow]) -> anyhow::Result<String> {
    let object = |(name, known): &CrawlerRow| {
        let [operator, purpose, source] = facts(*known);
        json!({ "token": name, "operator": operator, "purpose": purpose, "source": source })
    };
    Ok(to_json_pretty(&rows.iter().map(object).collect::<Vec<_>>())?)
}
