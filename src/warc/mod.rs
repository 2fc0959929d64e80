//! WARC, WET and WAT files as a container: records with URLs. ARC files are converted, and a WACZ
//! stands for the WARC files in it.
//!
//! A record is judged by its `WARC-Target-URI`, whatever its type, so a request goes with its
//! response. `warcinfo` records describe the file: they are kept, and counted apart. Other records
//! without an http or https URL are invalid. Counts of lines are counts of records.
//!
//! Kept records keep their bytes. In a file with one gzip member per record, members are copied, so
//! a corpus of pages is filtered without being compressed again. Other files are decoded and cut
//! into records, and each is compressed as a member of its own if its output is gzip.
//!
//! Every byte is inflated once, and checksums are checked. Memory is some blocks of 512 KiB and one
//! inflated member of up to 16 MiB per thread. Longer records are passed on in parts.

mod annotate;
mod block;
mod cdxj;
mod chain;
mod cut;
mod input;
mod record_parser;
mod route;
mod sink;
mod source;
mod surt;
mod visit;

use crate::atomic::output_name::{OutputFormat, is_archive};
use crate::container::files::{Container, OpenFiles};
use crate::container::outputs::LineSink;
use crate::container::outputs::{Output, Outputs, Written};
use crate::container::settings::{Settings, bad_job};
use crate::container::source::Source;
use crate::container::visit::BlockVisitor;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::pipeline::ordered::{self, OrderedItem};
use crate::pipeline::{FilterStats, Progress};
use crate::records::RecordOptions;
use crate::wacz;
use annotate::{AnnotateJob, AnnotateWriter};
use block::{BlockContent, WarcBlock};
use chain::{Chain, RecordJob};
use cut::MemberCutter;
use route::{RouteJob, RouteWriter};
use sink::RecordSink;
use source::{WarcFile, WarcSource};
use visit::{VisitJob, VisitWriter};

/// WARC, WET and WAT files, and ARC files: plain, gzip or zstd. Also WACZ files with some in them.
/// The content decides, not the name.
pub(crate) struct WarcFiles;

impl Container for WarcFiles {
    fn name(&self) -> &'static str {
        "WARC files"
    }

    fn recognizes(&self, source: &Source, is_all: bool) -> Option<bool> {
        if source.is_file() && wacz::is_wacz(&source.path, &source.start) {
            return Some(true);
        }
        input::syntax_of(source, is_all).map(|syntax| syntax.is_some())
    }

    fn open(&self, sources: Vec<Source>) -> Result<Box<dyn OpenFiles>> {
        let mut files = Vec::with_capacity(sources.len());
        for source in sources {
            append_files(source, &mut files)?;
        }
        Ok(Box::new(OpenWarcs(files)))
    }
}

/// Appends a file, or in place of a WACZ the files in it.
fn append_files(source: Source, files: &mut Vec<WarcFile>) -> Result<()> {
    let members = match source.is_file() {
        true => wacz::members(&source.path, &source.start).map_err(as_bad_list)?,
        false => None,
    };
    let Some(members) = members else {
        files.push(WarcFile::new(source));
        return Ok(());
    };
    for member in members {
        files.push(WarcFile::of_member(member)?);
    }
    Ok(())
}

/// The error of a WACZ as an input of a job, which takes other files than a compilation.
fn as_bad_list(err: Error) -> Error {
    let ErrorKind::UnknownSource { what } = err.kind() else {
        return err;
    };
    let bad_list = Error::from(ErrorKind::BadList(what.clone()));
    err.path().into_iter().fold(bad_list, Error::at)
}

/// WARC files that are not read yet.
struct OpenWarcs(Vec<WarcFile>);

impl OpenWarcs {
    /// Whether records are gzip members. If one input has them, so have all outputs.
    fn have_members(&self) -> bool {
        self.0.iter().any(WarcFile::has_members)
    }
}

