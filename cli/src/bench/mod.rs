//! `robosieve bench`: times the stages of the pipeline and the limits of the machine, and compares
//! the verdicts with the reference.

mod table;
mod workload;

use crate::help_text::{BENCH_EXAMPLES, BENCH_SHORT, COMMON, MEASUREMENT, SYNTHETIC_WEB};
use crate::judge_args::JudgeArgs;
use crate::numbers::{parse_count, parse_threads};
use crate::output::print;
use crate::progress::Progress;
use crate::thread_pool;
use crate::value_enums::OrderArg;
use crate::verify_args::VerifyArgs;
use anyhow::bail;
use clap::Args;
use robosieve::{Agent, Judge, Snapshot};
use robosieve_synthetic::measure::{Measurement, measure, passes};
use robosieve_synthetic::reference_check::{self, ReferenceCheck};
use std::path::PathBuf;
use workload::Workload;

#[derive(Debug, Args)]
#[command(after_help = BENCH_SHORT, after_long_help = BENCH_EXAMPLES)]
pub(crate) struct BenchArgs {
    /// The snapshot (default: a synthetic web)
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    /// With -s: the list of URLs; without: the number of URLs (default: 1M)
    ///
    /// The list is read into memory first.
    #[arg(long, value_name = "FILE|N", help_heading = COMMON)]
    pub urls: Option<String>,
    /// Number of origins (k, M, G: thousand, million, billion)
    #[arg(
        long,
        value_name = "N",
        default_value = "100k",
        value_parser = parse_count,
        conflicts_with = "snapshot",
        help_heading = SYNTHETIC_WEB
    )]
    pub origins: u64,
    /// Order of the URLs
    #[arg(
        long,
        value_enum,
        default_value_t = OrderArg::Sorted,
        conflicts_with = "snapshot",
        help_heading = SYNTHETIC_WEB
    )]
    pub order: OrderArg,
    /// Seed; equal seeds give equal webs
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "snapshot", help_heading = SYNTHETIC_WEB)]
    pub seed: u64,
    /// Write robots.jsonl.zst and urls.txt into this directory, and time nothing
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["snapshot", "threads", "runs", "json"],
        help_heading = SYNTHETIC_WEB
    )]
    pub write_to: Option<PathBuf>,
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Numbers of threads to run with (default: 1, and that of --jobs)
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = parse_threads, help_heading = MEASUREMENT)]
    pub threads: Vec<usize>,
    /// Number of runs; the medians are printed
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..), help_heading = MEASUREMENT)]
    pub runs: u32,
    /// Print JSON
    #[arg(long, help_heading = MEASUREMENT)]
    pub json: bool,
}

pub(crate) fn run(args: &BenchArgs, quiet: bool) -> anyhow::Result<()> {
    let mut guard = args
        .judge
        .agents
        .overwrite_guard()
        .add_inputs("the snapshot", &args.snapshot);
    if let Some(dir) = &args.write_to {
        return workload::write(workload::web(args)?, dir, guard, quiet);
    }
    if args.snapshot.is_some() {
        guard = guard.add_inputs("--urls", &args.urls);
    }
    guard.add_stdout()?;
    // A snapshot is measured with its list, which no generated list would fit.
    match &args.snapshot {
        Some(path) => {
            let Some(urls) = &args.urls else {
                bail!("-s needs --urls FILE, the list to judge")
            };
            let snapshot = Snapshot::open(path)?;
            args.verify.all(&snapshot, path)?;
            bench(args, &snapshot, &Workload::given(path, urls)?, quiet)
        }
        None => {
            let (snapshot, workload) = Workload::synthetic(workload::web(args)?, quiet)?;
            bench(args, &snapshot, &workload, quiet)
        }
    }
}

/// What a benchmark measures, and whether its verdicts are right.
struct Subject<'r> {
    workload: &'r Workload,
    agents: &'r [Agent],
    runs: u32,
    checked: ReferenceCheck,
}

fn bench(
    args: &BenchArgs,
    snapshot: &Snapshot,
    workload: &Workload,
    quiet: bool,
) -> anyhow::Result<()> {
    let mut agents = args.judge.agents.resolve(quiet)?;
    if agents.is_empty() {
        agents.push("GPTBot".parse()?);
    }
    let mut check = args.judge.agents.spell_check(&agents)?;
    check.add_snapshot(snapshot)?;
    args.judge.agents.check_spelling(check)?;
    // Figures count only if the verdicts are right, so they are compared first.
    let judge = Judge::new(snapshot, &agents, args.judge.options())?;
    let agent_match = args.judge.options().agent_match;
    let checked = reference_check::compare(
        snapshot,
        &judge,
        agent_match,
        &workload.urls,
        workload.web.as_ref(),
    )?;
    let mut threads = args.threads.clone();
    if threads.is_empty() {
        threads = vec![1, rayon::current_num_threads()];
        threads.dedup();
    }
    let subject = Subject {
        workload,
        agents: &agents,
        runs: args.runs,
        checked,
    };
    let measured = threads
        .into_iter()
        .map(|threads| timed(&judge, workload, threads, args.runs, quiet));
    if args.json {
        return print(&table::json(
            &subject,
            &measured.collect::<Result<Vec<_>, _>>()?,
        ));
    }
    // Each table is printed when its runs end: those of a large web take minutes.
    for (number, measured) in measured.enumerate() {
        let measured = measured?;
        let mut text = String::new();
        if number == 0 {
            table::push_subject(&subject, &measured.stats, &mut text);
        }
        table::push_table(&measured, &mut text);
        print(&text)?;
    }
    Ok(())
}

/// The times with one number of threads.
fn timed(
    judge: &Judge,
    workload: &Workload,
    threads: usize,
    runs: u32,
    quiet: bool,
) -> anyhow::Result<Measurement> {
    let pool = thread_pool::start(Some(threads), quiet)?;
    let length = workload.urls.len() as u64;
    let progress = Progress::of_bytes(passes(runs) * length, quiet);
    measure(judge, &workload.urls, &pool, runs, || progress.add(length))
}
