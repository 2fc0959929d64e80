//! `--crawlers`: files of known crawlers that extend or replace the built-in registry.

use super::{done, listed, snapshot_dir, text};
use crate::command::{assert_has, checkout, robosieve, robosieve_with, words};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A table and a `robots.json` with the same crawler, whose rules in the snapshot `web` refuse
/// everything.
const FORMATS: &[&str] = &[
    "token\toperator\tpurpose\tobeys\tsource\nzz\tZed\tai-agent\tno\thttps://zed.example/\n",
    r#"{"zz/1.0": {"operator": "[Zed](https://z.example)", "respect": "[No](https://zed.example/)", "function": "AI Agents"}}"#,
];

const ONLY: &[&str] = &["--crawlers", "own", "--only-crawlers", "-a", "@ai-agent"];

/// The standard output of a verb with the set of the one crawler in the file `own`.
fn with_own(dir: &Path, verb: &[&str]) -> String {
    let ran = robosieve_with(dir, &[verb, ONLY].concat(), b"https://a.example/x\n");
    assert!(matches!(ran.code, Some(0 | 1)), "{verb:?}: {}", ran.stderr);
    text(&ran)
}

#[test]
fn every_verb_takes_the_sets_of_a_file() {
    let dir = snapshot_dir();
    let log = "192.0.2.1 - - [23/Nov/2026:10:00:00 +0000] \"GET /x HTTP/1.1\" 200 5 \"-\" \"zz/1.0 (+https://zed.example/)\"\n";
    dir.write("access.log", log);
    dir.write("robots.txt", "user-agent: zz\ndisallow: /");
    for content in FORMATS {
        dir.write("own", content);
        let run = |verb: &[&str]| with_own(dir.root(), verb);
        let expected = Some("zz\tZed\tai-agent\tno\tnone\tno\thttps://zed.example/");
        assert_eq!(run(&["agents", "--tsv"]).lines().nth(1), expected);
        assert_eq!(run(&["annotate", "-s", "web"]), "D\thttps://a.example/x\n");
        let found = run(&["filter", "-s", "web", "--keep", "disallowed"]);
        assert_eq!(found, "https://a.example/x\n");
        assert!(
            run(&["check", "-s", "web", "https://a.example/x"]).starts_with("disallowed\tzz\t")
        );
        assert!(run(&["check", "--robots", "robots.txt", "/x"]).starts_with("disallowed\tzz\t"));
        assert!(run(&words("bench -s web --urls urls --runs 1 -j 1")).contains("; zz; "));
        assert!(run(&["agents", "web"]).starts_with("1 origin with a robots.txt, 3 agent names\n"));
        assert!(run(&["agents", "web", "--tsv"]).contains("\nzz\t1\t1\t0\t0\tai-agent\tZed\n"));
        assert!(
            run(&["export", "-s", "web"])
                .lines()
                .next()
                .unwrap()
                .contains("\tzz.access\t")
        );
        for verb in [
            &["report", "-s", "web", "--csv-to", "-"][..],
            &["report", "--series", "a=web", "--csv-to", "-"],
        ] {
            assert!(
                run(verb)
                    .lines()
                    .any(|line| line.split(',').any(|field| field == "zz")),
                "{verb:?}"
            );
        }
        let diff: serde_json::Value =
            serde_json::from_str(&run(&["diff", "web", "web", "--json"])).unwrap();
        assert_eq!(diff["agents"].as_array().map(Vec::len), Some(1), "{diff}");
        // An audit also looks for crawlers of the file that are not named.
        let args = words("audit -s web --host a.example --crawlers own --as json access.log");
        let audit: serde_json::Value =
            serde_json::from_str(&text(&done(dir.root(), &args))).unwrap();
        let crawler = &audit["crawlers"][0];
        assert_eq!(crawler["name"], "zz");
        assert_eq!(crawler["operator"], "Zed");
        assert_eq!(crawler["purpose"], "ai-agent");
        assert_eq!(crawler["disallowed"], 1);
    }
}

#[test]
fn a_file_extends_the_registry_or_replaces_it() {
    let dir = snapshot_dir();
    let path = dir.root();
    fs::write(
        path.join("own"),
        "token\tpurpose\nzz\tai-agent\nGPTBot\tai-agent\n",
    )
    .unwrap();
    fs::write(
        path.join("more"),
        "token\tpurpose\nzz\tsearch\nyy\tsearch\n",
    )
    .unwrap();
    let built_in = listed(path, &["-a", "@ai-agent"]);
    let extended = listed(path, &["-a", "@ai-agent", "--crawlers", "own"]);
    assert_eq!(extended.len(), built_in.len() + 2);
    assert!(
        !listed(path, &["-a", "@ai-train", "--crawlers", "own"]).contains(&"GPTBot".to_owned())
    );
    let found = listed(path, &["--crawlers", "own", "--only-crawlers"]);
    assert_eq!(found, ["GPTBot", "zz"]);
    // Of several files the last one counts.
    let two = ["--crawlers", "own", "--crawlers", "more", "--only-crawlers"];
    let found = listed(path, &[&two[..], &["-a", "@search"]].concat());
    assert_eq!(found, ["yy", "zz"]);
    // The facts that the file leaves open stay.
    let row = text(&done(
        path,
        &["agents", "--tsv", "-a", "GPTBot", "--crawlers", "own"],
    ));
    assert_has(&row, "GPTBot\tOpenAI\tai-agent\tyes\tnone\tno\thttps://");
    let ran = robosieve(path, &["agents", "--only-crawlers"]);
    ran.refused("--crawlers <FILE>");
}

