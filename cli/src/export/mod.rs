//! `robosieve export`: a snapshot as a table.

mod form;
mod text;

use crate::agent_args::AgentArgs;
use crate::error_advice::at_snapshot;
use crate::figures::csv::DelimitedText;
use crate::help_text::{COMMON, EXPORT_EXAMPLES, EXPORT_SHORT, OUTPUT, POLICY};
use crate::history_args::SnapshotAsOfArgs;
use crate::judge_args::StatusPolicyArgs;
use crate::output::{OutputTarget, create_file, is_stdout};
use crate::output_form::output_form;
use crate::progress::Progress;
use crate::stats_json::{RunRecord, StatsArgs};
use crate::summary::print_export;
use crate::time::{RetryArgs, parse_instant_or_now};
use crate::value_enums::named;
use crate::verify_args::VerifyArgs;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use form::ExportForm;
use robosieve::export::{ColumnNames, ExportBatch, ExportStats, ExportTable, Exporter};
use robosieve::job;
use robosieve::judge::Reason;
use robosieve::snapshot::OutcomeClass;
use robosieve::{ErrorKind, Judge, JudgeOptions, Snapshot};
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXPORT_SHORT, after_long_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub policy: StatusPolicyArgs,
    /// Compute ages and judge failing sites as of this time (or `now`)
    ///
    /// The default age is that at the newest capture. The default for a failing site is the time of
    /// its own newest capture. A date is its first second in UTC.
    #[arg(long, value_name = "TIME", value_parser = parse_instant_or_now, help_heading = POLICY)]
    pub at: Option<i64>,
    #[command(flatten)]
    pub time: SnapshotAsOfArgs,
    /// Write one row per origin and agent, instead of three columns per agent
    ///
    /// The columns `agent`, `access`, `named` and `crawl_delay` follow those of the origin, which
    /// repeat for each agent.
    #[arg(long, conflicts_with_all = ["sitemaps", "rules"], help_heading = OUTPUT)]
    pub long: bool,
    /// Add the columns `disallowed_after` and `disallowed_since` for each agent
    ///
    /// The snapshot needs a history (`compile --history`). The columns are the bounds of the time in
    /// which an origin began to disallow everything to the agent: the last time at which it was known
    /// not to, and the first at which it did, without a break since. --columns can choose them without
    /// this option.
    #[arg(
        long,
        conflicts_with_all = ["sitemaps", "rules", "history", "as_of"],
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub disallowed_since: bool,
    /// Write one row per sitemap
    #[arg(long, conflicts_with = "rules", help_heading = OUTPUT)]
    pub sitemaps: bool,
    /// Write one row per agent and rule
    ///
    /// Without -a, each user-agent line of a group has a row for each rule of the group. With -a,
    /// each agent has a row for each rule that it obeys.
    #[arg(long, conflicts_with = "history", help_heading = OUTPUT)]
    pub rules: bool,
    /// Write one row per URL and version of its answer
    ///
    /// The snapshot needs a history (`compile --history`). A redirect has its target, whose versions
    /// are rows too. -a adds what the text of a version lets each agent fetch.
    #[arg(
        long,
        conflicts_with_all = ["long", "sitemaps"],
        help_heading = OUTPUT
    )]
    pub history: bool,
    /// Write only these columns, in this order
    ///
    /// Commas separate them, and the option may be repeated. Both spellings of an agent's column
    /// are known, GPTBot.access and GPTBot_access.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = OUTPUT)]
    pub columns: Vec<String>,
    /// How to write the names of agents' columns
    ///
    /// The default is underscores in Parquet, so that SQL takes names without quotes, and dots in
    /// the other formats.
    #[arg(long, value_parser = named::<ColumnNames>(), value_name = "STYLE", hide_short_help = true, help_heading = OUTPUT)]
    pub column_names: Option<ColumnNames>,
    /// Write only origins whose robots.txt is due at this time (or `now`)
    ///
    /// A robots.txt is due 24 hours after its fetch, or after the Cache-Control max-age of the
    /// answer; in a snapshot of profile rfc9309 after 24 hours at the latest. A failing one is due
    /// sooner: see --retry-failed. One with an unknown time is always due.
    #[arg(long, value_name = "TIME", value_parser = parse_instant_or_now, help_heading = OUTPUT)]
    pub stale_at: Option<i64>,
    #[command(flatten)]
    pub retry: RetryArgs,
    /// Write only origins with one of these outcomes
    #[arg(long, value_parser = named::<OutcomeClass>(), value_name = "OUTCOME", value_delimiter = ',', help_heading = OUTPUT)]
    pub outcome: Vec<OutcomeClass>,
    /// Write only origins whose verdicts have one of these reasons, by the status policy
    ///
    /// `rules,last-good-copy` leaves out the sites that have no robots.txt or fail, and so those
    /// that are disallowed without a rule.
    #[arg(long, value_parser = named::<Reason>(), value_name = "REASON", value_delimiter = ',', help_heading = OUTPUT)]
    pub reason: Vec<Reason>,
    /// Write to this file; its extension decides the format (default: standard output)
    ///
    /// .tsv, .csv, .jsonl or .parquet; .gz or .zst may follow the first three. Any other name is
    /// TSV, and so is standard output.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Format of the output, in place of that of its extension
    #[arg(long = "as", alias = "format", value_enum, value_name = "FORMAT", help_heading = OUTPUT)]
    pub format: Option<ExportForm>,
    #[command(flatten)]
    pub stats: StatsArgs,
}

