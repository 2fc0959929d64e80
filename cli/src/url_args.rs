//! Arguments that are URLs or hosts, and advice about those that are neither.

use robosieve::Origin;

/// Whether a text is a host with a dot, or `localhost`, without a scheme. A port and a path may
/// follow: `example.com`, `localhost:8080/a`.
pub(crate) fn is_bare_host(text: &str) -> bool {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = authority.split_once(':').unwrap_or((authority, "0"));
    let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let is_name = host == "localhost" || host.trim_end_matches('.').contains('.');
    let has_scheme = Origin::of(text.as_bytes()).is_some();
    let with_scheme = format!("https://{text}");
    is_port && is_name && !has_scheme && Origin::of(with_scheme.as_bytes()).is_some()
}

/// What to write in place of a text that is not a URL with scheme and host.
pub(crate) fn url_advice(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return "it is empty".to_owned();
    }
    if text.starts_with("//") {
        return format!("write it with its scheme: https:{text}");
    }
    if text.starts_with('/') {
        return format!(
            "it is a path, on which only --robots FILE gives a verdict; write the whole URL, such \
             as https://example.com{text}"
        );
    }
    if is_bare_host(text) {
        return format!("write it with its scheme: https://{text}");
    }
    match text.split_once(':') {
        Some((_, rest)) if rest.starts_with("//") => {
            "it has no host, or one with characters that no host has".to_owned()
        }
        _ => "write it like https://example.com/page".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_host_has_a_dot_and_no_scheme() {
        for text in [
            "reddit.com",
            "www.a.example/x?y",
            "localhost:8080/a",
            "a.example:443",
            "192.0.2.1",
        ] {
            assert!(is_bare_host(text), "{text}");
        }
        for text in [
            "",
            ".",
            "cart",
            "/a.b",
            "mailto:a@b.example",
            "a.example:x",
            "https://a.example",
            "a b.example",
            "localhost:",
        ] {
            assert!(!is_bare_host(text), "{text}");
        }
    }

    #[test]
    fn advice_is_a_url_where_one_can_be_told() {
        for (text, advice) in [
            ("reddit.com", "https://reddit.com"),
            ("a.example/b?c", "https://a.example/b?c"),
            ("//a.example/b", "https://a.example/b"),
            ("/b?c", "https://example.com/b?c"),
            ("cart", "https://example.com/page"),
        ] {
            let written = url_advice(text);
            assert!(written.ends_with(advice), "{written}");
            assert!(Origin::of(advice.as_bytes()).is_some());
        }
        for (text, cause) in [
            (" ", "empty"),
            ("https://", "no host"),
            ("https:///a", "no host"),
        ] {
            assert!(url_advice(text).contains(cause), "{}", url_advice(text));
        }
    }
}
