//! Reproducible generated robots.txt files and URLs, with the verdicts of the reference judge.

pub mod growth;

use robosieve::robots::reference;
use robosieve::{Agent, AgentMatch, Compiler, Profile, Snapshot};
use std::cell::OnceCell;

/// The origin of all single-site benchmarks.
pub const ORIGIN: &str = "https://h.example";

/// A linear congruential generator (Knuth's MMIX constants), good enough to vary names.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ca", "shop", "ta", "log", "re", "view", "mi", "no", "user", "pa", "ge", "se", "arch",
            "li", "st", "de",
        ];
        (0..1 + self.below(3))
            .map(|_| SYLLABLES[self.below(16)])
            .collect()
    }

    pub fn path(&mut self) -> String {
        (0..1 + self.below(4))
            .map(|_| format!("/{}", self.word()))
            .collect()
    }
}

/// One site: its robots.txt, and URLs of which about half match a rule.
pub struct Site {
    pub robots: String,
    pub urls: Vec<String>,
    expected: OnceCell<Vec<bool>>,
}

impl Site {
    /// A site with `rules` rules. One in `wild` has wildcards; with 0, none has.
    pub fn new(rules: usize, wild: usize) -> Self {
        let mut random = Random::new(rules as u64);
        let patterns: Vec<String> = (0..rules)
            .map(|i| match wild {
                0 => random.path(),
                wild if i % wild > 0 => random.path(),
                _ if random.below(2) == 0 => format!("/*?{}=", random.word()),
                _ => format!("{}/*/{}$", random.path(), random.word()),
            })
            .collect();
        let lines = patterns.iter().enumerate().map(|(i, pattern)| {
            let kind = if i % 7 == 3 { "Allow" } else { "Disallow" };
            format!("{kind}: {pattern}\n")
        });
        let robots = format!(
            "User-agent: *\n{}Sitemap: {ORIGIN}/sitemap.xml\n",
            lines.collect::<String>()
        );
        let urls: Vec<String> = (0..1000)
            .map(|i| match i % 2 {
                0 => format!(
                    "{ORIGIN}{}",
                    patterns[random.below(rules)]
                        .replace('*', "x")
                        .replace('$', "")
                ),
                _ => format!("{ORIGIN}{}?page={i}", random.path()),
            })
            .collect();
        Self::of(robots, urls)
    }

    /// A site with this robots.txt and these URLs.
    pub fn of(robots: String, urls: Vec<String>) -> Self {
        Self {
            robots,
            urls,
            expected: OnceCell::new(),
        }
    }

    /// Whether each URL may be fetched, according to the reference judge. Slow on a large site.
    pub fn expected(&self) -> &[bool] {
        self.expected.get_or_init(|| {
            self.urls
                .iter()
                .map(|url| reference_allows(&self.robots, url))
                .collect()
        })
    }

    /// The number of URLs that may be fetched.
    pub fn allowed(&self) -> usize {
        self.expected().iter().filter(|allowed| **allowed).count()
    }

    /// The part of each URL after its origin.
    pub fn paths(&self) -> Vec<&str> {
        self.urls.iter().map(|url| &url[ORIGIN.len()..]).collect()
    }

    /// A snapshot of only this site.
    pub fn snapshot(&self) -> Snapshot {
        snapshot([(ORIGIN.to_owned(), self.robots.as_str())])
    }
}

/// Sites of four sizes, from common to rare: 5 rules, 65 rules, 1,000 rules of which half have
/// wildcards, and 3,000 literal rules.
pub fn sites() -> Vec<(&'static str, Site)> {
    vec![
        ("small", Site::new(5, 5)),
        ("medium", Site::new(65, 5)),
        ("large", Site::new(1000, 2)),
        ("literal", Site::new(3000, 0)),
    ]
}

pub fn agent() -> Agent {
    "FooBot".parse().expect("a plain name")
}

pub fn reference_allows(robots: &str, url: &str) -> bool {
    reference::judge(
        robots.as_bytes(),
        &agent(),
        AgentMatch::Google,
        Profile::Google,
        url.as_bytes(),
    )
    .allowed
}

/// A snapshot of origins and their robots.txt files.
pub fn snapshot<'a>(sites: impl IntoIterator<Item = (String, &'a str)>) -> Snapshot {
    Snapshot::new(compile(sites)).expect("a snapshot")
}

/// The bytes of a snapshot of origins and their robots.txt files.
pub fn compile<'a>(sites: impl IntoIterator<Item = (String, &'a str)>) -> Vec<u8> {
    let mut compiler = Compiler::default();
    for (origin, robots) in sites {
        compiler
            .add_robots(&origin, robots.as_bytes())
            .expect("an origin");
    }
    compiler
        .finish()
        .and_then(|compiled| compiled.to_vec())
        .expect("a snapshot")
}

/// Many sites that share a few robots.txt files, and a list of URLs with `run` consecutive lines
/// per origin.
pub fn web(origins: usize, lines: usize, run: usize) -> (Snapshot, String) {
    let files = sites();
    let name = |i: usize| format!("https://site-{i}.example");
    let snapshot = snapshot((0..origins).map(|i| (name(i), files[i % 2].1.robots.as_str())));
    let mut random = Random::new(7);
    let mut list = String::new();
    let mut origin = String::new();
    for i in 0..lines {
        if i % run == 0 {
            origin = name(random.below(origins + origins / 10));
        }
        let url = &files[i % 2].1.urls[random.below(1000)];
        list.extend([&origin, &url[ORIGIN.len()..], "\n"]);
    }
    (snapshot, list)
}
