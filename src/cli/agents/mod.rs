//! `robosieve agents`: the crawlers that are known.

mod table;

use super::examples::AGENTS_EXAMPLES;
use super::output::print;
use super::who::AgentArgs;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = AGENTS_EXAMPLES)]
pub(crate) struct AgentsArgs {
    #[command(flatten)]
    pub who: AgentArgs,
    /// Print JSON
    #[arg(long, conflicts_with = "tsv")]
    pub json: bool,
    /// Print TAB-separated columns under a header
    #[arg(long)]
    pub tsv: bool,
}

pub(crate) fn run(args: &AgentsArgs, quiet: bool) -> anyhow::Result<()> {
    let rows = table::rows(args, quiet)?;
    print(&match args {
        AgentsArgs { json: true, .. } => table::json(&rows)?,
        AgentsArgs { tsv: true, .. } => table::tsv(&rows),
        _ => table::text(&rows, !args.who.is_empty()),
    })
}