impl OpenFiles for OpenWarcs {
    fn filter<'w>(
        self: Box<Self>,
        settings: &Settings<'_>,
        mut outputs: Outputs<Output<'w>>,
    ) -> Result<Written> {
        refuse_records(settings)?;
        if !settings.added.is_empty() {
            return bad_job(
                "records of WARC files are written unchanged, without added columns; annotating \
                 them as JSON lines (the form jsonl) writes the same values",
            );
        }
        let have_members = self.have_members();
        let file_name = index_name(&outputs, have_members)?;
        let index = outputs.index.take().map(Output::of_lines).transpose()?;
        let mut outputs = outputs.try_map(|output| {
            check_record_name(&output, have_members)?;
            // Gzip members are compressed already.
            if has_gzip_records(&output, have_members) {
                Ok::<_, Error>(output)
            } else {
                output.compressed_by_name()
            }
        })?;
        outputs.index = index;
        let has_index = outputs.index.is_some();
        let mut targets = outputs.each_mut();
        let index = targets.index.take().map(Output::writer);
        let sinks = settings.criterion.by_destination(targets).map(|target| {
            let is_gzip = target
                .as_ref()
                .is_some_and(|output| has_gzip_records(output, have_members));
            RecordSink::new(target.map(Output::writer), is_gzip)
        });
        let total = FilterStats::of_filter(settings.judge.engine());
        let writer = RouteWriter::new(settings.criterion, sinks, index, &file_name, total);
        let job = RouteJob {
            engine: settings.judge.engine(),
            criterion: settings.criterion,
            compresses: writer.compresses(),
            has_index,
            with_times: settings.records.as_of_record,
        };
        let mut writer = run_job(&job, self.0, writer, settings.progress)?;
        writer.finish()?;
        let total = writer.total;
        Ok(Written::new(total, outputs))
    }

    fn annotate(self: Box<Self>, settings: &Settings<'_>, output: Output<'_>) -> Result<Written> {
        refuse_records(settings)?;
        let job = AnnotateJob::new(settings.annotator()?, settings.records.as_of_record);
        let mut output = output.of_lines()?;
        let writer = AnnotateWriter {
            sink: LineSink::new(Some(output.writer())),
            total: FilterStats::of_agents(job.annotator.judge),
        };
        let mut writer = run_job(&job, self.0, writer, settings.progress)?;
        writer.sink.flush()?;
        let total = writer.total;
        Ok(Written::new(total, [output]))
    }

    fn visit(
        self: Box<Self>,
        settings: &Settings<'_>,
        visitor: &dyn BlockVisitor,
    ) -> Result<FilterStats> {
        refuse_records(settings)?;
        let writer = VisitWriter::new(visitor, settings.records.as_of_record);
        Ok(run_job(&VisitJob, self.0, writer, settings.progress)?.total)
    }
}

/// Cuts and judges blocks on all threads, and writes their records in order.
fn run_job<W: Send, J: RecordJob<W>>(
    job: &J,
    files: Vec<WarcFile>,
    writer: W,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<W>
where
    J::Scratch: Send,
{
    let mut chain = Chain::new(job, writer);
    ordered::run(
        &WarcSource::new(progress),
        files,
        || (MemberCutter::new(), job.scratch()),
        |block: &mut WarcBlock, (cutter, scratch)| {
            match block.content {
                BlockContent::Members { is_start: true } => cutter.cut(block, 0),
                BlockContent::Texts | BlockContent::LongText => {}
                // No record begins in this block.
                BlockContent::Members { is_start: false } | BlockContent::LongTextRest { .. } => {
                    return Ok(());
                }
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

/// Refuses options that locate URLs and times in lines.
fn refuse_records(settings: &Settings<'_>) -> Result<()> {
    let records = &settings.records;
    if records.as_of_column.is_some() {
        return bad_job(
            "a column of times is for lists and Parquet files; a record of a WARC file has its time \
             in WARC-Date",
        )
        .map_err(|err| err.with_remedy(Remedy::UseRecordTimes));
    }
    if *records == RecordOptions::default().as_of_record(records.as_of_record) {
        return Ok(());
    }
    bad_job(
        "a column, a key, a host and other options that locate URLs are for lists; a record of a \
         WARC file has its URL in WARC-Target-URI",
    )
}

/// Whether the records of an output are gzip members: copied ones, or by its name.
fn has_gzip_records(output: &Output<'_>, have_members: bool) -> bool {
    have_members || output.ends_in("gz")
}

/// Refuses a name that does not fit the compression of the records.
fn check_record_name(output: &Output<'_>, have_members: bool) -> Result<()> {
    output.check_name(OutputFormat::Warc)?;
    let Some(path) = output.path().filter(|_| have_members) else {
        return Ok(());
    };
    let is_zstd = output.ends_in("zst");
    if output.is_named_after_input() || output.ends_in("gz") || !(is_zstd || is_archive(path)) {
        return Ok(());
    }
    let stem = if is_zstd {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    let what = format!(
        "the gzip members of the inputs are copied here, so the name must end in .gz; name it \
         {}.gz",
        stem.display()
    );
    Err(Error::from(ErrorKind::BadName(what)).at(path))
}

/// The name that the index gives to the file of kept records; empty without an index.
fn index_name(outputs: &Outputs<Output<'_>>, have_members: bool) -> Result<String> {
    if outputs.index.is_none() {
        return Ok(String::new());
    }
    let kept = outputs.kept.as_ref();
    let Some(path) = kept.and_then(Output::path) else {
        let what =
            "an offset index names the file of kept records, so these need a file".to_owned();
        return Err(Error::from(ErrorKind::BadJob(what)).with_remedy(Remedy::NameOutputFile));
    };
    if kept.is_some_and(|output| output.ends_in("zst")) && !have_members {
        let what = "an offset index has offsets, which are of no use in a zstd stream; name the \
                    output .warc or .warc.gz";
        return Err(Error::from(ErrorKind::BadName(what.to_owned())).at(path));
    }
    let name = path.file_name().unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}
