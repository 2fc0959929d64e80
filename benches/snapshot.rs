//! Snapshots: compiling, opening, and looking up origins.

use crate::common;
use criterion::{Criterion, Throughput, criterion_group};
use robosieve::{Compiler, Origin, Snapshot};
use std::hint::black_box;

const ORIGINS: usize = 10_000;

fn compile(c: &mut Criterion) {
    let files = common::sites();
    let mut group = c.benchmark_group("snapshot");
    group.throughput(Throughput::Elements(100));
    group.bench_function("compile 100 origins", |b| {
        b.iter(|| {
            let mut compiler = Compiler::default();
            for i in 0..100 {
                let robots = files[i % 2].1.robots.as_bytes();
                compiler
                    .add_robots(&format!("https://site-{i}.example"), robots)
                    .expect("an origin");
            }
            let compiled = compiler.finish().expect("a snapshot");
            assert_eq!(
                (
                    compiled.report().counts.origins,
                    compiled.report().counts.files
                ),
                (100, 2)
            );
        });
    });
}

fn open_and_find(c: &mut Criterion) {
    let files = common::sites();
    let name = |i: usize| format!("https://site-{i}.example");
    let bytes = bytes::Bytes::from(common::compile(
        (0..ORIGINS).map(|i| (name(i), files[i % 2].1.robots.as_str())),
    ));
    let snapshot = Snapshot::new(bytes.clone()).expect("a snapshot");
    let keys: Vec<Origin> = (0..ORIGINS)
        .filter_map(|i| Origin::of(name(i * 7919 % ORIGINS).as_bytes()))
        .collect();
    let mut group = c.benchmark_group("snapshot");
    group.bench_function("open 10,000 origins", |b| {
        b.iter(|| {
            assert_eq!(
                Snapshot::new(black_box(bytes.clone()))
                    .map(|s| s.origin_count())
                    .ok(),
                Some(10_000)
            )
        });
    });
    group.throughput(Throughput::Elements(ORIGINS as u64));
    group.bench_function("find an origin", |b| {
        b.iter(|| {
            let found = keys
                .iter()
                .filter(|key| matches!(snapshot.origin(black_box(key)), Ok(Some(_))));
            assert_eq!(found.count(), ORIGINS);
        });
    });
}

criterion_group!(benches, compile, open_and_find);
