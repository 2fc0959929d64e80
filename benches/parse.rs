//! Parsing: reads the bytes of a robots.txt into groups and rules.

use crate::common;
use criterion::{Criterion, Throughput, criterion_group};
use robosieve::{Profile, RobotsRef};
use std::hint::black_box;

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse");
    for (name, site) in common::sites() {
        let rules = site.robots.lines().count() - 2;
        group.throughput(Throughput::Bytes(site.robots.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                let robots = RobotsRef::parse(black_box(site.robots.as_bytes()), Profile::Google);
                assert_eq!(robots.groups()[0].rules().len(), rules);
            });
        });
    }
}

criterion_group!(benches, parse);
