//! The head of a response: where it ends, its status, and the header fields that decide an outcome.
//!
//! Comparing the names of fields with each line before its colon is searched took 2 % more
//! instructions.

use super::field_values::{max_age, retry_after};
use super::fields::{fields, name_and_value, unfolded};
use crate::archive::capture::CapturedResponse;
use crate::bytes::trim;
use bstr::ByteSlice;
use std::borrow::Cow;

/// The longest head of a response. With it, a WARC record of which 1 MiB is kept has all of a body
/// that counts. Real heads have a few KB.
const MAX_HEAD: usize = 1 << 19;

/// A response that is cut into head and body.
pub(super) struct SplitResponse<'b> {
    pub status: u16,
    /// The lines from the status line through the blank line.
    pub head: &'b [u8],
    /// Whether the blank line is there, within [`MAX_HEAD`] bytes.
    pub is_whole: bool,
    pub body: &'b [u8],
}

impl<'b> SplitResponse<'b> {
    /// Splits the final response: interim ones (RFC 9110 §15.2) may precede it. `None` if the block
    /// does not begin with a status line.
    pub(super) fn of(block: &'b [u8]) -> Option<Self> {
        let mut rest = block;
        loop {
            let (head, body) = rest.split_at(head_len(rest));
            let status = status_of(head)?;
            if is_interim(status) && status_of(body).is_some() {
                rest = body;
                continue;
            }
            let has_blank_line = head.ends_with(b"\n\n") || head.ends_with(b"\n\r\n");
            return Some(Self {
                status,
                head,
                is_whole: has_blank_line && block.len() - body.len() <= MAX_HEAD,
                body,
            });
        }
    }

    /// The response without its body, given the fields of its head.
    pub(super) fn without_body(&self, headers: &ResponseHeaders<'_>) -> CapturedResponse {
        let retry = headers.retry_after.as_deref();
        CapturedResponse {
            status: self.status,
            location: headers.location.as_deref().map(<[u8]>::to_vec),
            max_age: max_age(&headers.cache_control),
            retry_after: retry.and_then(|value| retry_after(self.status, value)),
            ..CapturedResponse::default()
        }
    }
}

/// Whether another response follows one of this status. 101 is final: another protocol follows.
fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

/// The length of the head, from the status line through the blank line; the body follows.
fn head_len(block: &[u8]) -> usize {
    let mut at = 0;
    for line in block.lines_with_terminator() {
        at += line.len();
        if line == b"\n" || line == b"\r\n" {
            break;
        }
    }
    at
}

/// The status in the first line of a head, `HTTP/1.1 200 OK`.
pub(crate) fn status_of(head: &[u8]) -> Option<u16> {
    let line = head.split(|&b| b == b'\n').next()?;
    let rest = line
        .strip_prefix(b"HTTP/")
        .or_else(|| line.strip_prefix(b"http/"))?;
    let code = rest
        .split(|&b| b == b' ')
        .filter(|word| !word.is_empty())
        .nth(1)?;
    std::str::from_utf8(trim(code))
        .ok()?
        .parse()
        .ok()
        .filter(|status| (100..1000).contains(status))
}

/// The fields of a response that decide an outcome, found in one pass. Those that are lists may be
/// in several lines (RFC 9110 §5.3).
#[derive(Default)]
pub(super) struct ResponseHeaders<'h> {
    pub location: Option<Cow<'h, [u8]>>,
    pub retry_after: Option<Cow<'h, [u8]>>,
    pub cache_control: Vec<Cow<'h, [u8]>>,
    pub content_encoding: Vec<Cow<'h, [u8]>>,
    pub transfer_encoding: Vec<Cow<'h, [u8]>>,
    pub content_length: Vec<Cow<'h, [u8]>>,
    pub content_range: Option<Cow<'h, [u8]>>,
}

impl<'h> ResponseHeaders<'h> {
    pub(super) fn of(head: &'h [u8]) -> Self {
        let mut found = Self::default();
        for (name, value) in fields(head) {
            let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
            // Few names have one of these lengths, so most are dismissed by it.
            match name.len() {
                8 if is(b"Location") => {
                    found.location.get_or_insert_with(|| unfolded(value));
                }
                11 if is(b"Retry-After") => {
                    found.retry_after.get_or_insert_with(|| unfolded(value));
                }
                13 if is(b"Cache-Control") => found.cache_control.push(unfolded(value)),
                13 if is(b"Content-Range") => {
                    found.content_range.get_or_insert_with(|| unfolded(value));
                }
                14 if is(b"Content-Length") => found.content_length.push(unfolded(value)),
                16 if is(b"Content-Encoding") => found.content_encoding.push(unfolded(value)),
                17 if is(b"Transfer-Encoding") => found.transfer_encoding.push(unfolded(value)),
                _ => {}
            }
        }
        found
    }
}

