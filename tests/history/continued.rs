//! Histories that later captures continue, against those of all captures at once.

use super::doors::{Questions, answers_by_time, compile};
use super::model::{Capture, Content, Model};
use super::webs::Round;
use super::{ROUNDS, WEBS_PER_ROUND, all_ways, number_in_environment, questions};
use crate::generate::Random;
use crate::test_dir::TestDir;
use robosieve::{Compiler, JudgeOptions, Profile, Snapshot};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// Whether the crawls of a history overlap in time: each URL has its captures in their order.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Crawls {
    Overlapping,
    /// A plain snapshot keeps the time of the last answer behind a redirect only, so no capture that
    /// is older may continue it.
    Separate,
}

/// Captures in the order of time, as crawls over each other: those of unknown time are in the first.
pub(crate) fn crawls(captures: &[Capture], kind: Crawls) -> Vec<Vec<Capture>> {
    let mut crawls = vec![Vec::new(); 3];
    let mut cuts_by_url: HashMap<&str, [i64; 2]> = HashMap::new();
    for capture in captures {
        let cuts = cuts_by_url.entry(&capture.url).or_insert_with(|| {
            cuts(
                captures,
                kind == Crawls::Overlapping && is_late(&capture.url),
            )
        });
        let crawl = cuts.partition_point(|cut| capture.time > Some(*cut));
        crawls[crawl].push(capture.clone());
    }
    crawls
}

/// The captures whose history a later crawl can continue: a snapshot does not keep other URLs than
/// those of robots.txt files and those that redirects lead to.
pub(crate) fn continuable(captures: &[Capture]) -> Vec<Capture> {
    continuable_in(captures, Crawls::Overlapping)
}

fn continuable_in(captures: &[Capture], kind: Crawls) -> Vec<Capture> {
    let mut kept: Vec<Capture> = Vec::new();
    for crawl in crawls(captures, kind) {
        let reached = reached(kept.iter().chain(&crawl));
        let is_kept =
            |capture: &Capture| is_robots(&capture.url) || reached.contains(&*capture.url);
        let new: Vec<Capture> = crawl.iter().filter(|c| is_kept(c)).cloned().collect();
        kept.extend(new);
    }
    kept
}

/// The times that divide the captures of a URL among three crawls.
fn cuts(captures: &[Capture], is_late: bool) -> [i64; 2] {
    let robots = captures.iter().filter(|capture| is_robots(&capture.url));
    let mut times: Vec<i64> = robots.filter_map(|capture| capture.time).collect();
    times.sort_unstable();
    let sixths = if is_late { [3, 5] } else { [2, 4] };
    sixths.map(|sixth| times.get(times.len() * sixth / 6).copied().unwrap_or(0))
}

/// Whether each crawl fetches a URL later than others, where crawls overlap.
fn is_late(url: &str) -> bool {
    url.bytes().map(usize::from).sum::<usize>() % 2 == 1
}

fn is_robots(url: &str) -> bool {
    url.ends_with("/robots.txt") && url.matches('/').count() == 3
}

