//! `robosieve report --series`: the figures of several snapshots, one opened at a time.

use super::args::{ReportArgs, subsets};
use super::csv;
use super::fold::{Reporter, Series, UnitSet};
use super::html;
use super::outputs::{json_text, made_at, open_outputs, write};
use super::periods::points_of;
use super::series_labels::{LabelledSnapshot, parse_series};
use super::series_table::series_table;
use super::unit_args::{GroupArg, UnitLists};
use crate::agent_args::SelectedAgents;
use crate::figures::escape::{escape, escape_lines};
use crate::output::{OutputTarget, is_stdout, print_with};
use crate::stats_json::RunRecord;
use crate::stderr::print_line;
use crate::verify_args::VerifyArgs;
use anyhow::{anyhow, bail};
use robosieve::{Agent, Judge, Snapshot};
use serde_json::json;
use std::path::Path;

/// Reports on the snapshots of `--series`.
pub(super) fn run(args: &ReportArgs, quiet: bool) -> anyhow::Result<()> {
    let snapshots = series_of(args)?;
    // The largest domains differ between snapshots, and with them the groups.
    if args.units.group_by == Some(GroupArg::TopLevelDomain) {
        bail!("--group-by tld: a series takes a file of groups; give one with NAME,GROUP per line");
    }
    // A table after JSON on standard output would break the reader of the JSON.
    let named = args.outputs();
    let has_table = !named.iter().any(|(_, path)| is_stdout(path)) && (named.is_empty() || !quiet);
    let paths: Vec<&Path> = snapshots
        .iter()
        .map(|snapshot| snapshot.path.as_path())
        .collect();
    args.refuse_outputs(&paths, &[], has_table)?;
    // Many large snapshots are read below, so outputs that cannot be written fail first.
    let outputs = open_outputs(&named)?;
    let mut counts = args.stats.open()?;
    let lists = args.units.read_lists()?;
    let selected = args.judge.agents.resolve_with_sets(quiet)?;
    // The common units are known after the last snapshot, so each snapshot is opened twice. Two
    // passes hold one snapshot at a time.
    let common = survey_snapshots(args, &snapshots, &selected.agents)?;
    let series = build_series(args, &snapshots, &selected, &lists, common.as_ref())?;
    let made_at = made_at()?;
    let written = write(outputs, |option| match option {
        "--html" => Ok(escape_lines(&html::series_page(&series, made_at)).into_owned()),
        "--json-to" => json_text(&series, made_at),
        _ => Ok(csv::series_csv(&series)),
    })?;
    let mut record = RunRecord::new().agents(&selected);
    let mut recorded: Option<&Path> = None;
    for path in paths {
        // All points of a history are of one file.
        if recorded.replace(path) == Some(path) {
            continue;
        }
        record = record.snapshot(path, &Snapshot::open(path)?)?;
    }
    record.write(json!({ "series": &series }), &mut counts)?;
    let written = written.into_iter().chain(counts);
    if has_table {
        print_with(&series_table(&series), written)
    } else {
        OutputTarget::commit_all(written)
    }
}

/// The snapshots of the series: those that are named, or one snapshot at several times.
fn series_of(args: &ReportArgs) -> anyhow::Result<Vec<LabelledSnapshot>> {
    let Some(every) = args.every else {
        return parse_series(&args.series);
    };
    if args.judge.at.is_some() {
        bail!("--every: each point is judged at the end of its period; leave --at out");
    }
    let [path] = args.series.as_slice() else {
        bail!(
            "--every: gives the points of one snapshot with a history, and --series names {}; \
             leave --every out, or name one snapshot",
            args.series.len()
        );
    };
    let path = Path::new(path);
    points_of(&Snapshot::open(path)?, path, every)
}

/// Verifies all snapshots, checks the spelling of the agents, and finds the common units if only
/// these are counted.
fn survey_snapshots(
    args: &ReportArgs,
    snapshots: &[LabelledSnapshot],
    agents: &[Agent],
) -> anyhow::Result<Option<UnitSet>> {
    let mut common: Option<UnitSet> = None;
    let mut spelling = args.judge.agents.spell_check(agents)?;
    let mut first_profile = None;
    for labelled in snapshots {
        let LabelledSnapshot { label, path, .. } = labelled;
        let snapshot = labelled.open(&args.verify)?;
        spelling
            .add_snapshot(&snapshot)
            .map_err(|err| err.at(path))?;
        // A change of the parser would look like a change of the sites.
        let profile = snapshot.profile().map_err(|err| err.at(path))?.name();
        let (first, first_label) = *first_profile.get_or_insert((profile, label));
        if profile != first {
            let message = format!(
                "{label} has the profile {profile}, and {first_label} has {first}: the rules of \
                 the same robots.txt may differ; compile all archives with one profile"
            );
            print_line(format_args!("robosieve: warning: {}", escape(&message)));
        }
        // Units that come and go change the shares of a series without any change of rules.
        if args.common {
            let units = UnitSet::of(&snapshot, args.units.kind()).map_err(|err| err.at(path))?;
            common = Some(match common {
                Some(earlier) => earlier.intersect(&units),
                None => units,
            });
        }
    }
    // An agent is misspelled only if no snapshot of the series names it.
    args.judge.agents.check_spelling(spelling)?;
    match common {
        Some(units) if units.is_empty() => Err(anyhow!(
            "--common: no {} is in all snapshots, so nothing can be counted; compare them without \
             --common",
            args.units.kind().name()
        )),
        common => Ok(common),
    }
}

/// Computes one point per snapshot.
fn build_series(
    args: &ReportArgs,
    snapshots: &[LabelledSnapshot],
    selected: &SelectedAgents,
    lists: &UnitLists,
    common: Option<&UnitSet>,
) -> anyhow::Result<Series> {
    let agents = selected.agents.as_slice();
    let sets = subsets(selected);
    let mut series = Series::new(agents, args.units.kind());
    series.common_units = common.map(UnitSet::len);
    for labelled in snapshots {
        let LabelledSnapshot { label, path, as_of } = labelled;
        let snapshot = labelled.open(&VerifyArgs { no_verify: true })?;
        let options = args.judge.options();
        let judge = Judge::new(&snapshot, agents, options.at(as_of.or(options.at)))?;
        let mut reporter = Reporter::new(&judge);
        args.units.apply(lists, &mut reporter);
        reporter.sets = &sets;
        reporter.within = common;
        let point = reporter
            .series_point(label.as_str())
            .map_err(|err| err.at(path))?;
        let (weights, groups) = (point.weights.as_ref(), point.group_list.as_ref());
        args.units
            .warn_of_few_matches(weights, groups, point.units, path);
        series.points.push(point);
    }
    Ok(series)
}
