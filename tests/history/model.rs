//! A slow model of the verdict as of a time: it reads captures and answers by the definition.
//!
//! The verdict as of `t` is that of a compilation of the captures up to `t`, judged at `t`. The
//! model follows docs/SEMANTICS.md ("Results of fetching") one question at a time, without caches
//! and without an index. It shares no code with the crate: robots.txt texts come from the small
//! table [`BODIES`], with their verdicts next to them.

use serde_json::json;
use std::collections::HashMap;

/// The agents of all questions. No body names `cat` alone.
pub(crate) const AGENTS: [&str; 3] = ["ant", "bee", "cat"];

/// The paths of all questions.
pub(crate) const PATHS: [&str; 3] = ["/x", "/y", "/robots.txt"];

/// A robots.txt, and what it says.
pub(crate) struct Body {
    pub text: &'static str,
    /// The first four bytes of the BLAKE3 digest of its condensed text: they decide between two
    /// texts of the same second.
    digest: u32,
    /// For each agent, the letters of [`PATHS`] in profile `google`. In profile `rfc9309`,
    /// `/robots.txt` is allowed (RFC 9309 §2.2.2).
    letters: [&'static [u8; 3]; AGENTS.len()],
}

macro_rules! z64 {
    () => {
        "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
    };
}

macro_rules! z1024 {
    () => {
        concat!(
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!(),
            z64!()
        )
    };
}

macro_rules! z8192 {
    () => {
        concat!(
            z1024!(),
            z1024!(),
            z1024!(),
            z1024!(),
            z1024!(),
            z1024!(),
            z1024!(),
            z1024!()
        )
    };
}

/// The texts are condensed already, but for the page: it has no rules, so its condensed text is
/// empty. The last one is too long for its rules to be stored when it is old.
pub(crate) const BODIES: [Body; 9] = [
    Body {
        text: "user-agent: *\ndisallow: /x\n",
        digest: 0xb59c_8ad5,
        letters: [b"DAA", b"DAA", b"DAA"],
    },
    Body {
        text: "user-agent: *\ndisallow: /y\n",
        digest: 0x83a8_e910,
        letters: [b"ADA", b"ADA", b"ADA"],
    },
    Body {
        text: "user-agent: ant\ndisallow: /\n",
        digest: 0xa34e_c767,
        letters: [b"DDD", b"AAA", b"AAA"],
    },
    Body {
        text: "user-agent: *\ndisallow: /\n\nuser-agent: bee\ndisallow: /y\n",
        digest: 0x3750_6e78,
        letters: [b"DDD", b"ADA", b"DDD"],
    },
    Body {
        text: "user-agent: bee\nuser-agent: cat\ndisallow: /x\n\nuser-agent: *\ndisallow: /y\n",
        digest: 0xa57f_5477,
        letters: [b"ADA", b"DAA", b"DAA"],
    },
    Body {
        text: "user-agent: *\ndisallow: /\n",
        digest: 0xa698_d4af,
        letters: [b"DDD", b"DDD", b"DDD"],
    },
    Body {
        text: "",
        digest: 0xaf13_49b9,
        letters: [b"AAA", b"AAA", b"AAA"],
    },
    Body {
        text: "<!doctype html><html><body>Moved to <b>another</b> place</body></html>",
        digest: 0xaf13_49b9,
        letters: [b"AAA", b"AAA", b"AAA"],
    },
    Body {
        text: concat!(
            "user-agent: bee\ndisallow: /\n\nuser-agent: *\ndisallow: /y\nallow: /",
            z8192!(),
            "\n"
        ),
        digest: 0x3091_a9ea,
        letters: [b"ADA", b"DDD", b"ADA"],
    },
];

/// The status policies, by their names.
pub(crate) const POLICIES: [&str; 7] = [
    "google",
    "google-2012",
    "google-2019",
    "google-2023",
    "google-2026",
    "rfc9309",
    "strict",
];

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// "At least five consecutive redirects" (RFC 9309 §2.3.1.2), and Google follows no more.
const MAX_HOPS: usize = 5;

/// One answer of a URL, as an archive has it.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    /// In canonical form.
    pub url: String,
    /// In seconds since 1970; `None` if the archive has none.
    pub time: Option<i64>,
    /// 0 if there was no answer.
    pub status: u16,
    pub content: Content,
    /// That of `Cache-Control`.
    pub max_age: Option<u32>,
}

