//! HAProxy's HTTP log (`option httplog`, and `httpslog`), with or without the header of syslog.
//!
//! Captured headers are in braces, separated by `|`, in the order of the configuration, which the log
//! does not name. So the first lines decide which of them is the User-Agent and which the host.
//!
//! Source: "HTTP log format" and "Non-printable characters" in HAProxy's configuration manual.

use crate::audit::log_time::parse_time;
use crate::audit::record::{LogRecord, parse_bytes, parse_status, target_of};
use crate::audit::unescape::unescape_hash;
use std::borrow::Cow;
use std::net::IpAddr;

/// The length of a date such as `06/Feb/2009:12:14:14`.
const DATE: usize = 20;

/// Which captured request headers are the User-Agent and the host, by their positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HaproxyLog {
    agent: Option<usize>,
    host: Option<usize>,
}

/// The fields of a line, with HAProxy's escapes.
struct HaproxyLine<'l> {
    client: &'l [u8],
    date: &'l [u8],
    status: &'l [u8],
    bytes: &'l [u8],
    /// The captured request headers, without their braces; empty if there are none.
    captures: &'l [u8],
    request: &'l [u8],
}

impl HaproxyLog {
    /// The captures that most of the lines have; `None` if HAProxy wrote no line.
    pub(super) fn of_lines<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Option<Self> {
        let mut is_haproxy = false;
        let mut agents: Vec<usize> = Vec::new();
        let mut hosts: Vec<usize> = Vec::new();
        for line in lines.filter_map(HaproxyLine::of) {
            is_haproxy = true;
            for (column, text) in line.captures.split(|byte| *byte == b'|').enumerate() {
                if column == agents.len() {
                    agents.push(0);
                    hosts.push(0);
                }
                agents[column] += usize::from(looks_like_agent(text));
                hosts[column] += usize::from(looks_like_host(text));
            }
        }
        is_haproxy.then(|| Self {
            agent: most_frequent(&agents),
            host: most_frequent(&hosts),
        })
    }

    /// Whether a captured header is the User-Agent.
    pub(super) fn has_user_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// Parses a line without its line end; `None` if it has another format, or no valid time, or if
    /// HAProxy has cut it, as it cuts long lines.
    pub(super) fn parse<'l>(&self, line: &'l [u8]) -> Option<LogRecord<'l>> {
        let fields = HaproxyLine::of(line)?;
        let capture = |column: Option<usize>| {
            let mut captures = fields.captures.split(|byte| *byte == b'|');
            captures.nth(column?).filter(|text| !text.is_empty())
        };
        Some(LogRecord {
            user_agent: capture(self.agent).map(unescape_hash).unwrap_or_default(),
            // HAProxy writes local time without its offset.
            time: parse_time(&[fields.date, b" +0000"].concat())?,
            host: capture(self.host).map(unescape_hash),
            port: Cow::default(),
            scheme: None,
            target: unescape_hash(target_of(fields.request)),
            status: parse_status(fields.status)?,
            bytes: parse_bytes(fields.bytes.strip_prefix(b"+").unwrap_or(fields.bytes))?,
            client: Cow::Borrowed(fields.client),
        })
    }
}

impl<'l> HaproxyLine<'l> {
    fn of(line: &'l [u8]) -> Option<Self> {
        // The header of syslog has a bracket too: `haproxy[674]: `.
        let start = memchr::memchr_iter(b'[', line).find(|start| {
            let date = line.get(start + 1..).unwrap_or_default();
            matches!(date, [_, _, b'/', _, _, _, b'/', ..])
        })?;
        let client = line[..start].trim_ascii_end();
        let client = client.rsplit(|byte| *byte == b' ').next()?;
        let rest = &line[start + 1..];
        let (date, rest) = rest.split_at(memchr::memchr(b']', rest)?);
        let mut words = rest.strip_prefix(b"] ")?.splitn(11, |byte| *byte == b' ');
        // Frontend, backend and server, timers, status, bytes, two cookies, state, connections,
        // queues, and the rest.
        let [
            _,
            _,
            timers,
            status,
            bytes,
            _,
            _,
            _,
            connections,
            _,
            mut rest,
        ] = std::array::from_fn(|_| words.next().unwrap_or_default());
        let is_slashed = |word: &[u8]| word.iter().filter(|byte| **byte == b'/').count() >= 3;
        if !is_slashed(timers) || !is_slashed(connections) {
            return None;
        }
        // The captured headers of the request come first, then those of the response.
        let mut captures: Option<&[u8]> = None;
        while let Some(block) = rest.strip_prefix(b"{") {
            let end = memchr::memchr(b'}', block)?;
            captures = captures.or(Some(&block[..end]));
            rest = block[end + 1..].strip_prefix(b" ")?;
        }
        let request = rest.strip_prefix(b"\"")?;
        Some(Self {
            client,
            date: date.get(..DATE)?,
            status,
            bytes,
            captures: captures.unwrap_or_default(),
            request: &request[..memchr::memchr(b'"', request)?],
        })
    }
}

