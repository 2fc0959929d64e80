//! Inflates one gzip member from pieces of any size, and finds its end.

use crate::decode::member::{TRAILER_LEN, header_len};
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// A member that is fed piece by piece (RFC 1952). It holds its header and its trailer at most,
/// never its text.
pub(crate) struct MemberStream {
    inflate: Decompress,
    crc: Crc,
    /// The bytes of the header or the trailer so far.
    held: Vec<u8>,
    part: MemberPart,
}

/// The part of the member that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberPart {
    Header,
    Body,
    Trailer,
    Done,
}

/// The effect of one call of [`MemberStream::feed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fed {
    /// Bytes of the member that were used.
    pub used: usize,
    /// Bytes of text that were written.
    pub inflated: usize,
}

impl MemberStream {
    pub(crate) fn new() -> Self {
        Self {
            inflate: Decompress::new(false),
            crc: Crc::new(),
            held: Vec::new(),
            part: MemberPart::Header,
        }
    }

    /// Starts again at the first byte of another member.
    pub(crate) fn reset(&mut self) {
        self.inflate.reset(false);
        self.crc.reset();
        self.held.clear();
        self.part = MemberPart::Header;
    }

    /// Whether the member is complete, and its length and checksum are right.
    pub(crate) fn is_done(&self) -> bool {
        self.part == MemberPart::Done
    }

    /// Uses some of `bytes`, and writes text to `out`. Without progress, the member is
    /// [done](Self::is_done), `bytes` is empty, or `out` is.
    ///
    /// # Errors
    /// The reason why the bytes are not a gzip member.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut [u8]) -> Result<Fed, String> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            match self.part {
                MemberPart::Header => used += self.feed_header(rest)?,
                MemberPart::Body => {
                    let fed = self.feed_body(rest, out)?;
                    used += fed.used;
                    if fed.inflated > 0 || self.part == MemberPart::Body {
                        return Ok(Fed {
                            used,
                            inflated: fed.inflated,
                        });
                    }
                }
                MemberPart::Trailer => used += self.feed_trailer(rest)?,
                MemberPart::Done => return Ok(Fed { used, inflated: 0 }),
            }
            if used == bytes.len() && self.part != MemberPart::Body {
                return Ok(Fed { used, inflated: 0 });
            }
        }
    }

    fn feed_header(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let before = self.held.len();
        // Most headers have ten bytes. A longer one is fetched in growing steps.
        let mut used = 0;
        while used < bytes.len() {
            let step = (10_usize.saturating_sub(self.held.len()))
                .max(self.held.len())
                .min(bytes.len() - used);
            self.held.extend_from_slice(&bytes[used..used + step]);
            used += step;
            if let Some(len) = header_len(&self.held)? {
                self.held.clear();
                self.part = MemberPart::Body;
                return Ok(len - before);
            }
        }
        Ok(used)
    }

    fn feed_body(&mut self, bytes: &[u8], out: &mut [u8]) -> Result<Fed, String> {
        let before_in = self.inflate.total_in();
        let before_out = self.inflate.total_out();
        let status = self
            .inflate
            .decompress(bytes, out, FlushDecompress::None)
            .map_err(|err| err.to_string())?;
        let used = (self.inflate.total_in() - before_in) as usize;
        let inflated = (self.inflate.total_out() - before_out) as usize;
        self.crc.update(&out[..inflated]);
        if status == Status::StreamEnd {
            self.part = MemberPart::Trailer;
        }
        Ok(Fed { used, inflated })
    }

    fn feed_trailer(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let used = bytes.len().min(TRAILER_LEN - self.held.len());
        self.held.extend_from_slice(&bytes[..used]);
        if self.held.len() == TRAILER_LEN {
            let expected = [
                self.crc.sum().to_le_bytes(),
                self.crc.amount().to_le_bytes(),
            ]
            .concat();
            if self.held != expected {
                return Err("its checksum does not fit its content".to_owned());
            }
            self.part = MemberPart::Done;
        }
        Ok(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip;
    use std::io::Write;

    fn named(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::GzBuilder::new()
            .filename("a-long-name-of-a-file")
            .extra(vec![1; 40])
            .write(Vec::new(), flate2::Compression::default());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    /// The text of a member, and its length, from pieces of `step` bytes into `room` bytes.
    fn inflate(bytes: &[u8], step: usize, room: usize) -> Result<Option<(Vec<u8>, usize)>, String> {
        let (mut stream, mut text, mut at, mut out) =
            (MemberStream::new(), Vec::new(), 0, vec![0; room]);
        while at < bytes.len() && !stream.is_done() {
            let fed = stream.feed(&bytes[at..bytes.len().min(at + step)], &mut out)?;
            text.extend_from_slice(&out[..fed.inflated]);
            at += fed.used;
        }
        Ok(stream.is_done().then_some((text, at)))
    }

    #[test]
    fn pieces_of_any_size_give_the_member() {
        let text: Vec<u8> = (0..3000_u32).map(|n| (n * n % 251) as u8).collect();
        for member in [gzip(b""), gzip(&text), named(&text)] {
            let len = member.len();
            let followed = [member, b"garbage".to_vec()].concat();
            for (step, room) in [
                (1, 1),
                (1, 4096),
                (3, 7),
                (11, 64),
                (4096, 1),
                (1 << 20, 1 << 20),
            ] {
                let (read, used) = inflate(&followed, step, room).unwrap().unwrap();
                assert!(
                    used == len && (read.is_empty() || read == text),
                    "{step} {room}: {used} of {len}"
                );
            }
            for cut in 0..len {
                assert_eq!(inflate(&followed[..cut], 5, 64), Ok(None), "{cut}");
            }
        }
    }

    #[test]
    fn damage_is_an_error_or_an_unfinished_member() {
        let member = named(b"some text, some text");
        for at in 0..member.len() {
            let mut damaged = member.clone();
            damaged[at] ^= 0x11;
            if let Ok(Some((text, _))) = inflate(&damaged, 4096, 4096) {
                assert_eq!(text, b"some text, some text", "byte {at}");
            }
        }
    }
}
