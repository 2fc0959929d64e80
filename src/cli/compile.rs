//! `robosieve compile`: archives to a snapshot, with a report.

use super::choices::ProfileArg;
use super::endings::{Format, refuse_other_format};
use super::escape::{escape, to_json_pretty};
use super::examples::COMPILE_EXAMPLES;
use super::inputs::expand_globs;
use super::output::Output;
use super::overlap::Files;
use super::progress::Progress;
use super::stderr::print_line;
use super::summary::{grouped, print_compile};
use super::time::parse_through;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::{CompileReport, Compiler, OutputFile, Snapshot};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = COMPILE_EXAMPLES)]
pub(crate) struct CompileArgs {
    /// The snapshot to write; an existing one is replaced
    #[arg(short, long, value_name = "SNAP")]
    pub output: PathBuf,
    /// Whose reading of the rules to compile for (default: that of --previous, else google)
    #[arg(long, value_enum)]
    pub profile: Option<ProfileArg>,
    /// Take over what this snapshot knows, wherever the inputs tell nothing newer; it may be the output too
    #[arg(long, value_name = "OLD")]
    pub previous: Option<PathBuf>,
    /// Leave out captures newer than this time, and count them; a date is its last second in UTC. Captures of unknown time stay
    #[arg(long, value_name = "TIME", value_parser = parse_through)]
    pub as_of: Option<i64>,
    /// Read on behind damaged places, counting them, instead of failing at the first
    #[arg(long)]
    pub skip_damaged: bool,
    /// Write what was read and what came of it as JSON (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub stats_json: Option<PathBuf>,
    /// WARC or JSONL files (plain, gzip or zstd), directories of them or of robots.txt files;
    /// quoted globs ('crawl/**/*.warc.gz') stand for the files that they match; `-` is standard
    /// input
    #[arg(required_unless_present = "previous", value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

pub(crate) fn run(args: &CompileArgs, quiet: bool) -> anyhow::Result<()> {
    let inputs = expand_globs(&args.inputs)?;
    refuse_outputs(args, &inputs)?;
    // The work is long: an output that cannot be written is told now, by beginning it.
    let mut output = OutputFile::create(&args.output)?;
    let mut stats = args.stats_json.as_deref().map(|path| Output::open(Some(path))).transpose()?;
    stats.iter_mut().for_each(Output::outlive_reader);
    let progress = Progress::of_archives(&inputs, quiet);
    let mut compiler = begin(args)?;
    compiler.skip_damaged(args.skip_damaged);
    compiler.add_paths(&inputs, &|at| progress.set(at.bytes_read))?;
    progress.end_of_input("making the snapshot");
    let mut compiled = compiler.finish()?;
    report_skipped(compiled.report());
    report_unread(compiled.report());
    refuse_nothing(args, compiled.report())?;
    compiled.write_into(&mut output)?;
    if let Some(stats) = &mut stats {
        stats.write_whole(&to_json_pretty(compiled.report())?)?;
    }
    Output::commit_all([Some(Output::File(Box::new(output))), stats].into_iter().flatten())?;
    progress.finish();
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

/// Refuses outputs that would overwrite what is read, or each other, or whose names say another
/// format. The previous snapshot may be replaced by the new one.
fn refuse_outputs(args: &CompileArgs, inputs: &[PathBuf]) -> anyhow::Result<()> {
    refuse_archive(&args.output)?;
    let mut files = Files::default().reads("an input", inputs);
    for dir in inputs.iter().filter(|input| input.is_dir()) {
        let entries = std::fs::read_dir(dir).with_context(|| dir.display().to_string())?;
        files = files.reads("a file of an input directory", entries.flatten().map(|entry| entry.path()));
    }
    files.writes("-o", &args.output)?;
    let mut files = files.reads("--previous", &args.previous);
    if let Some(path) = &args.stats_json {
        files.writes("--stats-json", path)?;
        refuse_other_format("--stats-json", path, Format::Text)?;
    }
    refuse_other_format("-o", &args.output, Format::Snapshot)
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

/// Files that are left out are lost input, so this is said under `-q` too.
fn report_skipped(report: &CompileReport) {
    let names = &report.skipped_examples;
    if report.skipped_files > 0 {
        let more = if report.skipped_files > names.len() as u64 { ", ..." } else { "" };
        let names: Vec<String> = names.iter().map(|name| escape(name).into_owned()).collect();
        print_line(format_args!(
            "robosieve: warning: {} files in directories are no robots.txt of a host and were left out: {}{more}",
            grouped(report.skipped_files),
            names.join(", ")
        ));
    }
}

/// Bodies under unknown keys are lost input too.
fn report_unread(report: &CompileReport) {
    for (key, lines) in &report.unread_keys {
        let have = if *lines == 1 { "line with a 2xx status has" } else { "lines with a 2xx status have" };
        print_line(format_args!(
            "robosieve: warning: {} {have} no body and count as unreachable; \"{}\" looks like the body: name it \"body\" \
             (\"body_base64\", \"content\", \"text\" and \"robots\" are read too)",
            grouped(*lines),
            escape(key),
        ));
    }
}

/// A snapshot of nothing would replace a good one where an archive came out empty.
fn refuse_nothing(args: &CompileArgs, report: &CompileReport) -> anyhow::Result<()> {
    if report.counts.origins > 0 {
        return Ok(());
    }
    let inputs: Vec<String> = args.inputs.iter().map(|path| path.display().to_string()).collect();
    bail!(
        "{}: no capture of any /robots.txt ({} captures of other URLs, {} without a URL, {} newer than --as-of, {} damaged places skipped, {} files left out); nothing is written",
        inputs.join(", "),
        report.other_urls,
        report.not_urls,
        report.too_new,
        report.damaged,
        report.skipped_files
    );
}
