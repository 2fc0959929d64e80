//! `robosieve report`: statistics of a snapshot, and of lists of URLs, for some agents.

mod args;
mod csv;
mod fold;
mod group_measures;
mod headlines;
mod html;
mod outputs;
mod periods;
mod series;
mod series_labels;
mod series_table;
mod table;
mod unit_args;

pub(crate) use args::ReportArgs;
pub use fold::*;

use crate::error_advice::at_snapshot;
use crate::figures::escape::escape_lines;
use crate::judge_job::open_inputs;
use crate::output::{OutputTarget, is_stdout, print_with};
use crate::progress::Progress;
use crate::stats_json::RunRecord;
use crate::summary::print_report;
use anyhow::bail;
use outputs::{json_text, made_at, open_outputs, write};
use periods::Period;
use robosieve::job;
use robosieve::{ErrorKind, Judge, Snapshot};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ReportArgs, quiet: bool) -> anyhow::Result<()> {
    if args.every.is_some() && args.snapshot.is_some() && !args.disallowed_since {
        bail!(
            "--every: needs --series with one snapshot, for a point per period, or \
             --disallowed-since, for counts per period"
        );
    }
    match &args.snapshot {
        Some(snapshot) => run_on_snapshot(args, snapshot, quiet),
        None => series::run(args, quiet),
    }
}

/// Reports on one snapshot, and on the lists if there are any.
fn run_on_snapshot(args: &ReportArgs, path: &Path, quiet: bool) -> anyhow::Result<()> {
    // A table after JSON on standard output would break the reader of the JSON.
    let named = args.outputs();
    let is_stdout_taken = named.iter().any(|(_, path)| is_stdout(path));
    let has_table = !is_stdout_taken && (named.is_empty() || !quiet);
    let inputs = if args.inputs.are_named() {
        args.inputs.all(quiet)?
    } else {
        Vec::new()
    };
    // A report over large lists may run for hours, so outputs and options fail before it starts.
    args.refuse_outputs(&[path], &inputs, has_table)?;
    let outputs = open_outputs(&named)?;
    let mut counts = args.stats.open()?;
    let lists = args.units.read_lists()?;
    let snapshot = Snapshot::open(path)?;
    args.verify.all(&snapshot, path)?;
    // A misspelled agent has the figures of an unknown one, which look right.
    let agent_args = &args.judge.agents;
    let selected = agent_args.resolve_with_sets(quiet)?;
    let agents = &selected.agents;
    let sets = args::subsets(&selected);
    agent_args.check_spelling_in(agents, [(&snapshot, path)])?;
    for input in &args.inputs.inputs {
        agent_args.refuse_agent_as_input(input)?;
    }
    let (described, at) = args.time.apply(snapshot.clone(), path, args.judge.at)?;
    let judge = Judge::new(&described, agents, args.judge.options().at(at))?;
    let mut reporter = Reporter::new(&judge);
    args.units.apply(&lists, &mut reporter);
    reporter.sets = &sets;
    let period = args.every.unwrap_or(Period::Month);
    let label = |seconds| period.label_of(seconds);
    reporter.since = args.disallowed_since.then(|| Periods {
        every: period.name(),
        label: &label,
    });
    if args.disallowed_since && !described.has_history() {
        // Lists may take hours before the figures of the snapshot.
        return Err(robosieve::Error::from(ErrorKind::NoHistory).at(path).into());
    }
    let report = build_report(args, reporter, path, inputs, quiet)?;
    let (weights, groups) = (report.weights.as_ref(), report.group_list.as_ref());
    args.units
        .warn_of_few_matches(weights, groups, report.units, path);
    // All outputs have the same date, and none replaces its file unless all are complete.
    let made_at = made_at()?;
    let written = write(outputs, |option| {
        Ok(match option {
            "--html" => escape_lines(&html::page(&report, made_at)).into_owned(),
            "--json-to" => json_text(&report, made_at)?,
            _ => csv::csv(&report),
        })
    })?;
    let record = RunRecord::new().snapshot(path, &snapshot)?;
    let record = record.agents(&selected);
    record.write(json!({ "report": &report }), &mut counts)?;
    let written = written.into_iter().chain(counts);
    if has_table {
        print_with(&table::table(&report), written)
    } else {
        OutputTarget::commit_all(written)
    }
}

/// Computes the figures of the snapshot, and of the lists if there are any.
fn build_report(
    args: &ReportArgs,
    mut reporter: Reporter<'_>,
    snapshot: &Path,
    inputs: Vec<PathBuf>,
    quiet: bool,
) -> anyhow::Result<Report> {
    reporter.top = args.top as usize;
    reporter.records = args.records.options();
    reporter.require_url = true;
    // An error of an input names its file, and one of the snapshot's bytes does not.
    if !args.inputs.are_named() {
        return Ok(reporter
            .of_snapshot()
            .map_err(|err| at_snapshot(err, snapshot))?);
    }
    let inputs = args.inputs.part(inputs);
    let progress = Progress::of_inputs(&inputs, quiet);
    let show = |at: job::Progress| progress.set(at.bytes_read);
    // The callback does not live as long as what the caller lends.
    let mut reporter = reporter;
    reporter.progress = &show;
    let report = reporter
        .of_inputs(open_inputs(&inputs)?)
        .map_err(|err| at_snapshot(err, snapshot))?;
    progress.finish();
    if let Some(lists) = report.lists.as_ref().filter(|_| !quiet) {
        print_report(lists.lines, lists.bytes, progress.elapsed());
    }
    Ok(report)
}
