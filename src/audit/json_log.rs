//! JSON logs: one object per line, with the fields at keys or at paths into nested objects.
//!
//! The object is never built. A visitor walks it once, and hands each string or number to the
//! fields whose path leads to it.
//!
//! nginx writes the bytes of a request as they came, so a line may not be UTF-8, and JSON always
//! is. Such a line is parsed with a character of its own for each byte that is not UTF-8, which
//! becomes the byte again in the fields ([`RawBytes`]).

use crate::audit::log_time::parse_time;
use crate::audit::record::{LogRecord, is_target, parse_bytes, parse_status, target_of};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// The fields of a [`LogRecord`], and the request line, in the order of [`JsonKeys`].
const FIELDS: usize = 9;
const USER_AGENT: usize = 0;
const TIME: usize = 1;
const HOST: usize = 2;
const SCHEME: usize = 3;
const TARGET: usize = 4;
const REQUEST: usize = 5;
const STATUS: usize = 6;
const BYTES: usize = 7;
const CLIENT: usize = 8;

/// The fields in words, for messages.
const DESCRIPTIONS: [&str; FIELDS] = [
    "User-Agent",
    "time",
    "host",
    "scheme",
    "request target",
    "request line",
    "status",
    "number of bytes",
    "client's address",
];

/// The keys of a JSON log. A key with dots is a path into nested objects; of an array, its first
/// element counts. A path that leads through no object is the whole key.
///
/// ```
/// use robosieve::audit::JsonKeys;
/// let keys = JsonKeys::default()
///     .with("agent", "ua")
///     .and_then(|keys| keys.with("time", "meta.time"));
/// assert!(keys.is_ok());
/// assert!(JsonKeys::default().with("referer", "r").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonKeys {
    /// For each field the paths that may lead to it; the first with a value counts.
    paths: [Vec<String>; FIELDS],
    /// The same by path, with the objects on the way to them. An object alone is of no field.
    fields: HashMap<String, Vec<FieldPath>>,
}

/// A path of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldPath {
    field: usize,
    /// Its index among the paths of the field.
    choice: usize,
}

/// The usual keys: nginx's variables, Caddy, Traefik, Cloudflare's Logpush, Vercel's log drains, the
/// Elastic Common Schema, and names that several servers and shippers use. Vercel's `host` and `path`
/// are those of the deployment, and those of Logstash are the machine and the file of the log. So the
/// keys of the request come before them.
const USUAL: [&[&str]; FIELDS] = [
    &[
        "http_user_agent",
        "user_agent",
        "userAgent",
        "agent",
        "request.headers.User-Agent",
        "request_User-Agent",
        "ClientRequestUserAgent",
        "proxy.userAgent",
        "user_agent.original",
        "ua",
    ],
    &[
        "time_iso8601",
        "time_local",
        "EdgeStartTimestamp",
        "proxy.timestamp",
        "timestamp",
        "@timestamp",
        "time",
        "ts",
        "msec",
        "date",
        "start_time",
    ],
    &[
        "proxy.host",
        "http_host",
        "vhost",
        "ClientRequestHost",
        "request.host",
        "RequestHost",
        "url.domain",
        "domain",
        "host",
        "server_name",
    ],
    &[
        "scheme",
        "RequestScheme",
        "ClientRequestScheme",
        "proxy.scheme",
        "url.scheme",
    ],
    &[
        "request_uri",
        "uri",
        "request.uri",
        "RequestPath",
        "ClientRequestURI",
        "ClientRequestPath",
        "proxy.path",
        "url.original",
        "url",
        "path",
    ],
    &["request"],
    &[
        "status",
        "response",
        "DownstreamStatus",
        "EdgeResponseStatus",
        "proxy.statusCode",
        "http.response.status_code",
        "status_code",
        "response_code",
        "code",
    ],
    &[
        "body_bytes_sent",
        "bytes_sent",
        "size",
        "bytes",
        "DownstreamContentSize",
        "EdgeResponseBytes",
        "proxy.responseByteSize",
        "http.response.body.bytes",
    ],
    &[
        "remote_addr",
        "request.client_ip",
        "request.remote_ip",
        "ClientHost",
        "ClientIP",
        "proxy.clientIp",
        "client_ip",
        "clientip",
        "remote_ip",
        "source.ip",
        "client.ip",
        "client",
    ],
];

impl Default for JsonKeys {
    /// The keys of Caddy, of nginx's variables, of Cloudflare and Vercel, and other usual ones.
    fn default() -> Self {
        Self::of(USUAL.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect()))
    }
}

