//! Thread pools for `--jobs` and `bench --threads`.

use crate::stderr::print_line;
use anyhow::anyhow;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::thread::available_parallelism;

/// Starts the thread pool of a run.
pub(crate) fn start(jobs: Option<usize>, quiet: bool) -> anyhow::Result<ThreadPool> {
    let threads = jobs.unwrap_or_else(default_threads);
    let capped = threads.min(robosieve::threads::max_threads());
    if capped < threads && !quiet {
        print_line(format_args!(
            "robosieve: note: {threads} threads are too many; using {capped}, the most that are \
             allowed here (4 per core, or 512 if that is more)"
        ));
    }
    ThreadPoolBuilder::new().num_threads(capped).build().map_err(|err| {
        let plural = if capped == 1 { "" } else { "s" };
        anyhow!(
            "cannot start {capped} thread{plural}: {err}; give fewer with -j N, or raise the limit \
             on processes (ulimit -u) or on memory (ulimit -v)"
        )
    })
}

/// One thread per core, or the number in rayon's environment variable.
fn default_threads() -> usize {
    let variable = std::env::var("RAYON_NUM_THREADS")
        .ok()
        .and_then(|text| text.parse().ok());
    variable
        .filter(|threads| *threads > 0)
        .unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get))
}
