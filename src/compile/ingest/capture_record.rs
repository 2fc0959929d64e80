//! A capture as a record: what decides outcomes, without the text of the robots.txt.
//!
//! ```text
//! bytes  0..4         4..6               6..10                 10..
//!        length       length of origin   length of the rest    URL, time, status, wait, answer
//! ```
//!
//! All numbers are little-endian. Records sort by origin, path, and time, newest first. Captures of
//! the same second sort by rank and content, so the order depends neither on the order of the
//! inputs nor on the numbers of texts.

use super::text_store::{TextDigests, TextId};
use super::url_key::UrlKey;
use crate::archive::capture::{CapturedResponse, PayloadReference};
use crate::archive::captures_file::FIRST_VERSION;
use crate::bytes::wire::{Fields, time_bytes};
use crate::digest::Digest;
use crate::robots::{BodyFacts, LooksLike};
use crate::snapshot::{Outcome, OutcomeClass};
use crate::url::ROBOTS_PATH;
use ::url::Url;
use std::cmp::{Ordering, Reverse};

/// One capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// In seconds since 1970. `None`, older than any time, if the archive has none.
    pub time: Option<i64>,
    pub status: u16,
    /// The seconds until the next fetch, as the answer states them: `Retry-After` of a failure,
    /// `max-age` of any other answer.
    pub wait: Option<u32>,
    pub answer: FetchAnswer,
}

/// The class of an answer, with the data that its outcome needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FetchAnswer {
    /// 2xx.
    Rules(RobotsBody),
    /// 3xx except 304; the target if the answer names one.
    Redirect(Option<UrlKey>),
    /// 304, or a WARC `revisit` record without a digest: the crawler's copy is still valid.
    NotModified,
    /// 4xx except 429.
    ClientError,
    /// 429 and 5xx.
    ServerError,
    /// No answer, or not HTTP; the cause.
    Unreachable(Box<str>),
    /// A WARC `revisit` record whose body is that of another record. It becomes one of the others
    /// before histories are built (`resolve/payloads.rs`).
    Revisit(PayloadReference),
}

/// The body of a 2xx answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RobotsBody {
    pub text: TextId,
    pub flags: BodyFlags,
    /// The digest that the archive states for the body. `None` if it states none, or kept only the
    /// beginning of the body.
    pub payload: Option<Digest>,
}

impl FetchAnswer {
    /// The answer of a response that is not a 2xx; `url` is its URL.
    pub(super) fn without_body(url: &[u8], response: CapturedResponse) -> Self {
        match AnswerRank::of_status(response.status) {
            AnswerRank::Redirect => Self::Redirect(
                response
                    .location
                    .and_then(|location| redirect_target(url, &location)),
            ),
            AnswerRank::NotModified => Self::NotModified,
            AnswerRank::ClientError => Self::ClientError,
            AnswerRank::ServerError => Self::ServerError,
            AnswerRank::Rules | AnswerRank::Unreachable | AnswerRank::Revisit => {
                Self::Unreachable(unknown_status(response.status))
            }
        }
    }

    fn rank(&self) -> AnswerRank {
        match self {
            Self::Rules(_) => AnswerRank::Rules,
            Self::Redirect(_) => AnswerRank::Redirect,
            Self::NotModified => AnswerRank::NotModified,
            Self::ClientError => AnswerRank::ClientError,
            Self::ServerError => AnswerRank::ServerError,
            Self::Unreachable(_) => AnswerRank::Unreachable,
            Self::Revisit(_) => AnswerRank::Revisit,
        }
    }
}

/// The cause of a failure: HTTP has no answers with this status.
pub(crate) fn unknown_status(status: u16) -> Box<str> {
    format!("HTTP status {status}").into()
}

/// The target of a `Location`, which may be relative (RFC 9110 §10.2.2).
fn redirect_target(base: &[u8], location: &[u8]) -> Option<UrlKey> {
    let location = String::from_utf8_lossy(location);
    let target = if location.starts_with("http://") || location.starts_with("https://") {
        Url::parse(&location)
    } else {
        Url::parse(std::str::from_utf8(base).ok()?).and_then(|base| base.join(&location))
    };
    UrlKey::new(target.ok()?.as_str().as_bytes())
}