/// The part of a capture that its status does not say.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Nothing,
    /// A robots.txt: its number in [`BODIES`].
    Body(usize),
    Location {
        /// As the header has it: it may be relative, or not be a URL.
        written: String,
        /// The canonical URL; `None` if the header has none.
        target: Option<String>,
    },
    /// Why there was no answer.
    Error(&'static str),
}

impl Capture {
    /// The line of a JSONL archive, with its line end.
    pub(crate) fn line(&self) -> String {
        let mut line = json!({ "url": self.url });
        let mut headers = serde_json::Map::new();
        match &self.content {
            Content::Nothing => {}
            Content::Body(body) => line["body"] = json!(BODIES[*body].text),
            Content::Location { written, .. } => {
                headers.insert("location".to_owned(), json!(written));
            }
            Content::Error(cause) => line["error"] = json!(cause),
        }
        if self.status > 0 {
            line["status"] = json!(self.status);
        }
        if let Some(time) = self.time {
            line["fetched_at"] = json!(time);
        }
        if let Some(max_age) = self.max_age {
            headers.insert(
                "cache-control".to_owned(),
                json!(format!("max-age={max_age}")),
            );
        }
        if !headers.is_empty() {
            line["headers"] = headers.into();
        }
        format!("{line}\n")
    }

    fn answer(&self) -> Answer<'_> {
        match (self.status, &self.content) {
            (_, Content::Error(_)) => Answer::Unreachable,
            (200..=299, Content::Body(body)) => Answer::Rules(*body),
            (204, _) => Answer::Rules(EMPTY),
            // Another 2xx without a body: the archive lost it.
            (200..=299, _) => Answer::Unreachable,
            (304, _) => Answer::NotModified,
            (300..=399, Content::Location { target, .. }) => Answer::Redirect(target.as_deref()),
            (300..=399, _) => Answer::Redirect(None),
            (429 | 500..=599, _) => Answer::ServerError,
            (400..=499, _) => Answer::ClientError,
            _ => Answer::Unreachable,
        }
    }

    /// The key by which captures of a URL sort, the newest first. Of two with the same time, the
    /// one that says more is newer; then that with the lower status; then that with no `max-age`
    /// or the shorter one; then the content decides.
    fn order(&self) -> impl Ord + '_ {
        let answer = self.answer();
        let is_failure = matches!(answer, Answer::ServerError | Answer::Unreachable);
        // The `max-age` of a failure says nothing about the robots.txt.
        let max_age = self.max_age.filter(|_| !is_failure);
        let content = match answer {
            Answer::Rules(body) => (BODIES[body].digest, None),
            Answer::Redirect(target) => (0, target),
            _ => (0, None),
        };
        // An unknown time is older than all others, and sorts first, so it is reversed with them.
        let age = std::cmp::Reverse(self.time);
        (age, answer.rank(), self.status, max_age, content)
    }
}

/// The empty text of [`BODIES`].
const EMPTY: usize = 6;

/// What a capture says.
#[derive(Clone, Copy, Debug)]
enum Answer<'w> {
    /// The number of a text in [`BODIES`].
    Rules(usize),
    /// To a canonical URL; `None` without a valid `Location`.
    Redirect(Option<&'w str>),
    NotModified,
    /// 4xx but 429.
    ClientError,
    /// 429 and 5xx.
    ServerError,
    Unreachable,
}

impl Answer<'_> {
    /// How much it says; the least number says most.
    fn rank(self) -> u8 {
        match self {
            Self::Rules(_) => 0,
            Self::Redirect(_) => 1,
            Self::NotModified => 2,
            Self::ClientError => 3,
            Self::ServerError => 4,
            Self::Unreachable => 5,
        }
    }
}

/// An answer at a time.
#[derive(Clone, Copy, Debug)]
struct Event<'w> {
    time: Option<i64>,
    status: u16,
    answer: Answer<'w>,
}

