//! `robosieve due`: the robots.txt URLs to fetch next.
//!
//! Two sorted lists are merged: the unknown origins of lists of URLs, and the origins of the
//! snapshot whose robots.txt is stale. Without a snapshot, every origin is unknown.

use crate::error_advice::at_snapshot;
use crate::figures::escape::{escape, to_json};
use crate::help_text::{COMMON, DUE_EXAMPLES, DUE_SHORT, OUTPUT};
use crate::inputs::InputArgs;
use crate::judge_job::open_inputs;
use crate::option_guard::OptionGuard;
use crate::output::OutputTarget;
use crate::output_form::{OutputForm, output_form};
use crate::progress::Progress;
use crate::record_args::RecordArgs;
use crate::stats_json::{RunRecord, StatsArgs};
use crate::summary::{DueCounts, print_due};
use crate::time::{RetryArgs, parse_instant_or_now, time};
use crate::value_enums::named;
use crate::verify_args::VerifyArgs;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use robosieve::job::{self, Job};
use robosieve::judge::Reason;
use robosieve::snapshot::{Freshness, OriginEntry, OutcomeClass};
use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot};
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = DUE_SHORT,
    after_long_help = DUE_EXAMPLES,
    mut_arg("inputs", |arg| arg.help(INPUTS).long_help(INPUTS_LONG))
)]
pub(crate) struct DueArgs {
    /// The snapshot (default: none, so every origin of the lists is unknown)
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    /// List also the origins of the snapshot whose robots.txt is due at this time (or `now`)
    ///
    /// A robots.txt is due 24 hours after its fetch, or after the Cache-Control max-age of the
    /// answer; in a snapshot of profile rfc9309 after 24 hours at the latest. A failing one is due
    /// sooner: see --retry-failed. One with an unknown time is always due. A date is its first
    /// second in UTC.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_instant_or_now,
        requires = "snapshot",
        help_heading = COMMON
    )]
    pub stale_at: Option<i64>,
    #[command(flatten)]
    pub retry: RetryArgs,
    /// Of these, list only those with one of these outcomes
    #[arg(
        long,
        value_parser = named::<OutcomeClass>(),
        value_name = "OUTCOME",
        value_delimiter = ',',
        requires = "stale_at",
        help_heading = COMMON
    )]
    pub outcome: Vec<OutcomeClass>,
    #[command(flatten)]
    pub records: RecordArgs,
    /// Write to this file (default: standard output)
    ///
    /// .jsonl is JSON lines, any other name is text. .gz or .zst may follow.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Form of the output, in place of that of its extension
    #[arg(long = "as", value_enum, value_name = "FORM", help_heading = OUTPUT)]
    pub form: Option<DueForm>,
    #[command(flatten)]
    pub stats: StatsArgs,
    #[command(flatten)]
    pub inputs: InputArgs,
}

const INPUTS: &str = "Lists of URLs, Parquet or WARC files (default: none, `-`: standard input)";
const INPUTS_LONG: &str = "Lists of URLs, Parquet or WARC files (default: none)

Their origins that the snapshot lacks are listed; without a snapshot, all of them. The formats are \
                           those of `filter`; `-` is standard input.";

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DueForm {
    /// One URL per line
    Text,
    /// One JSON object per line
    Jsonl,
}

impl OutputForm for DueForm {
    const DEFAULT: Self = Self::Text;
    const EXTENSIONS: &'static str = ".txt and .jsonl";

    fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "txt" => Some(Self::Text),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            _ => None,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Jsonl => "jsonl",
        }
    }
}

pub(crate) fn run(args: &DueArgs, quiet: bool) -> anyhow::Result<()> {
    let has_lists = args.inputs.are_named();
    if !has_lists && args.stale_at.is_none() {
        bail!(
            "nothing to list: give lists of URLs for their unknown origins (`-` is standard \
             input), -s SNAP --stale-at TIME for the known ones that are due, or both"
        );
    }
    let form = output_form(args.output.as_deref(), args.form)?;
    let inputs = if has_lists {
        args.inputs.all(quiet)?
    } else {
        Vec::new()
    };
    refuse_overwriting(args, &inputs)?;
    let inputs = args.inputs.part(inputs);
    // Lists may take hours, so an output that cannot be written fails before they are read.
    let mut out = OutputTarget::open(args.output.as_deref())?;
    let mut stats_out = args.stats.open()?;
    let snapshot = open_snapshot(args)?;
    let progress = Progress::of_inputs(&inputs, quiet);
    let unknown = match has_lists {
        true => Some(unknown_origins(args, &snapshot, &inputs, &progress)?),
        false => None,
    };
    let origins = unknown.as_ref().map_or(&[][..], |found| &found.origins);
    let counts = write(args, &snapshot, origins, form, &mut out)?;
    let stats = unknown.as_ref().map(|found| &found.stats);
    let mut record = RunRecord::new();
    if let Some(path) = &args.snapshot {
        record = record.snapshot(path, &snapshot)?;
    }
    record.write(json!({ "due": &counts, "lists": stats }), &mut stats_out)?;
    OutputTarget::commit_all([Some(out), stats_out].into_iter().flatten())?;
    progress.finish();
    if !quiet {
        print_due(&counts, stats, progress.elapsed());
    }
    Ok(())
}

/// The snapshot, verified as far as it is read; without `-s`, one without origins.
fn open_snapshot(args: &DueArgs) -> anyhow::Result<Snapshot> {
    let Some(path) = &args.snapshot else {
        // The lists go through the same code, and the snapshot lacks each of their origins.
        return Ok(Snapshot::new(Compiler::default().finish()?.to_vec()?)?);
    };
    let snapshot = Snapshot::open(path)?;
    match args.stale_at {
        Some(_) => args.verify.all(&snapshot, path)?,
        None => args.verify.judging(&snapshot, path)?,
    }
    Ok(snapshot)
}

