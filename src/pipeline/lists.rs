//! Lists of URLs as a source of the ordered pipeline.

use super::blocks::{BlockKind, Input, LineBlock, LineBlockReader};
use super::source::BlockSource;
use super::stats::FilterProgress;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::records::RecordOptions;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Blocks in flight beyond which no later list is read: 128 MiB of lines.
const MAX_IN_FLIGHT: usize = 512;

/// Reads lists block by block, and reports progress.
pub(crate) struct ListSource<'r> {
    options: &'r RecordOptions,
    progress: &'r (dyn Fn(FilterProgress) + Sync),
    shared: Mutex<SharedByLists>,
}

/// What the readers of all lists share.
#[derive(Default)]
struct SharedByLists {
    /// The header of the first list that has one.
    header: Option<Vec<u8>>,
    bytes_read: u64,
}

/// An open list.
pub(crate) struct ListReader {
    blocks: LineBlockReader,
    /// The bytes that progress reports include already.
    reported: u64,
}

impl<'r> ListSource<'r> {
    pub(crate) fn new(
        options: &'r RecordOptions,
        progress: &'r (dyn Fn(FilterProgress) + Sync),
    ) -> Self {
        Self {
            options,
            progress,
            shared: Mutex::default(),
        }
    }

    fn shared(&self) -> MutexGuard<'_, SharedByLists> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report_progress(&self, reader: &mut ListReader) {
        let bytes_read = reader.blocks.bytes_read();
        // The lock is held during the call, so that the figures never go back.
        let mut shared = self.shared();
        shared.bytes_read += bytes_read - reader.reported;
        reader.reported = bytes_read;
        (self.progress)(FilterProgress {
            bytes_read: shared.bytes_read,
        });
    }

    /// Whether this is the first header. An output has one header, so those of later lists must
    /// equal it.
    fn is_first_header(&self, block: &LineBlock, reader: &ListReader) -> Result<bool> {
        let mut shared = self.shared();
        let Some(first) = &shared.header else {
            shared.header = Some(block.data().to_vec());
            return Ok(true);
        };
        if first.trim_ascii_end() == block.data().trim_ascii_end() {
            return Ok(false);
        }
        let what =
            "its header differs from that of the first input; give each input an output of its own";
        let err =
            Error::from(ErrorKind::BadList(what.to_owned())).with_remedy(Remedy::SeparateOutputs);
        Err(err.at(reader.blocks.path()))
    }
}

impl BlockSource for ListSource<'_> {
    type Input = Input;
    type Reader = Box<ListReader>;
    type Block = LineBlock;

    fn open(&self, input: Input) -> Result<Box<ListReader>> {
        let blocks = LineBlockReader::new(input, self.options)?;
        Ok(Box::new(ListReader {
            blocks,
            reported: 0,
        }))
    }

    fn read(&self, reader: &mut Box<ListReader>, block: &mut LineBlock) -> Result<bool> {
        loop {
            let has_block = reader.blocks.next(block)?;
            self.report_progress(reader);
            if !has_block
                || block.kind != BlockKind::Header
                || self.is_first_header(block, reader)?
            {
                return Ok(has_block);
            }
        }
    }

    /// Reads the lines of a plain file, and extracts the URLs of records.
    fn load(&self, block: &mut LineBlock) -> Result<()> {
        block.load()
    }

    /// Decompressing takes longer than judging. All workers read a plain file at once as it is.
    fn is_slow(&self, reader: &Box<ListReader>) -> bool {
        reader.blocks.is_compressed()
    }

    fn max_in_flight(&self, _threads: usize) -> usize {
        MAX_IN_FLIGHT
    }
}
