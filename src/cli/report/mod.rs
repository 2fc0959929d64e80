//! `robosieve report`: what a snapshot, and lists of URLs, come to for some agents.

mod csv;
mod findings;
mod html;
mod table;
mod words;

use super::escape::{escape_lines, to_json_pretty};
use super::examples::REPORT_EXAMPLES;
use super::inputs::InputArgs;
use super::job::open_inputs;
use super::judging::{JudgeArgs, agents_needed};
use super::output::{Output, refuse_same};
use super::parquet;
use super::progress::Progress;
use super::records::RecordArgs;
use super::summary::{no_url, print_report};
use super::time::time;
use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use robosieve::report::{Report, Reporter};
use robosieve::{FilterProgress, Judge, Snapshot, SpellCheck};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES, group = agents_needed(), mut_arg("inputs", |arg| arg.help(INPUTS)))]
pub(crate) struct ReportArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: PathBuf,
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
    let outputs = [args.html.as_deref(), args.json.as_deref(), args.csv.as_deref()];
    refuse_same(&outputs)?;
    // Opened before the work, so that a place that cannot be written to is told at once.
    let [html, json, csv] = outputs.map(|path| path.map(|path| Output::open(Some(path))).transpose());
    let (mut html, mut json, mut csv) = (html?, json?, csv?);
    if outputs.iter().flatten().count() > 1 {
        [&mut html, &mut json, &mut csv].into_iter().flatten().for_each(Output::outlive_reader);
    }
    let snapshot = Snapshot::open(&args.snapshot)?;
    let who = &args.judge.who;
    let agents = who.agents(quiet)?;
    let mut check = SpellCheck::new(&agents);
    check.add_snapshot(&snapshot).map_err(|err| err.at(&args.snapshot))?;
    who.check_names(check)?;
    args.from.inputs.iter().try_for_each(|input| who.refuse_agent_as_input(input))?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let report = make(args, &judge, quiet)?;
    let made_at = made_at()?;
    write(html, || Ok(escape_lines(&html::page(&report, made_at)).into_owned()))?;
    write(json, || json_text(&report, made_at))?;
    write(csv, || Ok(csv::csv(&report)))?;
    let mut named = outputs.iter().flatten();
    let is_unwanted = if quiet { named.next().is_some() } else { named.any(|path| path.as_os_str() == "-") };
    if is_unwanted { Ok(()) } else { super::output::print(&table::table(&report)) }
}

/// Gathers the figures, from the lists too if there are any.
fn make(args: &ReportArgs, judge: &Judge<'_, impl AsRef<[u8]> + Sync>, quiet: bool) -> anyhow::Result<Report> {
    let reporter = Reporter::new(judge).top(args.top as usize).records(args.records.options());
    // An error of the lists names its file.
    let of_snapshot = |err: robosieve::Error| err.at(&args.snapshot);
    if !args.from.are_named() {
        return Ok(reporter.of_snapshot().map_err(of_snapshot)?);
    }
    let inputs = args.from.of_this_shard(quiet)?;
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

fn write(output: Option<Output>, text: impl FnOnce() -> anyhow::Result<String>) -> anyhow::Result<()> {
    let Some(mut output) = output else { return Ok(()) };
    output.write_all(text()?.as_bytes())?;
    output.commit()
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
