//! The counts of an audit on standard error.

use super::totals::AuditTotals;
use crate::figures::counts::grouped;
use crate::stderr::print_line;
use crate::summary::wrap_items;
use robosieve::audit::AuditReport;
use std::time::Duration;

pub(super) fn print_audit(report: &AuditReport, elapsed: Duration) {
    let totals = AuditTotals::of(report);
    let mut items = vec![
        format!("lines {}", grouped(report.lines)),
        format!("of crawlers {}", grouped(totals.requests)),
        format!("disallowed {}", grouped(totals.disallowed)),
    ];
    if let Some(claims) = totals.claims {
        items.push(format!("claimed {}", grouped(claims.requests)));
        items.push(format!("claimed disallowed {}", grouped(claims.disallowed)));
    }
    items.push(format!("other agents {}", grouped(report.other_agents)));
    items.push(format!("invalid {}", grouped(report.invalid)));
    items.push(format!("{:.2} s", elapsed.as_secs_f64()));
    print_line(format_args!("{}", wrap_items(&items)));
}
