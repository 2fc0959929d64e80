//! Archives: WARC, ARC, JSON lines, captures files and gzip members.
//!
//! Any bytes give a snapshot or an error, the same in one read as in many. Damage loses no capture
//! before it, if damaged places are skipped.

use crate::forging::forged_captures;
use crate::input::{Bytes, InSteps, expand};
use crate::open_snapshot::mutate;
use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use robosieve::compile::CapturesFile;
use robosieve::decode::decode;
use robosieve::{Compiler, Origin, Snapshot};
use std::io::{Read, Write};
use std::sync::OnceLock;

/// The parts of WARC files.
pub(crate) const WARC: &[&str] = &[
    "WARC/1.0\r\n",
    "WARC/1.1\r\n",
    "WARC-Type: response\r\n",
    "WARC-Type: warcinfo\r\n",
    "WARC-Type: revisit\r\n",
    "WARC-Type: request\r\n",
    "WARC-Type: conversion\r\n",
    "WARC-Target-URI: https://a.example/robots.txt\r\n",
    "WARC-Target-URI: ",
    "<http://b.example/>\r\n",
    "WARC-Date: 2026-09-15T06:00:00Z\r\n",
    "WARC-Refers-To-Target-URI: ",
    "WARC-Truncated: length\r\n",
    "Content-Length: ",
    "Content-Type: application/http; msgtype=response\r\n",
    "\r\n",
    "\r\n\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 301 Moved\r\n",
    "HTTP/1.0 503 x\r\n",
    "Location: ",
    "Transfer-Encoding: chunked\r\n",
    "Content-Encoding: gzip\r\n",
    "Cache-Control: max-age=60\r\n",
    "5\r\n",
    "0\r\n\r\n",
    "user-agent: *\n",
    "disallow: /x\n",
    "100\r\n",
    "18446744073709551616\r\n",
    "text/dns",
    "WARC-Profile: ",
    "Content-Length: 58\r\n",
    "Content-Length: 0\r\n",
];

/// The parts of ARC files.
pub(crate) const ARC: &[&str] = &[
    "filedesc://x.arc 0.0.0.0 20010203040506 text/plain ",
    "1 0 Crawler\n",
    "2 0 Crawler\n",
    "https://a.example/robots.txt ",
    "http://b.example/x y ",
    "dns:a.example ",
    "192.0.2.1 ",
    "2001:db8::1 ",
    "20260915060000 ",
    "- ",
    "text/plain ",
    "200 - - 0 x.arc ",
    "12\n",
    "43\n",
    "0\n",
    "18446744073709551615\n",
    "\n",
    "\r\n",
    "HTTP/1.1 200 OK\r\n\r\n",
    "user-agent: *\n",
    "disallow: /x\n",
    "WARC/1.0\r\n",
];

/// The parts of JSON lines.
pub(crate) const JSON: &[&str] = &[
    "{\"url\": \"https://a.example/robots.txt\"",
    "{\"url\": \"",
    "\"status\": ",
    "\"body\": \"",
    "\"body_base64\": \"",
    "\"fetched_at\": ",
    "\"2026-03-01T00:00:00Z\"",
    "\"headers\": {",
    "\"Location\": \"",
    "\"error\": \"",
    "\"truncated\": \"length\"",
    "}\n",
    "}",
    ", ",
    "\": \"",
    "200",
    "301",
    "404",
    "503",
    "null",
    "user-agent: *\\ndisallow: /x",
    "\\u00e4",
    "\\ud800",
    "\\n",
    "[",
    "]",
    "true",
    "1e400",
    "-1",
    "\"Cache-Control\": \"max-age=60\"",
    "b.example",
    "\n",
];

/// A snapshot, and how many captures were superseded.
struct CompiledArchive {
    bytes: Vec<u8>,
    damaged: u64,
    superseded: u64,
}

fn compile(archive: &[u8], skip_damaged: bool, step: usize) -> Result<CompiledArchive, String> {
    let mut compiler = Compiler::default().skip_damaged(skip_damaged);
    let reader = InSteps {
        inner: archive,
        step,
    };
    compiler
        .add_reader("archive", reader)
        .map_err(|err| err.to_string())?;
    let compiled = compiler.finish().map_err(|err| err.to_string())?;
    let report = compiled.report();
    let (damaged, superseded) = (report.damaged, report.superseded);
    let bytes = compiled.to_vec().map_err(|err| err.to_string())?;
    Ok(CompiledArchive {
        bytes,
        damaged,
        superseded,
    })
}

