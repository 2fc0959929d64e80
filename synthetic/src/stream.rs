//! A stream of lines that are generated on demand.

use std::io::{self, Cursor, Read};

/// The minimum number of bytes to generate at once.
const CHUNK: usize = 64 << 10;

/// A stream with a line per item; `push` appends a line without its line end.
pub(super) fn lines<T>(
    items: impl Iterator<Item = T>,
    push: impl FnMut(T, &mut Vec<u8>),
) -> impl Read {
    LineStream {
        items,
        push,
        buffer: Cursor::default(),
    }
}

struct LineStream<I, P> {
    items: I,
    push: P,
    buffer: Cursor<Vec<u8>>,
}

impl<T, I: Iterator<Item = T>, P: FnMut(T, &mut Vec<u8>)> Read for LineStream<I, P> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.buffer.position() == self.buffer.get_ref().len() as u64 {
            self.buffer.set_position(0);
            let text = self.buffer.get_mut();
            text.clear();
            while text.len() < CHUNK
                && let Some(item) = self.items.next()
            {
                (self.push)(item, text);
                text.push(b'\n');
            }
        }
        self.buffer.read(to)
    }
}
