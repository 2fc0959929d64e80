//! The census of agent names, against a slow count: parse every origin's text, and judge with the
//! reference.

use crate::agents::{done, text};
use crate::snapshots::snapshot_of_robots;
use crate::test_dir::TestDir;
use robosieve::census::NamedAgent;
use robosieve::export::Coverage;
use robosieve::robots::reference;
use robosieve::snapshot::OutcomeClass;
use robosieve::{Agent, AgentMatch, Compiler, Profile, RobotsRef, Snapshot};
use robosieve_synthetic::{Web, WebOptions};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The names in a robots.txt, `*` included. SEMANTICS.md, "Groups and agents".
pub(crate) fn names_in(robots: &[u8]) -> BTreeSet<String> {
    let parsed = RobotsRef::parse(robots, Profile::Google);
    let mut names = BTreeSet::new();
    for line in parsed.groups().iter().flat_map(|group| group.agents()) {
        let line_text = String::from_utf8_lossy(line.text()).into_owned();
        let value = match line_text.split_once(':') {
            Some((_, value)) => value.trim().to_owned(),
            None => line_text.split_whitespace().nth(1).unwrap().to_owned(),
        };
        if line.is_global() {
            names.insert("*".to_owned());
            continue;
        }
        let words: Vec<&str> = value
            .split(['/', '*', '#'])
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        let whole = words.join(" ").to_ascii_lowercase();
        let is_token = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '-';
        let token: String = whole.chars().take_while(|c| is_token(*c)).collect();
        let rest = &whole[token.len()..];
        if !token.is_empty() && (rest.is_empty() || rest.starts_with(' ')) {
            names.insert(token);
        }
        if !rest.is_empty() {
            names.insert(whole);
        }
    }
    names
}

/// The coverage of a robots.txt for a name, probed with the paths of its rules and with others.
pub(crate) fn reach_by_asking(robots: &[u8], name: &str) -> Coverage {
    let agent: Agent = name.parse().unwrap();
    let ask = |path: &str| {
        reference::judge(
            robots,
            &agent,
            AgentMatch::Extended,
            Profile::Google,
            path.as_bytes(),
        )
        .allowed
    };
    let mut paths = BTreeSet::from(["/".to_owned(), "/zq-nobody-has-this".to_owned()]);
    for rule in RobotsRef::parse(robots, Profile::Google)
        .groups()
        .iter()
        .flat_map(|group| group.rules())
    {
        let line = String::from_utf8_lossy(rule.text()).into_owned();
        let path = line
            .split_once(':')
            .map_or(line.as_str(), |(_, path)| path)
            .trim();
        for path in [
            path.replace(['*', '$'], ""),
            path.replace('*', "zq").replace('$', ""),
        ] {
            let path = if path.starts_with('/') {
                path
            } else {
                format!("/{path}")
            };
            paths.extend([format!("{path}zq"), path]);
        }
    }
    let answers: BTreeSet<bool> = paths.iter().map(|path| ask(path)).collect();
    match (answers.contains(&true), answers.contains(&false)) {
        (true, true) => Coverage::Partly,
        (false, _) => Coverage::Wholly,
        (true, false) => Coverage::Not,
    }
}

/// Counts again, slowly.
fn slow(snapshot: &Snapshot) -> BTreeMap<String, [u64; 3]> {
    let mut counts: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    let mut known: HashMap<Vec<u8>, Vec<(String, Coverage)>> = HashMap::new();
    for entry in snapshot.origins().map(Result::unwrap) {
        if entry.outcome().class != OutcomeClass::Rules {
            continue;
        }
        let robots = snapshot.robots_text(&entry).unwrap().unwrap();
        let coverages = known.entry(robots).or_insert_with_key(|robots| {
            names_in(robots)
                .into_iter()
                .map(|name| (name.clone(), reach_by_asking(robots, &name)))
                .collect()
        });
        for (name, reach) in coverages {
            counts.entry(name.clone()).or_default()[*reach as usize] += 1;
        }
    }
    counts
}

fn as_counts(named: &NamedAgent) -> (String, [u64; 3]) {
    assert_eq!(named.origins, named.wholly + named.partly + named.not);
    (named.name.clone(), [named.not, named.partly, named.wholly])
}

fn compare(compiler: Compiler) {
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let mut expected = slow(&snapshot);
    let census = snapshot.census().unwrap();
    let rules = snapshot
        .origins()
        .filter(|entry| entry.as_ref().unwrap().outcome().class == OutcomeClass::Rules);
    assert_eq!(census.origins(), rules.count() as u64);
    let global = expected.remove("*").unwrap_or_default();
    assert_eq!(as_counts(&census.global()), ("*".to_owned(), global));
    let ranking = census.top(usize::MAX).unwrap();
    let found: BTreeMap<_, _> = ranking.iter().map(as_counts).collect();
    assert_eq!(found, expected);
    assert_eq!(ranking.len(), expected.len());
    assert_eq!(census.names(), expected.len());
    assert!(
        ranking.is_sorted_by_key(|named| (std::cmp::Reverse(named.origins), named.name.clone()))
    );
    for named in ranking.iter().take(20) {
        let found = census.named(&named.name.to_ascii_uppercase()).unwrap();
        assert_eq!(found, *named);
    }
}

#[test]
fn census_of_a_synthetic_web_equals_a_slow_count() {
    let mut compiler = Compiler::default();
    let web = Web::new(WebOptions::default().origins(150));
    compiler.add_reader("web", web.archive()).unwrap();
    compare(compiler);
}

