//! Digests that WARC records state for their payloads (`WARC-Payload-Digest`), in one form.
//!
//! Recorders write SHA-1 in base32 and SHA-256 in hexadecimal digits, some the reverse, with or
//! without padding. The value is decoded, so that two spellings of one digest are equal. The digest
//! of the decoded value stands for it: 16 bytes for any algorithm.

use crate::bytes::trim;
use crate::digest::{Digest, StreamDigest};

/// The algorithms with known lengths: the name without its hyphen, and the bytes of a digest.
const KNOWN: [(&[u8], usize); 5] = [
    (b"md5", 16),
    (b"sha1", 20),
    (b"sha256", 32),
    (b"sha384", 48),
    (b"sha512", 64),
];

/// The digest in a value such as `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`. `None` for a value of
/// another form.
///
/// The value of an unknown algorithm is compared as it is written.
pub(super) fn parse(value: &[u8]) -> Option<Digest> {
    let colon = memchr::memchr(b':', value)?;
    let mut algorithm = trim(&value[..colon]).to_ascii_lowercase();
    algorithm.retain(|&b| b != b'-');
    let text = trim(&value[colon + 1..]);
    if algorithm.is_empty() || text.is_empty() {
        return None;
    }
    let decoded = match KNOWN.iter().find(|(name, _)| *name == algorithm) {
        Some((_, len)) => decode(text, *len)?,
        None => text.to_vec(),
    };
    let mut digest = StreamDigest::default();
    for part in [&*algorithm, b":", &*decoded] {
        digest.update(part);
    }
    Some(digest.finish())
}

/// Decodes a text of hexadecimal or base32 digits (RFC 4648) to `len` bytes. The number of the
/// digits decides which it is.
fn decode(text: &[u8], len: usize) -> Option<Vec<u8>> {
    let padding = text.iter().rev().take_while(|&&b| b == b'=').count();
    let digits = &text[..text.len() - padding];
    let (bits_per_digit, value_of): (u32, fn(u8) -> Option<u8>) = if digits.len() == 2 * len {
        (4, hex_value)
    } else if digits.len() == (8 * len).div_ceil(5) {
        (5, base32_value)
    } else {
        return None;
    };
    let mut decoded = Vec::with_capacity(len);
    let mut pending = 0_u32;
    let mut pending_bits = 0;
    for &digit in digits {
        pending = pending << bits_per_digit | u32::from(value_of(digit)?);
        pending_bits += bits_per_digit;
        if pending_bits >= 8 {
            pending_bits -= 8;
            decoded.push((pending >> pending_bits) as u8);
            pending &= (1 << pending_bits) - 1;
        }
    }
    // The last digit of base32 may have bits after the last byte, which are zero.
    (pending == 0).then_some(decoded)
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

fn base32_value(digit: u8) -> Option<u8> {
    match digit.to_ascii_uppercase() {
        letter @ b'A'..=b'Z' => Some(letter - b'A'),
        digit @ b'2'..=b'7' => Some(digit - b'2' + 26),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The empty payload, as several recorders write its digest.
    #[test]
    fn spellings_of_one_digest_are_equal() {
        let sha1 = parse(b"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert!(sha1.is_some());
        for spelling in [
            "SHA1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
            " sha-1 : 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ ",
            "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "sha1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
        ] {
            assert_eq!(parse(spelling.as_bytes()), sha1, "{spelling}");
        }
        let hex = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let sha256 = parse(hex.as_bytes());
        assert!(sha256.is_some() && sha256 != sha1);
        for spelling in [
            "sha-256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ",
            "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====",
        ] {
            assert_eq!(parse(spelling.as_bytes()), sha256, "{spelling}");
        }
    }

    #[test]
    fn other_values_are_not_digests() {
        for value in [
            "",
            "sha1",
            "sha1:",
            ":3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY",
            "sha1:1I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:ga39a3ee5e6b4b0d3255bfef95601890afd80709",
            "sha256:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            // Bits after the last byte.
            "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKR",
        ] {
            assert_eq!(parse(value.as_bytes()), None, "{value}");
        }
        let unknown = parse(b"blake3:Ab");
        assert!(unknown.is_some() && unknown != parse(b"blake3:ab"));
    }
}
