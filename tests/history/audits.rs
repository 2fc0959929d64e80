//! Audits by a history, against audits by snapshots that are compiled as of the time of each line,
//! and against the model.
//!
//! The environment sets rounds and seed as for the verdicts: docs/dev/TESTING.md has the command.

use super::model::{AGENTS, Capture, Model, PATHS, Question, Way};
use super::webs::Round;
use super::{all_ways, archive, number_in_environment};
use crate::generate::Random;
use robosieve::audit::{Audit, AuditOptions, AuditOutputs, AuditReport, DatedSnapshot};
use robosieve::job::Input;
use robosieve::{Agent, Compiler, JudgeOptions, Origin, Profile, Snapshot};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const DAY: i64 = 24 * 60 * 60;

/// Rounds of a usual run.
const ROUNDS: u64 = 4;

/// Webs of a round, and requests for each way to judge them.
const WEBS: usize = 6;
const REQUESTS: u64 = 150;

/// A request of one of [`AGENTS`].
struct Request {
    question: Question,
    agent: usize,
}

impl Request {
    /// The line of a JSON log.
    fn line(&self) -> String {
        let (scheme, host) = self.question.origin.split_once("://").unwrap();
        let line = json!({"time": self.question.time, "scheme": scheme, "host": host,
            "path": PATHS[self.question.path], "status": 200, "bytes": 1,
            "user_agent": AGENTS[self.agent]});
        format!("{line}\n")
    }
}

/// A site whose rules are known at all times: an audit that can judge no request is an error.
const ALWAYS: &str = "{\"url\": \"http://always.test/robots.txt\", \"status\": 404}\n";

/// A request there.
fn request_that_is_always_judged() -> Request {
    Request {
        question: Question {
            origin: "http://always.test".to_owned(),
            path: 0,
            time: super::webs::START,
        },
        agent: 0,
    }
}

/// Requests in the order of a log: at times of the round, and at edges near captures.
fn requests(
    random: &mut Random,
    origins: &[String],
    captures: &[Capture],
    times: &[i64],
) -> Vec<Request> {
    let offsets = [-1, 0, 1, DAY - 1, DAY, DAY + 1, 3600];
    // A few times with many requests each, because a snapshot is compiled for each time.
    let mut asked: Vec<i64> = times.to_vec();
    for _ in 0..10 {
        let capture = &captures[random.below(captures.len() as u64) as usize];
        asked.extend(capture.time.map(|time| time + random.pick(&offsets)));
    }
    // Other times are not those of a log, or count as milliseconds.
    asked.retain(|time| (1_000_000_000..4_000_000_000).contains(time));
    let mut requests: Vec<Request> = (0..REQUESTS)
        .map(|_| Request {
            question: Question {
                origin: origins[random.below(origins.len() as u64) as usize].clone(),
                path: random.below(PATHS.len() as u64) as usize,
                time: random.pick(&asked),
            },
            agent: random.below(AGENTS.len() as u64) as usize,
        })
        .collect();
    requests.sort_by_key(|request| request.question.time);
    // Servers log what they have sent, so a log is only nearly in order.
    for at in (1..requests.len()).step_by(5) {
        requests.swap(at - 1, at);
    }
    requests.insert(0, request_that_is_always_judged());
    requests
}

/// The letters and the report of an audit.
fn audited(
    snapshot: &Arc<Snapshot>,
    options: JudgeOptions,
    requests: &[&Request],
) -> (String, AuditReport) {
    let agents: Vec<Agent> = AGENTS.iter().map(|name| name.parse().unwrap()).collect();
    let options = AuditOptions::default().agents(agents).judge(options);
    let snapshots = vec![DatedSnapshot::new(None, Arc::clone(snapshot))];
    let audit = Audit::new(snapshots, options).unwrap();
    let log: String = requests.iter().map(|request| request.line()).collect();
    let mut annotated = Vec::new();
    let outputs = AuditOutputs::default().annotated(Some(&mut annotated));
    let inputs = vec![Input::from_reader("log", std::io::Cursor::new(log))];
    let report = audit.run(inputs, outputs, &|_| {}).unwrap();
    let annotated = String::from_utf8(annotated).unwrap();
    let letters = annotated.lines().map(|line| &line[..1]).collect();
    (letters, report)
}

