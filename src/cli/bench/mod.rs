//! `robosieve bench`: times the real pipeline stage by stage, beside what the machine can do, and has the answers compared
//! with the reference.

mod ceilings;
mod check;
mod measure;
mod subject;
mod table;

use super::args::BenchArgs;
use super::output::print;
use anyhow::bail;
use check::Checked;
use measure::{Measured, measure};
use robosieve::{Agent, Judge, Snapshot};
use subject::Subject;

pub(crate) fn run(args: &BenchArgs, quiet: bool) -> anyhow::Result<()> {
    match (&args.snapshot, &args.write_to) {
        (Some(path), _) => {
            let Some(urls) = &args.urls else { bail!("-s needs --urls FILE, the list to judge") };
            bench(args, &Snapshot::open(path)?, &Subject::given(path, urls)?, quiet)
        }
        (None, Some(dir)) => subject::write(subject::web(args)?, dir, quiet),
        (None, None) => {
            let (snapshot, subject) = Subject::synthetic(subject::web(args)?, quiet)?;
            bench(args, &snapshot, &subject, quiet)
        }
    }
}

/// What is printed.
struct Report<'r> {
    subject: &'r Subject,
    agents: &'r [Agent],
    runs: u32,
    checked: Checked,
    measured: Vec<Measured>,
}

fn bench(
    args: &BenchArgs,
    snapshot: &Snapshot<impl AsRef<[u8]> + Sync>,
    subject: &Subject,
    quiet: bool,
) -> anyhow::Result<()> {
    let mut agents = args.judge.who.agents(quiet)?;
    if agents.is_empty() {
        agents.push("GPTBot".parse()?);
    }
    let judge = Judge::new(snapshot, &agents, args.judge.options())?;
    let checked = check::compare(snapshot, &judge, args.judge.options().agent_match, subject)?;
    let mut threads = args.threads.clone();
    if threads.is_empty() {
        threads = vec![1, rayon::current_num_threads()];
        threads.dedup();
    }
    let measured = threads.into_iter().map(|threads| measure(&judge, &subject.urls, threads, args.runs));
    let measured = measured.collect::<anyhow::Result<_>>()?;
    let report = Report { subject, agents: &agents, runs: args.runs, checked, measured };
    print(&if args.json { table::json(&report) } else { table::text(&report) })
}
