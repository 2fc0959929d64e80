//! The licences of a robots.txt: the URLs in its `license` lines (RSL).

use crate::bytes::is_white_space;
use crate::robots::RobotsRef;

/// The length of the listed URLs together. A hostile file has thousands of them, and each line of
/// an annotated list would repeat them all.
const MAX_LEN: usize = 2048;

/// The licences of a robots.txt that are absolute URLs, in normal form, without repetitions: the
/// first ones, with up to [`MAX_LEN`] bytes.
pub(super) fn license_urls(robots: &RobotsRef<'_>) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    let mut len = 0;
    for url in robots
        .licenses()
        .filter_map(|field| license_url(field.value()))
    {
        if urls.iter().any(|known| known == url.as_str()) {
            continue;
        }
        len += url.as_str().len();
        if len > MAX_LEN {
            break;
        }
        urls.push(url.into());
    }
    urls
}

/// The host of a licence's URL, given the value of a `License` line; `None` if the value is not an
/// absolute URL of `http`, `https` or `ftp`.
///
/// ```
/// use robosieve::preferences::license_host;
/// assert_eq!(license_host(b"https://E.example/l.xml").as_deref(), Some("e.example"));
/// assert_eq!(license_host(b"/l.xml"), None);
/// ```
pub fn license_host(value: &[u8]) -> Option<String> {
    license_url(value)?.host_str().map(str::to_owned)
}

/// The URL of a licence. RSL asks for one with scheme and host.
fn license_url(value: &[u8]) -> Option<url::Url> {
    let text = std::str::from_utf8(value).ok()?;
    // `Url::parse` would drop some of these characters.
    let is_odd = |c: char| is_white_space(c) || c.is_control();
    if !text.contains("://") || text.chars().any(is_odd) {
        return None;
    }
    let is_fetched = |url: &url::Url| matches!(url.scheme(), "http" | "https" | "ftp");
    url::Url::parse(text)
        .ok()
        .filter(|url| is_fetched(url) && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn urls(text: &str) -> Vec<String> {
        license_urls(&RobotsRef::parse(text.as_bytes(), Profile::Google))
    }

    #[test]
    fn licenses_are_absolute_urls_in_normal_form() {
        let text = "License: https://E.example/l.xml\nuser-agent: a\n\
                    license: https://e.example/l.xml\nlicense: /l.xml\nlicense:\n\
                    license: //e.example/l\nlicense: https://e.example/a b\n\
                    license: mailto:a@e.example\nlicense: http://x.example/?é\"\n";
        assert_eq!(
            urls(text),
            ["https://e.example/l.xml", "http://x.example/?%C3%A9%22"]
        );
        assert!(urls("license: \u{1b}https://e.example/\nlicense: https://\n").is_empty());
    }

    #[test]
    fn hostile_files_have_few_licenses() {
        let text: String = (0..10_000)
            .map(|n| format!("license: https://e.example/{n}\n"))
            .collect();
        let found = urls(&text);
        assert!(
            found.len() > 50 && found.concat().len() <= MAX_LEN,
            "{}",
            found.len()
        );
        assert!(urls(&format!("license: https://e.example/{}", "x".repeat(9000))).is_empty());
    }
}
