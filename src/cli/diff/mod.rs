//! `robosieve diff`: what changed between two snapshots.

mod svg;
mod table;

use super::endings::{Format, refuse_other_format};
use super::escape::to_json_pretty;
use super::examples::DIFF_EXAMPLES;
use super::output::{Output, print_with};
use super::snapshot::VerifyArgs;
use super::time::time;
use super::who::AgentArgs;
use anyhow::Context;
use clap::Args;
use robosieve::{Diff, DiffOptions, Snapshot};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(crate) struct DiffArgs {
    /// The earlier snapshot
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The later one
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub who: AgentArgs,
    /// Without agents: how many names to show, those with the most changes
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// How many examples to give of each kind of change
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub examples: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Draw the agents newly refused and newly allowed to this file, too
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Exit with status 1 if the snapshots differ
    #[arg(long)]
    pub exit_code: bool,
}

/// What is told of a comparison.
struct Told {
    diff: Diff,
    /// For people: both files with the times of their newest captures.
    sides: [(String, Option<String>); 2],
}

pub(crate) fn run(args: &DiffArgs, quiet: bool) -> anyhow::Result<ExitCode> {
    let agents = args.who.agents(quiet)?;
    // The work may be long: a picture that cannot be written is told now, by beginning it.
    refuse_outputs(args)?;
    let mut picture = args.svg.as_deref().map(|path| Output::open(Some(path))).transpose()?;
    let (old, new) = (Snapshot::open(&args.old)?, Snapshot::open(&args.new)?);
    args.verify.all(&old, &args.old)?;
    args.verify.all(&new, &args.new)?;
    args.who.check_in(&agents, [(&old, args.old.as_path()), (&new, args.new.as_path())])?;
    let agent_match = args.who.agent_match.value();
    let options = DiffOptions { agents, agent_match, top: args.top, examples: args.examples };
    let both = || format!("{} and {}", args.old.display(), args.new.display());
    let diff = Diff::of(&old, &new, &options).with_context(both)?;
    let told = Told { diff, sides: [side(&args.old, &old)?, side(&args.new, &new)?] };
    if let Some(file) = &mut picture {
        file.write_whole(&svg::draw(&told))?;
    }
    print_with(&if args.json { json(&told)? } else { table::text(&told) }, picture)?;
    Ok(ExitCode::from(u8::from(args.exit_code && !told.diff.is_empty())))
}

/// Refuses outputs that would overwrite what is read, or each other, or whose names say another
/// format.
fn refuse_outputs(args: &DiffArgs) -> anyhow::Result<()> {
    let files = args.who.reads().reads("the old snapshot", [&args.old]).reads("the new snapshot", [&args.new]);
    let mut files = files.and_stdout()?;
    let Some(svg) = &args.svg else { return Ok(()) };
    files.writes("--svg", svg)?;
    refuse_other_format("--svg", svg, Format::Text)
}

fn side(path: &Path, snapshot: &Snapshot) -> anyhow::Result<(String, Option<String>)> {
    let name = path.display().to_string();
    let metadata = snapshot.metadata().with_context(|| name.clone())?;
    Ok((name, metadata.captured.map(|(_, newest)| time(newest))))
}

fn json(told: &Told) -> anyhow::Result<String> {
    let mut value = serde_json::to_value(&told.diff)?;
    for (key, (path, newest)) in ["old", "new"].iter().zip(&told.sides) {
        let origins = value[key].take();
        value[key] = json!({ "snapshot": path, "newest_capture": newest, "origins": origins });
    }
    Ok(to_json_pretty(&value)?)
}