/// Properties of a body that its condensed text does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BodyFlags {
    /// The archive kept only its beginning.
    pub cut_short: bool,
    pub past_limit: bool,
    pub looks_like: Option<LooksLike>,
}

impl BodyFlags {
    pub(super) fn of(response: &CapturedResponse) -> Self {
        let body_facts = BodyFacts::of(&response.body);
        Self {
            cut_short: response.cut_short,
            past_limit: body_facts.ignored_bytes > 0,
            looks_like: body_facts.looks_like,
        }
    }

    /// The flags of the body that decided an outcome.
    pub(crate) fn of_outcome(outcome: &Outcome) -> Self {
        Self {
            cut_short: outcome.cut_short,
            past_limit: outcome.past_limit,
            looks_like: outcome.looks_like,
        }
    }

    fn encode(self) -> u8 {
        let looks_like = match self.looks_like {
            None => 0,
            Some(LooksLike::Html) => 1,
            Some(LooksLike::Utf16) => 2,
        };
        looks_like | u8::from(self.past_limit) << 2 | u8::from(self.cut_short) << 3
    }

    fn decode(byte: u8) -> Self {
        let looks_like = match byte & 3 {
            0 => None,
            1 => Some(LooksLike::Html),
            _ => Some(LooksLike::Utf16),
        };
        Self {
            cut_short: byte & 8 != 0,
            past_limit: byte & 4 != 0,
            looks_like,
        }
    }
}

/// How informative an answer is; the most informative one sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum AnswerRank {
    Rules = 0,
    Redirect = 1,
    NotModified = 2,
    ClientError = 3,
    ServerError = 4,
    Unreachable = 5,
    Revisit = 6,
}

impl AnswerRank {
    /// The rank of an answer with this HTTP status; 0 stands for no answer. A `revisit` record has
    /// a status of a 2xx.
    fn of_status(status: u16) -> Self {
        match OutcomeClass::of_status(status) {
            None if status == 304 => Self::NotModified,
            None | Some(OutcomeClass::Unresolved) => Self::Redirect,
            Some(OutcomeClass::Rules) => Self::Rules,
            Some(OutcomeClass::ClientError) => Self::ClientError,
            Some(OutcomeClass::ServerError) => Self::ServerError,
            Some(OutcomeClass::Unreachable) => Self::Unreachable,
        }
    }
}

impl Fetch {
    /// The first sort key of captures of the same second.
    pub(crate) fn rank(&self) -> (AnswerRank, u16, Option<u32>) {
        (self.answer.rank(), self.status, self.wait)
    }

    /// Whether it is a temporary failure, after which the last good copy counts.
    ///
    /// A 304 is one here. Histories replace each 304 that confirms a copy by that copy, so only
    /// those without a copy remain.
    pub(crate) fn is_failure(&self) -> bool {
        use FetchAnswer::{NotModified, ServerError, Unreachable};
        matches!(self.answer, ServerError | Unreachable(_) | NotModified)
    }

    /// Whether only the second version of captures files can have it.
    fn is_of_second_version(&self) -> bool {
        match &self.answer {
            FetchAnswer::Rules(body) => body.payload.is_some(),
            FetchAnswer::Revisit(_) => true,
            _ => false,
        }
    }

    /// This capture as the second version of captures files has it. In the first version, the wait
    /// of a failure is its `max-age`, which says nothing about the robots.txt.
    pub(crate) fn of_first_version(self) -> Self {
        let is_failure = matches!(
            self.answer,
            FetchAnswer::ServerError | FetchAnswer::Unreachable(_)
        );
        Self {
            wait: self.wait.filter(|_| !is_failure),
            ..self
        }
    }

    /// Newest first. Captures of the same second sort by rank and content.
    pub(crate) fn order(&self, other: &Self, texts: &dyn TextDigests) -> Ordering {
        other
            .time
            .cmp(&self.time)
            .then_with(|| self.content_order(other, texts))
    }

