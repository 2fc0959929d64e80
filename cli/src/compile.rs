//! `robosieve compile`: compiles archives into a snapshot, with a report.

use crate::archive_args::{ArchiveArgs, joined, phase_name, refuse_archive, warn_of_unread};
use crate::help_text::{COMMON, COMPILE_EXAMPLES, COMPILE_SHORT, POLICY};
use crate::inputs::expand_globs;
use crate::numbers::parse_percent;
use crate::option_guard::OptionGuard;
use crate::output::{OutputTarget, create_file};
use crate::progress::Progress;
use crate::stats_json::RunRecord;
use crate::summary::print_compile;
use crate::time::parse_through_or_now;
use crate::value_enums::named;
use clap::Args;
use robosieve::output::OutputFormat;
use robosieve::{Compiler, Error, ErrorKind, Profile, Snapshot};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = COMPILE_SHORT, after_long_help = COMPILE_EXAMPLES)]
pub(crate) struct CompileArgs {
    /// The snapshot to write; an existing one is replaced
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub output: PathBuf,
    /// Parser to reproduce
    ///
    /// The default is the profile of --previous, else google.
    #[arg(long, value_parser = named::<Profile>(), help_heading = POLICY)]
    pub profile: Option<Profile>,
    /// Keep the entries of this snapshot that the inputs do not replace
    ///
    /// The output may replace it.
    #[arg(long, value_name = "OLD", help_heading = COMMON)]
    pub previous: Option<PathBuf>,
    /// With --previous: fail if more of the captured origins fail that answered in OLD
    ///
    /// Failures are 429, 5xx and network errors. So many at once are probably those of the fetcher
    /// or of its network, and the new snapshot would disallow all these sites. It counts from 100
    /// captured origins that answered in OLD. Nothing is written then. 100% accepts everything.
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = parse_percent,
        default_value = "20%",
        requires = "previous",
        hide_short_help = true,
        help_heading = POLICY
    )]
    pub max_failing: f64,
    /// Skip, and count, captures newer than this time (or `now`)
    ///
    /// A date, a month or a year is its last second in UTC. Captures of unknown time stay.
    #[arg(long, value_name = "TIME", value_parser = parse_through_or_now, help_heading = POLICY)]
    pub as_of: Option<i64>,
    /// Keep all versions of all answers, so that --as-of of other verbs can ask for any time
    ///
    /// The snapshot grows by some 30 bytes for each version, by the difference between each old text
    /// and a newer one, and by the rules of short old texts, at most 8 KiB for each text. Judging
    /// without a time stays as fast.
    ///
    /// With --previous, the inputs continue the history of OLD. Each capture must be newer than what
    /// OLD has of the same URL. If OLD has no history, its answers become the first versions.
    #[arg(long, help_heading = COMMON)]
    pub history: bool,
    #[command(flatten)]
    pub archives: ArchiveArgs,
    /// WARC or JSONL archives, captures files, or directories (`-`: standard input)
    ///
    /// An archive is plain, gzip or zstd. ARC and WACZ files are read as WARC files. A directory holds
    /// archives and captures files, or robots.txt files. A quoted glob ('crawl/**/*.warc.gz') stands
    /// for the files that it matches.
    #[arg(required_unless_present = "previous", value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

pub(crate) fn run(args: &CompileArgs, quiet: bool) -> anyhow::Result<()> {
    let inputs = expand_globs(&args.inputs)?;
    refuse_outputs(args, &inputs)?;
    // Compiling takes long: outputs are created first, so that an unwritable one fails at once.
    let mut output = create_file(&args.output)?;
    let mut stats = args.archives.stats.open()?;
    let progress = Progress::of_archives(&inputs, quiet);
    let mut compiler = args.archives.configure(new_compiler(args)?, &args.output)?;
    compiler.add_paths(&inputs, &|at| progress.set(at.bytes_read))?;
    progress.end_of_input("sorting captures");
    let compiled = compiler
        .finish_with(&|at| progress.step(phase_name(at.phase), at.done, at.total))
        .map_err(|err| at_inputs(at_previous(err, args), &args.inputs))?;
    progress.end_of_input("writing the snapshot");
    warn_of_unread(compiled.report());
    let compiled = compiled
        .require_captures()
        .map_err(|err| at_inputs(err, &args.inputs))?;
    let report = compiled.write_into(&mut output)?;
    RunRecord::new().write(&report, &mut stats)?;
    OutputTarget::commit_all(
        [Some(OutputTarget::File(Box::new(output))), stats]
            .into_iter()
            .flatten(),
    )?;
    progress.finish();
    if !quiet {
        print_compile(
            &report,
            args.previous.is_some(),
            args.as_of.is_some(),
            args.history,
            progress.elapsed(),
        );
    }
    Ok(())
}

/// A compiler for the given profile, or that of the previous snapshot.
fn new_compiler(args: &CompileArgs) -> anyhow::Result<Compiler> {
    let profile = args.profile;
    let Some(path) = &args.previous else {
        return Ok(Compiler::new(profile.unwrap_or_default())
            .as_of(args.as_of)
            .history(args.history));
    };
    let old = Snapshot::open(path)?;
    let profile = profile
        .map_or_else(|| old.profile(), Ok)
        .map_err(|err| err.at(path))?;
    Ok(Compiler::new(profile)
        .as_of(args.as_of)
        .history(args.history)
        .max_failing(args.max_failing)
        .previous(old)
        .map_err(|err| err.at(path))?)
}

/// Adds the previous snapshot to an error that concerns it.
fn at_previous(err: Error, args: &CompileArgs) -> Error {
    match (err.kind(), &args.previous) {
        (ErrorKind::BadPrevious(_), Some(previous)) => err.at(previous),
        _ => err,
    }
}

/// Adds the inputs to an error that concerns all of them.
fn at_inputs(err: Error, inputs: &[PathBuf]) -> anyhow::Error {
    match err.kind() {
        ErrorKind::NoCaptures(_) | ErrorKind::TooManyFailing(_) => {
            anyhow::Error::from(err).context(joined(inputs))
        }
        _ => err.into(),
    }
}

/// Refuses outputs that would overwrite an input or each other, and outputs with the extension of
/// another format. The new snapshot may replace the previous one.
fn refuse_outputs(args: &CompileArgs, inputs: &[PathBuf]) -> anyhow::Result<()> {
    refuse_archive(&args.output, "the snapshot")?;
    let mut guard = OptionGuard::default().add_inputs("an input", inputs);
    guard.add_output("-o", &args.output)?;
    let mut guard = guard.add_inputs("--previous", &args.previous);
    args.archives.stats.refuse_overwriting(&mut guard)?;
    Ok(OutputFormat::Snapshot.check(&args.output)?)
}
