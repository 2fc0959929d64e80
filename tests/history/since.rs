//! Since when a site disallows everything, against snapshots that are compiled as of each time.

use super::archive;
use super::constructed::{capture, origin, time};
use super::doors::{agents, compile, options};
use super::model::{AGENTS, Capture, POLICIES, Way};
use super::webs::{Round, START};
use super::{number_in_environment, shrink};
use crate::generate::Random;
use robosieve::export::{ExportPosition, ExportTable, ExportValue, Exporter};
use robosieve::{Compiler, Judge, JudgeOptions, Profile, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// Rounds of a usual run, and the breakpoints of a web that is not too slow for one.
const ROUNDS: u64 = 25;
const MAX_BREAKPOINTS: usize = 120;

/// The ages at which a policy may change its mind about a failing site.
const AGES: [i64; 3] = [0, 12 * HOUR + 1, 30 * DAY];

/// Those of one policy (docs/SEMANTICS.md, "Results of fetching").
fn ages(policy: &str) -> &'static [i64] {
    match policy {
        "google-2012" | "strict" => &[0],
        "google-2026" => &AGES,
        _ => &[0, 30 * DAY],
    }
}

/// Before all captures whose time is known.
const BEFORE_ALL: i64 = START - 1000 * DAY;

/// The interval in which a site began to disallow everything: its bounds.
type Interval = (Option<i64>, Option<i64>);

/// For each origin, a value for each agent.
type ByOrigin<T> = BTreeMap<String, Vec<T>>;

fn judge(snapshot: &Arc<Snapshot>, policy: &'static str, at: Option<i64>) -> Judge {
    let way = Way {
        policy,
        any_scheme: false,
    };
    Judge::new(snapshot.clone(), &agents(), options(way).at(at)).unwrap()
}

/// The values of some columns, row by row.
pub(super) fn rows(exporter: &Exporter<'_>, mut each: impl FnMut(&[ExportValue<'_>])) {
    let mut position = ExportPosition::default();
    while let Some(batches) = exporter.read(&mut position).unwrap() {
        for batch in batches {
            for row in 0..batch.rows() {
                let columns = 0..batch.columns().len();
                each(&columns.map(|at| batch.value(row, at)).collect::<Vec<_>>());
            }
        }
    }
}

/// Whether each origin disallows everything to each agent.
fn disallowed(judge: &Judge) -> ByOrigin<bool> {
    let mut columns = vec!["origin".to_owned()];
    columns.extend(AGENTS.map(|agent| format!("{agent}.access")));
    let exporter = Exporter::new(judge, ExportTable::Origins).unwrap();
    let exporter = exporter.choose_columns(&columns).unwrap();
    let mut found = BTreeMap::new();
    rows(&exporter, |values| {
        let ExportValue::Text(origin) = values[0] else {
            panic!("{values:?}");
        };
        let agents = values[1..].iter();
        let agents = agents.map(|access| *access == ExportValue::Text("blocked"));
        found.insert(origin.to_owned(), agents.collect());
    });
    found
}

/// What the columns say.
fn exported(judge: &Judge) -> ByOrigin<Interval> {
    let mut columns = vec!["origin".to_owned()];
    for agent in AGENTS {
        columns.push(format!("{agent}.disallowed_after"));
        columns.push(format!("{agent}.disallowed_since"));
    }
    let exporter = Exporter::new(judge, ExportTable::Origins).unwrap();
    let exporter = exporter.choose_columns(&columns).unwrap();
    let time = |value: &ExportValue<'_>| match value {
        ExportValue::Time(time) => Some(*time),
        ExportValue::Null => None,
        _ => panic!("{value:?}"),
    };
    let mut found = BTreeMap::new();
    rows(&exporter, |values| {
        let ExportValue::Text(origin) = values[0] else {
            panic!("{values:?}");
        };
        let agents = values[1..].chunks(2);
        let agents = agents.map(|bounds| (time(&bounds[0]), time(&bounds[1])));
        found.insert(origin.to_owned(), agents.collect());
    });
    found
}

/// A compilation as of each time at which anything may change.
pub(super) struct SlowWay {
    pub history: Arc<Snapshot>,
    pub snapshots: BTreeMap<i64, Arc<Snapshot>>,
}

impl SlowWay {
    /// `None` if that takes too long.
    pub(super) fn new(captures: &[Capture], profile: Profile) -> Option<Self> {
        let archive = archive(captures, &mut Random(1));
        let times: BTreeSet<i64> = captures.iter().filter_map(|of| of.time).collect();
        let mut breakpoints = BTreeSet::from([BEFORE_ALL]);
        for time in times {
            breakpoints.extend(AGES.map(|age| time + age));
        }
        if breakpoints.len() > MAX_BREAKPOINTS {
            return None;
        }
        let as_of = |time| {
            let compiler = Compiler::new(profile).as_of(time);
            (time, compile(compiler, &archive))
        };
        Some(Self {
            history: compile(Compiler::new(profile).history(true), &archive),
            snapshots: breakpoints.into_iter().map(as_of).collect(),
        })
    }

