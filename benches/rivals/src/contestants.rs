//! The contestants behind one face: each turns a list of inputs into a list of answers.

use crate::common;
use crate::sites::Site;
use robosieve::{AgentMatch, Judge, JudgeOptions, Profile, Verdict, reference};
use std::hint::black_box;
use url::Url;

/// What is asked of a contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The path and query of a URL to an answer.
    Match,
    /// A whole URL to an answer.
    Judge,
}

impl Step {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Match, Self::Judge];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Judge => "judge",
        }
    }

    /// What a contestant is given.
    pub fn inputs(self, site: &Site) -> &[String] {
        match self {
            Self::Match => &site.paths,
            Self::Judge => &site.urls,
        }
    }
}

/// One way to answer, made ready for one site.
pub struct Contestant<'s> {
    /// The crate, or what of it.
    pub name: &'static str,
    /// Each answer begins with the text of the robots.txt; so it is timed on fewer URLs.
    pub rereads: bool,
    run: Run<'s>,
}

/// Inputs to answers, put behind those that are there.
type Run<'s> = Box<dyn FnMut(&[&str], &mut Vec<bool>) + 's>;

impl Contestant<'_> {
    /// The answers to all inputs, in place of those that stand in `answers`.
    pub fn run(&mut self, inputs: &[&str], answers: &mut Vec<bool>) {
        answers.clear();
        (self.run)(inputs, answers);
    }
}

impl std::fmt::Debug for Contestant<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contestant").field("name", &self.name).finish_non_exhaustive()
    }
}

const AGENT: &str = "FooBot";

/// A contestant that answers one input at a time; the loop is compiled for each, so that no call goes through a pointer.
fn contestant<'s>(name: &'static str, rereads: bool, mut allows: impl FnMut(&str) -> bool + 's) -> Contestant<'s> {
    let run = move |inputs: &[&str], answers: &mut Vec<bool>| {
        answers.extend(inputs.iter().map(|input| allows(black_box(input))));
    };
    Contestant { name, rereads, run: Box::new(run) }
}

/// All that can answer, robosieve first; what each makes of the robots.txt beforehand is not part of what is timed.
pub fn contestants(site: &Site, step: Step) -> Vec<Contestant<'_>> {
    let own = [robosieve(site, step), slow_judge(site)];
    own.into_iter().chain(rivals(site, step)).collect()
}

/// The library, over a snapshot with this site alone. Snapshot and judge are leaked: they are few.
fn robosieve(site: &Site, step: Step) -> Contestant<'_> {
    let snapshot = Box::leak(Box::new(common::snapshot([(site.origin.to_string(), site.robots.as_str())])));
    let agents = [common::agent()];
    let judge = Box::leak(Box::new(Judge::new(snapshot, &agents, JudgeOptions::default()).expect("a judge")));
    match step {
        Step::Match => {
            let site = judge.site(&site.origin).expect("a sound snapshot");
            contestant("robosieve", false, move |path| {
                let verdicts = site.judge(path.as_bytes()).expect("a sound snapshot");
                verdicts.get(0) == Verdict::Allowed
            })
        }
        Step::Judge => contestant("robosieve", false, move |url| {
            let verdicts = judge.judge(url.as_bytes()).expect("a sound snapshot");
            verdicts.get(0) == Verdict::Allowed
        }),
    }
}

/// The specification in code that robosieve is tested with.
fn slow_judge(site: &Site) -> Contestant<'_> {
    let agent = common::agent();
    contestant("robosieve, reference.rs", true, move |url| {
        reference::judge(site.robots.as_bytes(), &agent, AgentMatch::Google, Profile::Google, url.as_bytes()).allowed
    })
}

fn rivals(site: &Site, step: Step) -> Vec<Contestant<'_>> {
    let robotxt = robotxt::Robots::parse(site.robots.as_bytes(), AGENT);
    let texting = texting_robots::Robot::new(AGENT, site.robots.as_bytes()).expect("a robots.txt");
    vec![
        match step {
            Step::Match => contestant("robotxt", false, move |path| robotxt.is_allowed(path)),
            Step::Judge => contestant("robotxt", false, move |url| robotxt.is_url_allowed(&parse(url))),
        },
        contestant("texting_robots", false, move |input| texting.allowed(input)),
        contestant("robotstxt", true, |input| {
            robotstxt::DefaultMatcher::default().one_agent_allowed_by_robots(&site.robots, AGENT, input)
        }),
    ]
}

fn parse(url: &str) -> Url {
    Url::parse(url).expect("a URL")
}
