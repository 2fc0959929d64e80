//! `robosieve completions`: what makes a shell complete verbs, options and their values.

use super::args::{Cli, CompletionsArgs};
use super::output::print;
use clap::CommandFactory;

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "robosieve", &mut script);
    print(&String::from_utf8_lossy(&script))
}