/// Compiles any bytes. Returns the snapshot without damaged places, if there is one.
fn check(archive: &[u8], step: usize) -> Option<CompiledArchive> {
    let [strict, skipping] = [false, true].map(|skip| {
        let whole = compile(archive, skip, usize::MAX);
        let in_steps = compile(archive, skip, step);
        // The message about an unknown format shows the bytes of the first read.
        assert_eq!(
            whole.as_ref().map(|of| (&of.bytes, of.damaged)).ok(),
            in_steps.as_ref().map(|of| (&of.bytes, of.damaged)).ok(),
            "in steps of {step} bytes"
        );
        whole
    });
    if let Ok(skipping) = &skipping {
        Snapshot::new(skipping.bytes.clone())
            .unwrap()
            .verify()
            .unwrap();
    }
    match strict {
        Ok(strict) => {
            let skipping = skipping.as_ref().expect("what has no damage");
            assert_eq!((strict.damaged, skipping.damaged), (0, 0));
            assert!(
                strict.bytes == skipping.bytes,
                "skipping changes an intact archive"
            );
        }
        Err(err) => {
            if let Ok(skipping) = &skipping {
                assert!(skipping.damaged > 0, "no damage is counted: {err}");
            }
        }
    }
    skipping.ok()
}

/// Captures of an archive of made-up sites, each in the bytes up to its end.
struct Intact {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The bytes after a capture that show that it is whole.
    proof: usize,
}

/// The start of a WARC record. A record without it behind its end may have a wrong length, so it
/// counts as damaged.
const PROOF_OF_WARC: usize = b"WARC/".len();

impl Intact {
    /// An archive of the records, as many as the input says.
    fn new(input: &mut Bytes<'_>, proof: usize, record: impl Fn(usize) -> Vec<u8>) -> Self {
        let mut archive = Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            proof,
        };
        for number in 0..usize::from(input.byte() % 6) + 1 {
            archive.bytes.extend(record(number));
            archive.ends.push(archive.bytes.len());
        }
        archive
    }

    /// Damages the archive behind a place, and asserts that captures before it are in the snapshot.
    fn check_damaged(&self, input: &mut Bytes<'_>, step: usize) {
        let at = input.number() % (self.bytes.len() + 1);
        let mut rest = self.bytes[at..].to_vec();
        while !input.is_empty() {
            mutate(&mut rest, input);
        }
        let damaged = [&self.bytes[..at], &rest].concat();
        let kept = self
            .ends
            .iter()
            .filter(|&&end| end + self.proof <= at)
            .count();
        let Some(compiled) = check(&damaged, step) else {
            assert_eq!(
                kept, 0,
                "an archive with intact captures at its start is refused"
            );
            return;
        };
        let snapshot = Snapshot::new(compiled.bytes).unwrap();
        for number in 0..kept {
            let origin = Origin::of(origin(number).as_bytes()).unwrap();
            let entry = snapshot.origin(&origin).unwrap();
            let entry = entry.unwrap_or_else(|| panic!("capture {number} of {kept} is lost"));
            if compiled.superseded == 0 {
                let text = snapshot.robots_text(&entry).unwrap();
                let expected = format!("user-agent: *\ndisallow: /{number}");
                assert_eq!(text.unwrap().trim_ascii(), expected.as_bytes());
            }
        }
    }
}

/// The origins of the made-up sites differ in several bytes, so damage rarely makes one of another.
fn origin(number: usize) -> String {
    format!(
        "https://{}.example",
        ["alpha", "beta-site", "c", "delta-delta", "ee", "f0"][number]
    )
}

fn warc_record(number: usize) -> Vec<u8> {
    let body = format!("user-agent: *\ndisallow: /{number}\n");
    let http = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {}/robots.txt\r\n\
         WARC-Date: 2026-09-15T06:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n\
         Content-Length: {}\r\n\r\n",
        origin(number),
        http.len()
    );
    format!("{head}{http}\r\n\r\n").into_bytes()
}

/// The line of an ARC record, which shows that the record before it is whole.
fn arc_line(number: usize, length: usize) -> String {
    let origin = origin(number);
    format!("{origin}/robots.txt 192.0.2.1 20260915060000 text/plain {length}\n")
}

fn arc_record(number: usize) -> Vec<u8> {
    let first = if number == 0 {
        "filedesc://x.arc 0.0.0.0 20260915060000 text/plain 12\n1 0 Crawler\n\n"
    } else {
        ""
    };
    let http = format!("HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /{number}\n");
    let line = arc_line(number, http.len());
    format!("{first}{line}{http}\n").into_bytes()
}

fn json_line(number: usize) -> Vec<u8> {
    format!(
        "{{\"url\": \"{}/robots.txt\", \"status\": 200, \"fetched_at\": 1789000000, \
         \"body\": \"user-agent: *\\ndisallow: /{number}\"}}\n",
        origin(number)
    )
    .into_bytes()
}

/// WARC: tokens, or an intact file that is damaged behind a place.
pub(crate) fn warc(input: &[u8]) {
    let mut input = Bytes(input);
    let (kind, step) = (input.byte(), usize::from(input.byte()) + 1);
    if kind % 4 == 0 {
        Intact::new(&mut input, PROOF_OF_WARC, warc_record).check_damaged(&mut input, step);
    } else {
        check(
            &[b"WARC/1.0\r\n", &expand(input.0, WARC)[..]].concat(),
            step,
        );
    }
}

