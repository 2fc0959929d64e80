//! `check`: explanations of any size, warnings about a robots.txt, and answers as JSON.

use crate::command::{Ran, assert_has, assert_starts, robosieve_with, words};
use crate::test_dir::TestDir;
use serde_json::{Value, json};
use std::path::Path;

/// Runs `check` with a robots.txt on standard input.
fn check(robots: &[u8], args: &[&str]) -> Ran {
    robosieve_with(
        Path::new("."),
        &[&["check", "--robots", "-"], args].concat(),
        robots,
    )
}

fn text(ran: &Ran) -> &str {
    std::str::from_utf8(&ran.stdout).unwrap()
}

/// The rows of an explanation with this name.
fn rows<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let row = |line: &'t str| {
        line.strip_prefix("  ")?
            .strip_prefix(name)?
            .strip_prefix(' ')
            .map(str::trim_start)
    };
    text.lines().filter_map(row).collect()
}

fn object(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|err| panic!("{err}: {}{}", text(ran), ran.stderr))
}

#[test]
fn unmatched_rules_are_counted_or_listed() {
    let many: String = (0..3000).map(|i| format!("Disallow: /{i}/\n")).collect();
    let robots =
        format!("User-agent: *\nDisallow: /x\nDisallow: /x/y\nAllow: /x/\nDisallow:\n{many}");
    let explained = check(robots.as_bytes(), &["-a", "MyBot", "--explain", "/x/y"]);
    assert_eq!(explained.code, Some(1));
    let found = rows(text(&explained), "rule");
    assert_eq!(found, ["line 3: Disallow: /x/y (length 4)"]);
    let losers = [
        "line 2: Disallow: /x (matches, but its length 2 is less than 4)",
        "line 4: Allow: /x/ (matches, but its length 3 is less than 4)",
    ];
    assert_eq!(rows(text(&explained), "lost"), losers);
    let expected = ["3,001 rules do not match (--explain=all lists them)"];
    assert_eq!(rows(text(&explained), "others"), expected);
    let all = check(robots.as_bytes(), &["-a", "MyBot", "--explain=all", "/x/y"]);
    assert_eq!(all.code, Some(1));
    assert_eq!(rows(text(&all), "lost").len(), 3003);
    assert_eq!(rows(text(&all), "others").len(), 0);
    assert!(
        text(&all).contains("line 5: Disallow: (has no path, so it has no effect)"),
        "{}",
        text(&all)
    );
    let few = check(
        b"user-agent: *\ndisallow: /a",
        &["-a", "MyBot", "--explain", "/x"],
    );
    let found = rows(text(&few), "others");
    assert_eq!(found, ["1 rule does not match (--explain=all lists them)"]);
    assert!(
        rows(
            text(&check(
                b"user-agent: *",
                &["-a", "MyBot", "--explain", "/x"]
            )),
            "others"
        )
        .is_empty()
    );
}

/// A `#` inside a path cuts the rule, which then decides on more paths than its author wrote.
#[test]
fn cut_paths_are_shown() {
    let robots = b"User-agent: *\nDisallow: /#/app\nDisallow: /x # old\n";
    let args = ["-a", "a", "--explain"];
    let ran = check(robots, &[&args[..], &["/y", "/x"]].concat());
    let comment = "#/app: a # begins a comment, so this is not a part of the path";
    assert_eq!(rows(text(&ran), "comment"), [comment]);
}

