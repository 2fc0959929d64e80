//! The W3C extended log format, as IIS and CloudFront write it: a line `#Fields:` names the
//! columns.
//!
//! The draft puts texts in quotes. Neither server does so: each has escapes of its own
//! ([`W3cEscapes`]). So quotes count only in a line that has too many fields without them.
//!
//! Sources: the W3C working draft WD-logfile-960323; "Standard log file format" in the developer
//! guide of CloudFront; Microsoft's documentation of IIS, and logs of IIS in reports of other
//! parsers.

use crate::audit::log_time::parse_time;
use crate::audit::record::{LogRecord, parse_bytes, parse_status};
use crate::audit::unescape::{unescape_percent, unescape_plus};
use crate::records::without_end;
use std::borrow::Cow;

/// How a server writes texts in fields, which end at a blank or a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum W3cEscapes {
    /// CloudFront percent-encodes every field: bytes up to 32 and from 127, the backtick, and
    /// `% ~ [ ] { } | \ ^ ' " < > #`. So `/~joe/` is `/%7Ejoe/`, and `%C3` is `%25C3`.
    CloudFront,
    /// IIS writes blanks as `+`, in headers and in paths, which it decodes first. A query stays as
    /// it was sent.
    Iis,
}

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
    user_agent: Option<usize>,
    host: Option<usize>,
    scheme: Option<usize>,
    /// The port of the server. Behind a proxy it is not that of the site, so it only tells the scheme.
    port: Option<usize>,
    /// The number of columns.
    count: usize,
    /// `None` if neither the name of the format nor a column decides. Then CloudFront's lines have
    /// tabs.
    escapes: Option<W3cEscapes>,
}

impl W3cColumns {
    /// No columns yet: a log in these escapes.
    pub(super) fn escaped(escapes: W3cEscapes) -> Self {
        Self {
            escapes: Some(escapes),
            ..Self::default()
        }
    }

    /// Parses a `#Fields:` line without its line end; `None` for any other line.
    pub(super) fn of_line(line: &[u8]) -> Option<Self> {
        const DIRECTIVE: &[u8] = b"#fields:";
        let (name, names) = line.split_at_checked(DIRECTIVE.len())?;
        if !name.eq_ignore_ascii_case(DIRECTIVE) {
            return None;
        }
        let names: Vec<String> = String::from_utf8_lossy(names)
            .split_whitespace()
            .map(str::to_ascii_lowercase)
            .collect();
        Some(Self {
            date: position_of(&["date"], &names),
            time: position_of(&["time"], &names),
            client: position_of(&["c-ip"], &names),
            stem: position_of(&["cs-uri-stem", "cs-uri"], &names),
            query: position_of(&["cs-uri-query"], &names),
            status: position_of(&["sc-status"], &names),
            bytes: position_of(&["sc-bytes"], &names),
            user_agent: position_of(&["cs(user-agent)"], &names),
            // CloudFront's `cs(Host)` is the name of the distribution, not of the site.
            host: position_of(&["x-host-header", "cs-host", "cs(host)"], &names),
            scheme: position_of(&["cs-protocol"], &names),
            port: position_of(&["s-port"], &names),
            count: names.len(),
            escapes: names
                .iter()
                .any(|name| name.starts_with("x-edge-"))
                .then_some(W3cEscapes::CloudFront),
        })
    }

    /// The columns for the lines after `line`, if it is a `#Fields:` line. Escapes that are known
    /// stay.
    pub(super) fn after_line(&self, line: &[u8]) -> Option<Self> {
        let columns = Self::of_line(without_end(line))?;
        Some(Self {
            escapes: self.escapes.or(columns.escapes),
            ..columns
        })
    }

    /// The columns for the lines after `lines`, if these have a `#Fields:` line.
    pub(super) fn after_lines(&self, lines: &[u8]) -> Option<Self> {
        let comments = memchr::memrchr_iter(b'#', lines)
            .filter(|&start| start == 0 || lines[start - 1] == b'\n');
        comments
            .filter_map(|start| {
                let rest = &lines[start..];
                let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                self.after_line(&rest[..len])
            })
            .next()
    }

    /// Whether there is a column with the host.
    pub(super) fn has_host(&self) -> bool {
        self.host.is_some()
    }

