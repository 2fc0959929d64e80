//! `robosieve filter`: keeps the lines that agents may fetch.

use super::choices::{KeepArg, RequireArg};
use super::examples::FILTER_EXAMPLES;
use super::inputs::InputArgs;
use super::judging::{JudgeArgs, agents_needed};
use super::many::ManyArgs;
use super::records::RecordArgs;
use super::run::Run;
use super::snapshot::VerifyArgs;
use super::stderr::print_line;
use super::summary::grouped;
use super::task::{Places, Task, What};
use anyhow::bail;
use clap::Args;
use robosieve::FilterStats;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = FILTER_EXAMPLES, group = agents_needed())]
pub(crate) struct FilterArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub records: RecordArgs,
    /// Which lines to keep
    #[arg(long, value_enum, default_value_t = KeepArg::Allowed)]
    pub keep: KeepArg,
    /// Of how many agents that verdict is required
    #[arg(long, value_enum, default_value_t = RequireArg::All)]
    pub require: RequireArg,
    /// Write the disallowed lines here (with --out-dir: a directory)
    #[arg(long, value_name = "FILE")]
    pub disallowed_to: Option<PathBuf>,
    /// Write the lines of unknown origins here (with --out-dir: a directory)
    #[arg(long, value_name = "FILE")]
    pub unknown_to: Option<PathBuf>,
    /// Write the lines that are not URLs here (with --out-dir: a directory)
    #[arg(long, value_name = "FILE")]
    pub invalid_to: Option<PathBuf>,
    /// Write the kept lines here (default: standard output); .gz and .zst compress
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub many: ManyArgs,
    #[command(flatten)]
    pub from: InputArgs,
}

pub(crate) fn run(args: &FilterArgs, quiet: bool) -> anyhow::Result<()> {
    if args.keep == KeepArg::Disallowed && args.disallowed_to.is_some() {
        bail!("--keep disallowed writes the disallowed lines to the output already; leave --disallowed-to out");
    }
    let dir = args.many.dir(args.output.as_deref())?;
    let what = What::Filter(args.keep.value(), args.require.value());
    let task = Task { what, records: args.records.options() };
    let places = Places {
        main: dir.map(Path::to_owned).or_else(|| args.output.clone()),
        disallowed: args.disallowed_to.clone(),
        unknown: args.unknown_to.clone(),
        invalid: args.invalid_to.clone(),
        of_directory: dir.is_some(),
    };
    let (snapshot, verify, judge, many, from) = (&args.snapshot, &args.verify, &args.judge, &args.many, &args.from);
    Run { snapshot, verify, judge, many, from, task, places, quiet }.perform(|stats, _| print_hints(args, stats))
}

/// Lines that went nowhere are said so, with the way to get them.
fn print_hints(args: &FilterArgs, stats: &FilterStats) {
    if stats.unknown > 0 && args.unknown_to.is_none() {
        print_line(format_args!(
            "not written: {} lines of unknown origins (--unknown-to FILE keeps, --unknown judges them)",
            grouped(stats.unknown)
        ));
    }
    if stats.invalid > 0 && args.invalid_to.is_none() {
        print_line(format_args!(
            "not written: {} lines that are not URLs (--invalid-to FILE keeps them)",
            grouped(stats.invalid)
        ));
    }
}
