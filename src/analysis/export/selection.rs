//! The choice of rows and columns.

use super::columns::{ColumnNames, ExportColumn, ExportTable};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::judge::Reason;
use crate::snapshot::{Freshness, Outcome, OutcomeClass};

/// The rows and columns to export.
#[derive(Clone, Debug)]
pub(super) struct ExportSelection {
    pub table: ExportTable,
    pub columns: Vec<ExportColumn>,
    pub freshness: Freshness,
    /// Only origins that are stale at this time.
    pub stale_at: Option<i64>,
    /// Only origins with one of these outcomes; all if it is empty.
    pub outcomes: Vec<OutcomeClass>,
    /// Only origins whose verdicts have one of these reasons; all if it is empty.
    pub reasons: Vec<Reason>,
}

impl ExportSelection {
    /// Whether rows of an origin with this outcome are exported.
    pub(super) fn includes(&self, outcome: &Outcome) -> bool {
        self.stale_at
            .is_none_or(|time| self.freshness.is_stale_at(outcome, time))
            && (self.outcomes.is_empty() || self.outcomes.contains(&outcome.class))
    }

    /// Whether rows of an origin with this reason are exported.
    pub(super) fn includes_reason(&self, reason: Reason) -> bool {
        self.reasons.is_empty() || self.reasons.contains(&reason)
    }
}

/// The columns with these names, or those of `listed` if none are named.
pub(super) fn choose(
    listed: &[ExportColumn],
    unlisted: &[ExportColumn],
    names: &[impl AsRef<str>],
) -> Result<Vec<ExportColumn>> {
    let all = [listed, unlisted].concat();
    let mut chosen = Vec::new();
    for name in names {
        chosen.push(find(&all, name.as_ref().trim())?.clone());
    }
    if names.is_empty() {
        chosen = listed.to_vec();
    }
    // Some readers ignore case.
    for (number, column) in chosen.iter().enumerate() {
        let same = chosen[..number]
            .iter()
            .find(|other| other.name().eq_ignore_ascii_case(column.name()));
        if let Some(same) = same {
            return Err(repeated_column(column, same));
        }
    }
    Ok(chosen)
}

/// The column with a name. Several agents can share the spelling with underscores.
fn find<'c>(all: &'c [ExportColumn], name: &str) -> Result<&'c ExportColumn> {
    let called = |names| {
        all.iter()
            .filter(move |column| column.is_called(name, names))
    };
    if let Some(column) = called(ColumnNames::Dots).next() {
        return Ok(column);
    }
    let mut found = called(ColumnNames::Underscores);
    let column = found.next().ok_or_else(|| unknown_column(name, all))?;
    match found.find(|other| other.differs_with_dots(column)) {
        Some(_) => Err(shared_name(name)),
        None => Ok(column),
    }
}

fn unknown_column(name: &str, all: &[ExportColumn]) -> Error {
    let all: Vec<&str> = all.iter().map(ExportColumn::name).collect();
    ErrorKind::BadJob(format!(
        "column {name}: there is no such column; the columns are {}",
        all.join(", ")
    ))
    .into()
}

/// Two columns have the same name: they are the same, or their agents differ only in characters
/// that become underscores.
fn repeated_column(column: &ExportColumn, other: &ExportColumn) -> Error {
    let name = column.name();
    if column.differs_with_dots(other) {
        return shared_name(name);
    }
    ErrorKind::BadJob(format!(
        "the column {name} appears twice; name each agent and column once"
    ))
    .into()
}

fn shared_name(name: &str) -> Error {
    let what = format!(
        "two agents have the column {name}: their names differ only in characters that become `_`"
    );
    Error::from(ErrorKind::BadJob(what)).with_remedy(Remedy::NameColumnsWithDots)
}
