//! Webs that random ones hardly ever are, with verdicts derived by hand from docs/SEMANTICS.md.
//!
//! A web is a text. Each line is a capture, `TIME URL ANSWER`, or a question and its answer,
//! `? TIME SITE POLICY LETTERS REASON`:
//!
//! - A time is a number of days, and perhaps seconds more or less: `1`, `1+43200`, `31-1`. `-` is
//!   an unknown time.
//! - A URL is a host and a path without `/robots.txt`: `a` is `http://a.test/robots.txt`, and `a/r`
//!   is `http://a.test/r`. With `s:`, it is one of https.
//! - An answer is a status, `rules` and the number of a body, `to` and the URL of a target, or
//!   `dns`. `age=60` is a `max-age`.
//! - A policy with `+any` uses the entry of the other scheme. The letters are those of `ant` for
//!   `/x` and `/y`. Bodies 0 and 1 disallow one of the two.

use super::model::{Capture, Content, Model, Question, Way};
use super::webs::START;
use super::{POLICIES, assert_agreement, questions};
use robosieve::Profile;
use std::collections::{BTreeMap, BTreeSet};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The name of each web, and its text.
const WEBS: [(&str, &str); 28] = [
    (
        "the ages of a failure",
        "0 a rules0
         1 a 503
         ? 0-1 a google UU unknown-origin
         ? 0-1 a strict DD unknown-origin
         ? 1-1 a google DA rules
         ? 1 a google DD server-error
         ? 31-1 a google DD server-error
         ? 31 a google DA last-good-copy
         ? 31 a google-2012 DD server-error
         ? 1+43200 a google-2026 DD server-error
         ? 1+43201 a google-2026 DA last-good-copy
         ? 31-1 a google-2026 DA last-good-copy
         ? 31 a google-2026 AA server-error
         ? 31-1 a rfc9309 DD server-error
         ? 31 a rfc9309 AA server-error
         ? 31 a strict DD server-error",
    ),
    (
        "a last good copy behind several redirects",
        "0 a to b
         0 b to c
         0 c to d
         0 d rules0
         1 d 503
         ? 0 a google DA rules
         ? 31-1 a google DD server-error
         ? 31 a google DA last-good-copy
         ? 31 a rfc9309 AA server-error",
    ),
    (
        "404 and 304 in one second: the 304 is newer, and confirms nothing",
        "0 a rules0
         1 a 404
         1 a 304
         ? 1 a google DD unreachable
         ? 31 a google AA unreachable",
    ),
    (
        "503 and 304 in one second: the 304 confirms the copy",
        "0 a rules0
         1 a 503
         1 a 304
         2 a 503
         ? 1 a google DA rules
         ? 32-1 a google DD server-error
         ? 32 a google DA last-good-copy",
    ),
    (
        "a 304 confirms a copy from before failures, but not what a 404 replaced",
        "0 a rules0
         1 a 503
         2 a 304
         3 a 404
         4 a 304
         ? 1 a google DD server-error
         ? 2 a google DA rules
         ? 3 a google AA no-robots-txt
         ? 4 a google DD unreachable
         ? 34 a google AA unreachable",
    ),
    (
        "a 304 confirms a redirect, which leads to a later answer",
        "0 a to b
         0 b rules0
         1 a 304
         2 b rules1
         3 a 503
         4 b rules0
         ? 1 a google DA rules
         ? 2 a google AD rules
         ? 33 a google AD last-good-copy",
    ),
    (
        "a URL that is captured before a redirect leads to it",
        "0 a/r rules0
         1 a/r 503
         3 a to a/r
         ? 2 a google UU unknown-origin
         ? 3 a google DD server-error
         ? 31 a google DA last-good-copy",
    ),
    (
        "a target that is captured only later",
        "0 a to b
         2 b rules0
         ? 2-1 a google AA unresolved-redirect
         ? 2-1 a strict DD unresolved-redirect
         ? 2-1 b google UU unknown-origin
         ? 2 a strict DA rules",
    ),
    (
        "a target that is captured only after the failure that it would have preceded",
        "0 a to b
         2 a 503
         3 b rules0
         ? 32 a google AA server-error
         ? 32 b google DA rules",
    ),
    (
        "a target that changed after the failure",
        "0 a to b
         0 b rules0
         2 a 503
         3 b rules1
         ? 32 a google DA last-good-copy
         ? 32 b google AD rules",
    ),
    (
        "a target in the second of the first failure",
        "0 a to b
         0 b rules0
         2 b rules1
         2 a 503
         ? 32 a google AD last-good-copy",
    ),
    (
        "a last good copy whose redirect loops now",
        "0 a to b
         0 b rules0
         2 a 503
         3 b to a
         ? 3 b google DD server-error
         ? 32 a google DA last-good-copy
         ? 32 b google DA last-good-copy",
    ),
    (
        "a redirect that looped when the failures began",
        "0 a to b
         0 b rules0
         1 b to a
         2 a 503
         3 b rules0
         ? 1 a google AA unresolved-redirect
         ? 1 a strict AA unresolved-redirect
         ? 32 a google AA server-error",
    ),
    (
        "a loop for a while",
        "0 a to b
         0 b to c
         0 c rules0
         1 c to a
         2 b rules1
         ? 0 a strict DA rules
         ? 1 a strict AA unresolved-redirect
         ? 2 a strict AD rules
         ? 2 c strict AD rules",
    ),
    (
        "five redirects, and six",
        "0 a to b
         0 b to c
         0 c to d
         0 d to e
         0 e to f
         0 f rules0
         0 g to a
         ? 0 a google DA rules
         ? 0 g google AA unresolved-redirect
         ? 0 g strict AA unresolved-redirect",
    ),
    (
        "a missing target after five redirects, and as the fifth",
        "0 a to b
         0 b to c
         0 c to d
         0 d to e
         0 e to f
         0 f to missing
         ? 0 a strict AA unresolved-redirect
         ? 0 b strict DD unresolved-redirect",
    ),
    (
        "redirects to itself, and without a valid target",
        "0 a to a
         0 b 301
         ? 0 a strict AA unresolved-redirect
         ? 0 b strict AA unresolved-redirect",
    ),
    (
        "a last good copy through another redirect: the redirects to the failing URL count",
        "0 o to a
         0 a to b
         0 b to c
         0 c to x
         0 x to y
         0 y to z
         0 z rules0
         1 x 503
         ? 31 o google AA server-error
         ? 31 a google DA last-good-copy
         ? 31 b google DA last-good-copy
         ? 31 x google DA last-good-copy",
    ),
    (
        "a last good copy of a target that had failed before: its redirects count too",
        "0 n to o
         0 o to p
         0 p to q
         0 q to x
         0 x to y
         0 y to z
         0 z rules0
         1 y 503
         2 z rules1
         3 x 503
         ? 3 x google DD server-error
         ? 33 o google DA last-good-copy
         ? 33 n google AA server-error",
    ),
    (
        "429 and 503 in one second: the 429 is newer, and to some policies an answer",
        "0 a rules0
         1 a 503
         1 a 429
         2 a 503
         ? 1 a google DD server-error
         ? 1 a google-2019 AA server-error
         ? 1 a rfc9309 AA server-error
         ? 31 a google DA last-good-copy
         ? 32-1 a google-2019 DD server-error
         ? 32 a google-2019 AA server-error
         ? 32-1 a rfc9309 DD server-error
         ? 32 a rfc9309 AA server-error",
    ),
    (
        "a 429 of a target is a failure under every policy where the copy of another URL is sought",
        "0 a to b
         0 b rules0
         1 b 429
         2 a 503
         ? 32 a google DA last-good-copy
         ? 32 a google-2019 DA last-good-copy",
    ),
    (
        "captures of unknown time only",
        "- a rules0
         - a 503
         - a 404
         - b 503
         - c 304
         - d to a
         ? -20000 a google DA rules
         ? 0 a google DA rules
         ? 20000 b google DD server-error
         ? 20000 c google DD unreachable
         ? 20000 d google DA rules",
    ),
    (
        "a failure whose first capture has no time never gets old",
        "- a 503
         1 a 503
         - b rules0
         - b 503
         1 b 503
         ? 20000 a google DD server-error
         ? 20000 a rfc9309 DD server-error
         ? 31-1 b google DD server-error
         ? 31 b google DA last-good-copy",
    ),
    (
        // 1969-12-31 is day -20455, and the 32 bits of seconds end on day 29256.
        "times before 1970 and beyond 32 bits",
        "-20459 a rules0
         -20458 a 503
         29300 a 503
         29301 a rules1
         29302 a dns
         ? -20459-1 a google UU unknown-origin
         ? -20459 a google DA rules
         ? -20458 a google DD server-error
         ? -20428-1 a google DD server-error
         ? -20428 a google DA last-good-copy
         ? 29300 a google DA last-good-copy
         ? 29301 a google AD rules
         ? 29332-1 a google DD unreachable
         ? 29332 a google AD last-good-copy",
    ),
    (
        "a redirect of unknown time to a target with one",
        "- a to b
         2 b rules0
         3 a 503
         ? 2-1 a google AA unresolved-redirect
         ? 2-1 a strict DD unresolved-redirect
         ? 2 a strict DA rules
         ? 33 a google DA last-good-copy",
    ),
    (
        "two texts of one second: status, then max-age, then digest",
        "0 a rules0
         0 a rules1
         0 b rules1 age=60
         0 b rules0
         0 c rules1 age=60
         0 c rules0 age=3600
         ? 0 a google AD rules
         ? 0 b google DA rules
         ? 0 c google AD rules",
    ),
    (
        "two redirects, and two client errors, of one second",
        "0 a to c
         0 a to b
         0 b rules0
         0 c rules1
         0 d 404
         0 d 401
         ? 0 a google DA rules
         ? 0 d google AA forbidden
         ? 0 d strict DD forbidden",
    ),
    (
        "the other scheme, until there is an own capture",
        "0 s:a rules0
         2 a 503
         - s:b to a
         ? 2-1 a google UU unknown-origin
         ? 2-1 a google+any DA rules
         ? 2-1 a strict DD unknown-origin
         ? 2-1 a strict+any DA rules
         ? 2 a google+any DD server-error
         ? 2 b google UU unknown-origin
         ? 2-1 b google+any AA unresolved-redirect
         ? 2 b google+any DD server-error
         ? 32 b google+any AA server-error",
    ),
];

