//! Files of which several threads read, each at a place of its own.
//!
//! Copying a list out of the system's cache takes half as long as judging a sorted one. Read in turn, by one worker at a time, that
//! half does not become shorter with more of them; so workers are only told in turn which lines are theirs.

use crate::decode::became_shorter;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far before the place where a range should end a line end is looked for. A longer line is read in turn.
const PROBE: usize = 4 << 10;

/// Reads on from a place in a file, whose own position does not matter.
#[derive(Debug)]
pub(crate) struct ReadAt {
    file: Arc<File>,
    place: u64,
}

impl ReadAt {
    pub(crate) fn new(file: &Arc<File>, place: u64) -> Self {
        Self { file: Arc::clone(file), place }
    }
}

impl Read for ReadAt {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let n = std::os::unix::fs::FileExt::read_at(&*self.file, buf, self.place)?;
        #[cfg(windows)]
        let n = std::os::windows::fs::FileExt::seek_read(&*self.file, buf, self.place)?;
        self.place += n as u64;
        Ok(n)
    }
}

/// A plain file, read from its beginning to its end in ranges of whole lines, or bit by bit. Clones share the place.
#[derive(Clone, Debug)]
pub(crate) struct RangedFile {
    file: Arc<File>,
    path: Arc<Path>,
    /// Where reading goes on.
    place: Arc<AtomicU64>,
    /// How long the file was when it was opened first: it must not end earlier.
    len: u64,
}

impl RangedFile {
    pub(crate) fn open(path: &Path, len: u64) -> Result<Self> {
        let file = File::open(path).map_err(|err| Error::io(path, err))?;
        Ok(Self { file: Arc::new(file), path: path.into(), place: Arc::default(), len })
    }

    pub(crate) fn place(&self) -> u64 {
        self.place.load(Ordering::Relaxed)
    }

    /// Takes whole lines, `len` bytes of them at most, from `back` bytes before the place on, and sets the place behind them. `None` where no
    /// line end is near that length, as at the end of the file.
    pub(crate) fn take(&self, back: usize, len: usize) -> io::Result<Option<Range>> {
        let start = self.place() - back as u64;
        let probe_len = PROBE.min(len);
        let from = start + (len - probe_len) as u64;
        let mut probe = [0; PROBE];
        let probe = &mut probe[..probe_len];
        match ReadAt::new(&self.file, from).read_exact(probe) {
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let Some(end) = memchr::memrchr(b'\n', probe) else { return Ok(None) };
        let end = from + end as u64 + 1;
        self.place.store(end, Ordering::Relaxed);
        let len = (end - start) as usize;
        Ok(Some(Range { lines: ReadAt::new(&self.file, start), path: Arc::clone(&self.path), len }))
    }
}

impl Read for RangedFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = ReadAt::new(&self.file, self.place()).read(buf)?;
        if n == 0 && !buf.is_empty() && self.place() < self.len {
            return Err(became_shorter());
        }
        self.place.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Lines of a file that were taken and are still to be read.
#[derive(Debug)]
pub(crate) struct Range {
    lines: ReadAt,
    path: Arc<Path>,
    pub len: usize,
}

impl Range {
    /// Reads them; `buf` is as long as they are.
    pub(crate) fn read(mut self, buf: &mut [u8]) -> Result<()> {
        let read = self.lines.read_exact(buf).map_err(|err| match err.kind() {
            io::ErrorKind::UnexpectedEof => became_shorter(),
            _ => err,
        });
        read.map_err(|err| Error::io(&*self.path, err))
    }
}