#[test]
fn suspicious_files_are_reported() {
    let utf16: Vec<u8> = "User-agent: *\nDisallow: /"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let long = format!(
        "User-agent: *\n{}Disallow: /x\n",
        "# 89 1234\n".repeat(51_199)
    );
    for (robots, warning, facts) in [
        (
            b"<!DOCTYPE html>\n<p>Not found".as_slice(),
            "looks like HTML",
            json!(["html", 0, null]),
        ),
        (&utf16, "looks like UTF-16", json!(["utf-16", 0, null])),
        (
            long.as_bytes(),
            "512,017 bytes; the last 17, from line 51,200 on, are past 500 KiB",
            json!([null, 17, 51_200]),
        ),
        (b"user-agent: *\nallow: /", "", json!([null, 0, null])),
    ] {
        let ran = check(robots, &["-a", "MyBot", "--explain", "/x"]);
        let found = rows(text(&ran), "file");
        let actual = found.len();
        assert_eq!(actual, usize::from(!warning.is_empty()), "{}", text(&ran));
        assert!(
            found.iter().all(|row| row.starts_with(warning)),
            "{found:?}"
        );
        let answer = &object(&check(robots, &["-a", "MyBot", "--json", "/x"]))["robots"];
        assert_eq!(
            json!([
                answer["looks_like"],
                answer["ignored_bytes"],
                answer["ignored_from_line"]
            ]),
            facts
        );
    }
}

/// Compiles captures into a snapshot `s`.
fn compiled(captures: &[Value]) -> TestDir {
    let dir = TestDir::new();
    let lines: String = captures
        .iter()
        .map(|capture| format!("{capture}\n"))
        .collect();
    dir.write("a.jsonl", lines);
    dir.done_line("compile -q a.jsonl -o s");
    dir
}

fn captures() -> Vec<Value> {
    let robots = "User-agent: GPTBot\nDisallow: /a\nAllow: /a/b$\nDisallow: /c\nContent-Usage: train-ai=n\nContent-Signal: search=yes\n";
    let url = |host: &str| format!("https://{host}.example/robots.txt");
    vec![
        json!({"url": url("rules"), "status": 200, "body": robots, "fetched_at": "2026-01-02T03:04:05Z"}),
        json!({"url": url("html"), "status": 200, "body": "<html>not a robots.txt</html>"}),
        json!({"url": url("long"), "status": 200, "body": format!("user-agent: *\n{}", "disallow: /x\n".repeat(40_000))}),
        json!({"url": url("moved"), "status": 301, "headers": {"location": url("rules")}}),
        json!({"url": url("none"), "status": 404}),
        json!({"url": url("secret"), "status": 403}),
        json!({"url": url("down"), "status": 503}),
        json!({"url": url("dns"), "error": "no such host"}),
    ]
}

#[test]
fn snapshots_store_warnings_about_files() {
    let dir = compiled(&captures());
    let html = "looks like HTML";
    let past = "longer than 500 KiB";
    for (host, expected, json) in [
        ("html", [1, 0], [json!("html"), json!(false)]),
        ("long", [0, 1], [Value::Null, json!(true)]),
        ("rules", [0, 0], [Value::Null, json!(false)]),
    ] {
        let url = format!("https://{host}.example/");
        let run = |more: &str| dir.run(&["check", "-s", "s", "-a", "MyBot", more, &url]);
        let explained = run("--explain");
        let found = [html, past].map(|part| text(&explained).matches(part).count());
        assert_eq!(found, expected, "{}", text(&explained));
        let robots = &object(&run("--json"))["robots"];
        assert_eq!(robots["looks_like"], json[0], "{robots}");
        assert_eq!(robots["past_limit"], json[1], "{robots}");
    }
}

/// Read as text, these files have no rules, so they would allow everything.
#[test]
fn options_of_snapshots_are_refused_with_a_robots_txt() {
    for option in [
        "--as-of 2026-01-01",
        "--at 2026-01-01",
        "--unknown allow",
        "--scheme any",
        "--status-policy strict",
        "--no-verify",
    ] {
        let args: Vec<&str> = option.split(' ').chain(["-a", "MyBot", "/x"]).collect();
        let name = args[0];
        check(b"", &args).refused(&format!("{name} is for a snapshot (-s SNAP)"));
    }
    let dir = TestDir::new();
    let ran = dir.run(&["check", "--robots", ".", "-a", "MyBot", "/x"]);
    ran.refused(".: a directory, not a robots.txt file; `robosieve compile -o SNAP DIR`");
}

