//! JSON lines: one capture a line, as crawlers without WARC write them.

use super::http::{MAX_KEPT, max_age};
use super::{Answer, Capture, Entry, Response, Sink};
use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::robots::condense::Delivery;
use base64::Engine;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// A body of 500 KiB escaped byte for byte stays far below; a longer line is not a capture.
const MAX_LINE: u64 = 64 << 20;

/// One line, not yet parsed.
#[derive(Debug)]
pub(crate) struct Line {
    number: u64,
    offset: u64,
    pub(super) text: Vec<u8>,
}

/// Reads lines to the end; gives the number of damaged places skipped.
pub(super) fn read<R: Read>(input: &mut Decoder<R>, skip_damaged: bool, sink: &mut Sink<'_>) -> Result<u64> {
    let (mut number, mut offset, mut damaged) = (0, 0, 0);
    let mut partial = false;
    loop {
        let mut text = Vec::new();
        match input.by_ref().take(MAX_LINE).read_until(b'\n', &mut text).map_err(Error::from_io) {
            Ok(0) => return Ok(damaged),
            Ok(n) => {
                number += 1;
                let line = Line { number, offset, text };
                offset += n as u64;
                if n as u64 == MAX_LINE {
                    return Err(line.damaged("a line of over 64 MiB", false));
                }
                let wanted = !partial && !line.text.trim_ascii().is_empty();
                partial = false;
                if wanted && !sink(Entry::Jsonl(line)) {
                    return Ok(damaged);
                }
            }
            Err(err) if skip_damaged && err.is_skippable() => {
                damaged += 1;
                // The member that follows may begin inside a line.
                partial = true;
                if !input.resync()? {
                    return Ok(damaged);
                }
            }
            Err(err) => return Err(err),
        }
    }
}

/// The documented form; unknown keys are ignored. What writers differ in is taken as any value and looked at later, so
/// that errors name the key.
#[derive(Deserialize)]
struct Object {
    url: String,
    status: Option<Value>,
    body: Option<String>,
    body_base64: Option<String>,
    fetched_at: Option<String>,
    headers: Option<BTreeMap<String, Value>>,
    error: Option<String>,
    truncated: Option<String>,
}

impl Object {
    /// The status as a number, from a number or a text; what no server can have sent is kept as 0.
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
        let mut headers = self.headers.iter().flatten();
        let Some((key, value)) = headers.find(|(key, _)| key.eq_ignore_ascii_case(name)) else { return Ok(None) };
        let first = match value {
            Value::Array(values) => values.first(),
            value => Some(value),
        };
        match first {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("\"headers\": {key:?} is neither a text nor a list of texts: {value}")),
        }
    }
}

impl Line {
    fn damaged(&self, what: impl std::fmt::Display, skippable: bool) -> Error {
        Error::damaged(self.offset, format!("line {}: {what}", self.number), skippable)
    }

    /// The capture that the line describes.
    pub(super) fn capture(&self) -> Result<Capture> {
        let object: Object =
            serde_json::from_slice(super::without_mark(&self.text)).map_err(|err| self.damaged(err, true))?;
        let time = match &object.fetched_at {
            None => None,
            Some(text) => Some(
                super::parse_time(text.as_bytes())
                    .ok_or_else(|| self.damaged(format!("\"fetched_at\" is not an RFC 3339 time: {text:?}"), true))?,
            ),
        };
        let url = object.url.clone().into_bytes();
        Ok(Capture { url, time, answer: self.answer(object)? })
    }

    fn answer(&self, mut object: Object) -> Result<Answer> {
        if let Some(error) = object.error.take().filter(|error| !error.is_empty()) {
            return Ok(Answer::Failed(error));
        }
        let delivery = match object.truncated.as_deref() {
            Some(reason @ ("time" | "disconnect")) => return Ok(Answer::Failed(format!("truncated: {reason}"))),
            Some(_) => Delivery::CutShort,
            None => Delivery::Whole,
        };
        let body = self.body(&mut object)?;
        let header = |name: &str| object.header(name).map_err(|what| self.damaged(what, true));
        let location = header("location")?.map(|value| value.trim().as_bytes().to_vec());
        let max_age = header("cache-control")?.and_then(|value| max_age(value.as_bytes()));
        let status = match (object.status().map_err(|what| self.damaged(what, true))?, &body) {
            (Some(status), _) => status,
            (None, Some(_)) => 200,
            (None, None) => return Ok(Answer::Failed("neither status nor body nor error is given".to_owned())),
        };
        Ok(Answer::Http(Response { status, location, max_age, body: body.unwrap_or_default(), delivery }))
    }

    fn body(&self, object: &mut Object) -> Result<Option<Bytes>> {
        let mut body = match (object.body.take(), &object.body_base64) {
            (Some(text), _) => Bytes::from(text),
            (None, Some(coded)) => base64::engine::general_purpose::STANDARD
                .decode(coded.trim())
                .map_err(|err| self.damaged(format!("\"body_base64\": {err}"), true))?
                .into(),
            (None, None) => return Ok(None),
        };
        body.truncate(MAX_KEPT);
        Ok(Some(body))
    }
}
