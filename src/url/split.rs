//! Splits a URL into the key of its origin and its path.
//!
//! Nearly all URLs in a list have a *plain* origin: `http` or `https`, a lower-case host, no user
//! information and no port. Such an origin is its own canonical key, so the fast path only finds
//! its end and allocates nothing. All other URLs take the slow path, which canonicalises the
//! authority.

use crate::bytes::trim;
use crate::profile::Profile;
use crate::simd::{AnyBackend, Backend, HostScan};
use crate::url::authority;

/// The two parts of a URL that robots.txt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UrlParts<'a> {
    /// The canonical key of the origin.
    pub origin: &'a [u8],
    /// Path and query without the fragment; always begins with `/` unless `slash` is set.
    pub path: &'a [u8],
    /// `path` lacks its first `/` (`http://h?q`, `http://h;p`), and the caller must prepend it.
    pub slash: bool,
}

/// Splits `url`; `None` if it is not of the form `scheme://authority…`. The slow path writes the
/// origin to `key`.
///
/// White space around the URL is ignored. Path and query are those of the reference's
/// `GetPathParamsQuery`: they start at the first `/`, `?` or `;` after `://` and end before `#`.
/// Under [`Profile::Rfc9309`] a `;` in the user information is part of the authority (RFC 3986
/// §3.2.1) and begins no path.
pub(crate) fn split<'a>(
    url: &'a [u8],
    profile: Profile,
    key: &'a mut Vec<u8>,
) -> Option<UrlParts<'a>> {
    match split_plain(url, AnyBackend::detect()) {
        Some((origin, rest)) => {
            let (path, slash) = path_from(rest);
            Some(UrlParts {
                origin,
                path,
                slash,
            })
        }
        None => split_slow(trim(url), profile, key),
    }
}

/// Splits a URL with a plain origin into the origin and the rest, fragment included. The rest is
/// empty or begins with `/`. `None` for any other text.
#[inline(always)]
pub(crate) fn split_plain(url: &[u8], backend: impl Backend) -> Option<(&[u8], &[u8])> {
    let url = trim(url);
    let PlainOrigin { len: end, has_path } = plain_origin(url, backend)?;
    if !has_path && end < url.len() {
        return None;
    }
    url.split_at_checked(end)
}

/// A plain origin: one that is its own canonical key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainOrigin {
    /// The length of the origin.
    pub len: usize,
    /// Whether a path follows it; else a line end or the end of the text does.
    pub has_path: bool,
}

/// The origin at the start of `text`, if it is plain and is followed by a path, a line end or
/// nothing.
///
/// The text may go on after the URL. With 32 bytes after the scheme, one vector step finds the end
/// of most hosts.
#[inline(always)]
pub(crate) fn plain_origin(text: &[u8], backend: impl Backend) -> Option<PlainOrigin> {
    let start = plain_scheme(text)?;
    let rest = text.get(start..)?;
    let scan = rest
        .first_chunk()
        .and_then(|window| backend.scan_host(window));
    let scan = scan.unwrap_or_else(|| scan_long_host(rest));
    let len = start + scan.len;
    let label = start + scan.label;
    // The last label of an IPv4 address begins with a digit in every spelling. The slow path takes
    // these, and hosts that end in a dot.
    if label >= len || text.get(label)?.is_ascii_digit() {
        return None;
    }
    match text.get(len) {
        Some(b'/') => Some(PlainOrigin {
            len,
            has_path: true,
        }),
        None | Some(b'\n') => Some(PlainOrigin {
            len,
            has_path: false,
        }),
        Some(b'\r') if text.get(len + 1) == Some(&b'\n') => Some(PlainOrigin {
            len,
            has_path: false,
        }),
        Some(_) => None,
    }
}

/// The length of `http://` or `https://` at the start of `text`.
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

/// The host at the start of a text, for a host over 31 bytes or a text under 32.
#[inline(never)]
fn scan_long_host(text: &[u8]) -> HostScan {
    let len = text
        .iter()
        .position(|&b| !HOST_BYTES[usize::from(b)])
        .unwrap_or(text.len());
    HostScan {
        len,
        label: memchr::memrchr(b'.', &text[..len]).map_or(0, |dot| dot + 1),
    }
}

/// The offset after `scheme://`.
fn authority_start(url: &[u8]) -> Option<usize> {
    let colon = memchr::memchr(b':', url)?;
    let scheme = &url[..colon];
    let valid = scheme.first()?.is_ascii_alphabetic()
        && scheme
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b));
    (valid && url[colon..].starts_with(b"://")).then_some(colon + 3)
}

/// The bytes of a plain host.
static HOST_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        let c = b as u8;
        table[b] =
            c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'.' || c == b'-' || c == b'_';
        b += 1;
    }
    table
};

/// [`split`] for a trimmed URL without a plain origin.
#[cold]
fn split_slow<'a>(url: &'a [u8], profile: Profile, key: &'a mut Vec<u8>) -> Option<UrlParts<'a>> {
    let start = authority_start(url)?;
    let rest = &url[start..];
    let authority_end = rest
        .iter()
        .position(|b| b"/?#".contains(b))
        .unwrap_or(rest.len());
    let authority = &rest[..authority_end];
    // RFC 3986 has no such authority, and browsers disagree with the reference about its path.
    if authority.contains(&b'\\') {
        return None;
    }
    // The reference also starts the path at a `;` anywhere in the authority.
    let host = user_info_len(authority);
    let end = authority[host..]
        .iter()
        .position(|&b| b == b';')
        .map_or(authority_end, |i| host + i);
    authority::canonical(&url[..start - 3], &authority[..end], key)?;
    let path_start = match profile {
        Profile::Google => memchr::memchr(b';', authority).unwrap_or(authority_end),
        Profile::Rfc9309 => end,
    };
    let (path, slash) = path_from(&rest[path_start..]);
    Some(UrlParts {
        origin: key,
        path,
        slash,
    })
}

/// Path and query in the text after the authority, and whether the caller must prepend a `/`.
#[inline]
fn path_from(rest: &[u8]) -> (&[u8], bool) {
    let path = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
    match path.first() {
        None => (b"/", false),
        Some(b'/') => (path, false),
        Some(_) => (path, true),
    }
}

/// The length of the user information at the start of `rest`, which begins with an authority; the
/// `@` counts.
fn user_info_len(rest: &[u8]) -> usize {
    let end = rest
        .iter()
        .position(|b| b"/?#".contains(b))
        .unwrap_or(rest.len());
    memchr::memrchr(b'@', &rest[..end]).map_or(0, |at| at + 1)
}

/// Path and query of a URL or of a bare path, byte for byte as in the reference.
///
/// They reach from the first `/`, `?` or `;` after `://` (or after an initial `//`) to the first
/// `#`; a text without any of these has the path `/`. Under [`Profile::Rfc9309`] user information
/// is skipped first, as in [`split`]. The second value says whether the caller must prepend a `/`.
pub(crate) fn path_of(text: &[u8], profile: Profile) -> (&[u8], bool) {
    let start = if text.starts_with(b"//") { 2 } else { 0 };
    let is_path = |b: &u8| b"/?;".contains(b);
    let early = text[start..].iter().position(is_path).unwrap_or(text.len());
    let scheme = memchr::memmem::find(&text[start..], b"://").filter(|&at| at < early);
    let authority = start + scheme.map_or(0, |at| at + 3);
    let has_authority = scheme.is_some() || start > 0;
    let skipped = if profile == Profile::Rfc9309 && has_authority {
        user_info_len(&text[authority..])
    } else {
        0
    };
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
