//! Detects regular files that become shorter while they are read. Otherwise the missing end would
//! go unnoticed.

use crate::pipe::enlarge_pipe;
use std::fs::File;
use std::io::{self, Read};

/// Reads a file, which must not end before its length at opening. A file that grows is read to its
/// new end.
pub(crate) struct WholeFile<R> {
    inner: R,
    /// The bytes that the file had at opening and that are still unread.
    left: u64,
}

impl<R: Read> Read for WholeFile<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        if n == 0 && !buf.is_empty() && self.left > 0 {
            return Err(became_shorter());
        }
        self.left = self.left.saturating_sub(n as u64);
        Ok(n)
    }
}

/// The error that a file has fewer bytes than when it was opened.
pub(crate) fn became_shorter() -> io::Error {
    let what = "the file became shorter while it was read; run it again when nothing writes to it";
    io::Error::new(io::ErrorKind::UnexpectedEof, what)
}

/// A reader of an open file. A regular file must not become shorter. A pipe gets a large buffer.
pub(crate) fn read_whole(file: File) -> Box<dyn Read + Send> {
    match file.metadata() {
        Ok(meta) if meta.is_file() => Box::new(WholeFile {
            inner: file,
            left: meta.len(),
        }),
        _ => {
            enlarge_pipe(&file);
            Box::new(file)
        }
    }
}

/// Standard input. A regular file must not become shorter. A pipe gets a large buffer.
pub(crate) fn standard_input() -> Box<dyn Read + Send> {
    enlarge_pipe(io::stdin());
    Box::new(WholeFile {
        inner: io::stdin(),
        left: redirected_len().unwrap_or(0),
    })
}

/// The remaining bytes of standard input if it is a regular file.
#[cfg(unix)]
fn redirected_len() -> Option<u64> {
    use std::io::Seek;
    use std::os::fd::AsFd;
    // A copy of the descriptor shares the file position.
    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let meta = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(meta.len().saturating_sub(file.stream_position().ok()?))
}

#[cfg(not(unix))]
fn redirected_len() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_bytes_than_at_opening_are_an_error() {
        for (has, left) in [(0, 0), (3, 3), (5, 3), (0, 1), (3, 4)] {
            let mut out = Vec::new();
            let read = WholeFile {
                inner: &b"xxxxx"[..has],
                left,
            }
            .read_to_end(&mut out);
            match read {
                Ok(_) => assert!(out.len() == has && has as u64 >= left),
                Err(err) => assert!(
                    (has as u64) < left && err.to_string().contains("became shorter"),
                    "{err}"
                ),
            }
        }
    }
}
