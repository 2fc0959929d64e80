//! Lists of URLs as a container: one URL or record per line, plain or compressed.

mod route;
mod source;
mod tally;

use crate::container::annotation::{AnnotateScratch, LineAdder};
use crate::container::files::{Container, OpenFiles};
use crate::container::line_sink::LineSink;
use crate::container::outputs::{Output, Outputs, Written};
use crate::container::sample::Sample;
use crate::container::settings::Settings;
use crate::container::source::Source;
use crate::container::tally::{BlockTally, Tally};
use crate::container::unknown_origins::{OriginBuffer, OriginSet};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{BlockKind, LineInput, refuse_other_formats};
use crate::pipeline::ordered::{self, OrderedItem};
use route::{RouteScratch, VerdictSinks};
use source::ListSource;
use tally::{count_block, url_of};

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
        let mut sinks = VerdictSinks::new(settings.criterion, &mut outputs, adder.is_some());
        let mut total = FilterStats::default();
        ordered::run(
            &ListSource::new(&settings.records, settings.progress),
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
        let mut total = FilterStats::of_agents(annotator.judge.agents().len());
        ordered::run(
            &ListSource::new(&settings.records, settings.progress),
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

    fn tally(
        self: Box<Self>,
        settings: &Settings<'_>,
        tally: &Tally,
        sample: &mut Sample,
    ) -> Result<FilterStats> {
        let engine = settings.judge.engine();
        let mut total = FilterStats::default();
        ordered::run(
            &ListSource::new(&settings.records, settings.progress),
            self.0,
            || (engine.scratch(), BlockTally::new(engine.agents().len())),
            |block, (scratch, local)| {
                let counted = count_block(engine, block, scratch, |verdicts, lines, _| {
                    local.count(verdicts, lines)
                });
                // The shared counts are touched once per block, not once per run of lines.
                local.flush(tally);
                counted
            },
            |item| {
                if let OrderedItem::Block(block) = item {
                    total.add(&block.stats);
                    sample.add(block.disallowed.len(), |number| {
                        url_of(block, block.disallowed[number].clone())
                    });
                }
                Ok(())
            },
        )?;
        Ok(total)
    }
    fn unknown_origins(
        self: Box<Self>,
        settings: &Settings<'_>,
        found: &OriginSet,
    ) -> Result<FilterStats> {
        let engine = settings.judge.engine();
        let mut total = FilterStats::default();
        ordered::run(
            &ListSource::new(&settings.records, settings.progress).without_headers(),
            self.0,
            || (engine.scratch(), OriginBuffer::default()),
            |block, (scratch, buffer)| {
                count_block(engine, block, scratch, |verdicts, _, urls| {
                    found.add_unknown(verdicts, urls, buffer);
                    false
                })
            },
            |item| {
                if let OrderedItem::Block(block) = item {
                    total.add(&block.stats);
                }
                Ok(())
            },
        )?;
        Ok(total)
    }
}
