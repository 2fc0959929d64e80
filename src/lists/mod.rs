//! Lists of URLs as a container: one URL or record per line, plain or compressed.

mod route;
mod source;

use crate::container::annotation::{AnnotateScratch, LineAdder};
use crate::container::files::{Container, OpenFiles};
use crate::container::form::LineForm;
use crate::container::outputs::LineSink;
use crate::container::outputs::{Output, Outputs, Written};
use crate::container::settings::Settings;
use crate::container::source::Source;
use crate::container::visit::{BlockUrls, BlockVisitor, BlockWorker};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{BlockKind, LineBlock, LineInput, refuse_other_formats};
use crate::pipeline::ordered::{self, OrderedItem};
use route::{DestinationSinks, RouteScratch};
use source::ListSource;

/// Lists of URLs: every file that no other container recognises.
pub(crate) struct Lists;

impl Container for Lists {
    fn name(&self) -> &'static str {
        "lists"
    }

    fn recognizes(&self, _source: &Source, _is_all: bool) -> Option<bool> {
        Some(true)
    }

    fn check(&self, source: &Source) -> Result<()> {
        refuse_other_formats(&source.path, &source.start)
    }

    fn open(&self, sources: Vec<Source>) -> Result<Box<dyn OpenFiles>> {
        let lists = sources.into_iter().map(to_lines);
        Ok(Box::new(OpenLists(lists.collect::<Result<_>>()?)))
    }

    fn no_url(&self, lines: u64, inputs: usize) -> Option<Error> {
        let others = if inputs > 1 {
            ", and of the other inputs,"
        } else {
            ""
        };
        let what =
            format!("none of the {lines} lines{others} has a URL in the expected column or key");
        Some(Error::from(ErrorKind::BadList(what)).with_remedy(Remedy::LocateUrls))
    }
}

/// A source whose lines are read.
pub(crate) fn to_lines(source: Source) -> Result<LineInput> {
    if source.is_file() {
        return LineInput::of_file(&source.path);
    }
    let path = source.path.clone();
    Ok(LineInput::from_reader(path, source.into_reader()?))
}

/// Lists that are not read yet.
struct OpenLists(Vec<LineInput>);

impl OpenFiles for OpenLists {
    fn filter<'w>(
        self: Box<Self>,
        settings: &Settings<'_>,
        outputs: Outputs<Output<'w>>,
    ) -> Result<Written> {
        // Refuse what the container does not have before the first byte of output.
        outputs.refuse_index()?;
        let mut outputs = outputs.try_map(Output::of_lines)?;
        let engine = settings.judge.engine();
        let adder = LineAdder::new(settings.added, settings.judge);
        let mut sinks = DestinationSinks::new(settings.criterion, &mut outputs, adder.is_some());
        let mut total = FilterStats::of_filter(engine);
        ordered::run(
            &ListSource::new(settings).of_one_kind(),
            self.0,
            || RouteScratch::new(engine),
            |block, scratch| {
                let adder = adder.as_ref();
                route::find_runs(
                    engine,
                    settings.criterion,
                    settings.until,
                    adder,
                    block,
                    scratch,
                )
            },
            |item| {
                let OrderedItem::Block(block) = item else {
                    return Ok(());
                };
                total.add(&block.stats);
                sinks.write(block)
            },
        )?;
        sinks.flush()?;
        Ok(Written::new(total, outputs))
    }

    fn annotate(self: Box<Self>, settings: &Settings<'_>, output: Output<'_>) -> Result<Written> {
        let annotator = settings.annotator()?;
        let mut output = output.of_lines()?;
        let mut sink = LineSink::new(Some(output.writer()));
        let mut total = FilterStats::of_agents(annotator.judge);
        let source = match annotator.writer.form {
            LineForm::Letters | LineForm::Csv => ListSource::new(settings).of_one_kind(),
            // Each line becomes an object, or a digit.
            LineForm::Jsonl | LineForm::Mask => ListSource::new(settings),
        };
        ordered::run(
            &source,
            self.0,
            || AnnotateScratch::new(annotator.judge),
            |block, scratch| annotator.annotate(block, &[], scratch),
            |item| {
                let OrderedItem::Block(block) = item else {
                    return Ok(());
                };
                total.add(&block.stats);
                Ok(sink.write(&block.annotated, block.kind == BlockKind::LongLineRest)?)
            },
        )?;
        sink.flush()?;
        Ok(Written::new(total, [output]))
    }

    fn visit(
        self: Box<Self>,
        settings: &Settings<'_>,
        visitor: &dyn BlockVisitor,
    ) -> Result<FilterStats> {
        let mut total = FilterStats::default();
        ordered::run(
            &ListSource::new(settings),
            self.0,
            || visitor.worker(),
            |block, worker| visit_block(block, &mut **worker),
            |item| {
                if let OrderedItem::Block(block) = item {
                    total.add(&block.stats);
                    visitor.selected(block.urls(), &block.selected);
                }
                Ok(())
            },
        )?;
        Ok(total)
    }
}

fn visit_block(block: &mut LineBlock, worker: &mut dyn BlockWorker) -> Result<()> {
    let mut stats = block.new_stats();
    let mut selected = std::mem::take(&mut block.selected);
    selected.clear();
    let urls = match block.kind {
        BlockKind::Lines => Some(BlockUrls::List(block)),
        // The parts of a long line count once, and the whole is not a URL.
        BlockKind::LongLineStart => Some(BlockUrls::Shared(b"", 1)),
        BlockKind::Header | BlockKind::LongLineRest => None,
    };
    if let Some(urls) = urls {
        worker.visit(urls, &mut stats, &mut selected)?;
    }
    block.stats = stats;
    block.selected = selected;
    Ok(())
}
