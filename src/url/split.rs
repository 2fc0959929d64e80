//! Cuts a URL into its origin's key and its path, without allocation for a plain one.

use super::authority;
use crate::agent::trim;
use crate::simd;

/// A URL cut in two, as far as robots.txt is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    /// The canonical key of the origin.
    pub origin: &'a [u8],
    /// Path and query without the fragment; always begins with `/` unless `slash` is set.
    pub path: &'a [u8],
    /// A `/` is missing before `path` (`http://h?q`, `http://h;p`): the caller puts it there.
    pub slash: bool,
}

/// Cuts `url`; `None` if it is no `scheme://authority…`. `key` holds the origin where it had to be rewritten.
///
/// White space around the URL is ignored. Path and query are those of the reference's `GetPathParamsQuery`:
/// they start at the first `/`, `?` or `;` after the authority and end before `#`.
pub(crate) fn split<'a>(url: &'a [u8], key: &'a mut Vec<u8>) -> Option<Parts<'a>> {
    split_plain(url).or_else(|| split_slow(trim_fast(url), key))
}

/// Cuts a URL whose origin is canonical as it stands, as nearly all are; `None` for any other text.
#[inline]
fn split_plain(url: &[u8]) -> Option<Parts<'_>> {
    let url = trim_fast(url);
    let end = plain_origin(url, url)?;
    let (path, slash) = path_from(&url[end..]);
    Some(Parts { origin: &url[..end], path, slash })
}

/// The length of the origin that `url` begins with, if it is canonical as it stands and a path follows or nothing. `text` begins
/// with `url` and may go on behind its line end: with 32 bytes to look at, most hosts are seen at once.
#[inline(always)]
pub(crate) fn plain_origin(url: &[u8], text: &[u8]) -> Option<usize> {
    let start = if url.starts_with(b"http://") {
        7
    } else if url.starts_with(b"https://") {
        8
    } else {
        return None;
    };
    let (len, label) = match simd::look_at_host(&text[start..]) {
        Some(look) => (look.len, look.label),
        None => {
            let len = plain_host_len(&url[start..]);
            let host = &url[start..start + len];
            (len, memchr::memrchr(b'.', host).map_or(0, |dot| dot + 1))
        }
    };
    let end = start + len;
    let label = start + label;
    // Spellings of an IPv4 address have a last label that begins with a digit; a dot at the end is left to the slow path.
    let is_name = label < end && end <= url.len() && !url[label].is_ascii_digit();
    (is_name && url.get(end).is_none_or(|&b| b == b'/')).then_some(end)
}

/// [`trim`], for text that seldom needs it.
fn trim_fast(url: &[u8]) -> &[u8] {
    match (url.first(), url.last()) {
        (Some(&first), Some(&last)) if first > b' ' && last > b' ' => url,
        _ => trim(url),
    }
}

/// The offset behind `scheme://`.
fn authority_start(url: &[u8]) -> Option<usize> {
    let colon = memchr::memchr(b':', url)?;
    let scheme = &url[..colon];
    let valid =
        scheme.first()?.is_ascii_alphabetic() && scheme.iter().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b));
    (valid && url[colon..].starts_with(b"://")).then_some(colon + 3)
}

/// 1 for the bytes of a host that is canonical as it stands.
static PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        let c = b as u8;
        table[b] = c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'.' || c == b'-' || c == b'_';
        b += 1;
    }
    table
};

fn plain_host_len(text: &[u8]) -> usize {
    text.iter().position(|&b| !PLAIN[usize::from(b)]).unwrap_or(text.len())
}

fn split_slow<'a>(url: &'a [u8], key: &'a mut Vec<u8>) -> Option<Parts<'a>> {
    let start = authority_start(url)?;
    let rest = &url[start..];
    let authority_end = rest.iter().position(|b| b"/?#".contains(b)).unwrap_or(rest.len());
    let authority = &rest[..authority_end];
    if authority.contains(&b'\\') {
        return None; // RFC 3986 has no such authority, and browsers disagree with the reference on its path
    }
    // The reference starts the path at a `;` too, wherever it stands in the authority.
    let host_end = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let end = authority[host_end..].iter().position(|&b| b == b';').map_or(authority_end, |i| host_end + i);
    authority::canonical(&url[..start - 3], &authority[..end], key)?;
    let path_start = memchr::memchr(b';', authority).unwrap_or(authority_end);
    let (path, slash) = path_from(&rest[path_start..]);
    Some(Parts { origin: key, path, slash })
}

/// Path and query of what follows the authority, and whether a `/` must be put before it.
#[inline]
pub(crate) fn path_from(rest: &[u8]) -> (&[u8], bool) {
    let path = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
    match path.first() {
        None => (b"/", false),
        Some(b'/') => (path, false),
        Some(_) => (path, true),
    }
}

/// Path and query of a URL or of a bare path, to the byte as the reference cuts them.
///
/// A URL goes from the first `/`, `?` or `;` behind `://` (or behind an initial `//`) to the first `#`; text
/// without any of them is `/`. The second value says that a `/` must be put before the first.
pub(crate) fn path_of(text: &[u8]) -> (&[u8], bool) {
    let start = if text.starts_with(b"//") { 2 } else { 0 };
    let is_path = |b: &u8| b"/?;".contains(b);
    let early = text[start..].iter().position(is_path).unwrap_or(text.len());
    let scheme = memchr::memmem::find(&text[start..], b"://").filter(|&at| at < early);
    let authority = start + scheme.map_or(0, |at| at + 3);
    let Some(path) = text[authority..].iter().position(is_path).map(|i| authority + i) else {
        return (b"/", false);
    };
    let end = memchr::memchr(b'#', &text[start..]).map_or(text.len(), |at| start + at);
    if end < path {
        return (b"/", false);
    }
    (&text[path..end], text[path] != b'/')
}