/// Refuses an output that would overwrite an input.
fn refuse_overwriting(args: &DueArgs, inputs: &[PathBuf]) -> anyhow::Result<()> {
    let mut guard = OptionGuard::default()
        .add_inputs("the snapshot", &args.snapshot)
        .add_inputs("--files-from", &args.inputs.files_from)
        .add_inputs("an input", inputs);
    match &args.output {
        Some(path) => guard.add_output("-o", path)?,
        None => guard = guard.add_stdout()?,
    }
    args.stats.refuse_overwriting(&mut guard)
}

/// The origins of the lists that the snapshot lacks.
fn unknown_origins(
    args: &DueArgs,
    snapshot: &Snapshot,
    inputs: &[PathBuf],
    progress: &Progress,
) -> anyhow::Result<job::UnknownOrigins> {
    let judge = Judge::new(snapshot, &[], JudgeOptions::default())?;
    let show = |at: job::Progress| progress.set(at.bytes_read);
    let job = Job::new(&judge)
        .records(args.records.options())
        .require_url(true)
        .progress(&show);
    // An error of an input names its file, and one of the snapshot's bytes does not.
    let found = job.unknown_origins(open_inputs(inputs)?);
    Ok(found.map_err(|err| match &args.snapshot {
        Some(path) => at_snapshot(err, path),
        None => err,
    })?)
}

/// The snapshot in messages.
fn snapshot_name(args: &DueArgs) -> String {
    match &args.snapshot {
        Some(path) => path.display().to_string(),
        None => "the empty snapshot in place of -s".to_owned(),
    }
}

/// An origin whose robots.txt is to be fetched.
enum DueOrigin<'a> {
    Unknown(&'a Origin),
    /// With the rule by which it is stale.
    Stale(OriginEntry<'a>, Freshness),
}

/// Writes the URLs of the unknown origins, which are sorted, and of the stale ones, in the order of
/// their origins. Both are streamed, as there may be millions.
fn write(
    args: &DueArgs,
    snapshot: &Snapshot,
    unknown: &[Origin],
    form: DueForm,
    out: &mut OutputTarget,
) -> anyhow::Result<DueCounts> {
    let mut counts = DueCounts::default();
    let mut unknown = unknown.iter().peekable();
    let freshness = snapshot
        .freshness()
        .with_context(|| snapshot_name(args))?
        .retry_failed(args.retry.retry_failed);
    let stale = args.stale_at.map(|at| snapshot.stale_at(at, freshness));
    for entry in stale.into_iter().flatten() {
        let entry = entry.with_context(|| snapshot_name(args))?;
        if !args.outcome.is_empty() && !args.outcome.contains(&entry.outcome().class) {
            continue;
        }
        let key = entry.origin();
        while let Some(origin) = unknown.next_if(|origin| origin.as_str() < key.as_str()) {
            write_origin(&DueOrigin::Unknown(origin), form, out, &mut counts)?;
        }
        write_origin(&DueOrigin::Stale(entry, freshness), form, out, &mut counts)?;
    }
    for origin in unknown {
        write_origin(&DueOrigin::Unknown(origin), form, out, &mut counts)?;
    }
    Ok(counts)
}

/// Writes one URL, unless crawlers cannot fetch it.
fn write_origin(
    origin: &DueOrigin<'_>,
    form: DueForm,
    out: &mut OutputTarget,
    counts: &mut DueCounts,
) -> anyhow::Result<()> {
    let (scheme, url, count) = match origin {
        DueOrigin::Unknown(origin) => (origin.scheme(), origin.robots_url(), &mut counts.unknown),
        DueOrigin::Stale(entry, _) => (entry.scheme(), entry.robots_url(), &mut counts.stale),
    };
    if !matches!(scheme, "http" | "https") {
        counts.other_schemes += 1;
        return Ok(());
    }
    *count += 1;
    match form {
        DueForm::Text => writeln!(out, "{}", escape(&url))?,
        DueForm::Jsonl => writeln!(out, "{}", to_json(&DueObject::new(origin, &url))?)?,
    }
    Ok(())
}

/// The object of an origin in JSON lines. Each has all keys.
#[derive(Default, Serialize)]
struct DueObject<'a> {
    url: &'a str,
    origin: String,
    reason: &'static str,
    outcome: Option<&'static str>,
    status: Option<u16>,
    fetched: Option<String>,
    stale_from: Option<String>,
    failing_since: Option<String>,
    source: Option<String>,
    detail: Option<String>,
}

impl<'a> DueObject<'a> {
    fn new(origin: &DueOrigin<'_>, url: &'a str) -> Self {
        match origin {
            DueOrigin::Unknown(origin) => Self {
                url,
                origin: origin.to_string(),
                reason: Reason::UnknownOrigin.name(),
                ..Self::default()
            },
            DueOrigin::Stale(entry, freshness) => {
                let outcome = entry.outcome();
                Self {
                    url,
                    origin: entry.origin(),
                    reason: "stale",
                    outcome: Some(outcome.class.name()),
                    status: Some(outcome.status).filter(|status| *status > 0),
                    fetched: outcome.fetched.map(time),
                    stale_from: freshness.stale_from(outcome).map(time),
                    failing_since: outcome.first_failure.map(time),
                    source: entry.source(),
                    detail: entry.detail(),
                }
            }
        }
    }
}
