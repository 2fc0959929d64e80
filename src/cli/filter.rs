//! `robosieve filter`: keeps the lines that agents may fetch.

use super::args::{FilterArgs, KeepArg};
use super::job::{Places, Task, What};
use super::output::refuse_same;
use super::run::Run;
use super::summary::grouped;
use anyhow::bail;
use robosieve::FilterStats;
use std::path::Path;

pub(crate) fn run(args: &FilterArgs, quiet: bool) -> anyhow::Result<()> {
    if args.keep == KeepArg::Disallowed && args.disallowed_to.is_some() {
        bail!("--keep disallowed writes the disallowed lines to the output already; leave --disallowed-to out");
    }
    let dir = args.many.dir(args.output.as_deref())?;
    refuse_same(&[
        Some(dir.or(args.output.as_deref()).unwrap_or(Path::new("-"))),
        args.disallowed_to.as_deref(),
        args.unknown_to.as_deref(),
        args.invalid_to.as_deref(),
    ])?;
    let what = What::Filter(args.keep.value(), args.require.value());
    let task = Task { what, records: args.records.options() };
    let places = Places {
        main: dir.map(Path::to_owned).or_else(|| args.output.clone()),
        disallowed: args.disallowed_to.clone(),
        unknown: args.unknown_to.clone(),
        invalid: args.invalid_to.clone(),
    };
    let (snapshot, judge, many, from) = (&args.snapshot, &args.judge, &args.many, &args.from);
    Run { snapshot, judge, many, from, task, places, quiet }.perform(|stats, _| print_hints(args, stats))
}

/// Lines that went nowhere are said so, with the way to get them.
fn print_hints(args: &FilterArgs, stats: &FilterStats) {
    if stats.unknown > 0 && args.unknown_to.is_none() {
        eprintln!(
            "not written: {} lines of unknown origins (--unknown allow|disallow decides about them, --unknown-to FILE keeps them)",
            grouped(stats.unknown)
        );
    }
    if stats.invalid > 0 && args.invalid_to.is_none() {
        eprintln!("not written: {} lines that are not URLs (--invalid-to FILE keeps them)", grouped(stats.invalid));
    }
}