    fn content_order(&self, other: &Self, texts: &dyn TextDigests) -> Ordering {
        self.rank()
            .cmp(&other.rank())
            .then_with(|| match (&self.answer, &other.answer) {
                (FetchAnswer::Rules(a), FetchAnswer::Rules(b)) => {
                    let digests = if a.text == b.text {
                        Ordering::Equal
                    } else {
                        texts.digest(a.text).cmp(&texts.digest(b.text))
                    };
                    digests
                        .then(a.flags.cmp(&b.flags))
                        .then(a.payload.cmp(&b.payload))
                }
                (FetchAnswer::Redirect(a), FetchAnswer::Redirect(b)) => a.cmp(b),
                (FetchAnswer::Unreachable(a), FetchAnswer::Unreachable(b)) => a.cmp(b),
                (FetchAnswer::Revisit(a), FetchAnswer::Revisit(b)) => a.cmp(b),
                _ => Ordering::Equal,
            })
    }

    /// Appends the record of this capture of a URL.
    pub(crate) fn encode(&self, key: &UrlKey, out: &mut Vec<u8>) {
        // The length is written last, and the key first, so that records sort without decoding.
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        encode_key(key, out);
        out.extend_from_slice(&time_bytes(self.time));
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&self.wait.unwrap_or_default().to_le_bytes());
        out.push(self.answer.rank() as u8 | if self.wait.is_some() { HAS_WAIT } else { 0 });
        match &self.answer {
            FetchAnswer::Rules(body) => {
                let has_payload = if body.payload.is_some() {
                    HAS_PAYLOAD
                } else {
                    0
                };
                out.push(body.flags.encode() | has_payload);
                out.extend_from_slice(body.payload.as_ref().map_or(&[], |digest| &digest[..]));
                // The number of the text is last, where `append_with_text` replaces it.
                out.extend_from_slice(&body.text.0.to_le_bytes());
            }
            FetchAnswer::Revisit(revisit) => {
                out.push(u8::from(revisit.of_other_url));
                out.extend_from_slice(&revisit.digest);
            }
            FetchAnswer::Redirect(target) => {
                target.iter().for_each(|target| encode_key(target, out))
            }
            FetchAnswer::Unreachable(cause) => out.extend_from_slice(cause.as_bytes()),
            FetchAnswer::NotModified | FetchAnswer::ClientError | FetchAnswer::ServerError => {}
        }
        let len = (out.len() - start) as u32;
        out[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }
}

/// A bit next to the rank: the answer states how long to wait.
const HAS_WAIT: u8 = 0x80;

/// A bit next to the flags of a body: the digest of the body follows.
const HAS_PAYLOAD: u8 = 0x10;

/// The length of a record up to its URL.
const HEAD_LEN: usize = 10;
/// The offset of the rank after the URL: time, status and wait precede it.
const RANK_AT: usize = 14;

fn encode_key(key: &UrlKey, out: &mut Vec<u8>) {
    let (origin, path) = key.split();
    out.extend_from_slice(&(origin.len() as u16).to_le_bytes());
    out.extend_from_slice(&(path.len() as u32).to_le_bytes());
    out.extend_from_slice(key.text());
}

/// Sixteen bytes of an origin after its `http`, in the order of origins. Comparing these first
/// leaves most records untouched.
pub(crate) type KeyPrefix = u128;

/// An encoded capture.
#[derive(Clone, Copy)]
pub(crate) struct CaptureRecord<'a> {
    bytes: &'a [u8],
    origin_end: usize,
    path_end: usize,
}

impl<'a> CaptureRecord<'a> {
    /// The record at the start of `bytes`, as [`Fetch::encode`] writes it. `None` if the bytes
    /// end before the record does.
    pub(crate) fn first_of(bytes: &'a [u8]) -> Option<Self> {
        let len = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
        let bytes = bytes.get(..len)?;
        let origin_len = usize::from(u16::from_le_bytes([bytes[4], bytes[5]]));
        let path_len = u32::from_le_bytes([bytes[6], bytes[7], bytes[8], bytes[9]]) as usize;
        let origin_end = HEAD_LEN + origin_len;
        Some(Self {
            bytes,
            origin_end,
            path_end: origin_end + path_len,
        })
    }

