//! `robosieve report`: what a snapshot, and lists of URLs, come to for some agents.

mod csv;
mod findings;
mod html;
mod table;
mod words;

use super::endings::{Format, refuse_other_format};
use super::escape::{escape_lines, to_json_pretty};
use super::examples::REPORT_EXAMPLES;
use super::inputs::InputArgs;
use super::job::open_inputs;
use super::judging::{JudgeArgs, agents_needed};
use super::output::{Output, is_stdout, print_with};
use super::parquet;
use super::progress::Progress;
use super::records::RecordArgs;
use super::snapshot::VerifyArgs;
use super::summary::{no_url, print_report};
use super::time::time;
use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use robosieve::report::{Report, Reporter};
use robosieve::{FilterProgress, Judge, Snapshot};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES, group = agents_needed(), mut_arg("inputs", |arg| arg.help(INPUTS)))]
pub(crate) struct ReportArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub records: RecordArgs,
    /// How many origins, rules and values to name
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub top: u32,
    /// Write a page for browsers here, in one file that needs nothing else (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write all figures here as JSON (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write all figures here as CSV, one a line (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub from: InputArgs,
}

const INPUTS: &str = "Lists of URLs as for filter, or Parquet files; `-` is standard input. Without any the report is on the snapshot alone";

pub(crate) fn run(args: &ReportArgs, quiet: bool) -> anyhow::Result<()> {
    let named = [("--html", &args.html), ("--json", &args.json), ("--csv", &args.csv)];
    let named: Vec<(&str, &Path)> =
        named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect();
    let is_stdout_taken = named.iter().any(|(_, path)| is_stdout(path));
    let has_table = !is_stdout_taken && (named.is_empty() || !quiet);
    let inputs = if args.from.are_named() { args.from.all(quiet)? } else { Vec::new() };
    refuse_outputs(args, &inputs, &named, has_table)?;
    // Opened before the work, so that a place that cannot be written to is told at once.
    let outputs = named.iter().map(|(option, path)| Ok((*option, Output::open(Some(path))?)));
    let outputs = outputs.collect::<anyhow::Result<Vec<_>>>()?;
    let snapshot = Snapshot::open(&args.snapshot)?;
    args.verify.all(&snapshot, &args.snapshot)?;
    let who = &args.judge.who;
    let agents = who.agents(quiet)?;
    who.check_in(&agents, [(&snapshot, args.snapshot.as_path())])?;
    args.from.inputs.iter().try_for_each(|input| who.refuse_agent_as_input(input))?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let report = make(args, &judge, inputs, quiet)?;
    let written = write(outputs, &report, made_at()?)?;
    if has_table { print_with(&table::table(&report), written) } else { Output::commit_all(written) }
}

/// Refuses outputs that would overwrite what is read, or each other, or whose names say another
/// format.
fn refuse_outputs(
    args: &ReportArgs,
    inputs: &[PathBuf],
    outputs: &[(&str, &Path)],
    has_table: bool,
) -> anyhow::Result<()> {
    let files = args.judge.who.reads().reads("the snapshot", [&args.snapshot]);
    let mut files = files.reads("--files-from", &args.from.files_from).reads("an input", inputs);
    if has_table {
        files = files.and_stdout()?;
    }
    for (option, path) in outputs {
        files.writes(option, path)?;
        refuse_other_format(option, path, Format::Text)?;
    }
    Ok(())
}

/// Gathers the figures, from the lists too if there are any.
fn make(args: &ReportArgs, judge: &Judge, inputs: Vec<PathBuf>, quiet: bool) -> anyhow::Result<Report> {
    let reporter = Reporter::new(judge).top(args.top as usize).records(args.records.options());
    // An error of the lists names its file.
    let of_snapshot = |err: robosieve::Error| err.at(&args.snapshot);
    if !args.from.are_named() {
        return Ok(reporter.of_snapshot().map_err(of_snapshot)?);
    }
    let inputs = args.from.part(inputs);
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

/// Writes each output in the form that its option asks for.
fn write(outputs: Vec<(&str, Output)>, report: &Report, made_at: i64) -> anyhow::Result<Vec<Output>> {
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

/// The report, when it was made, and by what.
#[derive(Serialize)]
struct Dated<'r> {
    made_at: String,
    made_by: &'static str,
    #[serde(flatten)]
    report: &'r Report,
}

fn json_text(report: &Report, made_at: i64) -> anyhow::Result<String> {
    let made_by = concat!("robosieve ", env!("CARGO_PKG_VERSION"));
    Ok(to_json_pretty(&Dated { made_at: time(made_at), made_by, report })?)
}

/// The date of the report: now, or what `SOURCE_DATE_EPOCH` says, for those who want the same bytes again.
fn made_at() -> anyhow::Result<i64> {
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => {
            text.parse().with_context(|| format!("SOURCE_DATE_EPOCH={text}: give seconds since 1970, or unset it"))
        }
        Err(_) => Ok(Timestamp::now().as_second()),
    }
}
