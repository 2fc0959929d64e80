//! Filters and annotates WARC, WET and WAT files by the URLs of their records, on all cores.
//!
//! Kept records keep their bytes, and their gzip members: a corpus of pages is filtered without
//! being compressed again.

mod annotate;
mod block;
mod cdxj;
mod chain;
mod cut;
mod input;
mod outputs;
mod record_parser;
mod route;
mod sink;
mod source;
mod surt;

use crate::error::Result;
use crate::filter::annotate::{AnnotationWriter, Annotator};
use crate::filter::output::{Criterion, LineSink};
use crate::filter::{AnnotateForm, Keep, Require};
use crate::judge::{Judge, PreferenceJudge};
use crate::pipeline::ordered::{self, OrderedItem};
use crate::pipeline::{FilterProgress, FilterStats};
use annotate::{AnnotateJob, AnnotateWriter};
use block::{BlockContent, WarcBlock};
use chain::{Chain, RecordJob};
use cut::MemberCutter;
pub use input::{ListOrWarc, WarcInput};
pub use outputs::{WarcIndex, WarcOutput, WarcOutputs};
use route::{RouteJob, RouteWriter};
use source::WarcSource;
use std::io::Write;

/// Runs WARC files through a [`Judge`], on all threads of the current rayon pool, at most
/// [`max_threads`](crate::threads::max_threads).
///
/// A record is judged by its `WARC-Target-URI`, whatever its type, so a request goes with its
/// response. `warcinfo` records describe the file: they are kept, and counted apart. Other records
/// without an http or https URL are invalid.
///
/// In a file with one gzip member per record, members are copied. Other files are decoded and cut
/// into records, and each is compressed as a member of its own if its output is gzip.
///
/// Every byte is inflated once, and checksums are checked. Memory is some blocks of 512 KiB and one
/// inflated member of up to 16 MiB per thread. Longer records are passed on in parts.
///
/// ```
/// use robosieve::warc::{WarcFilter, WarcInput, WarcOutput, WarcOutputs};
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let record = |path: &str| {
///     let target = format!("WARC-Target-URI: https://e.example{path}\r\n");
///     format!("WARC/1.0\r\nWARC-Type: response\r\n{target}Content-Length: 0\r\n\r\n\r\n\r\n")
/// };
/// let archive = [record("/a"), record("/x"), record("/b")].concat();
/// let inputs = vec![WarcInput::from_reader("archive", std::io::Cursor::new(archive))?];
/// let mut kept = Vec::new();
/// let outputs = WarcOutputs { kept: Some(WarcOutput { out: &mut kept, gzip: false }), ..Default::default() };
/// let stats = WarcFilter::new(&judge).run(inputs, outputs)?;
/// assert_eq!(kept, [record("/a"), record("/b")].concat().as_bytes());
/// assert_eq!((stats.lines, stats.allowed, stats.disallowed), (3, 2, 1));
/// # Ok::<(), robosieve::Error>(())
/// ```
pub struct WarcFilter<'f> {
    judge: &'f Judge,
    criterion: Criterion,
    form: AnnotateForm,
    preferences: bool,
    progress: &'f (dyn Fn(FilterProgress) + Sync),
}

impl std::fmt::Debug for WarcFilter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WarcFilter")
            .field("criterion", &self.criterion)
            .finish_non_exhaustive()
    }
}

impl<'f> WarcFilter<'f> {
    /// A filter that keeps the records whose URLs all agents may fetch.
    pub fn new(judge: &'f Judge) -> Self {
        let criterion = Criterion {
            keep: Keep::default(),
            require: Require::default(),
        };
        Self {
            judge,
            criterion,
            form: AnnotateForm::default(),
            preferences: false,
            progress: &|_| {},
        }
    }

    /// Sets which records to keep.
    pub fn keep(mut self, keep: Keep, require: Require) -> Self {
        self.criterion = Criterion { keep, require };
        self
    }