    /// The number of the text of a 2xx.
    pub(crate) fn text(&self) -> Option<TextId> {
        let number = self.bytes.last_chunk()?;
        (self.rank()? == AnswerRank::Rules as u8).then(|| TextId(u32::from_le_bytes(*number)))
    }

    /// Whether it is a `revisit` record that refers to a body.
    pub(crate) fn is_revisit(&self) -> bool {
        self.rank() == Some(AnswerRank::Revisit as u8)
    }

    /// The number of the rank of the answer.
    fn rank(&self) -> Option<u8> {
        Some(self.bytes.get(self.path_end + RANK_AT)? & !HAS_WAIT)
    }

    /// Appends the record with another number of its text.
    pub(crate) fn append_with_text(&self, text: TextId, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes[..self.bytes.len() - 4]);
        out.extend_from_slice(&text.0.to_le_bytes());
    }

    /// Appends the record as it would be in the second version of captures files, given one of the
    /// first version, with another number of its text.
    pub(crate) fn append_of_first_version(&self, text: Option<TextId>, out: &mut Vec<u8>) {
        let mut fetch = self.decode().of_first_version();
        if let (FetchAnswer::Rules(body), Some(text)) = (&mut fetch.answer, text) {
            body.text = text;
        }
        let url = &self.bytes[HEAD_LEN..self.path_end];
        let origin_len = (self.origin_end - HEAD_LEN) as u16;
        fetch.encode(&UrlKey::from_parts(url, origin_len), out);
    }

    /// The encoded bytes.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn origin(&self) -> &'a [u8] {
        &self.bytes[HEAD_LEN..self.origin_end]
    }

    /// The path with the query.
    pub(crate) fn path(&self) -> &'a [u8] {
        &self.bytes[self.origin_end..self.path_end]
    }

    /// Whether it is a capture of an origin's robots.txt.
    pub(crate) fn is_robots(&self) -> bool {
        self.path() == ROBOTS_PATH
    }

    /// The start of the key. A record with a smaller one has the smaller origin.
    pub(crate) fn key_prefix(&self) -> KeyPrefix {
        let Some(text) = self.origin().strip_prefix(b"http") else {
            // Other schemes sort before all of `http…` (`ftp`) or after them (`ws`).
            return if self.origin() < b"http".as_slice() {
                0
            } else {
                KeyPrefix::MAX
            };
        };
        let mut prefix = [0; 16];
        let len = text.len().min(prefix.len());
        prefix[..len].copy_from_slice(&text[..len]);
        KeyPrefix::from_be_bytes(prefix)
    }

    /// By origin, then path.
    pub(crate) fn url_order(&self, other: &Self) -> Ordering {
        self.origin()
            .cmp(other.origin())
            .then_with(|| self.path().cmp(other.path()))
    }

    /// The order of sorted captures.
    pub(crate) fn order(&self, other: &Self, texts: &dyn TextDigests) -> Ordering {
        // The times decide between nearly all captures of a URL, so they are compared first,
        // without decoding. An unknown one is less than all others.
        self.url_order(other)
            .then_with(|| Reverse(self.time()).cmp(&Reverse(other.time())))
            .then_with(|| self.decode().order(&other.decode(), texts))
    }

    pub(crate) fn time(&self) -> Option<i64> {
        Fields(&self.bytes[self.path_end..]).time()
    }

    pub(crate) fn decode(&self) -> Fetch {
        let mut fields = Fields(&self.bytes[self.path_end..]);
        let time = fields.time();
        let status = fields.u16();
        let wait = fields.u32();
        let rank = fields.u8();
        let answer = match rank & !HAS_WAIT {
            0 => {
                let flags = fields.u8();
                FetchAnswer::Rules(RobotsBody {
                    flags: BodyFlags::decode(flags),
                    payload: (flags & HAS_PAYLOAD != 0).then(|| fields.array()),
                    text: TextId(fields.u32()),
                })
            }
            1 if fields.0.is_empty() => FetchAnswer::Redirect(None),
            1 => FetchAnswer::Redirect(Some(decode_key(&mut fields))),
            2 => FetchAnswer::NotModified,
            3 => FetchAnswer::ClientError,
            4 => FetchAnswer::ServerError,
            6 => FetchAnswer::Revisit(PayloadReference {
                of_other_url: fields.u8() != 0,
                digest: fields.array(),
            }),
            _ => FetchAnswer::Unreachable(String::from_utf8_lossy(fields.0).into()),
        };
        Fetch {
            time,
            status,
            wait: (rank & HAS_WAIT != 0).then_some(wait),
            answer,
        }
    }
}

