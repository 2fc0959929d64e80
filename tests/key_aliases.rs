//! Keys of JSON with an older word for *disallowed* have an alias with this word.

use crate::command::checkout;
use crate::test_dir::TestDir;
use serde_json::{Deserializer, Value};
use std::collections::BTreeSet;

/// The keys with an older word, and their aliases.
const ALIASES: &[(&str, &str)] = &[
    ("any_refused", "any_disallowed"),
    ("origins_refused", "origins_disallowed"),
    ("refused", "disallowed"),
    ("refused_to_any", "disallowed_to_any"),
    ("urls_refused", "urls_disallowed"),
];

/// A command for each form of JSON of each verb. `old` and `s` are snapshots of `datasets/small`,
/// the first without its WARC file.
const COMMANDS: &[&str] = &[
    "compile -q -o new more.jsonl --stats-json stats.json",
    "captures -q -o new.captures more.jsonl --stats-json stats.json",
    "filter -q -s s -a GPTBot,@search -o kept.txt urls.txt --stats-json stats.json",
    "annotate -q -s s -a GPTBot,@search -o lines.txt urls.txt --stats-json stats.json",
    "annotate -q -s s -a GPTBot --as jsonl --add origin,reason,crawl_delay --preferences urls.txt",
    "check -s s -a GPTBot https://news.example/a --json",
    "check --robots robots.txt -a GPTBot https://news.example/a --json",
    "inspect s --json",
    "inspect s https://news.example --json",
    "export -q -s s -a GPTBot --as jsonl",
    "export -q -s s -a GPTBot,@search -o sites.csv --stats-json stats.json",
    "lint -q -s s --json",
    "lint -q robots.txt --json",
    "lint -q robots.txt --sarif",
    "lint --codes --json",
    "lint -q -s s --stats-json stats.json",
    "agents --json",
    "agents s --json",
    "diff old s --json",
    "diff old s --json -a GPTBot",
    "diff old s --stats-json stats.json --svg diff.svg",
    "due -q -s s urls.txt --as jsonl --stale-at 2027-01-01",
    "due -q -s s urls.txt --stale-at 2027-01-01 -o due.txt --stats-json stats.json",
    "report -q -s s -a GPTBot,@search --json-to -",
    "report -q -s s -a GPTBot,@search --sample 5 --json-to -",
    "report -q -s s -a GPTBot,@search --weights weights.txt --group-by groups.txt --json-to -",
    "report -q -s s -a GPTBot,@search --json-to - urls.txt",
    "report -q -a GPTBot,@search --series 1=old 2=s --json-to -",
    "report -q -s s -a GPTBot --html page.html --stats-json stats.json urls.txt",
    "audit -q -s s --host https://news.example access.log --json",
    "audit -q -s s --host https://news.example access.log --html page.html --stats-json stats.json",
    "bench --origins 10 --urls 10 --json",
    "lists -q -o own.rlists own=domains.txt --stats-json stats.json",
];

/// Checks the objects in a value, and collects their keys with an older word.
fn check_aliases(value: &Value, command: &str, found: &mut BTreeSet<String>) {
    let children: Vec<&Value> = match value {
        Value::Object(object) => {
            for (key, value) in object {
                if !key.contains("refus") && !key.contains("block") {
                    continue;
                }
                let (_, alias) = ALIASES
                    .iter()
                    .find(|(older, _)| older == key)
                    .unwrap_or_else(|| panic!("{command}: {key} is an older word without alias"));
                assert_eq!(object.get(*alias), Some(value), "{command}: {key}");
                found.insert(key.clone());
            }
            object.values().collect()
        }
        Value::Array(array) => array.iter().collect(),
        _ => return,
    };
    for child in children {
        check_aliases(child, command, found);
    }
}

#[test]
fn keys_with_an_older_word_have_an_alias_in_the_json_of_every_verb() {
    let dir = TestDir::new();
    dir.compile_small("s");
    for file in ["small/more.jsonl", "small/urls.txt", "site/access.log"] {
        let (_, name) = file.split_once('/').unwrap();
        std::fs::copy(checkout().join("datasets").join(file), dir.path(name)).unwrap();
    }
    dir.done_line("compile -q -o old more.jsonl");
    dir.write(
        "robots.txt",
        "User-agent: *\nDisallow: /a\nDisallow: /a/b\n",
    );
    dir.write("domains.txt", "news.example\n");
    dir.write("weights.txt", "news.example,2\n");
    dir.write("groups.txt", "news.example,news\n");
    let mut found = BTreeSet::new();
    for command in COMMANDS {
        let ran = dir.run_line(command);
        // 1 is a disallowed URL or a finding.
        assert!(matches!(ran.code, Some(0 | 1)), "{command}: {}", ran.stderr);
        let json = match command.contains(" stats.json") {
            true => dir.read("stats.json"),
            false => ran.stdout,
        };
        let mut values = 0;
        for value in Deserializer::from_slice(&json).into_iter::<Value>() {
            let value = value.unwrap_or_else(|err| panic!("{command}: {err}"));
            check_aliases(&value, command, &mut found);
            values += 1;
        }
        assert!(values > 0, "{command} prints no JSON");
    }
    let older: Vec<&str> = ALIASES.iter().map(|(older, _)| *older).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), older);
}

/// A verb with an option for JSON has a command above, so that no verb is left out.
#[test]
fn every_option_for_json_has_a_command() {
    let dir = TestDir::new();
    for verb in crate::command::VERBS {
        let help = dir.stdout_of(&format!("{verb} --help"));
        for option in ["--json", "--json-to", "--stats-json", "--sarif"] {
            let is_option = |line: &str| line.trim_start().split([' ', ',']).next() == Some(option);
            if !help.lines().any(is_option) {
                continue;
            }
            let has_command = COMMANDS.iter().any(|command| {
                let mut words = command.split(' ');
                words.next() == Some(verb) && words.any(|word| word == option)
            });
            assert!(has_command, "{verb} {option}");
        }
    }
}