/// The URLs that redirects lead to, from robots.txt files and from each other.
fn reached<'c>(captures: impl Iterator<Item = &'c Capture> + Clone) -> HashSet<&'c str> {
    let mut seconds: HashMap<(&str, Option<i64>), usize> = HashMap::new();
    for capture in captures.clone() {
        *seconds.entry((&capture.url, capture.time)).or_default() += 1;
    }
    // Another capture of the same second may hide a redirect.
    let is_alone = |capture: &Capture| seconds[&(&*capture.url, capture.time)] == 1;
    let mut reached = HashSet::new();
    loop {
        let before = reached.len();
        for capture in captures.clone() {
            if let Content::Location {
                target: Some(target),
                ..
            } = &capture.content
                && is_alone(capture)
                && (is_robots(&capture.url) || reached.contains(&*capture.url))
            {
                reached.insert(&**target);
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

/// Compiles crawls over each other, each continuing the history of the one before; the bytes of the
/// last snapshot.
pub(crate) fn continued(profile: Profile, crawls: &[Vec<Capture>]) -> Vec<u8> {
    let mut history: Option<Vec<u8>> = None;
    for crawl in crawls {
        let mut compiler = Compiler::new(profile).history(true).max_failing(1.0);
        if let Some(bytes) = history.take() {
            compiler = compiler.previous(Snapshot::new(bytes).unwrap()).unwrap();
        }
        history = Some(bytes_of(compiler, &lines(crawl)));
    }
    history.expect("a crawl")
}

/// Drops what a snapshot does not keep of answers that are not the newest of an origin: how long to
/// wait, and causes of failures of other URLs. A 304 may confirm an older answer, and a redirect is
/// not the last answer of its chain.
fn drop_lost_details(captures: &mut [Capture]) {
    let confirmed: HashSet<String> = captures
        .iter()
        .filter(|capture| capture.status == 304)
        .map(|capture| capture.url.clone())
        .collect();
    for capture in captures {
        let is_robots = is_robots(&capture.url);
        let is_redirect = matches!(capture.content, Content::Location { .. });
        if is_redirect || !is_robots || confirmed.contains(&capture.url) {
            capture.max_age = None;
        }
        let has_no_body = capture.status / 100 == 2 && matches!(capture.content, Content::Nothing);
        if !is_robots && (has_no_body || matches!(capture.content, Content::Error(_))) {
            capture.status = 500;
            capture.content = Content::Nothing;
        }
    }
}

#[test]
fn a_continued_history_has_the_bytes_of_all_captures() {
    let rounds = number_in_environment("ROBOSIEVE_TEST_HISTORY_ROUNDS").unwrap_or(ROUNDS);
    let seed = number_in_environment("ROBOSIEVE_TEST_HISTORY_SEED").unwrap_or(1);
    for seed in seed..seed + rounds {
        let mut random = Random(seed);
        let webs = Round::new(&mut random, WEBS_PER_ROUND).webs;
        let captures: Vec<Capture> = webs.into_iter().flat_map(|web| web.captures).collect();
        let mut captures = continuable(&captures);
        drop_lost_details(&mut captures);
        let crawls = crawls(&captures, Crawls::Overlapping);
        assert!(crawls.iter().all(|crawl| !crawl.is_empty()), "seed {seed}");
        let profile = [Profile::Google, Profile::Rfc9309][seed as usize % 2];
        let found = continued(profile, &crawls);
        let all = continued(profile, &[captures]);
        assert!(found == all, "seed {seed}");
    }
}

/// What random webs seldom have: two crawls, as lines of archives.
const CONSTRUCTED: [(&str, &str, &str); 3] = [
    (
        "the target of the redirect before the failures is captured later, and older",
        r#"{"url": "https://a.test/robots.txt", "status": 301, "headers": {"location": "https://b.test/robots.txt"}, "fetched_at": 10}
           {"url": "https://a.test/robots.txt", "status": 503, "fetched_at": 100}"#,
        r#"{"url": "https://b.test/robots.txt", "body": "user-agent: *\ndisallow: /", "fetched_at": 50}"#,
    ),
    (
        "a 304 after one that confirmed nothing, as a 404 of its second hides a redirect",
        r#"{"url": "https://a.test/robots.txt", "status": 301, "fetched_at": 10}
           {"url": "https://a.test/robots.txt", "status": 404, "fetched_at": 20}
           {"url": "https://a.test/robots.txt", "status": 304, "fetched_at": 20}"#,
        r#"{"url": "https://a.test/robots.txt", "status": 304, "fetched_at": 30}"#,
    ),
    (
        "a redirect leads back to a text that no origin had",
        r#"{"url": "https://a.test/robots.txt", "status": 301, "headers": {"location": "/r"}, "fetched_at": 10}
           {"url": "https://a.test/r", "body": "user-agent: *\ndisallow: /x", "fetched_at": 10}
           {"url": "https://a.test/robots.txt", "body": "user-agent: *\ndisallow: /y", "fetched_at": 20}"#,
        r#"{"url": "https://a.test/robots.txt", "status": 301, "headers": {"location": "/r"}, "fetched_at": 30}"#,
    ),
];

#[test]
fn constructed_crawls_continue_each_other() {
    for (what, old, new) in CONSTRUCTED {
        let old_snapshot = compile(Compiler::default().history(true), old);
        let compiler = Compiler::default().history(true).max_failing(1.0);
        let compiler = compiler.previous(Snapshot::clone(&old_snapshot)).unwrap();
        let found = bytes_of(compiler, new);
        let all = bytes_of(Compiler::default().history(true), &format!("{old}\n{new}"));
        assert!(found == all, "{what}");
    }
}

fn bytes_of(mut compiler: Compiler, archive: &str) -> Vec<u8> {
    compiler.add_reader("captures", archive.as_bytes()).unwrap();
    compiler.finish().unwrap().to_vec().unwrap()
}

/// A plain snapshot of the first crawl, whose answers become the first versions. From then on the
/// verdicts are those of later compilations without a history, each with the captures up to its time.
#[test]
fn the_answers_of_a_plain_snapshot_become_the_first_versions() {
    let rounds = number_in_environment("ROBOSIEVE_TEST_HISTORY_ROUNDS").unwrap_or(ROUNDS);
    let seed = number_in_environment("ROBOSIEVE_TEST_HISTORY_SEED").unwrap_or(1);
    let mut verdicts = 0;
    let mut wrong = 0;
    for seed in seed..seed + rounds {
        let mut random = Random(seed);
        let Round { webs, times } = Round::new(&mut random, WEBS_PER_ROUND);
        let origins: Vec<String> = webs.iter().flat_map(|web| web.origins.clone()).collect();
        let captures: Vec<Capture> = webs.into_iter().flat_map(|web| web.captures).collect();
        let captures = continuable_in(&captures, Crawls::Separate);
        let profile = [Profile::Google, Profile::Rfc9309][seed as usize % 2];
        let crawls = crawls(&captures, Crawls::Separate);
        let old = compile(Compiler::new(profile), &lines(&crawls[0]));
        let later = lines(&crawls[1..].concat());
        let compile_later = |compiler: Compiler| {
            let compiler = compiler.max_failing(1.0);
            compile(compiler.previous(Snapshot::clone(&old)).unwrap(), &later)
        };
        let history = compile_later(Compiler::new(profile).history(true));
        history.verify().unwrap();
        let newest = crawls[0].iter().filter_map(|capture| capture.time).max();
        let known = times.into_iter().filter(|time| Some(*time) >= newest);
        let asked = Questions {
            captures: &captures,
            archive: "",
            profile,
            ways: &all_ways(),
            questions: &questions(&origins, &known.collect::<Vec<_>>()),
        };
        let found = answers_by_time(&asked, |_| history.clone(), JudgeOptions::as_of);
        let then = |time| compile_later(Compiler::new(profile).as_of(time));
        let expected = answers_by_time(&asked, then, JudgeOptions::at);
        let model = Model::new(&captures);
        for ((way, found), expected) in asked.ways.iter().zip(&found).zip(&expected) {
            verdicts += found.len();
            for ((question, found), expected) in asked.questions.iter().zip(found).zip(expected) {
                // Both lack earlier captures. Where they differ, the model that has all decides.
                if found != expected && model.answer(question, profile.name(), &[*way])[0] != *found
                {
                    wrong += 1;
                }
            }
        }
    }
    // A later capture may be older than a failure that the first snapshot has, and newer than what
    // it has of the URL that the failing one redirected to.
    assert!(wrong * 10_000 <= verdicts, "{wrong} of {verdicts} verdicts");
    if rounds > ROUNDS {
        println!("{verdicts} verdicts, {wrong} of another answer");
    }
}

fn lines(captures: &[Capture]) -> String {
    captures.iter().map(Capture::line).collect()
}

/// A capture of a site as a line of an archive.
fn capture_line(site: &str, time: Option<&str>, body: &str) -> String {
    let url = format!("https://{site}.test/robots.txt");
    format!(
        "{}\n",
        json!({"url": url, "body": body, "fetched_at": time})
    )
}

#[test]
fn only_newer_captures_continue_a_history() {
    let dir = TestDir::new();
    let [first, second] = ["2026-03-01T06:00:00Z", "2026-04-01T06:00:00Z"].map(Some);
    dir.write(
        "march.jsonl",
        capture_line("a", first, "user-agent: *\ndisallow: /"),
    );
    dir.done_line("compile -q -o plain march.jsonl");
    dir.done_line("compile -q --history -o march march.jsonl");
    let old =
        capture_line("a", first, "") + &capture_line("a", None, "") + &capture_line("b", first, "");
    dir.write("old.jsonl", old);
    for previous in ["plain", "march"] {
        dir.run_line(&format!("compile -q --history --previous {previous} -o new old.jsonl"))
            .refused(&format!("{previous}: cannot be used as the previous snapshot"))
            .refused("2 captures are not newer")
            .refused("such as https://a.test/robots.txt of 2026-03-01T06:00:00Z, which it saw last at 2026-03-01T06:00:00Z")
            .refused("compile all captures together");
        assert!(!dir.path("new").exists());
    }
    dir.write("april.jsonl", capture_line("a", second, ""));
    // Without captures, it stays as it is.
    dir.done_line("compile -q --history --previous march -o same");
    assert!(dir.read("same") == dir.read("march"));
    dir.done_line("compile -q --history -o all march.jsonl april.jsonl");
    dir.done_line("compile -q --history --previous march -o march april.jsonl");
    assert!(
        dir.read("march") == dir.read("all"),
        "it may replace the previous one"
    );
    let has_note = |previous: &str| {
        let ran = dir.done_line(&format!(
            "compile --history --previous {previous} -o new april.jsonl"
        ));
        ran.stderr.contains("its answers became the first versions")
    };
    assert!(has_note("plain"));
    let check = |time: &str| format!("check -s new -a a --as-of {time} https://a.test/");
    dir.run_line(&check("2026-02"))
        .refused("no capture of the origin of https://a.test/ by that time");
    for (time, verdict) in [("2026-03", "disallowed"), ("2026-04", "allowed")] {
        let expected = format!("{verdict}\ta\thttps://a.test/\n");
        let found = dir.run_line(&check(time)).stdout.clone();
        assert_eq!(found, expected.as_bytes());
    }
    dir.done_line("compile -q --history -o march march.jsonl");
    assert!(!has_note("march"));
}
