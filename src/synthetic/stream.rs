//! Lines made one by one, read as a stream.

use std::io::{self, Read};

/// A buffer is filled to at least this much before it is read.
const CHUNK: usize = 64 << 10;

/// A stream of a line for each item; `push` appends one without its end.
pub(super) fn lines<T, I: Iterator<Item = T>>(
    items: I,
    push: impl FnMut(T, &mut Vec<u8>),
) -> Lines<I, impl FnMut(T, &mut Vec<u8>)> {
    Lines { items, push, buffer: Vec::new(), read: 0 }
}

pub(super) struct Lines<I, P> {
    items: I,
    push: P,
    buffer: Vec<u8>,
    read: usize,
}

impl<T, I: Iterator<Item = T>, P: FnMut(T, &mut Vec<u8>)> Read for Lines<I, P> {
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