/// Names and their rules: truncated names (`MJ12bot` and `mj`), one name in several spellings,
/// unions of groups, rules for everything in every spelling, and exceptions to them with and
/// without an effect.
const FILES: &[&str] = &[
    "user-agent: MJ12bot\ndisallow: /\nuser-agent: *\ndisallow: /a",
    "user-agent: mj\ndisallow: /x\nuser-agent: MJ12bot/v1\ndisallow: /",
    "user-agent: mj\nuser-agent: MJ12bot\ndisallow: /",
    "user-agent: panscient.com\nuser-agent: semrushbot.ba\nuser-agent: Semrushbot\ndisallow: /",
    "user-agent: Kangaroo   Bot\ndisallow: /*\nuser-agent: 360Spider\nuser-agent: *bad\ndisallow: *",
    "user-agent: foo/1.0\nuser-agent: FOO*\nallow: /\ndisallow: /",
    "user-agent: foo\ndisallow: /**\nallow: /\nuser-agent: bar\ndisallow: /\nallow: /x$",
    "user-agent: foo\ndisallow: /\nallow: /index.html\nuser-agent: bar\ndisallow:\nuser-agent: baz",
    "user-agent: foo\ndisallow: /$\nuser-agent: bar\ndisallow: *$\nuser-agent: baz\ndisallow: x",
    "user-agent: foo\nallow: /*\ndisallow: /\nuser-agent: bar\nallow: *\ndisallow: /*$",
    "user-agent: foo\ndisallow: /****************\nallow: /*\nuser-agent: bar\ndisallow: /*****************$",
    "disallow: /\nuser-agent: ééé\nuser-agent: a\u{1b}[2Jb\ndisallow: /",
    "user-agent: *\nuser-agent: foo\ndisallow: /\nallow: /a\nuser-agent: foo\ndisallow: /a",
];

#[test]
fn census_of_odd_files_equals_a_slow_count() {
    let mut compiler = Compiler::default();
    for (i, robots) in FILES.iter().enumerate() {
        for scheme in ["http", "https"].iter().take(1 + i % 2) {
            compiler
                .add_robots(&format!("{scheme}://h{i}.example"), robots.as_bytes())
                .unwrap();
        }
    }
    compare(compiler);
}

/// Groups that are too many to merge stay separate, and are judged together.
#[test]
fn unmerged_groups_count_as_one() {
    let letters = |i: usize| {
        i.to_string()
            .bytes()
            .map(|b| char::from(b - b'0' + b'a'))
            .collect::<String>()
    };
    let mut robots: String = (0..3000)
        .map(|i| format!("user-agent: a{}\n", letters(i)))
        .collect();
    robots.extend((0..2999).map(|i| format!("disallow: /{i}\n")));
    robots += "disallow: /\n";
    robots.extend((0..3000).map(|i| {
        let rule = if i % 2 == 0 {
            format!("allow: /{i}/x\n")
        } else {
            String::from("disallow: /b\n")
        };
        format!("user-agent: a{}\n{rule}", letters(i))
    }));
    let snapshot = snapshot_of_robots("https://e.example", robots);
    let census = snapshot.census().unwrap();
    assert_eq!(census.names(), 3000);
    for i in [0, 1, 1500, 1501, 2998, 2999] {
        let named = census.named(&format!("a{}", letters(i))).unwrap();
        let found = (named.partly, named.wholly);
        assert_eq!(found, if i % 2 == 0 { (1, 0) } else { (0, 1) }, "{i}");
    }
}

#[test]
fn agents_ranks_a_snapshot() {
    let dir = TestDir::new();
    let lines = FILES.iter().enumerate().map(|(i, body)| {
        let url = format!("https://h{i}.example/robots.txt");
        serde_json::json!({"url": url, "status": 200, "body": body}).to_string() + "\n"
    });
    dir.write("a.jsonl", lines.collect::<String>());
    dir.done_line("compile -q a.jsonl -o web");
    let all = done(dir.root(), &["agents", "web"]);
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let printed: Vec<Vec<String>> = text(&all).lines().map(words).collect();
    let found = printed[0].join(" ");
    assert_eq!(found, "13 origins with a robots.txt, 13 agent names");
    assert_eq!(printed[2], ["*", "2", "0", "2", "0", "-", "-"]);
    assert_eq!(printed[3][..2], ["foo", "7"]);
    assert!(
        printed
            .iter()
            .any(|row| row[..] == ["MJ12bot", "3", "3", "0", "0", "other", "Majestic"])
    );
    // Control characters in site text are escaped.
    assert!(!all.stdout.contains(&0x1b) && text(&all).contains("a\\u{1b}[2jb"));
    let few = done(dir.root(), &["agents", "web", "--top", "1", "--tsv"]);
    assert_eq!(text(&few).lines().count(), 3);
    let output = done(
        dir.root(),
        &["agents", "web", "-a", "mj12bot,FooBot,*,foo:bar", "--json"],
    );
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["agents"].as_array().unwrap();
    let rows: Vec<(&str, u64)> = rows
        .iter()
        .map(|row| {
            (
                row["name"].as_str().unwrap(),
                row["origins"].as_u64().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("foo", 7),
        ("bar", 5),
        ("MJ12bot", 3),
        ("*", 2),
        ("foobot", 0),
    ];
    assert_eq!(rows, expected);
    assert_eq!(report["origins"].as_u64(), Some(13));
    assert_eq!(report["names"].as_u64(), Some(13));
    let ran = dir.run(&["agents", "--top", "3"]);
    ran.refused("SNAP");
}
