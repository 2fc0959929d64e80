//! Counts, forms, several snapshots, published addresses.

use super::{audit, compile, crawler, json, lines, requests, with_log};
use robosieve::audit::{Audit, AuditOptions, AuditOutputs, DatedSnapshot};
use robosieve::filter::Input;
use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

const LOG: &str = r#"192.0.2.1 - - [01/Aug/2026:00:00:00 +0000] "GET /robots.txt HTTP/1.1" 200 100 "-" "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
192.0.2.1 - - [01/Aug/2026:00:01:00 +0000] "GET /private/a?x=1 HTTP/1.1" 200 500 "-" "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
198.51.100.7 - - [01/Aug/2026:02:00:00 +0200] "GET /private/b HTTP/1.1" 403 7 "-" "gptbot"
198.51.100.7 - - [03/Aug/2026:00:01:00 +0000] "HEAD /private/a HTTP/1.1" 304 - "-" "GPTBOT/1"
192.0.2.1 - - [01/Aug/2026:00:02:00 +0000] "GET /x HTTP/1.1" 200 500 "-" "GPTBot"
192.0.2.2 - Jo Doe [01/Aug/2026:00:03:00 +0000] "GET /robots.txt?x HTTP/1.1" 200 5 "-" "CCBot/2.0 (https://commoncrawl.org/faq/)"
192.0.2.3 - - [01/Aug/2026:00:03:00 +0000] "GET /cart HTTP/1.1" 200 9 "-" "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"
192.0.2.3 - - [01/Aug/2026:00:03:00 +0000] "GET /cart HTTP/1.1" 200 9 "-" "notgptbot"
192.0.2.3 - - [01/Aug/2026:00:03:00 +0000] "" 408 0 "-" "-"
192.0.2.3 - - [01/Aug/2026:00:03:00 +0000] "GET /cart HTTP/1.1" 200 9 "-" "MyBot/3"
192.0.2.1 - - [99/Aug/2026:00:03:00 +0000] "GET /cart HTTP/1.1" 200 9 "-" "GPTBot"
192.0.2.1 - - [01/Aug/2026:00:03:00 +0000] "OPTIONS * HTTP/1.1" 200 9 "-" "GPTBot"

"#;

#[test]
fn counts_equal_those_by_hand() {
    let dir = with_log(LOG);
    let report = json(&dir, &["-s", "a", "--host", "https://example.com", "access.log"]);
    // Invalid: day 99, `OPTIONS *`, the blank line.
    assert_eq!(lines(&report), [13, 3, 4]);
    assert_eq!(requests(&report, "GPTBot"), [5, 2, 3, 0, 1]);
    assert_eq!(requests(&report, "CCBot"), [1, 1, 0, 0, 1]);
    let gptbot = crawler(&report, "GPTBot");
    assert_eq!(
        (&gptbot["bytes"], &gptbot["disallowed_bytes"], &gptbot["disallowed_2xx"]),
        (&json!(1107), &json!(507), &json!(1))
    );
    assert_eq!((&gptbot["first"], &gptbot["last"]), (&json!("2026-08-01T00:00:00Z"), &json!("2026-08-03T00:01:00Z")));
    // 60 s, 0 s, and two days and a minute.
    let after = json!({"disallowed_after": 3, "disallowed_within_day": 2, "disallowed_without": 0,
        "shortest_seconds": 0, "longest_seconds": 172_860, "mean_seconds": 57_640});
    assert_eq!(gptbot["after_robots_txt"], after);
    let rule = json!({"rule": "Disallow: /private", "requests": 3, "example": "https://example.com/private/a?x=1"});
    assert_eq!((&gptbot["rules"], &gptbot["rules_exact"]), (&json!([rule]), &json!(true)));
    assert_eq!(gptbot["verified"], json!(null));
}

