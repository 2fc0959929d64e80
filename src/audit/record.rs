//! One line of an access log, as borrowed fields.

use std::borrow::Cow;

/// The fields of a log line that an audit reads. Texts are as logged, with the log's escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogRecord<'l> {
    /// The User-Agent header; empty if the log does not have it.
    pub user_agent: Cow<'l, [u8]>,
    /// The time, in seconds since 1970.
    pub time: i64,
    /// The host of the site, perhaps with a port; `None` if the format has none.
    pub host: Option<Cow<'l, [u8]>>,
    /// The port of the site, if it is a field of its own; else empty.
    pub port: Cow<'l, [u8]>,
    /// `http` or `https`; `None` if the format does not say.
    pub scheme: Option<Cow<'l, [u8]>>,
    /// The request target: a path with its query, or a whole URL. Empty if the request line has
    /// none.
    pub target: Cow<'l, [u8]>,
    /// The HTTP status of the response.
    pub status: u16,
    /// The bytes sent.
    pub bytes: u64,
    /// The address of the client; empty if the format has none.
    pub client: Cow<'l, [u8]>,
}

/// Whether a User-Agent header is there. Servers write `-` for a missing one, and Traefik `REDACTED`
/// for one that it is configured to hide.
#[inline]
pub(super) fn is_agent(user_agent: &[u8]) -> bool {
    !matches!(user_agent, b"" | b"-" | b"REDACTED")
}

/// Whether a text is a request target that has a path or a URL.
pub(super) fn is_target(text: &[u8]) -> bool {
    text.starts_with(b"/") || url_scheme_len(text).is_some()
}

/// The length of the scheme, with its `://`, of a URL of the web; `None` for any other text.
pub(super) fn url_scheme_len(text: &[u8]) -> Option<usize> {
    [b"http://".as_slice(), b"https://"]
        .into_iter()
        .find_map(|scheme| {
            let start = text.get(..scheme.len())?;
            start.eq_ignore_ascii_case(scheme).then_some(scheme.len())
        })
}

/// The request target of a request line such as `GET /a HTTP/1.1`; empty if it has none.
pub(super) fn target_of(request: &[u8]) -> &[u8] {
    let Some(start) = memchr::memchr(b' ', request) else {
        return b"";
    };
    let rest = &request[start + 1..];
    // The usual end needs no search.
    if let [
        target @ ..,
        b' ',
        b'H',
        b'T',
        b'T',
        b'P',
        b'/',
        b'0'..=b'9',
        b'.',
        b'0'..=b'9',
    ] = rest
    {
        return target;
    }
    // A target with raw spaces ends where the protocol begins. HTTP/0.9 has no protocol.
    match memchr::memrchr(b' ', rest) {
        Some(end) if rest[end + 1..].starts_with(b"HTTP/") => &rest[..end],
        _ => rest,
    }
}

/// A number of bytes; `-` and `-1` are 0.
pub(super) fn parse_bytes(text: &[u8]) -> Option<u64> {
    match text {
        b"" | b"-" | b"-1" => Some(0),
        _ => parse_number(text),
    }
}

/// An HTTP status of three digits, which its words may follow. `-`, `0`, `-1` (a connection that
/// ended early) and 000 have none, which is 0.
pub(super) fn parse_status(text: &[u8]) -> Option<u16> {
    match text {
        b"-" | b"0" | b"-1" => Some(0),
        [_, _, _] => parse_number(text).map(|number| number as u16),
        [_, _, _, b' ', ..] => parse_status(&text[..3]),
        _ => None,
    }
}

fn parse_number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0, |number: u64, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + u64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_end_at_the_protocol() {
        for (request, target) in [
            ("GET /a HTTP/1.1", "/a"),
            ("GET /a b HTTP/1.0", "/a b"),
            ("GET /old", "/old"),
            ("GET  HTTP/1.1", ""),
            ("GET", ""),
            ("", ""),
            ("-", ""),
            ("CONNECT h:443 HTTP/1.1", "h:443"),
        ] {
            assert_eq!(
                target_of(request.as_bytes()),
                target.as_bytes(),
                "{request}"
            );
        }
    }

    #[test]
    fn numbers_of_a_log() {
        assert_eq!(
            (parse_bytes(b"-"), parse_bytes(b"12"), parse_bytes(b"1x")),
            (Some(0), Some(12), None)
        );
        assert_eq!(
            (
                parse_status(b"200"),
                parse_status(b"-"),
                parse_status(b"20")
            ),
            (Some(200), Some(0), None)
        );
        assert_eq!(parse_bytes(&b"9".repeat(40)), None);
    }
}