impl Event<'_> {
    /// Whether the site failed, as Google's editions from 2023 on read it.
    fn is_failure(&self) -> bool {
        matches!(self.answer, Answer::ServerError | Answer::Unreachable)
    }

    /// Whether the site failed, as RFC 9309 and the older editions read it: to these, a 429 is an
    /// answer.
    fn is_unreachable(&self) -> bool {
        self.is_failure() && self.status != 429
    }
}

/// The outcome of a URL as of a time.
#[derive(Debug)]
enum Outcome {
    Rules(usize),
    /// 4xx but 429. `is_forbidden`: 401 and 403.
    ClientError {
        is_forbidden: bool,
    },
    /// `is_missing`: the archive lacks the target.
    Unresolved {
        is_missing: bool,
    },
    Failure(Failure),
}

/// A failing site.
#[derive(Debug)]
struct Failure {
    status: u16,
    is_server_error: bool,
    /// The time of the first failure of the run.
    first_failure: Option<i64>,
    /// The same, where a 429 is an answer and ends the run.
    first_unreachable: Option<i64>,
    /// Whether a 429 precedes that run.
    is_after_429: bool,
    /// The last good copy, a number in [`BODIES`].
    last_good: Option<usize>,
}

/// How a question is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The name of a status policy.
    pub policy: &'static str,
    /// Whether the entry of the other of http and https stands in for a missing one.
    pub any_scheme: bool,
}

/// A page, whose path is one of [`PATHS`], and a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Such as `https://a.test`, or `https://a.test:8080`.
    pub origin: String,
    pub path: usize,
    pub time: i64,
}

impl Question {
    pub(crate) fn url(&self) -> String {
        format!("{}{}", self.origin, PATHS[self.path])
    }
}

/// The verdicts on a page, and why.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdicts {
    /// A letter for each agent.
    pub letters: [u8; AGENTS.len()],
    /// The name of the reason.
    pub reason: &'static str,
}

impl std::fmt::Debug for Verdicts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letters = self.letters.map(char::from);
        write!(f, "{} {}", String::from_iter(letters), self.reason)
    }
}

/// The captures of some sites.
pub(crate) struct Model<'w> {
    /// The captures of each URL, the newest first.
    by_url: HashMap<&'w str, Vec<&'w Capture>>,
}

impl<'w> Model<'w> {
    pub(crate) fn new(captures: &'w [Capture]) -> Self {
        let mut by_url: HashMap<&str, Vec<&Capture>> = HashMap::new();
        for capture in captures {
            by_url.entry(&capture.url).or_default().push(capture);
        }
        for own in by_url.values_mut() {
            own.sort_by(|a, b| a.order().cmp(&b.order()));
        }
        Self { by_url }
    }

    /// The verdicts on a page in each way.
    pub(crate) fn answer(&self, question: &Question, profile: &str, ways: &[Way]) -> Vec<Verdicts> {
        let own = self.outcome_of_origin(&question.origin, question.time);
        // Only an origin without any capture uses the other scheme.
        let other = match (&own, other_scheme(&question.origin)) {
            (None, Some(origin)) => self.outcome_of_origin(&origin, question.time),
            _ => None,
        };
        let mut answers = Vec::new();
        for way in ways {
            let used = match way.any_scheme {
                true => own.as_ref().or(other.as_ref()),
                false => own.as_ref(),
            };
            answers.push(verdicts(used, question, profile, way.policy));
        }
        answers
    }

