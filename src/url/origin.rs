//! The canonical form of an origin, `scheme://host[:port]`: the scope of a robots.txt.

use bstr::ByteSlice;
use std::fmt;

/// An origin in canonical form: lower-case scheme, `://`, canonical host, and `:port` unless it is
/// the default.
///
/// A robots.txt applies to one origin only (RFC 9309 §2.3; Google's specification, "file location
/// and range of validity"). Hosts compare without case, an IDN equals its Punycode form, and user
/// information is dropped.
///
/// ```
/// use robosieve::Origin;
/// let origin = Origin::of(b"HTTPS://user@www.M\xc3\xbcller.eu:443/path").unwrap();
/// assert_eq!(origin.as_str(), "https://www.xn--mller-kva.eu");
/// assert!(Origin::of(b"mailto:someone@example.com").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin(String);

impl Origin {
    /// The origin of a URL; `None` if the text is not a URL with an authority. Never panics.
    pub fn of(url: &[u8]) -> Option<Self> {
        let mut key = Vec::new();
        let parts = crate::url::split(url, crate::profile::Profile::Google, &mut key)?;
        Some(Self(parts.origin.to_str_lossy().into_owned()))
    }

    /// Appends the canonical form of the origin of a URL to `out`, as [`of`](Self::of) gives it.
    /// Returns `false`, and appends nothing, if the text is not a URL with an authority.
    ///
    /// For columns of URLs: it allocates only for origins that are not in canonical form, and when
    /// `out` grows. The appended bytes are ASCII, the key of the tables of `export`.
    /// Never panics.
    ///
    /// ```
    /// use robosieve::Origin;
    /// let mut column = Vec::new();
    /// assert!(Origin::append(b"https://Example.com:443/a", &mut column));
    /// assert!(!Origin::append(b"/a", &mut column));
    /// assert!(Origin::append(b"http://[2001:DB8::7]:8080", &mut column));
    /// assert_eq!(column, b"https://example.comhttp://[2001:db8::7]:8080");
    /// ```
    pub fn append(url: &[u8], out: &mut Vec<u8>) -> bool {
        let mut key = Vec::new();
        let parts = crate::url::split(url, crate::profile::Profile::Google, &mut key);
        parts.is_some_and(|parts| {
            out.extend_from_slice(parts.origin);
            true
        })
    }

    /// The canonical form, such as `https://example.com` or `http://example.com:8080`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The scheme in lower case, such as `https`.
    ///
    /// ```
    /// let origin = robosieve::Origin::of(b"FTP://e.example/a").unwrap();
    /// assert_eq!(origin.scheme(), "ftp");
    /// ```
    pub fn scheme(&self) -> &str {
        self.0.split_once("://").map_or("", |(scheme, _)| scheme)
    }

    /// The URL of its robots.txt (RFC 9309 §2.3).
    ///
    /// ```
    /// let origin = robosieve::Origin::of(b"http://E.example:80/a?b").unwrap();
    /// assert_eq!(origin.robots_url(), "http://e.example/robots.txt");
    /// ```
    pub fn robots_url(&self) -> String {
        format!("{}/robots.txt", self.0)
    }

    /// The origin with this canonical key.
    pub(crate) fn from_key(key: Box<[u8]>) -> Self {
        Self(match String::from_utf8(key.into_vec()) {
            Ok(key) => key,
            Err(err) => err.into_bytes().to_str_lossy().into_owned(),
        })
    }

    /// Writes the key of the same origin under the other of http and https to `out`. Returns
    /// `false` if there is none.
    pub(crate) fn other_scheme(key: &[u8], out: &mut Vec<u8>) -> bool {
        let (scheme, rest): (&[u8], _) = if let Some(rest) = key.strip_prefix(b"http://") {
            (b"https://", rest)
        } else if let Some(rest) = key.strip_prefix(b"https://") {
            (b"http://", rest)
        } else {
            return false;
        };
        out.clear();
        out.extend_from_slice(scheme);
        out.extend_from_slice(rest);
        // `http://h:443` has no counterpart: in canonical form, `https://h:443` is `https://h`.
        !out.ends_with(if scheme.len() == 8 { b":443" } else { b":80" })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