fn options(way: Way) -> JudgeOptions {
    JudgeOptions::default()
        .status_policy(Some(way.policy.parse().unwrap()))
        .any_scheme(way.any_scheme)
}

fn compile(mut compiler: Compiler, archive: &str) -> Arc<Snapshot> {
    compiler.add_reader("captures", archive.as_bytes()).unwrap();
    Arc::new(Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap())
}

/// The other of http and https, at the same host and port.
fn other_scheme(origin: &str) -> String {
    match origin.strip_prefix("http://") {
        Some(host) => format!("https://{host}"),
        None => origin.replacen("https://", "http://", 1),
    }
}

/// The captures of some webs, and what the model says about requests.
struct Judged<'c> {
    captures: &'c [Capture],
    model: Model<'c>,
    history: Arc<Snapshot>,
    profile: Profile,
}

impl Judged<'_> {
    /// The letter of the verdict as of a time, and whether the origin has an answer then.
    fn verdict(&self, request: &Request, time: i64, way: Way) -> (u8, bool) {
        let question = Question {
            time,
            ..request.question.clone()
        };
        let found = self.model.answer(&question, self.profile.name(), &[way])[0];
        (
            found.letters[request.agent],
            found.reason != "unknown-origin",
        )
    }

    /// The letter of a request by the definitions of docs/AUDIT.md.
    fn letter(&self, request: &Request, way: Way) -> char {
        let time = request.question.time;
        if request.question.path == 2 {
            return 'A';
        }
        let (verdict, is_known) = self.verdict(request, time, way);
        if verdict != b'D' || !is_known {
            return verdict.into();
        }
        // Each time at which anything was captured in the day before may be that of a change.
        let captured: BTreeSet<i64> = self
            .captures
            .iter()
            .filter_map(|capture| capture.time)
            .filter(|captured| (time - DAY..=time).contains(captured))
            .collect();
        for captured in captured {
            if self.verdict(request, captured - 1, way) == (b'A', true) {
                return 'C';
            }
        }
        let (last_seen, changed_at) = self.bounds(&request.question.origin, time, way);
        let is_after_last_seen = last_seen.is_none_or(|seen| time > seen);
        match changed_at.filter(|_| is_after_last_seen) {
            Some(next) if self.verdict(request, next, way).0 == b'A' => 'B',
            _ => 'D',
        }
    }

    /// The bounds of the end of the answer in force, as the public interface gives them.
    fn bounds(&self, origin: &str, time: i64, way: Way) -> (Option<i64>, Option<i64>) {
        let answer = |origin: &str| {
            let origin = Origin::of(origin.as_bytes()).unwrap();
            let entry = self.history.origin(&origin).unwrap()?;
            self.history.in_force(entry.row(), time).unwrap()
        };
        if let Some(own) = answer(origin) {
            return (own.last_seen, own.changed_at);
        }
        assert!(way.any_scheme);
        let other = answer(&other_scheme(origin)).unwrap();
        // The first capture of the own scheme ends the time of the other.
        let url = format!("{origin}/robots.txt");
        let own = self.captures.iter().filter(|capture| capture.url == url);
        let first = own.filter_map(|capture| capture.time).min();
        let changed_at = other.changed_at.into_iter().chain(first).min();
        (other.last_seen, changed_at)
    }
}

/// Asserts that the sums of a report are the counts of the letters.
fn assert_sums(what: &str, letters: &str, report: &AuditReport) {
    let counted = |letter: char| letters.chars().filter(|other| *other == letter).count() as u64;
    let mut sums = [0; 6];
    for crawler in &report.crawlers {
        let counts = [
            crawler.requests,
            crawler.allowed,
            crawler.disallowed,
            crawler.unknown,
            crawler.within_day_of_change,
            crawler.between_captures,
        ];
        sums.iter_mut()
            .zip(counts)
            .for_each(|(sum, count)| *sum += count);
    }
    let expected = [
        letters.len() as u64,
        counted('A'),
        counted('D'),
        counted('U'),
        counted('C'),
        counted('B'),
    ];
    assert_eq!(sums, expected, "{what}");
}