impl JsonKeys {
    fn of(paths: [Vec<String>; FIELDS]) -> Self {
        let mut fields: HashMap<String, Vec<FieldPath>> = HashMap::new();
        for (field, paths) in paths.iter().enumerate() {
            for (choice, path) in paths.iter().enumerate() {
                for (dot, _) in path.match_indices('.') {
                    fields.entry(path[..dot].to_owned()).or_default();
                }
                let of_path = fields.entry(path.clone()).or_default();
                of_path.push(FieldPath { field, choice });
            }
        }
        Self { paths, fields }
    }

    /// The names of the fields, for [`with`](Self::with).
    pub const NAMES: [&'static str; FIELDS] = [
        "agent", "time", "host", "scheme", "target", "request", "status", "bytes", "client",
    ];

    /// Reads the field `name` at the path `key` only.
    ///
    /// # Errors
    /// A message that lists the names, if `name` is not one of [`NAMES`](Self::NAMES).
    pub fn with(mut self, name: &str, key: &str) -> Result<Self, String> {
        let field = Self::NAMES.iter().position(|known| *known == name);
        let field = field.ok_or_else(|| {
            format!(
                "{name}: no field of a log; there are {}",
                Self::NAMES.join(", ")
            )
        })?;
        self.paths[field] = vec![key.to_owned()];
        Ok(Self::of(self.paths))
    }

    /// Parses a line. `None` if it is not an object, or has no valid time or request.
    pub(super) fn parse<'l>(&self, line: &'l [u8]) -> Option<LogRecord<'l>> {
        self.try_parse(line).ok()
    }

    /// Why a line of JSON is not a record, and the key to name; `None` if it is one, or is not an
    /// object.
    pub(super) fn defect(&self, line: &[u8]) -> Option<String> {
        match self.try_parse(line) {
            Err(JsonDefect::Field { field, text }) => Some(match text {
                None => format!(
                    "its lines are JSON without a known key of the {}; name it with {}=KEY",
                    DESCRIPTIONS[field],
                    Self::NAMES[field]
                ),
                Some(text) => format!(
                    "its lines are JSON, and the {} in them, `{}`, cannot be read; name another key \
                     with {}=KEY",
                    DESCRIPTIONS[field],
                    String::from_utf8_lossy(&text),
                    Self::NAMES[field]
                ),
            }),
            Err(JsonDefect::NotAnObject) | Ok(_) => None,
        }
    }

    fn try_parse<'l>(&self, line: &'l [u8]) -> Result<LogRecord<'l>, JsonDefect> {
        let (time, object) = split_console(line);
        match self.walk(object) {
            Some(mut found) => {
                found.set_time(time);
                self.record(found)
            }
            None => self.parse_raw(time, object),
        }
    }

    /// Parses an object that is not UTF-8.
    #[cold]
    fn parse_raw(&self, time: &[u8], object: &[u8]) -> Result<LogRecord<'static>, JsonDefect> {
        if std::str::from_utf8(object).is_ok() {
            return Err(JsonDefect::NotAnObject);
        }
        let text = RawBytes::to_text(object);
        let mut found = self.walk(text.as_bytes()).ok_or(JsonDefect::NotAnObject)?;
        for value in found.values.iter_mut().flatten() {
            value.text = Cow::Owned(RawBytes::to_bytes(&value.text));
        }
        found.set_time(time);
        self.record(found).map(into_owned)
    }

    /// The values in a line; `None` if it is not one JSON value.
    fn walk<'l>(&self, line: &'l [u8]) -> Option<FoundValues<'l>> {
        let mut found = FoundValues::default();
        let mut reader = serde_json::Deserializer::from_slice(line);
        ObjectWalk {
            keys: self,
            prefix: "",
            found: &mut found,
        }
        .deserialize(&mut reader)
        .ok()?;
        reader.end().ok()?;
        Some(found)
    }

    /// The record of the found values.
    fn record<'l>(&self, found: FoundValues<'l>) -> Result<LogRecord<'l>, JsonDefect> {
        // The first key of the target has it as the client sent it, and so has a request line. Other
        // keys may have the path of a file, or what a server made of the target.
        let is_sent = found.values[TARGET]
            .as_ref()
            .is_some_and(|target| target.choice == 0);
        let mut values = found.values.map(|value| value.map(|value| value.text));
        let target = values[TARGET].take();
        let request = values[REQUEST].take();
        let targets = match is_sent {
            true => [target, request],
            false => [request, target],
        };
        // A request without a target, as of a port scan, is a record whose target is empty.
        let has_request = targets.iter().any(Option::is_some);
        let mut targets = targets
            .into_iter()
            .flatten()
            .map(|text| part_of(text, sent_target));
        let target = targets.find(|target| !target.is_empty());
        if target.is_none() && !has_request {
            return Err(JsonDefect::missing(TARGET));
        }
        let time = values[TIME].take();
        let time = time.ok_or_else(|| JsonDefect::missing(TIME))?;
        let status = values[STATUS].take().unwrap_or(Cow::Borrowed(b"-"));
        let bytes = values[BYTES].take().unwrap_or(Cow::Borrowed(b"-"));
        Ok(LogRecord {
            user_agent: values[USER_AGENT].take().unwrap_or_default(),
            time: parse_time(&time).ok_or_else(|| JsonDefect::unreadable(TIME, &time))?,
            host: values[HOST].take().filter(|host| !is_missing(host)),
            port: Cow::default(),
            scheme: values[SCHEME].take(),
            target: target.unwrap_or_default(),
            status: parse_status(&status).ok_or_else(|| JsonDefect::unreadable(STATUS, &status))?,
            bytes: parse_bytes(&bytes).ok_or_else(|| JsonDefect::unreadable(BYTES, &bytes))?,
            client: values[CLIENT].take().unwrap_or_default(),
        })
    }

    /// The paths that may lead to the User-Agent.
    pub(super) fn agent_paths(&self) -> &[String] {
        &self.paths[USER_AGENT]
    }

    /// Whether a line has the keys of an access log.
    pub(super) fn fits(&self, line: &[u8]) -> bool {
        self.parse(line).is_some()
    }
}

