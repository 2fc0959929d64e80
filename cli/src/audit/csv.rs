//! An audit as CSV: one line per crawler.

use crate::figures::csv::{DelimitedText, csv_field};
use robosieve::audit::{AuditReport, CrawlerAudit, Identity, RuleException};

/// The name of a column, and its value.
type Column = (&'static str, fn(&CrawlerAudit) -> String);

const COLUMNS: &[Column] = &[
    ("name", |crawler| csv_field(&crawler.name).into_owned()),
    ("identity", |crawler| {
        crawler.identity.map_or("", Identity::name).to_owned()
    }),
    ("operator", |crawler| {
        csv_field(crawler.operator.as_deref().unwrap_or_default()).into_owned()
    }),
    ("purpose", |crawler| {
        crawler.purpose.unwrap_or_default().to_owned()
    }),
    ("requests", |crawler| crawler.requests.to_string()),
    ("allowed", |crawler| crawler.allowed.to_string()),
    ("disallowed", |crawler| crawler.disallowed.to_string()),
    ("unknown", |crawler| crawler.unknown.to_string()),
    ("robots_txt", |crawler| crawler.robots_txt.to_string()),
    ("bytes", |crawler| crawler.bytes.to_string()),
    ("disallowed_bytes", |crawler| {
        crawler.disallowed_bytes.to_string()
    }),
    ("disallowed_2xx", |crawler| {
        crawler.disallowed_2xx.to_string()
    }),
    ("first", |crawler| crawler.first.clone().unwrap_or_default()),
    ("last", |crawler| crawler.last.clone().unwrap_or_default()),
    ("disallowed_after", |crawler| {
        crawler.after_robots_txt.disallowed_after.to_string()
    }),
    ("disallowed_within_day", |crawler| {
        crawler.after_robots_txt.disallowed_within_day.to_string()
    }),
    ("disallowed_without", |crawler| {
        crawler.after_robots_txt.disallowed_without.to_string()
    }),
    ("rules_left_out", |crawler| {
        crawler.rules_left_out.to_string()
    }),
    ("rule", |crawler| {
        csv_field(crawler.rules.first().map_or("", |rule| &rule.rule)).into_owned()
    }),
    ("example", |crawler| {
        csv_field(crawler.rules.first().map_or("", |rule| &rule.example)).into_owned()
    }),
    ("judged_as", |crawler| {
        csv_field(&crawler.judged_as).into_owned()
    }),
    ("exception", |crawler| {
        crawler.exception.map_or("", RuleException::name).to_owned()
    }),
    ("within_day_of_change", |crawler| {
        crawler.within_day_of_change.to_string()
    }),
    ("between_captures", |crawler| {
        crawler.between_captures.to_string()
    }),
    ("disallowed_between_captures", |crawler| {
        crawler.disallowed_between_captures.to_string()
    }),
    ("disallowed_after_last_capture", |crawler| {
        crawler.disallowed_after_last_capture.to_string()
    }),
    ("example_time", |crawler| {
        let first = crawler.rules.first();
        first.map_or("", |rule| &rule.example_time).to_owned()
    }),
    ("disallowed_without_status", |crawler| {
        crawler.disallowed_without_status.to_string()
    }),
    ("without_address", |crawler| {
        crawler.without_address.to_string()
    }),
];

pub(super) fn csv(report: &AuditReport) -> String {
    let mut out = String::new();
    DelimitedText::Csv.push_row(COLUMNS.iter().map(|(name, _)| name), &mut out);
    for crawler in &report.crawlers {
        DelimitedText::Csv.push_row(COLUMNS.iter().map(|(_, value)| value(crawler)), &mut out);
    }
    out
}
