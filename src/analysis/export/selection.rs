//! The choice of rows and columns.

use super::columns::{ExportColumn, ExportTable};
use crate::snapshot::{Outcome, OutcomeClass};

/// The rows and columns to export.
#[derive(Clone, Debug, Default)]
pub(super) struct ExportSelection {
    pub table: ExportTable,
    pub columns: Vec<ExportColumn>,
    /// Only origins that are stale at this time.
    pub stale_at: Option<i64>,
    /// Only origins with one of these outcomes; all if it is empty.
    pub outcomes: Vec<OutcomeClass>,
}

impl ExportSelection {
    /// Whether rows of an origin with this outcome are exported.
    pub(super) fn includes(&self, outcome: &Outcome) -> bool {
        self.stale_at.is_none_or(|time| outcome.is_stale_at(time))
            && (self.outcomes.is_empty() || self.outcomes.contains(&outcome.class))
    }
}
