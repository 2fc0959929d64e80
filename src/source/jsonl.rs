//! JSON lines: one capture a line, as crawlers without WARC write them.

use super::http::{MAX_KEPT, max_age};
use super::{Answer, Capture, Entry, Response, Sink};
use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::robots::condense::Delivery;
use base64::Engine;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

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
pub(super) fn read<R: Read>(input: &mut BufReader<Decoder<R>>, skip_damaged: bool, sink: &mut Sink<'_>) -> Result<u64> {
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
                if !input.get_mut().resync()? {
                    return Ok(damaged);
                }
            }
            Err(err) => return Err(err),
        }
    }
}

/// The documented form; unknown keys are ignored.
#[derive(Deserialize)]
struct Object {
    url: String,
    status: Option<Status>,
    body: Option<String>,
    body_base64: Option<String>,
    fetched_at: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, HeaderValue>,
    error: Option<String>,
    truncated: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Status {
    Number(u16),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum HeaderValue {
    One(String),
    Many(Vec<String>),
}

impl HeaderValue {
    fn first(&self) -> Option<&str> {
        match self {
            Self::One(value) => Some(value),
            Self::Many(values) => values.first().map(String::as_str),
        }
    }
}

impl Line {
    fn damaged(&self, what: impl std::fmt::Display, skippable: bool) -> Error {
        Error::damaged(self.offset, format!("line {}: {what}", self.number), skippable)
    }

    /// The capture that the line describes.
    pub(super) fn capture(&self) -> Result<Capture> {
        let object: Object = serde_json::from_slice(&self.text).map_err(|err| self.damaged(err, true))?;
        let time = match &object.fetched_at {
            None => None,
            Some(text) => Some(
                parse_time(text.as_bytes())
                    .ok_or_else(|| self.damaged(format!("\"fetched_at\" is not an RFC 3339 time: {text:?}"), true))?,
            ),
        };
        let url = object.url.clone().into_bytes();
        Ok(Capture { url, time, answer: self.answer(object)? })
    }

    fn answer(&self, object: Object) -> Result<Answer> {
        if let Some(error) = object.error.filter(|error| !error.is_empty()) {
            return Ok(Answer::Failed(error));
        }
        let delivery = match object.truncated.as_deref() {
            Some(reason @ ("time" | "disconnect")) => return Ok(Answer::Failed(format!("truncated: {reason}"))),
            Some(_) => Delivery::CutShort,
            None => Delivery::Whole,
        };
        let mut body = match (object.body, object.body_base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(coded)) => base64::engine::general_purpose::STANDARD
                .decode(coded.trim())
                .map_err(|err| self.damaged(format!("\"body_base64\": {err}"), true))?,
            (None, None) => Vec::new(),
        };
        body.truncate(MAX_KEPT);
        let status = match object.status {
            Some(Status::Number(status)) => status,
            Some(Status::Text(text)) => {
                text.trim().parse().map_err(|_| self.damaged(format!("\"status\" is not a number: {text:?}"), true))?
            }
            None => 200,
        };
        let header = |name: &str| {
            object.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).and_then(|(_, value)| value.first())
        };
        let location = header("location").map(|value| value.trim().as_bytes().to_vec());
        let max_age = header("cache-control").and_then(|value| max_age(value.as_bytes()));
        Ok(Answer::Http(Response { status, location, max_age, body, delivery }))
    }
}

/// An RFC 3339 time in seconds since 1970.
pub(super) fn parse_time(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}
