//! The dictionary at the start of a `.warc.zst` file (IIPC, "WARC file format with Zstandard
//! compression", version 1.0), as ArchiveTeam writes them: its frames cannot be decompressed without
//! it.

use crate::error::Error;
use crate::file_format::ZSTD_MAGIC;
use std::io::{self, Read};

/// The magic number of the skippable frame that holds the dictionary.
pub(crate) const FRAME_MAGIC: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];

/// The magic number of a dictionary (RFC 8878 §6).
const DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// The longest dictionary that is read. Those of ArchiveTeam have up to 1 MiB.
const MAX_LEN: u64 = 16 << 20;

/// Reads the dictionary frame after its magic number. The dictionary itself may be compressed.
///
/// # Errors
/// I/O errors, and an error of damage that says what is wrong.
pub(super) fn read(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    let mut content = Vec::new();
    input.take(4).read_to_end(&mut content)?;
    if content.len() == len.len() {
        len.copy_from_slice(&content);
    }
    let len = u64::from(u32::from_le_bytes(len));
    if len > MAX_LEN {
        return Err(damaged(format!(
            "{len} bytes long; at most 16 MiB are read"
        )));
    }
    content.clear();
    input.take(len).read_to_end(&mut content)?;
    if content.len() as u64 != len || len == 0 {
        return Err(damaged("cut short"));
    }
    if content.starts_with(&ZSTD_MAGIC) {
        let mut decoded = Vec::new();
        zstd::stream::read::Decoder::new(content.as_slice())?
            .take(MAX_LEN + 1)
            .read_to_end(&mut decoded)
            .map_err(damaged)?;
        if decoded.len() as u64 > MAX_LEN {
            return Err(damaged("longer than 16 MiB"));
        }
        content = decoded;
    }
    if !content.starts_with(&DICTIONARY_MAGIC) {
        return Err(damaged("not in the format of dictionaries"));
    }
    Ok(content)
}

fn damaged(what: impl std::fmt::Display) -> io::Error {
    let what = format!("the zstd dictionary in the first frame: {what}");
    io::Error::other(Error::damaged(0, what, false))
}

#[cfg(test)]
mod tests {
    use crate::decode::Decoder;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use std::io::Read;

    /// A dictionary that `zstd --train` made from records of made-up robots.txt files, in base64.
    const DICTIONARY: &str = include_str!("test_dictionary.txt");

    const TEXT: &str = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n";

    fn dictionary() -> Vec<u8> {
        let text: String = DICTIONARY.split_whitespace().collect();
        STANDARD.decode(text).unwrap()
    }

    fn frame(content: &[u8]) -> Vec<u8> {
        let len = (content.len() as u32).to_le_bytes();
        [&super::FRAME_MAGIC[..], &len, content].concat()
    }

    /// Two frames that need the dictionary.
    fn records() -> Vec<u8> {
        let mut compressor = zstd::bulk::Compressor::with_dictionary(3, &dictionary()).unwrap();
        [TEXT, TEXT]
            .map(|text| compressor.compress(text.as_bytes()).unwrap())
            .concat()
    }

    fn decoded(file: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        let mut decoder = Decoder::new(file).map_err(|err| err.to_string())?;
        match decoder.read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(err) => Err(err.to_string()),
        }
    }

    #[test]
    fn records_are_decompressed_with_the_dictionary() {
        let packed = zstd::encode_all(dictionary().as_slice(), 3).unwrap();
        for dictionary in [&dictionary(), &packed] {
            let file = [frame(dictionary), records()].concat();
            assert_eq!(decoded(&file).unwrap(), TEXT.repeat(2));
            // Other skippable frames, also later ones, have no meaning here.
            let with_others = [&file[..], b"\x50\x2a\x4d\x18\x02\0\0\0xx", &records()].concat();
            assert_eq!(decoded(&with_others).unwrap(), TEXT.repeat(4));
        }
        assert!(decoded(&records()).is_err(), "they need it");
    }

    #[test]
    fn damaged_dictionaries_are_refused() {
        let whole = frame(&dictionary());
        for (file, message) in [
            (whole[..whole.len() - 1].to_vec(), "cut short"),
            (whole[..6].to_vec(), "cut short"),
            (frame(b""), "cut short"),
            (frame(b"no dictionary"), "not in the format"),
            (
                frame(&zstd::encode_all(TEXT.as_bytes(), 3).unwrap()),
                "not in the format",
            ),
            (
                frame(&zstd::encode_all(dictionary().as_slice(), 3).unwrap()[..40]),
                "first frame",
            ),
            (
                [&super::FRAME_MAGIC[..], &[0xff; 4]].concat(),
                "at most 16 MiB",
            ),
        ] {
            let err = decoded(&file).unwrap_err();
            assert!(err.contains(message), "{message}: {err}");
        }
        // A bomb: 1 GiB of zeros in a few KB.
        let bomb = zstd::encode_all(std::io::repeat(0).take(1 << 30), 3).unwrap();
        assert!(
            decoded(&frame(&bomb))
                .unwrap_err()
                .contains("longer than 16 MiB")
        );
    }
}
