//! The whole pipeline: filters an in-memory list of URLs without output, on one thread and on all
//! threads.

use crate::common;
use criterion::{Criterion, Throughput, criterion_group};
use robosieve::job::{FilterStats, Input, Job, Outputs, Written};
use robosieve::{Judge, JudgeOptions};
use std::io::Cursor;
use std::sync::Arc;

const LINES: usize = 100_000;

fn filter(c: &mut Criterion) {
    let mut group = c.benchmark_group("filter");
    for (name, run) in [("sorted", 500), ("unsorted", 1)] {
        let (snapshot, list) = common::web(20_000, LINES, run);
        let judge = Judge::new(
            snapshot.clone(),
            &[common::agent()],
            JudgeOptions::default(),
        )
        .expect("a judge");
        let list: Arc<[u8]> = list.into_bytes().into();
        let expected = run_once(&judge, &list);
        assert_eq!(
            expected.allowed + expected.disallowed + expected.unknown,
            LINES as u64
        );
        group.throughput(Throughput::Elements(LINES as u64));
        for threads in [
            1,
            std::thread::available_parallelism().map_or(1, usize::from),
        ] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            group.bench_function(format!("{name}, {threads} threads"), |b| {
                b.iter(|| assert_eq!(pool.install(|| run_once(&judge, &list)), expected));
            });
        }
    }
}

fn run_once(judge: &Judge, list: &Arc<[u8]>) -> FilterStats {
    let input = Input::from_reader("memory", Cursor::new(list.clone()));
    Job::new(judge)
        .filter(vec![input], Outputs::default())
        .and_then(Written::commit)
        .expect("a sound snapshot")
}

criterion_group!(benches, filter);
