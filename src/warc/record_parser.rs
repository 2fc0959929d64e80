//! A push parser of WARC records (ISO 28500): it finds the header and the end of each record in
//! text that arrives in pieces of any size. It holds one header and a sample, never a body.

use crate::archive::warc::{MAX_HEADER, content_length};

/// The first bytes of a record's block that are kept: enough for the HTTP head of a response.
pub(super) const MAX_SAMPLE: usize = 16 << 10;

/// Parses records one after the other.
#[derive(Debug, Default)]
pub(super) struct RecordParser {
    part: RecordPart,
    head: Vec<u8>,
    /// The start of the last line of `head`.
    line: usize,
    sample: Vec<u8>,
    /// The length of the record so far, from its first byte on.
    len: u64,
}

/// The part of the record that comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RecordPart {
    /// Blank lines before the first record.
    #[default]
    Before,
    Head,
    /// The rest of the block, in bytes.
    Block(u64),
    /// The blank lines that end a record.
    After,
}

/// The reason why [`RecordParser::feed`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParseStep {
    /// The text is used up.
    More,
    /// The text that was used precedes the first record.
    Blank,
    /// The header is complete.
    Head,
    /// The record is complete, and the next one begins here.
    Next,
}

impl RecordParser {
    /// Starts again before a record.
    pub(super) fn reset(&mut self) {
        self.head.clear();
        self.sample.clear();
        self.part = RecordPart::Before;
        self.line = 0;
        self.len = 0;
    }

    /// The header, if it is complete, with its blank line.
    pub(super) fn head(&self) -> Option<&[u8]> {
        matches!(self.part, RecordPart::Block(_) | RecordPart::After).then_some(&self.head)
    }

    /// The first bytes of the record's block.
    pub(super) fn sample(&self) -> &[u8] {
        &self.sample
    }

    /// The length of the record so far, with the blank lines that end it.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Uses some of `text`: the number of bytes, and the reason to stop there. After
    /// [`ParseStep::Next`] the caller resets the parser.
    ///
    /// # Errors
    /// The reason why the text is not a WARC record.
    pub(super) fn feed(&mut self, text: &[u8]) -> Result<(usize, ParseStep), &'static str> {
        let mut used = 0;
        while used < text.len() {
            let rest = &text[used..];
            let step = match self.part {
                RecordPart::Before => {
                    let blank = blank_len(rest);
                    if blank > 0 {
                        return Ok((used + blank, ParseStep::Blank));
                    }
                    self.part = RecordPart::Head;
                    continue;
                }
                RecordPart::Head => {
                    let step = self.feed_head(rest)?;
                    if self.head().is_some() {
                        self.len += step as u64;
                        return Ok((used + step, ParseStep::Head));
                    }
                    step
                }
                RecordPart::Block(left) => {
                    let step = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    // An index needs only the HTTP head, so the first bytes suffice.
                    let sampled = step.min(MAX_SAMPLE - self.sample.len());
                    self.sample.extend_from_slice(&rest[..sampled]);
                    let left = left - step as u64;
                    self.part = if left > 0 {
                        RecordPart::Block(left)
                    } else {
                        RecordPart::After
                    };
                    step
                }
                // Only the version line of a record may follow. Anything else is the rest of a
                // block that is longer than its header says.
                RecordPart::After => match blank_len(rest) {
                    0 if rest[0] == b'W' => return Ok((used, ParseStep::Next)),
                    0 => {
                        return Err(
                            "no WARC record follows this one, so its Content-Length is wrong",
                        );
                    }
                    blank => blank,
                },
            };
            self.len += step as u64;
            used += step;
        }
        Ok((used, ParseStep::More))
    }

    /// Adds a line, or its start, to the header. The blank line after it starts the block.
    fn feed_head(&mut self, rest: &[u8]) -> Result<usize, &'static str> {
        let line_end = memchr::memchr(b'\n', rest);
        let step = line_end.map_or(rest.len(), |end| end + 1);
        if self.head.len() as u64 + step as u64 > MAX_HEADER {
            return Err("a WARC header without end");
        }
        self.head.extend_from_slice(&rest[..step]);
        // The start may be incomplete, so as much as there is of it is compared.
        let magic = b"WARC/".len().min(self.head.len());
        if self.head[..magic] != b"WARC/"[..magic] {
            return Err("a WARC record should begin here");
        }
        if line_end.is_some() {
            let is_blank = self.head[self.line..].iter().all(|b| b"\r\n".contains(b));
            self.line = self.head.len();
            if is_blank {
                let length = content_length(&self.head)
                    .ok_or("WARC record without a valid Content-Length")?;
                self.part = if length > 0 {
                    RecordPart::Block(length)
                } else {
                    RecordPart::After
                };
            }
        }
        Ok(step)
    }

    /// Ends the text: whether it ends with a record, or holds none.
    ///
    /// # Errors
    /// If it ends inside a record.
    pub(super) fn finish(&self) -> Result<bool, &'static str> {
        match self.part {
            RecordPart::Before => Ok(false),
            RecordPart::After => Ok(true),
            RecordPart::Head => Err("ends inside a WARC header"),
            RecordPart::Block(_) => Err("ends inside a WARC record, before its Content-Length"),
        }
    }
}

