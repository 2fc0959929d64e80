//! Inflates a gzip member that is completely in memory, in one call of `libdeflater`.
//!
//! For 137 MB of half-kilobyte members, `libdeflater` takes 0.38 s and `zlib-rs` 0.62 to 0.73 s.
//! Idle workers that inflated upcoming members ahead saved less than a fifth on each of six lists.

use libdeflater::{Decompressor, crc32};
use memchr::memmem::{self, Finder};

/// The distance after its header in which the end of a member is searched. Records of robots.txt
/// files are far shorter, and longer members gain little.
pub(super) const MAX_MEMBER: usize = 1 << 17;

/// The first bytes of every member.
pub(crate) const MAGIC: &[u8] = &[0x1f, 0x8b, 8];

/// The length of the checksum and the length at the end of every member.
pub(super) const TRAILER_LEN: usize = 8;

/// The longest header. Only a name or a comment can make one long.
const MAX_HEADER: usize = 1 << 20;

/// The length of the header at the start of `bytes` (RFC 1952 §2.3.1); `None` if they end inside
/// it.
///
/// # Errors
/// The reason why it is not a header.
pub(super) fn header_len(bytes: &[u8]) -> Result<Option<usize>, &'static str> {
    let Some(fixed) = bytes.first_chunk::<10>() else {
        return Ok(None);
    };
    let flags = fixed[3];
    if fixed[..3] != *MAGIC || flags & 0xe0 != 0 {
        return Err("no gzip header here");
    }
    let len = optional_fields_end(bytes, flags).filter(|len| *len <= bytes.len());
    if len.is_none() && bytes.len() > MAX_HEADER {
        Err("a gzip header without end")
    } else {
        Ok(len)
    }
}

/// The end of the optional header fields.
fn optional_fields_end(bytes: &[u8], flags: u8) -> Option<usize> {
    let mut at = 10;
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            at += 1 + memchr::memchr(0, bytes.get(at..)?)?;
        }
    }
    Some(if flags & 2 != 0 { at + 2 } else { at })
}

/// Inflates whole members.
pub(super) struct WholeMembers {
    inflate: Decompressor,
    magic: Finder<'static>,
}

impl WholeMembers {
    pub(super) fn new() -> Self {
        Self {
            inflate: Decompressor::new(),
            magic: Finder::new(MAGIC),
        }
    }

    /// The offset of the first probable header. Compressed bytes may look like one.
    pub(super) fn next_start(&self, bytes: &[u8]) -> Option<usize> {
        self.magic.find(bytes)
    }

    /// Inflates `member`, the bytes from the end of a header to the end of the trailer, and returns
    /// the length of the text. `None` if `out` is too short or `member` is something else. Then the
    /// caller inflates it as a stream; `out` has arbitrary content.
    ///
    /// The library does not report the end of the stream. So the length and the checksum of the
    /// text must be the last bytes of `member` and occur nowhere before: bytes after the member
    /// never count as part of it. (Bytes inserted between stream and trailer go unnoticed. The text
    /// is right all the same.)
    pub(super) fn inflate(&mut self, member: &[u8], out: &mut [u8]) -> Option<usize> {
        let (stream, trailer) = member.split_last_chunk::<TRAILER_LEN>()?;
        let [a, b, c, d, len @ ..] = *trailer;
        let out = out.get_mut(..u32::from_le_bytes(len) as usize)?;
        let inflated = self.inflate.deflate_decompress(stream, out).ok()?;
        let is_whole = inflated == out.len() && crc32(out) == u32::from_le_bytes([a, b, c, d]);
        (is_whole && memmem::find(member, trailer) == Some(stream.len())).then_some(inflated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member without its header.
    fn member(text: &[u8]) -> Vec<u8> {
        crate::decode::gzip(text).split_off(10)
    }

    fn inflate(member: &[u8], room: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; room];
        let len = WholeMembers::new().inflate(member, &mut out)?;
        out.truncate(len);
        Some(out)
    }

    #[test]
    fn only_whole_members_that_fit_are_inflated() {
        let text = b"user-agent: *\ndisallow: /private\ndisallow: /private/too\n";
        let whole = member(text);
        assert_eq!(inflate(&whole, text.len()).as_deref(), Some(&text[..]));
        assert_eq!(inflate(&whole, 4096).as_deref(), Some(&text[..]));
        assert_eq!(inflate(&whole, text.len() - 1), None);
        for len in 0..whole.len() {
            assert_eq!(inflate(&whole[..len], 4096), None, "{len} bytes");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            // Only the padding bits in the last byte of the stream may have any value.
            let is_padding = at + TRAILER_LEN + 1 == whole.len();
            assert!(
                inflate(&damaged, 4096).is_none_or(|out| is_padding && out == text),
                "byte {at}"
            );
        }
    }

    #[test]
    fn bytes_after_a_member_are_no_part_of_it() {
        let whole = member(b"user-agent: *");
        for after in [
            &b"\0"[..],
            b"garbage",
            &whole[whole.len() - TRAILER_LEN..],
            &whole,
        ] {
            assert_eq!(inflate(&[&whole, after].concat(), 4096), None, "{after:?}");
        }
        // An empty member's end looks like the padding after it.
        assert_eq!(inflate(&member(b""), 0), None);
        assert_eq!(inflate(&[&member(b"")[..], &[0; 8]].concat(), 0), None);
    }
}
