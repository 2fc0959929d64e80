//! `robosieve diff`: shows what changed between two snapshots.

mod chart_layout;
mod svg;
mod table;

use crate::ExitCode;
use crate::agent_args::AgentArgs;
use crate::figures::escape::to_json_pretty;
use crate::help_text::{COMMON, DIFF_EXAMPLES, DIFF_SHORT, OUTPUT};
use crate::history_args::snapshot_as_of;
use crate::output::{OutputTarget, print_with};
use crate::stats_json::{RunRecord, StatsArgs};
use crate::time::{parse_through_or_now, time};
use crate::verify_args::VerifyArgs;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::Snapshot;
use robosieve::crawlers::CrawlerRegistry;
use robosieve::diff::{Diff, DiffOptions};
use robosieve::output::OutputFormat;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = DIFF_SHORT,
    after_long_help = DIFF_EXAMPLES,
    override_usage = "robosieve diff [OPTIONS] OLD NEW\n       \
                      robosieve diff [OPTIONS] -s OLD -s NEW\n       \
                      robosieve diff [OPTIONS] --from TIME [--to TIME] SNAP"
)]
pub(crate) struct DiffArgs {
    /// The earlier snapshot
    #[arg(value_name = "OLD")]
    pub old: Option<PathBuf>,
    /// The later snapshot
    #[arg(value_name = "NEW")]
    pub new: Option<PathBuf>,
    /// The snapshots, first the earlier one: -s OLD -s NEW
    #[arg(short, long = "snapshot", value_name = "SNAP", help_heading = COMMON)]
    pub snapshots: Vec<PathBuf>,
    /// Compare one snapshot with a history: as of this time, with --to
    ///
    /// A date, a month or a year is its last second in UTC.
    #[arg(long, value_name = "TIME", value_parser = parse_through_or_now, help_heading = COMMON)]
    pub from: Option<i64>,
    /// With --from: the later time (default: the newest captures)
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_through_or_now,
        requires = "from",
        help_heading = COMMON
    )]
    pub to: Option<i64>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub agents: AgentArgs,
    /// Without agents: list this many names
    ///
    /// The names that most origins newly disallow come first.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = OUTPUT)]
    pub top: usize,
    /// List this many examples of each kind of change
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = OUTPUT)]
    pub examples: usize,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Also write a chart of the agents newly disallowed and newly allowed
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,
    /// Exit with status 1 if the snapshots differ
    #[arg(long, help_heading = OUTPUT)]
    pub exit_code: bool,
    #[command(flatten)]
    pub stats: StatsArgs,
}

/// The two snapshots: `OLD NEW` or `-s OLD -s NEW`.
fn old_and_new(args: &DiffArgs) -> anyhow::Result<[&Path; 2]> {
    if args.from.is_some() {
        return match (args.snapshots.as_slice(), &args.old, &args.new) {
            ([], Some(one), None) => Ok([one, one]),
            ([one], None, None) => Ok([one, one]),
            _ => bail!("diff --from compares two times of one snapshot; name one"),
        };
    }
    match (args.snapshots.as_slice(), &args.old, &args.new) {
        ([], Some(old), Some(new)) => Ok([old, new]),
        ([old, new], None, None) => Ok([old, new]),
        (named, ..) => {
            let positional = usize::from(args.old.is_some()) + usize::from(args.new.is_some());
            let found = match (named.len(), positional) {
                (0, 0) => "none is named".to_owned(),
                (0, 1) | (1, 0) => "only one is named".to_owned(),
                (options, 0) => format!("-s names {options}"),
                (..) => "these are named in both ways".to_owned(),
            };
            bail!("diff compares two snapshots, and {found}; give OLD NEW, or -s OLD -s NEW")
        }
    }
}

/// A comparison with the names of its files.
struct DiffOutput<'r> {
    diff: Diff,
    /// The registry, which has the names as their operators spell them.
    registry: &'r CrawlerRegistry,
    /// The old and the new file, each with the time of its newest capture.
    sides: [(String, Option<String>); 2],
}

