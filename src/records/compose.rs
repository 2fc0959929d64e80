//! Completes URLs that lack a scheme, or scheme and host.

use crate::bytes::trim;
use crate::records::options::RecordOptions;

/// The prefixes for incomplete URLs.
#[derive(Debug, Default)]
pub(crate) struct UrlComposer {
    /// `https://`, for a text without a scheme.
    scheme: Option<Vec<u8>>,
    /// `https://example.com`, for a text that begins with `/`.
    base: Option<Vec<u8>>,
}

impl UrlComposer {
    /// `None` if URLs stay as they are.
    pub(crate) fn of(options: &RecordOptions) -> Option<Self> {
        let scheme = options
            .default_scheme
            .as_deref()
            .map(|scheme| scheme.trim_end_matches("://"));
        let base = options.host.as_deref().map(|host| {
            let host = host.trim_end_matches('/');
            match host.contains("://") {
                true => host.to_owned(),
                false => format!("{}://{host}", scheme.unwrap_or("https")),
            }
        });
        let scheme = scheme.map(|scheme| format!("{scheme}://").into_bytes());
        options.rewrites().then(|| Self {
            scheme,
            base: base.map(String::into_bytes),
        })
    }

    /// Appends the complete URL to `out`.
    pub(crate) fn append(&self, url: &[u8], out: &mut Vec<u8>) {
        let url = trim(url);
        match (&self.base, &self.scheme) {
            // A path of an access log may begin with `//`. With a host given it is a path.
            (Some(base), _) if url.starts_with(b"/") => {
                out.extend_from_slice(base);
                out.extend_from_slice(url);
            }
            (_, Some(scheme)) if !url.is_empty() && !has_scheme(url) => {
                out.extend_from_slice(scheme);
                out.extend_from_slice(url.strip_prefix(b"//").unwrap_or(url));
            }
            _ => out.extend_from_slice(url),
        }
    }
}

/// Schemes whose text is never `host:port`, though digits may follow them (`tel:112`).
const NO_HOSTS: [&[u8]; 7] = [
    b"http",
    b"https",
    b"javascript",
    b"mailto",
    b"tel",
    b"sms",
    b"fax",
];

/// Whether the text has a scheme by the grammar of RFC 3986 §3.1. In `localhost:80/x` a port
/// follows the colon, so `localhost` is a host.
fn has_scheme(url: &[u8]) -> bool {
    let Some(end) = url
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || b"+-.".contains(b)))
    else {
        return false;
    };
    let (scheme, rest) = url.split_at(end);
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic) && rest.starts_with(b":");
    is_scheme
        && (rest.starts_with(b"://")
            || !starts_with_port(&rest[1..])
            || NO_HOSTS
                .iter()
                .any(|no_host| scheme.eq_ignore_ascii_case(no_host)))
}

/// Whether the text starts with a port that a path, a query, a fragment or the end follows.
fn starts_with_port(text: &[u8]) -> bool {
    let end = text
        .iter()
        .position(|b| b"/?#;".contains(b))
        .unwrap_or(text.len());
    let digits = &text[..end];
    !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
        && std::str::from_utf8(digits).is_ok_and(|digits| digits.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(scheme: Option<&str>, host: Option<&str>, url: &str) -> String {
        let options = RecordOptions {
            default_scheme: scheme.map(str::to_owned),
            host: host.map(str::to_owned),
            ..RecordOptions::default()
        };
        let mut out = Vec::new();
        UrlComposer::of(&options)
            .unwrap()
            .append(url.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn missing_parts_are_added() {
        let cases = [
            (Some("https"), None, "e.example/a", "https://e.example/a"),
            (
                Some("http://"),
                None,
                " e.example:8080/a ",
                "http://e.example:8080/a",
            ),
            (Some("https"), None, "//e.example/a", "https://e.example/a"),
            (
                Some("https"),
                None,
                "http://e.example/?u=ftp://x",
                "http://e.example/?u=ftp://x",
            ),
            (
                Some("https"),
                None,
                "e.example/?u=http://x",
                "https://e.example/?u=http://x",
            ),
            (Some("https"), None, "", ""),
            (
                Some("https"),
                None,
                "h.test:8080/x",
                "https://h.test:8080/x",
            ),
            (Some("https"), None, "localhost:80", "https://localhost:80"),
            (
                Some("https"),
                None,
                "localhost:80?q",
                "https://localhost:80?q",
            ),
            (Some("https"), None, "h.test:080#f", "https://h.test:080#f"),
            (Some("https"), None, "1.2.3.4:80/", "https://1.2.3.4:80/"),
            (Some("https"), None, "[::1]:80/", "https://[::1]:80/"),
            (Some("https"), None, "h.test/a:b", "https://h.test/a:b"),
            (
                Some("https"),
                None,
                "h.test?u=mailto:b",
                "https://h.test?u=mailto:b",
            ),
            (Some("https"), None, "mailto:bob@h", "mailto:bob@h"),
            (Some("https"), None, "MAILTO:bob@h", "MAILTO:bob@h"),
            (Some("https"), None, "https:/h/x", "https:/h/x"),
            (Some("https"), None, "http:h", "http:h"),
            (Some("https"), None, "http:80", "http:80"),
            (Some("https"), None, "tel:112", "tel:112"),
            (Some("https"), None, "tel:+49-1", "tel:+49-1"),
            (
                Some("https"),
                None,
                "javascript:void(0)",
                "javascript:void(0)",
            ),
            (Some("https"), None, "data:text/html,x", "data:text/html,x"),
            (Some("https"), None, "h.test:65536/", "h.test:65536/"),
            (
                Some("https"),
                None,
                "user:word@h.test/",
                "user:word@h.test/",
            ),
            (None, Some("e.example"), "/a?b", "https://e.example/a?b"),
            (None, Some("e.example"), "//a", "https://e.example//a"),
            (
                None,
                Some("http://e.example:81/"),
                "/a",
                "http://e.example:81/a",
            ),
            (Some("http"), Some("e.example"), "/a", "http://e.example/a"),
            (
                None,
                Some("e.example"),
                "https://f.example/",
                "https://f.example/",
            ),
            (None, Some("e.example"), "f.example/", "f.example/"),
        ];
        for (scheme, host, url, expected) in cases {
            assert_eq!(whole(scheme, host, url), expected, "{url}");
        }
    }
}
