//! Lists of URLs as a source of the ordered pipeline.

use crate::container::settings::Settings;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::pipeline::blocks::{BlockKind, LineBlock, LineBlockReader, LineInput};
use crate::pipeline::progress::{ProgressMeter, ReportedBytes};
use crate::pipeline::source::BlockSource;
use crate::records::{ListKind, RecordOptions};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Reads lists block by block, and reports progress.
pub(super) struct ListSource<'r> {
    options: &'r RecordOptions,
    meter: ProgressMeter<'r>,
    /// The header of the first list that has one.
    header: Mutex<Option<Vec<u8>>>,
    skips_headers: bool,
    /// The first list. `None` if lists of different kinds may follow each other.
    first: Option<Mutex<Option<FirstList>>>,
}

/// The list that others have to agree with.
struct FirstList {
    path: PathBuf,
    kind: ListKind,
}

/// An open list.
pub(super) struct ListReader {
    blocks: LineBlockReader,
    reported: ReportedBytes,
    /// Whether the kind of the list is compared already.
    is_compared: bool,
}

impl<'r> ListSource<'r> {
    pub(super) fn new(settings: &'r Settings<'_>) -> Self {
        Self {
            options: &settings.records,
            meter: ProgressMeter::new(settings.progress),
            header: Mutex::default(),
            skips_headers: settings.skips_headers,
            first: None,
        }
    }

    /// The same source for an output that has the lines as they are. It refuses lists of different
    /// kinds, which together are not a list that could be read.
    pub(super) fn of_one_kind(self) -> Self {
        Self {
            first: Some(Mutex::default()),
            ..self
        }
    }

    /// Refuses a list of another kind than the first. An empty one has no block, and no kind.
    fn compare_kind(&self, block: &LineBlock, reader: &mut ListReader) -> Result<()> {
        let Some(first) = &self.first else {
            return Ok(());
        };
        if std::mem::replace(&mut reader.is_compared, true) {
            return Ok(());
        }
        let kind = ListKind::of(block.format.as_deref());
        let path = reader.blocks.path();
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        let first = first.get_or_insert_with(|| FirstList {
            path: path.to_owned(),
            kind,
        });
        if first.kind == kind {
            return Ok(());
        }
        let what = format!(
            "{kind}, but {} is {}; give each kind to a run of its own, or each input an output of \
             its own",
            first.path.display(),
            first.kind,
        );
        let err = Error::from(ErrorKind::BadList(what)).with_remedy(Remedy::SeparateOutputs);
        Err(err.at(path))
    }

    /// Whether this is the first header. An output has one header, so those of later lists must
    /// equal it.
    fn is_first_header(&self, block: &LineBlock, reader: &ListReader) -> Result<bool> {
        let mut header = self.header.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = &*header else {
            *header = Some(block.data().to_vec());
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
    type Input = LineInput;
    type Reader = Box<ListReader>;
    type Block = LineBlock;

    fn open(&self, input: LineInput) -> Result<Box<ListReader>> {
        let blocks = LineBlockReader::new(input, self.options)?;
        Ok(Box::new(ListReader {
            blocks,
            reported: ReportedBytes::default(),
            is_compared: false,
        }))
    }

    fn read(
        &self,
        reader: &mut Box<ListReader>,
        block: &mut LineBlock,
        grow: &dyn Fn(usize),
    ) -> Result<bool> {
        loop {
            let has_block = reader.blocks.next(block, grow)?;
            self.meter
                .advance(&mut reader.reported, reader.blocks.bytes_read());
            if has_block {
                self.compare_kind(block, reader)?;
            }
            if !has_block
                || block.kind != BlockKind::Header
                || (!self.skips_headers && self.is_first_header(block, reader)?)
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

    fn bytes_held(&self, block: &LineBlock) -> usize {
        block.bytes_held()
    }
}
