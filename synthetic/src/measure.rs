//! The runs with one number of threads. Stages and limits alternate, so that a disturbance of the
//! machine affects all of them.

use crate::ceilings::{ACCESSES, Ceilings};
use cpu_time::ProcessTime;
use rayon::ThreadPool;
use robosieve::Judge;
use robosieve::job::{FilterStats, Input, Job, Output, Outputs};
use robosieve::judge::Stage;
use std::array;
use std::hint::black_box;
use std::io::{self, Cursor, Write};
use std::sync::Arc;
use std::time::Instant;

/// The medians of the runs, with all threads together.
pub struct Measurement {
    /// The number of threads.
    pub threads: usize,
    /// The counts of a run.
    pub stats: FilterStats,
    /// The stages in order, each without the earlier ones.
    pub stages: [(&'static str, StageTime); 5],
    /// All stages together.
    pub total: StageTime,
    /// The stages up to the probe of the index: what any program over such an index does.
    pub floor: StageTime,
    /// Counting the newlines of the list.
    pub newline_scan: StageTime,
    /// Copying the list.
    pub memcpy: StageTime,
    /// Nanoseconds per access of memory whose address depends on the access before it.
    pub chained_ns: f64,
    /// Nanoseconds per access of memory at an independent address.
    pub overlapped_ns: f64,
}

/// The time of a stage for the whole list.
#[derive(Clone, Copy)]
pub struct StageTime {
    /// The wall time.
    pub ns_per_url: f64,
    /// The processor time of all threads. On a busy machine it is closer to the truth than wall
    /// time.
    pub cpu_ns_per_url: f64,
    /// `None` if the time is within the noise.
    pub urls_per_second: Option<f64>,
    /// Gigabytes of the list per second; `None` if the time is within the noise.
    pub gb_per_second: Option<f64>,
}

impl StageTime {
    fn new(time: Timing, stats: &FilterStats) -> Self {
        let per_url = 1e9 / stats.lines as f64;
        Self {
            ns_per_url: time.wall * per_url,
            cpu_ns_per_url: time.cpu * per_url,
            urls_per_second: rate(stats.lines, time.wall),
            gb_per_second: rate(stats.bytes, time.wall).map(|rate| rate / 1e9),
        }
    }
}

/// The rate of a stage, if its time is not within the noise.
fn rate(count: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then_some(count as f64 / seconds)
}

/// Seconds.
#[derive(Clone, Copy, Debug)]
struct Timing {
    wall: f64,
    /// The processor time of all threads of this process.
    cpu: f64,
}

impl Timing {
    /// Times a piece of work.
    fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let cpu = ProcessTime::now();
        let wall = Instant::now();
        let done = work();
        let timing = Self {
            wall: wall.elapsed().as_secs_f64(),
            cpu: cpu.elapsed().as_secs_f64(),
        };
        (done, timing)
    }

    /// The medians of wall time and of processor time.
    fn median(times: &[Self]) -> Self {
        Self {
            wall: median(times.iter().map(|time| time.wall).collect()),
            cpu: median(times.iter().map(|time| time.cpu).collect()),
        }
    }

    fn scaled(self, factor: f64) -> Self {
        Self {
            wall: self.wall * factor,
            cpu: self.cpu * factor,
        }
    }

    /// The time without that of an earlier stage.
    fn without(self, earlier: Self) -> Self {
        Self {
            wall: self.wall - earlier.wall,
            cpu: self.cpu - earlier.cpu,
        }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The number of timed measures, the columns of `times`.
const TIMED: usize = 9;

/// How many of them filter the list.
const FILTERED: u64 = 5;

/// The number of times that [`measure`] filters the list: in each run, and in one that warms the
/// caches.
pub fn passes(runs: u32) -> u64 {
    FILTERED * (u64::from(runs) + 1)
}

/// Times all stages and limits with the threads of a pool. Calls `progress` before each pass over
/// the list.
///
/// # Errors
/// If judging fails, or two runs differ in their counts.
pub fn measure(
    judge: &Judge,
    urls: &Arc<[u8]>,
    pool: &ThreadPool,
    runs: u32,
    progress: impl Fn(),
) -> anyhow::Result<Measurement> {
    let filter = |until, outputs: Outputs<Output<'_>>| {
        progress();
        let input = Input::from_reader("memory", Cursor::new(urls.clone()));
        let job = Job::new(judge).until(until);
        pool.install(|| job.filter(vec![input], outputs)?.commit())
    };
    let mut ceilings = Ceilings::new(urls);
    let mut sink = CopySink::default();
    let mut times: [Vec<Timing>; TIMED] = array::from_fn(|_| Vec::new());
    let mut stats = None;
    // The first run warms the caches and is not counted.
    for run in 0..=runs {
        let until = |stage| {
            let (found, time) = Timing::of(|| filter(stage, Outputs::default()));
            found.map(|_| time)
        };
        let split = until(Stage::Split)?;
        let probe = until(Stage::Probe)?;
        let locate = until(Stage::Locate)?;
        let matched = until(Stage::Match)?;
        let kept = Outputs {
            kept: Some(Output::from_writer(&mut sink)),
            ..Outputs::default()
        };
        let (found, total) = Timing::of(|| filter(Stage::Match, kept));
        let found = found?;
        let (_, newlines) = Timing::of(|| black_box(ceilings.newlines(pool)));
        let (copied, copy) = Timing::of(|| ceilings.copy(pool));
        let ((), chained) = Timing::of(|| ceilings.chained(pool));
        let ((), overlapped) = Timing::of(|| ceilings.overlapped(pool));
        let copy = copy.scaled(urls.len() as f64 / copied as f64);
        let row = [
            split, probe, locate, matched, total, newlines, copy, chained, overlapped,
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
        times.map(|times| Timing::median(&times)),
    ))
}

impl Measurement {
    fn new(threads: usize, stats: FilterStats, times: [Timing; TIMED]) -> Self {
        let [
            split,
            probe,
            locate,
            matched,
            total,
            newlines,
            copy,
            chained,
            overlapped,
        ] = times;
        // Each run includes the stages before it, so a stage is the difference of two runs.
        let stage = |time: Timing| StageTime::new(time, &stats);
        let accesses = (ACCESSES * threads as u64) as f64;
        Self {
            threads,
            stages: [
                ("split", stage(split)),
                ("probe", stage(probe.without(split))),
                ("locate", stage(locate.without(probe))),
                ("match", stage(matched.without(locate))),
                ("write", stage(total.without(matched))),
            ],
            total: stage(total),
            floor: stage(probe),
            newline_scan: stage(newlines),
            memcpy: stage(copy),
            chained_ns: chained.wall * 1e9 / accesses,
            overlapped_ns: overlapped.wall * 1e9 / accesses,
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
