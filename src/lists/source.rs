//! Lists of URLs as a source of the ordered pipeline.

use crate::container::settings::Settings;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::pipeline::blocks::{BlockKind, LineBlock, LineBlockReader, LineInput};
use crate::pipeline::progress::{ProgressMeter, ReportedBytes};
use crate::pipeline::source::BlockSource;
use crate::records::{ListKind, RecordOptions, table_head};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Reads lists block by block, and reports progress.
pub(super) struct ListSource<'r> {
    options: &'r RecordOptions,
    meter: ProgressMeter<'r>,
    /// What later lists have to agree with. `None` if lists of any kinds may follow each other.
    one_kind: Option<OneKind>,
}

/// The lists of an output that has their lines as they are.
#[derive(Default)]
struct OneKind {
    first: Mutex<Option<FirstList>>,
    /// The names of the columns of the first list that has a header.
    names: Mutex<Option<Vec<Vec<u8>>>>,
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
            one_kind: None,
        }
    }

    /// The same source for an output that has the lines as they are. It refuses lists of different
    /// kinds or columns, which together are not a list that could be read.
    pub(super) fn of_one_kind(self) -> Self {
        Self {
            one_kind: Some(OneKind::default()),
            ..self
        }
    }

    /// Refuses a list of another kind than the first. An empty one has no block, and no kind.
    fn compare_kind(&self, block: &LineBlock, reader: &mut ListReader) -> Result<()> {
        let Some(OneKind { first, .. }) = &self.one_kind else {
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

    /// Whether this header is passed on: the first one, if the output has the lines as they are.
    /// Those of later lists must have the same names; a byte order mark, quotes and line ends may
    /// differ.
    fn is_written(&self, header: &LineBlock, reader: &ListReader) -> Result<bool> {
        let Some(OneKind { names: first, .. }) = &self.one_kind else {
            return Ok(true);
        };
        let head = table_head(header.data());
        let names = header
            .format
            .as_deref()
            .map(|format| format.column_names(head));
        let names: Vec<Vec<u8>> = names.into_iter().flatten().map(Cow::into_owned).collect();
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        match &*first {
            None => {
                *first = Some(names);
                return Ok(true);
            }
            Some(first) if *first == names => return Ok(false),
            Some(_) => {}
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
            if !has_block || block.kind != BlockKind::Header || self.is_written(block, reader)? {
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
