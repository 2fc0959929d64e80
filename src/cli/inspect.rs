//! `robosieve inspect`: what a snapshot holds, in all or of one origin.

use super::escape::{escape, to_json, to_json_pretty};
use super::examples::INSPECT_EXAMPLES;
use super::output::{Output, print};
use super::overlap::Files;
use super::summary::{grouped, outcomes};
use super::time::{parse_instant, time};
use anyhow::{Context, bail};
use clap::Args;
use robosieve::{FORMAT_VERSION, LooksLike, Origin, OriginEntry, Snapshot};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub(crate) struct InspectArgs {
    /// The snapshot
    #[arg(value_name = "SNAP")]
    pub snapshot: PathBuf,
    /// Show this origin's facts and rules; any URL on it will do
    #[arg(value_name = "ORIGIN")]
    pub origin: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Check every checksum and the whole structure first
    #[arg(long)]
    pub verify: bool,
    /// List the robots.txt URLs that are due at this time, one a line: fetched 24 hours before or, where the answer gave a
    /// Cache-Control max-age, so long before, or at an unknown time; a date is its first second in UTC. With --json, a JSON object a line
    #[arg(long, value_name = "TIME", value_parser = parse_instant, conflicts_with = "origin")]
    pub stale_at: Option<i64>,
}

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<()> {
    Files::default().reads("the snapshot", [&args.snapshot]).and_stdout()?;
    let snapshot = Snapshot::open(&args.snapshot)?;
    let file = || args.snapshot.display().to_string();
    if args.verify {
        snapshot.verify().with_context(file)?;
    }
    if let Some(time) = args.stale_at {
        return print_stale(&snapshot, time, args.json).with_context(file);
    }
    let text = match &args.origin {
        None => totals(&snapshot, args).with_context(file)?,
        Some(origin) => one_origin(&snapshot, origin, args).with_context(file)?,
    };
    print(&text)
}

/// The robots.txt URLs to fetch again; streamed, for there may be millions.
fn print_stale(snapshot: &Snapshot, at: i64, json: bool) -> anyhow::Result<()> {
    let mut out = Output::open(None)?;
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
            "format_version": FORMAT_VERSION, "bytes": snapshot.byte_len(), "verified": args.verify,
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
    if args.verify {
        text("verified", "yes".to_owned());
    }
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
    // A bare host means the site that a browser would open.
    let with_scheme = if origin.contains("://") { origin.to_owned() } else { format!("https://{origin}") };
    let Some(key) = Origin::of(with_scheme.as_bytes()) else {
        bail!("{origin:?} is not an origin; write it like https://example.com");
    };
    let Some(entry) = snapshot.origin(&key)? else {
        bail!("{key} is not in the snapshot; each of http, https, www and every port is an origin of its own");
    };
    let robots = snapshot.robots_text(&entry)?;
    let robots = robots.map(|text| squeeze(&String::from_utf8_lossy(&text)));
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

/// One line on where an origin's robots.txt came from.
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

/// Runs of blank lines as one.
fn squeeze(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if !line.is_empty() || !(out.is_empty() || out.ends_with("\n\n")) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
