//! Crawls compiled over earlier snapshots (`compile --previous`): the cases of
//! `tests/cases/recrawl`, compared with one compilation of all captures.

use crate::command::{robosieve, words};
use crate::determinism::{self, robots};
use crate::forging::{METADATA, assemble, overlapping, sections};
use crate::generate::Random;
use crate::spec::{Expectation, Failures, annotate, cases_dir, has_429, load};
use robosieve::judge::StatusPolicy;
use robosieve::{Compiler, Judge, JudgeOptions, NamedValue, Origin, Profile, Snapshot};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    clause: String,
    crawls: Vec<Vec<toml::Value>>,
    alone: Option<String>,
    agent: String,
    expect: Vec<Expectation>,
    #[serde(default)]
    facts: Vec<Facts>,
}

/// The stored metadata of an origin.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Facts {
    origin: String,
    outcome: String,
    status: u16,
    fetched: Option<String>,
    since: Option<String>,
    good: bool,
    hops: u8,
    source: Option<String>,
}

impl Facts {
    fn of(snapshot: &Snapshot, origin: &str) -> Self {
        let entry = snapshot
            .origin(&Origin::of(origin.as_bytes()).unwrap())
            .unwrap()
            .unwrap();
        let outcome = entry.outcome();
        let time = |time: Option<i64>| {
            time.map(|time| jiff::Timestamp::from_second(time).unwrap().to_string())
        };
        Self {
            origin: entry.origin(),
            outcome: outcome.class.name().to_owned(),
            status: outcome.status,
            fetched: time(outcome.fetched),
            since: time(outcome.first_failure),
            good: entry.has_last_good(),
            hops: outcome.hops,
            source: entry.source(),
        }
    }
}

/// Captures as a JSONL archive.
fn archive<T: serde::Serialize>(captures: &[T]) -> String {
    captures
        .iter()
        .map(|capture| serde_json::to_string(capture).unwrap() + "\n")
        .collect()
}

/// Compiles an archive over a snapshot.
pub(crate) fn compile(profile: Profile, previous: Option<Vec<u8>>, archive: &str) -> Vec<u8> {
    let mut compiler = Compiler::new(profile);
    compiler.add_reader("archive", archive.as_bytes()).unwrap();
    if let Some(previous) = previous {
        compiler = compiler.previous(Snapshot::new(previous).unwrap()).unwrap();
    }
    let bytes = compiler.finish().unwrap().to_vec().unwrap();
    Snapshot::new(bytes.clone()).unwrap().verify().unwrap();
    bytes
}

/// Compiles each archive over the snapshot of the preceding ones.
pub(crate) fn compile_all(profile: Profile, archives: impl IntoIterator<Item = String>) -> Vec<u8> {
    archives
        .into_iter()
        .fold(None, |previous, archive| {
            Some(compile(profile, previous, &archive))
        })
        .unwrap()
}

fn reversed(captures: &[toml::Value]) -> Vec<&toml::Value> {
    captures.iter().rev().collect()
}

#[test]
fn recrawl_cases_pass_under_every_policy() {
    let cases: Vec<Case> = load(&cases_dir().join("recrawl"));
    let mut failures = Failures::default();
    for case in cases {
        let what = |part: &str| format!("{} [{}] {part}", case.name, case.clause);
        for profile in [Profile::Google, Profile::Rfc9309] {
            let bytes = compile_all(profile, case.crawls.iter().map(|crawl| archive(crawl)));
            let other = compile_all(
                profile,
                case.crawls.iter().map(|crawl| archive(&reversed(crawl))),
            );
            failures.check(|| what("inputs reversed"), bytes == other, true);
            let all = compile(
                profile,
                None,
                &case
                    .crawls
                    .iter()
                    .map(|crawl| archive(crawl))
                    .collect::<String>(),
            );
            failures.check(
                || what("as one compilation"),
                bytes == all,
                case.alone.is_none(),
            );
            check(&case, &Snapshot::new(bytes.clone()).unwrap(), &mut failures);
        }
    }
    failures.finish("recrawls");
}

