//! `robosieve compile`: compiles archives into a snapshot, with a report.

use super::escape::{escape, to_json_pretty};
use super::file_extension::{OutputFormat, refuse_other_format};
use super::help_text::{COMMON, COMPILE_EXAMPLES, COMPILE_SHORT, INPUT, OUTPUT, POLICY, RESOURCES};
use super::inputs::expand_globs;
use super::numbers::parse_size;
use super::option_guard::OptionGuard;
use super::output::OutputTarget;
use super::progress::Progress;
use super::stderr::print_line;
use super::summary::{grouped, print_compile};
use super::time::parse_through_or_now;
use super::value_enums::ProfileArg;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::compile::{CompilePhase, CompileReport};
use robosieve::output::OutputFile;
use robosieve::{Compiler, Snapshot};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = COMPILE_SHORT, after_long_help = COMPILE_EXAMPLES)]
pub(crate) struct CompileArgs {
    /// The snapshot to write; an existing one is replaced
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub output: PathBuf,
    /// Parser to reproduce
    ///
    /// The default is the profile of --previous, else google.
    #[arg(long, value_enum, help_heading = POLICY)]
    pub profile: Option<ProfileArg>,
    /// Keep the entries of this snapshot that the inputs do not replace
    ///
    /// The output may replace it.
    #[arg(long, value_name = "OLD", help_heading = COMMON)]
    pub previous: Option<PathBuf>,
    /// Skip, and count, captures newer than this time (or `now`)
    ///
    /// A date is its last second in UTC. Captures of unknown time stay.
    #[arg(long, value_name = "TIME", value_parser = parse_through_or_now, help_heading = POLICY)]
    pub as_of: Option<i64>,
    /// Skip, and count, damaged places of the inputs instead of failing
    #[arg(long, help_heading = INPUT)]
    pub skip_damaged: bool,
    /// Write the counts as JSON (`-`: standard output)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub stats_json: Option<PathBuf>,
    /// Keep at most this many bytes of captures and texts in memory, such as 512M
    ///
    /// The rest goes to temporary files. About 50 bytes per capture come on top. The snapshot does
    /// not depend on this.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1G", help_heading = RESOURCES)]
    pub memory: u64,
    /// Directory of temporary files (default: that of the snapshot to write)
    ///
    /// Ten million captures take less than 10 GB there. The files have no name, and vanish with the
    /// process.
    #[arg(long, value_name = "DIR", help_heading = RESOURCES)]
    pub temp_dir: Option<PathBuf>,
    /// WARC or JSONL archives, or directories (`-`: standard input)
    ///
    /// An archive is plain, gzip or zstd. A directory holds archives or robots.txt files. A quoted
    /// glob ('crawl/**/*.warc.gz') stands for the files that it matches.
    #[arg(required_unless_present = "previous", value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

pub(crate) fn run(args: &CompileArgs, quiet: bool) -> anyhow::Result<()> {
    let inputs = expand_globs(&args.inputs)?;
    refuse_outputs(args, &inputs)?;
    // Compiling takes long: outputs are created first, so that an unwritable one fails at once.
    let mut output = OutputFile::create(&args.output)?;
    let mut stats = args.stats_json.as_deref().map(|path| OutputTarget::open(Some(path))).transpose()?;
    stats.iter_mut().for_each(OutputTarget::outlive_reader);
    let progress = Progress::of_archives(&inputs, quiet);
    let mut compiler =
        new_compiler(args)?.skip_damaged(args.skip_damaged).memory(args.memory).temp_dir(temp_dir(args)?);
    compiler.add_paths(&inputs, &|at| progress.set(at.bytes_read))?;
    progress.end_of_input("sorting captures");
    let compiled = compiler.finish_with(&|at| progress.step(phase_name(at.phase), at.done, at.total))?;
    progress.end_of_input("writing the snapshot");
    warn_of_skipped_files(compiled.report());
    warn_of_unread_keys(compiled.report());
    refuse_empty_snapshot(args, compiled.report())?;
    let report = compiled.write_into(&mut output)?;
    if let Some(stats) = &mut stats {
        stats.write_whole(&to_json_pretty(&report)?)?;
    }
    OutputTarget::commit_all([Some(OutputTarget::File(Box::new(output))), stats].into_iter().flatten())?;
    progress.finish();
    if !quiet {
        print_compile(&report, args.previous.is_some(), args.as_of.is_some(), progress.elapsed());
    }
    Ok(())
}

fn phase_name(phase: CompilePhase) -> &'static str {
    match phase {
        CompilePhase::Sort => "sorting captures",
        CompilePhase::Build => "resolving origins",
        _ => "reading",
    }
}