#[test]
fn other_formats_are_refused_as_robots_txt() {
    let dir = compiled(&captures());
    let ran = dir.run(&["check", "--robots", "s", "-a", "MyBot", "/x"]);
    ran.refused("s: a robosieve snapshot, not a robots.txt");
    for start in [
        &b"PAR1\x15\x04\x15\x10\x15\x14"[..],
        b"PK\x03\x04\x14\0",
        b"WARC/1.0\r\nWARC-Type: warcinfo\r\n",
    ] {
        let ran = check(start, &["-a", "MyBot", "/x"]);
        ran.refused("not a robots.txt");
    }
}

#[test]
fn licenses_follow_the_preferences() {
    let dir = TestDir::new();
    let check = |body: &str| {
        dir.write("robots.txt", body);
        let run = |json: &[&str]| {
            let args = ["check", "--robots", "robots.txt", "-a", "a", "--explain"];
            let ran = dir.run(&[&args, json, &["/x"]].concat());
            ran.text().to_owned()
        };
        let object: Value = serde_json::from_str(&run(&["--json"])).unwrap();
        (run(&[]), object["preferences"].clone())
    };
    let (text, preferences) =
        check("License: https://l.example/l.xml\nuser-agent: *\nLicense: /\u{1b}[2J\n");
    assert_starts(&text, "allowed\ta\t/x\tlicense: https://l.example/l.xml\n");
    let rows = "  license     https://l.example/l.xml\n              line 1: license: https://l.example/l.xml\n              \
                line 3: license: /\\u{1b}[2J\n";
    assert!(text.ends_with(rows), "{text}");
    assert_eq!(preferences["license"], json!(["https://l.example/l.xml"]));
    let expected = json!({"line": 3, "text": "license: /\u{1b}[2J"});
    assert_eq!(preferences["license_lines"][1], expected);
    let (text, preferences) = check("License: /l.xml\n");
    assert!(text.starts_with("allowed\ta\t/x\n"), "{text}");
    assert_has(&text, "  license     none that is an absolute URL\n");
    assert_eq!(preferences["license"], json!([]));
}

