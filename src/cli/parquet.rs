//! `filter` and `annotate` of Parquet files, and how these are told from lists.

use super::args::{AnnotateArgs, FilterArgs};
use super::report::{print_agents, print_filter};
use super::run::input_progress;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use robosieve::{
    FilterProgress, FilterStats, Input, Judge, ParquetFilter, ParquetInput, ParquetOutputs, Snapshot, VerdictColumns,
};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which column of a Parquet file to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parquet files")]
pub(crate) struct ColumnArgs {
    /// The column that holds the URLs; a field of a struct is `a.b`
    #[arg(long, value_name = "NAME", default_value = "url")]
    pub column: String,
}

/// What annotating adds to a Parquet file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parquet files")]
pub(crate) struct VerdictArgs {
    #[command(flatten)]
    pub column: ColumnArgs,
    /// How verdicts are added; null where the origin is unknown or the value is no URL
    #[arg(long = "as", value_enum, default_value_t = AsArg::Bits)]
    pub form: AsArg,
    /// What the column of bits is called, or the columns of agents begin with (default: robots_allowed, robots_)
    #[arg(long, value_name = "NAME")]
    pub as_name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AsArg {
    /// One int64 column: bit 0 is set if the first agent may fetch the URL, bit 1 for the second, up to 63
    Bits,
    /// An int8 column for each agent: 1 if it may fetch the URL, else 0
    Int8,
}

impl AsArg {
    fn value(self) -> VerdictColumns {
        match self {
            Self::Bits => VerdictColumns::Bits,
            Self::Int8 => VerdictColumns::Int8,
        }
    }
}

/// The library makes errors of panics in the code that reads Parquet; nobody needs to see these told twice.
fn silence_foreign_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.location().is_some_and(|place| place.file().starts_with("src")) {
            usual(info);
        }
    }));
}

/// Whether the inputs are Parquet files: all or none of them.
pub(crate) fn are_parquet(inputs: &[PathBuf]) -> anyhow::Result<bool> {
    let tables = inputs.iter().filter(|path| ParquetInput::is_parquet(path)).count();
    if tables > 0 && tables < inputs.len() {
        bail!("some inputs are Parquet files and some are not; give them a run of their own each");
    }
    Ok(tables > 0)
}

/// Standard input as a list; a Parquet file cannot be read there.
pub(crate) fn open_stdin() -> Input {
    Input::from_reader("standard input", NoParquet { reader: std::io::stdin(), begun: false })
}

/// Passes on what it reads, unless that begins like a Parquet file.
struct NoParquet<R> {
    reader: R,
    begun: bool,
}

impl<R: Read> Read for NoParquet<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buf)?;
        if !std::mem::replace(&mut self.begun, true) && buf[..n].starts_with(b"PAR1") {
            let what = "it is read from its end; name the file instead of piping it".to_owned();
            return Err(io::Error::other(robosieve::Error::from(robosieve::ErrorKind::BadTable(what))));
        }
        Ok(n)
    }
}

/// `robosieve annotate` of Parquet files.
pub(crate) fn annotate(args: &AnnotateArgs, quiet: bool) -> anyhow::Result<()> {
    let out = args.output.as_deref().and_then(file).context(NEEDS_FILE)?;
    let inputs = open(&args.inputs, &args.table.column)?;
    let snapshot = Snapshot::open(&args.snapshot)?;
    let agents = args.judge.agents(quiet)?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let progress = input_progress(&args.inputs, quiet);
    let show = |at: FilterProgress| progress.set(at.bytes_read);
    let mut filter = ParquetFilter::new(&judge).columns(args.table.form.value()).progress(&show);
    if let Some(name) = &args.table.as_name {
        filter = filter.name(name);
    }
    let stats = filter.annotate(&inputs, out)?;
    progress.finish();
    if !quiet {
        print_filter(&stats, progress.elapsed());
        if agents.len() > 1 {
            print_agents(&stats, &agents);
        }
    }
    Ok(())
}

/// `robosieve filter` of Parquet files; gives the counts, and the time it took.
pub(crate) fn filter(args: &FilterArgs, quiet: bool) -> anyhow::Result<(FilterStats, Duration)> {
    let outputs = ParquetOutputs {
        kept: Some(args.output.as_deref().and_then(file).context(NEEDS_FILE)?),
        other: args.disallowed_to.as_deref(),
        unknown: args.unknown_to.as_deref(),
        invalid: args.invalid_to.as_deref(),
    };
    let paths = [outputs.kept, outputs.other, outputs.unknown, outputs.invalid];
    if paths.iter().flatten().any(|path| file(path).is_none()) {
        bail!(NEEDS_FILE);
    }
    let inputs = open(&args.inputs, &args.table)?;
    let snapshot = Snapshot::open(&args.snapshot)?;
    let agents = args.judge.agents(quiet)?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let progress = input_progress(&args.inputs, quiet);
    let stats = ParquetFilter::new(&judge)
        .keep(args.keep.value(), args.require.value())
        .progress(&|at| progress.set(at.bytes_read))
        .run(&inputs, outputs)?;
    progress.finish();
    Ok((stats, progress.elapsed()))
}

const NEEDS_FILE: &str = "the output of a Parquet input is Parquet, which needs a file that is not compressed as a whole; \
                          name one with -o, such as -o out.parquet";

/// The path, if a Parquet file can be written there: a compressed one could not be read.
fn file(path: &Path) -> Option<&Path> {
    let compressed = path.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
    Some(path).filter(|path| path.as_os_str() != "-" && !compressed)
}

fn open(paths: &[PathBuf], column: &ColumnArgs) -> anyhow::Result<Vec<ParquetInput>> {
    silence_foreign_panics();
    Ok(paths.iter().map(|path| ParquetInput::open(path, &column.column)).collect::<robosieve::Result<_>>()?)
}
