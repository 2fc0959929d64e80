//! The W3C extended log format, as IIS and CloudFront write it: a line `#Fields:` names the columns.
//!
//! Source: the W3C working draft WD-logfile-960323, and the documentation of CloudFront's standard
//! logs.

use crate::audit::log_time::parse_time;
use crate::audit::record::{LogRecord, parse_bytes, parse_status};
use crate::audit::unescape::unescape_percent;
use std::borrow::Cow;

/// The columns of a log, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct W3cColumns {
    date: Option<usize>,
    time: Option<usize>,
    client: Option<usize>,
    stem: Option<usize>,
    query: Option<usize>,
    status: Option<usize>,
    bytes: Option<usize>,
    agent: Option<usize>,
    host: Option<usize>,
    scheme: Option<usize>,
    /// The number of columns.
    count: usize,
}

impl W3cColumns {
    /// Parses a `#Fields:` line; `None` for any other line.
    pub(super) fn of_line(line: &[u8]) -> Option<Self> {
        const DIRECTIVE: &[u8] = b"#fields:";
        let (name, names) = line.split_at_checked(DIRECTIVE.len())?;
        if !name.eq_ignore_ascii_case(DIRECTIVE) {
            return None;
        }
        let names: Vec<String> =
            String::from_utf8_lossy(names).split_whitespace().map(str::to_ascii_lowercase).collect();
        let column = |wanted: &[&str]| wanted.iter().find_map(|wanted| names.iter().position(|name| name == wanted));
        Some(Self {
            date: column(&["date"]),
            time: column(&["time"]),
            client: column(&["c-ip"]),
            stem: column(&["cs-uri-stem", "cs-uri"]),
            query: column(&["cs-uri-query"]),
            status: column(&["sc-status"]),
            bytes: column(&["sc-bytes"]),
            agent: column(&["cs(user-agent)"]),
            // CloudFront's `cs(Host)` is the name of the distribution, not of the site.
            host: column(&["x-host-header", "cs-host", "cs(host)"]),
            scheme: column(&["cs-protocol"]),
            count: names.len(),
        })
    }

    /// Whether there is a column with the host.
    pub(super) fn has_host(&self) -> bool {
        self.host.is_some()
    }

    /// Whether there is a column with the User-Agent header.
    pub(super) fn has_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// Parses a line without its line end; `None` if it has too few columns, or no valid time.
    pub(super) fn parse<'l>(&self, line: &'l [u8]) -> Option<LogRecord<'l>> {
        let separator = if memchr::memchr(b'\t', line).is_some() { b'\t' } else { b' ' };
        let texts: Vec<&[u8]> = line.split(|byte| *byte == separator).take(self.count).collect();
        if texts.len() < self.count {
            return None;
        }
        // A dash stands for a missing value.
        let given = |column: Option<usize>| texts.get(column?).copied().filter(|text| *text != b"-");
        let time = match (given(self.date), given(self.time)) {
            (Some(date), Some(time)) => parse_time(&[date, b" ", time].concat()),
            (_, time) => parse_time(time?),
        };
        let stem = given(self.stem).unwrap_or_default();
        let target = match given(self.query) {
            Some(query) => Cow::Owned([stem, b"?", query].concat()),
            None => Cow::Borrowed(stem),
        };
        let scheme = given(self.scheme).filter(|scheme| matches!(*scheme, b"http" | b"https"));
        Some(LogRecord {
            agent: Cow::Owned(unescape_percent(given(self.agent).unwrap_or_default())),
            time: time?,
            host: given(self.host).map(Cow::Borrowed),
            port: Cow::default(),
            scheme: scheme.map(Cow::Borrowed),
            target,
            status: parse_status(given(self.status).unwrap_or(b"-"))?,
            bytes: parse_bytes(given(self.bytes).unwrap_or(b"-"))?,
            client: given(self.client).map_or(Cow::Borrowed(b"".as_slice()), Cow::Borrowed),
        })
    }
}
