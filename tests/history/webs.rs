//! Random webs: a few sites with every kind of answer over time, by a seeded generator.

use super::model::{BODIES, Capture, Content};
use crate::generate::Random;

/// 2026-01-01T00:00:00Z, the first slot of times.
pub(crate) const START: i64 = 1_767_225_600;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The slots of times.
const SLOTS: u64 = 14;

/// The distances of slots. Some are the limits of the policies, 12 hours and 30 days, or parts of
/// these.
const STEPS: [i64; 9] = [
    2,
    HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    5 * DAY,
    10 * DAY,
    15 * DAY,
    30 * DAY,
];

/// Seconds next to a slot.
const OFFSETS: [i64; 9] = [0, 0, 0, 0, 0, 1, -1, 2, -2];

/// A time near a slot, so that different URLs often share a second.
fn time(random: &mut Random, step: i64) -> i64 {
    START + random.below(SLOTS) as i64 * step + random.pick(&OFFSETS)
}

/// Some sites that redirect to each other only.
pub(crate) struct Web {
    /// The origins to ask for: those with captures, and some without any.
    pub origins: Vec<String>,
    pub captures: Vec<Capture>,
}

/// The shares of the answers in a web: rules, redirects, 304, client errors, failures.
type Shares = [u64; 5];

/// The number of failures among the shares.
const FAILURE: usize = 4;

const SHARES: [Shares; 6] = [
    [3, 3, 2, 2, 3],
    [2, 9, 2, 1, 2],
    [3, 3, 1, 1, 9],
    [2, 3, 7, 1, 3],
    [4, 2, 0, 0, 8],
    [6, 3, 1, 0, 4],
];

/// The shares in a web of long chains, and those of the last URL there.
const CHAINED: Shares = [1, 16, 2, 0, 3];
const CHAIN_END: Shares = [9, 0, 1, 0, 1];

/// The webs of a round, and the times to ask for. The webs have different hosts, and all times are
/// near the same slots.
pub(crate) struct Round {
    pub webs: Vec<Web>,
    pub times: Vec<i64>,
}

impl Round {
    pub(crate) fn new(random: &mut Random, webs: usize) -> Self {
        let step = random.pick(&STEPS);
        Self {
            webs: (0..webs).map(|number| web(random, number, step)).collect(),
            times: (0..12).map(|_| question_time(random, step)).collect(),
        }
    }
}

/// A time to ask for: near a slot, or a limit of the policies later.
fn question_time(random: &mut Random, step: i64) -> i64 {
    let slot = time(random, step);
    match random.below(10) {
        0 => slot + 12 * HOUR,
        1 => slot + 12 * HOUR + 1,
        2 => slot + 30 * DAY - 1,
        3 => slot + 30 * DAY,
        4 => START + SLOTS as i64 * step + 31 * DAY,
        5 => START - 1 - step,
        6 => random.pick(&[i64::MIN, -1, 0, i64::MAX]),
        _ => slot,
    }
}

