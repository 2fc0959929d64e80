//! `robosieve annotate`: every line with its verdicts.

use super::args::AnnotateArgs;
use super::job::{Places, Task, What};
use super::run::Run;
use super::summary::print_agents;
use std::path::Path;

pub(crate) fn run(args: &AnnotateArgs, quiet: bool) -> anyhow::Result<()> {
    let dir = args.many.dir(args.output.as_deref())?;
    let main = dir.map(Path::to_owned).or_else(|| args.output.clone());
    let task = Task {
        what: What::Annotate(args.form, args.name.as_name.clone()),
        records: args.records.options(),
        column: args.column.column.clone(),
    };
    let places = Places { main, ..Places::default() };
    let (snapshot, judge, many, from) = (&args.snapshot, &args.judge, &args.many, &args.from);
    Run { snapshot, judge, many, from, task, places, quiet }.perform(|stats, agents| {
        // The counts of one agent are those of the lines.
        if agents.len() > 1 {
            print_agents(stats, agents);
        }
    })
}