pub(crate) fn run(args: &ExportArgs, quiet: bool) -> anyhow::Result<()> {
    let form = output_form(args.output.as_deref(), args.format)?;
    refuse_overwriting(args)?;
    if args.long && args.agents.is_empty() {
        bail!("--long writes one row per origin and agent; name agents with -a, such as -a GPTBot");
    }
    if args.disallowed_since && args.agents.is_empty() {
        bail!(
            "--disallowed-since has two columns per agent; name agents with -a, such as -a GPTBot"
        );
    }
    refuse_columns_of_agents(args)?;
    refuse_reasons(&args.reason)?;
    refuse_selections_of_history(args)?;
    let snapshot = Snapshot::open(&args.snapshot)?;
    args.verify.all(&snapshot, &args.snapshot)?;
    let selected = args.agents.resolve_with_sets(quiet)?;
    let agents = &selected.agents;
    args.agents
        .check_spelling_in(agents, [(&snapshot, args.snapshot.as_path())])?;
    let (described, at) = args.time.apply(snapshot.clone(), &args.snapshot, args.at)?;
    // Columns of agents show what a judge would decide, so its options apply.
    let options = JudgeOptions::default()
        .status_policy(args.policy.status_policy)
        .agent_match(args.agents.agent_match)
        .at(at);
    let judge = Judge::new(&described, agents, options)?;
    let progress = Progress::of_inputs(std::slice::from_ref(&args.snapshot), quiet);
    let show = |at: job::Progress| progress.set(at.bytes_read);
    let mut exporter = Exporter::new(&judge, table(args)).map_err(|err| err.at(&args.snapshot))?;
    if args.disallowed_since {
        let added = exporter.disallowed_since();
        exporter = added.map_err(|err| err.at(&args.snapshot))?;
    }
    let exporter = exporter
        .column_names(args.column_names.unwrap_or(form.column_names()))
        .choose_columns(&args.columns)
        .map_err(|err| without_history(err, args))?
        .stale_at(args.stale_at)
        .retry_failed(args.retry.retry_failed)
        .outcomes(&args.outcome)
        .reasons(&args.reason)
        .progress(&show);
    let record = RunRecord::new()
        .snapshot(&args.snapshot, &snapshot)?
        .agents(&selected);
    let exporter = match record.sets_json() {
        Some(sets) => exporter.metadata("robosieve.sets", &sets),
        None => exporter,
    };
    let mut counts = args.stats.open()?;
    let (stats, output) = write(&exporter, form, args)?;
    record.write(stats, &mut counts)?;
    OutputTarget::commit_all([Some(output), counts].into_iter().flatten())?;
    progress.finish();
    if !quiet {
        print_export(&stats, progress.elapsed());
    }
    Ok(())
}

/// Refuses the reasons that no origin of a snapshot has: the table would be empty.
fn refuse_reasons(reasons: &[Reason]) -> anyhow::Result<()> {
    for reason in [Reason::UnknownOrigin, Reason::NotAUrl, Reason::UnknownTime] {
        if reasons.contains(&reason) {
            bail!(
                "--reason {reason}: a snapshot has only the origins that it knows; \
                 `annotate --add reason` gives the reason of each URL"
            );
        }
    }
    Ok(())
}

