//! Inflates the gzip members of a buffer one at a time: each at once if it is short, else as a
//! stream. The text is held, and its length is bounded.

use crate::decode::member::{WholeMembers, header_len};
use crate::decode::member_stream::MemberStream;

/// Inflates members whose texts fit in memory.
pub(crate) struct MemberInflater {
    whole: WholeMembers,
    stream: MemberStream,
    text: Vec<u8>,
    max_text: usize,
}

impl MemberInflater {
    /// An inflater for texts of at most `max_text` bytes.
    pub(crate) fn new(max_text: usize) -> Self {
        Self {
            whole: WholeMembers::new(),
            stream: MemberStream::new(),
            text: Vec::new(),
            max_text,
        }
    }

    /// The text of the member at the start of `bytes`, and the length of the member. `None` if the
    /// member is not whole, is damaged, or has a longer text.
    pub(crate) fn inflate(&mut self, bytes: &[u8]) -> Option<(&[u8], usize)> {
        let header = header_len(bytes).ok()??;
        let body = &bytes[header..];
        // The member probably ends at the next header. If not, it is inflated again as a stream,
        // which finds the end.
        let probable = self.whole.next_start(body).unwrap_or(body.len());
        let (len, text_len) = match self.inflate_whole(&body[..probable]) {
            Some(text_len) => (header + probable, text_len),
            None => self.inflate_stream(bytes)?,
        };
        Some((&self.text[..text_len], len))
    }

    /// Inflates a member in one call: the length of its text.
    fn inflate_whole(&mut self, body: &[u8]) -> Option<usize> {
        let text_len = u32::from_le_bytes(*body.last_chunk()?) as usize;
        // Deflate shrinks a text to no less than a thousandth. A greater number is not that length.
        if text_len > self.max_text || text_len / 1100 > body.len() {
            return None;
        }
        if self.text.len() < text_len {
            self.text.resize(text_len, 0);
        }
        self.whole.inflate(body, &mut self.text)
    }

    /// Inflates a member as a stream: its length, and that of its text.
    fn inflate_stream(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        self.stream.reset();
        let mut used = 0;
        let mut len = 0;
        loop {
            // The trailer is at an unknown offset, so the text grows as it is inflated.
            if self.text.len() == len {
                let longer = (2 * len).max(1 << 16).min(self.max_text + 1);
                self.text.resize(longer.max(len), 0);
            }
            let fed = self
                .stream
                .feed(&bytes[used..], &mut self.text[len..])
                .ok()?;
            used += fed.used;
            len += fed.inflated;
            if len > self.max_text {
                return None;
            }
            if self.stream.is_done() {
                return Some((used, len));
            }
            if fed.used == 0 && fed.inflated == 0 {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip;

    #[test]
    fn members_end_where_they_end() {
        let stored = {
            // A member that holds two members without compression: false headers inside it.
            let inner = [gzip(b"WARC/1.0"), gzip(b"WARC/1.0")].concat();
            let mut out = Vec::new();
            let level = flate2::Compression::none();
            std::io::Read::read_to_end(
                &mut flate2::read::GzEncoder::new(&inner[..], level),
                &mut out,
            )
            .unwrap();
            out
        };
        let mut inflater = MemberInflater::new(100);
        for member in [gzip(b"text"), gzip(b""), stored, gzip(&[7; 100])] {
            for after in [&b""[..], b"\0\0\0", &gzip(b"next"), b"\x1f\x8b\x08"] {
                let bytes = [&member, after].concat();
                assert_eq!(
                    inflater.inflate(&bytes).map(|(_, len)| len),
                    Some(member.len()),
                    "{after:?}"
                );
            }
            for cut in 0..member.len() {
                assert_eq!(inflater.inflate(&member[..cut]), None);
            }
        }
        assert_eq!(
            inflater.inflate(&gzip(&[7; 101])),
            None,
            "the text is longer than the limit"
        );
    }
}
