//! `robosieve bench`: times the real pipeline on given URLs, from memory to nowhere.

use super::args::BenchArgs;
use super::output::print;
use anyhow::Context;
use robosieve::{Filter, FilterStats, Input, Judge, Outputs, Snapshot};
use serde_json::json;
use std::fmt::Write;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(args: &BenchArgs) -> anyhow::Result<()> {
    let snapshot = Snapshot::open(&args.snapshot)?;
    let agents = args.judge.agents(false)?;
    let judge = Judge::new(&snapshot, &agents, args.judge.options())?;
    let urls = load(args).with_context(|| args.urls.display().to_string())?;
    anyhow::ensure!(!urls.is_empty(), "{}: holds no lines to judge", args.urls.display());
    let mut threads = args.threads.clone();
    if threads.is_empty() {
        threads = vec![1, rayon::current_num_threads()];
        threads.dedup();
    }
    let mut rows = Vec::new();
    for threads in threads {
        rows.push(measure(&judge, &urls, threads, args.runs)?);
    }
    print(&report(&rows, args.json))
}

/// The list, decoded, in memory.
fn load(args: &BenchArgs) -> anyhow::Result<Arc<[u8]>> {
    let mut text = Vec::new();
    let file = std::fs::File::open(&args.urls)?;
    robosieve::decode(file)?.read_to_end(&mut text)?;
    Ok(text.into())
}

/// The runs with one number of threads.
struct Row {
    threads: usize,
    best: f64,
    median: f64,
    stats: FilterStats,
}

fn measure(
    judge: &Judge<'_, impl AsRef<[u8]> + Sync>,
    urls: &Arc<[u8]>,
    threads: usize,
    runs: u32,
) -> anyhow::Result<Row> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut times = Vec::new();
    let mut stats = FilterStats::default();
    // The first run, which also warms the caches, is not counted.
    for _ in 0..=runs {
        let start = Instant::now();
        let input = Input::from_reader("memory", Cursor::new(urls.clone()));
        let found = pool.install(|| Filter::new(judge).run(vec![input], Outputs::default()))?;
        anyhow::ensure!(
            times.is_empty() || found == stats,
            "two runs gave different counts: this is a bug, please report it"
        );
        times.push(start.elapsed().as_secs_f64());
        stats = found;
    }
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok(Row { threads, best: times[0], median: times[times.len() / 2], stats })
}

fn report(rows: &[Row], as_json: bool) -> String {
    if as_json {
        let rows: Vec<_> = rows.iter().map(row_json).collect();
        return format!("{}\n", json!({ "runs": rows }));
    }
    let mut out = "threads     ns/URL        URL/s     GB/s   ns/URL (best)   allowed\n".to_owned();
    for row in rows {
        let lines = row.stats.lines as f64;
        let _ = writeln!(
            out,
            "{:>7} {:>10.1} {:>12.0} {:>8.3} {:>15.1} {:>9}",
            row.threads,
            row.median * 1e9 / lines,
            lines / row.median,
            row.stats.bytes as f64 / row.median / 1e9,
            row.best * 1e9 / lines,
            row.stats.allowed
        );
    }
    out
}

fn row_json(row: &Row) -> serde_json::Value {
    let lines = row.stats.lines as f64;
    json!({
        "threads": row.threads, "ns_per_url": row.median * 1e9 / lines, "ns_per_url_best": row.best * 1e9 / lines,
        "urls_per_second": lines / row.median, "gb_per_second": row.stats.bytes as f64 / row.median / 1e9, "counts": row.stats,
    })
}
