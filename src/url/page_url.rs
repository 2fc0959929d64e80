//! The URL of the page that a secondary record of a browser crawler is about.
//!
//! Crawlers that drive a browser store what they derive from a page under a URI of their own, with
//! the URL of the page at its end: `urn:text:https://e.example/` is the text of that page. Such a
//! record is a copy of the page, so the rules for the page hold for it too.

use bstr::ByteSlice;

/// Prefixes of secondary records besides `urn:NAME:`: brozzler writes them through warcprox.
/// `youtube-dl` may also have a number: `youtube-dl:00001:`.
const SCHEMES: [&str; 3] = ["screenshot", "thumbnail", "youtube-dl"];

/// The http or https URL at the end of the URI of a secondary record; any other text is returned
/// unchanged.
///
/// The names after `urn:` are not listed: Browsertrix has at least `pageinfo`, `text`, `textFinal`,
/// `view`, `thumbnail` and `fullPage`, and adds more.
///
/// Cost: one branch for a text that begins with `h`, as nearly all do.
#[inline]
pub(crate) fn page_url(uri: &[u8]) -> &[u8] {
    match uri.first() {
        None | Some(b'h' | b'/') => uri,
        Some(_) => inner_url(uri).unwrap_or(uri),
    }
}

/// The http or https URL after the names of a secondary record.
#[cold]
fn inner_url(uri: &[u8]) -> Option<&[u8]> {
    let scheme_end = uri.find("://")?;
    let names_end = uri[..scheme_end].rfind_byte(b':')?;
    let url = &uri[names_end + 1..];
    let scheme = &uri[names_end + 1..scheme_end];
    if !(scheme.eq_ignore_ascii_case(b"https") || scheme.eq_ignore_ascii_case(b"http")) {
        return None;
    }
    let mut names = uri[..names_end].split_str(":");
    let first = names.next()?;
    let is_secondary = if first.eq_ignore_ascii_case(b"urn") {
        // `urn:` alone has no name.
        names_end > first.len() && names.all(is_name)
    } else {
        SCHEMES
            .iter()
            .any(|scheme| first.eq_ignore_ascii_case(scheme.as_bytes()))
            && names.all(|number| number.iter().all(u8::is_ascii_digit))
    };
    is_secondary.then_some(url)
}

/// Whether a text is a name as crawlers write them after `urn:`.
fn is_name(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The URIs are those of Browsertrix, ArchiveWeb.page, warcit, brozzler and warcprox.
    #[test]
    fn secondary_records_have_the_url_of_their_page() {
        let page = "https://e.example/a?b=http://f.example/";
        for prefix in [
            "urn:pageinfo:",
            "urn:text:",
            "urn:textFinal:",
            "urn:view:",
            "urn:thumbnail:",
            "urn:fullPage:",
            "urn:embeds:",
            "URN:X-a.b:c_1:",
            "screenshot:",
            "thumbnail:",
            "youtube-dl:",
            "youtube-dl:00001:",
        ] {
            for page in [page, "HTTP://e.example"] {
                let uri = format!("{prefix}{page}");
                assert_eq!(page_url(uri.as_bytes()), page.as_bytes(), "{uri}");
            }
        }
        for other in [
            "",
            "urn:",
            "urn:https://e.example/",
            "urn::https://e.example/",
            "urn:uuid:2f1c",
            "urn:text:e.example/",
            "urn:text:ftp://e.example/",
            "urn:a/b:https://e.example/",
            "urn:text:/https://e.example/",
            "screenshot:e:https://e.example/",
            "xscreenshot:https://e.example/",
            "view-source:https://e.example/",
            "blob:https://e.example/",
            "dns:e.example",
            "metadata://gnu.org/software/wget/warc/wget.log",
            "file:///screenshot.png",
            "mailto:a@e.example?b=urn:text:https://e.example/",
            page,
        ] {
            assert_eq!(page_url(other.as_bytes()), other.as_bytes());
        }
    }
}
