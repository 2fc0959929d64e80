//! `robosieve compile`: archives to a snapshot, with a report.

use super::args::{CompileArgs, ProfileArg};
use super::output::refuse_same;
use super::progress::Progress;
use super::summary::print_compile;
use anyhow::{Context, bail};
use robosieve::{CompileReport, Compiler, OutputFile, Snapshot};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

pub(crate) fn run(args: &CompileArgs, quiet: bool) -> anyhow::Result<()> {
    refuse_same(&[Some(&args.output), args.stats_json.as_deref()])?;
    refuse_archive(&args.output)?;
    // The work is long: an output that cannot be written is told now, by beginning it.
    drop(OutputFile::create(&args.output)?);
    let stats = args.stats_json.as_ref().map(OutputFile::create).transpose()?;
    let progress = Progress::count("entries", quiet);
    let mut compiler = begin(args)?;
    compiler.skip_damaged(args.skip_damaged);
    compiler.add_paths(&args.inputs, &|at| progress.set(at.entries))?;
    let mut compiled = compiler.finish()?;
    refuse_nothing(args, compiled.report())?;
    compiled.write_to(&args.output)?;
    progress.finish();
    if let Some(file) = stats {
        write_stats(file, compiled.report())?;
    }
    if !quiet {
        print_compile(compiled.report(), [args.previous.is_some(), args.as_of.is_some()], progress.elapsed());
    }
    // The process ends, and all its memory with it: freeing millions of parts one by one takes time.
    std::mem::forget(compiled);
    Ok(())
}

/// A compiler for the profile that is asked for, or that of the previous snapshot.
fn begin(args: &CompileArgs) -> anyhow::Result<Compiler> {
    let asked = args.profile.map(ProfileArg::value);
    let Some(path) = &args.previous else {
        return Ok(with_time(Compiler::new(asked.unwrap_or_default()), args));
    };
    let old = Snapshot::open(path)?;
    let profile = asked.map_or_else(|| old.profile(), Ok).map_err(|err| err.at(path))?;
    let mut compiler = with_time(Compiler::new(profile), args);
    compiler.previous(old).map_err(|err| err.at(path))?;
    Ok(compiler)
}

fn with_time(mut compiler: Compiler, args: &CompileArgs) -> Compiler {
    if let Some(time) = args.as_of {
        compiler.as_of(time);
    }
    compiler
}

fn write_stats(mut file: OutputFile, report: &CompileReport) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut file, report).context("--stats-json")?;
    file.write_all(b"\n").context("--stats-json")?;
    Ok(file.commit()?)
}

/// An output that is an archive was most likely meant as an input (`-o *.warc.gz`).
fn refuse_archive(output: &Path) -> anyhow::Result<()> {
    if output.as_os_str() == "-" {
        bail!("a snapshot cannot be written to standard output: name a file");
    }
    let mut start = Vec::new();
    if output.is_file() {
        let file = File::open(output).with_context(|| output.display().to_string())?;
        file.take(5).read_to_end(&mut start).with_context(|| output.display().to_string())?;
    }
    if start == b"WARC/" || start.starts_with(&[0x1f, 0x8b]) {
        bail!("{}: is an archive; -o names the snapshot to write, and would replace it", output.display());
    }
    Ok(())
}

/// A snapshot of nothing would replace a good one where an archive came out empty.
fn refuse_nothing(args: &CompileArgs, report: &CompileReport) -> anyhow::Result<()> {
    if report.counts.origins > 0 {
        return Ok(());
    }
    let inputs: Vec<String> = args.inputs.iter().map(|path| path.display().to_string()).collect();
    bail!(
        "{}: no capture of any /robots.txt ({} captures of other URLs, {} without a URL, {} newer than --as-of, {} damaged places skipped); nothing is written",
        inputs.join(", "),
        report.other_urls,
        report.not_urls,
        report.too_new,
        report.damaged
    );
}
