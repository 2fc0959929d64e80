//! JSON lines: one capture per line, for crawlers that do not write WARC.

use super::capture::{Capture, CaptureAnswer, CapturedResponse, parse_time};
use super::http::{self, MAX_KEPT, max_age};
use super::meter::ReadStats;
use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::file_format::without_mark;
use crate::robots::condense::Delivery;
use base64::Engine;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// The longest line. A body of 500 KiB with every byte escaped stays far below.
const MAX_LINE: u64 = 64 << 20;

/// One line, not yet parsed.
#[derive(Debug)]
pub(crate) struct JsonlLine {
    number: u64,
    offset: u64,
    pub(super) text: Vec<u8>,
}

/// The lines of a JSONL file that are not blank, one by one.
pub(super) struct JsonlReader<R: Read> {
    input: Decoder<R>,
    skip_damaged: bool,
    damaged: u64,
    /// The number of the last line, from 1.
    number: u64,
    /// The offset of the next line.
    offset: u64,
    /// After damage, the next gzip member may begin inside a line: skip that line.
    is_partial: bool,
}

impl<R: Read> JsonlReader<R> {
    pub(super) fn new(input: Decoder<R>, skip_damaged: bool) -> Self {
        Self { input, skip_damaged, damaged: 0, number: 0, offset: 0, is_partial: false }
    }

    pub(super) fn stats(&self) -> ReadStats {
        ReadStats { bytes: self.input.bytes_read(), damaged: self.damaged }
    }

    /// The next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> Result<Option<JsonlLine>> {
        loop {
            let mut text = Vec::new();
            match self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut text).map_err(Error::from_io) {
                Ok(0) => return Ok(None),
                Ok(n) => {
                    self.number += 1;
                    let line = JsonlLine { number: self.number, offset: self.offset, text };
                    self.offset += n as u64;
                    if n as u64 == MAX_LINE {
                        return Err(line.damaged("a line of over 64 MiB", false));
                    }
                    let is_partial = std::mem::take(&mut self.is_partial);
                    if !is_partial && !line.text.trim_ascii().is_empty() {
                        return Ok(Some(line));
                    }
                }
                Err(err) if self.skip_damaged && err.is_skippable() => {
                    self.damaged += 1;
                    self.is_partial = true;
                    if !self.input.resync()? {
                        return Ok(None);
                    }
                }
                Err(err) => return Err(err),
            }
        }
    }
}

/// The documented form; unknown keys are ignored. Fields that writers format differently accept any
/// value and are checked later, so that errors name the key.
#[derive(Deserialize)]
struct JsonlObject {
    url: String,
    status: Option<Value>,
    body: Option<String>,
    body_base64: Option<String>,
    content: Option<Value>,
    text: Option<Value>,
    robots: Option<Value>,
    fetched_at: Option<Value>,
    headers: Option<BTreeMap<String, Value>>,
    error: Option<String>,
    truncated: Option<String>,
}

/// Parts of key names that may hold a body.
const BODY_NAMES: &[&str] = &["body", "content", "text", "robots", "payload", "html", "raw"];

/// Fields of a robots.txt; most bodies have one of them.
const BODY_FIELDS: &[&str] = &["user-agent:", "disallow:", "allow:", "sitemap:"];

/// In a line without a body, a key that looks like the body, by its name or its value.
fn body_like_key(line: &[u8]) -> Option<String> {
    let object: serde_json::Map<String, Value> = serde_json::from_slice(line).ok()?;
    let has = |text: &str, parts: &[&str]| {
        let text = text.to_ascii_lowercase();
        parts.iter().any(|part| text.contains(part))
    };
    let mut texts = object.iter().filter_map(|(key, value)| value.as_str().map(|text| (key, text)));
    let is_known = |key: &str| ["url", "status", "fetched_at", "error", "truncated"].contains(&key);
    let found = texts.find(|(key, text)| !is_known(key) && (has(key, BODY_NAMES) || has(text, BODY_FIELDS)));
    found.map(|(key, _)| key.clone())
}

impl JsonlObject {
    /// The status, from a number or a string.
    fn status(&self) -> Result<Option<u16>, String> {
        let Some(value) = &self.status else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number {
            Some(status) if status.fract() == 0.0 && (0.0..=f64::from(u16::MAX)).contains(&status) => {
                Ok(Some(status as u16))
            }
            _ => Err(format!("\"status\" is not an HTTP status: {value}")),
        }
    }

    /// The (first) value of a header.
    fn header(&self, name: &str) -> Result<Option<&str>, String> {
        self.values(name).next().transpose()
    }

    /// The values of all headers with this name.
    fn values(&self, name: &str) -> impl Iterator<Item = Result<&str, String>> {
        let headers = self.headers.iter().flatten().filter(move |(key, _)| key.eq_ignore_ascii_case(name));
        headers.flat_map(|(key, value)| {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            values.iter().filter(|value| !value.is_null()).map(move |one| {
                let wrong = || format!("\"headers\": {key:?} is neither a text nor a list of texts: {value}");
                one.as_str().ok_or_else(wrong)
            })
        })
    }
}

