//! How WARC and ARC files differ from lists: by their first decoded bytes.

use crate::arc::ARC_MAGIC;
use crate::container::source::Source;
use crate::decode::{DICTIONARY_FRAME, Decoder, MemberStream};
use crate::file_format::{FileFormat, WARC_MAGIC};
use std::io::Read;
use std::path::Path;

/// The decoded bytes that decide: `WARC/` and a digit, or [`ARC_MAGIC`].
const DECIDED: usize = ARC_MAGIC.len();

/// The format of the records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordSyntax {
    Warc,
    Arc,
}

/// The format of the records in a file; `Some(None)` if it is another file, `None` if more bytes have
/// to decide.
///
/// A file named `.arc` is ARC if its content is not another known format: a part of an ARC file begins
/// with any record. As a list it would have the text of pages as URLs.
pub(super) fn syntax_of(source: &Source, is_all: bool) -> Option<Option<RecordSyntax>> {
    let syntax = syntax_of_content(&source.start, is_all)?;
    let format = FileFormat::of(&source.start);
    let may_be_arc = matches!(format, None | Some(FileFormat::Gzip | FileFormat::Zstd));
    Some(match syntax {
        None if may_be_arc && is_named_arc(&source.path) => Some(RecordSyntax::Arc),
        syntax => syntax,
    })
}

fn is_named_arc(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    [".arc", ".arc.gz"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// As [`syntax_of`], by the first bytes alone.
fn syntax_of_content(bytes: &[u8], is_all: bool) -> Option<Option<RecordSyntax>> {
    // Only WARC files begin so, and the dictionary can be longer than the bytes that are here.
    if bytes.starts_with(&DICTIONARY_FRAME) {
        return Some(Some(RecordSyntax::Warc));
    }
    let decoded = match FileFormat::of(bytes) {
        Some(FileFormat::Gzip) => gzip_start(bytes),
        Some(FileFormat::Zstd) => zstd_start(bytes),
        _ => Ok(bytes[..bytes.len().min(DECIDED)].to_vec()),
    };
    // Damage is reported by the reader of lists.
    let Ok(decoded) = decoded else {
        return Some(None);
    };
    let version = decoded.strip_prefix(WARC_MAGIC).and_then(<[u8]>::first);
    if version.is_some_and(u8::is_ascii_digit) {
        return Some(Some(RecordSyntax::Warc));
    }
    if decoded.starts_with(ARC_MAGIC) {
        return Some(Some(RecordSyntax::Arc));
    }
    // The first byte of a compressed file is not enough to recognise it.
    let is_open = WARC_MAGIC.starts_with(&decoded)
        || ARC_MAGIC.starts_with(&decoded)
        || bytes.len() < 4 && may_be_compressed(bytes);
    (is_all || !is_open).then_some(None)
}

fn may_be_compressed(bytes: &[u8]) -> bool {
    matches!(bytes.first(), None | Some(0x1f | 0x28 | 0x50..=0x5f))
}

/// The first bytes of the text of gzip members.
fn gzip_start(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut stream = MemberStream::new();
    let mut out = [0; DECIDED];
    let mut len = 0;
    let mut at = 0;
    loop {
        let fed = stream.feed(&bytes[at..], &mut out[len..])?;
        at += fed.used;
        len += fed.inflated;
        if stream.is_done() && at < bytes.len() {
            stream.reset();
        } else if len == DECIDED || fed.used == 0 && fed.inflated == 0 {
            return Ok(out[..len].to_vec());
        }
    }
}

/// The first bytes of a zstd stream.
fn zstd_start(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut decoder = Decoder::new(bytes).map_err(|err| err.to_string())?;
    let mut out = Vec::new();
    // The end of `bytes` inside a frame is not damage.
    let _ = decoder.by_ref().take(DECIDED as u64).read_to_end(&mut out);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip;

    const WARC: &[u8] = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    const ARC: &[u8] = b"filedesc://x.arc 0.0.0.0 20010101000000 text/plain 0\n";

    fn is_warc(bytes: &[u8], is_all: bool) -> Option<bool> {
        syntax_of_content(bytes, is_all).map(|syntax| syntax.is_some())
    }

    #[test]
    fn the_first_decoded_bytes_decide() {
        let zstd = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
        for (bytes, expected) in [
            (WARC.to_vec(), true),
            (gzip(WARC), true),
            (zstd(WARC), true),
            ([gzip(b""), gzip(WARC)].concat(), true),
            ([gzip(b"WA"), gzip(b"RC/1.1")].concat(), true),
            (b"WARC/".to_vec(), false),
            (ARC.to_vec(), true),
            (gzip(ARC), true),
            ([gzip(b"filedesc:"), gzip(b"//x.arc")].concat(), true),
            (b"filedesc:/".to_vec(), false),
            (b"WARC/x".to_vec(), false),
            (b"https://a.example/\n".to_vec(), false),
            (b"".to_vec(), false),
            (DICTIONARY_FRAME.to_vec(), true),
            (b"\x1f\x8b".to_vec(), false),
            (gzip(b"https://a.example/\n"), false),
            (zstd(b"(https://a.example/\n"), false),
            (b"(a".to_vec(), false),
        ] {
            assert_eq!(
                is_warc(&bytes, true),
                Some(expected),
                "{}",
                bytes.escape_ascii()
            );
            // An answer to fewer bytes holds for all of them.
            for len in 0..bytes.len() {
                let early = is_warc(&bytes[..len], false);
                assert!(early.is_none_or(|early| early == expected), "{len}");
            }
        }
    }

    #[test]
    fn few_bytes_decide() {
        assert_eq!(is_warc(b"h", false), Some(false));
        assert_eq!(is_warc(b"WARC/", false), None);
        let warc = syntax_of_content(b"WARC/1", false);
        assert_eq!(warc, Some(Some(RecordSyntax::Warc)));
        let arc = syntax_of_content(b"filedesc://", false);
        assert_eq!(arc, Some(Some(RecordSyntax::Arc)));
        assert_eq!(is_warc(b"fi", false), None);
        assert_eq!(is_warc(b"ft", false), Some(false));
    }
}
