//! Agents that no robots.txt names: every verb warns of misspelled names, but not of new ones.

use super::{done, snapshot_dir, text};
use crate::command::{assert_has, cells, robosieve_with, words};
use crate::test_dir::TestDir;
use robosieve::census::SpellCheck;
use robosieve::{Compiler, Snapshot};
use std::path::Path;

/// Every verb that takes agents, with its other arguments. The snapshot `web` names GPTBot, MJ12bot
/// and `zz`.
const VERBS: &[&[&str]] = &[
    &["filter", "-s", "web"],
    &["annotate", "-s", "web"],
    &["check", "-s", "web", "https://a.example/z"],
    &["check", "--robots", "robots.txt", "/z"],
    &["report", "-s", "web"],
    &["diff", "web", "web"],
    &["agents", "web"],
    &["agents"],
    &["bench", "-s", "web", "--urls", "urls", "--runs", "1", "-j1"],
];

/// The exit code and the standard error.
fn run(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let ran = robosieve_with(dir, args, b"https://a.example/x\n");
    (ran.code, ran.stderr)
}

#[test]
fn every_verb_warns_of_misspelled_agents() {
    let dir = snapshot_dir();
    dir.write("robots.txt", "user-agent: *\nallow: /");
    dir.write("who.txt", "GTPBot\n");
    for verb in VERBS {
        for who in [
            &["-a", "GTPBot"][..],
            &["--agents-from", "who.txt"],
            &["-q", "-a", "CCBot,GTPBot,MyBot"],
        ] {
            let args = [*verb, who].concat();
            let (code, stderr) = run(dir.root(), &args);
            let doubt = stderr
                .lines()
                .find(|line| line.starts_with("robosieve: warning: "));
            assert!(
                doubt.is_some_and(|line| line.ends_with(" GTPBot; did you mean GPTBot?")),
                "{args:?}: {stderr}"
            );
            let found = (code, stderr.matches("did you mean").count());
            assert_eq!(found, (Some(0), 1), "{args:?}: {stderr}");
            let (code, stderr) = run(dir.root(), &[&args[..], &["--strict-agents"]].concat());
            assert_eq!(code, Some(2), "{args:?}: {stderr}");
            assert_has(&stderr, "GTPBot; did you mean GPTBot? (--strict-agents)");
        }
    }
}

#[test]
fn known_and_new_names_cause_no_warning() {
    let dir = snapshot_dir();
    dir.write("robots.txt", "user-agent: *\nallow: /");
    let agents =
        "*,GPTBot,mj12bot,MyBot,FooBot,Kangaroo Bot,Googlebot-Image:Googelbot,My Own Crawler,@ai";
    for verb in VERBS.iter().filter(|verb| verb[0] != "bench") {
        let (code, stderr) = run(
            dir.root(),
            &[*verb, &["--strict-agents", "-a", agents]].concat(),
        );
        assert!(code == Some(0), "{verb:?}: {stderr}");
        assert!(!stderr.contains("warning"), "{verb:?}: {stderr}");
    }
}

#[test]
fn suggestions_prefer_frequent_names() {
    let dir = TestDir::new();
    let names = [
        "AcmeBoth", "AcmeBotx", "AcmeBotx", "AcmeBot", "AcmeBoth", "AcmeBotx",
    ];
    let line = |(i, name): (usize, &&str)| {
        let body = format!("user-agent: {name}\\ndisallow: /{i}");
        format!(
            "{{\"url\": \"https://a{i}.example/robots.txt\", \"status\": 200, \"body\": \"{body}\"}}\n"
        )
    };
    let lines: String = names.iter().enumerate().map(line).collect();
    dir.write("a.jsonl", lines);
    done(dir.root(), &["compile", "-q", "a.jsonl", "-o", "web"]);
    for (agent, expected) in [
        (
            "AcmeBotz",
            "robosieve: warning: no robots.txt here names AcmeBotz; did you mean acmebotx?\n",
        ),
        ("AcmeBot", ""),
        ("acmeboth", ""),
    ] {
        let found = run(dir.root(), &["annotate", "-q", "-s", "web", "-a", agent]);
        assert_eq!(found, (Some(0), expected.to_owned()));
    }
}

#[test]
fn misplaced_agents_and_files_are_explained() {
    let dir = snapshot_dir();
    dir.write("robots.txt", "user-agent: *\nallow: /");
    dir.write("commas.txt", "MyBot\nGPTBot, CCBot\n");
    let commas = "separate agents by commas: -a GPTBot,CCBot";
    for row in [
        "filter -s web --agents-from commas.txt | (in a file: one per line)",
        "filter -s web -a GPTBot CCBot urls | separate agents by commas: -a GPTBot,CCBot",
        "annotate -s web -a GPTBot FooBot urls | separate agents by commas: -a GPTBot,FooBot",
        "report -s web -a GPTBot CCBot urls | separate agents by commas: -a GPTBot,CCBot",
        "agents -a GPTBot MyBot | -a MyBot takes any name",
        "check -s web -a GPTBot CCBot https://a.example/ | separate agents by commas: -a GPTBot,CCBot",
        "check --robots robots.txt -a GPTBot CCBot /x | separate agents by commas: -a GPTBot,CCBot",
        "filter -s web -a robots.txt | --agents-from FILE reads agents from a file",
        "check --robots robots.txt -a who.txt /x | `check --robots FILE` judges by one robots.txt",
        "filter -s web -a GPTBot nothing urls | nothing: No such file",
    ] {
        let [args, expected] = cells(row);
        let ran = robosieve_with(dir.root(), &words(args), b"https://a.example/x\n");
        ran.refused(expected);
    }
    let filter = ["filter", "-s", "web", "-a"];
    for (command, agents) in [
        (&filter[..], "GPTBot CCBot"),
        (&filter, "GPTBot/1.0 CCBot/2.0"),
        (&["agents", "-a"], "GPTBot CCBot"),
    ] {
        dir.run(&[command, &[agents]].concat()).refused(commas);
    }
    // If a file of this name exists, it is a list.
    dir.write("CCBot", "https://a.example/x\n");
    let found = text(&done(
        dir.root(),
        &["annotate", "-s", "web", "-a", "GPTBot", "CCBot"],
    ));
    assert_eq!(found, "D\thttps://a.example/x\n");
}

#[test]
fn rare_names_are_not_suggested() {
    let mut compiler = Compiler::default();
    for i in 0..=10_000 {
        let name = match i {
            0 => "AcmeBotx",
            1 | 2 => "OtherBotx",
            3 => "CCBot",
            _ => "x",
        };
        let text = format!("user-agent: {name}\ndisallow: /{i}");
        compiler
            .add_robots(&format!("https://h{i}.example"), text.as_bytes())
            .unwrap();
    }
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    for (agent, suggestion) in [
        ("AcmeBot", None),
        ("OtherBot", Some("otherbotx")),
        ("CCBto", Some("CCBot")),
    ] {
        let mut check = SpellCheck::new(&[agent.parse().unwrap()]);
        check.add_snapshot(&snapshot).unwrap();
        let found = check.finish().remove(0).misspelled;
        let actual = found.first().map(|name| name.suggestion.as_str());
        assert_eq!(actual, suggestion, "{agent}");
    }
}