/// Why a line is not a record.
enum JsonDefect {
    NotAnObject,
    /// No key has the field, or its text cannot be read.
    Field {
        field: usize,
        text: Option<Vec<u8>>,
    },
}

impl JsonDefect {
    fn missing(field: usize) -> Self {
        Self::Field { field, text: None }
    }

    fn unreadable(field: usize, text: &[u8]) -> Self {
        Self::Field {
            field,
            text: Some(text.to_vec()),
        }
    }
}

/// The target in a field, itself or in a request line; empty if there is none.
fn sent_target(text: &[u8]) -> &[u8] {
    let target = match is_target(text) {
        true => text,
        false => target_of(text),
    };
    match is_target(target) {
        true => target,
        false => b"",
    }
}

/// The time before an object, and the object. Caddy's console format has time, level, logger,
/// message and object, with a tab between two of them. In a line of JSON alone, the time is empty.
fn split_console(line: &[u8]) -> (&[u8], &[u8]) {
    if line.starts_with(b"{") {
        return (b"", line);
    }
    match memchr::memmem::find(line, b"\t{") {
        Some(tab) => {
            let time = line.split(|byte| *byte == b'\t').next();
            (time.unwrap_or_default(), &line[tab + 1..])
        }
        None => (b"", line),
    }
}

/// A part of a text, borrowed if the text is.
fn part_of<'l>(text: Cow<'l, [u8]>, part: fn(&[u8]) -> &[u8]) -> Cow<'l, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_vec()),
    }
}

fn owned(text: Cow<'_, [u8]>) -> Cow<'static, [u8]> {
    Cow::Owned(text.into_owned())
}

pub(super) fn into_owned(record: LogRecord<'_>) -> LogRecord<'static> {
    LogRecord {
        user_agent: owned(record.user_agent),
        time: record.time,
        host: record.host.map(owned),
        port: owned(record.port),
        scheme: record.scheme.map(owned),
        target: owned(record.target),
        status: record.status,
        bytes: record.bytes,
        client: owned(record.client),
    }
}

/// Bytes that are not UTF-8, as characters: byte `b` is U+10FF00 + `b`, in the last private-use
/// plane.
struct RawBytes;

impl RawBytes {
    const BASE: u32 = 0x10_FF00;

    /// A text with a character for each byte that is not UTF-8. A character of this range that is
    /// in `bytes` already is written as the characters of its bytes, so
    /// [`to_bytes`](Self::to_bytes) restores it.
    fn to_text(bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len() * 2);

        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                match u32::from(c) < Self::BASE {
                    true => text.push(c),
                    false => Self::push_raw(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            Self::push_raw(&mut text, chunk.invalid());
        }
        text
    }

    /// Appends a character for each byte.
    fn push_raw(text: &mut String, bytes: &[u8]) {
        let characters = bytes
            .iter()
            .filter_map(|byte| char::from_u32(Self::BASE + u32::from(*byte)));
        text.extend(characters);
    }

    /// The bytes of a part of such a text.
    fn to_bytes(text: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len());
        for c in text.utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
            match u32::from(c).checked_sub(Self::BASE) {
                Some(raw) => bytes.push(raw as u8),
                None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        bytes
    }
}

/// The values found so far.
#[derive(Default)]
struct FoundValues<'l> {
    values: [Option<FoundValue<'l>>; FIELDS],
}

struct FoundValue<'l> {
    text: Cow<'l, [u8]>,
    /// The index of its path among those of the field.
    choice: usize,
}

/// Whether a field is empty or `-`, which stands for a missing value.
fn is_missing(text: &[u8]) -> bool {
    matches!(text, b"" | b"-")
}

impl FoundValue<'_> {
    fn is_missing(&self) -> bool {
        is_missing(&self.text)
    }
}