/// A time as the texts have it.
pub(super) fn time(text: &str) -> Option<i64> {
    if text == "-" {
        return None;
    }
    // A sign at the start is that of the days.
    let sign = text[1..].find(['+', '-']).map_or(text.len(), |at| at + 1);
    let (days, seconds) = text.split_at(sign);
    let seconds = if seconds.is_empty() { "0" } else { seconds };
    Some(START + days.parse::<i64>().unwrap() * DAY + seconds.parse::<i64>().unwrap())
}

/// A site as the texts have it: its origin.
pub(super) fn origin(text: &str) -> String {
    match text.strip_prefix("s:") {
        Some(host) => format!("https://{host}.test"),
        None => format!("http://{text}.test"),
    }
}

/// A URL as the texts have it.
fn url(text: &str) -> String {
    match text.split_once('/') {
        Some((site, path)) => format!("{}/{path}", origin(site)),
        None => format!("{}/robots.txt", origin(text)),
    }
}

/// A capture, from the words of its line.
pub(super) fn capture(words: &[&str]) -> Capture {
    let (status, content) = match words[2] {
        "to" => (
            301,
            Content::Location {
                written: url(words[3]),
                target: Some(url(words[3])),
            },
        ),
        "dns" => (0, Content::Error("dns")),
        answer => match answer.strip_prefix("rules") {
            Some(body) => (200, Content::Body(body.parse().unwrap())),
            None => (answer.parse().unwrap(), Content::Nothing),
        },
    };
    let max_age = words.last().and_then(|word| word.strip_prefix("age="));
    Capture {
        url: url(words[1]),
        time: time(words[0]),
        status,
        content,
        max_age: max_age.map(|seconds| seconds.parse().unwrap()),
    }
}