/// ARC: the same, plain or with a gzip member for each record.
pub(crate) fn arc(input: &[u8]) {
    let mut input = Bytes(input);
    let (kind, step) = (input.byte(), usize::from(input.byte()) + 1);
    // The next record begins with a line of at most this length.
    let proof = arc_line(3, 99).len();
    match kind % 4 {
        0 => Intact::new(&mut input, proof, arc_record).check_damaged(&mut input, step),
        1 => {
            let member = |number| {
                let mut encoder = GzBuilder::new().write(Vec::new(), Compression::new(0));
                encoder.write_all(&arc_record(number)).unwrap();
                encoder.finish().unwrap()
            };
            Intact::new(&mut input, proof + 40, member).check_damaged(&mut input, step);
        }
        _ => {
            let text = expand(input.0, ARC);
            check(&[b"filedesc://", &text[..]].concat(), step);
        }
    }
}

/// JSON lines: the same as WARC.
pub(crate) fn jsonl(input: &[u8]) {
    let mut input = Bytes(input);
    let (kind, step) = (input.byte(), usize::from(input.byte()) + 1);
    if kind % 4 == 0 {
        Intact::new(&mut input, 0, json_line).check_damaged(&mut input, step);
    } else {
        check(&expand(input.0, JSON), step);
    }
}

/// Gzip: any bytes, or members with records that are damaged behind a place.
pub(crate) fn gzip_members(input: &[u8]) {
    let mut input = Bytes(input);
    let (kind, step) = (input.byte(), usize::from(input.byte()) + 1);
    if kind % 4 == 0 {
        return check_decoder(input.0, step);
    }
    let (level, header) = (input.byte(), input.byte());
    let member = |number: usize| {
        let record = if kind & 4 == 0 {
            warc_record(number)
        } else {
            json_line(number)
        };
        let mut builder = GzBuilder::new();
        if header & 1 << (number % 4) != 0 {
            builder = builder.filename("name").comment("comment");
        }
        if header & 16 << (number % 4) != 0 {
            builder = builder.extra(b"sl\x04\0\x01\x02\x03\x04".to_vec());
        }
        let mut encoder = builder.write(Vec::new(), Compression::new(u32::from(level) % 10));
        encoder.write_all(&record).unwrap();
        encoder.finish().unwrap()
    };
    Intact::new(&mut input, 0, member).check_damaged(&mut input, step);
}

/// The decoder gives the same bytes in one read as in many, and those of `flate2` if it accepts all.
///
/// zstd decodes a frame in one call if its input buffer has all of it, and by blocks if not. So the
/// bytes before damage depend on the steps.
fn check_decoder(bytes: &[u8], step: usize) {
    let decoded = |step: usize| -> Result<Vec<u8>, String> {
        let reader = decode(InSteps { inner: bytes, step }).map_err(|err| err.to_string())?;
        let mut out = Vec::new();
        let read = reader.take(1 << 24).read_to_end(&mut out);
        read.map(|_| out).map_err(|err| err.to_string())
    };
    let (whole, stepped) = (decoded(usize::MAX), decoded(step));
    let is_gzip = bytes.starts_with(b"\x1f\x8b");
    if is_gzip || whole.is_ok() || stepped.is_ok() {
        assert_eq!(whole, stepped, "in steps of {step} bytes");
    }
    let mut expected = Vec::new();
    let read = MultiGzDecoder::new(bytes)
        .take(1 << 24)
        .read_to_end(&mut expected);
    if is_gzip && read.is_ok() {
        assert!(
            whole.as_ref() == Ok(&expected),
            "flate2 decodes it, but: {whole:?}"
        );
    }
}

/// Captures files: a valid one, changed anywhere, or in its records with right checksums.
pub(crate) fn captures(input: &[u8]) {
    static VALID: OnceLock<Vec<u8>> = OnceLock::new();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("web.captures");
    let valid = VALID.get_or_init(|| {
        let mut compiler = Compiler::default();
        let lines: Vec<u8> = (0..6).flat_map(json_line).collect();
        let more = [
            r#"{"url": "https://b.example/robots.txt", "status": 301, "headers": {"Location": "https://c.example/x"}}"#,
            r#"{"url": "https://d.example/robots.txt", "error": "dns"}"#,
            r#"{"url": "https://e.example/robots.txt", "status": 404, "headers": {"Cache-Control": "max-age=9"}}"#,
        ];
        let lines = [lines, more.join("\n").into_bytes()].concat();
        compiler.add_reader("lines", &lines[..]).unwrap();
        compiler.write_captures(&path).unwrap();
        std::fs::read(&path).unwrap()
    });
    let mut input = Bytes(input);
    let (kind, step) = (input.byte(), usize::from(input.byte()) + 1);
    let forged = if kind % 2 == 0 {
        forged_captures(valid, |records| {
            while !input.is_empty() {
                mutate(records, &mut input);
            }
        })
    } else {
        let mut bytes = valid.clone();
        while !input.is_empty() {
            mutate(&mut bytes, &mut input);
        }
        bytes
    };
    check(&forged, step);
    std::fs::write(&path, &forged).unwrap();
    if let Ok(file) = CapturesFile::open(&path) {
        let is_verified = file.verify().is_ok();
        if is_verified {
            compile(&forged, false, usize::MAX).expect("a verified file compiles");
        }
    }
}