/// Validates records of others, one after the other.
pub(crate) struct RecordValidator {
    /// The version of the captures file that has them.
    version: u32,
    /// The URL of the last record. In sorted records, many follow with the same one.
    key: Option<UrlKey>,
    /// The record as this program encodes it.
    encoded: Vec<u8>,
}

impl RecordValidator {
    /// A validator of the records in a captures file of this version.
    pub(crate) fn new(version: u32) -> Self {
        Self {
            version,
            key: None,
            encoded: Vec::new(),
        }
    }

    /// The record at the start of `bytes`. `None` unless [`Fetch::encode`] writes it for a
    /// response: lengths fit, URLs are canonical, and the class is that of the status.
    pub(crate) fn first_of<'b>(&mut self, bytes: &'b [u8]) -> Option<CaptureRecord<'b>> {
        let len = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
        let bytes = bytes.get(..len).filter(|bytes| bytes.len() >= HEAD_LEN)?;
        let record = CaptureRecord::first_of(bytes)?;
        let url = bytes.get(HEAD_LEN..record.path_end)?;
        let origin_len = record.origin_end - HEAD_LEN;
        // Most records have the URL of the record before, whose key is valid.
        let is_same = self
            .key
            .as_ref()
            .is_some_and(|key| key.text() == url && key.origin_len() == origin_len);
        if !is_same {
            self.key = Some(UrlKey::of_parts(url, origin_len)?);
        }
        let fetch = record.decode();
        if let FetchAnswer::Redirect(Some(target)) = &fetch.answer {
            UrlKey::of_parts(target.text(), target.origin_len())?;
        }
        self.encoded.clear();
        fetch.encode(self.key.as_ref()?, &mut self.encoded);
        let rank = match fetch.answer.rank() {
            // It has the status of the body that it refers to.
            AnswerRank::Revisit => AnswerRank::Rules,
            rank => rank,
        };
        let has_right_class = rank == AnswerRank::of_status(fetch.status);
        let is_known = self.version > FIRST_VERSION || !fetch.is_of_second_version();
        (has_right_class && is_known && self.encoded == bytes).then_some(record)
    }
}