    /// Whether there is a column with the User-Agent header.
    pub(super) fn has_user_agent(&self) -> bool {
        self.user_agent.is_some()
    }

    /// Parses a line without its line end; `None` if it has another number of columns, or no valid
    /// time.
    pub(super) fn parse<'l>(&self, line: &'l [u8]) -> Option<LogRecord<'l>> {
        let separator = if memchr::memchr(b'\t', line).is_some() {
            b'\t'
        } else {
            b' '
        };
        let mut texts: Vec<&[u8]> = line.split(|byte| *byte == separator).collect();
        if texts.len() > self.count {
            texts = quoted_fields(line, separator);
        }
        if texts.len() != self.count {
            return None;
        }
        // A dash stands for a missing value.
        let given =
            |column: Option<usize>| texts.get(column?).copied().filter(|text| *text != b"-");
        let time = match (given(self.date), given(self.time)) {
            (Some(date), Some(time)) => parse_time(&[date, b" ", time].concat()),
            (_, time) => parse_time(time?),
        };
        let default_escapes = if separator == b'\t' {
            W3cEscapes::CloudFront
        } else {
            W3cEscapes::Iis
        };
        let escapes = self.escapes.unwrap_or(default_escapes);
        let target = match (given(self.stem).unwrap_or_default(), given(self.query)) {
            (stem, Some(query)) => {
                Cow::Owned([&escapes.path(stem), b"?".as_slice(), &escapes.query(query)].concat())
            }
            (stem, None) => escapes.path(stem),
        };
        let scheme = given(self.scheme).filter(|scheme| matches!(*scheme, b"http" | b"https"));
        let scheme_of_port = given(self.port)
            .filter(|port| *port == b"80")
            .map(|_| &b"http"[..]);
        Some(LogRecord {
            user_agent: escapes.header(given(self.user_agent).unwrap_or_default()),
            time: time?,
            host: given(self.host).map(unescape_percent),
            port: Cow::default(),
            scheme: scheme.or(scheme_of_port).map(Cow::Borrowed),
            target,
            status: parse_status(given(self.status).unwrap_or(b"-"))?,
            bytes: parse_bytes(given(self.bytes).unwrap_or(b"-"))?,
            client: given(self.client).map_or(Cow::Borrowed(b"".as_slice()), Cow::Borrowed),
        })
    }
}

/// The fields of a line, some of which are between quotes and have separators.
fn quoted_fields(line: &[u8], separator: u8) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    let mut start = 0;
    while start <= line.len() {
        let rest = &line[start..];
        let (field, len) = match rest.strip_prefix(b"\"") {
            Some(quoted) => {
                let len = memchr::memmem::find(quoted, &[b'"', separator]);
                let len = len.unwrap_or(quoted.strip_suffix(b"\"").unwrap_or(quoted).len());
                (&quoted[..len], rest.len().min(len + 2))
            }
            None => {
                let len = memchr::memchr(separator, rest).unwrap_or(rest.len());
                (&rest[..len], len)
            }
        };
        fields.push(field);
        start += len + 1;
    }
    fields
}

/// The position of the first of the wanted columns that exists.
fn position_of(wanted: &[&str], names: &[String]) -> Option<usize> {
    wanted
        .iter()
        .find_map(|wanted| names.iter().position(|name| name == wanted))
}

impl W3cEscapes {
    /// The User-Agent header of a field.
    ///
    /// Many logs of CloudFront have it encoded twice (`%2520` for a blank), against the
    /// documentation. Decoding `%20` once more only helps to find a token, which it would precede.
    fn header(self, text: &[u8]) -> Cow<'_, [u8]> {
        let text = match self {
            Self::CloudFront => Cow::Borrowed(text),
            Self::Iis => unescape_plus(text, b" "),
        };
        match memchr::memchr(b'%', &text) {
            Some(_) => Cow::Owned(unescape_percent(&unescape_percent(&text)).into_owned()),
            None => text,
        }
    }

    /// The path of a field.
    fn path(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::CloudFront => unescape_percent(text),
            // IIS refuses a path with a `+` of its own, unless it is configured otherwise.
            Self::Iis => unescape_plus(text, b"%20"),
        }
    }

    /// The query of a field.
    fn query(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::CloudFront => unescape_percent(text),
            Self::Iis => Cow::Borrowed(text),
        }
    }
}
