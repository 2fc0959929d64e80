//! `robosieve inspect`: shows the contents of a snapshot or a captures file, or the entry for one
//! origin.

use crate::agent_args::is_file_name;
use crate::figures::counts::grouped;
use crate::figures::escape::{escape, to_json_pretty};
use crate::figures::table::Columns;
use crate::help_text::{COMMON, INSPECT_EXAMPLES, INSPECT_SHORT, OUTPUT};
use crate::inputs::refuse_remote;
use crate::option_guard::OptionGuard;
use crate::outcomes::{describe_outcome, outcome_counts};
use crate::output::print;
use crate::time::{parse_through_or_now, time};
use crate::url_args::is_bare_host;
use crate::verify_args::VerifyArgs;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::compile::CapturesFile;
use robosieve::robots::LooksLike;
use robosieve::snapshot::{FORMAT_VERSION, OriginEntry, TimeSpan};
use robosieve::{Origin, Snapshot};
use serde_json::json;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = INSPECT_SHORT,
    after_long_help = INSPECT_EXAMPLES,
    override_usage = "robosieve inspect [OPTIONS] SNAP [ORIGIN]\n       \
                      robosieve inspect [OPTIONS] -s SNAP [ORIGIN]\n       \
                      robosieve inspect [OPTIONS] CAPTURES"
)]
pub(crate) struct InspectArgs {
    /// The snapshot, or a captures file
    // Not a path to clap: after `-s SNAP` this is the origin.
    #[arg(value_name = "SNAP", value_parser = clap::value_parser!(OsString))]
    pub first: Option<OsString>,
    /// Show the entry and the rules of this origin, given as any URL on it
    #[arg(value_name = "ORIGIN")]
    pub origin: Option<OsString>,
    /// The snapshot, instead of SNAP
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: Option<PathBuf>,
    /// Verify the whole structure first, not only the checksums
    ///
    /// This also finds a forged snapshot, whose checksums are right and whose content contradicts
    /// itself. It decompresses every text.
    #[arg(long, conflicts_with = "no_verify", help_heading = COMMON)]
    pub verify: bool,
    #[command(flatten)]
    pub checksums: VerifyArgs,
    /// With ORIGIN: list its answers over time, of a snapshot with a history
    ///
    /// A capture shows an answer at one instant. So each answer has the capture that found it, the
    /// last one that found it unchanged, and the one that found it changed.
    #[arg(long, requires = "first", conflicts_with = "as_of", help_heading = OUTPUT)]
    pub history: bool,
    /// With ORIGIN: show its entry and its rules as of this time (or `now`)
    ///
    /// The snapshot needs a history (`compile --history`). A date, a month or a year is its last
    /// second in UTC.
    #[arg(long, value_name = "TIME", value_parser = parse_through_or_now, help_heading = OUTPUT)]
    pub as_of: Option<i64>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    // `due` lists what this option listed.
    #[arg(long, value_name = "TIME", value_parser = refuse_stale_at, hide = true)]
    _stale_at: Option<Infallible>,
}

fn refuse_stale_at(_: &str) -> Result<Infallible, &'static str> {
    Err("`robosieve due -s SNAP --stale-at TIME` lists the robots.txt URLs that are due")
}

impl InspectArgs {
    /// The part of the file that was verified before it is shown.
    fn verified(&self) -> &'static str {
        match (self.verify, self.checksums.no_verify) {
            (true, _) => "structure",
            (false, false) => "checksums",
            (false, true) => "nothing",
        }
    }
}

/// The snapshot and the origin: `SNAP [ORIGIN]` or `-s SNAP [ORIGIN]`.
fn snapshot_and_origin(args: &InspectArgs) -> anyhow::Result<(&Path, Option<&OsStr>)> {
    let first = args.first.as_deref();
    let origin = args.origin.as_deref();
    match (args.snapshot.as_deref(), first) {
        (None, None) => bail!("no snapshot is named; give it as SNAP or as -s SNAP"),
        (None, Some(first)) => {
            let path = Path::new(first);
            // An origin in place of the snapshot is the usual slip of those who know `check`.
            if origin.is_none() && !path.exists() && is_origin(&first.to_string_lossy()) {
                bail!(
                    "{0}: no such file; for the entry of an origin, the snapshot comes first: \
                     robosieve inspect SNAP {0}",
                    path.display()
                );
            }
            refuse_remote(path)?;
            Ok((path, origin))
        }
        (Some(snapshot), Some(first)) if origin.is_some() || Path::new(first).is_file() => {
            let first = Path::new(first).display();
            bail!(
                "the snapshot is named twice, as {first} and as -s {}; name it once",
                snapshot.display()
            )
        }
        (Some(snapshot), first) => Ok((snapshot, first)),
    }
}

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<()> {
    let (path, origin) = snapshot_and_origin(args)?;
    OptionGuard::default()
        .add_inputs("the snapshot", [path])
        .add_stdout()?;
    if path.is_file() && CapturesFile::recognises(path)? {
        return inspect_captures(path, origin, args);
    }
    // One origin is looked up with the blocks that it needs; totals verify the whole file.
    let snapshot = Snapshot::open(path)?;
    let file = || path.display().to_string();
    match origin {
        _ if args.verify => snapshot.verify().with_context(file)?,
        Some(_) => args.checksums.look_ups(&snapshot),
        None => args.checksums.all(&snapshot, path)?,
    }
    if origin.is_none() && (args.history || args.as_of.is_some()) {
        bail!(
            "--history and --as-of show one origin; name it: robosieve inspect {} ORIGIN",
            path.display()
        );
    }
    let text = match origin {
        None => totals(&snapshot, args).with_context(file)?,
        Some(origin) => {
            one_origin(&snapshot, &origin.to_string_lossy(), args).with_context(file)?
        }
    };
    print(&text)
}

