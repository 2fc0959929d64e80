//! Reads a table of crawlers, the format of `datasets/agents.tsv`: lines of fields with TABs
//! between them, after a line that names the columns.

use super::entry::{CrawlerEntry, bad_registry, has_control, token_defect};
use super::known_agent::{Compliance, Purpose};
use crate::error::Result;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The columns. A file needs `token`, and may have the others in any order.
pub(super) const COLUMNS: [&str; 7] = [
    "token",
    "operator",
    "purpose",
    "obeys",
    "falls_back_to",
    "ignores_star",
    "source",
];

/// The crawlers of a table, in its order. Lines that begin with `#` and empty lines are skipped.
pub(super) fn parse(text: &str) -> Result<Vec<CrawlerEntry>> {
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let mut columns: Option<Vec<&str>> = None;
    let mut first_lines: HashMap<String, usize> = HashMap::new();
    let mut entries = Vec::new();
    for (number, line) in lines {
        // The first line that is not a comment names the columns, in any order.
        let fields: Vec<&str> = line.split('\t').map(str::trim_ascii).collect();
        let Some(columns) = &columns else {
            columns = Some(checked_columns(number, fields)?);
            continue;
        };
        let entry = parse_row(number, columns, &fields)?;
        match first_lines.entry(entry.token.to_ascii_lowercase()) {
            Entry::Occupied(first) => {
                let what = format!(
                    "{} is in line {} already; keep one of the two lines",
                    entry.token,
                    first.get()
                );
                return Err(bad_registry(Some(number), what));
            }
            Entry::Vacant(vacant) => vacant.insert(number),
        };
        entries.push(entry);
    }
    Ok(entries)
}

/// The date in a comment `# date: 2026-11-23`, if there is one.
pub(super) fn date(text: &str) -> Option<&str> {
    let comments = text.lines().take_while(|line| line.starts_with('#'));
    let mut dates = comments
        .filter_map(|line| line.strip_prefix("# date: "))
        .map(str::trim);
    dates.find(|date| has_form_of_date(date))
}

/// Whether a text has the form `2026-11-23`.
fn has_form_of_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(position, byte)| {
            if position == 4 || position == 7 {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
}

/// Checks the names of the columns.
fn checked_columns(number: usize, columns: Vec<&str>) -> Result<Vec<&str>> {
    for (at, column) in columns.iter().enumerate() {
        // A misspelt column would be left out without an error.
        if !COLUMNS.contains(column) {
            let what = format!("{column:?} is not a column of a registry");
            return Err(bad_registry(
                Some(number),
                format!(
                    "{what}; name columns of {}, with TABs between them",
                    COLUMNS.join(", ")
                ),
            ));
        }
        if columns[..at].contains(column) {
            return Err(bad_registry(
                Some(number),
                format!("column {column} is named twice; keep one of the two"),
            ));
        }
    }
    if !columns.contains(&"token") {
        return Err(bad_registry(
            Some(number),
            "no column is named token; the column of the product tokens is needed",
        ));
    }
    Ok(columns)
}

/// Checks the names that a crawler falls back to; `none` is an empty text.
fn checked_names(number: usize, field: &str) -> Result<String> {
    if field == "none" {
        return Ok(String::new());
    }
    match field.split(':').find_map(token_defect) {
        Some(defect) => Err(bad_registry(
            Some(number),
            format!("falls_back_to {field:?}: {defect}"),
        )),
        None => Ok(field.to_owned()),
    }
}

fn parse_row(number: usize, columns: &[&str], fields: &[&str]) -> Result<CrawlerEntry> {
    if fields.len() != columns.len() {
        let plural = if fields.len() == 1 { "" } else { "s" };
        let counts = format!(
            "{} field{plural}, and the header has {}",
            fields.len(),
            columns.len()
        );
        return Err(bad_registry(
            Some(number),
            format!(
                "{counts}; separate fields by one TAB, and leave a field empty if it is unknown"
            ),
        ));
    }
    let mut entry = CrawlerEntry::default();
    for (column, field) in columns.iter().zip(fields) {
        if has_control(field) {
            return Err(bad_registry(
                Some(number),
                format!("the {column} has a control character; remove it"),
            ));
        }
        // An empty field states nothing, as `unknown` does.
        if field.is_empty() || *field == "unknown" && *column != "token" {
            continue;
        }
        match *column {
            "token" => entry.token = (*field).to_owned(),
            "operator" => entry.operator = Some((*field).to_owned()),
            "source" => entry.source = Some((*field).to_owned()),
            "purpose" => {
                let named = Purpose::ALL
                    .into_iter()
                    .find(|purpose| purpose.name() == *field);
                entry.purpose = Some(named.ok_or_else(|| {
                    let names = Purpose::ALL.map(Purpose::name).join(", ");
                    bad_registry(
                        Some(number),
                        format!("{field:?} is not a purpose; there are {names}"),
                    )
                })?);
            }
            "falls_back_to" => entry.falls_back_to = Some(checked_names(number, field)?),
            "ignores_star" => {
                entry.ignores_star = Some(match *field {
                    "yes" => true,
                    "no" => false,
                    _ => {
                        let what = "does not say whether the crawler ignores *; write yes or no";
                        return Err(bad_registry(Some(number), format!("{field:?} {what}")));
                    }
                });
            }
            _ => {
                let named = Compliance::ALL
                    .into_iter()
                    .find(|obeys| obeys.name() == *field);
                entry.obeys = Some(named.ok_or_else(|| {
                    let names = Compliance::ALL.map(Compliance::name).join(", ");
                    bad_registry(
                        Some(number),
                        format!("{field:?} does not say whether the crawler obeys; write {names}"),
                    )
                })?);
            }
        }
    }
    match token_defect(&entry.token) {
        Some(defect) => Err(bad_registry(Some(number), defect)),
        None => Ok(entry),
    }
}
