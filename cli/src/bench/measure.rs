//! The runs with one number of threads. Stages and limits alternate, so that a disturbance of the
//! machine affects all of them.

use super::ceilings::{ACCESSES, Ceilings};
use crate::thread_pool;
use robosieve::Judge;
use robosieve::job::{FilterStats, Input, Job, Output, Outputs};
use robosieve::judge::Stage;
use std::hint::black_box;
use std::io::{self, Cursor, Write};
use std::sync::Arc;
use std::time::Instant;

/// The medians of wall time, with all threads together.
pub(super) struct Measurement {
    pub threads: usize,
    pub stats: FilterStats,
    /// The stages in order, each without the earlier ones.
    pub stages: Vec<(&'static str, StageTime)>,
    pub total: StageTime,
    pub newline_scan: StageTime,
    pub memcpy: StageTime,
    /// Nanoseconds per access.
    pub chained_ns: f64,
    pub overlapped_ns: f64,
}

/// The time of a stage for the whole list.
#[derive(Clone, Copy)]
pub(super) struct StageTime {
    pub ns_per_url: f64,
    /// `None` if the time is within the noise.
    pub urls_per_second: Option<f64>,
    pub gb_per_second: Option<f64>,
}

impl StageTime {
    fn new(seconds: f64, stats: &FilterStats) -> Self {
        Self {
            ns_per_url: seconds * 1e9 / stats.lines as f64,
            urls_per_second: rate(stats.lines, seconds),
            gb_per_second: rate(stats.bytes, seconds).map(|rate| rate / 1e9),
        }
    }
}

/// The rate of a stage, if its time is not within the noise.
fn rate(count: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then_some(count as f64 / seconds)
}

/// The number of timed measures, the columns of `times`.
const TIMED: usize = 8;

pub(super) fn measure(
    judge: &Judge,
    urls: &Arc<[u8]>,
    threads: usize,
    runs: u32,
    quiet: bool,
) -> anyhow::Result<Measurement> {
    let pool = thread_pool::start(Some(threads), quiet)?;
    let filter = |until, outputs: Outputs<Output<'_>>| {
        let input = Input::from_reader("memory", Cursor::new(urls.clone()));
        let job = Job::new(judge).until(until);
        pool.install(|| job.filter(vec![input], outputs)?.commit())
    };
    let mut ceilings = Ceilings::new(urls);
    let mut sink = CopySink::default();
    let mut times: [Vec<f64>; TIMED] = Default::default();
    let mut stats = None;
    // The first run warms the caches and is not counted.
    for run in 0..=runs {
        let until = |stage| {
            let (found, time) = timed(|| filter(stage, Outputs::default()));
            found.map(|_| time)
        };
        let split = until(Stage::Split)?;
        let locate = until(Stage::Locate)?;
        let matched = until(Stage::Match)?;
        let kept = Outputs {
            kept: Some(Output::from_writer(&mut sink)),
            ..Outputs::default()
        };
        let (found, total) = timed(|| filter(Stage::Match, kept));
        let found = found?;
        let (_, newlines) = timed(|| black_box(ceilings.newlines(&pool)));
        let (copied, copy) = timed(|| ceilings.copy(&pool));
        let ((), chained) = timed(|| ceilings.chained(&pool));
        let ((), overlapped) = timed(|| ceilings.overlapped(&pool));
        let copy = copy * urls.len() as f64 / copied as f64;
        let row = [
            split, locate, matched, total, newlines, copy, chained, overlapped,
        ];
        let same = *stats.get_or_insert_with(|| found.clone()) == found;
        anyhow::ensure!(
            same,
            "two runs gave different counts: this is a bug, please report it"
        );
        if run > 0 {
            times
                .iter_mut()
                .zip(row)
                .for_each(|(times, time)| times.push(time));
        }
    }
    Ok(Measurement::new(
        pool.current_num_threads(),
        stats.unwrap_or_default(),
        times.map(median),
    ))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed().as_secs_f64())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

impl Measurement {
    fn new(threads: usize, stats: FilterStats, times: [f64; TIMED]) -> Self {
        let [
            split,
            locate,
            matched,
            total,
            newlines,
            copy,
            chained,
            overlapped,
        ] = times;
        // Each run includes the stages before it, so a stage is the difference of two runs.
        let accesses = (ACCESSES * threads as u64) as f64;
        Self {
            threads,
            stages: vec![
                ("split", StageTime::new(split, &stats)),
                ("locate", StageTime::new(locate - split, &stats)),
                ("match", StageTime::new(matched - locate, &stats)),
                ("write", StageTime::new(total - matched, &stats)),
            ],
            total: StageTime::new(total, &stats),
            newline_scan: StageTime::new(newlines, &stats),
            memcpy: StageTime::new(copy, &stats),
            chained_ns: chained * 1e9 / accesses,
            overlapped_ns: overlapped * 1e9 / accesses,
            stats,
        }
    }
}

/// A sink that copies its input into a reused buffer, as writing to a file does.
struct CopySink {
    buffer: Vec<u8>,
}

impl Default for CopySink {
    fn default() -> Self {
        Self {
            buffer: vec![0; 1 << 20],
        }
    }
}

impl Write for CopySink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.buffer.len());
        self.buffer[..len].copy_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        black_box(&self.buffer);
        Ok(())
    }
}
