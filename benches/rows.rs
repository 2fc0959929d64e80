//! Columns of URLs in Arrow's layouts (`Judge::judge_rows`), compared with a session row by row and
//! with lines through `Filter`, all on one thread.
//!
//! Columns come in batches of [`BATCH`] rows, as Spark and DuckDB pass them. All ways must give the
//! verdict of the session for every row; lines are compared by their counts.

use crate::common;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, measurement::WallTime};
use robosieve::job::{FilterStats, Input, Job, Outputs, Written};
use robosieve::judge::Rows;
use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
use robosieve_synthetic::{Order, Web, WebOptions};
use std::io::{Cursor, Read};
use std::sync::Arc;

/// The rows of a batch: the default of Spark.
const BATCH: usize = 10_000;

const LINES: usize = 100_000;

fn lists(c: &mut Criterion) {
    for (name, origins, run) in [
        ("sorted", 20_000, 500),
        ("unsorted", 20_000, 1),
        ("many hosts", 200_000, 1),
    ] {
        let (snapshot, list) = common::web(scaled(origins), scaled(LINES), run);
        compare(c, name, &snapshot, list.into_bytes());
    }
}

/// A size, or a hundredth of it in a test: without `--bench`, criterion runs each benchmark once.
fn scaled(size: usize) -> usize {
    let is_benchmark = std::env::args().any(|argument| argument == "--bench");
    if is_benchmark { size } else { size / 100 }
}

/// The unsorted list with lines that leave the fast path.
fn odd_lines(c: &mut Criterion) {
    let (snapshot, list) = common::web(scaled(20_000), scaled(LINES), 1);
    let mut odd = String::new();
    for (i, line) in list.lines().enumerate() {
        let (host, path) = line
            .strip_prefix("https://")
            .and_then(|rest| rest.split_once('/'))
            .expect("a URL");
        match i % 6 {
            0 => odd.extend(["HTTPS://", &host.to_uppercase(), "/", path]),
            1 => odd.extend(["https://", host, ":443/", path]),
            2 => odd.extend(["https://user@", host, "/", path]),
            3 => odd.extend(["https://", host, "/%7Euser/", path]),
            4 => odd.extend(["https://", host, "/caf\u{e9}/", path]),
            _ => odd.extend([host, "/", path]),
        }
        odd.push('\n');
    }
    compare(c, "odd lines", &snapshot, odd.into_bytes());
}

/// A synthetic web that no cache holds: each row costs several cache misses.
fn many_origins(c: &mut Criterion) {
    let origins = scaled(2_000_000) as u64;
    let web = Web::new(
        WebOptions::default()
            .origins(origins)
            .urls(origins)
            .order(Order::Shuffled),
    );
    let mut compiler = Compiler::default();
    compiler
        .add_reader("synthetic archive", web.archive())
        .expect("an archive");
    // As a file: a snapshot in a vector took 1.2 to 1.4 times as long.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let path = dir.path().join("web.rsieve");
    compiler
        .finish()
        .and_then(|compiled| compiled.write_to(&path))
        .expect("a snapshot");
    let mut list = Vec::new();
    web.urls().read_to_end(&mut list).expect("a list");
    compare(
        c,
        "2,000,000 origins",
        &Snapshot::open(&path).expect("a snapshot"),
        list,
    );
}

/// Times the ways of judging one list.
fn compare(c: &mut Criterion, name: &str, snapshot: &Snapshot, list: Vec<u8>) {
    let judge = Judge::new(
        snapshot.clone(),
        &[common::agent()],
        JudgeOptions::default(),
    )
    .expect("a judge");
    let list: Arc<[u8]> = list.into();
    let lines: Vec<&[u8]> = list.trim_ascii_end().split(|&byte| byte == b'\n').collect();
    let expected = by_session(&judge, &lines);
    let mut group = c.benchmark_group(format!("rows, {name}"));
    group
        .sample_size(10)
        .throughput(Throughput::Elements(lines.len() as u64));
    group.bench_function("session", |b| {
        b.iter(|| assert!(by_session(&judge, &lines) == expected))
    });
    offsets(&mut group, &judge, &lines, &expected);
    views(&mut group, &judge, &lines, &expected);
    group.bench_function("slices", |b| {
        b.iter(|| assert!(by_rows(&judge, lines.chunks(BATCH).map(Rows::Slices)) == expected));
    });
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool");
    group.bench_function("lines", |b| {
        b.iter(|| {
            assert_eq!(
                counts(&pool.install(|| by_filter(&judge, &list))),
                tally(&expected)
            )
        });
    });
}

