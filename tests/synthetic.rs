//! The synthetic web is the same in every version, and resembles the real one.

use crate::snapshots::{judge_for, snapshot_of_captures};
use robosieve::job::{Input, Job, Outputs};
use robosieve::robots::RuleKind;
use robosieve::{Origin, Profile, RobotsRef, Snapshot};
use robosieve_synthetic::{Order, Web, WebOptions};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use xxhash_rust::xxh3::xxh3_64;

fn web(seed: u64, origins: u64, urls: u64, order: Order) -> Web {
    Web::new(
        WebOptions::default()
            .seed(seed)
            .origins(origins)
            .urls(urls)
            .order(order),
    )
}

fn text(mut reader: impl Read) -> String {
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    text
}

fn captures(web: &Web) -> Vec<Value> {
    text(web.archive())
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn snapshot(web: &Web) -> Snapshot {
    snapshot_of_captures(web.archive())
}

/// A published measurement must stay reproducible, so these digests may not change.
#[test]
fn seeds_fix_the_web() {
    let digest = |seed, order| {
        let web = web(seed, 20_000, 50_000, order);
        (
            xxh3_64(text(web.archive()).as_bytes()),
            xxh3_64(text(web.urls()).as_bytes()),
        )
    };
    let (archive, sorted) = digest(1, Order::Sorted);
    let (same_archive, shuffled) = digest(1, Order::Shuffled);
    assert_eq!(archive, same_archive);
    let found = format!("{archive:x} {sorted:x} {shuffled:x}");
    assert_eq!(found, "5ebe4e4bebcd6f71 8dd4cb775ddf9724 4fafd33c3d5c4e01");
    assert_ne!(digest(2, Order::Sorted), (archive, sorted));
}

#[test]
fn sizes_are_exact() {
    for (origins, urls) in [(1, 1), (2, 0), (17, 5), (500, 4_321)] {
        for order in [Order::Sorted, Order::Shuffled] {
            let web = web(9, origins, urls, order);
            assert_eq!(u64::from(snapshot(&web).origin_count()), origins);
            assert_eq!(text(web.urls()).lines().count() as u64, urls);
        }
    }
}

/// Nothing is precomputed: the largest web starts as fast as the smallest, and finds its last host
/// as fast as its first.
#[test]
fn webs_of_any_size_start_at_once() {
    for order in [Order::Sorted, Order::Shuffled] {
        let web = web(u64::MAX, u64::MAX, u64::MAX, order);
        assert_eq!(web.options().origins, WebOptions::MAX);
        assert_eq!(web.options().urls, WebOptions::MAX);
        let urls = text(web.urls().take(100_000));
        let known = urls
            .lines()
            .filter_map(|url| web.robots(Origin::of(url.as_bytes())?.as_str()));
        assert!(known.count() > 500, "of 1,300 lines");
        let archive = text(web.archive().take(100_000));
        assert!(archive.starts_with(r#"{"url":"https://"#));
    }
}

#[test]
fn shuffled_lists_are_permutations() {
    let lines = |order| {
        text(web(3, 800, 10_000, order).urls())
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (mut sorted, mut shuffled) = (lines(Order::Sorted), lines(Order::Shuffled));
    assert_ne!(sorted, shuffled);
    sorted.sort_unstable();
    shuffled.sort_unstable();
    assert_eq!(sorted, shuffled);
}

/// The rules that the web reports for an origin are those in the compiled archive, after redirects.
#[test]
fn stored_rules_equal_generated_rules() {
    let web = web(4, 3_200, 0, Order::Sorted);
    let snapshot = snapshot(&web);
    let mut redirected = 0;
    for entry in snapshot.origins() {
        let entry = entry.unwrap();
        let stored = snapshot.robots_text(&entry).unwrap();
        let made = web.robots(&entry.origin());
        redirected += usize::from(entry.source().is_some());
        assert_eq!(stored.is_some(), made.is_some(), "{}", entry.origin());
        if let (Some(stored), Some(made)) = (stored, made) {
            let rules = |text: &[u8]| {
                let robots = RobotsRef::parse(text, Profile::Google);
                let rules = robots
                    .groups()
                    .iter()
                    .flat_map(|group| group.rules())
                    .map(|rule| rule.text().to_vec());
                rules.collect::<Vec<_>>()
            };
            assert_eq!(rules(&stored), rules(&made), "{}", entry.origin());
        }
    }
    assert_eq!(redirected, 3_200 / 4);
    assert!(web.robots("https://nobody.test").is_none() && web.robots("nonsense").is_none());
}

/// The value of a line, after its colon.
fn value(line: &[u8]) -> &[u8] {
    line.splitn(2, |byte| *byte == b':')
        .nth(1)
        .unwrap_or_default()
        .trim_ascii()
}

/// A property of patterns.
type Holds = fn(&[u8]) -> bool;

/// Counts of files and of rules with a property.
#[derive(Default)]
struct Measured {
    numbers: BTreeMap<&'static str, Vec<usize>>,
    files: BTreeMap<&'static str, usize>,
    rules: BTreeMap<&'static str, usize>,
}

impl Measured {
    fn of<'b>(bodies: impl IntoIterator<Item = &'b str>) -> Self {
        let mut measured = Self::default();
        bodies.into_iter().for_each(|body| measured.add(body));
        measured
            .numbers
            .values_mut()
            .for_each(|list| list.sort_unstable());
        measured
    }

    fn add(&mut self, body: &str) {
        let robots = RobotsRef::parse(body.as_bytes(), Profile::Google);
        let groups = robots.groups();
        let rules: Vec<_> = groups.iter().flat_map(|group| group.rules()).collect();
        let agents = groups
            .iter()
            .flat_map(|group| group.agents())
            .map(|agent| value(agent.text()));
        let agents: HashSet<Vec<u8>> = agents.map(<[u8]>::to_ascii_lowercase).collect();
        self.number("bytes", body.len());
        self.number("rules", rules.len());
        self.number("groups", groups.len());
        self.number("agents", agents.len());
        for rule in &rules {
            self.number("pattern", value(rule.text()).len());
        }
        let kinds: [(&'static str, Holds); 8] = [
            ("*", |pattern| pattern.contains(&b'*')),
            ("two *", |pattern| {
                pattern.iter().filter(|byte| **byte == b'*').count() > 1
            }),
            ("ends $", |pattern| pattern.ends_with(b"$")),
            ("ends *", |pattern| pattern.ends_with(b"*")),
            ("starts /* or *", |pattern| {
                pattern.starts_with(b"/*") || pattern.starts_with(b"*")
            }),
            ("just /", |pattern| pattern == b"/"),
            ("escape", |pattern| pattern.contains(&b'%')),
            ("upper case", |pattern| {
                pattern.iter().any(u8::is_ascii_uppercase)
            }),
        ];
        for (name, holds) in kinds {
            self.count(
                name,
                rules
                    .iter()
                    .filter(|rule| holds(value(rule.text())))
                    .count(),
            );
        }
        self.count(
            "allow",
            rules
                .iter()
                .filter(|rule| rule.kind() == RuleKind::Allow)
                .count(),
        );
        for (name, holds) in [
            ("CRLF", body.contains("\r\n")),
            ("open end", !body.ends_with('\n')),
            ("Sitemap", body.contains("Sitemap:")),
            ("no * group", !agents.contains(&b"*"[..])),
            ("GPTBot", agents.contains(&b"gptbot"[..])),
            ("Googlebot", agents.contains(&b"googlebot"[..])),
        ] {
            *self.files.entry(name).or_default() += usize::from(holds);
        }
    }

    fn number(&mut self, name: &'static str, number: usize) {
        self.numbers.entry(name).or_default().push(number);
    }

    fn count(&mut self, name: &'static str, rules: usize) {
        *self.rules.entry(name).or_default() += rules;
        *self.files.entry(name).or_default() += usize::from(rules > 0);
    }

    fn quantile(&self, name: &str, share: f64) -> f64 {
        let list = &self.numbers[name];
        list[(list.len() as f64 * share) as usize] as f64
    }

    fn mean(&self, name: &str) -> f64 {
        self.numbers[name].iter().sum::<usize>() as f64 / self.numbers[name].len() as f64
    }

    fn share_of_files(&self, name: &str) -> f64 {
        self.files[name] as f64 / self.numbers["bytes"].len() as f64
    }

    fn share_of_rules(&self, name: &str) -> f64 {
        self.rules[name] as f64 / self.numbers["rules"].iter().sum::<usize>() as f64
    }
}

/// Prints generated and measured figures side by side. Fails unless the generated one is between
/// the measured one divided by `within` and multiplied by it.
#[derive(Default)]
struct Bands(Vec<String>);

impl Bands {
    fn near(&mut self, name: &str, made: f64, measured: f64, within: f64) {
        println!("{name:<40}{made:>10.3}{measured:>10.3}");
        if !(measured / within..=measured * within).contains(&made) {
            self.0
                .push(format!("{name}: {made:.3} is too far from {measured:.3}"));
        }
    }
}

impl Drop for Bands {
    fn drop(&mut self) {
        assert!(
            self.0.is_empty() || std::thread::panicking(),
            "{}",
            self.0.join("\n")
        );
    }
}

/// The measured figures are those of distinct files of 2024 to 2026, unless a comment says
/// otherwise.
#[test]
fn robots_files_resemble_the_real_web() {
    let captures = captures(&web(1, 20_000, 0, Order::Sorted));
    let bodies: Vec<&str> = captures
        .iter()
        .filter_map(|capture| capture["body"].as_str())
        .collect();
    let files: Vec<&str> = bodies
        .into_iter()
        .filter(|body| !body.starts_with("<!DOCTYPE"))
        .collect();
    let distinct: HashSet<&str> = files.iter().copied().collect();
    let mut hosts: HashMap<&str, u32> = HashMap::new();
    files
        .iter()
        .for_each(|file| *hosts.entry(file).or_default() += 1);
    let all = Measured::of(files.iter().copied());
    let one = Measured::of(distinct.iter().copied());
    let mut bands = Bands::default();

    // Common Crawl's archive of 2023: 56 % of the captures are robots.txt files. The widest
    // samples: 58 % and 65 % of hosts share their file with another.
    bands.near(
        "captures with robots.txt",
        files.len() as f64 / 20_000.0,
        0.56,
        1.1,
    );
    let shared = files.iter().filter(|file| hosts[*file] > 1).count();
    bands.near(
        "files that another host has too",
        shared as f64 / files.len() as f64,
        0.62,
        1.2,
    );

    // The average file is between that of popular hosts (1,442 bytes) and that of Common Crawl (464
    // bytes, 3.5 agents).
    bands.near("mean bytes of all", all.mean("bytes"), 820.0, 1.6);
    bands.near("mean agents of all", all.mean("agents"), 3.5, 1.3);
    for (name, [p10, p50, p90, p99]) in [
        ("bytes", [74.0, 245.0, 2120.0, 16026.0]), // 99 %: of all years, as for rules
        ("rules", [1.0, 5.0, 63.0, 348.0]),
        ("groups", [1.0, 1.0, 7.0, 40.0]),
        ("agents", [1.0, 1.0, 8.0, 58.0]),
        ("pattern", [5.0, 18.0, 71.0, 147.0]),
    ] {
        for (share, measured) in [(0.5, p50), (0.9, p90), (0.99, p99)] {
            bands.near(
                &format!("{name} at {share}"),
                one.quantile(name, share),
                measured,
                1.5,
            );
        }
        assert!(one.quantile(name, 0.1) <= p10 * 1.5, "{name}");
    }
    for (name, files, rules) in [
        ("*", 0.405, 0.244),
        ("ends $", 0.139, 0.029),
        ("starts /* or *", 0.300, 0.119),
        ("allow", 0.481, 0.092),
    ] {
        bands.near(
            &format!("files with {name}"),
            one.share_of_files(name),
            files,
            1.35,
        );
        bands.near(
            &format!("rules with {name}"),
            one.share_of_rules(name),
            rules,
            1.45,
        );
    }
    for (name, rules) in [
        ("two *", 0.072),
        ("ends *", 0.102),
        ("just /", 0.077),
        ("escape", 0.024),
        ("upper case", 0.230),
    ] {
        bands.near(
            &format!("rules with {name}"),
            one.share_of_rules(name),
            rules,
            1.5,
        );
    }
    for (name, files) in [
        ("CRLF", 0.181),
        ("open end", 0.447),
        ("Sitemap", 0.758),
        ("no * group", 0.031),
        ("Googlebot", 0.082),
        ("GPTBot", 0.092),
    ] {
        bands.near(
            &format!("files with {name}"),
            one.share_of_files(name),
            files,
            2.0,
        );
    }
}

/// The number of rules for all agents on the host of a URL.
fn rules_for_all(web: &Web, url: &str) -> Option<usize> {
    let text = web.robots(Origin::of(url.as_bytes())?.as_str())?;
    let robots = RobotsRef::parse(&text, Profile::Google);
    let groups = robots
        .groups()
        .iter()
        .filter(|group| group.agents().iter().any(|agent| agent.is_global()));
    Some(groups.map(|group| group.rules().len()).sum())
}

/// The measured figures are of two large lists: links in posts, and pages in sitemaps.
#[test]
fn urls_resemble_the_real_web() {
    let web = web(1, 20_000, 200_000, Order::Sorted);
    let list = text(web.urls());
    let urls: Vec<&str> = list.lines().filter(|line| line.contains("://")).collect();
    let share = |holds: &dyn Fn(&str) -> bool| {
        urls.iter().filter(|url| holds(url)).count() as f64 / urls.len() as f64
    };
    let mut bands = Bands::default();
    let mut lengths: Vec<usize> = urls.iter().map(|url| url.len()).collect();
    lengths.sort_unstable();
    for (at, measured) in [(0.1, 33.0), (0.5, 66.0), (0.9, 115.0), (0.99, 175.0)] {
        bands.near(
            &format!("length at {at}"),
            lengths[(lengths.len() as f64 * at) as usize] as f64,
            measured,
            1.2,
        );
    }
    bands.near("with a query", share(&|url| url.contains('?')), 0.08, 1.5);
    bands.near(
        "with an escape",
        share(&|url| url.contains('%')),
        0.012,
        1.5,
    );
    bands.near("with www.", share(&|url| url.contains("://www.")), 0.5, 1.5);
    bands.near("no URL", 1.0 - urls.len() as f64 / 200_000.0, 0.0003, 1.5);

    let mut of_host: HashMap<Origin, usize> = HashMap::new();
    urls.iter()
        .filter_map(|url| Origin::of(url.as_bytes()))
        .for_each(|origin| *of_host.entry(origin).or_default() += 1);
    let mut counts: Vec<usize> = of_host.into_values().collect();
    counts.sort_unstable();
    let at = |share: f64| counts[(counts.len() as f64 * share) as usize] as f64;
    // 1 / 1 / 5 / 47 and 6 / 129 / 4,337 / 37,068; the most popular host had 29 % and 6 %.
    bands.near("URLs of an origin at 0.5", at(0.5), 3.0, 2.0);
    bands.near("URLs of an origin at 0.99", at(0.99), 150.0, 2.0);
    bands.near(
        "share of the most popular",
        counts[counts.len() - 1] as f64 / 200_000.0,
        0.06,
        1.5,
    );

    let snapshot = snapshot(&web);
    // By list: median 8 to 43, 90th percentile 34 to 70.
    let mut rules: Vec<usize> = urls
        .iter()
        .step_by(20)
        .filter_map(|url| rules_for_all(&web, url))
        .collect();
    rules.sort_unstable();
    for (at, measured) in [(0.5, 16.0), (0.9, 56.0)] {
        bands.near(
            &format!("rules for all by URL at {at}"),
            rules[(rules.len() as f64 * at) as usize] as f64,
            measured,
            2.0,
        );
    }
    for (agent, measured) in [("FooBot", 0.035), ("GPTBot", 0.045)] {
        let judge = judge_for(&snapshot, agent);
        let input = vec![Input::from_reader("synthetic", web.urls())];
        let written = Job::new(&judge).filter(input, Outputs::default());
        let stats = written.unwrap().commit().unwrap();
        let judged = (stats.allowed + stats.disallowed) as f64;
        bands.near(
            &format!("denied to {agent}"),
            stats.disallowed as f64 / judged,
            measured,
            2.0,
        );
        bands.near(
            "of unknown origins",
            stats.unknown as f64 / 200_000.0,
            0.05,
            3.0,
        );
    }
}