    /// The intervals by the definition: back from the end, breakpoint by breakpoint. Without `at`, each
    /// failing site is judged at its own newest capture.
    fn intervals(&self, policy: &'static str, at: Option<i64>) -> ByOrigin<Interval> {
        let newest = disallowed(&judge(&self.history, policy, at));
        let mut over_time = Vec::new();
        for (time, snapshot) in &self.snapshots {
            over_time.push((*time, disallowed(&judge(snapshot, policy, Some(*time)))));
        }
        let mut found = BTreeMap::new();
        for row in 0..self.history.origin_count() {
            let entry = self.history.origin_at(row).unwrap();
            let in_force = self.history.in_force(row, i64::MAX).unwrap().unwrap();
            let from = in_force.since.unwrap_or(BEFORE_ALL);
            let end = at.or(entry.outcome().fetched).unwrap_or(BEFORE_ALL);
            let origin = entry.origin();
            let mut agents = Vec::new();
            for agent in 0..AGENTS.len() {
                if !newest[&origin][agent] {
                    agents.push((None, None));
                    continue;
                }
                let mut since = from.max(BEFORE_ALL);
                if end > from {
                    since = end;
                }
                for (time, then) in over_time.iter().rev() {
                    // After the end, nothing is asked. The newest answer is judged at the end, even
                    // if it was found later.
                    if *time > end && *time > from {
                        continue;
                    }
                    let is_newest = *time >= from && end <= from;
                    let is_disallowed = then.get(&origin).is_some_and(|agents| agents[agent]);
                    if !is_newest && !is_disallowed {
                        break;
                    }
                    since = *time;
                }
                agents.push(self.bounds(row, since, policy));
            }
            found.insert(origin, agents);
        }
        found
    }

    /// The interval that ends at a time: the other bound is the last capture of the answer before.
    fn bounds(&self, row: u32, since: i64, policy: &str) -> Interval {
        if since == BEFORE_ALL {
            return (None, None);
        }
        let last = since - 1;
        let Some(before) = self.history.in_force(row, last).unwrap() else {
            return (None, Some(since));
        };
        let outcome = before.entry.outcome();
        // A 429 is an answer for some policies. It does not change with its age.
        let first = match policy {
            "google-2012" | "google-2019" | "rfc9309" => outcome.first_unreachable,
            _ => outcome.first_failure,
        };
        let changes = first.into_iter();
        let changes = changes.flat_map(|first| ages(policy).iter().map(move |age| first + age));
        let from = changes.filter(|change| *change <= last).max();
        let bounds = [
            from,
            before.since,
            before.last_seen.map(|seen| seen.min(last)),
        ];
        (bounds.into_iter().flatten().max(), Some(since))
    }
}

/// The first difference between the columns and the slow way.
fn first_difference(
    captures: &[Capture],
    profile: Profile,
    counts: &mut [u64; 3],
) -> Option<String> {
    let slow = SlowWay::new(captures, profile)?;
    let last = *slow.snapshots.last_key_value().unwrap().0;
    for policy in POLICIES {
        for at in [None, Some(last)] {
            let found = exported(&judge(&slow.history, policy, at));
            let expected = slow.intervals(policy, at);
            for interval in expected.values().flatten() {
                counts[usize::from(interval.0.is_some()) + usize::from(interval.1.is_some())] += 1;
            }
            if found != expected {
                return Some(format!(
                    "{policy} {at:?}: {found:?} instead of {expected:?}"
                ));
            }
        }
    }
    None
}

