//! Filters, annotates and counts lists of URLs: blocks of lines on all cores, results in input
//! order.

pub(crate) mod annotate;
pub(crate) mod output;
mod preference_text;
pub(crate) mod sample;
pub(crate) mod tally;

pub(crate) use sample::Sample;
pub(crate) use tally::Tally;

use crate::error::Result;
use crate::judge::{Judge, PreferenceJudge, Stage, Verdict};
use crate::named_value::named_values;
use crate::pipeline::blocks::{BlockKind, LineBlock};
use crate::pipeline::lists::ListSource;
use crate::pipeline::ordered::{self, OrderedItem};
pub use crate::pipeline::{FilterProgress, FilterStats, Input};
use crate::records::RecordOptions;
use annotate::{AnnotateScratch, AnnotationWriter, Annotator};
use output::{Criterion, LineSink};
use std::io::Write;

/// Which lines a filter keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Lines that may be fetched.
    #[default]
    Allowed,
    /// Lines that may not be fetched.
    Disallowed,
}

named_values! {
    /// The name on the command line.
    Keep {
        Allowed = "allowed",
        Disallowed = "disallowed",
    }
}

/// The number of agents that must have the kept verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Require {
    /// All agents.
    #[default]
    All,
    /// One agent or more.
    Any,
}

named_values! {
    /// The name on the command line.
    Require {
        All = "all",
        Any = "any",
    }
}

/// The output of [`Filter::annotate`] for each line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnnotateForm {
    /// One letter per agent ([`Verdict::letter`]), TAB, the line unchanged. A header becomes the
    /// names of the agents, separated by commas, TAB, the header.
    #[default]
    Letters,
    /// A JSON object. An object of the input gets a new last key `robots`: an object with the
    /// verdict ([`Verdict::name`]) of each agent by its name. Any other line becomes the string at
    /// the key `url` of a new object, or at `line` if it is more than a URL. Bytes that are not
    /// UTF-8 are replaced. A header is left out.
    Jsonl,
    /// One digit per agent and nothing else: 1 if the agent may fetch the URL, else 0. One line per
    /// record; a header has none.
    Mask,
}

named_values! {
    /// The name on the command line.
    AnnotateForm {
        Letters = "letters",
        Jsonl = "jsonl",
        Mask = "mask",
    }
}

/// The outputs of a filter; `None` discards. Every line goes to exactly one output, with its bytes
/// unchanged and in input order.
#[derive(Default)]
pub struct Outputs<'w> {
    /// The lines with the verdict that is kept.
    pub kept: Option<&'w mut (dyn Write + Send)>,
    /// The lines with the other verdict.
    pub other: Option<&'w mut (dyn Write + Send)>,
    /// The lines of unknown origins.
    pub unknown: Option<&'w mut (dyn Write + Send)>,
    /// The lines that are not URLs.
    pub invalid: Option<&'w mut (dyn Write + Send)>,
}

impl std::fmt::Debug for Outputs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outputs").finish_non_exhaustive()
    }
}

/// Runs lists of URLs through a [`Judge`], on all threads of the current rayon pool, at most
/// [`max_threads`](crate::threads::max_threads).
///
/// Every worker reads, judges and writes blocks of 256 KiB. Memory is a few blocks per thread;
/// compressed lists and longer lines take more. Lines may have any bytes and any length. A line
/// over 64 MiB is no URL.
///
/// ```
/// use robosieve::filter::{Filter, Input, Outputs};
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let (mut kept, mut invalid) = (Vec::new(), Vec::new());
/// let stats = Filter::new(&judge).run(
///     vec![Input::from_reader("list", b"https://e.example/a\nhttps://e.example/x\n?\n".as_slice())],
///     Outputs { kept: Some(&mut kept), invalid: Some(&mut invalid), ..Outputs::default() },
/// )?;
/// assert_eq!((kept.as_slice(), invalid.as_slice()), (b"https://e.example/a\n".as_slice(), b"?\n".as_slice()));
/// assert_eq!((stats.lines, stats.allowed, stats.disallowed, stats.invalid), (3, 1, 1, 1));
/// # Ok::<(), robosieve::Error>(())
/// ```
pub struct Filter<'f> {
    judge: &'f Judge,
    criterion: Criterion,
    until: Stage,
    records: RecordOptions,
    form: AnnotateForm,
    preferences: bool,
    progress: &'f (dyn Fn(FilterProgress) + Sync),
}

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter")
            .field("criterion", &self.criterion)
            .finish_non_exhaustive()
    }
}

impl<'f> Filter<'f> {
    /// A filter that keeps the lines all agents may fetch.
    pub fn new(judge: &'f Judge) -> Self {
        let criterion = Criterion {
            keep: Keep::default(),
            require: Require::default(),
        };
        let (until, records, form, preferences) = Default::default();
        Self {
            judge,
            criterion,
            until,
            records,
            form,
            preferences,
            progress: &|_| {},
        }
    }

    /// Sets which lines to keep.
    pub fn keep(mut self, keep: Keep, require: Require) -> Self {
        self.criterion = Criterion { keep, require };
        self
    }