pub(crate) fn run(args: &DiffArgs, quiet: bool) -> anyhow::Result<ExitCode> {
    let selected = args.agents.resolve_with_sets(quiet)?;
    let agents = selected.agents.clone();
    let [old_path, new_path] = old_and_new(args)?;
    refuse_outputs(args, old_path, new_path)?;
    // Comparing may take long: the chart is created first, so that an unwritable one fails at once.
    let mut chart = args
        .svg
        .as_deref()
        .map(|path| OutputTarget::open(Some(path)))
        .transpose()?;
    let mut counts = args.stats.open()?;
    let [old_file, new_file] = [Snapshot::open(old_path)?, Snapshot::open(new_path)?];
    args.verify.all(&old_file, old_path)?;
    if args.from.is_none() {
        args.verify.all(&new_file, new_path)?;
    }
    let old = as_of(&old_file, old_path, args.from)?;
    let new = as_of(&new_file, new_path, args.to)?;
    args.agents
        .check_spelling_in(&agents, [(&old, old_path), (&new, new_path)])?;
    let agent_match = args.agents.agent_match;
    let options = DiffOptions::default()
        .agents(agents)
        .agent_match(agent_match)
        .top(args.top)
        .examples(args.examples);
    let diff = Diff::of(&old, &new, &options)
        .with_context(|| format!("{} and {}", old_path.display(), new_path.display()))?;
    let registry = args.agents.registry()?;
    let output = DiffOutput {
        diff,
        registry,
        sides: [
            side(old_path, &old, args.from)?,
            side(new_path, &new, args.to)?,
        ],
    };
    let mut record = RunRecord::new().snapshot(old_path, &old_file)?;
    if args.from.is_none() {
        record = record.snapshot(new_path, &new_file)?;
    }
    let record = record.agents(&selected);
    record.write(json!({ "diff": value(&output)? }), &mut counts)?;
    if let Some(file) = &mut chart {
        file.write_whole(&svg::draw(&output))?;
    }
    print_with(
        &if args.json {
            json(&output)?
        } else {
            table::text(&output)
        },
        chart.into_iter().chain(counts),
    )?;
    Ok(ExitCode::from(u8::from(
        args.exit_code && !output.diff.is_empty(),
    )))
}

/// Refuses outputs that would overwrite an input or each other, and outputs with the extension of
/// another format.
fn refuse_outputs(args: &DiffArgs, old: &Path, new: &Path) -> anyhow::Result<()> {
    let guard = args
        .agents
        .overwrite_guard()
        .add_inputs("the old snapshot", [old]);
    let mut guard = guard.add_inputs("the new snapshot", [new]).add_stdout()?;
    if let Some(svg) = &args.svg {
        guard.add_output("--svg", svg)?;
        OutputFormat::Text.check(svg)?;
    }
    args.stats.refuse_overwriting(&mut guard)
}

/// The snapshot as of a time, if there is one.
fn as_of(snapshot: &Snapshot, path: &Path, at: Option<i64>) -> anyhow::Result<Snapshot> {
    match at {
        Some(at) => Ok(snapshot_as_of(snapshot, path, at)?),
        None => Ok(snapshot.clone()),
    }
}

fn side(
    path: &Path,
    snapshot: &Snapshot,
    as_of: Option<i64>,
) -> anyhow::Result<(String, Option<String>)> {
    let mut name = path.display().to_string();
    if let Some(as_of) = as_of {
        name.push_str(&format!(" as of {}", time(as_of)));
    }
    let metadata = snapshot.metadata().with_context(|| name.clone())?;
    Ok((name, metadata.captured.map(|span| time(span.newest))))
}

fn json(output: &DiffOutput<'_>) -> anyhow::Result<String> {
    Ok(to_json_pretty(&value(output)?)?)
}

fn value(output: &DiffOutput<'_>) -> anyhow::Result<serde_json::Value> {
    let mut value = serde_json::to_value(&output.diff)?;
    for (key, (path, newest)) in ["old", "new"].iter().zip(&output.sides) {
        let origins = value[key].take();
        value[key] = json!({ "snapshot": path, "newest_capture": newest, "origins": origins });
    }
    Ok(value)
}
