//! JSON lines: one capture per line, for crawlers that do not write WARC.

use super::capture::{Capture, CaptureAnswer, CapturedResponse, is_cut_short};
use super::coded_text::is_coded;
use super::entry_buffer::EntryBuffer;
use super::http::{self, BodyHeaders, Recorder, max_age};
use super::json_values::{Headers, Scalar, body_like_key, failed_status_key};
use super::read_context::{ArchiveDecoder, ReadContext};
use crate::error::{Error, Result};
use crate::file_format::without_mark;
use crate::records::{layout_defect, parse_row_time, time_of_float, time_of_integer};
use base64::Engine;
use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// The longest line. A body of 500 KiB with every byte escaped stays far below.
const MAX_LINE: usize = 64 << 20;

/// One line, not yet parsed.
#[derive(Debug)]
pub(crate) struct JsonlLine {
    number: u64,
    offset: u64,
    pub(super) text: Bytes,
}

/// The lines of a JSONL file that are not blank, one by one.
pub(super) struct JsonlReader<'r> {
    input: ArchiveDecoder<'r>,
    context: &'r ReadContext,
    buffer: EntryBuffer,
    /// The number of the last line, from 1.
    number: u64,
    /// The offset of the next line.
    offset: u64,
    /// After damage, the next gzip member may begin inside a line: skip that line.
    is_partial: bool,
}

impl<'r> JsonlReader<'r> {
    pub(super) fn new(input: ArchiveDecoder<'r>, context: &'r ReadContext) -> Self {
        Self {
            input,
            context,
            buffer: EntryBuffer::default(),
            number: 0,
            offset: 0,
            is_partial: false,
        }
    }

