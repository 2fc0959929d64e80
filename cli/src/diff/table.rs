//! A comparison as a table.

use super::DiffOutput;
use crate::figures::counts::{counted, grouped};
use crate::figures::escape::{escape, escape_cut};
use crate::figures::table::{Columns, longest};
use robosieve::crawlers::CrawlerRegistry;
use robosieve::diff::{AgentChange, Diff, Origins, RuleChange, Transition};
use std::fmt::Write;

/// Longer names, lines and origins are cut: they come from sites.
const LONGEST_NAME: usize = 40;
const LONGEST_LINE: usize = 100;

pub(super) fn text(output: &DiffOutput<'_>) -> String {
    let mut out = String::new();
    let diff = &output.diff;
    for (name, (path, newest), origins) in [
        ("old", &output.sides[0], diff.old),
        ("new", &output.sides[1], diff.new),
    ] {
        let newest = newest.as_deref().unwrap_or("unknown");
        let _ = writeln!(
            out,
            "{name}  {}: {}, newest capture {newest}",
            escape(path),
            counted(origins, "origin")
        );
    }
    out.push('\n');
    // The counts of origins first, then the origins, then the agents: from the whole to the parts.
    push_count(&mut out, "origins in both", diff.common);
    push_count(&mut out, "new", diff.added.origins);
    push_count(&mut out, "gone", diff.gone.origins);
    push_count(&mut out, "rules changed", diff.rules_changed.origins);
    push_count(&mut out, "outcome changed", diff.outcome_changed.origins);
    for change in &diff.outcomes {
        push_count(
            &mut out,
            &format!("  {} to {}", change.from.name(), change.to.name()),
            change.origins,
        );
    }
    push_count(
        &mut out,
        "answered in both (agents compared)",
        diff.answered,
    );
    list(&mut out, "new", &diff.added);
    list(&mut out, "gone", &diff.gone);
    list(&mut out, "outcome changed", &diff.outcome_changed);
    list(&mut out, "rules changed", &diff.rules_changed);
    agents(&mut out, output);
    let rows = sorted_rows(diff);
    for (verdict, turned) in [
        ("disallowed", refused as fn(&AgentChange) -> &Transition),
        ("allowed", allowed),
    ] {
        for row in rows.iter().filter(|row| !turned(row).examples.is_empty()) {
            let _ = writeln!(
                out,
                "\n{} newly {verdict}, for example",
                name(row, output.registry)
            );
            turned(row)
                .examples
                .iter()
                .for_each(|change| rules(&mut out, change));
        }
    }
    out
}

fn push_count(out: &mut String, name: &str, number: u64) {
    const COLUMNS: Columns<'_> = Columns {
        indent: 0,
        name: 34,
        gap: 0,
        cells: &[14],
    };
    let _ = writeln!(out, "{}", COLUMNS.row(name, [grouped(number)]));
}

fn refused(row: &AgentChange) -> &Transition {
    &row.refused
}

fn allowed(row: &AgentChange) -> &Transition {
    &row.allowed
}

/// The agent's name, as its operator spells it if it is known.
pub(super) fn name(row: &AgentChange, registry: &CrawlerRegistry) -> String {
    let known = registry
        .find(&row.name)
        .map_or(&row.name, |known| &known.token);
    escape_cut(known, LONGEST_NAME)
}

fn list(out: &mut String, heading: &str, origins: &Origins) {
    if !origins.examples.is_empty() {
        let _ = writeln!(out, "\n{heading}, for example");
        for origin in &origins.examples {
            let _ = writeln!(out, "  {}", escape_cut(origin, LONGEST_LINE));
        }
    }
}

/// The rows of the table and of the chart: first the unnamed agents, then the agents, the most
/// newly disallowed first.
pub(super) fn sorted_rows(diff: &Diff) -> Vec<&AgentChange> {
    let mut agents: Vec<&AgentChange> = diff.agents.iter().collect();
    agents.sort_by_cached_key(|row| row.ranking());
    std::iter::once(&diff.others).chain(agents).collect()
}

/// The numbers of a row: newly disallowed wholly, of that by name and by `*`, and partly; then newly
/// allowed in the same order.
fn counts(row: &AgentChange) -> [u64; 8] {
    [
        row.refused.origins,
        row.refused.by_name,
        row.refused.by_global,
        row.newly_partly.origins,
        row.allowed.origins,
        row.allowed.by_name,
        row.allowed.by_global,
        row.no_longer_partly.origins,
    ]
}

fn agents(out: &mut String, output: &DiffOutput<'_>) {
    const COLUMNS: [&str; 4] = ["wholly", "by name", "by *", "partly"];
    let diff = &output.diff;
    let rows = sorted_rows(diff);
    let names: Vec<String> = rows.iter().map(|row| name(row, output.registry)).collect();
    let width = longest(&names).max(5);
    let numbers = rows.iter().flat_map(|row| counts(row)).map(grouped);
    let column = longest(numbers).max(COLUMNS[1].len()) + 2;
    // Each half has four columns; its heading begins above the first one.
    let half = column * COLUMNS.len() - 2;
    let _ = writeln!(
        out,
        "\n{:width$}  {:<half$}  newly allowed",
        "", "newly disallowed"
    );
    let columns = Columns {
        indent: 0,
        name: width,
        gap: 0,
        cells: &[column],
    };
    let headings = COLUMNS.iter().chain(&COLUMNS);
    let _ = writeln!(out, "{}", columns.row("agent", headings));
    for (name, row) in names.iter().zip(&rows) {
        let _ = writeln!(out, "{}", columns.row(name, counts(row).map(grouped)));
    }
    let left = diff.agents_changed.saturating_sub(diff.agents.len() as u64);
    if left > 0 {
        let _ = writeln!(
            out,
            "and {} (--top N shows more)",
            counted(left, "more name")
        );
    }
}

fn rules(out: &mut String, change: &RuleChange) {
    let [old, new] = [&change.old_group, &change.new_group].map(|group| match group {
        Some(name) => format!("group {}", escape_cut(name, LONGEST_NAME)),
        None => "no group".to_owned(),
    });
    // The agent may obey another group now, which changes its rules without an edited line.
    let groups = if old == new {
        old
    } else {
        format!("{old}, now {new}")
    };
    let _ = writeln!(
        out,
        "  {} ({groups})",
        escape_cut(&change.origin, LONGEST_LINE)
    );
    for (sign, lines, more) in [
        ('-', &change.removed, change.removed_more),
        ('+', &change.added, change.added_more),
    ] {
        for line in lines {
            let _ = writeln!(out, "    {sign} {}", escape_cut(line, LONGEST_LINE));
        }
        if more > 0 {
            let _ = writeln!(out, "    {sign} … and {} more", grouped(more));
        }
    }
}