/// The next key, as [`encode_key`] writes it.
fn decode_key(fields: &mut Fields<'_>) -> UrlKey {
    let origin_len = fields.u16();
    let path_len = fields.u32();
    let len = usize::from(origin_len) + path_len as usize;
    let (text, rest) = fields.0.split_at(len.min(fields.0.len()));
    fields.0 = rest;
    UrlKey::from_parts(text, origin_len)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoTexts;
    impl TextDigests for NoTexts {
        fn digest(&self, text: TextId) -> [u8; 16] {
            // Another order than that of the numbers.
            [!text.0 as u8; 16]
        }
    }

    /// Whether a writer makes this record: its status fits its answer.
    fn is_canonical(url: &str, capture: &Fetch) -> bool {
        let rank = match capture.answer {
            FetchAnswer::Revisit(_) => AnswerRank::Rules,
            ref answer => answer.rank(),
        };
        UrlKey::new(url.as_bytes()).is_some() && rank == AnswerRank::of_status(capture.status)
    }

    #[test]
    fn records_decode_to_the_same_captures_and_sort() {
        let key = |url: &str| UrlKey::new(url.as_bytes()).unwrap();
        let flags = BodyFlags {
            cut_short: true,
            past_limit: false,
            looks_like: Some(LooksLike::Utf16),
        };
        let no_flags = BodyFlags {
            cut_short: false,
            past_limit: false,
            looks_like: None,
        };
        let capture = |time, status, wait, answer| Fetch {
            time,
            status,
            wait,
            answer,
        };
        let rules = |number, flags, payload| {
            FetchAnswer::Rules(RobotsBody {
                text: TextId(number),
                flags,
                payload,
            })
        };
        let revisit = |byte, of_other_url| {
            FetchAnswer::Revisit(PayloadReference {
                digest: [byte; 16],
                of_other_url,
            })
        };
        // In sorted order.
        let captures = [
            (
                "ftp://z.example/robots.txt",
                capture(None, 404, None, FetchAnswer::ClientError),
            ),
            (
                "http://a.example/robots.txt",
                capture(Some(7), 404, None, FetchAnswer::ClientError),
            ),
            (
                "http://a.example/robots.txt?a",
                capture(Some(7), 404, None, FetchAnswer::ClientError),
            ),
            // A port sorts after all paths of the shorter origin.
            (
                "http://a.example:81/r",
                capture(None, 304, Some(0), FetchAnswer::NotModified),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 200, None, rules(2, no_flags, None)),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 200, None, rules(2, flags, None)),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 200, None, rules(1, flags, None)),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 200, None, rules(1, flags, Some([7; 16]))),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 301, None, FetchAnswer::Redirect(None)),
            ),
            (
                "https://a.example/robots.txt",
                capture(
                    Some(9),
                    301,
                    None,
                    FetchAnswer::Redirect(Some(key("http://b.example/x"))),
                ),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 503, Some(4), FetchAnswer::ServerError),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 0, None, FetchAnswer::Unreachable("a cause".into())),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 200, Some(1), revisit(3, false)),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(9), 200, Some(1), revisit(3, true)),
            ),
            (
                "https://a.example/robots.txt",
                capture(Some(-9), 0, None, FetchAnswer::Unreachable("".into())),
            ),
            (
                "https://a.example/robots.txt",
                capture(None, 0, None, FetchAnswer::Unreachable("".into())),
            ),
            (
                "httq://a.example/robots.txt",
                capture(None, 404, None, FetchAnswer::ClientError),
            ),
            (
                "ws://a.example/robots.txt",
                capture(None, 404, None, FetchAnswer::ClientError),
            ),
        ];
        let encode = |(url, capture): &(&str, Fetch)| {
            let mut bytes = Vec::new();
            capture.encode(&key(url), &mut bytes);
            bytes
        };
        let encoded: Vec<Vec<u8>> = captures.iter().map(encode).collect();
        let records: Vec<_> = encoded
            .iter()
            .map(|bytes| CaptureRecord::first_of(bytes).unwrap())
            .collect();
        for ((url, capture), record) in captures.iter().zip(&records) {
            assert_eq!([record.origin(), record.path()].concat(), url.as_bytes());
            assert_eq!((&record.decode(), record.time()), (capture, capture.time));
        }
        for (i, a) in records.iter().enumerate() {
            for (j, b) in records.iter().enumerate() {
                assert_eq!(a.order(b, &NoTexts), i.cmp(&j), "{i} {j}");
                let by_prefix = a.key_prefix().cmp(&b.key_prefix());
                assert!(by_prefix.is_eq() || by_prefix == i.cmp(&j), "{i} {j}");
            }
        }
        assert!(CaptureRecord::first_of(&encoded[0][..encoded[0].len() - 1]).is_none());
        // The first version of captures files has neither digests nor references to bodies.
        for (bytes, (url, capture)) in encoded.iter().zip(&captures) {
            let is_valid = |version| RecordValidator::new(version).first_of(bytes).is_some();
            assert_eq!(
                is_valid(FIRST_VERSION + 1),
                is_canonical(url, capture),
                "{url}"
            );
            let is_first = is_canonical(url, capture) && !capture.is_of_second_version();
            assert_eq!(is_valid(FIRST_VERSION), is_first, "{url}");
        }
    }
}
