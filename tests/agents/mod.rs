//! Agents on the command line: the registry, sets of agents, files of agents, many agents, and
//! notes on their names.

pub(crate) mod census;
mod crawlers;
mod spelling;

use crate::command::{Ran, assert_has, cells, robosieve_with, words};
use crate::test_dir::TestDir;
use std::path::Path;

/// A directory with a snapshot `web` of one site, which refuses `/x` to GPTBot, `/y` to MJ12bot and
/// all to `zz`.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    let robots = "user-agent: GPTBot\\ndisallow: /x\\nuser-agent: MJ12bot\\ndisallow: /y\\nuser-agent: zz\\ndisallow: /";
    let line = format!(
        "{{\"url\": \"https://a.example/robots.txt\", \"status\": 200, \"body\": \"{robots}\"}}\n"
    );
    dir.write("a.jsonl", line);
    dir.write("urls", "https://a.example/z\n");
    dir.done_line("compile -q a.jsonl -o web");
    dir
}

fn done(dir: &Path, args: &[&str]) -> Ran {
    let ran = robosieve_with(dir, args, b"https://a.example/x\n");
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran
}

fn text(ran: &Ran) -> String {
    String::from_utf8(ran.stdout.clone()).unwrap()
}

/// The first column of `robosieve agents --tsv` for `who`.
fn listed(dir: &Path, who: &[&str]) -> Vec<String> {
    let printed = text(&done(dir, &[&["agents", "--tsv"], who].concat()));
    printed
        .lines()
        .skip(1)
        .map(|line| line.split('\t').next().unwrap().to_owned())
        .collect()
}

