//! Sort keys of URLs in an index (SURT): the host reversed, then the path, so that the pages of a
//! domain are neighbours: `example,shop)/cart?a=1`.
//!
//! The key has no scheme, no user, no `www.` and no default port. Escapes are decoded and written
//! again, letters are in lower case, parameters are sorted, and session ids are dropped. These are
//! the rules of the Internet Archive, which look-ups in such an index apply to their URLs.

use crate::bytes::trim;
use crate::url::origin::Origin;
use crate::url::page_url;
use bstr::ByteSlice;

/// The sort key of an http or https URL, or of a secondary record; any other text is its own key,
/// without white space.
pub(super) fn sort_key(url: &[u8]) -> Vec<u8> {
    let url = trim(url);
    if page_url(url).len() < url.len() {
        return secondary_key(url);
    }
    let Some((host, port, rest)) = split(url) else {
        return url
            .iter()
            .copied()
            .filter(|b| !b.is_ascii_whitespace())
            .collect();
    };
    let mut key = Vec::with_capacity(url.len() + 8);
    // The host is reversed, so that the pages of a domain and of its subdomains are neighbours.
    let host = host.replace("..", ".");
    for (number, label) in without_www(host.trim_matches('.')).rsplit('.').enumerate() {
        if number > 0 {
            key.push(b',');
        }
        key.extend_from_slice(label.as_bytes());
    }
    if let Some(port) = port {
        key.extend_from_slice(format!(":{port}").as_bytes());
    }
    key.push(b')');
    let (path, query) = match rest.find_byte(b'?') {
        Some(mark) => (&rest[..mark], &rest[mark + 1..]),
        None => (rest, &[][..]),
    };
    append_path(path, &mut key);
    append_query(query, &mut key);
    key
}

/// The key of a secondary record, `urn:text:https://e.example/A`. It has no authority by RFC 3986,
/// so nothing is reversed: all text before the query is a path without segments.
fn secondary_key(uri: &[u8]) -> Vec<u8> {
    let uri = &uri[..uri.find_byte(b'#').unwrap_or(uri.len())];
    let (path, query) = match uri.find_byte(b'?') {
        Some(mark) => (&uri[..mark], &uri[mark + 1..]),
        None => (uri, &[][..]),
    };
    let mut key = escaped(&unescaped(path)).to_ascii_lowercase();
    if key.ends_with(b"/") {
        key.pop();
    }
    append_query(query, &mut key);
    key
}

/// The host, the port unless it is the default, and the text after both without the fragment.
fn split(url: &[u8]) -> Option<(String, Option<u16>, &[u8])> {
    let start = url.find_byte(b':')? + 1;
    let slashes = url[start..]
        .iter()
        .take_while(|b| b"/\\".contains(b))
        .count();
    let after = &url[start + slashes..];
    let (authority, rest) = after.split_at(after.find_byteset(b"/?#\\").unwrap_or(after.len()));
    // In a key, a `;` belongs to the authority, but it ends that of an origin (docs/SEMANTICS.md).
    let (origin, tail) = match authority.find_byte(b';') {
        None => (Origin::of(url)?, &[][..]),
        Some(_) => {
            let host = &authority[authority.rfind_byte(b'@').map_or(0, |at| at + 1)..];
            let (host, tail) = host.split_at(host.find_byte(b';').unwrap_or(host.len()));
            (Origin::of(&[&url[..start], b"//", host].concat())?, tail)
        }
    };
    let (_, authority) = origin.as_str().split_once("://")?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (authority, None),
    };
    let host = host.to_owned() + &tail.to_str_lossy().to_ascii_lowercase();
    Some((
        host,
        port,
        &rest[..rest.find_byte(b'#').unwrap_or(rest.len())],
    ))
}

/// The host without `www.`, `www2.` and the like.
fn without_www(host: &str) -> &str {
    let bare = host.strip_prefix("www").and_then(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit())
            .strip_prefix('.')
    });
    bare.filter(|bare| !bare.is_empty()).unwrap_or(host)
}

/// Escapes the bytes that a key may not have.
fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        match byte {
            b'#' | b'%' | ..=b' ' | 0x7f.. => {
                out.extend_from_slice(format!("%{byte:02X}").as_bytes())
            }
            _ => out.push(byte),
        }
    }
    out
}

fn hex_value(digit: u8) -> Option<u32> {
    char::from(digit).to_digit(16)
}

/// Decodes escapes until none is left. Each decoded byte may complete an escape with the bytes
/// before it, so one pass suffices.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        out.push(byte);
        while let [.., b'%', high, low] = *out {
            let Some((high, low)) = hex_value(high).zip(hex_value(low)) else {
                break;
            };
            out.truncate(out.len() - 3);
            out.push((high * 16 + low) as u8);
        }
    }
    out
}