#[test]
fn one_time_for_all_requests_keeps_its_meaning() {
    let mut random = Random(9);
    let Round { webs, times } = Round::new(&mut random, WEBS);
    let captures: Vec<Capture> = webs.iter().flat_map(|web| web.captures.clone()).collect();
    let origins: Vec<String> = webs.iter().flat_map(|web| web.origins.clone()).collect();
    let lines = archive(&captures, &mut random) + ALWAYS;
    let history = compile(Compiler::default().history(true), &lines);
    let requests = requests(&mut random, &origins, &captures, &times);
    let all: Vec<&Request> = requests.iter().collect();
    let mut seen = BTreeSet::new();
    for time in times {
        let snapshot = compile(Compiler::default().as_of(time), &lines);
        for way in all_ways() {
            let (found, report) = audited(&history, options(way).as_of(time), &all);
            let (expected, _) = audited(&snapshot, options(way).at(time), &all);
            assert_eq!(found, expected, "{way:?}, as of {time}");
            assert!(!report.has_history);
            seen.insert(found);
        }
    }
    assert!(seen.len() > 5, "{seen:?}");
}

#[test]
fn each_line_has_the_verdict_of_a_snapshot_compiled_as_of_its_time() {
    let rounds = number_in_environment("ROBOSIEVE_TEST_HISTORY_ROUNDS").unwrap_or(ROUNDS);
    let seed = number_in_environment("ROBOSIEVE_TEST_HISTORY_SEED").unwrap_or(1);
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for round in seed..seed + rounds {
        let mut random = Random(round);
        let Round { webs, times } = Round::new(&mut random, WEBS);
        let captures: Vec<Capture> = webs.iter().flat_map(|web| web.captures.clone()).collect();
        let origins: Vec<String> = webs.iter().flat_map(|web| web.origins.clone()).collect();
        let lines = archive(&captures, &mut random) + ALWAYS;
        let profile = [Profile::Google, Profile::Rfc9309][round as usize % 2];
        let history = compile(Compiler::new(profile).history(true), &lines);
        let judged = Judged {
            captures: &captures,
            model: Model::new(&captures),
            history: history.clone(),
            profile,
        };
        let mut snapshots: BTreeMap<i64, Arc<Snapshot>> = BTreeMap::new();
        let mut seed_of_requests = Random(round + 1000);
        for way in all_ways() {
            let what = format!("seed {round}, {way:?}");
            // The same times in all ways, so that each snapshot is compiled once.
            let mut times_of_round = Random(round);
            let mut requests = requests(&mut times_of_round, &origins, &captures, &times);
            for request in &mut requests[1..] {
                request.agent = seed_of_requests.below(AGENTS.len() as u64) as usize;
            }
            let all: Vec<&Request> = requests.iter().collect();
            let (letters, report) = audited(&history, options(way), &all);
            assert!(report.has_history);
            assert_sums(&what, &letters, &report);
            let mut by_time: BTreeMap<i64, Vec<&Request>> = BTreeMap::new();
            let mut found: BTreeMap<i64, String> = BTreeMap::new();
            for (request, letter) in requests.iter().zip(letters.chars()).skip(1) {
                let time = request.question.time;
                by_time.entry(time).or_default().push(request);
                found.entry(time).or_default().push(letter);
                *counts.entry(letter).or_default() += 1;
                let expected = judged.letter(request, way);
                assert_eq!(
                    letter,
                    expected,
                    "{what}: {}{}",
                    request.line(),
                    captures.iter().map(Capture::line).collect::<String>()
                );
            }
            for (time, mut requests) in by_time {
                let snapshot = snapshots
                    .entry(time)
                    .or_insert_with(|| compile(Compiler::new(profile).as_of(time), &lines));
                let always = request_that_is_always_judged();
                requests.push(&always);
                let (then, _) = audited(snapshot, options(way).at(time), &requests);
                // Requests that count apart are disallowed by the rules in force.
                let now = found[&time].replace(['B', 'C'], "D") + "A";
                assert_eq!(now, then, "{what}, as of {time}");
            }
        }
    }
    assert_eq!(counts.len(), 5, "{counts:?}");
    println!("{counts:?}");
}