impl<'l> FoundValues<'l> {
    /// Sets the time that is before the object, if there is one.
    fn set_time(&mut self, time: &'l [u8]) {
        if !time.is_empty() {
            self.values[TIME] = Some(FoundValue {
                text: Cow::Borrowed(time),
                choice: 0,
            });
        }
    }

    /// Keeps a value for every field that has this path, unless an earlier path had one. Any other
    /// value comes before a missing one.
    fn keep(&mut self, keys: &JsonKeys, path: &str, text: Cow<'l, [u8]>) {
        for &FieldPath { field, choice } in keys.fields.get(path).into_iter().flatten() {
            let value = &mut self.values[field];
            let is_better = match value {
                None => true,
                Some(kept) => !is_missing(&text) && (kept.is_missing() || choice <= kept.choice),
            };
            if is_better {
                *value = Some(FoundValue {
                    text: text.clone(),
                    choice,
                });
            }
        }
    }
}

/// Walks a value at a path.
struct ObjectWalk<'w, 'l> {
    keys: &'w JsonKeys,
    /// The path of the value; empty for the line's object.
    prefix: &'w str,
    found: &'w mut FoundValues<'l>,
}

impl<'l> DeserializeSeed<'l> for ObjectWalk<'_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'l> Visitor<'l> for ObjectWalk<'_, 'l> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(KeyText(key)) = map.next_key()? {
            let path = if self.prefix.is_empty() {
                key
            } else {
                Cow::Owned(format!("{}.{key}", self.prefix))
            };
            if self.keys.fields.contains_key(&*path) {
                map.next_value_seed(ObjectWalk {
                    keys: self.keys,
                    prefix: &path,
                    found: self.found,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    /// The first element: Caddy logs headers as arrays.
    fn visit_seq<A: SeqAccess<'l>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self {
            keys,
            prefix,
            found,
        } = self;
        if seq
            .next_element_seed(ObjectWalk {
                keys,
                prefix,
                found,
            })?
            .is_some()
        {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(self, text: &'l str) -> Result<(), E> {
        self.found
            .keep(self.keys, self.prefix, Cow::Borrowed(text.as_bytes()));
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.found
            .keep(self.keys, self.prefix, Cow::Owned(text.as_bytes().to_vec()));
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.found.keep(
            self.keys,
            self.prefix,
            Cow::Owned(number.to_string().into_bytes()),
        );
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.found.keep(
            self.keys,
            self.prefix,
            Cow::Owned(number.to_string().into_bytes()),
        );
        Ok(())
    }

    /// Times with a fraction. Some programs write every number with one.
    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        let decimals = if number.fract() == 0.0 { 0 } else { 3 };
        self.found.keep(
            self.keys,
            self.prefix,
            Cow::Owned(format!("{number:.decimals$}").into_bytes()),
        );
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// A key, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct KeyText<'t>(#[serde(borrow)] Cow<'t, str>);

/// A line of Docker's json-file log: each line of a container's output is the string `log` of an
/// object ("JSON File logging driver" in Docker's documentation).
#[derive(Deserialize)]
struct DockerLine {
    log: String,
}

/// The line that a container wrote; `None` if the text is not a line of Docker. Docker cuts lines of
/// more than 16 KiB, so that their parts are not records.
pub(super) fn docker_output(line: &[u8]) -> Option<Vec<u8>> {
    let line: DockerLine = serde_json::from_slice(line).ok()?;
    Some(line.log.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf8_are_restored() {
        let edge = "\u{10feff}\u{10ff00}\u{10ffff}é";
        for bytes in [
            b"/caf\xe9/\xff\xc3".as_slice(),
            edge.as_bytes(),
            &[edge.as_bytes(), b"\x80"].concat(),
            b"",
        ] {
            assert_eq!(
                RawBytes::to_bytes(RawBytes::to_text(bytes).as_bytes()),
                bytes
            );
        }
        let line =
            b"{\"uri\":\"/\xe9\xc3\xa9\\u00e9\\u4e2d\",\"ts\":1,\"ua\":\"\xffGPTBot\",\"host\":\"\xe9.example\"}";
        let record = JsonKeys::default().parse(line).unwrap();
        assert_eq!(*record.target, *b"/\xe9\xc3\xa9\xc3\xa9\xe4\xb8\xad");
        assert_eq!(*record.user_agent, *b"\xffGPTBot");
        assert_eq!(record.host.as_deref(), Some(b"\xe9.example".as_slice()));
        assert!(
            JsonKeys::default()
                .parse(b"{\"uri\":\"/\xe9\",\"ts\":1,\"ua\":\"x\"")
                .is_none()
        );
    }
}
