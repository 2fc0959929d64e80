//! Cuts a URL into its origin's key and its path, without allocation for a plain one.

use crate::agent::trim;
use crate::profile::Profile;
use crate::simd::{AnyBackend, Backend, HostScan};
use crate::url::authority;

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
/// White space around the URL is ignored. Path and query are those of the reference's
/// `GetPathParamsQuery`: they start at the first `/`, `?` or `;` after `://` and end before `#`.
/// Under [`Profile::Rfc9309`] a `;` in the user information is part of the authority (RFC 3986
/// §3.2.1) and begins no path.
pub(crate) fn split<'a>(url: &'a [u8], profile: Profile, key: &'a mut Vec<u8>) -> Option<Parts<'a>> {
    match split_plain(url, AnyBackend::detect()) {
        Some((origin, rest)) => {
            let (path, slash) = path_from(rest);
            Some(Parts { origin, path, slash })
        }
        None => split_slow(trim_fast(url), profile, key),
    }
}

/// Cuts a URL whose origin is canonical as it stands, as nearly all are, into that and what follows it, the fragment too: nothing, or
/// what begins with `/`. `None` for any other text.
#[inline(always)]
pub(crate) fn split_plain(url: &[u8], backend: impl Backend) -> Option<(&[u8], &[u8])> {
    let url = trim_fast(url);
    let PlainOrigin { len: end, has_path } = plain_origin(url, backend)?;
    if !has_path && end < url.len() {
        return None;
    }
    url.split_at_checked(end)
}

/// An origin that is canonical as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainOrigin {
    pub len: usize,
    /// A path follows; else a line end, or nothing.
    pub has_path: bool,
}

/// The origin that `text` begins with, if it is canonical as it stands and a path follows, a line end, or nothing. Nothing behind that is
/// looked at, but with 32 bytes there most hosts are seen at once.
#[inline(always)]
pub(crate) fn plain_origin(text: &[u8], backend: impl Backend) -> Option<PlainOrigin> {
    let start = plain_scheme(text)?;
    let rest = text.get(start..)?;
    let look = rest.first_chunk().and_then(|window| backend.scan_host(window));
    let look = look.unwrap_or_else(|| look_at_long_host(rest));
    let (len, label) = (start + look.len, start + look.label);
    // Spellings of an IPv4 address have a last label that begins with a digit; a dot at the end is left to the slow path.
    if label >= len || text.get(label)?.is_ascii_digit() {
        return None;
    }
    match text.get(len) {
        Some(b'/') => Some(PlainOrigin { len, has_path: true }),
        None | Some(b'\n') => Some(PlainOrigin { len, has_path: false }),
        Some(b'\r') if text.get(len + 1) == Some(&b'\n') => Some(PlainOrigin { len, has_path: false }),
        Some(_) => None,
    }
}

/// The length of `http://` or `https://`.
#[inline(always)]
fn plain_scheme(text: &[u8]) -> Option<usize> {
    let start = u64::from_le_bytes(*text.first_chunk()?);
    if start == u64::from_le_bytes(*b"https://") {
        Some(8)
    } else if start << 8 == u64::from_le_bytes(*b"\0http://") {
        Some(7)
    } else {
        None
    }
}

#[inline(never)]
fn look_at_long_host(text: &[u8]) -> HostScan {
    let len = text.iter().position(|&b| !PLAIN[usize::from(b)]).unwrap_or(text.len());
    HostScan { len, label: memchr::memrchr(b'.', &text[..len]).map_or(0, |dot| dot + 1) }
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

#[cold]
fn split_slow<'a>(url: &'a [u8], profile: Profile, key: &'a mut Vec<u8>) -> Option<Parts<'a>> {
    let start = authority_start(url)?;
    let rest = &url[start..];
    let authority_end = rest.iter().position(|b| b"/?#".contains(b)).unwrap_or(rest.len());
    let authority = &rest[..authority_end];
    if authority.contains(&b'\\') {
        return None; // RFC 3986 has no such authority, and browsers disagree with the reference on its path
    }
    // The reference starts the path at a `;` too, wherever it stands in the authority.
    let host = user_info_len(authority);
    let end = authority[host..].iter().position(|&b| b == b';').map_or(authority_end, |i| host + i);
    authority::canonical(&url[..start - 3], &authority[..end], key)?;
    let path_start = match profile {
        Profile::Google => memchr::memchr(b';', authority).unwrap_or(authority_end),
        Profile::Rfc9309 => end,
    };
    let (path, slash) = path_from(&rest[path_start..]);
    Some(Parts { origin: key, path, slash })
}

/// Path and query of what follows the authority, and whether a `/` must be put before it.
#[inline]
fn path_from(rest: &[u8]) -> (&[u8], bool) {
    let path = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
    match path.first() {
        None => (b"/", false),
        Some(b'/') => (path, false),
        Some(_) => (path, true),
    }
}

/// The length of the user information that `rest`, which begins with an authority, begins with, the
/// `@` included.
fn user_info_len(rest: &[u8]) -> usize {
    let end = rest.iter().position(|b| b"/?#".contains(b)).unwrap_or(rest.len());
    memchr::memrchr(b'@', &rest[..end]).map_or(0, |at| at + 1)
}

/// Path and query of a URL or of a bare path, to the byte as the reference cuts them.
///
/// A URL goes from the first `/`, `?` or `;` behind `://` (or behind an initial `//`) to the first
/// `#`; text without any of them is `/`. Under [`Profile::Rfc9309`] user information is skipped
/// first, as in [`split`]. The second value says that a `/` must be put before the first.
pub(crate) fn path_of(text: &[u8], profile: Profile) -> (&[u8], bool) {
    let start = if text.starts_with(b"//") { 2 } else { 0 };
    let is_path = |b: &u8| b"/?;".contains(b);
    let early = text[start..].iter().position(is_path).unwrap_or(text.len());
    let scheme = memchr::memmem::find(&text[start..], b"://").filter(|&at| at < early);
    let authority = start + scheme.map_or(0, |at| at + 3);
    let has_authority = scheme.is_some() || start > 0;
    let skipped = if profile == Profile::Rfc9309 && has_authority { user_info_len(&text[authority..]) } else { 0 };
    let host = authority + skipped;
    let Some(path) = text[host..].iter().position(is_path).map(|i| host + i) else {
        return (b"/", false);
    };
    let end = memchr::memchr(b'#', &text[start..]).map_or(text.len(), |at| start + at);
    if end < path {
        return (b"/", false);
    }
    (&text[path..end], text[path] != b'/')
}
