//! Entries of an offset index (CDXJ), as pywb and cdxj-indexer write them: sort key, timestamp, and
//! a JSON object of strings.

use crate::archive::http::{headers, status_of};
use crate::warc::block::target_of;
use crate::warc::surt::sort_key;
use bstr::ByteSlice;
use serde_json::Value;
use std::io::Write;

/// Types of records that an index has. A `request` is found through its response, and `warcinfo`
/// has no URL.
const INDEXED: &[&[u8]] = &[
    b"response",
    b"revisit",
    b"resource",
    b"metadata",
    b"conversion",
];

/// Writes the entry of a record without its length, its offset and its file name. Writes nothing
/// for a record that an index has no entry for.
pub(super) fn write_entry(head: &[u8], sample: &[u8], out: &mut Vec<u8>) {
    let names = [
        "WARC-Type",
        "WARC-Date",
        "Content-Type",
        "WARC-Payload-Digest",
    ];
    let [kind, date, content_type, digest] = headers(head, names);
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    if !INDEXED.contains(&&*kind) || is_about_crawl(&kind, content_type) {
        return;
    }
    // The MIME type of a response is that of its page, which the HTTP head names. The record itself
    // has the type `application/http`.
    let is_http = matches!(&*kind, b"response" | b"revisit");
    let status = if is_http { status_of(sample) } else { None };
    let [http_type] = headers(http_head(sample), ["Content-Type"]);
    let mime = match &*kind {
        b"revisit" => Some(b"warc/revisit".as_slice()),
        b"response" if status.is_some() => http_type.map(media_type),
        _ => content_type.map(media_type),
    };
    let url = target_of(head);
    out.extend_from_slice(&sort_key(url));
    out.push(b' ');
    out.extend_from_slice(&timestamp(date.unwrap_or_default()));
    out.extend_from_slice(b" {");
    let status = status.map(|status| status.to_string());
    let fields = [
        ("url", Some(url)),
        ("mime", mime.filter(|mime| !mime.is_empty())),
        ("status", status.as_deref().map(str::as_bytes)),
        ("digest", digest),
    ];
    for (key, value) in fields {
        if let Some(value) = value {
            let _ = write!(out, "\"{key}\": {}, ", Value::from(value.to_str_lossy()));
        }
    }
}

/// The end of each entry of an index of the file with this name.
pub(super) fn entry_end(file_name: &str) -> String {
    format!("\"filename\": {}}}", Value::from(file_name))
}

/// Whether a record describes the crawl, as those of wget and Heritrix, and no page.
fn is_about_crawl(kind: &[u8], content_type: Option<&[u8]>) -> bool {
    let is_fields =
        content_type.is_some_and(|value| value.eq_ignore_ascii_case(b"application/warc-fields"));
    is_fields && matches!(kind, b"resource" | b"metadata")
}

/// The head of an HTTP response: the lines before the first blank one.
fn http_head(sample: &[u8]) -> &[u8] {
    let end = [b"\r\n\r\n".as_slice(), b"\n\n"]
        .iter()
        .filter_map(|blank| sample.find(blank))
        .min();
    &sample[..end.unwrap_or(sample.len())]
}

/// A media type without its parameters.
fn media_type(value: &[u8]) -> &[u8] {
    let end = value
        .iter()
        .position(|b| b" \t;".contains(b))
        .unwrap_or(value.len());
    &value[..end]
}

/// The 14 digits of `WARC-Date`. Missing ones are those of the first second.
fn timestamp(date: &[u8]) -> [u8; 14] {
    let mut digits = *b"00000101000000";
    let given = date.iter().filter(|b| b.is_ascii_digit());
    digits
        .iter_mut()
        .zip(given)
        .for_each(|(digit, given)| *digit = *given);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(head: &str, sample: &str) -> String {
        let mut out = Vec::new();
        write_entry(head.as_bytes(), sample.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn entries_have_the_fields_of_their_type() {
        let head = |kind: &str, more: &str| {
            format!(
                "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: <https://a.example/B>\r\n\
                 WARC-Date: 2024-05-06T07:08:09.5Z\r\n{more}\r\n"
            )
        };
        let http = "HTTP/1.1 404 Not Found\r\n\
                    Content-Type: text/html; charset=utf-8\r\n\r\n\
                    Content-Type: x";
        let start = "example,a)/b 20240506070809 {\"url\": \"https://a.example/B\", ";
        let digest = "Content-Type: application/http\r\nWARC-Payload-Digest: sha1:ABC\r\n";
        let html = "\"mime\": \"text/html\", \"status\": \"404\", ";
        assert_eq!(
            entry(&head("response", digest), http),
            format!("{start}{html}\"digest\": \"sha1:ABC\", ")
        );
        let revisit = "\"mime\": \"warc/revisit\", \"status\": \"404\", ";
        assert_eq!(
            entry(&head("Revisit", ""), http),
            format!("{start}{revisit}")
        );
        let json = head("metadata", "Content-Type: application/json\r\n");
        assert_eq!(
            entry(&json, "{}"),
            format!("{start}\"mime\": \"application/json\", ")
        );
        let text = head("conversion", "Content-Type: text/plain\r\n");
        assert_eq!(
            entry(&text, "HTTP/1.1 200"),
            format!("{start}\"mime\": \"text/plain\", ")
        );
        let fields = head("metadata", "Content-Type: application/warc-fields\r\n");
        for left_out in [fields, head("request", ""), head("warcinfo", "")] {
            assert_eq!(entry(&left_out, http), "");
        }
    }

    #[test]
    fn dates_become_14_digits() {
        for (date, expected) in [
            ("2024-05-06T07:08:09Z", b"20240506070809"),
            ("2024-05-06T07:08:09.123456Z", b"20240506070809"),
            ("2024-05", b"20240501000000"),
            ("", b"00000101000000"),
        ] {
            assert_eq!(&timestamp(date.as_bytes()), expected, "{date}");
        }
    }
}
