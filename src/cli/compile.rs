//! `robosieve compile`: archives to a snapshot, with a report.

use super::args::CompileArgs;
use super::output::refuse_same;
use super::progress::Progress;
use super::report::print_compile;
use anyhow::Context;
use robosieve::{CompileReport, Compiler, OutputFile};
use std::io::Write;

pub(crate) fn run(args: &CompileArgs, quiet: bool) -> anyhow::Result<()> {
    refuse_same(&[Some(&args.output), args.stats_json.as_deref()])?;
    // The work is long: an output that cannot be written is told now, by beginning it.
    drop(OutputFile::create(&args.output)?);
    let stats = args.stats_json.as_ref().map(OutputFile::create).transpose()?;
    let progress = Progress::count("entries", quiet);
    let mut compiler = Compiler::new(args.profile.value());
    compiler.skip_damaged(args.skip_damaged);
    compiler.add_paths(&args.inputs, &|at| progress.set(at.entries))?;
    let mut compiled = compiler.finish()?;
    compiled.write_to(&args.output)?;
    progress.finish();
    if let Some(file) = stats {
        write_stats(file, compiled.report())?;
    }
    if !quiet {
        print_compile(compiled.report(), progress.elapsed());
    }
    Ok(())
}

fn write_stats(mut file: OutputFile, report: &CompileReport) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut file, report).context("--stats-json")?;
    file.write_all(b"\n").context("--stats-json")?;
    Ok(file.commit()?)
}