/// `Utf8`: the bytes of a batch one after the other, and their offsets.
fn offsets(
    group: &mut BenchmarkGroup<'_, WallTime>,
    judge: &Judge,
    lines: &[&[u8]],
    expected: &[u8],
) {
    let batches: Vec<(Vec<u8>, Vec<i32>)> = lines.chunks(BATCH).map(utf8).collect();
    let columns = || {
        batches
            .iter()
            .map(|(data, offsets)| Rows::Offsets32 { data, offsets })
    };
    group.bench_function("offsets", |b| {
        b.iter(|| assert!(by_rows(judge, columns()) == expected))
    });
}

fn utf8(lines: &[&[u8]]) -> (Vec<u8>, Vec<i32>) {
    let ends = lines.iter().scan(0, |end, line| {
        *end += i32::try_from(line.len()).expect("a short batch");
        Some(*end)
    });
    (lines.concat(), std::iter::once(0).chain(ends).collect())
}

/// `Utf8View`: a view per row into the buffer of its batch.
fn views(
    group: &mut BenchmarkGroup<'_, WallTime>,
    judge: &Judge,
    lines: &[&[u8]],
    expected: &[u8],
) {
    let batches: Vec<(Vec<u8>, Vec<[u8; 16]>)> = lines.chunks(BATCH).map(utf8_views).collect();
    group.bench_function("views", |b| {
        b.iter(|| {
            let buffers: Vec<[&[u8]; 1]> =
                batches.iter().map(|(data, _)| [data.as_slice()]).collect();
            let columns = batches
                .iter()
                .zip(&buffers)
                .map(|((_, views), buffers)| Rows::Views { views, buffers });
            assert!(by_rows(judge, columns) == expected);
        });
    });
}

fn utf8_views(lines: &[&[u8]]) -> (Vec<u8>, Vec<[u8; 16]>) {
    let mut data = Vec::new();
    let views = lines.iter().map(|line| {
        let mut view = [0; 16];
        view[..4].copy_from_slice(
            &u32::try_from(line.len())
                .expect("a short row")
                .to_le_bytes(),
        );
        if line.len() <= 12 {
            view[4..4 + line.len()].copy_from_slice(line);
        } else {
            view[4..8].copy_from_slice(&line[..4]);
            view[12..].copy_from_slice(
                &u32::try_from(data.len())
                    .expect("a short batch")
                    .to_le_bytes(),
            );
            data.extend_from_slice(line);
        }
        view
    });
    let views = views.collect();
    (data, views)
}

/// The verdict of each row, as a letter.
fn by_rows<'d>(judge: &Judge, columns: impl Iterator<Item = Rows<'d>>) -> Vec<u8> {
    let mut letters = Vec::new();
    for column in columns {
        let start = letters.len();
        letters.resize(start + column.len(), 0);
        let judged = judge.judge_rows(column, |rows, verdicts| {
            letters[start..][rows].fill(letter(verdicts.get(0)));
            Ok(())
        });
        judged.expect("a sound snapshot");
    }
    letters
}

fn by_session(judge: &Judge, lines: &[&[u8]]) -> Vec<u8> {
    let mut session = judge.session();
    lines
        .iter()
        .map(|line| letter(session.verdict(line, 0).expect("a sound snapshot")))
        .collect()
}

fn letter(verdict: Verdict) -> u8 {
    verdict.letter() as u8
}

fn by_filter(judge: &Judge, list: &Arc<[u8]>) -> FilterStats {
    let input = Input::from_reader("memory", Cursor::new(list.clone()));
    Job::new(judge)
        .filter(vec![input], Outputs::default())
        .and_then(Written::commit)
        .expect("a sound snapshot")
}

fn counts(stats: &FilterStats) -> [u64; 4] {
    [
        stats.allowed,
        stats.disallowed,
        stats.unknown,
        stats.invalid,
    ]
}

fn tally(letters: &[u8]) -> [u64; 4] {
    [b'A', b'D', b'U', b'I']
        .map(|letter| letters.iter().filter(|&&other| other == letter).count() as u64)
}

criterion_group!(benches, lists, odd_lines, many_origins);
