//! `robosieve filter`: keeps the lines that agents may fetch.

use super::args::{FilterArgs, KeepArg};
use super::output::{Output, refuse_same};
use super::parquet;
use super::report::{grouped, print_filter};
use super::run::{input_progress, open_inputs};
use anyhow::bail;
use robosieve::{Filter, FilterStats, Judge, Outputs, Snapshot};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &FilterArgs, quiet: bool) -> anyhow::Result<()> {
    if args.keep == KeepArg::Disallowed && args.disallowed_to.is_some() {
        bail!("--keep disallowed writes the disallowed lines to the output already; leave --disallowed-to out");
    }
    refuse_same(&[
        Some(args.output.as_deref().unwrap_or(Path::new("-"))),
        args.disallowed_to.as_deref(),
        args.unknown_to.as_deref(),
        args.invalid_to.as_deref(),
    ])?;
    if parquet::are_parquet(&args.inputs)? {
        let (stats, elapsed) = parquet::filter(args, quiet)?;
        if !quiet {
            print_filter(&stats, elapsed);
            print_hints(args, &stats);
        }
        return Ok(());
    }
    let snapshot = Snapshot::open(&args.snapshot)?;
    let agents = args.judge.agents(quiet)?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let inputs = open_inputs(&args.inputs)?;
    let mut kept = Output::open(args.output.as_deref())?;
    let mut other = open_optional(&args.disallowed_to)?;
    let mut unknown = open_optional(&args.unknown_to)?;
    let mut invalid = open_optional(&args.invalid_to)?;
    let progress = input_progress(&args.inputs, quiet);
    let stats = Filter::new(&judge)
        .keep(args.keep.value(), args.require.value())
        .progress(&|at| progress.set(at.bytes_read))
        .run(
            inputs,
            Outputs {
                kept: Some(&mut kept),
                other: as_sink(&mut other),
                unknown: as_sink(&mut unknown),
                invalid: as_sink(&mut invalid),
            },
        )?;
    for output in [Some(kept), other, unknown, invalid].into_iter().flatten() {
        output.commit()?;
    }
    progress.finish();
    if !quiet {
        print_filter(&stats, progress.elapsed());
        print_hints(args, &stats);
    }
    Ok(())
}

fn open_optional(path: &Option<PathBuf>) -> anyhow::Result<Option<Output>> {
    path.as_deref().map(|path| Output::open(Some(path))).transpose()
}

fn as_sink(output: &mut Option<Output>) -> Option<&mut (dyn Write + Send)> {
    output.as_mut().map(|output| output as &mut (dyn Write + Send))
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