/// Appends the path in lower case, without `.`, `..`, empty segments and a slash at its end.
fn append_path(path: &[u8], key: &mut Vec<u8>) {
    let decoded = unescaped(path);
    // A `..` removes the segment before it, which may be an empty one, so empty segments are
    // dropped afterwards. Without a segment before it, it stays. The text before the first `/` is
    // empty.
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in decoded.split_str("/").skip(1) {
        match segment {
            b"." => {}
            b".." if !segments.is_empty() => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    let mut path = Vec::with_capacity(decoded.len() + 1);
    for segment in segments.iter().filter(|segment| !segment.is_empty()) {
        path.push(b'/');
        path.extend_from_slice(segment);
    }
    if path.is_empty() {
        path.push(b'/');
    }
    key.extend(escaped(&path).to_ascii_lowercase());
}

/// Appends the parameters in lower case and sorted by name and value. An empty query is dropped.
fn append_query(query: &[u8], key: &mut Vec<u8>) {
    let query = without_session(escaped(&unescaped(query)).to_ascii_lowercase());
    if query.is_empty() {
        return;
    }
    let mut parameters: Vec<Vec<&[u8]>> = query
        .split_str("&")
        .map(|parameter| parameter.splitn_str(2, "=").collect())
        .collect();
    parameters.sort_unstable();
    for (number, parameter) in parameters.iter().enumerate() {
        key.push(if number == 0 { b'?' } else { b'&' });
        key.extend_from_slice(&parameter.join(&b'='));
    }
}

/// Names of parameters whose values of 32 letters and digits are session ids.
const SESSION_IDS: &[&[u8]] = &[b"jsessionid=", b"phpsessid=", b"sid="];

/// The length of a session id.
const SESSION_ID_LEN: usize = 32;

/// Drops the last session id of each name from a query in lower case.
fn without_session(mut query: Vec<u8>) -> Vec<u8> {
    for name in SESSION_IDS {
        if let Some(at) = query
            .rfind_iter(name)
            .find(|at| begins_with_session_id(&query[at + name.len()..]))
        {
            let end = (at + name.len() + SESSION_ID_LEN + 1).min(query.len());
            query.drain(at..end);
        }
    }
    query
}

/// Whether a query continues with a session id and then the end of the parameter.
fn begins_with_session_id(query: &[u8]) -> bool {
    let Some((id, rest)) = query.split_at_checked(SESSION_ID_LEN) else {
        return false;
    };
    id.iter().all(u8::is_ascii_alphanumeric) && rest.first().is_none_or(|b| *b == b'&')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of the Python package `surt`, which the Internet Archive maintains.
    #[test]
    fn keys_follow_the_archives_rules() {
        for (url, expected) in [
            (
                "https://www.Example.com:443/A/./b//../C/",
                "com,example)/a/b/c",
            ),
            ("http://example.com", "com,example)/"),
            (
                "http://user:pass@www2.a.example.com:8080/?#x",
                "com,example,a:8080)/",
            ),
            ("https://example.com/?b=2&A=1&a", "com,example)/?a&a=1&b=2"),
            (
                "https://example.com/%257Ea/%41%20#f",
                "com,example)/~a/a%20",
            ),
            (
                "http://b\u{fc}cher.example/\u{e9}",
                "example,xn--bcher-kva)/%c3%a9",
            ),
            ("http://192.168.0.1/x", "1,0,168,192)/x"),
            (
                "http://e.example/?x=1&PHPSESSID=0123456789abcdef0123456789abcdef&y=2",
                "example,e)/?x=1&y=2",
            ),
            ("http://www.com/", "com)/"),
            ("http://a.example./x", "example,a)/x"),
            ("mailto:a b", "mailto:ab"),
            ("http://a..e.example...x/", "x,,example,e,a)/"),
            // Empty segments before `..`.
            ("http://e.example//..", "example,e)/"),
            ("http://e.example/a//../b", "example,e)/a/b"),
            ("http://e.example/%2F..", "example,e)/"),
            ("http://e.example/a%2F%2F../b", "example,e)/a/b"),
            ("http://e.example///..//", "example,e)/"),
            // Nothing before `..`.
            ("http://e.example/a/../../b", "example,e)/../b"),
            ("http://e.example/..//..", "example,e)/.."),
            ("http://e.example/../..//a", "example,e)/a"),
            // Secondary records.
            ("urn:text:https://e.example/", "urn:text:https://e.example"),
            (
                "URN:text:https://WWW.e.example:443/a//b/../C/?b=2&a=1#frag",
                "urn:text:https://www.e.example:443/a//b/../c?a=1&b=2",
            ),
            (
                "screenshot:https://e.example/%41%20b",
                "screenshot:https://e.example/a%20b",
            ),
            (
                "youtube-dl:00001:https://m\u{fc}ller.example/\u{e9}",
                "youtube-dl:00001:https://m%c3%bcller.example/%c3%a9",
            ),
            // A `;` belongs to the authority.
            ("https://h.example;", "example;,h)/"),
            ("https://H.example;X/y", "example;x,h)/y"),
            ("https://h.example;a=b?c", "example;a=b,h)/?c"),
            ("https://u;v@h.example/p", "example,h)/p"),
            ("https://h.example/a;b", "example,h)/a;b"),
        ] {
            assert_eq!(sort_key(url.as_bytes()).as_bstr(), expected, "{url}");
        }
    }
}