/// The column with the highest count above zero, of several the first.
fn most_frequent(counts: &[usize]) -> Option<usize> {
    let most = counts.iter().copied().max().filter(|count| *count > 0)?;
    counts.iter().position(|count| *count == most)
}

/// Whether a text has a product and a version, as nearly all User-Agents do, and no URL as a Referer.
fn looks_like_agent(text: &[u8]) -> bool {
    !text.starts_with(b"http")
        && text.windows(3).any(|window| {
            let [before, slash, after] = window else {
                return false;
            };
            before.is_ascii_alphanumeric() && *slash == b'/' && after.is_ascii_digit()
        })
}

/// Whether a text is the name of a host, perhaps with a port, and not an address, as that of a client
/// in X-Forwarded-For.
fn looks_like_host(text: &[u8]) -> bool {
    let name = text.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_address = std::str::from_utf8(text).is_ok_and(|text| text.parse::<IpAddr>().is_ok());
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    !is_address
        && name.iter().any(u8::is_ascii_alphabetic)
        && (name.contains(&b'.') || name == b"localhost")
        && name.iter().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 \
                          [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - \
                          - ---- 1/1/1/1/0 0/0 ";

    fn line(rest: &str) -> Vec<u8> {
        format!("{PREFIX}{rest}").into_bytes()
    }

    #[test]
    fn captured_headers_are_told_by_their_values() {
        for (captures, agent, host) in [
            ("{1wt.eu|Mozilla/5.0 (X)}", Some(1), Some(0)),
            ("{Mozilla/5.0 (X)|1wt.eu:8080} {}", Some(0), Some(1)),
            (
                "{77.24.148.74|curl/8.1|https://x.example/a/1|shop.example}",
                Some(1),
                Some(3),
            ),
            ("{2001:db8::1} {nginx}", None, None),
            ("", None, None),
        ] {
            let blank = if captures.is_empty() { "" } else { " " };
            let line = line(&format!("{captures}{blank}\"GET /a HTTP/1.1\""));
            let log = HaproxyLog::of_lines([&line[..]].into_iter());
            assert_eq!(log, Some(HaproxyLog { agent, host }), "{captures}");
        }
        let combined =
            br#"192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a/b/c/d HTTP/1.1" 200 23 "-" "x""#;
        assert_eq!(HaproxyLog::of_lines([&combined[..]].into_iter()), None);
    }

    #[test]
    fn fields_are_decoded() {
        let log = HaproxyLog {
            agent: Some(1),
            host: Some(0),
        };
        let text = line("{shop.example|a #22GPTBot#22/1 #7C} {x} \"GET /a#23#22%7E HTTP/1.1\" 0/0");
        let record = log.parse(&text).unwrap();
        assert_eq!(*record.user_agent, *b"a \"GPTBot\"/1 |");
        assert_eq!(*record.target, *b"/a#\"%7E");
        assert_eq!(record.host.as_deref(), Some(b"shop.example".as_slice()));
        assert_eq!(*record.client, *b"10.0.1.2:33317");
        assert_eq!(
            (record.time, record.status, record.bytes),
            (1_233_922_454, 200, 2750)
        );
        // A line that is cut, and one of another frontend without headers.
        assert!(log.parse(&line("{shop.example|a} \"GET /a")).is_none());
        assert!(log.parse(&line("{shop.example|a")).is_none());
        let record = line("\"<BADREQ>\"");
        let record = log.parse(&record).unwrap();
        assert_eq!((&*record.user_agent, &*record.target), (&b""[..], &b""[..]));
    }
}