fn web(random: &mut Random, number: usize, step: i64) -> Web {
    let mut urls = Vec::new();
    let mut origins = Vec::new();
    for host in ["a", "b", "a-b", "www.a", "c"]
        .iter()
        .take(2 + random.below(4) as usize)
    {
        let host = format!("{host}.w{number}.test");
        // Each site is captured by one scheme or by both, and sometimes asked by the other too.
        let port = random.pick(&["", "", "", "", ":8080"]);
        let http = format!("http://{host}{port}");
        let https = format!("https://{host}{port}");
        let (captured, other) = match random.below(3) {
            0 => (vec![http], Some(https)),
            1 => (vec![https], Some(http)),
            _ => (vec![http, https], None),
        };
        origins.extend(other.filter(|_| random.below(3) == 0));
        for origin in &captured {
            urls.push(format!("{origin}/robots.txt"));
            if random.below(3) == 0 {
                let path = random.pick(&["/r", "/en/robots.txt", "/robots.txt?a=1"]);
                urls.push(format!("{origin}{path}"));
            }
        }
        origins.extend(captured);
    }
    // Where most redirects lead to the next URL, chains are as long as the limit, or longer.
    let is_chained = random.below(3) == 0;
    let web_shares = random.pick(&SHARES);
    let mut captures = Vec::new();
    for (at, url) in urls.iter().enumerate() {
        let next = urls.get(at + 1).filter(|_| is_chained);
        let shares = match (is_chained, next) {
            (false, _) => web_shares,
            (true, Some(_)) => CHAINED,
            (true, None) => CHAIN_END,
        };
        let count = match random.below(60) {
            0 => 1 + random.below(400),
            1..6 => random.below(40),
            6..10 if !is_chained => 0,
            _ => 1 + random.below(7),
        };
        let mut times: Vec<Option<i64>> = (0..count)
            .map(|_| match random.below(12) {
                0 => None,
                _ => Some(time(random, step)),
            })
            .collect();
        times.sort();
        let mut has_failed = false;
        for time in times {
            // Failures come in runs.
            let shares = match has_failed && random.below(4) > 0 {
                true => [0, 0, 0, 0, 1],
                false => shares,
            };
            let answer = answer(random, shares, url, next, &urls);
            has_failed = answer.is_failure;
            captures.push(Capture {
                url: url.clone(),
                time,
                status: answer.status,
                content: answer.content,
                max_age: (random.below(6) == 0).then(|| random.pick(&[0, 60, 200_000, 300_000])),
            });
        }
    }
    Web { origins, captures }
}

/// What a capture says.
struct RandomAnswer {
    is_failure: bool,
    status: u16,
    content: Content,
}

/// An answer of one of the kinds of the shares.
fn answer(
    random: &mut Random,
    shares: Shares,
    url: &str,
    next: Option<&String>,
    urls: &[String],
) -> RandomAnswer {
    let mut drawn = random.below(shares.iter().sum());
    let kind = shares
        .iter()
        .position(|share| {
            let is_drawn = drawn < *share;
            drawn = drawn.wrapping_sub(*share);
            is_drawn
        })
        .expect("the number is below the sum");
    let (status, content) = match kind {
        0 => match random.below(20) {
            0 => (204, Content::Nothing),
            1 => (203, body(random)),
            _ => (200, body(random)),
        },
        1 => {
            let status = random.pick(&[301, 301, 301, 302, 307, 308, 300]);
            (status, location(random, url, next, urls))
        }
        2 => (304, Content::Nothing),
        3 => (random.pick(&[404, 404, 410, 401, 403]), Content::Nothing),
        _ => match random.below(8) {
            0..3 => (0, Content::Error(random.pick(&["dns", "timeout", "reset"]))),
            3..5 => (429, Content::Nothing),
            // A body that the archive lost, and a status of no class.
            5 => (random.pick(&[200, 600, 199]), Content::Nothing),
            _ => (random.pick(&[500, 503, 503]), Content::Nothing),
        },
    };
    RandomAnswer {
        is_failure: kind == FAILURE,
        status,
        content,
    }
}

fn body(random: &mut Random) -> Content {
    Content::Body(random.below(BODIES.len() as u64) as usize)
}

/// A `Location`: mostly `next` or another URL of the web, in one of its spellings.
fn location(random: &mut Random, url: &str, next: Option<&String>, urls: &[String]) -> Content {
    let target = match random.below(24) {
        0 => return Content::Nothing,
        1 => {
            return Content::Location {
                written: "http://".to_owned(),
                target: None,
            };
        }
        2 => "https://missing.test/robots.txt",
        3..20 if next.is_some() => next.expect("a next URL"),
        // To itself, or to any other.
        _ => &urls[random.below(urls.len() as u64) as usize],
    };
    let (scheme, rest) = target.split_once("://").expect("a URL");
    let (host, path) = rest.split_once('/').expect("a path");
    let written = match random.below(8) {
        0 if url.starts_with(&format!("{scheme}://{host}/")) => format!("/{path}"),
        1 if url.starts_with(&format!("{scheme}:")) => format!("//{rest}"),
        2 => format!("{scheme}://{}/{path}#part", host.to_uppercase()),
        _ => target.to_owned(),
    };
    Content::Location {
        written,
        target: Some(target.to_owned()),
    }
}
