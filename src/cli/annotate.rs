//! `robosieve annotate`: every line, with the verdicts before it.

use super::args::AnnotateArgs;
use super::output::Output;
use super::parquet;
use super::report::{print_agents, print_filter};
use super::run::{input_progress, open_inputs};
use robosieve::{Filter, Judge, Snapshot};

pub(crate) fn run(args: &AnnotateArgs, quiet: bool) -> anyhow::Result<()> {
    if parquet::are_parquet(&args.inputs)? {
        return parquet::annotate(args, quiet);
    }
    let snapshot = Snapshot::open(&args.snapshot)?;
    let agents = args.judge.agents(quiet)?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let inputs = open_inputs(&args.inputs)?;
    let mut output = Output::open(args.output.as_deref())?;
    let progress = input_progress(&args.inputs, quiet);
    let stats = Filter::new(&judge).progress(&|at| progress.set(at.bytes_read)).annotate(inputs, &mut output)?;
    output.commit()?;
    progress.finish();
    if !quiet {
        print_filter(&stats, progress.elapsed());
        if agents.len() > 1 {
            print_agents(&stats, &agents);
        }
    }
    Ok(())
}
