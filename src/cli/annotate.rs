//! `robosieve annotate`: every line with its verdicts.

use super::args::AnnotateArgs;
use super::job::{self, Places, Task, What};
use super::many::{Identity, Many};
use super::progress::Progress;
use super::report::{print_agents, print_filter};
use robosieve::{Agent, FilterStats, Judge, Snapshot};
use std::path::Path;

pub(crate) fn run(args: &AnnotateArgs, quiet: bool) -> anyhow::Result<()> {
    let dir = args.many.dir(args.output.as_deref())?;
    let snapshot = Snapshot::open(&args.snapshot)?;
    let agents = args.judge.agents(quiet)?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let main = dir.map(Path::to_owned).or_else(|| args.output.clone());
    let places = Places { main, ..Places::default() };
    let task = Task {
        what: What::Annotate(args.form, args.name.as_name.clone()),
        records: args.records.options(),
        column: args.column.column.clone(),
    };
    if dir.is_some() {
        let identity = Identity::new(&snapshot, &agents, &args.judge.options(), &task);
        let many = Many { task, judge: &judge, dirs: places, identity, quiet };
        let summary = many.run(&args.from, &args.snapshot, args.many.resume)?;
        if !quiet {
            summary.print();
            print_several(&summary.all(), &agents);
        }
        return summary.result();
    }
    let inputs = args.from.of_this_shard(quiet)?;
    let progress = Progress::of_inputs(&inputs, quiet);
    let stats = job::write(&task, &judge, &inputs, &places, &|read| progress.set(read))?.commit()?;
    progress.finish();
    if !quiet {
        print_filter(&stats, progress.elapsed());
        print_several(&stats, &agents);
    }
    Ok(())
}

/// The counts of one agent are those of the lines.
fn print_several(stats: &FilterStats, agents: &[Agent]) {
    if agents.len() > 1 {
        print_agents(stats, agents);
    }
}
