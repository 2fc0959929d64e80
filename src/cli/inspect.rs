//! `robosieve inspect`: shows the contents of a snapshot, or its entry for one origin.

use super::escape::{escape, to_json, to_json_pretty};
use super::help_text::{COMMON, INSPECT_EXAMPLES, INSPECT_SHORT, OUTPUT};
use super::inputs::refuse_remote;
use super::option_guard::OptionGuard;
use super::output::{OutputTarget, print};
use super::summary::{grouped, outcomes};
use super::time::{parse_instant_or_now, time};
use super::verify_args::VerifyArgs;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::robots::LooksLike;
use robosieve::snapshot::{FORMAT_VERSION, OriginEntry};
use robosieve::{Origin, Snapshot};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = INSPECT_SHORT,
    after_long_help = INSPECT_EXAMPLES,
    override_usage = "robosieve inspect [OPTIONS] SNAP [ORIGIN]\n       \
                      robosieve inspect [OPTIONS] -s SNAP [ORIGIN]"
)]
pub(crate) struct InspectArgs {
    /// The snapshot
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
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// List the robots.txt URLs that are due at this time (or `now`), one per line
    ///
    /// A URL is due 24 hours after its fetch, or after the Cache-Control max-age of the answer. A
    /// URL with an unknown time is always due. A date is its first second in UTC. With --json, each
    /// line is a JSON object.
    #[arg(long, value_name = "TIME", value_parser = parse_instant_or_now, help_heading = OUTPUT)]
    pub stale_at: Option<i64>,
}

impl InspectArgs {
    /// The part of the snapshot that was verified before it is shown.
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
    let (first, origin) = (args.first.as_deref(), args.origin.as_deref());
    match (args.snapshot.as_deref(), first) {
        (None, None) => bail!("no snapshot is named; give it as SNAP or as -s SNAP"),
        (None, Some(first)) => {
            let path = Path::new(first);
            refuse_remote(path)?;
            Ok((path, origin))
        }
        (Some(snapshot), Some(first)) if origin.is_some() || Path::new(first).is_file() => {
            let first = Path::new(first).display();
            bail!("the snapshot is named twice, as {first} and as -s {}; name it once", snapshot.display())
        }
        (Some(snapshot), first) => Ok((snapshot, first)),
    }
}

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<()> {
    let (path, origin) = snapshot_and_origin(args)?;
    OptionGuard::default().add_inputs("the snapshot", [path]).add_stdout()?;
    if args.stale_at.is_some() && origin.is_some() {
        bail!("--stale-at lists the URLs of all origins; leave ORIGIN out");
    }
    let snapshot = Snapshot::open(path)?;
    let file = || path.display().to_string();
    match origin {
        _ if args.verify => snapshot.verify().with_context(file)?,
        Some(_) => args.checksums.look_ups(&snapshot),
        None => args.checksums.all(&snapshot, path)?,
    }
    if let Some(time) = args.stale_at {
        return print_stale(&snapshot, time, args.json).with_context(file);
    }
    let text = match origin {
        None => totals(&snapshot, args).with_context(file)?,
        Some(origin) => one_origin(&snapshot, &origin.to_string_lossy(), args).with_context(file)?,
    };
    print(&text)
}

/// Prints the robots.txt URLs to fetch again; streamed, as there may be millions.
fn print_stale(snapshot: &Snapshot, at: i64, json: bool) -> anyhow::Result<()> {
    let mut out = OutputTarget::open(None)?;
    for entry in snapshot.stale_at(at) {
        let entry = entry?;
        if json {
            writeln!(out, "{}", to_json(&stale_json(&entry))?)?
        } else {
            writeln!(out, "{}", escape(&entry.robots_url()))?
        }
    }
    out.commit()
}

fn stale_json(entry: &OriginEntry<'_>) -> serde_json::Value {
    let outcome = entry.outcome();
    json!({
        "url": entry.robots_url(), "outcome": outcome.class.name(), "status": outcome.status,
        "fetched_at": outcome.fetched.map(time), "max_age": outcome.max_age,
        "stale_from": outcome.stale_from().map(time), "first_failure": outcome.first_failure.map(time),
        "first_unreachable": outcome.first_unreachable.map(time),
    })
}

