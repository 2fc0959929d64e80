//! The contestants behind one interface: each turns a list of inputs into a list of answers.

use crate::aho_corasick::PrefixJudge;
use crate::common;
use crate::sites::Site;
use robosieve::robots::reference;
use robosieve::{AgentMatch, Judge, JudgeOptions, Profile, Verdict};
use std::hint::black_box;
use url::{Position, Url};

/// The task of a contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Judges the path and query of a URL.
    Match,
    /// Judges a whole URL.
    Judge,
}

impl Step {
    /// Both tasks.
    pub const ALL: [Self; 2] = [Self::Match, Self::Judge];

    /// The name on the command line and in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Judge => "judge",
        }
    }

    /// The inputs of a contestant.
    pub fn inputs(self, site: &Site) -> &[String] {
        match self {
            Self::Match => &site.paths,
            Self::Judge => &site.urls,
        }
    }
}

/// A crate or function, prepared for one site.
pub struct Contestant<'s> {
    /// The crate, or the part of it.
    pub name: &'static str,
    /// Whether each answer parses the robots.txt again. Such a contestant is timed on fewer URLs.
    pub rereads: bool,
    run: Run<'s>,
}

/// Appends the answers to the inputs.
type Run<'s> = Box<dyn FnMut(&[&str], &mut Vec<bool>) + 's>;

impl Contestant<'_> {
    /// Replaces `answers` with the answers to all inputs.
    pub fn run(&mut self, inputs: &[&str], answers: &mut Vec<bool>) {
        answers.clear();
        (self.run)(inputs, answers);
    }
}

impl std::fmt::Debug for Contestant<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contestant")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

const AGENT: &str = "FooBot";

/// A contestant that answers one input at a time. The loop is monomorphised for each contestant, so
/// no call is indirect.
fn contestant<'s>(
    name: &'static str,
    rereads: bool,
    mut allows: impl FnMut(&str) -> bool + 's,
) -> Contestant<'s> {
    let run = move |inputs: &[&str], answers: &mut Vec<bool>| {
        answers.extend(inputs.iter().map(|input| allows(black_box(input))));
    };
    Contestant {
        name,
        rereads,
        run: Box::new(run),
    }
}

/// All contestants, robosieve first. Parsing the robots.txt beforehand is not timed.
pub fn contestants(site: &Site, step: Step) -> Vec<Contestant<'_>> {
    let own = [
        robosieve(site, step),
        reference_judge(site),
        prefix_judge(site, step),
    ];
    own.into_iter().chain(rivals(site, step)).collect()
}

/// The library, with a snapshot of only this site. The few judges are leaked.
fn robosieve(site: &Site, step: Step) -> Contestant<'_> {
    let snapshot = common::snapshot([(site.origin.to_string(), site.robots.as_str())]);
    let agents = [common::agent()];
    let judge = Box::leak(Box::new(
        Judge::new(snapshot, &agents, JudgeOptions::default()).expect("a judge"),
    ));
    match step {
        Step::Match => {
            let site = judge.site(&site.origin).expect("a sound snapshot");
            let mut session = judge.session();
            contestant("robosieve", false, move |path| {
                session
                    .path_verdict(&site, path.as_bytes(), 0)
                    .expect("a sound snapshot")
                    == Verdict::Allowed
            })
        }
        Step::Judge => {
            let mut session = judge.session();
            contestant("robosieve", false, move |url| {
                session
                    .verdict(url.as_bytes(), 0)
                    .expect("a sound snapshot")
                    == Verdict::Allowed
            })
        }
    }
}

/// The reference judge of robosieve's tests.
fn reference_judge(site: &Site) -> Contestant<'_> {
    let agent = common::agent();
    contestant("robosieve, reference.rs", true, move |url| {
        reference::judge(
            site.robots.as_bytes(),
            &agent,
            AgentMatch::Google,
            Profile::Google,
            url.as_bytes(),
        )
        .allowed
    })
}

/// The crate `aho-corasick` as a judge. It does not normalise paths.
fn prefix_judge(site: &Site, step: Step) -> Contestant<'_> {
    let judge = PrefixJudge::new(&site.robots, &common::agent());
    let start = if step == Step::Judge {
        site.origin.as_str().len()
    } else {
        0
    };
    contestant(
        "aho-corasick (DFA of literal prefixes)",
        false,
        move |input| {
            let path = input.as_bytes().get(start..).unwrap_or_default();
            let path = &path[..path.iter().position(|&b| b == b'#').unwrap_or(path.len())];
            judge.allows(if path.is_empty() { b"/" } else { path })
        },
    )
}

fn rivals(site: &Site, step: Step) -> Vec<Contestant<'_>> {
    let robotxt = robotxt::Robots::parse(site.robots.as_bytes(), AGENT);
    let texting = texting_robots::Robot::new(AGENT, site.robots.as_bytes()).expect("a robots.txt");
    vec![
        fast_robots(site, step),
        match step {
            Step::Match => contestant("robotxt", false, move |path| robotxt.is_allowed(path)),
            Step::Judge => contestant("robotxt", false, move |url| {
                robotxt.is_url_allowed(&parse(url))
            }),
        },
        contestant("texting_robots", false, move |input| texting.allowed(input)),
        contestant("robotstxt", true, |input| {
            robotstxt::DefaultMatcher::default().one_agent_allowed_by_robots(
                &site.robots,
                AGENT,
                input,
            )
        }),
    ]
}

/// The compiled matcher of `fast-robots`, which it recommends for many checks of one file. The few
/// parsed files are leaked, because the matcher borrows them.
fn fast_robots(site: &Site, step: Step) -> Contestant<'_> {
    let robots = Box::leak(Box::new(fast_robots::RobotsTxt::parse(&site.robots)));
    let matcher = robots.matcher();
    match step {
        Step::Match => contestant("fast-robots", false, move |path| {
            matcher.is_allowed(AGENT, path)
        }),
        Step::Judge => contestant("fast-robots", false, move |url| {
            matcher.is_allowed(
                AGENT,
                &parse(url)[Position::BeforePath..Position::AfterQuery],
            )
        }),
    }
}

fn parse(url: &str) -> Url {
    Url::parse(url).expect("a URL")
}