/// Prints the contents of a captures file.
fn inspect_captures(path: &Path, origin: Option<&OsStr>, args: &InspectArgs) -> anyhow::Result<()> {
    if origin.is_some() {
        bail!(
            "{}: a captures file is not indexed by origin; compile it, and inspect the snapshot",
            path.display()
        );
    }
    // Checksums are verified unless that is switched off; `--verify` also checks every capture.
    let file = CapturesFile::open(path)?;
    match (args.verify, args.checksums.no_verify) {
        (true, _) => file.verify()?,
        (false, false) => file.verify_checksums()?,
        (false, true) => {}
    }
    let counts = file.counts();
    if args.json {
        let value = json!({
            "captures_format_version": file.format_version(), "bytes": file.byte_len(), "verified": args.verified(),
            "tool": file.tool(), "blocks": file.blocks(), "counts": counts,
        });
        return print(&to_json_pretty(&value)?);
    }
    let mut table = Totals::default();
    table.row("captures format version", file.format_version().to_string());
    table.row("written by", escape(file.tool()).into_owned());
    table.row("verified", args.verified().to_owned());
    table.captured(counts.captured);
    for (name, number) in [
        ("captures", counts.captures),
        ("  of other URLs", counts.other_urls),
        ("  of unknown time", counts.undated),
        ("origins", counts.origins),
        ("distinct texts", counts.texts),
        ("bytes of distinct texts", counts.text_bytes),
        ("blocks", file.blocks()),
        ("bytes", file.byte_len()),
    ] {
        table.row(name, grouped(number));
    }
    print(&table.text)
}

/// Rows of a name and a value.
#[derive(Default)]
struct Totals {
    text: String,
}

impl Totals {
    fn row(&mut self, name: &str, value: String) {
        const COLUMNS: Columns<'_> = Columns {
            indent: 0,
            name: 26,
            gap: 0,
            cells: &[14],
        };
        self.text += &COLUMNS.row(name, [value]);
        self.text.push('\n');
    }

    /// The times of the oldest and the newest capture, if they are known.
    fn captured(&mut self, span: Option<TimeSpan>) {
        if let Some(span) = span {
            self.row("oldest capture", time(span.oldest));
            self.row("newest capture", time(span.newest));
        }
    }
}

/// The figures of a whole snapshot, as a table or as JSON.
fn totals(snapshot: &Snapshot, args: &InspectArgs) -> anyhow::Result<String> {
    let metadata = snapshot.metadata()?;
    // The JSON has the metadata as it is stored, so that scripts do not depend on the table.
    if args.json {
        let sections: serde_json::Map<_, _> = snapshot
            .sections()
            .map(|(name, len)| (name.to_owned(), len.into()))
            .collect();
        let value = json!({
            "format_version": FORMAT_VERSION, "bytes": snapshot.byte_len(), "verified": args.verified(),
            "metadata": metadata, "sections": sections,
        });
        return Ok(to_json_pretty(&value)?);
    }
    let counts = &metadata.counts;
    let mut table = Totals::default();
    // The version, the profile and the checks come first: they show whether to trust the figures.
    table.row("format version", FORMAT_VERSION.to_string());
    table.row("written by", metadata.tool.clone());
    table.row("profile", metadata.profile.name().to_owned());
    table.row("verified", args.verified().to_owned());
    table.captured(metadata.captured);
    table.row("origins", grouped(counts.origins));
    for (name, number) in outcome_counts(counts) {
        table.row(&format!("  {name}"), grouped(number));
    }
    table.row("  found through redirects", grouped(counts.redirected));
    // These show how much is shared between origins, and so why the file is as small as it is.
    table.row("distinct robots.txt", grouped(counts.files));
    table.row("rule sets before merging", grouped(counts.rule_sets_before));
    table.row("rule sets", grouped(counts.rule_sets));
    table.row("rules in them", grouped(counts.rules));
    table.row("agent names", grouped(counts.tokens));
    table.row("bytes", grouped(snapshot.byte_len()));
    for (name, len) in snapshot.sections() {
        table.row(&format!("  {name}"), grouped(len));
    }
    Ok(table.text)
}