/// A file may give a crawler a chain, or take that of the registry away.
#[test]
fn chains_are_facts_of_the_registry() {
    let dir = snapshot_dir();
    let path = dir.root();
    let own = "token\tpurpose\tfalls_back_to\tignores_star\n\
               AcmeBot\tsearch\tgptbot:zz\tyes\n\
               Googlebot-Image\tsearch\tnone\tunknown\n";
    fs::write(path.join("own"), own).unwrap();
    let facts = |agents: &str| {
        let tsv = text(&done(
            path,
            &["agents", "--tsv", "-a", agents, "--crawlers", "own"],
        ));
        tsv.lines()
            .skip(1)
            .map(|row| {
                let cells: Vec<&str> = row.split('\t').collect();
                [cells[0], cells[4], cells[5]].join(" ")
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        facts("AcmeBot,Googlebot-Image,Googlebot-News,APIs-Google"),
        [
            "AcmeBot gptbot:zz yes",
            "Googlebot-Image none no",
            "Googlebot-News Googlebot no",
            "APIs-Google none yes"
        ]
    );
    // A set applies them, and a name alone does not: the note has the chain. GPTBot may fetch `/z`
    // and not `/x`.
    let only = ["--crawlers", "own", "--only-crawlers"];
    let judged = |agents: &str| {
        let args = ["check", "-s", "web", "https://a.example/x", "-a", agents];
        robosieve(path, &[&args[..], &only].concat())
    };
    let set = judged("@search");
    let expected = "disallowed\tAcmeBot:gptbot:zz:!*\thttps://a.example/x\n\
         allowed\tGooglebot-Image\thttps://a.example/x\n";
    assert_eq!(text(&set), expected);
    assert_eq!(set.stderr, "");
    let plain = judged("AcmeBot");
    assert_eq!(text(&plain), "allowed\tAcmeBot\thttps://a.example/x\n");
    plain.says("-a 'AcmeBot:gptbot:zz:!*'\n");
    for (field, expected) in [
        ("falls_back_to", "line 2: falls_back_to \"a b;\": "),
        (
            "ignores_star",
            "line 2: \"a b;\" does not say whether the crawler ignores *",
        ),
    ] {
        fs::write(path.join("own"), format!("token\t{field}\nA\ta b;\n")).unwrap();
        let ran = judged("A");
        ran.refused(expected);
    }
}

#[test]
fn the_output_of_agents_is_a_file_of_crawlers() {
    let dir = snapshot_dir();
    for who in [&[][..], &["-a", "@ai,FooBot"]] {
        let tsv = done(dir.root(), &[&["agents", "--tsv"], who].concat());
        dir.write("own", &tsv.stdout);
        let again = done(
            dir.root(),
            &["agents", "--tsv", "--crawlers", "own", "--only-crawlers"],
        );
        let sorted = |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_lowercase).collect();
            lines[1..].sort();
            // FooBot has no facts. Of a known crawler they are unknown.
            lines.join("\n").replace(
                "foobot\tunknown\tother\tunknown\tnone\tno\t",
                "foobot\t\t\t\t\t\t",
            )
        };
        assert_eq!(sorted(text(&again)), sorted(text(&tsv)));
    }
}

#[test]
fn bad_files_are_named_with_the_line_and_a_remedy() {
    let dir = snapshot_dir();
    for (content, expected) in [
        (
            &b""[..],
            "own: lists no crawlers; give a table with the columns token, operator, purpose, obeys, falls_back_to, ignores_star, source",
        ),
        (
            b"token\tpurpose\nAcme\xffBot\tsearch\n",
            "own: line 2: not UTF-8; save the file as UTF-8 text",
        ),
        (
            b"token\towner\nAcmeBot\tAcme\n",
            "own: line 1: \"owner\" is not a column of a registry; name columns of",
        ),
        (
            b"token\tpurpose\nAcmeBot\n",
            "own: line 2: 1 field, and the header has 2; separate fields by one TAB",
        ),
        (
            b"token\nAcmeBot\nacmebot\n",
            "own: line 3: acmebot is in line 2 already; keep one of the two lines",
        ),
        (
            b"{\"AcmeBot\": 1}",
            "own: not a list of crawlers: invalid type: integer `1`",
        ),
        (
            &[b'#'; (4 << 20) + 1],
            "own: longer than 4 MiB; a list of crawlers is not that long",
        ),
    ] {
        dir.write("own", content);
        for verb in [
            &["agents"][..],
            &["annotate", "-s", "web", "-a", "GPTBot"],
            &["agents", "web"],
        ] {
            let ran = dir.run(&[verb, &["--crawlers", "own"]].concat());
            ran.refused(expected);
        }
    }
    let ran = dir.run(&["agents", "--crawlers", "nothing"]);
    ran.refused("nothing: No such file");
    dir.write("own", FORMATS[0]);
    let args = words("export -s web -a GPTBot --crawlers own -o own");
    let ran = dir.run(&args);
    ran.refused("the same file as --crawlers (own)");
}

