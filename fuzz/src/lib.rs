//! Fuzz targets: properties that hold for all bytes.
//!
//! A target is a function of bytes that panics if its property does not hold. `tests/replay.rs`
//! runs each on its corpus and on mutations of it, `scripts/x fuzz` under libFuzzer. [`input`]
//! explains how bytes become structured inputs.

mod archives;
mod audit_line;
mod filter_stream;
pub mod input;
mod judge_url;
mod open_snapshot;
mod parquet;
mod parse_robots;
mod records;
mod seeds;
mod split_url;

// What the tests of the project and the targets share.
#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../tests/agreement.rs"]
mod agreement;
#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../tests/forging.rs"]
mod forging;
#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../tests/generate.rs"]
mod generate;

use std::fs;
use std::path::Path;

/// A property of all bytes.
pub struct Target {
    /// The name, also of its archive in `corpus`.
    pub name: &'static str,
    /// Panics if the property does not hold for these bytes.
    pub run: fn(&[u8]),
    /// The inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// The longest input that libFuzzer tries.
    pub max_len: usize,
    /// The sources that the target is for, below `src`: prefixes of paths.
    pub sources: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "parse_robots",
        run: parse_robots::run,
        seeds: seeds::robots,
        max_len: 4096,
        sources: &["robots/", "lint/"],
    },
    Target {
        name: "judge_url",
        run: judge_url::run,
        seeds: seeds::questions,
        max_len: 1024,
        sources: &["matcher/", "judge/", "robots/", "compile/rule_sets.rs"],
    },
    Target {
        name: "split_url",
        run: split_url::run,
        seeds: seeds::urls,
        max_len: 256,
        sources: &["url/"],
    },
    Target {
        name: "open_snapshot",
        run: open_snapshot::run,
        seeds: seeds::forgeries,
        max_len: 512,
        sources: &["snapshot/", "file_pass/", "lint/survey.rs"],
    },
    Target {
        name: "warc",
        run: archives::warc,
        seeds: seeds::warcs,
        max_len: 4096,
        sources: &["archive/warc", "archive/http/"],
    },
    Target {
        name: "arc",
        run: archives::arc,
        seeds: seeds::arcs,
        max_len: 2048,
        sources: &["arc.rs"],
    },
    Target {
        name: "gzip_members",
        run: archives::gzip_members,
        seeds: seeds::members,
        max_len: 1024,
        sources: &["decode/"],
    },
    Target {
        name: "jsonl",
        run: archives::jsonl,
        seeds: seeds::json_lines,
        max_len: 4096,
        sources: &["archive/jsonl.rs", "archive/capture.rs"],
    },
    Target {
        name: "captures",
        run: archives::captures,
        seeds: seeds::forgeries,
        max_len: 512,
        sources: &["archive/captures_file.rs", "compile/captures/"],
    },
    Target {
        name: "records",
        run: records::run,
        seeds: seeds::records,
        max_len: 2048,
        sources: &["records/", "lists/"],
    },
    Target {
        name: "audit_line",
        run: audit_line::run,
        seeds: seeds::logs,
        max_len: 2048,
        sources: &["audit/"],
    },
    Target {
        name: "parquet",
        run: parquet::run,
        seeds: seeds::parquet_files,
        max_len: 8192,
        sources: &["parquet/"],
    },
    Target {
        name: "filter_stream",
        run: filter_stream::run,
        seeds: seeds::lists,
        max_len: 2048,
        sources: &[
            "pipeline/",
            "container/",
            "judge/batch.rs",
            "judge/line_scanner.rs",
        ],
    },
];

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }
}

/// Prints the name of each target, its longest input, and its sources.
pub fn print_targets() {
    for target in TARGETS {
        println!(
            "{} {} {}",
            target.name,
            target.max_len,
            target.sources.join(" ")
        );
    }
}

/// Writes the seeds of a target to a directory.
pub fn write_seeds(target: &Target, dir: &Path) {
    for (number, seed) in (target.seeds)().iter().enumerate() {
        fs::write(dir.join(format!("seed-{number:03}")), seed).expect("a writable directory");
    }
}

/// Replaces libFuzzer's panic hook, which ends the process at every panic. The crate `parquet`
/// panics on some damaged files, and robosieve makes that an error; all other panics are findings.
#[cfg(fuzzing)]
pub fn tolerate_parquet_panics() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_of_parquet = panic.location().is_some_and(|at| {
            let file = at.file();
            file.contains("/parquet-") || file.contains("/bytes-")
        });
        if !is_of_parquet {
            abort(panic);
        }
    }));
}
