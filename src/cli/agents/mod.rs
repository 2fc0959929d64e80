//! `robosieve agents`: the crawlers that are known, or those that the robots.txt files of a snapshot name.

mod ranking;
mod table;

use super::examples::AGENTS_EXAMPLES;
use super::output::print;
use super::snapshot::VerifyArgs;
use super::who::AgentArgs;
use anyhow::Context;
use clap::Args;
use robosieve::Snapshot;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = AGENTS_EXAMPLES)]
pub(crate) struct AgentsArgs {
    /// Rank the names that this snapshot's robots.txt files have groups for, instead
    #[arg(value_name = "SNAP")]
    pub snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub who: AgentArgs,
    /// How many names to rank (default: 50, or all of -a)
    #[arg(long, value_name = "N", requires = "snapshot")]
    pub top: Option<usize>,
    /// Print JSON
    #[arg(long, conflicts_with = "tsv")]
    pub json: bool,
    /// Print TAB-separated columns under a header
    #[arg(long)]
    pub tsv: bool,
}

pub(crate) fn run(args: &AgentsArgs, quiet: bool) -> anyhow::Result<()> {
    args.who.reads().reads("the snapshot", &args.snapshot).and_stdout()?;
    match &args.snapshot {
        Some(path) => {
            args.who.refuse_agent_as_input(path)?;
            rank(args, path, quiet)
        }
        None => list(args, quiet),
    }
}

fn list(args: &AgentsArgs, quiet: bool) -> anyhow::Result<()> {
    let rows = table::rows(args, quiet)?;
    print(&match args {
        AgentsArgs { json: true, .. } => table::json(&rows)?,
        AgentsArgs { tsv: true, .. } => table::tsv(&rows),
        _ => table::text(&rows, !args.who.is_empty()),
    })
}

fn rank(args: &AgentsArgs, path: &Path, quiet: bool) -> anyhow::Result<()> {
    let file = || path.display().to_string();
    let agents = args.who.agents(quiet)?;
    let snapshot = Snapshot::open(path)?;
    args.verify.all(&snapshot, path)?;
    args.who.check_in(&agents, [(&snapshot, path)])?;
    let census = snapshot.census().with_context(file)?;
    let rows = ranking::rows(&census, &agents, args.top).with_context(file)?;
    print(&match args {
        AgentsArgs { json: true, .. } => ranking::json(&census, &rows)?,
        AgentsArgs { tsv: true, .. } => ranking::tsv(&rows),
        _ => ranking::text(&census, &rows),
    })
}