/// The header fields of the final HTTP response in `block`, in their order; none if there is no
/// response.
///
/// A line that begins with a blank continues the value of the line before it (RFC 9112 §5.2). A
/// last line without its end may be cut, so it is left out.
pub(crate) fn response_fields(block: &[u8]) -> Vec<(&[u8], Cow<'_, [u8]>)> {
    let mut fields: Vec<(&[u8], Cow<'_, [u8]>)> = Vec::new();
    let Some(response) = SplitResponse::of(block) else {
        return fields;
    };
    // Whether the line before is a field, whose value a line with a leading blank continues.
    let mut is_field = false;
    let lines = response
        .head
        .lines_with_terminator()
        .skip(1)
        .take_while(|line| line.ends_with(b"\n") && *line != b"\n" && *line != b"\r\n");
    for line in lines {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if let (true, Some((_, value))) = (is_field, fields.last_mut()) {
                let value = value.to_mut();
                value.push(b' ');
                value.extend_from_slice(trim(line));
            }
            continue;
        }
        let field = name_and_value(line);
        is_field = field.is_some();
        fields.extend(field.map(|(name, value)| (name, Cow::Borrowed(value))));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::http::{parse, parse_head};

    #[test]
    fn fields_of_a_response_are_unfolded_and_whole() {
        let fields = |block: &str| -> Vec<String> {
            let fields = response_fields(block.as_bytes());
            let shown = fields
                .iter()
                .map(|(name, value)| format!("{}={}", name.as_bstr(), value.as_bstr()));
            shown.collect()
        };
        let head =
            "HTTP/1.1 200 OK\r\n folded: 0\r\nA: 1\r\nb : 2 \r\n\t3\n 4\r\nnoise\r\n 5\r\na: 6\r\n";
        assert_eq!(
            fields(&format!("{head}\r\nA: 7\r\n")),
            ["A=1", "b=2 3 4", "a=6"]
        );
        assert_eq!(fields(&format!("{head}cut: 7")), ["A=1", "b=2 3 4", "a=6"]);
        for block in [
            "",
            "HTTP/1.1 200",
            "A: 1\r\n\r\n",
            "GET / HTTP/1.1\r\nA: 1\r\n\r\n",
        ] {
            assert!(fields(block).is_empty(), "{block:?}");
        }
    }

    /// RFC 9110 §15.2.
    #[test]
    fn interim_responses_are_skipped() {
        let last = "HTTP/1.1 200 OK\r\nA: 2\r\n\r\nuser-agent: *";
        for interim in [
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nA: 1\r\nLocation: /x\r\n\r\nHTTP/1.1 102 x\r\n\r\n",
        ] {
            let block = format!("{interim}{last}");
            let response = parse(block.clone().into(), false).unwrap();
            assert_eq!(
                (response.status, &response.body[..]),
                (200, &b"user-agent: *"[..])
            );
            assert_eq!(response.location, None);
            assert_eq!(
                response_fields(block.as_bytes()),
                [(&b"A"[..], Cow::Borrowed(&b"2"[..]))]
            );
        }
        for (block, status) in [
            ("HTTP/1.1 100 Continue\r\n\r\n".to_owned(), 100),
            ("HTTP/1.1 100 Continue\r\n\r\n<html>".to_owned(), 100),
            (
                format!("HTTP/1.1 101 Switching Protocols\r\n\r\n{last}"),
                101,
            ),
        ] {
            assert_eq!(parse(block.into(), false).unwrap().status, status);
        }
        assert!(
            parse(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n".into(),
                false
            )
            .is_err()
        );
    }

    /// RFC 9112 §8: without its blank line, a head may lack the headers that give the status its
    /// meaning.
    #[test]
    fn cut_heads_of_successes_and_redirects_are_failures() {
        let long = |len: usize| format!("X: {}\r\n\r\n", "x".repeat(len));
        for (status, is_answer) in [
            (200, false),
            (204, false),
            (301, false),
            (304, true),
            (404, true),
            (503, true),
        ] {
            for (rest, is_whole) in [
                ("", false),
                (" OK", false),
                (" OK\r\n", false),
                (" OK\r\nContent-Ty", false),
                (" OK\r\nA: b\r\n", false),
                (" OK\r\nA: b\r\n\r", false),
                (" OK\r\nA: b\r\n\r\n", true),
                (" OK\n\n", true),
                (&format!(" OK\r\n{}", long(MAX_HEAD - 40)), true),
                (&format!(" OK\r\n{}", long(MAX_HEAD)), false),
            ] {
                let block = format!("HTTP/1.1 {status}{rest}");
                for cut_short in [false, true] {
                    // Where the archive kept nothing of a body, there are no rules either.
                    let has_no_body = cut_short && (200..300).contains(&status);
                    let found = parse(block.clone().into(), cut_short);
                    let expected = is_answer || is_whole && !has_no_body;
                    assert_eq!(
                        found.is_ok(),
                        expected,
                        "{status} {:?}",
                        &rest[..rest.len().min(30)]
                    );
                }
                assert_eq!(parse_head(block.as_bytes()).unwrap().status, status);
            }
        }
    }
}