/// The answer of a line with a 2xx status and no body. It is a failure, because an empty robots.txt
/// would allow everything.
fn no_body() -> CaptureAnswer {
    CaptureAnswer::Failed("a 2xx status without a body".to_owned())
}

/// The time of `fetched_at`: RFC 3339, or whole seconds since 1970.
fn time_of(value: &Value) -> Result<i64, String> {
    let time = match value {
        Value::String(text) => parse_time(text.as_bytes()),
        // Milliseconds exceed the last representable year.
        Value::Number(number) => number.as_i64().filter(|&seconds| jiff::Timestamp::from_second(seconds).is_ok()),
        _ => None,
    };
    time.ok_or_else(|| format!("\"fetched_at\" is neither an RFC 3339 time nor whole seconds since 1970: {value}"))
}

/// The parser's message with the column. Its line number is cut off, because the parser sees one
/// line only.
fn message_with_column(err: &serde_json::Error) -> String {
    let message = err.to_string();
    let place = format!(" at line {} column {}", err.line(), err.column());
    match message.strip_suffix(&place) {
        Some(what) if err.column() > 0 => format!("{what} at column {}", err.column()),
        Some(what) => what.to_owned(),
        None => message,
    }
}

impl JsonlLine {
    fn damaged(&self, what: impl std::fmt::Display, skippable: bool) -> Error {
        Error::damaged(self.offset, format!("line {}: {what}", self.number), skippable)
    }

    /// The capture in the line.
    pub(super) fn capture(&self) -> Result<Capture> {
        let text = without_mark(&self.text);
        let object: JsonlObject =
            serde_json::from_slice(text).map_err(|err| self.damaged(message_with_column(&err), true))?;
        let time = match &object.fetched_at {
            None | Some(Value::Null) => None,
            Some(value) => Some(time_of(value).map_err(|what| self.damaged(what, true))?),
        };
        let url = object.url.clone().into_bytes();
        let answer = self.answer(object)?;
        let unread_key = if answer == no_body() { body_like_key(text) } else { None };
        Ok(Capture { url, time, answer, unread_key })
    }

    fn answer(&self, mut object: JsonlObject) -> Result<CaptureAnswer> {
        if let Some(error) = object.error.take().filter(|error| !error.is_empty()) {
            return Ok(CaptureAnswer::Failed(error));
        }
        let delivery = match object.truncated.as_deref().map(str::to_ascii_lowercase).as_deref() {
            Some(reason @ ("time" | "disconnect")) => return Ok(CaptureAnswer::Failed(format!("truncated: {reason}"))),
            Some(_) => Delivery::CutShort,
            None => Delivery::Whole,
        };
        let mut body = self.body(&mut object)?;
        if let Some(coded) = &body
            && object.body_base64.is_some()
            && !http::is_text(coded)
        {
            // Crawlers that store bytes may store them before content decoding.
            let values = object.values("content-encoding").collect::<Result<Vec<_>, _>>();
            let codings = http::codings(values.map_err(|what| self.damaged(what, true))?, []);
            match http::decode_all(&codings, coded, delivery == Delivery::CutShort) {
                Ok(plain) => body = Some(plain.into()),
                Err(what) => return Ok(CaptureAnswer::Failed(what)),
            }
        }
        let header = |name: &str| object.header(name).map_err(|what| self.damaged(what, true));
        let location = header("location")?.map(|value| value.trim().as_bytes().to_vec());
        let max_age = header("cache-control")?.and_then(|value| max_age(value.as_bytes()));
        let status = match (object.status().map_err(|what| self.damaged(what, true))?, &body) {
            (Some(status), _) => status,
            (None, Some(_)) => 200,
            (None, None) => return Ok(CaptureAnswer::Failed("neither status nor body nor error is given".to_owned())),
        };
        // RFC 9110 §15.3.5: only 204 has no body. Any other 2xx had one, and the line lacks it.
        if body.is_none() && (200..300).contains(&status) && status != 204 {
            return Ok(no_body());
        }
        let mut body = body.unwrap_or_default();
        body.truncate(MAX_KEPT);
        Ok(CaptureAnswer::Http(CapturedResponse { status, location, max_age, body, delivery }))
    }

    fn body(&self, object: &mut JsonlObject) -> Result<Option<Bytes>> {
        let other = [&mut object.content, &mut object.text, &mut object.robots];
        let other = other.into_iter().find_map(|value| match value.take() {
            Some(Value::String(text)) => Some(text),
            _ => None,
        });
        Ok(match (object.body.take(), &object.body_base64, other) {
            (Some(text), ..) | (None, None, Some(text)) => Some(Bytes::from(text)),
            (None, Some(coded), _) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(coded.trim());
                Some(bytes.map_err(|err| self.damaged(format!("\"body_base64\": {err}"), true))?.into())
            }
            (None, None, None) => None,
        })
    }
}