#[test]
fn names_of_a_file_are_known_to_the_spelling_check() {
    let dir = snapshot_dir();
    dir.write("own", "token\nAcmeCrawl\n");
    let warning = |args: &[&str]| {
        done(
            dir.root(),
            &[&["agents", "--crawlers", "own", "-a"], args].concat(),
        )
        .stderr
    };
    assert!(warning(&["AcmeCrawk"]).contains("did you mean AcmeCrawl?"));
    assert!(warning(&["GTPBot"]).contains("did you mean GPTBot?"));
    assert_eq!(warning(&["GTPBot", "--only-crawlers"]), "");
    assert_eq!(warning(&["AcmeCrawl"]), "");
    // A known crawler in place of a file.
    let args = words("filter -s web --crawlers own -a GPTBot AcmeCrawl urls");
    let ran = dir.run(&args);
    ran.says("separate agents by commas: -a GPTBot,AcmeCrawl");
}

#[test]
fn texts_of_a_file_are_escaped() {
    let dir = snapshot_dir();
    dir.write(
        "own",
        "token\toperator\tpurpose\nzz\u{202e}y\tA\u{200b}B\tai-agent\n",
    );
    for verb in [
        &["agents"][..],
        &["agents", "--tsv"],
        &["agents", "--json"],
        &["agents", "-s", "web"],
    ] {
        let printed = with_own(dir.root(), verb);
        assert!(
            !printed.contains(['\u{202e}', '\u{200b}']) && printed.contains("202e"),
            "{verb:?}: {printed}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_file_may_be_a_pipe() {
    let dir = snapshot_dir();
    for verb in [&["agents", "--tsv"][..], &["agents", "web", "--tsv"]] {
        let args = [
            verb,
            &words("--crawlers /dev/stdin --only-crawlers -a @ai-agent"),
        ]
        .concat();
        let ran = robosieve_with(dir.root(), &args, FORMATS[0].as_bytes());
        ran.succeeds();
        assert!(text(&ran).contains("zz\t"), "{verb:?}: {ran:?}");
    }
}

#[test]
fn resumed_runs_notice_a_changed_set() {
    let dir = snapshot_dir();
    let run = |purpose: &str, extra: &[&str]| {
        dir.write(
            "own",
            format!("token\tpurpose\nGPTBot\tai-agent\nzz\t{purpose}\n"),
        );
        let args = words("filter -s web --out-dir out --resume urls");
        done(dir.root(), &[&args[..], ONLY, extra].concat()).stderr
    };
    assert!(run("search", &[]).contains("done 1  skipped 0"));
    assert!(run("search", &[]).contains("done 0  skipped 1"));
    let changed = run("ai-agent", &[]);
    assert_has(&changed, "done 1  skipped 0");
    assert_has(&changed, "made with other options");
    assert_eq!(dir.read_text("out/urls"), "");
}

#[test]
fn the_drift_of_the_registry_is_listed() {
    let dir = snapshot_dir();
    let list =
        "token\toperator\tpurpose\nGPTBot\tAcme\tsearch\nFooBot\t\t\nCCBot\tCommon Crawl\t\n";
    dir.write("list", list);
    let script = checkout().join("scripts/x");
    let mut command = Command::new("python3");
    command
        .arg(script)
        .args(["registry-drift", "list"])
        .current_dir(dir.root())
        .env("ROBOSIEVE", env!("CARGO_BIN_EXE_robosieve"));
    let Ok(ran) = command.output() else {
        return eprintln!("SKIPPED: no python3");
    };
    let printed = String::from_utf8(ran.stdout).unwrap();
    for expected in [
        "Only in the list: 1\n  FooBot  (unknown, other)\nOnly in the table: ",
        "\nOther operator: 1\n  GPTBot: OpenAI in the table, Acme in the list\n",
        "\nOther purpose: 1\n  GPTBot: ai-train in the table, search in the list\n",
        "\nOther answer on robots.txt: 0\n",
    ] {
        assert!(
            printed.contains(expected),
            "{expected}: {printed}{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}