fn totals(snapshot: &Snapshot, args: &InspectArgs) -> anyhow::Result<String> {
    let metadata = snapshot.metadata()?;
    if args.json {
        let sections: serde_json::Map<_, _> =
            snapshot.sections().map(|(name, len)| (name.to_owned(), len.into())).collect();
        let value = json!({
            "format_version": FORMAT_VERSION, "bytes": snapshot.byte_len(), "verified": args.verified(),
            "metadata": metadata, "sections": sections,
        });
        return Ok(to_json_pretty(&value)?);
    }
    let mut out = String::new();
    let counts = &metadata.counts;
    let mut text = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<26}{value:>14}");
    };
    text("format version", FORMAT_VERSION.to_string());
    text("written by", metadata.tool.clone());
    text("profile", metadata.profile.name().to_owned());
    text("verified", args.verified().to_owned());
    if let Some((oldest, newest)) = metadata.captured {
        text("oldest capture", time(oldest));
        text("newest capture", time(newest));
    }
    text("origins", grouped(counts.origins));
    for (name, number) in outcomes(counts) {
        text(&format!("  {name}"), grouped(number));
    }
    text("  found through redirects", grouped(counts.redirected));
    text("distinct robots.txt", grouped(counts.files));
    text("rule sets before merging", grouped(counts.rule_sets_before));
    text("rule sets", grouped(counts.rule_sets));
    text("rules in them", grouped(counts.rules));
    text("agent names", grouped(counts.tokens));
    text("bytes", grouped(snapshot.byte_len()));
    for (name, len) in snapshot.sections() {
        text(&format!("  {name}"), grouped(len));
    }
    Ok(out)
}

fn one_origin(snapshot: &Snapshot, origin: &str, args: &InspectArgs) -> anyhow::Result<String> {
    // A host alone is its https site, as in a browser.
    let with_scheme = if origin.contains("://") { origin.to_owned() } else { format!("https://{origin}") };
    let Some(key) = Origin::of(with_scheme.as_bytes()) else {
        bail!("{origin:?} is not an origin; write it like https://example.com");
    };
    let Some(entry) = snapshot.origin(&key)? else {
        bail!("{key} is not in the snapshot; http, https, www and every port are separate origins");
    };
    let robots = snapshot.robots_text(&entry)?;
    let robots = robots.map(|text| collapse_blank_lines(&String::from_utf8_lossy(&text)));
    if args.json {
        return Ok(to_json_pretty(&origin_json(&entry, robots))?);
    }
    let mut out = format!("# {}: {}\n", escape(&entry.origin()), describe(&entry));
    if let Some(robots) = robots {
        out.push_str(&robots);
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

/// One line about the source of an origin's robots.txt.
pub(crate) fn describe(entry: &OriginEntry<'_>) -> String {
    let outcome = entry.outcome();
    let mut out = outcome.class.name().to_owned();
    if outcome.status > 0 {
        let _ = write!(out, ", status {}", outcome.status);
    }
    if let Some(fetched) = outcome.fetched {
        let _ = write!(out, ", fetched {}", time(fetched));
    }
    if let Some(source) = entry.source() {
        let plural = if outcome.hops == 1 { "" } else { "s" };
        let _ = write!(out, ", from {} after {} redirect{plural}", escape(&source), outcome.hops);
    }
    if let Some(first) = outcome.first_failure {
        let _ = write!(out, ", failing since {}", time(first));
    }
    if entry.has_last_good() {
        out.push_str(", last good copy kept");
    }
    if let Some(detail) = entry.detail() {
        let _ = write!(out, ", {}", escape(&detail));
    }
    if outcome.cut_short {
        out.push_str(", cut short in the archive");
    }
    if outcome.past_limit {
        out.push_str(", longer than 500 KiB: the rest is ignored");
    }
    match outcome.looks_like {
        Some(LooksLike::Html) => out.push_str(", looks like HTML: only lines of known fields count"),
        Some(LooksLike::Utf16) => out.push_str(", looks like UTF-16, which is not decoded"),
        _ => {}
    }
    out
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
