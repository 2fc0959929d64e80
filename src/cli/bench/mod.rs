//! `robosieve bench`: times the real pipeline stage by stage, beside what the machine can do, and has the answers compared
//! with the reference.

mod ceilings;
mod check;
mod measure;
mod subject;
mod table;

use super::choices::OrderArg;
use super::examples::BENCH_EXAMPLES;
use super::judging::JudgeArgs;
use super::numbers::{parse_count, parse_threads};
use super::output::print;
use super::snapshot::VerifyArgs;
use anyhow::bail;
use check::Checked;
use clap::Args;
use measure::{Measured, measure};
use robosieve::{Agent, Judge, Snapshot, SpellCheck};
use std::path::PathBuf;
use subject::Subject;

#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLES)]
pub(crate) struct BenchArgs {
    /// The snapshot; without one, a synthetic web is made up
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    /// With -s the list of URLs, which is read into memory first; without, how many URLs to make up (default: 1M)
    #[arg(long, value_name = "FILE|N")]
    pub urls: Option<String>,
    /// How many origins to make up (k, M and G stand for thousand, million and billion)
    #[arg(long, value_name = "N", default_value = "100k", value_parser = parse_count, conflicts_with = "snapshot")]
    pub origins: u64,
    /// The order of the made-up URLs
    #[arg(long, value_enum, default_value_t = OrderArg::Sorted, conflicts_with = "snapshot")]
    pub order: OrderArg,
    /// Which web to make up: the same seed, the same web
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "snapshot")]
    pub seed: u64,
    /// Write the made-up web here, as robots.jsonl.zst and urls.txt, and time nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["snapshot", "threads", "runs", "json"])]
    pub write_to: Option<PathBuf>,
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Numbers of threads to run with (default: 1, and that of --jobs)
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = parse_threads)]
    pub threads: Vec<usize>,
    /// Runs of each; medians are printed
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn run(args: &BenchArgs, quiet: bool) -> anyhow::Result<()> {
    let mut files = args.judge.who.reads().reads("the snapshot", &args.snapshot);
    if let Some(dir) = &args.write_to {
        return subject::write(subject::web(args)?, dir, files, quiet);
    }
    if args.snapshot.is_some() {
        files = files.reads("--urls", &args.urls);
    }
    files.and_stdout()?;
    match &args.snapshot {
        Some(path) => {
            let Some(urls) = &args.urls else { bail!("-s needs --urls FILE, the list to judge") };
            let snapshot = Snapshot::open(path)?;
            args.verify.all(&snapshot, path)?;
            bench(args, &snapshot, &Subject::given(path, urls)?, quiet)
        }
        None => {
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

fn bench(args: &BenchArgs, snapshot: &Snapshot, subject: &Subject, quiet: bool) -> anyhow::Result<()> {
    let mut agents = args.judge.who.agents(quiet)?;
    if agents.is_empty() {
        agents.push("GPTBot".parse()?);
    }
    let mut check = SpellCheck::new(&agents);
    check.add_snapshot(snapshot)?;
    args.judge.who.check_names(check)?;
    let judge = Judge::new(snapshot, &agents, args.judge.options())?;
    let checked = check::compare(snapshot, &judge, args.judge.options().agent_match, subject)?;
    let mut threads = args.threads.clone();
    if threads.is_empty() {
        threads = vec![1, rayon::current_num_threads()];
        threads.dedup();
    }
    let measured = threads.into_iter().map(|threads| measure(&judge, &subject.urls, threads, args.runs, quiet));
    let measured = measured.collect::<anyhow::Result<_>>()?;
    let report = Report { subject, agents: &agents, runs: args.runs, checked, measured };
    print(&if args.json { table::json(&report) } else { table::text(&report) })
}