    /// The answers of a URL up to a time, the oldest first. Each 304 that confirms a copy is that
    /// copy again, at its own time. Any other 304 is a failure.
    fn history(&self, url: &str, until: i64) -> Vec<Event<'w>> {
        let Some(captures) = self.by_url.get(url) else {
            return Vec::new();
        };
        let mut events: Vec<Event<'w>> = Vec::new();
        for capture in captures.iter().rev() {
            if capture.time.is_some_and(|time| time > until) {
                continue;
            }
            let mut event = Event {
                time: capture.time,
                status: capture.status,
                answer: capture.answer(),
            };
            if matches!(event.answer, Answer::NotModified) {
                // The newest earlier answer that is not a failure, if it is a copy.
                let earlier = events.iter().rev().find(|event| !event.is_failure());
                event = match earlier {
                    Some(copy) if matches!(copy.answer, Answer::Rules(_) | Answer::Redirect(_)) => {
                        Event {
                            time: event.time,
                            ..*copy
                        }
                    }
                    _ => Event {
                        answer: Answer::Unreachable,
                        ..event
                    },
                };
            }
            events.push(event);
        }
        events
    }

    /// `None` if nothing is known of the origin by then.
    fn outcome_of_origin(&self, origin: &str, until: i64) -> Option<Outcome> {
        let url = format!("{origin}/robots.txt");
        let events = self.history(&url, until);
        (!events.is_empty()).then(|| self.outcome(&url, &events, until, 0, &mut Vec::new()))
    }

    /// The outcome of a URL with these events, the oldest first; there is at least one. `hops` is
    /// the number of redirects that led to it, and `visited` has the URLs before it.
    fn outcome(
        &self,
        url: &str,
        events: &[Event<'w>],
        until: i64,
        hops: usize,
        visited: &mut Vec<String>,
    ) -> Outcome {
        visited.push(url.to_owned());
        let newest = events.last().expect("an event");
        match newest.answer {
            Answer::Rules(body) => Outcome::Rules(body),
            Answer::ClientError => Outcome::ClientError {
                is_forbidden: matches!(newest.status, 401 | 403),
            },
            Answer::Redirect(target) => self.outcome_of_target(target, until, hops, visited),
            Answer::ServerError | Answer::Unreachable | Answer::NotModified => {
                Outcome::Failure(self.failure(url, events, hops))
            }
        }
    }

    /// The outcome of a redirect: that of its target by the same time.
    fn outcome_of_target(
        &self,
        target: Option<&str>,
        until: i64,
        hops: usize,
        visited: &mut Vec<String>,
    ) -> Outcome {
        let nowhere = Outcome::Unresolved { is_missing: false };
        let Some(target) = target else {
            return nowhere;
        };
        if visited.iter().any(|url| url == target) || hops == MAX_HOPS {
            return nowhere;
        }
        let events = self.history(target, until);
        if events.is_empty() {
            return Outcome::Unresolved { is_missing: true };
        }
        self.outcome(target, &events, until, hops + 1, visited)
    }

    /// The outcome of a URL whose newest event is a failure.
    fn failure(&self, url: &str, events: &[Event<'w>], hops: usize) -> Failure {
        let newest = events.last().expect("an event");
        let (before, run) = split_run(events, Event::is_failure);
        let first_failure = run[0].time;
        let (before_unreachable, unreachable) = split_run(events, Event::is_unreachable);
        let last_good = match before.last().map(|event| event.answer) {
            Some(Answer::Rules(body)) => Some(body),
            // The answer of the redirect's target when the failures began, or its last good copy if
            // it had failed by then. The redirects that led here count for their number, but only
            // this URL for loops.
            Some(Answer::Redirect(_)) => {
                // Of two undated answers, a redirect is newer than a failure.
                let by = first_failure.expect("a failure after a redirect has a time");
                match self.outcome(url, before, by, hops, &mut Vec::new()) {
                    Outcome::Rules(body) => Some(body),
                    Outcome::Failure(failure) => failure.last_good,
                    Outcome::ClientError { .. } | Outcome::Unresolved { .. } => None,
                }
            }
            _ => None,
        };
        Failure {
            status: newest.status,
            is_server_error: matches!(newest.answer, Answer::ServerError),
            first_failure,
            first_unreachable: unreachable.first().and_then(|event| event.time),
            is_after_429: before_unreachable
                .last()
                .is_some_and(|event| event.status == 429),
            last_good,
        }
    }
}

/// The run of events with a property at the end, and the events before it.
fn split_run<'e, 'w>(
    events: &'e [Event<'w>],
    has_property: fn(&Event<'w>) -> bool,
) -> (&'e [Event<'w>], &'e [Event<'w>]) {
    let before = events.iter().rposition(|event| !has_property(event));
    events.split_at(before.map_or(0, |before| before + 1))
}