/// The directory of temporary files. The one next to the output has room for the snapshot too.
fn temp_dir(args: &CompileArgs) -> anyhow::Result<PathBuf> {
    let Some(dir) = &args.temp_dir else {
        let dir = args.output.parent().filter(|dir| !dir.as_os_str().is_empty());
        return Ok(dir.unwrap_or(Path::new(".")).to_owned());
    };
    if !dir.is_dir() {
        bail!("--temp-dir: {} is not a directory", dir.display());
    }
    Ok(dir.clone())
}

/// A compiler for the given profile, or that of the previous snapshot.
fn new_compiler(args: &CompileArgs) -> anyhow::Result<Compiler> {
    let profile = args.profile.map(ProfileArg::value);
    let Some(path) = &args.previous else {
        return Ok(Compiler::new(profile.unwrap_or_default()).as_of(args.as_of));
    };
    let old = Snapshot::open(path)?;
    let profile = profile.map_or_else(|| old.profile(), Ok).map_err(|err| err.at(path))?;
    Ok(Compiler::new(profile).as_of(args.as_of).previous(old).map_err(|err| err.at(path))?)
}

/// Refuses outputs that would overwrite an input or each other, and outputs with the extension of
/// another format. The new snapshot may replace the previous one.
fn refuse_outputs(args: &CompileArgs, inputs: &[PathBuf]) -> anyhow::Result<()> {
    refuse_archive(&args.output)?;
    let mut guard = OptionGuard::default().add_inputs("an input", inputs);
    for dir in inputs.iter().filter(|input| input.is_dir()) {
        let entries = std::fs::read_dir(dir).with_context(|| dir.display().to_string())?;
        guard = guard.add_inputs("a file of an input directory", entries.flatten().map(|entry| entry.path()));
    }
    guard.add_output("-o", &args.output)?;
    let mut guard = guard.add_inputs("--previous", &args.previous);
    if let Some(path) = &args.stats_json {
        guard.add_output("--stats-json", path)?;
        refuse_other_format("--stats-json", path, OutputFormat::Text)?;
    }
    refuse_other_format("-o", &args.output, OutputFormat::Snapshot)
}

/// Refuses to replace an archive: it was probably meant as an input (`-o *.warc.gz`).
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

/// Warns of skipped files, also with `-q`: their data is missing in the snapshot.
fn warn_of_skipped_files(report: &CompileReport) {
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

/// Warns of bodies under unknown keys, also with `-q`.
fn warn_of_unread_keys(report: &CompileReport) {
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

/// Refuses an empty snapshot: it would replace a good one if an archive turned out empty.
fn refuse_empty_snapshot(args: &CompileArgs, report: &CompileReport) -> anyhow::Result<()> {
    if report.counts.origins > 0 {
        return Ok(());
    }
    let inputs: Vec<String> = args.inputs.iter().map(|path| path.display().to_string()).collect();
    bail!(
        "{}: no capture of any /robots.txt ({} captures of other URLs, {} without a URL, {} newer than --as-of, \
         {} damaged places skipped, {} files left out); nothing is written",
        inputs.join(", "),
        report.other_urls,
        report.not_urls,
        report.too_new,
        report.damaged,
        report.skipped_files
    );
}