fn check(case: &Case, snapshot: &Snapshot, failures: &mut Failures) {
    let what = |part: &str| format!("{} [{}] {part}", case.name, case.clause);
    let has_429 = case.crawls.iter().any(|crawl| has_429(crawl));
    for (policy, name) in StatusPolicy::NAMES {
        let options = JudgeOptions::default().status_policy(*policy);
        let judge = Judge::new(snapshot, &[case.agent.parse().unwrap()], options).unwrap();
        for expected in &case.expect {
            let Some(letter) = expected.letter(*policy, has_429) else {
                assert!(
                    !matches!(*name, "google" | "rfc9309" | "strict"),
                    "{}",
                    what(name)
                );
                continue;
            };
            let found = annotate(&judge, &expected.url).chars().next();
            failures.check(
                || what(&format!("{name} {}", expected.url)),
                found,
                Some(letter),
            );
            let why = judge.explain(expected.url.as_bytes(), 0).unwrap();
            failures.check(|| what("explained"), why.verdict.letter(), letter);
        }
    }
    for facts in &case.facts {
        failures.check(|| what("facts"), &Facts::of(snapshot, &facts.origin), facts);
    }
}

/// An archive that fills every section: many captures of few origins, unions, and equivalent
/// patterns.
fn rich_archive() -> String {
    let body = |host: &str, body: &str| {
        json!({"url": format!("https://{host}.example/robots.txt"), "body": body}).to_string()
            + "\n"
    };
    let stars = "user-agent: *\nallow: /a*\ndisallow: /a\ndisallow: /a**$\ndisallow: /b*c***\n";
    determinism::archive().concat() + &body("union", &overlapping()) + &body("stars", stars)
}

/// What decides each origin, as the summary of `compile` counts it.
#[test]
fn summaries_count_what_decides_each_origin() {
    let redirect = |day: u32| {
        json!({"url": "https://moved.example/robots.txt", "status": 301, "fetched_at": day,
               "headers": {"Location": "https://cdn.example/r.txt"}})
    };
    let rules =
        |url: &str, day: u32| json!({"url": url, "status": 200, "fetched_at": day, "body": ""});
    let old = archive(&[
        rules("https://newer.example/robots.txt", 20),
        rules("https://older.example/robots.txt", 20),
        rules("https://kept.example/robots.txt", 20),
        rules("https://confirmed.example/robots.txt", 20),
        redirect(20),
        rules("https://cdn.example/r.txt", 20),
    ]);
    let new = archive(&[
        rules("https://newer.example/robots.txt", 30),
        rules("https://older.example/robots.txt", 10),
        json!({"url": "https://confirmed.example/robots.txt", "status": 304, "fetched_at": 30}),
        rules("https://cdn.example/r.txt", 30),
    ]);
    let previous = Snapshot::new(compile(Profile::Google, None, &old)).unwrap();
    let mut compiler = Compiler::new(Profile::Google);
    compiler.add_reader("archive", new.as_bytes()).unwrap();
    let compiled = compiler.previous(previous).unwrap().finish().unwrap();
    let report = compiled.report();
    // `moved` is decided by its redirect, which the old snapshot has, and by the new capture.
    assert_eq!(report.captures, 4);
    assert_eq!(report.other_urls, 1, "the target of the redirect");
    assert_eq!(report.superseded, 1, "the capture of `older`");
    assert_eq!(report.outdated, 1, "`older`");
    assert_eq!(report.inherited, 1, "`kept`");
}

#[test]
fn empty_crawls_give_the_same_bytes() {
    for profile in [Profile::Google, Profile::Rfc9309] {
        let old = compile(profile, None, &rich_archive());
        assert!(
            compile(profile, Some(old.clone()), "") == old,
            "{profile:?}"
        );
    }
}

#[test]
fn changed_profiles_recompile_stored_texts() {
    let [google, rfc9309] =
        [Profile::Google, Profile::Rfc9309].map(|profile| compile(profile, None, &rich_archive()));
    assert!(google != rfc9309);
    assert!(compile(Profile::Rfc9309, Some(google.clone()), "") == rfc9309);
    assert!(compile(Profile::Google, Some(rfc9309), "") == google);
}

#[test]
fn other_versions_are_recompiled_from_stored_texts() {
    let old = compile(Profile::Google, None, &rich_archive());
    let mut sections = sections(&old);
    let metadata = String::from_utf8(sections[METADATA].clone()).unwrap();
    sections[METADATA] = metadata
        .replacen(env!("CARGO_PKG_VERSION"), "0.0.1", 1)
        .into_bytes();
    let other = assemble(&sections);
    assert!(other != old);
    assert!(compile(Profile::Google, Some(other.clone()), "") == old);
    let crawl = archive(&crawls(7)[1]);
    assert!(
        compile(Profile::Google, Some(other), &crawl)
            == compile(Profile::Google, Some(old), &crawl)
    );
}

