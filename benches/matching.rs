//! URLs of one site against its rules: by the snapshot, and by the slow judge that rereads the file each time.

mod common;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use robosieve::{AgentMatch, Judge, JudgeOptions, Profile, Verdict, reference};
use std::hint::black_box;

fn judge(c: &mut Criterion) {
    let mut group = c.benchmark_group("judge");
    for (name, site) in common::sites() {
        let snapshot = site.snapshot();
        let judge = Judge::new(&snapshot, &[common::agent()], JudgeOptions::default()).expect("a judge");
        let mut scratch = judge.scratch();
        group.throughput(Throughput::Elements(site.urls.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                let allowed = site.urls.iter().filter(|url| {
                    let verdicts = judge.judge(black_box(url.as_bytes()), &mut scratch).expect("a sound snapshot");
                    verdicts.get(0) == Verdict::Allowed
                });
                assert_eq!(allowed.count(), site.allowed);
            });
        });
    }
}

fn slow_judge(c: &mut Criterion) {
    let mut group = c.benchmark_group("reference");
    let (_, site) = common::sites().swap_remove(0);
    group.throughput(Throughput::Elements(site.urls.len() as u64));
    group.bench_function("5 rules", |b| {
        b.iter(|| {
            let allowed = site.urls.iter().filter(|url| {
                let (robots, url) = (black_box(site.robots.as_bytes()), black_box(url.as_bytes()));
                reference::judge(robots, &common::agent(), AgentMatch::Google, Profile::Google, url).allowed
            });
            assert_eq!(allowed.count(), site.allowed);
        });
    });
}

criterion_group!(benches, judge, slow_judge);
criterion_main!(benches);
