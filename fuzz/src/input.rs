//! Bytes as structured inputs.
//!
//! libFuzzer changes, inserts and copies bytes. So that such a step has a sensible effect, a byte
//! of 0x80 or more stands for a whole token of the target's grammar ([`expand`]), such as
//! `Disallow: `, and any other byte for itself. [`Bytes`] takes numbers and parts from the front.

use std::io::Read;

/// Replaces every byte of 0x80 or more by a token. Bytes after the last token stand for themselves,
/// and 0xff for the byte behind it, so that every text can be written.
pub fn expand(input: &[u8], tokens: &[&str]) -> Vec<u8> {
    assert!(tokens.len() < 0x70, "bytes must remain for themselves");
    let mut out = Vec::new();
    let mut bytes = input.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            0xff => out.extend(bytes.next()),
            0x80.. => match tokens.get(usize::from(byte - 0x80)) {
                Some(token) => out.extend_from_slice(token.as_bytes()),
                None => out.push(byte),
            },
            _ => out.push(byte),
        }
    }
    out
}

/// The input that [`expand`] makes `text` of: the longest token at each position.
pub fn condense(text: &[u8], tokens: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let found = tokens.iter().enumerate();
        let found =
            found.filter(|(_, token)| !token.is_empty() && rest.starts_with(token.as_bytes()));
        match found.max_by_key(|(_, token)| token.len()) {
            Some((number, token)) if token.len() > 1 => {
                out.push(0x80 + number as u8);
                rest = &rest[token.len()..];
            }
            _ => {
                out.extend(if byte < 0x80 { &[][..] } else { &[0xff] });
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}

/// Takes numbers and parts from the front of an input. At its end, numbers are 0 and parts empty.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&byte, rest)) => {
                self.0 = rest;
                byte
            }
            None => 0,
        }
    }

    /// The next two bytes, little-endian.
    pub fn number(&mut self) -> usize {
        usize::from(self.byte()) | usize::from(self.byte()) << 8
    }

    /// One of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::from(self.byte()) % items.len()]
    }

    /// The bytes before the next `separator`, which is dropped, or the rest.
    pub fn part(&mut self, separator: u8) -> &'a [u8] {
        let end = self.0.iter().position(|&byte| byte == separator);
        let (part, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest.get(1..).unwrap_or_default();
        part
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A reader that gives at most `step` bytes at a time: 1, or a few.
pub struct InSteps<R> {
    /// What it reads.
    pub inner: R,
    /// The most bytes of a read; at least 1.
    pub step: usize,
}

impl<R: Read> Read for InSteps<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = buffer.len().min(self.step);
        self.inner.read(&mut buffer[..len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condensed_texts_expand_to_themselves() {
        let tokens = ["allow: ", "a", "", "\n", "allow"];
        for text in [&b"allow: /a\nallow\xff\x80\xc3\xa4"[..], b"", b"\xff"] {
            let condensed = condense(text, &tokens);
            assert_eq!(expand(&condensed, &tokens), text);
        }
        assert_eq!(condense(b"allow: allow\n", &tokens), [0x80, 0x84, b'\n']);
    }
}
