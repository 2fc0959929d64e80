//! `fresh FILE TURNS`: parses each robots.txt of a file, and asks each about 0, 1, 5 and 50 paths.
//!
//! Each line of the file is a JSON object: `robots` is the text, and `paths` are the paths to ask
//! about, at least one, repeated if they are fewer than 50. All answers of robosieve are compared
//! with those of its slow judge. The contestants take turns. The time is the mean over the files, of
//! the fastest turn for each file, because other work on the machine can only add time.

use robosieve::robots::reference;
use robosieve::{Agent, AgentMatch, Profile, Robots, RobotsRef};
use std::hint::black_box;
use std::time::Instant;

const AGENT: &str = "FooBot";

/// The numbers of paths.
const COUNTS: [usize; 4] = [0, 1, 5, 50];

#[derive(serde::Deserialize)]
struct Site {
    robots: String,
    paths: Vec<String>,
}

impl Site {
    /// The first `count` paths, repeated from the start if there are fewer.
    fn asked(&self, count: usize) -> impl Iterator<Item = &str> {
        let paths = self.paths.iter().cycle().take(count);
        paths.map(|path| black_box(path.as_str()))
    }
}

/// Parses the file of a site, asks about some of its paths and returns how many are allowed.
type Run = fn(&Site, &Agent, usize) -> usize;

const CONTESTANTS: [(&str, Run); 4] = [
    ("robosieve, `Robots`", owned),
    ("robosieve, `RobotsRef`", borrowed),
    ("fast-robots", fast_robots),
    ("fast-robots, compiled matcher", fast_robots_matcher),
];

fn owned(site: &Site, agent: &Agent, count: usize) -> usize {
    let robots = Robots::parse(black_box(site.robots.as_bytes()), Profile::Google);
    let allowed = site.asked(count).filter(|path| robots.allows(agent, path));
    allowed.count()
}

fn borrowed(site: &Site, agent: &Agent, count: usize) -> usize {
    let robots = RobotsRef::parse(black_box(site.robots.as_bytes()), Profile::Google);
    let allowed = site.asked(count).filter(|path| robots.allows(agent, path));
    allowed.count()
}

fn fast_robots(site: &Site, _: &Agent, count: usize) -> usize {
    let robots = fast_robots::RobotsTxt::parse(black_box(&site.robots));
    let allowed = site
        .asked(count)
        .filter(|path| robots.is_allowed(AGENT, path));
    allowed.count()
}

fn fast_robots_matcher(site: &Site, _: &Agent, count: usize) -> usize {
    let robots = fast_robots::RobotsTxt::parse(black_box(&site.robots));
    let matcher = robots.matcher();
    let allowed = site
        .asked(count)
        .filter(|path| matcher.is_allowed(AGENT, path));
    allowed.count()
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, turns] = args.as_slice() else {
        panic!("fresh FILE TURNS")
    };
    let turns: usize = turns.parse().expect("a number of turns");
    let text = std::fs::read_to_string(file).expect("a file");
    let sites: Vec<Site> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a site"))
        .collect();
    let agent: Agent = AGENT.parse().expect("an agent");
    check(&sites, &agent);

    // By contestant, number of paths and file.
    let mut least = vec![vec![vec![u128::MAX; sites.len()]; COUNTS.len()]; CONTESTANTS.len()];
    for _ in 0..turns {
        for (column, count) in COUNTS.into_iter().enumerate() {
            for (row, (_, run)) in CONTESTANTS.into_iter().enumerate() {
                for (site, least) in sites.iter().zip(&mut least[row][column]) {
                    let start = Instant::now();
                    black_box(run(site, &agent, count));
                    *least = start.elapsed().as_nanos().min(*least);
                }
            }
        }
    }
    println!("| ns per file | parse | and 1 answer | and 5 answers | and 50 answers |");
    println!("|---|---:|---:|---:|---:|");
    for ((name, _), times) in CONTESTANTS.iter().zip(least) {
        let mean = |files: &Vec<u128>| files.iter().sum::<u128>() / files.len() as u128;
        let cells: Vec<String> = times.iter().map(|files| mean(files).to_string()).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}

/// Compares the answers with those of the slow judge, and prints how many differ. Those of robosieve
/// must not.
fn check(sites: &[Site], agent: &Agent) {
    let count = COUNTS[COUNTS.len() - 1];
    let mut answers = 0;
    let mut different = 0;
    for site in sites {
        let body = site.robots.as_bytes();
        let owned = Robots::parse(body, Profile::Google);
        let borrowed = RobotsRef::parse(body, Profile::Google);
        let fast = fast_robots::RobotsTxt::parse(&site.robots);
        let how = AgentMatch::Extended;
        // Each path once by the slow judge, and as often as in the measurement by the others.
        let judge = |path: &String| {
            reference::judge(body, agent, how, Profile::Google, path.as_bytes()).allowed
        };
        let expected: Vec<bool> = site.paths.iter().take(count).map(judge).collect();
        for (path, &expected) in site.asked(count).zip(expected.iter().cycle()) {
            answers += 1;
            different += usize::from(fast.is_allowed(AGENT, path) != expected);
            assert_eq!(owned.allows(agent, path), expected, "{path}");
            assert_eq!(borrowed.allows(agent, path), expected, "{path}");
        }
    }
    println!(
        "{} files, {answers} answers. robosieve gave all of them as the slow judge, and fast-robots \
         gave {different} others.\n",
        sites.len()
    );
}