/// The length of the line ends at the start.
fn blank_len(text: &[u8]) -> usize {
    text.iter().take_while(|b| b"\r\n".contains(b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] =
        b"\r\nWARC/1.0\r\nContent-Length: 3\r\n\r\nabc\r\n\r\nWARC/1.1\nContent-Length: 0\n\n\n\n";

    /// A record, and its sample.
    type Sampled = (Vec<u8>, Vec<u8>);

    /// The records of a text that arrives in pieces of `step` bytes, each with its sample.
    fn records(text: &[u8], step: usize) -> Result<Vec<Sampled>, &'static str> {
        let (mut parser, mut records, mut record) =
            (RecordParser::default(), Vec::new(), Vec::new());
        for mut piece in text.chunks(step) {
            while !piece.is_empty() {
                let (used, step) = parser.feed(piece)?;
                if step != ParseStep::Blank {
                    record.extend_from_slice(&piece[..used]);
                }
                piece = &piece[used..];
                if step == ParseStep::Next {
                    assert_eq!(parser.len(), record.len() as u64);
                    records.push((std::mem::take(&mut record), parser.sample().to_vec()));
                    parser.reset();
                }
            }
        }
        if parser.finish()? {
            records.push((record, parser.sample().to_vec()));
        }
        Ok(records)
    }

    #[test]
    fn pieces_of_any_size_give_the_records() {
        let (first, second) = TWO[2..].split_at(38);
        for step in 1..=TWO.len() {
            let expected = vec![
                (first.to_vec(), b"abc".to_vec()),
                (second.to_vec(), Vec::new()),
            ];
            assert_eq!(records(TWO, step), Ok(expected), "{step}");
        }
        assert_eq!(records(b"\r\n\n", 1), Ok(Vec::new()));
    }

    #[test]
    fn damage_is_an_error() {
        for (text, expected) in [
            (&b"WARD/1.0\r\n"[..], "should begin here"),
            (b"WARC/1.0\r\n\r\n", "without a valid Content-Length"),
            (
                b"WARC/1.0\r\nContent-Length: -1\r\n\r\n",
                "without a valid Content-Length",
            ),
            (
                b"WARC/1.0\r\nContent-Length: 99999999999999\r\n\r\n",
                "without a valid Content-Length",
            ),
            (b"WARC/1.0\r\nContent-Length: 3\r\n", "inside a WARC header"),
            (
                b"WARC/1.0\r\nContent-Length: 3\r\n\r\nab",
                "inside a WARC record",
            ),
            (
                b"WARC/1.0\r\nContent-Length: 3\r\n\r\nabcd",
                "Content-Length is wrong",
            ),
            (
                &[b"WARC/".as_slice(), &[b'x'; 1 << 20]].concat(),
                "without end",
            ),
        ] {
            for step in [1, 7, text.len()] {
                assert!(
                    records(text, step).unwrap_err().contains(expected),
                    "{expected} {step}"
                );
            }
        }
    }
}