    /// The next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> Result<Option<JsonlLine>> {
        loop {
            self.buffer.begin();
            match self
                .buffer
                .append_line(&mut self.input, MAX_LINE)
                .map_err(Error::from_io)
            {
                Ok(0) => return Ok(None),
                Ok(n) => {
                    self.number += 1;
                    let line = JsonlLine {
                        number: self.number,
                        offset: self.offset,
                        text: self.buffer.take(),
                    };
                    self.offset += n as u64;
                    if n == MAX_LINE {
                        return Err(line.damaged("a line of over 64 MiB", false));
                    }
                    // After damage, the text before the next line end is the rest of a lost line.
                    let is_partial = std::mem::take(&mut self.is_partial);
                    if !is_partial && !line.text.trim_ascii().is_empty() {
                        return Ok(Some(line));
                    }
                }
                Err(err) => {
                    self.context.skip_damage(err)?;
                    self.is_partial = true;
                    if !self.input.resync()? {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

/// The documented form; unknown keys are ignored. Fields that writers format differently accept any
/// value and are checked later, so that errors name the key.
#[derive(Deserialize)]
struct JsonlObject {
    url: String,
    #[serde(default, deserialize_with = "even_null")]
    status: Option<Scalar>,
    #[serde(default, deserialize_with = "even_null")]
    status_code: Option<Scalar>,
    body: Option<String>,
    body_base64: Option<String>,
    content: Option<Scalar>,
    text: Option<Scalar>,
    robots: Option<Scalar>,
    robots_txt: Option<Scalar>,
    fetched_at: Option<Scalar>,
    timestamp: Option<Scalar>,
    headers: Option<Headers>,
    error: Option<String>,
    truncated: Option<String>,
}

/// A value that is there, even `null`: a writer with a status for each line has none for this one.
fn even_null<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Scalar>, D::Error> {
    Scalar::deserialize(input).map(Some)
}

impl JsonlObject {
    /// # Errors
    /// A field that is not of the documented form. A failed fetch is an `Ok` with its cause.
    fn answer(&mut self) -> Result<CaptureAnswer, String> {
        if let Some(error) = self.given_error() {
            return Ok(Err(error.to_owned()));
        }
        let cut_short = match is_cut_short(self.truncated.as_deref().map(str::as_bytes)) {
            Ok(cut_short) => cut_short,
            Err(cause) => return Ok(Err(cause)),
        };
        let location = self
            .header("location")?
            .map(|value| value.trim().as_bytes().to_vec());
        let retry = self.byte_values("retry-after")?.into_iter().next();
        let max_age = max_age(self.byte_values("cache-control")?);
        let body_headers = BodyHeaders::new(
            self.byte_values("content-encoding")?,
            self.byte_values("content-length")?,
            self.byte_values("content-range")?.into_iter().next(),
        );
        let body = self.take_body()?;
        let status = match (self.status()?, &body) {
            (Some(status), _) => status,
            // Tables write an empty text for the body of a failed request.
            (None, Some((body, _))) if body.is_empty() && self.has_null_status() => {
                return Ok(Err("neither a status nor a text".to_owned()));
            }
            (None, Some(_)) => 200,
            (None, None) => {
                return Ok(Err("neither status nor body nor error is given".to_owned()));
            }
        };
        let mut response = CapturedResponse {
            status,
            location,
            max_age,
            retry_after: retry.and_then(|value| http::retry_after(status, &value)),
            ..CapturedResponse::default()
        };
        if !(200..300).contains(&status) {
            return Ok(Ok(response));
        }
        let Some((body, recorder)) = body else {
            // RFC 9110 §15.3.5: only 204 has no body. Any other 2xx had one, and the line lacks it.
            let no_body = Err(NO_BODY.to_owned());
            return Ok(if status == 204 { Ok(response) } else { no_body });
        };
        let decoded = match body_headers.decode(status, &body, recorder, cut_short) {
            Ok(decoded) => decoded,
            Err(cause) => return Ok(Err(cause)),
        };
        response.cut_short = decoded.is_start;
        response.body = match decoded.bytes {
            Cow::Borrowed(bytes) => body.slice_ref(bytes),
            Cow::Owned(bytes) => bytes.into(),
        };
        Ok(Ok(response))
    }

    /// The body, and how it was recorded.
    fn take_body(&mut self) -> Result<Option<(Bytes, Recorder)>, String> {
        let other = [
            &mut self.content,
            &mut self.text,
            &mut self.robots,
            &mut self.robots_txt,
        ];
        let other = other.into_iter().find_map(|value| match value.take() {
            Some(Scalar::Text(text)) => Some(text),
            _ => None,
        });
        Ok(match (self.body.take(), &self.body_base64, other) {
            (Some(text), ..) | (None, None, Some(text)) => {
                Some((Bytes::from(text), Recorder::ClientText))
            }
            (None, Some(coded), _) => {
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(coded.trim())
                    .map_err(|err| format!("\"body_base64\": {err}"))?;
                Some((bytes.into(), Recorder::Client))
            }
            (None, None, None) => None,
        })
    }

    /// The cause of a failed request.
    fn given_error(&self) -> Option<&str> {
        self.error.as_deref().filter(|error| !error.is_empty())
    }

    /// The key and the value of the status; `None` if there is none.
    fn given_status(&self) -> Option<(&'static str, &Scalar)> {
        let keys = [("status", &self.status), ("status_code", &self.status_code)];
        let mut given = keys
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.as_ref()?)));
        given.find(|(_, value)| !value.is_missing())
    }

    /// Whether the line has a key for the status, but none that is given.
    fn has_null_status(&self) -> bool {
        self.given_status().is_none() && (self.status.is_some() || self.status_code.is_some())
    }

    /// The status, from a number or a string.
    fn status(&self) -> Result<Option<u16>, String> {
        let Some((key, value)) = self.given_status() else {
            return Ok(None);
        };
        let status = value.whole().and_then(|number| u16::try_from(number).ok());
        let status = status.ok_or_else(|| format!("\"{key}\" is not an HTTP status: {value}"))?;
        Ok(Some(status))
    }

    /// The time of the request, in seconds since 1970.
    fn time(&self) -> Result<Option<i64>, String> {
        let keys = [
            ("fetched_at", &self.fetched_at),
            ("timestamp", &self.timestamp),
        ];
        let mut given = keys
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.as_ref()?)));
        let Some((key, value)) = given.find(|(_, value)| !value.is_missing()) else {
            return Ok(None);
        };
        let time = time_of(value).ok_or_else(|| {
            format!(
                "\"{key}\" is not a time, such as 2026-01-31T12:00:00Z or seconds since 1970: {value}"
            )
        })?;
        Ok(Some(time))
    }

    /// The (first) value of a header.
    fn header(&self, name: &str) -> Result<Option<Cow<'_, str>>, String> {
        self.values(name).next().transpose()
    }

    /// The values of all headers with this name, as bytes.
    fn byte_values(&self, name: &str) -> Result<Vec<Vec<u8>>, String> {
        self.values(name)
            .map(|value| value.map(|value| value.into_owned().into_bytes()))
            .collect()
    }

    /// The values of all headers with this name. A number counts as its text, but no URL is one.
    fn values(&self, name: &str) -> impl Iterator<Item = Result<Cow<'_, str>, String>> {
        let headers = self.headers.iter().flat_map(|Headers(all)| all);
        let named = headers.filter(move |(key, _)| key.eq_ignore_ascii_case(name));
        named.flat_map(move |(key, values)| {
            let values = values.iter().filter(|value| !matches!(value, Scalar::Null));
            values.map(move |value| match value {
                Scalar::Text(text) => Ok(Cow::Borrowed(text.as_str())),
                Scalar::Number(number) if name != "location" => Ok(Cow::Owned(number.to_string())),
                other => Err(format!(
                    "\"headers\": {key:?} is neither a text, a number, nor a list of these: {other}"
                )),
            })
        })
    }
}

