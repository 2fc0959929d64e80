//! The columns `access` and `named` of an exported origin, as one value.

use robosieve::export::{Coverage, ExportValue};

/// How much of an origin is disallowed to an agent, and what decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Access {
    Not,
    WhollyByName,
    WhollyByGlobal,
    WhollyByStatus,
    PartlyByName,
    PartlyByGlobal,
}

impl Access {
    /// Reads the values of an agent's two columns.
    pub(super) fn read(access: ExportValue<'_>, named: ExportValue<'_>) -> Self {
        let is_named = named == ExportValue::Text("name");
        match access {
            ExportValue::Text("blocked") if is_named => Self::WhollyByName,
            ExportValue::Text("blocked") if named == ExportValue::Null => Self::WhollyByStatus,
            ExportValue::Text("blocked") => Self::WhollyByGlobal,
            ExportValue::Text("partial") if is_named => Self::PartlyByName,
            ExportValue::Text("partial") => Self::PartlyByGlobal,
            _ => Self::Not,
        }
    }

    pub(super) fn coverage(self) -> Coverage {
        match self {
            Self::Not => Coverage::Not,
            Self::PartlyByName | Self::PartlyByGlobal => Coverage::Partly,
            _ => Coverage::Wholly,
        }
    }
}