    /// Sets the position of the URLs in the records of the inputs.
    pub fn records(mut self, records: RecordOptions) -> Self {
        self.records = records;
        self
    }

    /// Sets what [`annotate`](Self::annotate) writes.
    pub fn form(mut self, form: AnnotateForm) -> Self {
        self.form = form;
        self
    }

    /// Sets whether [`annotate`](Self::annotate) also writes the site's preferences on the use of
    /// its content ([`Preferences`](crate::preferences::Preferences)).
    ///
    /// With [`AnnotateForm::Letters`] two columns follow the verdicts. The first has two letters
    /// per agent, `train-ai` and `search` ([`Preference::letter`](crate::preferences::Preference::letter)). The
    /// second has the content signals of each agent, or `-`. Semicolons separate agents. The header
    /// names them `content-usage` and `content-signal`.
    ///
    /// With [`AnnotateForm::Jsonl`] a new last key `robots_preferences` has an object for each
    /// agent: `{"train-ai":"n","search":"unknown","content-signal":{"search":"yes"}}`.
    /// [`AnnotateForm::Mask`] leaves preferences out.
    pub fn preferences(mut self, preferences: bool) -> Self {
        self.preferences = preferences;
        self
    }

    /// Stops the work on every line after this stage, for a benchmark that times the stages. With
    /// an earlier stage than [`Stage::Match`], [`run`](Self::run) writes no line and counts only
    /// bytes.
    pub fn until(mut self, stage: Stage) -> Self {
        self.until = stage;
        self
    }

    /// Sets a function to call after every block that is read.
    pub fn progress(mut self, progress: &'f (dyn Fn(FilterProgress) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Writes every line of the inputs, in order, to one of the outputs.
    ///
    /// # Errors
    /// I/O errors, which name the file, and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) of
    /// the snapshot. Outputs may be incomplete then.
    pub fn run(&self, inputs: Vec<Input>, outputs: Outputs<'_>) -> Result<FilterStats> {
        let mut sinks = VerdictSinks::new(self.criterion, outputs);
        let mut total = FilterStats::default();
        ordered::run(
            &ListSource::new(&self.records, self.progress),
            inputs,
            || self.judge.engine().scratch(),
            |block, scratch| {
                output::find_runs(
                    self.judge.engine(),
                    self.criterion,
                    self.until,
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
        Ok(total)
    }

    /// Writes every line of the inputs with its verdicts to `out`, in order, in the chosen
    /// [form](Self::form).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn annotate(
        &self,
        inputs: Vec<Input>,
        out: &mut (dyn Write + Send),
    ) -> Result<FilterStats> {
        let annotator = Annotator {
            judge: self.judge.engine(),
            criterion: self.criterion,
            writer: AnnotationWriter::new(self.form, self.judge.agents(), self.preferences),
            preferences: self.preferences.then(|| PreferenceJudge::new(self.judge)),
        };
        let mut sink = LineSink::new(Some(out));
        let mut total = FilterStats::default();
        ordered::run(
            &ListSource::new(&self.records, self.progress),
            inputs,
            || AnnotateScratch::new(self.judge.engine()),
            |block, scratch| annotator.annotate(block, scratch),
            |item| {
                let OrderedItem::Block(block) = item else {
                    return Ok(());
                };
                total.add(&block.stats);
                Ok(sink.write(&block.annotated, block.kind == BlockKind::LongLineRest)?)
            },
        )?;
        sink.flush()?;
        Ok(total)
    }
}

/// The output of each verdict.
struct VerdictSinks<'w> {
    allowed: LineSink<'w>,
    disallowed: LineSink<'w>,
    unknown: LineSink<'w>,
    invalid: LineSink<'w>,
}

impl<'w> VerdictSinks<'w> {
    fn new(criterion: Criterion, outputs: Outputs<'w>) -> Self {
        let (allowed, disallowed) = criterion.by_verdict(outputs.kept, outputs.other);
        Self {
            allowed: LineSink::new(allowed),
            disallowed: LineSink::new(disallowed),
            unknown: LineSink::new(outputs.unknown),
            invalid: LineSink::new(outputs.invalid),
        }
    }

    fn all(&mut self) -> [&mut LineSink<'w>; 4] {
        [
            &mut self.allowed,
            &mut self.disallowed,
            &mut self.unknown,
            &mut self.invalid,
        ]
    }

    /// Writes each run of lines to the output of its verdict, and a header to all outputs.
    fn write(&mut self, block: &LineBlock) -> Result<()> {
        if block.kind == BlockKind::Header {
            return Ok(self
                .all()
                .into_iter()
                .try_for_each(|sink| sink.write(block.data(), false))?);
        }
        let mut start = 0;
        for run in &block.runs {
            let sink = match run.verdict {
                Verdict::Allowed => &mut self.allowed,
                Verdict::Disallowed => &mut self.disallowed,
                Verdict::Unknown => &mut self.unknown,
                Verdict::Invalid => &mut self.invalid,
            };
            sink.write(
                &block.data()[start..run.end],
                block.kind == BlockKind::LongLineRest,
            )?;
            start = run.end;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.all().into_iter().try_for_each(LineSink::flush)?)
    }
}
