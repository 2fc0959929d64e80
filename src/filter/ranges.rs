//! Files of which several threads read, each at a place of its own.
//!
//! Copying a list out of the system's cache takes half as long as judging a sorted one. Read in turn, by one worker at a time, that
//! half does not become shorter with more of them; so workers are only told in turn which lines are theirs.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far before the place where a range should end a line end is looked for. A longer line is read in turn.
const PROBE: usize = 4 << 10;

/// Reads what there is at a place, up to the length of `buf`; the file's own position does not matter.
pub(super) fn read_at(file: &File, buf: &mut [u8], place: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buf, place);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buf, place);
}

/// A plain file, read from its beginning to its end in ranges of whole lines, or bit by bit. Clones share the place.
#[derive(Clone, Debug)]
pub(super) struct RangedFile {
    file: Arc<(File, PathBuf)>,
    /// Where reading goes on.
    place: Arc<AtomicU64>,
}

impl RangedFile {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|err| Error::io(path, err))?;
        Ok(Self { file: Arc::new((file, path.to_owned())), place: Arc::default() })
    }

    pub(super) fn place(&self) -> u64 {
        self.place.load(Ordering::Relaxed)
    }

    /// Takes whole lines, `len` bytes of them at most, from `back` bytes before the place on, and sets the place behind them. `None` where no
    /// line end is near that length, as at the end of the file.
    pub(super) fn take(&self, back: usize, len: usize) -> io::Result<Option<Range>> {
        let start = self.place() - back as u64;
        let probe_len = PROBE.min(len);
        let from = start + (len - probe_len) as u64;
        let mut probe = [0; PROBE];
        let probe = &mut probe[..probe_len];
        if read_whole(&self.file.0, probe, from)? < probe_len {
            return Ok(None);
        }
        let Some(end) = memchr::memrchr(b'\n', probe) else { return Ok(None) };
        let end = from + end as u64 + 1;
        self.place.store(end, Ordering::Relaxed);
        Ok(Some(Range { file: Arc::clone(&self.file), start, len: (end - start) as usize }))
    }
}

impl Read for RangedFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = read_at(&self.file.0, buf, self.place())?;
        self.place.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Lines of a file that were taken and are still to be read.
#[derive(Debug)]
pub(super) struct Range {
    file: Arc<(File, PathBuf)>,
    start: u64,
    pub len: usize,
}

impl Range {
    /// Reads them; `buf` is as long as they are.
    pub(super) fn read(&self, buf: &mut [u8]) -> Result<()> {
        let (file, path) = &*self.file;
        match read_whole(file, buf, self.start) {
            Ok(n) if n == buf.len() => Ok(()),
            Ok(_) => {
                let what = "the file became shorter while it was read";
                Err(Error::io(path, io::Error::new(io::ErrorKind::UnexpectedEof, what)))
            }
            Err(err) => Err(Error::io(path, err)),
        }
    }
}

/// Reads until `buf` is full or the file ends; how much that was.
fn read_whole(file: &File, buf: &mut [u8], place: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < buf.len() {
        match read_at(file, &mut buf[read..], place + read as u64) {
            Ok(0) => break,
            Ok(n) => read += n,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(err) => return Err(err),
        }
    }
    Ok(read)
}
