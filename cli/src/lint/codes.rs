//! The list of all codes.

use super::lint_args::code_width;
use crate::figures::escape::to_json_pretty;
use crate::output::print;
use robosieve::lint::Code;
use serde_json::json;
use std::fmt::Write;

/// Prints all codes in the order of `docs/LINT.md`.
pub(super) fn print_codes(is_json: bool) -> anyhow::Result<()> {
    if is_json {
        let rows = Code::ALL.iter().map(|code| {
            json!({
                "code": code.name(), "severity": code.severity().name(), "in_snapshot": code.in_snapshot().name(),
                "fix": code.fixable().name(), "summary": code.summary(),
            })
        });
        return print(&to_json_pretty(&rows.collect::<Vec<_>>())?);
    }
    let width = code_width();
    let mut out = format!("{:<width$}  severity  snapshot  fix     meaning\n", "code");
    for code in Code::ALL {
        let name = code.name();
        let severity = code.severity().name();
        let in_snapshot = code.in_snapshot().name();
        let fix = code.fixable().name();
        let _ = writeln!(
            out,
            "{name:<width$}  {severity:<8}  {in_snapshot:<8}  {fix:<6}  {}",
            code.summary()
        );
    }
    print(&out)
}