#[test]
fn stored_data_is_not_duplicated() {
    let body = |host: &str, end: &str| {
        let body = overlapping() + "user-agent: *\nallow: /a*b\ndisallow: /a*\n" + end;
        json!({"url": format!("https://{host}.example/robots.txt"), "body": body}).to_string()
            + "\n"
    };
    // Equal texts, equal rules in different texts, and different rules with equal unions.
    let crawls = [
        body("a", ""),
        body("a2", "") + &body("b", "\n\nsitemap: /s") + &body("c", "disallow: /c"),
    ];
    assert!(
        compile_all(Profile::Google, crawls.clone())
            == compile(Profile::Google, None, &crawls.concat())
    );
}

/// Two crawls of the same hosts, the second later than the first. An `http` origin may redirect to
/// `https` on the same host. `https` never redirects, so the snapshot has all the data that a
/// recrawl needs.
fn crawls(seed: u64) -> [Vec<serde_json::Value>; 2] {
    let mut random = Random(seed);
    [1, 3].map(|month| (0..400).map(|_| crawled(&mut random, month)).collect())
}

fn crawled(random: &mut Random, month: u64) -> serde_json::Value {
    let host = format!("h{}.example", random.below(80));
    let secure = random.below(2) == 0;
    let scheme = if secure { "https" } else { "http" };
    let mut object = json!({"url": format!("{scheme}://{host}/robots.txt")});
    if month > 1 || random.below(9) > 0 {
        let day = random.below(56);
        object["fetched_at"] = json!(format!(
            "2026-0{}-{:02}T00:00:00Z",
            month + day / 28,
            1 + day % 28
        ));
    }
    match random.below(9) {
        8 if secure => {
            // A snapshot stores neither the max-age of a last good copy nor the redirect to it. So
            // the 304 has its own max-age, and its URL never redirects.
            object["status"] = json!(304);
            object["headers"] =
                json!({"Cache-Control": format!("max-age={}", random.below(3) * 60)});
        }
        0 => object["error"] = json!(["timeout", "refused"][random.below(2) as usize]),
        1 | 2 => object["status"] = json!([503, 500, 429][random.below(3) as usize]),
        3 => object["status"] = json!([404, 403][random.below(2) as usize]),
        4 | 5 if !secure => {
            object["status"] = json!(301);
            object["headers"] = json!({"Location": format!("https://{host}/robots.txt")});
        }
        _ => {
            object["body"] = json!(robots(random.below(60)));
            object["headers"] =
                json!({"Cache-Control": format!("max-age={}", random.below(3) * 60)});
        }
    }
    object
}

#[test]
fn successive_crawls_equal_one_compilation() {
    for seed in 0..60 {
        let [first, second] = crawls(seed).map(|crawl| archive(&crawl));
        let all = compile(Profile::Google, None, &[first.as_str(), &second].concat());
        let over = compile_all(Profile::Google, [first, second.clone()]);
        assert!(over == all, "seed {seed}");
        assert!(
            compile(Profile::Google, Some(over.clone()), &second) == over,
            "seed {seed}: the second crawl again"
        );
    }
}

#[test]
fn recrawls_ignore_order_and_thread_count() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = determinism::archive();
    let old: Vec<String> = lines.iter().step_by(3).cloned().collect();
    std::fs::write(dir.path().join("old.jsonl"), old.concat()).unwrap();
    let run = |args: &[&str]| assert_eq!(robosieve(dir.path(), args).code, Some(0), "{args:?}");
    run(&["compile", "-q", "old.jsonl", "-o", "old.rsieve"]);
    let mut first = None;
    for (seed, threads) in [(1, "1"), (2, "2"), (3, "7")] {
        std::fs::write(dir.path().join("new.jsonl"), lines.concat()).unwrap();
        run(&words(&format!(
            "compile -q -j {threads} --previous old.rsieve new.jsonl -o new.rsieve"
        )));
        let bytes = std::fs::read(dir.path().join("new.rsieve")).unwrap();
        assert!(
            *first.get_or_insert_with(|| bytes.clone()) == bytes,
            "{threads} threads"
        );
        Random(seed).shuffle(&mut lines);
    }
}
