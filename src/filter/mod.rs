//! Lists of URLs through a judge: blocks of lines on all cores, results in the order of the input.

mod annotate;
pub(crate) mod output;
mod preference_text;
pub(crate) mod sample;
pub(crate) mod tally;

pub(crate) use sample::Sample;
pub(crate) use tally::Tally;

use crate::error::Result;
use crate::judge::{Judge, PreferenceJudge, PreferenceScratch, Stage, Verdict};
use crate::pipeline::{FilterProgress, FilterStats, Input, Part, workers};
use crate::records::RecordOptions;
use output::{Criterion, LineSink};
use std::io::Write;

/// Which lines a filter keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Those that may be fetched.
    #[default]
    Allowed,
    /// Those that may not.
    Disallowed,
}

/// Of how many agents the kept verdict is required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Require {
    /// Of all.
    #[default]
    All,
    /// Of one or more.
    Any,
}

/// What [`Filter::annotate`] writes for each line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnnotateForm {
    /// One letter an agent ([`Verdict::letter`]), TAB, the line unchanged. For a header it is the names of the agents with commas between
    /// them, TAB, the header.
    #[default]
    Letters,
    /// A JSON object. One of the input is left as it is but for a new last key `robots`: an object with the verdict
    /// ([`Verdict::name`]) of each agent by its name. Any other line is the text at the key `url`, or `line` where it has more than a URL, of
    /// a new object, in which bytes that are not UTF-8 are replaced. A header is left out.
    Jsonl,
    /// One digit an agent and nothing else: 1 for one that may fetch the URL, 0 for all others. A line for each record of
    /// the input; a header has none.
    Mask,
}

/// Where the lines of a filter go; `None` throws away. Every line goes to exactly one of them, with its bytes unchanged
/// and in the order of the input.
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
/// [`max_threads`](crate::max_threads).
///
/// Input is read and output written by a thread each; memory is a few blocks of 256 KiB for each thread (more only for lines
/// that are longer). Lines may hold any bytes and be of any length: one of over 64 MiB is passed on unjudged, as no URL.
///
/// ```
/// use robosieve::{Compiler, Filter, Input, Judge, JudgeOptions, Outputs, Snapshot};
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
        f.debug_struct("Filter").field("criterion", &self.criterion).finish_non_exhaustive()
    }
}

impl<'f> Filter<'f> {
    /// A filter that keeps the lines all agents may fetch.
    pub fn new(judge: &'f Judge) -> Self {
        let criterion = Criterion { keep: Keep::default(), require: Require::default() };
        let (until, records, form, preferences) = Default::default();
        Self { judge, criterion, until, records, form, preferences, progress: &|_| {} }
    }

    /// Which lines to keep.
    pub fn keep(mut self, keep: Keep, require: Require) -> Self {
        self.criterion = Criterion { keep, require };
        self
    }

    /// Where the URLs of the inputs stand.
    pub fn records(mut self, records: RecordOptions) -> Self {
        self.records = records;
        self
    }

    /// What [`annotate`](Self::annotate) writes.
    pub fn form(mut self, form: AnnotateForm) -> Self {
        self.form = form;
        self
    }

    /// Whether [`annotate`](Self::annotate) also tells what the site prefers about the use of the URL's content ([`Preferences`](crate::Preferences)).
    ///
    /// With [`AnnotateForm::Letters`] these are two columns more between the verdicts and the line: for each agent two letters, `train-ai`
    /// and `search` ([`Preference::letter`](crate::Preference::letter)), and for each its content signals, `-` where there are none; in both a
    /// semicolon between agents. In a header they are called `content-usage` and `content-signal`. With [`AnnotateForm::Jsonl`] it is a new last
    /// key `robots_preferences`: an object with an object for each agent, `{"train-ai":"n","search":"unknown","content-signal":{"search":"yes"}}`.
    /// [`AnnotateForm::Mask`] has no place for them.
    pub fn preferences(mut self, preferences: bool) -> Self {
        self.preferences = preferences;
        self
    }

    /// Ends the work on every line behind this stage, for a benchmark that takes the time apart: with an earlier stage than
    /// [`Stage::Match`], [`run`](Self::run) writes no line and counts nothing but bytes.
    pub fn until(mut self, stage: Stage) -> Self {
        self.until = stage;
        self
    }

    /// Is called after every block that was read.
    pub fn progress(mut self, progress: &'f (dyn Fn(FilterProgress) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Routes every line of the inputs, one after the other, to one of the outputs.
    ///
    /// # Errors
    /// What cannot be read or written, naming the file; [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) of the snapshot. Outputs
    /// may have been written in part by then.
    pub fn run(&self, inputs: Vec<Input>, outputs: Outputs<'_>) -> Result<FilterStats> {
        let (allowed, disallowed) = self.criterion.by_verdict(outputs.kept, outputs.other);
        let mut allowed = LineSink::new(allowed);
        let mut disallowed = LineSink::new(disallowed);
        let mut unknown = LineSink::new(outputs.unknown);
        let mut invalid = LineSink::new(outputs.invalid);
        let stats = workers::run(
            inputs,
            &self.records,
            self.progress,
            || self.judge.engine().scratch(),
            |block, scratch, stats| {
                output::runs(self.judge.engine(), self.criterion, self.until, block, scratch, stats)
            },
            |block| {
                if block.part == Part::Header {
                    let mut sinks = [&mut allowed, &mut disallowed, &mut unknown, &mut invalid].into_iter();
                    return sinks.try_for_each(|sink| sink.put(block.data(), false));
                }
                let mut start = 0;
                for &(verdict, end) in &block.runs {
                    let sink = match verdict {
                        Verdict::Allowed => &mut allowed,
                        Verdict::Disallowed => &mut disallowed,
                        Verdict::Unknown => &mut unknown,
                        Verdict::Invalid => &mut invalid,
                    };
                    sink.put(&block.data()[start..end], block.part == Part::LongRest)?;
                    start = end;
                }
                Ok(())
            },
        )?;
        for sink in [&mut allowed, &mut disallowed, &mut unknown, &mut invalid] {
            sink.flush()?;
        }
        Ok(stats)
    }

    /// Writes something for every line of the inputs to `out`, in order, in the form that was asked for.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn annotate(&self, inputs: Vec<Input>, out: &mut (dyn Write + Send)) -> Result<FilterStats> {
        let annotator = annotate::Annotator {
            judge: self.judge.engine(),
            criterion: self.criterion,
            form: annotate::Form::new(self.form, self.judge.agents(), self.preferences),
            preferences: self.preferences.then(|| PreferenceJudge::new(self.judge)),
        };
        let mut sink = LineSink::new(Some(out));
        let stats = workers::run(
            inputs,
            &self.records,
            self.progress,
            || (self.judge.engine().scratch(), PreferenceScratch::default()),
            |block, scratch, stats| annotator.annotate(block, scratch, stats),
            |block| sink.put(&block.annotated, block.part == Part::LongRest),
        )?;
        sink.flush()?;
        Ok(stats)
    }
}
