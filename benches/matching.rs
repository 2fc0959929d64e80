//! Matching on one site: whole URLs, paths alone, growing numbers of rules, and the reference
//! judge, which parses the robots.txt for each URL.

use crate::common::{self, ORIGIN, Site, growth};
use criterion::{Criterion, Throughput, criterion_group};
use robosieve::job::{Input, Job, Outputs, Written};
use robosieve::robots::reference;
use robosieve::{AgentMatch, Judge, JudgeOptions, Origin, Profile, Verdict};
use std::cell::RefCell;
use std::fmt::Display;
use std::hint::black_box;
use std::io::Cursor;

/// Judges whole URLs.
fn judge(c: &mut Criterion) {
    let mut group = c.benchmark_group("judge");
    for (name, site) in common::sites() {
        let snapshot = site.snapshot();
        let judge = Judge::new(
            snapshot.clone(),
            &[common::agent()],
            JudgeOptions::default(),
        )
        .expect("a judge");
        let (mut session, expected) = (judge.session(), site.allowed());
        group.throughput(Throughput::Elements(site.urls.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                let allowed = site.urls.iter().filter(|url| {
                    session
                        .verdict(black_box(url.as_bytes()), 0)
                        .expect("a sound snapshot")
                        == Verdict::Allowed
                });
                assert_eq!(allowed.count(), expected);
            });
        });
    }
}

/// Judges the same URLs with one [`Judge::judge`] call per URL, and as one list in a batch. The
/// difference is the overhead of a call: taking scratch memory from the pool and copying the
/// verdict.
fn single_or_batch(c: &mut Criterion) {
    let mut group = c.benchmark_group("one URL at a time or a list");
    let (_, site) = common::sites().swap_remove(0);
    let snapshot = site.snapshot();
    let judge =
        Judge::new(&snapshot, &[common::agent()], JudgeOptions::default()).expect("a judge");
    let urls: Vec<&str> = site.urls.iter().map(String::as_str).collect();
    let (urls, expected) = (urls.repeat(REPEATS), site.allowed() * REPEATS);
    let list: Vec<u8> = urls
        .iter()
        .flat_map(|url| [url.as_bytes(), b"\n"].concat())
        .collect();
    group.throughput(Throughput::Elements(urls.len() as u64));
    group.bench_function("one at a time", |b| {
        b.iter(|| {
            let allowed = urls.iter().filter(|url| {
                let verdicts = judge
                    .judge(black_box(url.as_bytes()))
                    .expect("a sound snapshot");
                verdicts.get(0) == Verdict::Allowed
            });
            assert_eq!(allowed.count(), expected);
        });
    });
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread");
    group.bench_function("a list on one thread", |b| {
        b.iter(|| {
            let input = Input::from_reader("list", Cursor::new(black_box(list.clone())));
            let job = Job::new(&judge);
            let written = pool.install(|| job.filter(vec![input], Outputs::default()));
            let stats = written.and_then(Written::commit);
            assert_eq!(stats.expect("a sound snapshot").allowed, expected as u64);
        });
    });
}

/// The number of repetitions of a site's URLs in a list. It amortises the start of threads.
const REPEATS: usize = 200;

/// Matches paths. The origin lookup and the split of the URL are not timed.
fn match_step(c: &mut Criterion) {
    for (name, site) in common::sites() {
        time_match(c, "match", name, &site);
    }
}

/// Matches paths against growing numbers of rules.
fn match_growth(c: &mut Criterion) {
    for rules in [10, 100, 1_000, 10_000] {
        time_match(c, "match by literal rules", rules, &growth::literal(rules));
    }
    for rules in [1, 10, 100, 1_000] {
        time_match(c, "match by wildcard rules", rules, &growth::wild(rules));
    }
}

/// Matches paths of a small site that need normalisation.
fn match_kinds(c: &mut Criterion) {
    let (_, site) = common::sites().swap_remove(0);
    // A name, and the text before and after each path.
    let kinds = [
        ("plain", "", ""),
        ("with a fragment", "", "#top"),
        ("without a slash", "?", ""),
        ("escapes in lower case", "", "%c3%a4"),
        ("raw UTF-8", "", "ä"),
        ("2,000 bytes more", "", &"/longer".repeat(286)),
    ];
    for (name, before, after) in kinds {
        let urls = site
            .paths()
            .into_iter()
            .map(|path| format!("{ORIGIN}{before}{path}{after}"));
        time_match(
            c,
            "match by kind of path",
            name,
            &Site::of(site.robots.clone(), urls.collect()),
        );
    }
}

fn time_match(c: &mut Criterion, group: &str, id: impl Display, site: &Site) {
    let snapshot = site.snapshot();
    let judge = Judge::new(
        snapshot.clone(),
        &[common::agent()],
        JudgeOptions::default(),
    )
    .expect("a judge");
    let found = judge
        .site(&Origin::of(ORIGIN.as_bytes()).expect("a URL"))
        .expect("a sound snapshot");
    let paths = site.paths();
    let session = RefCell::new(judge.session());
    let allows = |path: &str| {
        let verdict = session
            .borrow_mut()
            .path_verdict(&found, black_box(path.as_bytes()), 0);
        verdict.expect("a sound snapshot") == Verdict::Allowed
    };
    for (path, expected) in paths.iter().zip(site.expected()) {
        assert_eq!(allows(path), *expected, "{path}");
    }
    let (mut group, allowed) = (c.benchmark_group(group), site.allowed());
    group.throughput(Throughput::Elements(paths.len() as u64));
    group.bench_function(id.to_string(), |b| {
        b.iter(|| assert_eq!(paths.iter().filter(|path| allows(path)).count(), allowed));
    });
}

fn reference_judge(c: &mut Criterion) {
    let mut group = c.benchmark_group("reference");
    let (name, site) = common::sites().swap_remove(0);
    group.throughput(Throughput::Elements(site.urls.len() as u64));
    group.bench_function(name, |b| {
        b.iter(|| {
            let allowed = site.urls.iter().filter(|url| {
                let (robots, url) = (black_box(site.robots.as_bytes()), black_box(url.as_bytes()));
                reference::judge(
                    robots,
                    &common::agent(),
                    AgentMatch::Google,
                    Profile::Google,
                    url,
                )
                .allowed
            });
            assert_eq!(allowed.count(), site.allowed());
        });
    });
}

criterion_group!(
    benches,
    judge,
    single_or_batch,
    match_step,
    match_growth,
    match_kinds,
    reference_judge
);
