//! Splits a URL into the key of its origin and its path.
//!
//! Nearly all URLs in a list have a *plain* origin: `http` or `https`, a lower-case host, no user
//! information and no port. Such an origin is its own canonical key, so the fast path only finds
//! its end and allocates nothing. All other URLs take the slow path, which canonicalises the
//! authority.

use crate::bytes::trim;
use crate::profile::Profile;
use crate::simd::{AnyBackend, Backend};
use crate::url::authority;
use memchr::memchr3;

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
    let origin = plain_origin(url, backend);
    let end = origin.len as usize;
    if end == 0 || (!origin.has_path && end < url.len()) {
        return None;
    }
    url.split_at_checked(end)
}

/// The plain origin of a text, if it has one: an origin that is its own canonical key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainOrigin {
    /// The length of the origin; 0 if the text has none. An `Option` cost ten instructions more.
    pub len: u32,
    /// Whether a path follows it; else a line end or the end of the text does.
    pub has_path: bool,
}

impl PlainOrigin {
    /// The text has no plain origin.
    pub(crate) const NONE: Self = Self {
        len: 0,
        has_path: false,
    };
}

/// The bytes of a text in which [`plain_origin`] finds most origins.
const WINDOW: usize = "https://".len() + 32;

/// The origin at the start of `text`, if it is plain and is followed by a path, a line end or
/// nothing. The text may extend beyond the URL.
///
/// Cost: for a host of up to 31 bytes, one vector step and one branch.
#[inline(always)]
pub(crate) fn plain_origin(text: &[u8], backend: impl Backend) -> PlainOrigin {
    if let Some(window) = text.first_chunk() {
        let origin = short_origin(window, backend);
        if origin.len > 0 {
            return origin;
        }
    }
    // Also asked for texts that are not plain, which are rare.
    long_origin(text)
}

/// The same for an origin that ends in the window and is followed by `/` or LF.
///
/// All conditions are computed and then joined, because a branch on each of them is predicted badly
/// in a list of many hosts.
#[inline(always)]
fn short_origin(window: &[u8; WINDOW], backend: impl Backend) -> PlainOrigin {
    let [start, ..] = window.as_chunks().0 else {
        return PlainOrigin::NONE;
    };
    let start = u64::from_le_bytes(*start);
    let is_https = start == HTTPS;
    let is_http = start << 8 == HTTP;
    let scheme = "http://".len() + usize::from(is_https);
    let Some(host) = window[scheme..].first_chunk() else {
        return PlainOrigin::NONE;
    };
    let masks = backend.host_bytes(host);
    // 32 for a host that does not end in the window.
    let len = masks.host.trailing_ones();
    let dots = u64::from(masks.dots) & ((1 << len) - 1);
    let label = 64 - dots.leading_zeros();
    // The last label of an IPv4 address begins with a digit in every spelling. The slow path takes
    // these, and hosts that end in a dot.
    let label_start = window[scheme + (label % 32) as usize];
    let end = window[scheme + (len % 32) as usize];
    let has_path = end == b'/';
    let is_plain = (is_https | is_http)
        & (label < len)
        & (len < 32)
        & !label_start.is_ascii_digit()
        & (has_path | (end == b'\n'));
    PlainOrigin {
        len: (scheme as u32 + len) * u32::from(is_plain),
        has_path: has_path & is_plain,
    }
}

/// The same for any text, byte by byte: for hosts of 32 bytes or more, and texts that end soon.
#[inline(never)]
fn long_origin(text: &[u8]) -> PlainOrigin {
    let Some(start) = plain_scheme(text) else {
        return PlainOrigin::NONE;
    };
    let rest = text.get(start..).unwrap_or_default();
    let host_len = rest
        .iter()
        .position(|&b| !HOST_BYTES[usize::from(b)])
        .unwrap_or(rest.len());
    let len = start + host_len;
    let label = start + memchr::memrchr(b'.', &rest[..host_len]).map_or(0, |dot| dot + 1);
    // As in `short_origin`.
    if label >= len || text.get(label).is_none_or(u8::is_ascii_digit) {
        return PlainOrigin::NONE;
    }
    let has_path = match text.get(len) {
        Some(b'/') => true,
        None | Some(b'\n') => false,
        Some(b'\r') if text.get(len + 1) == Some(&b'\n') => false,
        Some(_) => return PlainOrigin::NONE,
    };
    PlainOrigin {
        len: len as u32,
        has_path,
    }
}

/// The plain schemes as little-endian words, `http://` after a byte that is shifted out.
const HTTPS: u64 = u64::from_le_bytes(*b"https://");
const HTTP: u64 = u64::from_le_bytes(*b"\0http://");

/// The length of `http://` or `https://` at the start of `text`.
fn plain_scheme(text: &[u8]) -> Option<usize> {
    let start = u64::from_le_bytes(*text.first_chunk()?);
    if start == HTTPS {
        Some(8)
    } else if start << 8 == HTTP {
        Some(7)
    } else {
        None
    }
}

/// The offset after `scheme://`; `None` if the text does not begin with a scheme.
pub(crate) fn authority_start(url: &[u8]) -> Option<usize> {
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

/// Whether a text is a URL with scheme and host, or a path, which begins with `/`. White space
/// around it is ignored.
///
/// Cost: for a path or a URL with a plain origin, some nanoseconds.
pub(crate) fn is_url_or_path(text: &[u8]) -> bool {
    let text = trim(text);
    // The profile changes only the path.
    text.starts_with(b"/") || split(text, Profile::default(), &mut Vec::new()).is_some()
}

/// Path and query of a URL or of a bare path, byte for byte as in the reference. White space around
/// the text is ignored.
///
/// They reach from the first `/`, `?` or `;` after `://` (or after an initial `//`) to the first
/// `#`; a text without any of these has the path `/`. Under [`Profile::Rfc9309`] user information
/// is skipped first, as in [`split`]. The second value says whether the caller must prepend a `/`.
pub(crate) fn path_of(text: &[u8], profile: Profile) -> (&[u8], bool) {
    let text = trim(text);
    let start = if text.starts_with(b"//") { 2 } else { 0 };
    let find_path = |from: usize| memchr3(b'/', b'?', b';', &text[from..]).map(|at| from + at);
    // `://` ends a scheme if its first slash is the first byte that could begin a path.
    let scheme_end = find_path(start)
        .filter(|&slash| slash > start && text[slash - 1..].starts_with(b"://"))
        .map(|slash| slash + 2);
    let authority = scheme_end.unwrap_or(start);
    let has_authority = scheme_end.is_some() || start > 0;
    let skipped = if profile == Profile::Rfc9309 && has_authority {
        user_info_len(&text[authority..])
    } else {
        0
    };
    let host = authority + skipped;
    let Some(path) = find_path(host) else {
        return (b"/", false);
    };
    let end = memchr::memchr(b'#', &text[start..]).map_or(text.len(), |at| start + at);
    if end < path {
        return (b"/", false);
    }
    (&text[path..end], text[path] != b'/')
}
