//! The units of a report in its texts.

use super::fold::UnitKind;

/// The plural of a unit: `origins`, `hosts` or `domains`.
pub(crate) fn units(kind: UnitKind) -> &'static str {
    match kind {
        UnitKind::Host => "hosts",
        UnitKind::Domain => "domains",
        _ => "origins",
    }
}

/// The noun of several units at the start of a sentence: `Origins`, `Hosts` or `Domains`.
pub(crate) fn plural_title(by: UnitKind) -> String {
    let (first, rest) = units(by).split_at(1);
    first.to_ascii_uppercase() + rest
}
