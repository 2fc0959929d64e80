//! Which crawlers broke the rules: access logs through the judge.
//!
//! Each line of an access log names its own crawler. [`Audit`] finds the product token in the
//! User-Agent header, builds the URL, and asks the snapshot that was valid at the line's time, for
//! this crawler alone. The counts per crawler are an [`AuditReport`].
//!
//! - `delimiter_index`: the line ends, quotes and blanks of a block, from one vector pass;
//! - `format` and its parsers: lines of a log to [`LogRecord`]s;
//! - `crawler_finder`: the Aho-Corasick automaton over all product tokens;
//! - `identity`: whether a request comes from the crawler that it names, by its address;
//! - `timeline`: the snapshot that was valid at a time, with one judge per crawler;
//! - `source` and `block_audit`: the ordered pipeline over blocks of log lines;
//! - `broken_rules`: the counts of the lines that were broken;
//! - `history`: the order-dependent figures;
//! - `sites`: the counts by site, and the hosts that no snapshot has.
//!
//! `docs/AUDIT.md` has the semantics and the keys of the report.

mod address_ranges;
mod block_audit;
mod broken_rules;
mod counts;
mod crawler_finder;
mod delimiter_index;
mod detect;
mod directives;
mod format;
mod haproxy;
mod history;
mod identity;
mod json_log;
mod log_time;
mod options;
mod record;
mod report;
mod run;
mod sites;
mod source;
mod template;
mod timeline;
mod unescape;
mod w3c;

pub use address_ranges::AddressRanges;
pub use format::LogFormat;
pub use identity::{Identity, VerifiedRanges};
pub use json_log::JsonKeys;
pub use options::{AuditOptions, AuditOutputs};
pub use record::LogRecord;
pub use report::{
    AuditReport, BrokenRule, CrawlerAudit, InvalidLine, RobotsFetches, RuleException, SiteAudit,
};
pub use run::Audit;
pub use timeline::DatedSnapshot;