/// Whether an argument in place of the snapshot is an origin, and not a file that is missing.
fn is_origin(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let host = rest.unwrap_or(text).trim_end_matches('/');
    is_bare_host(host) && !host.contains('/') && !is_file_name(host)
}

fn one_origin(snapshot: &Snapshot, origin: &str, args: &InspectArgs) -> anyhow::Result<String> {
    // A host alone is its https site, as in a browser.
    let with_scheme = if origin.contains("://") {
        origin.to_owned()
    } else {
        format!("https://{origin}")
    };
    let Some(key) = Origin::of(with_scheme.as_bytes()) else {
        bail!("{origin:?} is not an origin; write it like https://example.com");
    };
    let Some(entry) = snapshot.origin(&key)? else {
        bail!("{key} is not in the snapshot; http, https, www and every port are separate origins");
    };
    if args.history {
        return timeline(snapshot, &entry, args.json);
    }
    let entry = match args.as_of {
        None => entry,
        Some(as_of) => match snapshot.in_force(entry.row(), as_of)? {
            Some(answer) => answer.entry,
            None => bail!("{key} has no capture up to {}", time(as_of)),
        },
    };
    let robots = snapshot.robots_text(&entry)?;
    let robots = robots.map(|text| collapse_blank_lines(&String::from_utf8_lossy(&text)));
    if args.json {
        return Ok(to_json_pretty(&origin_json(&entry, robots))?);
    }
    let mut out = format!(
        "# {}: {}\n",
        escape(&entry.origin()),
        describe_outcome(&entry)
    );
    if let Some(robots) = robots {
        out.push_str(&robots);
    }
    Ok(out)
}

/// The answers of an origin over time, as lines or as a JSON array.
fn timeline(snapshot: &Snapshot, entry: &OriginEntry<'_>, json: bool) -> anyhow::Result<String> {
    let mut objects = Vec::new();
    let mut out = format!(
        "# {}\nsince\tlast seen\tchanged at\tanswer\n",
        escape(&entry.origin())
    );
    for answer in snapshot.timeline(entry.row()) {
        let answer = answer?;
        let bounds = [answer.since, answer.last_seen, answer.changed_at];
        let [since, last_seen, changed_at] = bounds.map(|bound| bound.map(time));
        let outcome = answer.entry.outcome();
        if json {
            objects.push(json!({
                "since": since, "last_seen": last_seen, "changed_at": changed_at,
                "outcome": outcome.class.name(), "status": outcome.status, "hops": outcome.hops,
                "source": answer.entry.source(), "detail": answer.entry.detail(),
                "first_failure": outcome.first_failure.map(time),
                "has_last_good": answer.entry.has_last_good(),
            }));
            continue;
        }
        let [since, last_seen, changed_at] =
            [since, last_seen, changed_at].map(|bound| bound.unwrap_or_else(|| "-".to_owned()));
        let answer = describe_outcome(&answer.entry);
        out += &format!("{since}\t{last_seen}\t{changed_at}\t{answer}\n");
    }
    if json {
        return Ok(to_json_pretty(&objects)?);
    }
    Ok(out)
}

fn origin_json(entry: &OriginEntry<'_>, robots: Option<String>) -> serde_json::Value {
    let outcome = entry.outcome();
    json!({
        "origin": entry.origin(), "outcome": outcome.class.name(), "status": outcome.status, "hops": outcome.hops,
        "source": entry.source(), "detail": entry.detail(), "cut_short": outcome.cut_short,
        "past_limit": outcome.past_limit, "looks_like": outcome.looks_like.map(LooksLike::name),
        "fetched_at": outcome.fetched.map(time), "first_failure": outcome.first_failure.map(time),
        "first_unreachable": outcome.first_unreachable.map(time), "target_missing": outcome.target_missing,
        "max_age": outcome.max_age, "has_last_good": entry.has_last_good(), "robots_txt": robots,
    })
}

/// Collapses runs of blank lines into one.
fn collapse_blank_lines(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if !line.is_empty() || !(out.is_empty() || out.ends_with("\n\n")) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