/// The same host with the other of http and https. The ports are both default or both the same.
fn other_scheme(origin: &str) -> Option<String> {
    match origin.split_once("://")? {
        ("http", host) => Some(format!("https://{host}")),
        ("https", host) => Some(format!("http://{host}")),
        _ => None,
    }
}

/// What a policy makes of an outcome.
enum Ruling {
    /// The rules of a text of [`BODIES`].
    Rules(usize),
    Allow,
    Disallow,
}

/// The verdicts on a page of an origin with this outcome; `None` if it is unknown.
fn verdicts(
    outcome: Option<&Outcome>,
    question: &Question,
    profile: &str,
    policy: &str,
) -> Verdicts {
    let Some(outcome) = outcome else {
        let letter = if policy == "strict" { b'D' } else { b'U' };
        return Verdicts {
            letters: [letter; AGENTS.len()],
            reason: "unknown-origin",
        };
    };
    let ruling = ruling(outcome, policy, question.time);
    let reason = match (outcome, &ruling) {
        (Outcome::Failure(_), Ruling::Rules(_)) => "last-good-copy",
        (Outcome::Failure(failure), _) if failure.is_server_error => "server-error",
        (Outcome::Failure(_), _) => "unreachable",
        (Outcome::Rules(_), _) => "rules",
        (Outcome::ClientError { is_forbidden: true }, _) => "forbidden",
        (Outcome::ClientError { .. }, _) => "no-robots-txt",
        (Outcome::Unresolved { .. }, _) => "unresolved-redirect",
    };
    let mut letters = match ruling {
        Ruling::Rules(body) => BODIES[body].letters.map(|letters| letters[question.path]),
        Ruling::Allow => [b'A'; AGENTS.len()],
        Ruling::Disallow => [b'D'; AGENTS.len()],
    };
    // RFC 9309 §2.2.2: the robots.txt itself is never disallowed.
    if profile == "rfc9309" && PATHS[question.path] == "/robots.txt" {
        letters = [b'A'; AGENTS.len()];
    }
    Verdicts { letters, reason }
}

/// The table "Results of fetching" of docs/SEMANTICS.md.
fn ruling(outcome: &Outcome, policy: &str, at: i64) -> Ruling {
    let is_strict = policy == "strict";
    match outcome {
        Outcome::Rules(body) => Ruling::Rules(*body),
        Outcome::ClientError { is_forbidden: true } if is_strict => Ruling::Disallow,
        Outcome::ClientError { .. } => Ruling::Allow,
        Outcome::Unresolved { is_missing: true } if is_strict => Ruling::Disallow,
        Outcome::Unresolved { .. } => Ruling::Allow,
        Outcome::Failure(failure) => ruling_on_failure(failure, policy, at),
    }
}

fn ruling_on_failure(failure: &Failure, policy: &str, at: i64) -> Ruling {
    // To these, a 429 is a 4xx like any other.
    let allows_429 = matches!(policy, "google-2012" | "google-2019" | "rfc9309");
    if failure.status == 429 && allows_429 {
        return Ruling::Allow;
    }
    let (first, copy) = match allows_429 {
        true => (
            failure.first_unreachable,
            failure.last_good.filter(|_| !failure.is_after_429),
        ),
        false => (failure.first_failure, failure.last_good),
    };
    let last_good = copy.map_or(Ruling::Allow, Ruling::Rules);
    // A failure of unknown age never gets old. Times of questions may be those of no calendar.
    let age = first.map_or(0, |first| i128::from(at) - i128::from(first));
    let is_of_30_days = age >= i128::from(30 * DAY);
    let is_over_12_hours = age > i128::from(12 * HOUR);
    match policy {
        "google-2019" | "google-2023" | "google" if is_of_30_days => last_good,
        "google-2026" if is_of_30_days => Ruling::Allow,
        "google-2026" if is_over_12_hours => last_good,
        "rfc9309" if is_of_30_days => Ruling::Allow,
        _ => Ruling::Disallow,
    }
}
