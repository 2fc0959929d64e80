//! `robosieve agents`: lists known crawlers, or ranks the names in a snapshot's robots.txt files.

mod ranking;
mod table;

use crate::agent_args::AgentArgs;
use crate::help_text::{AGENTS_EXAMPLES, AGENTS_SHORT, COMMON, OUTPUT};
use crate::output::print;
use crate::verify_args::VerifyArgs;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::Snapshot;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = AGENTS_SHORT,
    after_long_help = AGENTS_EXAMPLES,
    override_usage = "robosieve agents [OPTIONS] [SNAP]\n       \
                      robosieve agents [OPTIONS] -s SNAP\n       \
                      robosieve agents [OPTIONS] AGENT"
)]
pub(crate) struct AgentsArgs {
    /// Rank the names in the groups of this snapshot's robots.txt files
    ///
    /// A known crawler or a set in its place is one of -a: `robosieve agents GPTBot`.
    #[arg(value_name = "SNAP")]
    pub positional_snapshot: Option<PathBuf>,
    /// The snapshot, instead of SNAP
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub agents: AgentArgs,
    /// With a snapshot: list this many names (default: 50, or all of -a)
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub top: Option<usize>,
    /// Print JSON
    #[arg(long, conflicts_with = "tsv", help_heading = OUTPUT)]
    pub json: bool,
    /// Print TAB-separated columns with a header
    #[arg(long, help_heading = OUTPUT)]
    pub tsv: bool,
}

pub(crate) fn run(mut args: AgentsArgs, quiet: bool) -> anyhow::Result<()> {
    take_agent(&mut args)?;
    let args = &args;
    // With a snapshot, its names are ranked; without, the registry is listed.
    let snapshot = match (&args.positional_snapshot, &args.snapshot) {
        (Some(one), Some(other)) => {
            bail!(
                "the snapshot is named twice, as {} and as -s {}; name it once",
                one.display(),
                other.display()
            )
        }
        (one, other) => one.as_deref().or(other.as_deref()),
    };
    args.agents
        .overwrite_guard()
        .add_inputs("the snapshot", snapshot)
        .add_stdout()?;
    match snapshot {
        Some(path) => {
            args.agents.refuse_agent_as_input(path)?;
            rank(args, path, quiet)
        }
        None if args.top.is_some() => {
            bail!(
                "--top ranks the names in a snapshot, and none is named; give it as SNAP or as \
                 -s SNAP"
            )
        }
        None => list(args, quiet),
    }
}

/// Takes crawlers or sets where the snapshot belongs (`robosieve agents GPTBot`) as those of -a.
fn take_agent(args: &mut AgentsArgs) -> anyhow::Result<()> {
    let Some(path) = args.positional_snapshot.take_if(|path| !path.exists()) else {
        return Ok(());
    };
    let word = path.to_string_lossy();
    if !args.agents.knows_all(&word)? {
        bail!(
            "{word}: no such file, and not a known crawler; `robosieve agents` lists the known \
             ones, and -a {word} takes any name"
        );
    }
    args.agents.agents.push(word.into_owned());
    Ok(())
}

fn list(args: &AgentsArgs, quiet: bool) -> anyhow::Result<()> {
    let registry = args.agents.registry()?;
    let rows = table::rows(args, registry, quiet)?;
    print(&match args {
        AgentsArgs { json: true, .. } => table::json(&rows, registry)?,
        AgentsArgs { tsv: true, .. } => table::tsv(&rows),
        _ => table::text(&rows, registry, !args.agents.is_empty()),
    })
}

fn rank(args: &AgentsArgs, path: &Path, quiet: bool) -> anyhow::Result<()> {
    let file = || path.display().to_string();
    let agents = args.agents.resolve(quiet)?;
    let snapshot = Snapshot::open(path)?;
    args.verify.all(&snapshot, path)?;
    args.agents
        .check_spelling_in(&agents, [(&snapshot, path)])?;
    let census = snapshot.census().with_context(file)?;
    let rows = ranking::rows(&census, &agents, args.top).with_context(file)?;
    snapshot.verify_unchanged()?;
    let registry = args.agents.registry()?;
    print(&match args {
        AgentsArgs { json: true, .. } => ranking::json(&census, &rows, registry)?,
        AgentsArgs { tsv: true, .. } => ranking::tsv(&rows, registry),
        _ => ranking::text(&census, &rows, registry),
    })
}
