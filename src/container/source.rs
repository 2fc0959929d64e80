//! A file that a job reads, and its first bytes, which decide its format.

use crate::atomic::is_standard_stream;
use crate::decode::{read_whole, standard_input};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// The most bytes that are read to recognise a file.
const MAX_START: usize = 256 << 10;

/// A file or a stream, of which at most the first bytes are read.
pub(crate) struct Source {
    /// The path of a file, or the name of a stream. Errors name it.
    pub path: PathBuf,
    kind: SourceKind,
    /// The first bytes, as many as it took to recognise the format.
    pub start: Vec<u8>,
}

enum SourceKind {
    /// A regular file, which is opened when its turn comes: there may be more files than a process
    /// can hold open.
    File,
    /// A pipe or a device. It can be opened only once, and opening it waits for its writer.
    Unopened,
    /// A part of a file, which is opened when its turn comes.
    Part(Box<Opener>),
    Stream(Box<dyn Read + Send>),
}

/// Opens a part of a file at its first byte.
type Opener = dyn Fn() -> io::Result<Box<dyn Read + Send>> + Send;

impl Source {
    /// A file by its path; `-` is standard input.
    ///
    /// # Errors
    /// I/O errors, also for a directory. They name the file.
    pub(crate) fn of_path(path: &Path) -> Result<Self> {
        if is_standard_stream(path) {
            return Ok(Self::of_reader("standard input", standard_input()));
        }
        let meta = std::fs::metadata(path).map_err(|err| Error::io(path, err))?;
        if meta.is_dir() {
            let what = "a directory where a list of URLs is expected";
            let err = io::Error::new(io::ErrorKind::IsADirectory, what);
            return Err(Error::io(path, err));
        }
        let kind = if meta.is_file() {
            SourceKind::File
        } else {
            SourceKind::Unopened
        };
        Ok(Self {
            path: path.to_owned(),
            kind,
            start: Vec::new(),
        })
    }

    pub(crate) fn of_reader(name: impl AsRef<Path>, reader: impl Read + Send + 'static) -> Self {
        Self {
            path: name.as_ref().to_owned(),
            kind: SourceKind::Stream(Box::new(reader)),
            start: Vec::new(),
        }
    }

    /// A part of a file, with a name for errors. `open` gives a new reader of the part from its first
    /// byte on.
    pub(crate) fn of_part(
        name: PathBuf,
        open: impl Fn() -> io::Result<Box<dyn Read + Send>> + Send + 'static,
    ) -> Self {
        Self {
            path: name,
            kind: SourceKind::Part(Box::new(open)),
            start: Vec::new(),
        }
    }

    /// Whether this is a regular file. Only such a file can be read from its end.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.kind, SourceKind::File)
    }

    /// Reads first bytes until `decide` gives an answer: one read suffices for nearly all files. A
    /// pipe is not read further than needed, because its writer may wait for an answer.
    ///
    /// `decide` also gets whether there are no more bytes. Then `None` is final.
    pub(crate) fn recognize<T>(
        &mut self,
        mut decide: impl FnMut(&Self, bool) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut reader = self.reopen()?;
        let mut step = 4096;
        let answer = loop {
            let read = read_once(&mut *reader, step, &mut self.start)
                .map_err(|err| Error::io(&self.path, err))?;
            let is_all = read == 0 || self.start.len() >= MAX_START;
            let answer = decide(self, is_all);
            if answer.is_some() || is_all {
                break answer;
            }
            step = (2 * step).min(MAX_START);
        };
        if !self.can_reopen() {
            self.kind = SourceKind::Stream(reader);
        }
        Ok(answer)
    }

    /// Whether the bytes can be read twice.
    fn can_reopen(&self) -> bool {
        matches!(self.kind, SourceKind::File | SourceKind::Part(_))
    }

    /// A reader of the bytes after `start`. That of a file, or of a part of one, reads it again.
    fn reopen(&mut self) -> Result<Box<dyn Read + Send>> {
        match &mut self.kind {
            SourceKind::Part(open) => open().map_err(|err| Error::io(&self.path, err)),
            // A stream is put back by the caller: its bytes cannot be read twice.
            SourceKind::Stream(reader) => Ok(std::mem::replace(reader, Box::new(io::empty()))),
            SourceKind::File | SourceKind::Unopened => {
                let file = File::open(&self.path).map_err(|err| Error::io(&self.path, err))?;
                Ok(read_whole(file))
            }
        }
    }

    /// Opens the file or stream, from its first byte on.
    pub(crate) fn into_reader(mut self) -> Result<Box<dyn Read + Send>> {
        let rest = self.reopen()?;
        if self.can_reopen() {
            return Ok(rest);
        }
        Ok(Box::new(Cursor::new(self.start).chain(rest)))
    }
}

/// Appends what one call of `read` gives, at most `step` bytes: the number of them.
fn read_once(reader: &mut dyn Read, step: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let len = bytes.len();
    bytes.resize(len + step, 0);
    let read = loop {
        match reader.read(&mut bytes[len..]) {
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    bytes.truncate(len + *read.as_ref().unwrap_or(&0));
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of one byte at a time.
    struct Slow<'b>(&'b [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = buf.len().min(1);
            self.0.read(&mut buf[..n])
        }
    }

    #[test]
    fn a_stream_is_read_no_further_than_needed_and_gives_all_bytes() {
        let mut source = Source::of_reader("slow", Slow(b"abcdef"));
        let third = source.recognize(|source, _| source.start.get(2).copied());
        assert_eq!(third.unwrap(), Some(b'c'));
        assert_eq!(source.start, b"abc");
        let mut all = Vec::new();
        source.into_reader().unwrap().read_to_end(&mut all).unwrap();
        assert_eq!(all, b"abcdef");
    }

    #[test]
    fn the_end_of_a_stream_ends_the_recognition() {
        let mut source = Source::of_reader("short", b"ab".as_slice());
        let mut calls = Vec::new();
        let answer = source.recognize(|source, is_all| {
            calls.push((source.start.len(), is_all));
            None::<()>
        });
        assert!(answer.unwrap().is_none());
        assert_eq!(calls, [(2, false), (2, true)]);
    }
}