#[test]
fn random_webs_disallow_since_the_times_of_compilations_as_of_each_time() {
    let rounds = number_in_environment("ROBOSIEVE_TEST_HISTORY_ROUNDS").unwrap_or(ROUNDS);
    let seed = number_in_environment("ROBOSIEVE_TEST_HISTORY_SEED").unwrap_or(1);
    let mut counts = [0; 3];
    for round in seed..seed + rounds {
        let web = Round::new(&mut Random(round), 1).webs.remove(0);
        let profile = [Profile::Google, Profile::Rfc9309][round as usize % 2];
        if let Some(first) = first_difference(&web.captures, profile, &mut counts) {
            let mut captures = web.captures.clone();
            shrink(web.captures.len(), |kept| {
                let fewer: Vec<Capture> = kept.iter().map(|at| web.captures[*at].clone()).collect();
                let differs = first_difference(&fewer, profile, &mut [0; 3]).is_some();
                if differs {
                    captures = fewer;
                }
                differs
            });
            let lines: String = captures.iter().map(Capture::line).collect();
            let small = first_difference(&captures, profile, &mut [0; 3]);
            panic!(
                "seed {round}, {}: {first}\n{lines}{small:?}",
                profile.name()
            );
        }
    }
    // Not disallowed; since the first answer; since an answer after another.
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// The name of each web, and its text: captures as in `constructed`, and `? SITE POLICY AGENT AFTER
/// SINCE`. Bodies 2 and 5 disallow everything, the former to `ant` only.
const WEBS: [(&str, &str); 12] = [
    (
        "the first capture disallows",
        "1 a rules5
         3 a rules5
         ? a google ant - 1
         ? a google bee - 1",
    ),
    (
        "allowed, disallowed, allowed, disallowed",
        "1 a rules0
         2 a rules5
         3 a rules5
         4 a rules6
         5 a rules6
         6 a rules2
         7 a rules5
         ? a google ant 5 6
         ? a google bee 6 7",
    ),
    (
        "the target of a redirect changes",
        "1 a to b
         1 b rules0
         4 b rules0
         6 b rules5
         9 a to b
         ? a google ant 4 6
         ? b google ant 4 6",
    ),
    (
        "a redirect to another target, which disallows too",
        "1 a to b
         1 b rules0
         3 b rules5
         5 a to c
         1 c rules0
         4 c rules5
         9 c rules5
         ? a google ant 1 3
         ? c google ant 1 4",
    ),
    (
        "the other target disallows only then",
        "1 a to b
         1 b rules5
         5 a to c
         1 c rules0
         6 c rules5
         ? a google ant 5 6
         ? b google ant - 1",
    ),
    (
        "a loop at some times allows",
        "1 a to b
         1 b rules5
         3 b to a
         4 b rules5
         ? a google ant 3 4",
    ),
    (
        "the target is missing at first",
        "1 a to b
         5 b rules5
         ? a google ant 1 5
         ? a strict ant - 1",
    ),
    (
        "a failure disallows for a time, and the site disallows when it is back",
        "1 a rules0
         2 a 503
         20 a rules5
         ? a google ant 1 2
         ? a google-2026 ant 2+43201 20
         ? a strict ant 1 2",
    ),
    (
        "after thirty days the last good copy applies, which disallows",
        "1 a rules5
         2 a 503
         40 a 503
         60 a rules2
         ? a google ant - 1
         ? a rfc9309 ant 40 60
         ? a google-2026 ant 40 60",
    ),
    (
        "a client error between",
        "1 a rules5
         2 a 403
         3 a rules5
         ? a google ant 2 3
         ? a strict ant - 1",
    ),
    (
        "captures of unknown time",
        "- a rules5
         3 a rules5
         - b rules0
         4 b rules5
         - c rules0
         2 c rules0
         4 c rules5
         ? a google ant - -
         ? b google ant - 4
         ? c google ant 2 4",
    ),
    (
        "six redirects are too many",
        "1 a to b
         1 b to c
         1 c to d
         1 d to e
         1 e to f
         1 f to g
         1 g rules5
         5 c to g
         ? a google ant 1 5
         ? b google ant - 1",
    ),
];

#[test]
fn constructed_webs_disallow_since_the_times_that_their_lines_give() {
    for (what, text) in WEBS {
        let lines = text.lines().map(|line| line.split_whitespace().collect());
        let lines: Vec<Vec<&str>> = lines.collect();
        let (asked, captures): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line[0] == "?");
        let captures: Vec<Capture> = captures.iter().map(|words| capture(words)).collect();
        let difference = first_difference(&captures, Profile::Google, &mut [0; 3]);
        assert!(difference.is_none(), "{what}: {difference:?}");
        let archive = archive(&captures, &mut Random(3));
        let history = compile(Compiler::default().history(true), &archive);
        for words in asked {
            let &[_, site, policy, agent, after, since] = &words[..] else {
                panic!("{what}: {words:?}");
            };
            let policy = POLICIES.into_iter().find(|name| *name == policy).unwrap();
            let agent = AGENTS.iter().position(|name| *name == agent).unwrap();
            let found = exported(&judge(&history, policy, None));
            let expected = (time(after), time(since));
            assert_eq!(found[&origin(site)][agent], expected, "{what}: {words:?}");
        }
    }
}

/// The state of a failing site depends on `--at`, and so does its beginning.
#[test]
fn a_failing_site_is_judged_at_the_given_time() {
    let captures =
        ["1 a rules5", "2 a 503"].map(|line| capture(&line.split(' ').collect::<Vec<_>>()));
    let history = compile(
        Compiler::default().history(true),
        &archive(&captures, &mut Random(1)),
    );
    for (policy, at, expected) in [
        ("google", None, (None, time("1"))),
        ("google", Some("90"), (None, time("1"))),
        ("rfc9309", Some("31"), (None, time("1"))),
        ("rfc9309", Some("32"), (None, None)),
        ("google-2026", Some("3"), (None, time("1"))),
        ("google-2026", Some("32"), (None, None)),
    ] {
        let at = at.and_then(time);
        let found = exported(&judge(&history, policy, at));
        assert_eq!(found[&origin("a")][0], expected, "{policy} {at:?}");
    }
    let options = JudgeOptions::default();
    let without = compile(Compiler::default(), &archive(&captures, &mut Random(1)));
    let judge = Judge::new(without, &agents(), options).unwrap();
    let exporter = Exporter::new(&judge, ExportTable::Origins).unwrap();
    let err = exporter.disallowed_since().unwrap_err();
    assert!(
        matches!(err.kind(), robosieve::ErrorKind::NoHistory),
        "{err}"
    );
}
