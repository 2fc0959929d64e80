//! A comparison as a table.

use super::super::escape::{escape, escape_cut};
use super::super::summary::grouped;
use super::DiffOutput;
use robosieve::crawlers::KnownAgent;
use robosieve::diff::{AgentChange, Origins, RuleChange, Transition};
use std::fmt::Write;

/// Longer names, lines and origins are cut: they come from sites.
const LONGEST_NAME: usize = 40;
const LONGEST_LINE: usize = 100;

pub(super) fn text(output: &DiffOutput) -> String {
    let mut out = String::new();
    let diff = &output.diff;
    for (name, (path, newest), origins) in [("old", &output.sides[0], diff.old), ("new", &output.sides[1], diff.new)] {
        let newest = newest.as_deref().unwrap_or("unknown");
        let _ = writeln!(out, "{name}  {}: {} origins, newest capture {newest}", escape(path), grouped(origins));
    }
    out.push('\n');
    let mut count = |name: &str, number: u64| {
        let _ = writeln!(out, "{name:<34}{:>14}", grouped(number));
    };
    count("origins in both", diff.common);
    count("new", diff.added.origins);
    count("gone", diff.gone.origins);
    count("rules changed", diff.rules_changed.origins);
    count("outcome changed", diff.outcome_changed.origins);
    for change in &diff.outcomes {
        count(&format!("  {} to {}", change.from.name(), change.to.name()), change.origins);
    }
    count("answered in both (agents compared)", diff.answered);
    list(&mut out, "new", &diff.added);
    list(&mut out, "gone", &diff.gone);
    list(&mut out, "outcome changed", &diff.outcome_changed);
    list(&mut out, "rules changed", &diff.rules_changed);
    agents(&mut out, output);
    let rows = || std::iter::once(&diff.others).chain(&diff.agents);
    for (verdict, turned) in [("refused", refused as fn(&AgentChange) -> &Transition), ("allowed", allowed)] {
        for row in rows().filter(|row| !turned(row).examples.is_empty()) {
            let _ = writeln!(out, "\n{} newly {verdict}, for example", name(row));
            turned(row).examples.iter().for_each(|change| rules(&mut out, change));
        }
    }
    out
}

fn refused(row: &AgentChange) -> &Transition {
    &row.refused
}

fn allowed(row: &AgentChange) -> &Transition {
    &row.allowed
}

/// The agent's name, as its operator spells it if it is known.
pub(super) fn name(row: &AgentChange) -> String {
    let known = KnownAgent::find(&row.name).map_or(row.name.as_str(), |known| known.token);
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

fn agents(out: &mut String, output: &DiffOutput) {
    let diff = &output.diff;
    let rows: Vec<&AgentChange> = std::iter::once(&diff.others).chain(&diff.agents).collect();
    let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or_default().max(5);
    let _ = writeln!(
        out,
        "\n{:width$} {:>14} {:>12} {:>14} {:>12}",
        "agent", "newly refused", "of it named", "newly allowed", "of it named"
    );
    for row in &rows {
        let [refused, refused_named] = [row.refused.origins, row.refused.named].map(grouped);
        let [allowed, allowed_named] = [row.allowed.origins, row.allowed.named].map(grouped);
        let name = name(row);
        let _ = writeln!(out, "{name:width$} {refused:>14} {refused_named:>12} {allowed:>14} {allowed_named:>12}");
    }
    let left = diff.agents_changed.saturating_sub(diff.agents.len() as u64);
    if left > 0 {
        let _ = writeln!(out, "and {} more names (--top N shows more)", grouped(left));
    }
}

fn rules(out: &mut String, change: &RuleChange) {
    let group = |group: &Option<String>| match group {
        Some(name) => format!("group {}", escape_cut(name, LONGEST_NAME)),
        None => "no group".to_owned(),
    };
    let (old, new) = (group(&change.old_group), group(&change.new_group));
    let groups = if old == new { old } else { format!("{old}, now {new}") };
    let _ = writeln!(out, "  {} ({groups})", escape_cut(&change.origin, LONGEST_LINE));
    for (sign, lines, more) in [('-', &change.removed, change.removed_more), ('+', &change.added, change.added_more)] {
        for line in lines {
            let _ = writeln!(out, "    {sign} {}", escape_cut(line, LONGEST_LINE));
        }
        if more > 0 {
            let _ = writeln!(out, "    {sign} … and {} more", grouped(more));
        }
    }
}