#[test]
fn named_agents_are_looked_for_too() {
    let dir = with_log(LOG);
    let report = json(&dir, &["-s", "a", "--host", "example.com", "-a", "MyBot:CCBot,FooBot", "access.log"]);
    assert_eq!(lines(&report), [13, 3, 3]);
    assert_eq!(requests(&report, "MyBot:CCBot"), [1, 0, 1, 0, 0]);
    assert_eq!(requests(&report, "FooBot"), [0; 5]);
    let ran = audit(&dir, &["-s", "a", "--host", "example.com", "-a", "*", "access.log"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("no User-Agent header names it"), "{}", ran.stderr);
}

#[test]
fn hosts_that_are_not_in_the_snapshot_are_unknown() {
    let dir = with_log(LOG);
    let report = json(&dir, &["-s", "a", "--host", "other.example", "access.log"]);
    assert_eq!(requests(&report, "GPTBot"), [5, 1, 0, 4, 1]);
    for host in ["", "https://", "https://example.com/path", "a b", "/"] {
        let ran = audit(&dir, &["-s", "a", "--host", host, "access.log"]);
        assert!(ran.code == Some(2) && ran.stderr.contains("is not a host"), "{host:?}: {}", ran.stderr);
    }
}

#[test]
fn each_line_is_judged_by_the_snapshot_of_its_time() {
    let dir = with_log(LOG);
    compile(
        &dir,
        "b",
        r#"{"url":"https://example.com/robots.txt","status":200,"body":"User-agent: *\nDisallow: /x\n"}"#,
    );
    // From 2 August on, only /x is refused.
    for args in [&["-s", "2026-07=a", "-s", "2026-08-02=b"][..], &["-s", "2026-08-02=b", "2026-07-01=a"]] {
        let report = json(&dir, &[args, &["--host", "example.com", "access.log"]].concat());
        assert_eq!(requests(&report, "GPTBot"), [5, 3, 2, 0, 1]);
        assert_eq!(report["before_first_snapshot"], 0);
    }
    // Everything up to 2 August is older than the first snapshot, which judges it.
    let report = json(&dir, &["-s", "2026-08-02=b", "--host", "example.com", "access.log"]);
    assert_eq!(requests(&report, "GPTBot"), [5, 4, 1, 0, 1]);
    assert_eq!(report["before_first_snapshot"], 5);
    for (args, said) in [
        (&["-s", "a", "-s", "b"][..], "each needs the date"),
        (&["-s", "2026=a", "-s", "2026-01-01=b"], "valid from the same time"),
        (&["-s", "soon=a"], "not a time"),
    ] {
        let ran = audit(&dir, &[args, &["--host", "example.com", "access.log"]].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn published_addresses_verify_crawlers() {
    let dir = with_log(LOG);
    let ranges = r#"{"creationTime": "2026-01-01", "prefixes": [{"ipv6Prefix": "2001:db8::/32"}, {"ipv4Prefix": "192.0.2.0/24"}]}"#;
    for name in ["gptbot.json", "ips.json"] {
        std::fs::write(dir.path().join(name), ranges).unwrap();
    }
    let base = ["-s", "a", "--host", "example.com", "access.log", "--verify-ips"];
    for (arg, verifies_all) in [("GPTBot=ips.json", false), ("gptbot.json", false), ("ips.json", true)] {
        let report = json(&dir, &[&base[..], &[arg]].concat());
        let counts = ["verified", "claimed", "verified_disallowed", "claimed_disallowed"];
        let gptbot = counts.map(|key| crawler(&report, "GPTBot")[key].as_u64().unwrap());
        assert_eq!(gptbot, [3, 2, 1, 2], "{arg}");
        assert_eq!(crawler(&report, "CCBot")["verified"].is_u64(), verifies_all, "{arg}");
    }
    for (arg, said) in
        [("Nobot=ips.json", "no crawler of the audit"), ("GPTBot=a", "published list"), ("no.json", "no.json")]
    {
        let ran = audit(&dir, &[&base[..], &[arg]].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn offending_lines_are_unchanged_and_every_line_is_annotated() {
    // Blocks have 256 KiB, so this is several of them, on several threads.
    let log = LOG.repeat(600);
    let dir = with_log(&log);
    let args = ["-q", "-s", "a", "--host", "example.com", "access.log", "--as", "annotate", "--lines", "broken.log"];
    let ran = audit(&dir, &args);
    assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""));
    let annotated = String::from_utf8(ran.stdout).unwrap();
    let letters: String = annotated.lines().take(13).map(|line| &line[..1]).collect();
    assert_eq!(letters, "ADDDAA----III");
    let columns = |line: &str| line.splitn(3, '\t').map(str::to_owned).collect::<Vec<_>>();
    let rest: String = annotated.lines().map(|line| columns(line)[2].clone() + "\n").collect();
    assert_eq!(rest, log);
    let expected: String = log.lines().filter(|line| line.contains("/private")).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(std::fs::read_to_string(dir.path().join("broken.log")).unwrap(), expected);
    let report = json(&dir, &["-s", "a", "--host", "example.com", "access.log"]);
    assert_eq!(requests(&report, "GPTBot"), [3000, 1200, 1800, 0, 600]);
    assert_eq!(
        (&crawler(&report, "GPTBot")["rules"][0]["requests"], &crawler(&report, "GPTBot")["rules_exact"]),
        (&json!(1800), &json!(true))
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let dir = with_log(LOG.repeat(600));
    let base = ["-s", "a", "--host", "example.com", "access.log", "access.log"];
    let one = json(&dir, &[&base[..], &["-j", "1"]].concat());
    assert_eq!(one, json(&dir, &[&base[..], &["-j", "4"]].concat()));
    assert_eq!(lines(&one)[0], 2 * 600 * 13);
}

#[test]
fn table_csv_and_page_have_the_figures() {
    let dir = with_log(LOG);
    let base = ["-s", "a", "--host", "example.com", "access.log"];
    let ran = audit(&dir, &[&base[..], &["--html", "audit.html"]].concat());
    let table = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(
        table.lines().next().unwrap(),
        "1 of 2 crawlers broke the rules (6 requests of crawlers in 13 lines; 4 of other agents, 3 invalid)"
    );
    let row = table.lines().find(|line| line.starts_with("  GPTBot")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["GPTBot", "5", "3", "60.0", "%", "1", "0", "1", "1,107"]);
    let csv = String::from_utf8(audit(&dir, &[&base[..], &["--csv"]].concat()).stdout).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..6], ["name", "operator", "purpose", "requests", "allowed", "disallowed"]);
    assert_eq!(rows[1][..6], ["GPTBot", "OpenAI", "ai-train", "5", "2", "3"]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    // Each number of the page equals the figure that its pointer names.
    let report = json(&dir, &base);
    let page = std::fs::read_to_string(dir.path().join("audit.html")).unwrap();
    let numbers: Vec<(&str, String)> = page
        .split("data-m=\"")
        .skip(1)
        .map(|rest| {
            let (pointer, rest) = rest.split_once("\">").unwrap();
            (pointer, rest.split('<').next().unwrap().replace(',', ""))
        })
        .collect();
    assert!(numbers.len() > 10);
    for (pointer, number) in numbers {
        assert_eq!(report.pointer(pointer).unwrap().to_string(), number, "{pointer}");
    }
}

#[test]
fn outputs_overwrite_no_input() {
    let dir = with_log(LOG);
    for option in ["-o", "--lines", "--html"] {
        for file in ["access.log", "a"] {
            let ran = audit(&dir, &["-s", "2026=a", "--host", "example.com", "access.log", option, file]);
            assert!(ran.code == Some(2) && ran.stderr.contains("overwritten"), "{option} {file}: {}", ran.stderr);
        }
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("access.log")).unwrap(), LOG);
}

/// `scripts/check-audit` shares no code with robosieve.
#[cfg(unix)]
#[test]
fn an_independent_script_counts_the_same() {
    use std::process::Command;
    if !Command::new("python3").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        eprintln!("SKIPPED: python3 is not installed");
        return;
    }
    let dir = with_log(LOG.repeat(20));
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/check-audit");
    let check = |log: &str| {
        let mut command = Command::new(&script);
        command.args(["a", "https://example.com", log]).current_dir(dir.path());
        command.env("ROBOSIEVE", env!("CARGO_BIN_EXE_robosieve")).output().unwrap()
    };
    let ran = check("access.log");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "260 lines, 2 crawlers: all figures are equal\n", "{ran:?}");
}

/// An audit finds the broken line by the compiled order of the rules, an explanation by comparing
/// all of them.
#[test]
fn broken_rules_are_those_of_explanations() {
    let robots = "user-agent: *\nDisallow: /a # one\ndisallow: /*b\ndisallow: /ab$\ndisallow: /cb\nallow: /c\n\
        disallow: /c?b\ndisallow: *?b\ndisallow:\ndisallow: /%C3%A9\n\nuser-agent: FooBot\ndisallow: /\n";
    let mut compiler = Compiler::default();
    compiler.add_robots("https://example.com", robots.as_bytes()).unwrap();
    let snapshot = Arc::new(Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap());
    let options = JudgeOptions::default().any_scheme(true);
    let judge = Judge::new(Arc::clone(&snapshot), &["GPTBot".parse().unwrap()], options).unwrap();
    let (mut log, mut expected) = (String::new(), BTreeMap::new());
    for target in [
        "/a",
        "/ab",
        "/abc",
        "/abc#b",
        "/cb",
        "/c",
        "/c?b",
        "/%61b?b",
        "/xb",
        "/x?b",
        "//ab",
        "/x?://b#c",
        "/a b",
        "/\u{e9}/b",
        "/%c3%a9",
        "http://example.com/b",
        "HTTPS://EXAMPLE.COM:443?b",
        "/",
        "/z",
    ] {
        log += &format!("h - - [01/Aug/2026:00:00:00 +0000] \"GET {target} HTTP/1.1\" 200 1 \"-\" \"GPTBot\"\n");
        let url = if target.starts_with('/') { format!("https://example.com{target}") } else { target.to_owned() };
        let why = judge.explain(url.as_bytes(), 0).unwrap();
        let refusing = why.rules.and_then(|rules| rules.deciding).filter(|_| why.verdict == Verdict::Disallowed);
        if let Some(rule) = refusing {
            *expected.entry(rule.text).or_insert(0) += 1;
        }
    }
    assert_eq!(expected.len(), 5);
    let options = AuditOptions::default().host("https://example.com".to_owned()).top(100);
    let audit = Audit::new(vec![DatedSnapshot::new(None, snapshot)], options).unwrap();
    let inputs = vec![Input::from_reader("log", std::io::Cursor::new(log))];
    let report = audit.run(inputs, AuditOutputs::default(), &|_| {}).unwrap();
    let rules = report.crawlers[0].rules.iter().map(|rule| (rule.rule.clone(), rule.requests));
    assert_eq!(rules.collect::<BTreeMap<_, _>>(), expected);
}