/// The failure of a line with a 2xx status and no body: an empty robots.txt would allow everything.
const NO_BODY: &str = "a 2xx status without a body";

/// A time in seconds since 1970: a text as [`parse_row_time`] reads it, seconds, or a number of so many
/// digits that it counts smaller units or is `YYYYMMDDhhmmss`.
fn time_of(value: &Scalar) -> Option<i64> {
    match value {
        Scalar::Text(text) => parse_row_time(text.as_bytes()),
        Scalar::Number(number) => match number.as_i64() {
            Some(whole) if jiff::Timestamp::from_second(whole).is_ok() => Some(whole),
            Some(whole) => time_of_integer(whole),
            None => time_of_float(number.as_f64()?),
        },
        _ => None,
    }
}

/// The parser's message with the column. Its line number is cut off, because the parser sees one
/// line only.
fn message_with_column(err: &serde_json::Error) -> String {
    let message = err.to_string();
    let position = format!(" at line {} column {}", err.line(), err.column());
    match message.strip_suffix(&position) {
        Some(what) if err.column() > 0 => format!("{what} at column {}", err.column()),
        Some(what) => what.to_owned(),
        None => message,
    }
}

fn parse(line: &[u8]) -> Result<Capture, String> {
    let mut object: JsonlObject =
        serde_json::from_slice(line).map_err(|err| message_with_column(&err))?;
    let time = object.time()?;
    // Without a status, a body counts as that of a 200.
    if object.given_status().is_none()
        && object.given_error().is_none()
        && let Some((key, value)) = failed_status_key(line)
    {
        return Err(format!(
            "no \"status\", but {key:?} is {value}; name it \"status\""
        ));
    }
    let answer = object.answer()?;
    let has_coded_text = answer
        .as_ref()
        .is_ok_and(|response| is_coded(&response.body));
    let unread_key = if answer.as_ref().is_err_and(|cause| cause == NO_BODY) {
        body_like_key(line)
    } else {
        None
    };
    Ok(Capture {
        url: object.url.into_bytes(),
        time,
        answer,
        unread_key,
        has_coded_text,
    })
}

impl JsonlLine {
    fn damaged(&self, what: impl std::fmt::Display, skippable: bool) -> Error {
        Error::damaged(
            self.offset,
            format!("line {}: {what}", self.number),
            skippable,
        )
    }

