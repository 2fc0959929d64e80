//! JSON lines: one capture per line, for crawlers that do not write WARC.

use super::capture::{Capture, CaptureAnswer, CapturedResponse, is_cut_short};
use super::capture_time::parse_time;
use super::http::{self, MAX_KEPT, max_age};
use super::json_values::{Headers, Scalar, body_like_key};
use super::read_context::{MeteredReader, ReadContext};
use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::file_format::without_mark;
use base64::Engine;
use bytes::Bytes;
use serde::Deserialize;
use std::borrow::Cow;
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
pub(super) struct JsonlReader<'r> {
    input: Decoder<MeteredReader<'r>>,
    context: &'r ReadContext,
    /// The number of the last line, from 1.
    number: u64,
    /// The offset of the next line.
    offset: u64,
    /// After damage, the next gzip member may begin inside a line: skip that line.
    is_partial: bool,
}

impl<'r> JsonlReader<'r> {
    pub(super) fn new(input: Decoder<MeteredReader<'r>>, context: &'r ReadContext) -> Self {
        Self {
            input,
            context,
            number: 0,
            offset: 0,
            is_partial: false,
        }
    }

    /// The next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> Result<Option<JsonlLine>> {
        loop {
            let mut text = Vec::new();
            match self
                .input
                .by_ref()
                .take(MAX_LINE)
                .read_until(b'\n', &mut text)
                .map_err(Error::from_io)
            {
                Ok(0) => return Ok(None),
                Ok(n) => {
                    self.number += 1;
                    let line = JsonlLine {
                        number: self.number,
                        offset: self.offset,
                        text,
                    };
                    self.offset += n as u64;
                    if n as u64 == MAX_LINE {
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
    status: Option<Scalar>,
    body: Option<String>,
    body_base64: Option<String>,
    content: Option<Scalar>,
    text: Option<Scalar>,
    robots: Option<Scalar>,
    fetched_at: Option<Scalar>,
    headers: Option<Headers>,
    error: Option<String>,
    truncated: Option<String>,
}

impl JsonlObject {
    /// # Errors
    /// A field that is not of the documented form. A failed fetch is an `Ok` with its cause.
    fn answer(&mut self) -> Result<CaptureAnswer, String> {
        if let Some(error) = self.error.take().filter(|error| !error.is_empty()) {
            return Ok(Err(error));
        }
        let cut_short = match is_cut_short(self.truncated.as_deref().map(str::as_bytes)) {
            Ok(cut_short) => cut_short,
            Err(cause) => return Ok(Err(cause)),
        };
        let mut body = self.take_body()?;
        if let Some(coded) = &body
            && self.body_base64.is_some()
            && !http::is_text(coded)
        {
            // Crawlers that store bytes may store them before content decoding.
            let codings = http::codings(
                self.values("content-encoding")
                    .map(|value| value.map(|value| value.into_owned()))
                    .collect::<Result<Vec<String>, _>>()?,
            );
            match http::decode_all(&codings, coded, cut_short) {
                Ok(plain) => body = Some(plain.into()),
                Err(cause) => return Ok(Err(cause)),
            }
        }
        let location = self
            .header("location")?
            .map(|value| value.trim().as_bytes().to_vec());
        let max_age = self
            .header("cache-control")?
            .and_then(|value| max_age(value.as_bytes()));
        let retry = self.header("retry-after")?;
        let status = match (self.status()?, &body) {
            (Some(status), _) => status,
            (None, Some(_)) => 200,
            (None, None) => {
                return Ok(Err("neither status nor body nor error is given".to_owned()));
            }
        };
        // RFC 9110 §15.3.5: only 204 has no body. Any other 2xx had one, and the line lacks it.
        if body.is_none() && (200..300).contains(&status) && status != 204 {
            return Ok(Err(NO_BODY.to_owned()));
        }
        let mut body = body.unwrap_or_default();
        body.truncate(MAX_KEPT);
        Ok(Ok(CapturedResponse {
            status,
            location,
            max_age,
            retry_after: retry.and_then(|value| http::retry_after(status, value.as_bytes())),
            body,
            cut_short,
            ..CapturedResponse::default()
        }))
    }

    fn take_body(&mut self) -> Result<Option<Bytes>, String> {
        let other = [&mut self.content, &mut self.text, &mut self.robots];
        let other = other.into_iter().find_map(|value| match value.take() {
            Some(Scalar::Text(text)) => Some(text),
            _ => None,
        });
        Ok(match (self.body.take(), &self.body_base64, other) {
            (Some(text), ..) | (None, None, Some(text)) => Some(Bytes::from(text)),
            (None, Some(coded), _) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(coded.trim());
                Some(
                    bytes
                        .map_err(|err| format!("\"body_base64\": {err}"))?
                        .into(),
                )
            }
            (None, None, None) => None,
        })
    }

    /// The status, from a number or a string.
    fn status(&self) -> Result<Option<u16>, String> {
        let Some(value) = &self.status else {
            return Ok(None);
        };
        let number = match value {
            Scalar::Number(number) => number.as_f64(),
            Scalar::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        let status = number
            .filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u16::MAX)).contains(number))
            .ok_or_else(|| format!("\"status\" is not an HTTP status: {value}"))?;
        Ok(Some(status as u16))
    }

    /// The (first) value of a header.
    fn header(&self, name: &str) -> Result<Option<Cow<'_, str>>, String> {
        self.values(name).next().transpose()
    }

    /// The values of all headers with this name. A number counts as its text.
    fn values(&self, name: &str) -> impl Iterator<Item = Result<Cow<'_, str>, String>> {
        let headers = self.headers.iter().flat_map(|Headers(all)| all);
        let named = headers.filter(move |(key, _)| key.eq_ignore_ascii_case(name));
        named.flat_map(|(key, values)| {
            let values = values.iter().filter(|value| !matches!(value, Scalar::Null));
            values.map(move |value| match value {
                Scalar::Text(text) => Ok(Cow::Borrowed(text.as_str())),
                Scalar::Number(number) => Ok(Cow::Owned(number.to_string())),
                other => Err(format!(
                    "\"headers\": {key:?} is neither a text, a number, nor a list of these: {other}"
                )),
            })
        })
    }
}

/// The failure of a line with a 2xx status and no body: an empty robots.txt would allow everything.
const NO_BODY: &str = "a 2xx status without a body";

/// The time of `fetched_at`: RFC 3339, or whole seconds since 1970.
fn time_of(value: &Scalar) -> Result<i64, String> {
    let time = match value {
        Scalar::Text(text) => parse_time(text.as_bytes()),
        // Milliseconds exceed the last representable year.
        Scalar::Number(number) => number
            .as_i64()
            .filter(|&seconds| jiff::Timestamp::from_second(seconds).is_ok()),
        _ => None,
    };
    time.ok_or_else(|| {
        format!("\"fetched_at\" is neither an RFC 3339 time nor whole seconds since 1970: {value}")
    })
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
    let time = object.fetched_at.as_ref().map(time_of).transpose()?;
    let answer = object.answer()?;
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
        parse(without_mark(&self.text)).map_err(|what| self.damaged(what, true))
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
}
