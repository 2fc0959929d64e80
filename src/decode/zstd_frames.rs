//! A reader of zstd files with many frames. It finds where each frame begins: those of a `.warc.zst`
//! file hold one record each.

use std::io::{self, BufRead, BufReader, Read};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// The buffer of compressed bytes: a block of a frame has up to 128 KiB.
const INPUT_LEN: usize = 128 << 10;

/// Decodes the frames one after the other (RFC 8878).
pub(super) struct ZstdReader<R> {
    input: BufReader<R>,
    decoder: Decoder<'static>,
    position: FramePosition,
    /// Whether the bytes of the last read are the first of a frame.
    starts_frame: bool,
}

/// The position of the next byte to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FramePosition {
    /// Before a frame, or at the end of the input.
    Between,
    /// In a frame that has no decoded byte yet.
    Start,
    Inside,
}

impl<R: Read> ZstdReader<R> {
    /// A reader of frames with this dictionary, which may be empty.
    pub(super) fn new(input: R, dictionary: &[u8]) -> io::Result<Self> {
        Ok(Self {
            input: BufReader::with_capacity(INPUT_LEN, input),
            decoder: Decoder::with_dictionary(dictionary)?,
            position: FramePosition::Between,
            starts_frame: false,
        })
    }

    pub(super) fn get_ref(&self) -> &R {
        self.input.get_ref()
    }

    /// Whether the bytes of the last read are the first of a frame. A read never crosses the end of
    /// a frame.
    pub(super) fn starts_frame(&self) -> bool {
        self.starts_frame
    }
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let bytes = self.input.fill_buf()?;
            let is_end = bytes.is_empty();
            if self.position == FramePosition::Between {
                if is_end {
                    return Ok(0);
                }
                self.decoder.reinit()?;
                self.position = FramePosition::Start;
            }
            let mut input = InBuffer::around(bytes);
            let mut output = OutBuffer::around(&mut *out);
            // At the end of the input, the decoder may still hold decoded bytes.
            let is_complete = self.decoder.run(&mut input, &mut output)? == 0;
            let used = input.pos();
            let n = output.pos();
            self.input.consume(used);
            if n > 0 {
                self.starts_frame = self.position == FramePosition::Start;
                self.position = FramePosition::Inside;
            }
            if is_complete {
                self.position = FramePosition::Between;
            }
            if n > 0 {
                return Ok(n);
            }
            if is_end && !is_complete {
                let what = "the file ends inside a frame";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 3).unwrap()
    }

    #[test]
    fn frames_are_read_one_by_one() {
        let long = vec![b'x'; 1 << 20];
        let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
        let file = [
            frame(b"one"),
            frame(b""),
            skippable,
            frame(&long),
            frame(b"two"),
        ]
        .concat();
        for room in [1, 2, 4096, 2 << 20] {
            let mut reader = ZstdReader::new(file.as_slice(), &[]).unwrap();
            let mut starts = Vec::new();
            let mut text = Vec::new();
            let mut out = vec![0; room];
            loop {
                let n = reader.read(&mut out).unwrap();
                if n == 0 {
                    break;
                }
                if reader.starts_frame() {
                    starts.push(text.len());
                }
                text.extend_from_slice(&out[..n]);
            }
            assert_eq!(starts, [0, 3, 3 + long.len()], "{room}");
            assert_eq!(text, [b"one", long.as_slice(), b"two"].concat(), "{room}");
        }
    }

    #[test]
    fn incomplete_frames_and_other_bytes_are_errors() {
        let whole = frame(b"a text");
        for len in 1..whole.len() {
            let mut out = Vec::new();
            let read = ZstdReader::new(&whole[..len], &[])
                .unwrap()
                .read_to_end(&mut out);
            assert!(read.is_err(), "{len}");
        }
        let file = [whole, b"no frame".to_vec()].concat();
        let mut out = Vec::new();
        let mut reader = ZstdReader::new(file.as_slice(), &[]).unwrap();
        assert!(reader.read_to_end(&mut out).is_err());
        assert_eq!(out, b"a text");
    }
}