    /// Sets what [`annotate`](Self::annotate) writes.
    pub fn form(mut self, form: AnnotateForm) -> Self {
        self.form = form;
        self
    }

    /// Sets whether [`annotate`](Self::annotate) also writes preferences, as
    /// [`Filter::preferences`](crate::filter::Filter::preferences) does.
    pub fn preferences(mut self, preferences: bool) -> Self {
        self.preferences = preferences;
        self
    }

    /// Sets a function to call after every block that is read.
    pub fn progress(mut self, progress: &'f (dyn Fn(FilterProgress) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Writes every record of the inputs, in order, to one of the outputs. Counts records as lines.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) with the file and the offset of the record
    /// or gzip member: one that is cut off, has a wrong checksum, a wrong `Content-Length`, or shares
    /// a record with another member. I/O errors, and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt)
    /// of the snapshot. Outputs may be incomplete then.
    pub fn run(&self, inputs: Vec<WarcInput>, outputs: WarcOutputs<'_>) -> Result<FilterStats> {
        let has_members = inputs.iter().any(WarcInput::is_gzip);
        let has_index = outputs.index.is_some();
        let writer = RouteWriter::new(self.criterion, outputs, has_members);
        let compresses = writer.compresses();
        let job = RouteJob {
            engine: self.judge.engine(),
            criterion: self.criterion,
            compresses,
            has_index,
        };
        let mut writer = self.run_job(&job, inputs, writer)?;
        writer.finish()?;
        Ok(writer.total)
    }

    /// Writes a line for each record of the inputs to `out`, in order.
    ///
    /// - [`AnnotateForm::Letters`]: the letters, TAB, and the URL or `-`.
    /// - [`AnnotateForm::Jsonl`]: an object with the keys `url` (if there is one), `type`, `offset`,
    ///   `length`, `date`, `id` (as far as the record has them), and `robots`. `offset` and `length`
    ///   are those of the gzip member, in other files those of the record after decompression.
    /// - [`AnnotateForm::Mask`]: the mask.
    ///
    /// A `warcinfo` record gets the line of an invalid one.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn annotate(
        &self,
        inputs: Vec<WarcInput>,
        out: &mut (dyn Write + Send),
    ) -> Result<FilterStats> {
        let annotator = Annotator {
            judge: self.judge.engine(),
            criterion: self.criterion,
            writer: AnnotationWriter::new(self.form, self.judge.agents(), self.preferences),
            preferences: self.preferences.then(|| PreferenceJudge::new(self.judge)),
        };
        let job = AnnotateJob::new(annotator, self.form);
        let writer = AnnotateWriter {
            sink: LineSink::new(Some(out)),
            total: FilterStats::default(),
        };
        let mut writer = self.run_job(&job, inputs, writer)?;
        writer.sink.flush()?;
        Ok(writer.total)
    }

    /// Cuts and judges blocks on all threads, and writes their records in order.
    fn run_job<W: Send, J: RecordJob<W>>(
        &self,
        job: &J,
        inputs: Vec<WarcInput>,
        writer: W,
    ) -> Result<W>
    where
        J::Scratch: Send,
    {
        let mut chain = Chain::new(job, writer);
        ordered::run(
            &WarcSource::new(self.progress),
            inputs,
            || (MemberCutter::new(), job.scratch()),
            |block: &mut WarcBlock, (cutter, scratch)| {
                match block.content {
                    BlockContent::Members { is_start: true } => cutter.cut(block, 0),
                    BlockContent::Texts | BlockContent::LongText => {}
                    // No record begins in this block.
                    BlockContent::Members { is_start: false }
                    | BlockContent::LongTextRest { .. } => return Ok(()),
                }
                job.judge(block, scratch)
            },
            |item| match item {
                OrderedItem::Block(block) => chain.take(block),
                OrderedItem::EndOfInput => chain.end_input(),
            },
        )?;
        Ok(chain.into_writer())
    }
}
