//! The arguments of `robosieve report`.

use super::fold::AgentSubset;
use super::periods::Period;
use super::unit_args::UnitArgs;
use crate::agent_args::SelectedAgents;
use crate::help_text::{COMMON, OUTPUT, REPORT_EXAMPLES, REPORT_SHORT, UNITS};
use crate::history_args::SnapshotAsOfArgs;
use crate::inputs::InputArgs;
use crate::judge_args::{JudgeArgs, agent_required};
use crate::record_args::RecordArgs;
use crate::stats_json::StatsArgs;
use crate::verify_args::VerifyArgs;
use clap::Args;
use robosieve::output::OutputFormat;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = REPORT_SHORT,
    after_long_help = REPORT_EXAMPLES,
    override_usage = USAGE,
    group = agent_required(),
    mut_arg("inputs", |arg| arg.help(INPUTS).long_help(INPUTS_LONG)),
    // `-h` has to stay short.
    mut_arg("unknown", |arg| arg.hide_short_help(true)),
    mut_arg("at", |arg| arg.hide_short_help(true)),
    mut_arg("field", |arg| arg.hide_short_help(true)),
    mut_arg("input_format", |arg| arg.hide_short_help(true)),
    mut_arg("json_key", |arg| arg.hide_short_help(true))
)]
pub(crate) struct ReportArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP", required_unless_present = "series", help_heading = COMMON)]
    pub snapshot: Option<PathBuf>,
    /// Several snapshots, with labels (2025-01=a.rsieve) or dates in their names
    ///
    /// List them after the option: --series 2025-01=a.rsieve 2025-02=b.rsieve. It reports the
    /// figures of each agent in each snapshot, in the order given, and takes no lists. Without
    /// labels, the dates in the names of the files give the order and the labels: a day
    /// (2025-01-31 or 20250131), a month (2025-01), or a week (2025-W05, or CC-MAIN-2025-05 as
    /// Common Crawl writes it). A quoted glob ('snaps/*.rsieve') stands for its matches.
    #[arg(
        long,
        value_name = "LABEL=SNAP",
        num_args = 1..,
        conflicts_with_all = ["snapshot", "inputs", "files_from", "shard", "top", "as_of"],
        help_heading = COMMON
    )]
    pub series: Vec<String>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub time: SnapshotAsOfArgs,
    /// With --series and one snapshot with a history: a point for each of these periods
    ///
    /// Each point is the snapshot as of the last second of its period in UTC, from the period of the
    /// first capture to that of the last. With --disallowed-since: the periods that it counts by.
    #[arg(
        long,
        value_enum,
        value_name = "PERIOD",
        conflicts_with = "as_of",
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub every: Option<Period>,
    /// Count by month, or by --every, when sites began to disallow each agent
    ///
    /// The snapshot needs a history (`compile --history`). Counts the sites whose rules disallow
    /// everything to an agent now, by the period of the capture that found the beginning: they did so
    /// without a break since. Those that did in their first answer are counted apart.
    #[arg(
        long,
        conflicts_with_all = ["series", "as_of"],
        hide_short_help = true,
        help_heading = UNITS
    )]
    pub disallowed_since: bool,
    #[command(flatten)]
    pub units: UnitArgs,
    /// Count only the units that all snapshots of --series share
    #[arg(long, requires = "series", conflicts_with = "snapshot", hide_short_help = true, help_heading = UNITS)]
    pub common: bool,
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
    pub json_to: Option<PathBuf>,
    /// Write all figures here as CSV, one per line (`-`: standard output)
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub csv_to: Option<PathBuf>,
    #[command(flatten)]
    pub stats: StatsArgs,
    #[command(flatten)]
    pub inputs: InputArgs,
}

const USAGE: &str = "robosieve report [OPTIONS] --snapshot <SNAP> --agent <AGENT> [INPUT]...
       robosieve report [OPTIONS] --series <LABEL=SNAP>... --agent <AGENT>";
const INPUTS: &str = "Lists of URLs, Parquet or WARC files (default: report on the snapshot only)";
const INPUTS_LONG: &str =
    "Lists of URLs, Parquet or WARC files (default: report on the snapshot only)

The formats are those of `filter`; `-` is standard input.";

impl ReportArgs {
    /// The named outputs, each with its option.
    pub(super) fn outputs(&self) -> Vec<(&'static str, &Path)> {
        let outputs = [
            ("--html", &self.html),
            ("--json-to", &self.json_to),
            ("--csv-to", &self.csv_to),
        ];
        outputs
            .into_iter()
            .filter_map(|(option, path)| Some((option, path.as_deref()?)))
            .collect()
    }

    /// Refuses outputs that would overwrite an input or each other, and outputs with the extension
    /// of another format.
    pub(super) fn refuse_outputs(
        &self,
        snapshots: &[&Path],
        inputs: &[PathBuf],
        has_table: bool,
    ) -> anyhow::Result<()> {
        let guard = self
            .judge
            .agents
            .overwrite_guard()
            .add_inputs("the snapshot", snapshots);
        let mut guard = guard
            .add_inputs("--weights", &self.units.weights)
            .add_inputs("--group-by", self.units.group_file())
            .add_inputs("--files-from", &self.inputs.files_from)
            .add_inputs("an input", inputs);
        if has_table {
            guard = guard.add_stdout()?;
        }
        for (option, path) in self.outputs() {
            guard.add_output(option, path)?;
            OutputFormat::Text.check(path)?;
        }
        self.stats.refuse_overwriting(&mut guard)
    }
}

/// The sets of agents that the user has named, each with the positions of its agents.
pub(super) fn subsets(selected: &SelectedAgents) -> Vec<AgentSubset> {
    let sets = selected.sets.iter().map(|set| AgentSubset {
        name: set.name.clone(),
        agents: set.members.clone(),
    });
    sets.collect()
}