/// Asserts the answer that the words of a question's line give.
fn assert_answer(what: &str, model: &Model<'_>, words: &[&str]) {
    let &[at, site, policy, letters, reason] = words else {
        panic!("{what}: {words:?}");
    };
    let any_scheme = policy.ends_with("+any");
    let policy = policy.trim_end_matches("+any");
    let policy = POLICIES.into_iter().find(|name| *name == policy).unwrap();
    for (path, letter) in letters.bytes().enumerate() {
        let question = Question {
            origin: origin(site),
            path,
            time: time(at).unwrap(),
        };
        let way = Way { policy, any_scheme };
        let found = model.answer(&question, "google", &[way])[0];
        assert_eq!(
            (found.letters[0], found.reason),
            (letter, reason),
            "{what}: {words:?}, {}: {found:?}",
            question.url()
        );
    }
}

#[test]
fn constructed_webs_have_the_verdicts_that_their_lines_give() {
    for (what, text) in WEBS {
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let (asked, captures): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line[0] == "?");
        let captures: Vec<Capture> = captures.iter().map(|words| capture(words)).collect();
        let model = Model::new(&captures);
        for words in &asked {
            assert_answer(what, &model, &words[1..]);
        }
        assert!(!asked.is_empty(), "{what}");
        assert_doors_agree(what, &captures, &asked);
    }
}

/// Asserts that each door agrees with the model at every time that matters.
fn assert_doors_agree(what: &str, captures: &[Capture], asked: &[&Vec<&str>]) {
    let offsets = [-1, 0, 1, 12 * HOUR, 12 * HOUR + 1, 30 * DAY - 1, 30 * DAY];
    let mut times: BTreeSet<i64> = asked.iter().filter_map(|words| time(words[1])).collect();
    times.extend([i64::MIN, START - 1, i64::MAX]);
    for time in captures.iter().filter_map(|capture| capture.time) {
        times.extend(offsets.map(|offset| time + offset));
    }
    let mut origins: BTreeSet<String> = asked.iter().map(|words| origin(words[2])).collect();
    for capture in captures {
        let host = capture.url.split('/').nth(2).expect("a host");
        origins.extend(["http", "https"].map(|scheme| format!("{scheme}://{host}")));
    }
    let origins: Vec<String> = origins.into_iter().collect();
    let times: Vec<i64> = times.into_iter().collect();
    for profile in [Profile::Google, Profile::Rfc9309] {
        let asked = questions(&origins, &times);
        assert_agreement(what, profile, captures, &asked, &mut BTreeMap::new());
    }
}