    pub(super) fn capture(&self) -> Result<Capture> {
        let text = without_mark(&self.text);
        parse(text).map_err(|what| self.damaged(layout_defect(text).unwrap_or(what), true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::capture::RetryAfter;

    fn answer(line: &str) -> CaptureAnswer {
        parse(line.as_bytes()).unwrap().answer
    }

    #[test]
    fn retry_after_is_read_from_headers() {
        for (value, expected) in [
            (r#""120""#, Some(RetryAfter::Seconds(120))),
            ("120", Some(RetryAfter::Seconds(120))),
            (r#"["120", "7"]"#, Some(RetryAfter::Seconds(120))),
            (
                r#""Sun, 06 Nov 1994 08:49:37 GMT""#,
                Some(RetryAfter::At(784_111_777)),
            ),
            ("null", None),
            ("1.5", None),
        ] {
            let line = |status: u16| {
                format!(r#"{{"url":"u","status":{status},"headers":{{"Retry-After":{value}}}}}"#)
            };
            assert_eq!(answer(&line(503)).unwrap().retry_after, expected, "{value}");
            assert_eq!(answer(&line(404)).unwrap().retry_after, None, "{value}");
        }
    }

    /// RFC 9112 §8. HTTP clients remove codings, and convert texts to Unicode.
    #[test]
    fn bodies_shorter_than_their_length_are_failures() {
        let is_ok = |length: &str, more: &str, key: &str, body: &str| {
            let line = format!(
                r#"{{"url":"u","status":200,"headers":{{"Content-Length":{length}{more}}},"{key}":"{body}"}}"#
            );
            answer(&line).is_ok()
        };
        let text = |length: &str, body: &str| is_ok(length, "", "body", body);
        let long = "#".repeat(256);
        for (length, body, expected) in [
            ("5000", "user-agent: *", false),
            (r#""5000""#, "user-agent: *", false),
            (r#"["9", "5000"]"#, "user-agent: *", false),
            ("5000", "", false),
            ("26", "", false),
            ("0", "", true),
            ("13", "user-agent: *", true),
            ("10", "user-agent: *", true),
            // A line end at the end that is removed.
            ("2", "", true),
            ("258", &long, true),
            ("264", &long, false),
            // A byte order mark is removed, and UTF-16 becomes half as long.
            ("259", &long, true),
            ("512", &long, true),
            ("514", &long, true),
            ("515", &long, false),
            ("511", &long, false),
            // Scrapy removes the name of a coding, but not the length of the coded body.
            ("45", "user-agent: *\\ndisallow:", true),
            ("95", "user-agent: *\\ndisallow:", false),
            ("null", "user-agent: *", true),
            (r#""x""#, "user-agent: *", true),
        ] {
            assert_eq!(text(length, body), expected, "{length} {}", body.len());
        }
        // Eight letters of Cyrillic take 8 bytes in windows-1251, 16 in UTF-8 and in UTF-16.
        assert!(text(
            "8",
            "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}\u{44b}\u{439}"
        ));
        // Bytes: "user-agent: *", and 256 of them.
        let coded = |length: &str, body: &[u8]| {
            let body = base64::engine::general_purpose::STANDARD.encode(body);
            is_ok(length, "", "body_base64", &body)
        };
        assert!(coded("13", b"user-agent: *") && coded("45", b"user-agent: *"));
        assert!(!coded("5000", b"user-agent: *") && !coded("26", b""));
        assert!(coded("256", long.as_bytes()) && !coded("257", long.as_bytes()));
        // With the name of a coding, the length is that of the coded body, as in a WARC record.
        let gzip = r#","content-encoding":"gzip""#;
        assert!(is_ok("60", gzip, "body", "user-agent: *") && is_ok("20", gzip, "body", ""));
        assert!(!is_ok("5000", gzip, "body", "user-agent: *"));
        assert!(!is_ok("26", gzip, "body", ""));
        // Other statuses need no body.
        let not_found = r#"{"url":"u","status":404,"headers":{"Content-Length":5000}}"#;
        assert_eq!(answer(not_found).unwrap().status, 404);
    }

    /// A client without a decoder returns the coded bytes, as text.
    #[test]
    fn texts_made_of_coded_bytes_are_failures() {
        let line = |coding: &str, text: &str| {
            let headers = serde_json::json!({"content-encoding": coding});
            serde_json::json!({"url": "u", "body": text, "headers": headers}).to_string()
        };
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, b"user-agent: *\ndisallow: /x").unwrap();
        let bytes = gzip.finish().unwrap();
        let latin: String = bytes.iter().map(|&b| char::from(b)).collect();
        for text in [&latin, &String::from_utf8_lossy(&bytes).into_owned()] {
            for coding in ["gzip", "br", "zstd", "deflate"] {
                assert!(answer(&line(coding, text)).is_err(), "{coding} {text:?}");
            }
        }
        assert!(answer(&line("gzip", "user-agent: *")).is_ok());
    }

    #[test]
    fn cache_control_may_be_a_list() {
        for (value, expected) in [
            (r#"["public", "max-age=60"]"#, Some(60)),
            (r#"["max-age=1", "max-age=60"]"#, Some(1)),
            (r#""public, max-age=60""#, Some(60)),
            (r#"[]"#, None),
        ] {
            let line =
                format!(r#"{{"url":"u","status":404,"headers":{{"Cache-Control":{value}}}}}"#);
            assert_eq!(answer(&line).unwrap().max_age, expected, "{value}");
        }
    }
}