/// The error of columns that the snapshot lacks the history for.
fn without_history(err: robosieve::Error, args: &ExportArgs) -> anyhow::Error {
    match err.kind() {
        ErrorKind::NoHistory if args.time.as_of.is_some() => anyhow!(
            "--as-of describes the snapshot of one time, which has no history; leave it out, or \
             leave the columns of --disallowed-since out of --columns"
        ),
        _ => at_snapshot(err, &args.snapshot).into(),
    }
}

/// Refuses a column of an agent, such as `GPTBot.access`, if no agent is named.
fn refuse_columns_of_agents(args: &ExportArgs) -> anyhow::Result<()> {
    let agent_of = |column: &str| {
        let (agent, value) = column.rsplit_once('.')?;
        let is_of_agent = [
            "access",
            "named",
            "crawl_delay",
            "disallowed_after",
            "disallowed_since",
        ]
        .contains(&value);
        is_of_agent.then(|| agent.to_owned())
    };
    if !args.agents.is_empty() {
        return Ok(());
    }
    for column in &args.columns {
        if let Some(agent) = agent_of(column) {
            bail!(
                "--columns {column}: the columns of an agent are written only if it is named; name \
                 it with -a {agent}"
            );
        }
    }
    Ok(())
}

/// Refuses the options that say of which time an origin is, or which origins are written: the table
/// of the history has all times.
fn refuse_selections_of_history(args: &ExportArgs) -> anyhow::Result<()> {
    let options = [
        ("--as-of", args.time.as_of.is_some()),
        ("--at", args.at.is_some()),
        ("--stale-at", args.stale_at.is_some()),
        ("--outcome", !args.outcome.is_empty()),
        ("--reason", !args.reason.is_empty()),
    ];
    for (option, is_given) in options {
        if args.history && is_given {
            bail!(
                "{option} selects among the answers of one time, and --history writes those of all \
                 times; select its rows by `since`, `changed_at` and `outcome`, or export without \
                 --history"
            );
        }
    }
    Ok(())
}

fn table(args: &ExportArgs) -> ExportTable {
    if args.history {
        return ExportTable::History;
    }
    match (args.sitemaps, args.rules, args.long) {
        (true, _, _) => ExportTable::Sitemaps,
        (_, true, _) => ExportTable::Rules,
        (_, _, true) => ExportTable::OriginsLong,
        _ => ExportTable::Origins,
    }
}

/// Refuses an output that would overwrite an input.
fn refuse_overwriting(args: &ExportArgs) -> anyhow::Result<()> {
    let mut guard = args
        .agents
        .overwrite_guard()
        .add_inputs("the snapshot", [&args.snapshot]);
    match &args.output {
        Some(path) => guard.add_output("-o", path)?,
        None => guard = guard.add_stdout()?,
    }
    args.stats.refuse_overwriting(&mut guard)
}

/// Writes the table. The output is not visible yet.
fn write(
    exporter: &Exporter<'_>,
    form: ExportForm,
    args: &ExportArgs,
) -> anyhow::Result<(ExportStats, OutputTarget)> {
    let columns = exporter.columns();
    let render: fn(&ExportBatch, &mut Vec<u8>) = match form {
        ExportForm::Parquet => {
            let path = args.output.as_deref().filter(|path| !is_stdout(path));
            let path =
                path.context("Parquet needs a file; name one with -o, such as -o origins.parquet")?;
            // An unwritable output fails at once, and a lost attribute gives a warning.
            drop(create_file(path)?);
            // An error of the output names its file, and one of the snapshot's bytes does not.
            let (stats, file) = exporter
                .prepare_parquet(path)
                .map_err(|err| at_snapshot(err, &args.snapshot))?;
            return Ok((stats, OutputTarget::File(Box::new(file))));
        }
        ExportForm::Tsv => text::tsv,
        ExportForm::Csv => text::csv,
        ExportForm::Jsonl => text::jsonl,
    };
    let mut out = OutputTarget::open(args.output.as_deref())?;
    match form {
        ExportForm::Tsv => out.write_all(text::header(columns, DelimitedText::Tsv).as_bytes())?,
        ExportForm::Csv => out.write_all(text::header(columns, DelimitedText::Csv).as_bytes())?,
        _ => {}
    }
    let stats = exporter
        .write_text(render, &mut out)
        .map_err(|err| at_snapshot(err, &args.snapshot))?;
    Ok((stats, out))
}
