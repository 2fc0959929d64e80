//! URLs made whole that lack their scheme, or scheme and host.

use super::options::RecordOptions;
use crate::agent::trim;

/// What is put before URLs that are not whole.
#[derive(Debug, Default)]
pub(crate) struct Compose {
    /// `https://`, before what has no scheme.
    scheme: Option<Vec<u8>>,
    /// `https://example.com`, before what begins with `/`.
    base: Option<Vec<u8>>,
}

impl Compose {
    /// `None` if URLs stay as they are.
    pub(crate) fn of(options: &RecordOptions) -> Option<Self> {
        options.rewrites().then(|| Self::new(options))
    }

    fn new(options: &RecordOptions) -> Self {
        let scheme = options.default_scheme.as_deref().map(|scheme| scheme.trim_end_matches("://"));
        let base = options.host.as_deref().map(|host| {
            let host = host.trim_end_matches('/');
            match host.contains("://") {
                true => host.to_owned(),
                false => format!("{}://{host}", scheme.unwrap_or("https")),
            }
        });
        Self { scheme: scheme.map(|scheme| format!("{scheme}://").into_bytes()), base: base.map(String::into_bytes) }
    }

    /// Appends the whole URL.
    pub(crate) fn put(&self, url: &[u8], out: &mut Vec<u8>) {
        let url = trim(url);
        match (&self.base, &self.scheme) {
            // A path of an access log may begin with `//`, and is a path then.
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

/// Whether the text begins with `scheme://`.
fn has_scheme(url: &[u8]) -> bool {
    let end = url.iter().position(|b| !(b.is_ascii_alphanumeric() || b"+-.".contains(b)));
    end.is_some_and(|end| end > 0 && url[0].is_ascii_alphabetic() && url[end..].starts_with(b"://"))
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
        Compose::new(&options).put(url.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_missing_is_put_before() {
        let cases = [
            (Some("https"), None, "e.example/a", "https://e.example/a"),
            (Some("http://"), None, " e.example:8080/a ", "http://e.example:8080/a"),
            (Some("https"), None, "//e.example/a", "https://e.example/a"),
            (Some("https"), None, "http://e.example/?u=ftp://x", "http://e.example/?u=ftp://x"),
            (Some("https"), None, "e.example/?u=http://x", "https://e.example/?u=http://x"),
            (Some("https"), None, "", ""),
            (None, Some("e.example"), "/a?b", "https://e.example/a?b"),
            (None, Some("e.example"), "//a", "https://e.example//a"),
            (None, Some("http://e.example:81/"), "/a", "http://e.example:81/a"),
            (Some("http"), Some("e.example"), "/a", "http://e.example/a"),
            (None, Some("e.example"), "https://f.example/", "https://f.example/"),
            (None, Some("e.example"), "f.example/", "f.example/"),
        ];
        for (scheme, host, url, expected) in cases {
            assert_eq!(whole(scheme, host, url), expected, "{url}");
        }
    }
}
