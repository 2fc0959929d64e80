//! A stream of lines that are generated on demand.

use std::io::{self, Read};

/// The minimum number of bytes to generate at once.
const CHUNK: usize = 64 << 10;

/// A stream with a line per item; `push` appends a line without its line end.
pub(super) fn lines<T, I: Iterator<Item = T>>(
    items: I,
    push: impl FnMut(T, &mut Vec<u8>),
) -> LineStream<I, impl FnMut(T, &mut Vec<u8>)> {
    LineStream { items, push, buffer: Vec::new(), read: 0 }
}

/// The stream that [`lines`] returns.
pub(super) struct LineStream<I, P> {
    items: I,
    push: P,
    buffer: Vec<u8>,
    read: usize,
}

impl<T, I: Iterator<Item = T>, P: FnMut(T, &mut Vec<u8>)> Read for LineStream<I, P> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.read == self.buffer.len() {
            self.buffer.clear();
            self.read = 0;
            while self.buffer.len() < CHUNK
                && let Some(item) = self.items.next()
            {
                (self.push)(item, &mut self.buffer);
                self.buffer.push(b'\n');
            }
        }
        let len = to.len().min(self.buffer.len() - self.read);
        to[..len].copy_from_slice(&self.buffer[self.read..self.read + len]);
        self.read += len;
        Ok(len)
    }
}
