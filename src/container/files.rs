//! The two traits of a container: [`Container`] recognises and opens files, [`OpenFiles`] runs the
//! jobs on them.

use super::outputs::{Output, Outputs, Written};
use super::settings::Settings;
use super::source::Source;
use super::visit::BlockVisitor;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::FilterStats;

/// A file format whose files hold URLs.
pub(crate) trait Container: Sync {
    /// The files in messages, in the plural: "Parquet files".
    fn name(&self) -> &'static str;

    /// Whether a file has this format, by its name and its first bytes. `None` if more bytes have
    /// to decide; `is_all` says that there are none.
    fn recognizes(&self, source: &Source, is_all: bool) -> Option<bool>;

    /// Refuses a file that has another format after all, as far as its first bytes tell. This comes
    /// before anything is read or written.
    fn check(&self, _source: &Source) -> Result<()> {
        Ok(())
    }

    /// Opens files of this format.
    fn open(&self, sources: Vec<Source>) -> Result<Box<dyn OpenFiles>>;

    /// The error of a job whose `inputs` files have `lines` records, and none of them has a URL:
    /// most likely a wrong column or file. `None` if such files are usual.
    fn no_url(&self, _lines: u64, _inputs: usize) -> Option<Error> {
        None
    }

    /// The kind of an error about the records of all inputs.
    fn bad_records(&self, what: String) -> ErrorKind {
        ErrorKind::BadList(what)
    }

    /// Whether a job on one file keeps all threads busy. Jobs on several such files run one after
    /// the other.
    fn uses_all_threads(&self) -> bool {
        false
    }
}

/// Opened files of one container.
///
/// Before its first byte of output, a job refuses [`Settings`] that the container does not have,
/// and outputs with the name of another format. The caller makes the outputs visible.
pub(crate) trait OpenFiles: Send {
    /// Writes every record, in order, to the output of its verdict.
    fn filter<'w>(
        self: Box<Self>,
        settings: &Settings<'_>,
        outputs: Outputs<Output<'w>>,
    ) -> Result<Written>;

    /// Writes every record, in order, with its verdicts.
    fn annotate(self: Box<Self>, settings: &Settings<'_>, output: Output<'_>) -> Result<Written>;

    /// Visits every record on the workers' threads, and the selected ones of each block in order.
    fn visit(
        self: Box<Self>,
        settings: &Settings<'_>,
        visitor: &dyn BlockVisitor,
    ) -> Result<FilterStats>;
}
