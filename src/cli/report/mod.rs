//! `robosieve report`: statistics of a snapshot, and of lists of URLs, for some agents.

mod csv;
mod findings;
mod format;
pub(crate) mod html;
mod table;

pub(crate) use csv::quoted;
pub(crate) use format::{counted, share};

use super::escape::{escape_lines, to_json_pretty};
use super::file_extension::{OutputFormat, refuse_other_format};
use super::help_text::{COMMON, OUTPUT, REPORT_EXAMPLES, REPORT_SHORT};
use super::inputs::InputArgs;
use super::judge_args::{JudgeArgs, agent_required};
use super::judge_job::open_inputs;
use super::output::{OutputTarget, is_stdout, print_with};
use super::parquet;
use super::progress::Progress;
use super::record_args::RecordArgs;
use super::summary::{no_url, print_report};
use super::time::time;
use super::verify_args::VerifyArgs;
use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use robosieve::filter::FilterProgress;
use robosieve::report::{Report, Reporter};
use robosieve::{Judge, Snapshot};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = REPORT_SHORT,
    after_long_help = REPORT_EXAMPLES,
    group = agent_required(),
    mut_arg("inputs", |arg| arg.help(INPUTS).long_help(INPUTS_LONG))
)]
pub(crate) struct ReportArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub records: RecordArgs,
    /// List this many origins, rules and values
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = OUTPUT
    )]
    pub top: u32,
    /// Write a self-contained HTML page here (`-`: standard output)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub html: Option<PathBuf>,
    /// Write all figures here as JSON (`-`: standard output)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub json: Option<PathBuf>,
    /// Write all figures here as CSV, one per line (`-`: standard output)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub inputs: InputArgs,
}

const INPUTS: &str = "Lists of URLs, or Parquet files (default: report on the snapshot only)";
const INPUTS_LONG: &str = "Lists of URLs, or Parquet files (default: report on the snapshot only)

The formats are those of `filter`; `-` is standard input.";

pub(crate) fn run(args: &ReportArgs, quiet: bool) -> anyhow::Result<()> {
    let named = [("--html", &args.html), ("--json", &args.json), ("--csv", &args.csv)];
    let named: Vec<(&str, &Path)> =
        named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect();
    let is_stdout_taken = named.iter().any(|(_, path)| is_stdout(path));
    let has_table = !is_stdout_taken && (named.is_empty() || !quiet);
    let inputs = if args.inputs.are_named() { args.inputs.all(quiet)? } else { Vec::new() };
    refuse_outputs(args, &inputs, &named, has_table)?;
    // Created first, so that an unwritable output fails at once.
    let outputs = named.iter().map(|(option, path)| Ok((*option, OutputTarget::open(Some(path))?)));
    let outputs = outputs.collect::<anyhow::Result<Vec<_>>>()?;
    let snapshot = Snapshot::open(&args.snapshot)?;
    args.verify.all(&snapshot, &args.snapshot)?;
    let agent_args = &args.judge.agents;
    let agents = agent_args.resolve(quiet)?;
    agent_args.check_spelling_in(&agents, [(&snapshot, args.snapshot.as_path())])?;
    args.inputs.inputs.iter().try_for_each(|input| agent_args.refuse_agent_as_input(input))?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let report = build_report(args, &judge, inputs, quiet)?;
    let written = write(outputs, &report, made_at()?)?;
    if has_table { print_with(&table::table(&report), written) } else { OutputTarget::commit_all(written) }
}

/// Refuses outputs that would overwrite an input or each other, and outputs with the extension of
/// another format.
fn refuse_outputs(
    args: &ReportArgs,
    inputs: &[PathBuf],
    outputs: &[(&str, &Path)],
    has_table: bool,
) -> anyhow::Result<()> {
    let guard = args.judge.agents.overwrite_guard().add_inputs("the snapshot", [&args.snapshot]);
    let mut guard = guard.add_inputs("--files-from", &args.inputs.files_from).add_inputs("an input", inputs);
    if has_table {
        guard = guard.add_stdout()?;
    }
    for (option, path) in outputs {
        guard.add_output(option, path)?;
        refuse_other_format(option, path, OutputFormat::Text)?;
    }
    Ok(())
}

/// Computes the figures of the snapshot, and of the lists if there are any.
fn build_report(args: &ReportArgs, judge: &Judge, inputs: Vec<PathBuf>, quiet: bool) -> anyhow::Result<Report> {
    let reporter = Reporter::new(judge).top(args.top as usize).records(args.records.options());
    // An error of the lists names its file.
    let of_snapshot = |err: robosieve::Error| err.at(&args.snapshot);
    if !args.inputs.are_named() {
        return Ok(reporter.of_snapshot().map_err(of_snapshot)?);
    }
    let inputs = args.inputs.part(inputs);
    let progress = Progress::of_inputs(&inputs, quiet);
    let show = |at: FilterProgress| progress.set(at.bytes_read);
    let reporter = reporter.progress(&show);
    let report = if parquet::are_parquet(&inputs)? {
        reporter.of_tables(&parquet::open(&inputs, &args.records.options())?)
    } else {
        reporter.of_lists(open_inputs(&inputs)?)
    };
    let report = report.map_err(of_snapshot)?;
    progress.finish();
    if let Some(lists) = report.lists.as_ref().filter(|lists| lists.invalid == lists.lines && lists.blank < lists.lines)
    {
        return Err(no_url(lists.lines, &inputs));
    }
    if let Some(lists) = report.lists.as_ref().filter(|_| !quiet) {
        print_report(lists, progress.elapsed());
    }
    Ok(report)
}

/// Writes each output in the form of its option.
fn write(outputs: Vec<(&str, OutputTarget)>, report: &Report, made_at: i64) -> anyhow::Result<Vec<OutputTarget>> {
    let mut written = Vec::new();
    for (option, mut output) in outputs {
        let text = match option {
            "--html" => escape_lines(&html::page(report, made_at)).into_owned(),
            "--json" => json_text(report, made_at)?,
            _ => csv::csv(report),
        };
        output.write_whole(&text)?;
        written.push(output);
    }
    Ok(written)
}

/// The report with its date and the version of the program.
#[derive(Serialize)]
struct DatedReport<'r> {
    made_at: String,
    made_by: &'static str,
    #[serde(flatten)]
    report: &'r Report,
}

fn json_text(report: &Report, made_at: i64) -> anyhow::Result<String> {
    let made_by = concat!("robosieve ", env!("CARGO_PKG_VERSION"));
    Ok(to_json_pretty(&DatedReport { made_at: time(made_at), made_by, report })?)
}

/// The date of the report: the current time, or `SOURCE_DATE_EPOCH` for reproducible bytes.
fn made_at() -> anyhow::Result<i64> {
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => {
            text.parse().with_context(|| format!("SOURCE_DATE_EPOCH={text}: give seconds since 1970, or unset it"))
        }
        Err(_) => Ok(Timestamp::now().as_second()),
    }
}
