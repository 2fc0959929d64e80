//! `robosieve captures`: writes the captures of archives to one captures file.

use crate::archive_args::{ArchiveArgs, joined, phase_name, refuse_archive, warn_of_unread};
use crate::figures::counts::counted;
use crate::help_text::{CAPTURES_EXAMPLES, CAPTURES_SHORT, COMMON};
use crate::inputs::expand_globs;
use crate::option_guard::OptionGuard;
use crate::output::{OutputTarget, create_file};
use crate::progress::Progress;
use crate::stats_json::RunRecord;
use crate::summary::print_captures;
use anyhow::bail;
use clap::Args;
use robosieve::Compiler;
use robosieve::output::OutputFormat;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = CAPTURES_SHORT, after_long_help = CAPTURES_EXAMPLES)]
pub(crate) struct CapturesArgs {
    /// The captures file to write; an existing one is replaced
    #[arg(short, long, value_name = "FILE", help_heading = COMMON)]
    pub output: PathBuf,
    #[command(flatten)]
    pub archives: ArchiveArgs,
    /// Inputs of `compile`: archives, captures files, or directories (`-`: standard input)
    ///
    /// A quoted glob ('crawl/**/*.warc.gz') stands for the files that it matches.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

pub(crate) fn run(args: &CapturesArgs, quiet: bool) -> anyhow::Result<()> {
    let inputs = expand_globs(&args.inputs)?;
    refuse_outputs(args, &inputs)?;
    let mut output = create_file(&args.output)?;
    let mut stats = args.archives.stats.open()?;
    let progress = Progress::of_archives(&inputs, quiet);
    let mut compiler = args.archives.configure(Compiler::default(), &args.output)?;
    compiler.add_paths(&inputs, &|at| progress.set(at.bytes_read))?;
    progress.end_of_input("sorting captures");
    let report = compiler.write_captures_into(&mut output, &|at| {
        progress.step(phase_name(at.phase), at.done, at.total)
    })?;
    warn_of_unread(&report.input);
    // A file without captures would replace a good one if an archive turned out empty.
    if report.content.captures == 0 {
        bail!(
            "{}: no capture ({} without a URL, {} skipped, {} left out); nothing is written",
            joined(&args.inputs),
            report.input.not_urls,
            counted(report.input.damaged, "damaged place"),
            counted(report.input.skipped_files, "file")
        );
    }
    RunRecord::new().write(&report, &mut stats)?;
    OutputTarget::commit_all(
        [Some(OutputTarget::File(Box::new(output))), stats]
            .into_iter()
            .flatten(),
    )?;
    progress.finish();
    if !quiet {
        print_captures(&report, progress.elapsed());
    }
    Ok(())
}

/// Refuses outputs that would overwrite an input or each other, and outputs with the extension of
/// another format.
fn refuse_outputs(args: &CapturesArgs, inputs: &[PathBuf]) -> anyhow::Result<()> {
    refuse_archive(&args.output, "the captures file")?;
    let mut guard = OptionGuard::default().add_inputs("an input", inputs);
    guard.add_output("-o", &args.output)?;
    args.archives.stats.refuse_overwriting(&mut guard)?;
    Ok(OutputFormat::Captures.check(&args.output)?)
}