#[test]
fn json_answers_include_reasons() {
    let dir = compiled(&captures());
    let run = |args: &[&str]| dir.run(&[&["check", "-s", "s", "-a", "GPTBot"], args].concat());
    let answer = object(&run(&["--json", "https://rules.example/a/b"]));
    let allow = json!({"line": 3, "text": "Allow: /a/b$", "kind": "allow", "pattern": "/a/b$", "length": 5});
    let lost = json!({"line": 2, "text": "Disallow: /a", "kind": "disallow", "pattern": "/a", "length": 2, "reason": "shorter"});
    let robots = json!({
        "origin": "https://rules.example", "outcome": "rules", "status": 200, "hops": 0, "source": null, "detail": null,
        "cut_short": false, "fetched_at": "2026-01-02T03:04:05Z", "first_failure": null, "max_age": null,
        "has_last_good": false, "via_other_scheme": false, "past_limit": false, "looks_like": null,
    });
    let expected = json!({
        "url": "https://rules.example/a/b", "agent": "GPTBot", "verdict": "allowed", "basis": "rules",
        "origin": "https://rules.example", "robots": robots, "path": "/a/b",
        "group": {"name": "gptbot", "lines": [{"line": 1, "text": "User-agent: GPTBot"}]},
        "rule": allow, "losers": [lost], "not_matching": 1,
        "preferences": {
            "train-ai": "n", "search": "unknown", "content-signal": {"search": "yes"},
            "usage_lines": [{"line": 5, "text": "content-usage: train-ai=n"}],
            "signal_lines": [{"line": 6, "text": "content-signal: search=yes"}],
            "license": [], "license_lines": [],
        },
    });
    assert_eq!(answer, expected);
    let all = object(&run(&[
        "--json",
        "--explain=all",
        "https://rules.example/a/b",
    ]));
    let reasons = all["losers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| &rule["reason"])
        .collect::<Vec<_>>();
    assert_eq!(reasons, ["shorter", "no-match"]);
    let other = object(&dir.run_line("check -s s -a MyBot --json https://rules.example/"));
    assert_eq!([&other["group"], &other["rule"]], [&Value::Null; 2]);
}

#[test]
fn json_and_text_answers_agree() {
    let dir = compiled(&captures());
    for (url, verdict, basis, status) in [
        ("https://rules.example/a", "disallowed", "rules", 1),
        ("https://rules.example/x", "allowed", "rules", 0),
        ("https://moved.example/a", "disallowed", "rules", 1),
        ("https://none.example/a", "allowed", "no-robots-txt", 0),
        ("https://secret.example/a", "allowed", "forbidden", 0),
        ("https://down.example/a", "disallowed", "server-error", 1),
        ("https://dns.example/a", "disallowed", "unreachable", 1),
        ("https://absent.example/a", "unknown", "unknown-origin", 2),
        ("no url", "invalid", "not-a-url", 2),
    ] {
        let args = ["check", "-s", "s", "-a", "GPTBot", url];
        let (line, json) = (dir.run(&args), dir.run(&[&args[..], &["--json"]].concat()));
        assert_eq!(line.code, Some(status), "{url}");
        assert_eq!(line.stderr, json.stderr, "{url}");
        assert_eq!(json.code, line.code, "{url}");
        let answer = object(&json);
        assert_eq!(&answer["verdict"], verdict, "{url}");
        assert_eq!(&answer["basis"], basis, "{url}");
        assert!(text(&line).starts_with(verdict), "{url}");
    }
    // One object per URL and agent, in the order of the lines.
    let ran = dir.run_line(
        "check -s s -a GPTBot,MyBot --json https://rules.example/a https://none.example/",
    );
    let answers: Vec<Value> = text(&ran)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found: Vec<String> = answers
        .iter()
        .map(|answer| format!("{} {}", answer["agent"], answer["verdict"]))
        .collect();
    let expected = [
        "\"GPTBot\" \"disallowed\"",
        "\"MyBot\" \"allowed\"",
        "\"GPTBot\" \"allowed\"",
        "\"MyBot\" \"allowed\"",
    ];
    assert_eq!(found, expected);
}

/// A file of expectations is judged by a robots.txt and by a snapshot alike.
#[test]
fn verdicts_are_compared_with_expectations() {
    let dir = TestDir::new();
    let write = |name: &str, text: &str| dir.write(name, text);
    write(
        "robots.txt",
        "user-agent: *\ndisallow: /x<&\nuser-agent: b\ndisallow: /\n",
    );
    write(
        "robots.jsonl",
        &json!({
            "url": "https://e.example/robots.txt", "status": 200,
            "body": "user-agent: *\ndisallow: /x<&\nuser-agent: b\ndisallow: /\n",
        })
        .to_string(),
    );
    let compiled = dir.run(&["compile", "-q", "-o", "s.rsieve", "robots.jsonl"]);
    assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
    write(
        "good.tsv",
        "# pages that matter\n\nhttps://e.example/\tFooBot\tallowed\r\n\
         disallowed\tFooBot\thttps://e.example/x<&\n\
         https://e.example/\tb\tdisallowed\n",
    );
    write(
        "bad,1.tsv",
        "https://e.example/\tFooBot\tallowed\nhttps://e.example/x<&%\tFooBot\tallowed\n\
         https://e.example/\tFooBot\tdisallowed\n",
    );
    for source in [["--robots", "robots.txt"], ["-s", "s.rsieve"]] {
        let expect = |args: &[&str]| dir.run(&[&["check"], &source[..], args].concat());
        let good = expect(&["--expect", "good.tsv"]);
        assert_eq!((good.code, text(&good)), (Some(0), ""), "{}", good.stderr);
        let expected = "robosieve: 3 expectations, none with another verdict\n";
        assert_eq!(good.stderr, expected);
        let bad = expect(&["--expect", "bad,1.tsv"]);
        assert_eq!(bad.code, Some(1), "{}", bad.stderr);
        let wanted = "\
            bad,1.tsv:2: expected allowed, but FooBot https://e.example/x<&% is disallowed \
             (robots.txt line 2: disallow: /x<&)\n\
             bad,1.tsv:3: expected disallowed, but FooBot https://e.example/ is allowed (no rule \
             matches)\n";
        assert_eq!(text(&bad), wanted);
        let github = expect(&["-q", "--expect", "bad,1.tsv", "--format", "github"]);
        assert!(
            text(&github).starts_with(
                "::error file=bad%2C1.tsv,line=2,title=robots.txt::expected allowed, but FooBot \
                 https://e.example/x<&%25 is"
            ),
            "{}",
            text(&github)
        );
        assert_eq!((github.code, github.stderr.as_str()), (Some(1), ""));
        let junit = expect(&["--expect", "bad,1.tsv", "--format", "junit"]);
        let xml = text(&junit);
        assert!(xml.contains("<testsuite name=\"bad,1.tsv\" tests=\"3\" failures=\"2\">"));
        assert_has(xml, "name=\"FooBot https://e.example/x&lt;&amp;%\"");
        assert_eq!(xml.matches("<testcase ").count(), 3);
        assert_eq!(xml.matches("<failure ").count(), 2);
        let piped = robosieve_with(
            dir.root(),
            &["check", source[0], source[1], "--expect", "-"],
            b"https://e.example/\tb\tallowed\n",
        );
        assert_eq!(piped.code, Some(1));
        assert!(text(&piped).starts_with("-:1: expected allowed"));
    }
    let cases = [
        (
            &["--robots", "robots.txt", "--expect", "none.tsv"][..],
            "none.tsv: ",
        ),
        (
            &["--robots", "robots.txt", "--expect", "robots.txt"],
            "robots.txt: line 1: 1 field of three",
        ),
        (
            &["--robots", "-", "--expect", "-"],
            "--robots (-) and --expect (-) are the same stream",
        ),
        (
            &["--robots", "robots.txt", "--expect", "good.tsv", "-a", "b"],
            "cannot be used with",
        ),
        (
            &words("--robots robots.txt -a b --format junit /"),
            "--expect",
        ),
    ];
    for (args, message) in cases {
        let ran = dir.run(&[&["check"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(message), "{args:?}: {}", ran.stderr);
    }
}

/// `check --expect` reads what `check` prints with lists, and sees each change of a list.
#[test]
fn entries_of_lists_are_compared_with_expectations() {
    let dir = TestDir::new();
    dir.write("robots.txt", "user-agent: *\ndisallow: /cart\n");
    dir.write("ads", "ads.example\nshop.example/sale\n");
    dir.write("good", "good.ads.example\n");
    let run = |list: &str, args: &[&str]| {
        let asking = ["--robots", "robots.txt", "--block", list, "--allow", "good"];
        dir.run(&[&["check"], &asking[..], args].concat())
    };
    let urls = [
        "https://ads.example/cart",
        "https://good.ads.example/",
        "https://shop.example/tea",
    ];
    let printed = run("ads", &[&["-a", "FooBot,BarBot"], &urls[..]].concat());
    assert_eq!(text(&printed).lines().count(), 8, "{}", printed.stderr);
    dir.write("printed.tsv", text(&printed));
    let expect =
        |list: &str, more: &[&str]| run(list, &[&["--expect", "printed.tsv"], more].concat());

    // One more than the lines: no list names the last URL.
    let same = expect("ads", &[]);
    let none = "robosieve: 9 expectations, none with another answer\n";
    assert_eq!(
        (same.code, text(&same), same.stderr.as_str()),
        (Some(0), "", none)
    );

    // Another name, entry or word, and a URL that is listed now.
    for (name, lines, differences) in [
        (
            "other",
            "ads.example\n",
            "printed.tsv:3: expected listed by ads with ads.example, but https://ads.example/cart \
             is listed by other with ads.example\n",
        ),
        (
            "ads",
            "ads.example/cart\n",
            "printed.tsv:3: expected listed by ads with ads.example, but https://ads.example/cart \
             is listed by ads with ads.example/cart\n",
        ),
        (
            "ads",
            "ads.example\nwww.good.ads.example\n=good.ads.example/x\nshop.example\n",
            "printed.tsv:7: expected not listed, but https://shop.example/tea is listed by ads with \
             shop.example\n",
        ),
        ("ads", "good.ads.example/\nads.example\n", ""),
        (
            "ads",
            "unrelated.example\n",
            "printed.tsv:3: expected listed by ads with ads.example, but https://ads.example/cart \
             is not listed\n",
        ),
    ] {
        dir.write("list", lines);
        let ran = expect(&format!("{name}=list"), &[]);
        assert_eq!(text(&ran), differences, "{lines}{}", ran.stderr);
        assert_eq!(ran.code, Some(i32::from(!differences.is_empty())));
    }
    dir.write("list", "unrelated.example\n");
    let github = expect("ads=list", &["-q", "--format", "github"]);
    let start = "::error file=printed.tsv,line=3,title=lists::expected listed by ads with";
    assert!(text(&github).starts_with(start), "{}", text(&github));
    let junit = expect("ads=list", &["--format", "junit"]);
    let case = "<testcase classname=\"lists\" name=\"https://ads.example/cart\"";
    assert_has(text(&junit), case);
    assert_has(text(&junit), "tests=\"9\" failures=\"1\"");

    // By hand: any list and entry, and a URL that must not be listed, without a verdict.
    dir.write(
        "printed.tsv",
        "listed\t-\t-\thttps://ads.example/\n-\t-\t-\thttps://good.ads.example/\n\
         -\t-\t-\thttps://shop.example/sale/7\nexception\tads\t-\thttps://good.ads.example/\n",
    );
    let ran = expect("ads", &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let differences = "\
        printed.tsv:3: expected not listed, but https://shop.example/sale/7 is listed by ads with \
         shop.example/sale\n\
        printed.tsv:4: expected excepted by ads, but https://good.ads.example/ is excepted by good \
         with @@good.ads.example\n";
    assert_eq!(text(&ran), differences);

    let asking = ["check", "--robots", "robots.txt", "--expect", "printed.tsv"];
    let without = dir.run(&asking);
    let message = "line 1: expects an answer of filter lists; name them with --lists or --block";
    assert!(without.stderr.contains(message), "{}", without.stderr);
    dir.write("printed.tsv", "/cart\tFooBot\tdisallowed\n");
    let path = expect("ads", &[]);
    assert_eq!(path.code, Some(2));
    assert!(
        path.stderr
            .contains("printed.tsv: line 1: \"/cart\" is a path"),
        "{}",
        path.stderr
    );
}

/// Google's parser reads any text as some path, so a word without its `/` would be allowed.
#[test]
fn texts_that_are_no_urls_or_paths_have_no_verdict() {
    let robots =
        b"user-agent: *\ndisallow: /cart\ncontent-signal: search=yes\nlicense: https://l.test/";
    for (url, hint) in [
        ("cart", "write the path as /cart, or the whole URL"),
        (
            "shop.test/cart",
            "write the path as /shop.test/cart, or the whole URL",
        ),
        ("not a url", "write a path such as /cart"),
        ("mailto:a@b", "write a path such as /cart"),
        ("https:/cart", "write a path such as /cart"),
        ("", "write a path such as /cart"),
    ] {
        let ran = check(robots, &["-a", "MyBot", url]);
        assert_eq!(ran.code, Some(2), "{url}: {}", ran.stderr);
        assert_eq!(text(&ran), format!("invalid\tMyBot\t{url}\n"));
        let says = format!("{url:?} is neither a URL with scheme and host nor a path");
        ran.says(&says).says(hint);
        let explained = check(robots, &["-a", "MyBot", "--explain", url]);
        assert!(
            text(&explained).contains("path        none: neither"),
            "{}",
            text(&explained)
        );
        assert!(!text(&explained).contains("signal"), "{}", text(&explained));
        let answer = object(&check(robots, &["-a", "MyBot", "--json", url]));
        assert_eq!(
            json!([
                answer["verdict"],
                answer["basis"],
                answer["path"],
                answer["rule"],
                answer["losers"]
            ]),
            json!(["invalid", "not-a-url", null, null, []])
        );
        assert_eq!(answer["preferences"]["license"], json!([]));
    }
    for (url, code) in [
        ("/cart", 1),
        (" /cart ", 1),
        ("//h.test/cart", 1),
        ("https://h.test", 0),
    ] {
        let expected = Some(code);
        assert_eq!(check(robots, &["-a", "MyBot", url]).code, expected, "{url}");
    }
    // A file of expectations.
    let dir = TestDir::new();
    dir.write("robots.txt", robots);
    let expected = "cart\tMyBot\tallowed\nmailto:a@b\tMyBot\tinvalid\n";
    dir.write("expected", expected);
    let ran = dir.run(&["check", "--robots", "robots.txt", "--expect", "expected"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let wanted = "\
        expected:1: expected allowed, but MyBot cart is invalid (neither a URL nor a path, which \
         begins with /)\n";
    assert_eq!(text(&ran), wanted);
}

/// The advice is acted upon: the URL that it writes has a verdict.
#[test]
fn a_text_without_scheme_or_host_gets_the_url_to_write() {
    let dir = TestDir::new();
    dir.compile_small("s");
    for (given, written) in [
        ("news.example", "https://news.example"),
        ("news.example/world", "https://news.example/world"),
        ("//news.example/world", "https://news.example/world"),
    ] {
        let refused = dir.fails(&["check", "-s", "s", "-a", "GPTBot", given], &[]);
        assert!(refused.trim_end().ends_with(written), "{refused}");
        let judged = dir.run(&["check", "-s", "s", "-a", "GPTBot", written]);
        assert!(matches!(judged.code, Some(0 | 1)), "{}", judged.stderr);
    }
    for (given, advice) in [
        ("", "it is empty"),
        ("/world", "--robots FILE"),
        ("https://", "it has no host"),
        (
            "mailto:a@b.example",
            "write it like https://example.com/page",
        ),
    ] {
        dir.fails(&["check", "-s", "s", "-a", "GPTBot", given], &[advice]);
    }
    // Advice that was followed already is not given again.
    let args = ["check", "-s", "s", "-a", "GPTBot", "https://b.example/"];
    dir.fails(&args, &["--scheme any"]);
    let message = dir.fails(&[&args[..], &["--scheme", "any"]].concat(), &["--unknown"]);
    assert!(!message.contains("--scheme"), "{message}");
}

#[test]
fn inspect_says_where_the_origin_belongs() {
    let dir = TestDir::new();
    dir.compile_small("web.rsieve");
    for given in ["news.example", "https://news.example/", "localhost:8080"] {
        let message = dir.fails(&["inspect", given], &["the snapshot comes first"]);
        assert_has(&message, &format!("robosieve inspect SNAP {given}"));
    }
    dir.done(&["inspect", "web.rsieve", "news.example"]);
    // Other names are those of files.
    for given in ["missing.rsieve", "https://e.example/web.rsieve", "missing"] {
        let message = dir.fails(&["inspect", given], &[given]);
        assert!(!message.contains("comes first"), "{message}");
    }
}