#[test]
fn agents_prints_the_registry() {
    let dir = TestDir::new();
    let shipped = include_str!("../../datasets/agents.tsv");
    let rows: Vec<&str> = shipped
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let found = text(&done(dir.root(), &["agents", "--tsv"]));
    assert_eq!(found.lines().collect::<Vec<_>>(), rows);
    let date = shipped
        .lines()
        .find_map(|line| line.strip_prefix("# date: "))
        .unwrap();
    let listed = text(&done(dir.root(), &["agents"]));
    assert_eq!(listed.lines().count(), rows.len() + 2);
    assert!(
        listed.starts_with("token ") && listed.ends_with(&format!("\n\nRegistry of {date}\n")),
        "{listed}"
    );
    let printed: serde_json::Value =
        serde_json::from_slice(&done(dir.root(), &["agents", "--json"]).stdout).unwrap();
    assert_eq!(printed["registry_date"], date);
    let rebuilt: Vec<String> = printed["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(tsv_of)
        .collect();
    assert_eq!(rebuilt, rows[1..]);
}

fn tsv_of(object: &serde_json::Value) -> String {
    let cell = |key: &str| match (key, &object[key]) {
        ("falls_back_to", serde_json::Value::Null) => "none".to_owned(),
        (_, serde_json::Value::Bool(true)) => "yes".to_owned(),
        (_, serde_json::Value::Bool(false)) => "no".to_owned(),
        (_, value) => value.as_str().unwrap_or("unknown").to_owned(),
    };
    let keys = [
        "token",
        "operator",
        "purpose",
        "obeys",
        "falls_back_to",
        "ignores_star",
        "source",
    ];
    keys.map(cell).join("\t")
}

#[test]
fn sets_mix_with_agents_without_duplicates() {
    let dir = snapshot_dir();
    let set = listed(dir.root(), &["-a", "@ai-user"]);
    assert!(set.len() > 3 && set.contains(&"Claude-User".to_owned()));
    let mixed = listed(
        dir.root(),
        &["-a", "FooBot,claude-user,@ai-user", "-a", "@ai-user,BarBot"],
    );
    let others = set
        .iter()
        .filter(|name| *name != "Claude-User")
        .map(String::as_str);
    let expected: Vec<&str> = ["FooBot", "claude-user"]
        .into_iter()
        .chain(others)
        .chain(["BarBot"])
        .collect();
    assert_eq!(mixed, expected, "in the order of first appearance");
    dir.write("who.txt", "FooBot\n\n@AI-user # all of them\nClaude-User\n");
    let found = listed(dir.root(), &["--agents-from", "who.txt"]).len();
    assert_eq!(found, set.len() + 1);
}

#[test]
fn own_sets_select_their_members_everywhere() {
    let dir = snapshot_dir();
    let file = "@team=FooBot,@ai-user # ours\nGPTBot\n@openai=GPTBot,ChatGPT-User\n";
    dir.write("who.txt", file);
    let user = listed(dir.root(), &["-a", "@ai-user"]);
    let found = listed(dir.root(), &["-a", "@Own=b,zz,b/2", "-a", "c"]);
    assert_eq!(found, ["b", "zz", "c"]);
    let found = listed(dir.root(), &["-a", "c,@one=b,@two=zz,a"]);
    assert_eq!(found, ["c", "b", "zz", "a"]);
    // A name on -a may be defined in the file, which also selects it.
    let both = listed(
        dir.root(),
        &["-a", "@OPENAI,zz", "--agents-from", "who.txt"],
    );
    assert_eq!(both[..4], ["GPTBot", "ChatGPT-User", "zz", "FooBot"]);
    assert_eq!(both.len(), 3 + user.len(), "ChatGPT-User is in both sets");
    for verb in VERBS {
        let who = ["-a", "@own=GPTBot,MJ12bot", "-a", "@own"];
        done(dir.root(), &[verb, &who[..]].concat());
    }
    let letters = done(
        dir.root(),
        &["annotate", "-s", "web", "-a", "@own=zz,GPTBot,b"],
    );
    assert_eq!(text(&letters), "DDA\thttps://a.example/x\n");
}

#[test]
fn misused_own_sets_are_errors() {
    let dir = snapshot_dir();
    dir.write("twice.txt", "@own=a\nb\n@OWN=c\n");
    let cases = [
        "-a @ai=GPTBot | a built-in set has this name; choose another one",
        "-a @own= | agent \"@own\": the set has no members",
        "-a @own=a,,b | agent \"\": a name is missing",
        "-a @own=a,@other | agent \"@other\": not a built-in set",
        "-a @own=a -a @own=b | agent \"@own\": the set is defined twice",
        "-a @a\u{1b}b=c | agent \"@a\\u{1b}b\": not a name of a set",
        "-a @own=a -a @owm | @data-provider, @search, @own",
        "--agents-from twice.txt | twice.txt: line 3: agent \"@OWN\": the set is defined",
        "-a @own=a,c --agents-from twice.txt | twice.txt: line 1: ",
    ];
    for verb in VERBS {
        for row in cases {
            let [who, expected] = cells(row);
            let ran = dir.run(&[verb, &words(who)[..]].concat());
            ran.refused(expected);
        }
        let blank = ["-a", "@own=GPTBot CCBot"];
        let ran = dir.run(&[verb, &blank[..]].concat());
        ran.refused("separate agents by commas: -a GPTBot,CCBot");
    }
}

/// Every verb that takes agents, with the snapshot `web`.
const VERBS: &[&[&str]] = &[
    &["filter", "-s", "web"],
    &["annotate", "-s", "web"],
    &["check", "-s", "web", "https://a.example/z"],
    &["bench", "-s", "web", "--urls", "urls", "--runs", "1", "-j1"],
    &["agents"],
];

#[test]
fn unknown_sets_are_errors() {
    let dir = snapshot_dir();
    dir.write("who.txt", "FooBot\n@aii\n");
    let there_are =
        "there are @ai, @ai-train, @ai-search, @ai-user, @ai-agent, @data-provider, @search";
    for verb in VERBS {
        let ran = dir.run(&[verb, &["-a", "@aii"][..]].concat());
        ran.refused(there_are);
        let ran = dir.run(&[verb, &["--agents-from", "who.txt"][..]].concat());
        ran.refused("who.txt: line 2: ");
    }
}

/// Agents, the way of matching, and the text of the note; empty if there is none. SEMANTICS.md,
/// "Groups and agents".
const NOTES: &[&str] = &[
    "FooBot | extended",
    "FooBot | google",
    "* | google",
    "MJ12bot | extended | agent MJ12bot has characters outside | compared with the whole name",
    "MJ12bot,Kangaroo Bot,a | extended | agents MJ12bot, Kangaroo Bot each have",
    "MJ12bot | google | agent MJ12bot has | no group can name it",
    "MJ12bot:Majestic | google | agent MJ12bot:Majestic has | only by its other names",
    "@ai | extended",
    "@ai-train | google | agents AI2Bot, Ai2Bot-Dolma,  | no group can name it",
    "a,A/2 | extended",
    "@ai,gptbot | extended | a set contains them already: gptbot",
];

#[test]
fn every_verb_warns_of_unmatchable_names() {
    let dir = snapshot_dir();
    for (number, row) in NOTES.iter().enumerate() {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [agents, how, expected @ ..] = &cells[..] else {
            panic!("{row}")
        };
        // A benchmark takes at least a second.
        for verb in VERBS
            .iter()
            .filter(|verb| verb[0] != "bench" || number == 5)
        {
            dir.write("who.txt", agents.replace(',', "\n"));
            for who in [["-a", agents], ["--agents-from", "who.txt"]] {
                let args = [*verb, &who, &["--agent-match", how]].concat();
                let ran = done(dir.root(), &args);
                let notes: Vec<&str> = ran
                    .stderr
                    .lines()
                    .filter(|line| line.contains("note: "))
                    .collect();
                let wanted = usize::from(!expected.is_empty());
                assert_eq!(notes.len(), wanted, "{args:?}: {ran:?}");
                assert!(
                    expected.iter().all(|words| notes[0].contains(words)),
                    "{args:?}: {notes:?}"
                );
                assert!(
                    !done(dir.root(), &[&args[..], &["-q"]].concat())
                        .stderr
                        .contains("note: "),
                    "{args:?}"
                );
            }
        }
    }
}

/// More names than fit in two 64-bit words. GPTBot is the 71st, and `zz` the last.
fn many() -> Vec<String> {
    let mut names: Vec<String> = (0..140).map(|i| format!("b{}", "x".repeat(i))).collect();
    names[70] = "GPTBot".to_owned();
    names[139] = "zz".to_owned();
    names
}

#[test]
fn more_than_64_agents_work_everywhere() {
    let dir = snapshot_dir();
    let names = many();
    dir.write("who.txt", names.join("\n"));
    let who = ["-s", "web", "--agents-from", "who.txt"];
    let run = |args: &[&str]| done(dir.root(), &[args, &who].concat());
    let letters: String = (0..140)
        .map(|i| if i == 70 || i == 139 { 'D' } else { 'A' })
        .collect();
    let annotated = run(&["annotate"]);
    let found = text(&annotated);
    assert_eq!(found, format!("{letters}\thttps://a.example/x\n"));
    let row = |words: &str| {
        annotated
            .stderr
            .lines()
            .any(|line| line.split_whitespace().eq(words.split(' ')))
    };
    assert!(row(&format!("70 {} allowed 1 disallowed 0", names[69])));
    assert!(row("71 GPTBot allowed 0 disallowed 1"), "{annotated:?}");
    assert!(row("140 zz allowed 0 disallowed 1"), "{annotated:?}");
    let found = text(&run(&["annotate", "--as", "mask"]));
    assert_eq!(found, letters.replace('A', "1").replace('D', "0") + "\n");
    let object: serde_json::Value =
        serde_json::from_slice(&run(&["annotate", "--as", "jsonl"]).stdout).unwrap();
    for (name, letter) in names.iter().zip(letters.chars()) {
        assert_eq!(
            object["robots"][name],
            if letter == 'D' {
                "disallowed"
            } else {
                "allowed"
            },
            "{name}"
        );
    }
    let found = text(&run(&["filter", "--require", "any"]));
    assert_eq!(found, "https://a.example/x\n");
    assert_eq!(text(&run(&["filter"])), "");
    let checked = dir.run(&[&["check", "https://a.example/x"][..], &who].concat());
    assert_eq!(checked.code, Some(1));
    let refused: Vec<usize> = (0..140)
        .filter(|&i| text(&checked).lines().nth(i).unwrap().starts_with("dis"))
        .collect();
    assert_eq!(refused, [70, 139]);
    dir.write("urls", "https://a.example/x\n");
    let bench = text(&run(&words("bench --urls urls --runs 1 --threads 1")));
    assert_has(&bench, "140 agents");
    assert_has(&bench, "allowed 0  disallowed 1");
}

#[test]
fn letter_positions_are_listed() {
    let dir = snapshot_dir();
    let ran = done(
        dir.root(),
        &["agents", "-a", "FooBot,Googlebot-Image:Googlebot,gptbot"],
    );
    let rows: Vec<Vec<String>> = text(&ran)
        .lines()
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect();
    let columns = [
        "token",
        "operator",
        "purpose",
        "obeys",
        "falls_back_to",
        "ignores_star",
        "source",
    ];
    assert_eq!(rows[0], columns);
    assert_eq!(rows[1], ["1", "FooBot", "-", "-", "-", "-", "-", "-"]);
    // The chain of the registry has a column of its own.
    assert_eq!(rows[2][5], "Googlebot");
    assert_eq!(rows[2][..3], ["2", "Googlebot-Image", "Google"]);
    assert_eq!(rows[3][..5], ["3", "gptbot", "OpenAI", "ai-train", "yes"]);
}

#[test]
fn a_known_crawler_in_place_of_the_snapshot_is_shown() {
    let dir = snapshot_dir();
    for (given, option) in [
        ("GPTBot", "GPTBot"),
        ("gptbot,CCBot", "gptbot,CCBot"),
        ("@openai=GPTBot", "@openai=GPTBot"),
        ("@ai-search", "@ai-search"),
    ] {
        let shown = done(dir.root(), &["agents", "--tsv", given]);
        assert_eq!(shown, done(dir.root(), &["agents", "--tsv", "-a", option]));
    }
    let ranked = done(dir.root(), &["agents", "-s", "web", "GPTBot"]);
    assert_eq!(ranked, done(dir.root(), &["agents", "web", "-a", "GPTBot"]));
    // A file is a snapshot, whatever its name.
    std::fs::rename(dir.path("web"), dir.path("CCBot")).unwrap();
    let ranked = text(&done(dir.root(), &["agents", "CCBot"]));
    assert!(ranked.starts_with("1 origin with a robots.txt"), "{ranked}");
    let unknown = dir.run(&["agents", "no-such.rsieve"]);
    assert_eq!(unknown.code, Some(2));
    for part in ["no-such.rsieve: no such file", "-a no-such.rsieve"] {
        assert!(unknown.stderr.contains(part), "{}", unknown.stderr);
    }
}
