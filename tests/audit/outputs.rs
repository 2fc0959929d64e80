//! Counts, forms, several snapshots, published addresses.

use super::{audit, audit_line, compile, crawler, json, json_line, lines, requests, with_log};
use crate::command::{assert_starts, checkout, words};
use crate::snapshots::snapshot_of_robots;
use robosieve::audit::{Audit, AuditOptions, AuditOutputs, DatedSnapshot};
use robosieve::job::Input;
use robosieve::{Judge, JudgeOptions, Verdict};
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
    let report = json_line(&dir, "-s a --host https://example.com access.log");
    // Invalid: day 99, `OPTIONS *`, the blank line.
    assert_eq!(lines(&report), [13, 3, 4]);
    assert_eq!(requests(&report, "GPTBot"), [5, 2, 3, 0, 1]);
    assert_eq!(requests(&report, "CCBot"), [1, 1, 0, 0, 1]);
    let gptbot = crawler(&report, "GPTBot");
    assert_eq!(gptbot["bytes"], 1107);
    assert_eq!(gptbot["disallowed_bytes"], 507);
    assert_eq!(gptbot["disallowed_2xx"], 1);
    assert_eq!(gptbot["first"], "2026-08-01T00:00:00Z");
    assert_eq!(gptbot["last"], "2026-08-03T00:01:00Z");
    // 60 s, 0 s, and two days and a minute.
    let after = json!({"disallowed_after": 3, "disallowed_within_day": 2, "disallowed_without": 0,
        "shortest_seconds": 0, "longest_seconds": 172_860, "mean_seconds": 57_640});
    assert_eq!(gptbot["after_robots_txt"], after);
    let rule = json!({"rule": "Disallow: /private", "requests": 3,
        "example": "https://example.com/private/a?x=1", "example_time": "2026-08-01T00:01:00Z"});
    assert_eq!(gptbot["rules"], json!([rule]));
    assert_eq!(gptbot["rules_left_out"], 0);
    assert_eq!(gptbot["identity"], json!(null));
}

#[test]
fn named_agents_are_looked_for_too() {
    let dir = with_log(LOG);
    let report = json_line(
        &dir,
        "-s a --host example.com -a MyBot:CCBot,FooBot access.log",
    );
    assert_eq!(lines(&report), [13, 3, 3]);
    assert_eq!(requests(&report, "MyBot:CCBot"), [1, 0, 1, 0, 0]);
    assert_eq!(requests(&report, "FooBot"), [0; 5]);
    let ran = audit_line(&dir, "-s a --host example.com -a * access.log");
    ran.refused("no User-Agent header names it");
}

#[test]
fn texts_that_are_not_hosts_are_refused() {
    let dir = with_log(LOG);
    for host in ["", "https://", "https://example.com/path", "a b", "/"] {
        let ran = audit(&dir, &["-s", "a", "--host", host, "access.log"]);
        ran.refused("is not a host");
    }
}

/// Logs name one origin in several ways, and a request for its robots.txt counts for all of them.
#[test]
fn origins_of_a_log_are_compared_in_canonical_form() {
    let line = |host: &str, target: &str| {
        format!(
            "{host} 192.0.2.1 - - [01/Aug/2026:00:00:00 +0000] \"GET {target} HTTP/1.1\" 200 1 \"-\" \"GPTBot\"\n"
        )
    };
    let hosts = ["example.com:443", "EXAMPLE.com:443", "Example.Com:443"];
    let targets = [
        "https://example.com/",
        "HTTPS://Example.com:443/",
        "https://user@example.com/",
    ];
    let lines = |path: &str| {
        let of_hosts = hosts.map(|host| line(host, &format!("/{path}")));
        let of_targets = targets.map(|target| line("www.example:80", &format!("{target}{path}")));
        [of_hosts, of_targets].concat()
    };
    let private = lines("private");
    for fetch in lines("robots.txt") {
        let dir = with_log(fetch.clone() + &private.concat());
        let report = json_line(&dir, "-s a access.log");
        let after = &crawler(&report, "GPTBot")["after_robots_txt"];
        assert_eq!(after["disallowed_after"], 6, "{fetch}");
        assert_eq!(after["disallowed_without"], 0, "{fetch}");
    }
    // The other scheme, another port and another host are other origins.
    for fetch in [
        "http://example.com/robots.txt",
        "https://example.com:8443/robots.txt",
        "https://www.example.com/robots.txt",
    ] {
        let dir = with_log(line("x.example:443", fetch) + &private.concat());
        let report = json_line(&dir, "-s a access.log");
        let after = &crawler(&report, "GPTBot")["after_robots_txt"];
        assert_eq!(after["disallowed_after"], 0, "{fetch}");
        assert_eq!(after["disallowed_without"], 6, "{fetch}");
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
    // From 2 August on, only /x is disallowed.
    for args in [
        &["-s", "2026-07=a", "-s", "2026-08-02=b"][..],
        &["-s", "2026-08-02=b", "2026-07-01=a"],
    ] {
        let report = json(
            &dir,
            &[args, &["--host", "example.com", "access.log"]].concat(),
        );
        assert_eq!(requests(&report, "GPTBot"), [5, 3, 2, 0, 1]);
        assert_eq!(report["before_first_snapshot"], 0);
    }
    // Everything up to 2 August is older than the first snapshot, which judges it.
    let report = json_line(&dir, "-s 2026-08-02=b --host example.com access.log");
    assert_eq!(requests(&report, "GPTBot"), [5, 4, 1, 0, 1]);
    assert_eq!(report["before_first_snapshot"], 5);
    for (args, said) in [
        (&["-s", "a", "-s", "b"][..], "each needs the date"),
        (
            &["-s", "2026=a", "-s", "2026-01-01=b"],
            "valid from the same time",
        ),
        (&["-s", "soon=a"], "not a time"),
    ] {
        let ran = audit(
            &dir,
            &[args, &["--host", "example.com", "access.log"]].concat(),
        );
        ran.refused(said);
    }
}

/// Ranges that contain 192.0.2.0/24.
const RANGES: &str = r#"{"creationTime": "2026-01-01", "prefixes": [{"ipv6Prefix": "2001:db8::/32"}, {"ipv4Prefix": "192.0.2.0/24"}]}"#;

/// A crawler fetches robots.txt and an allowed page; another program fetches a disallowed page under
/// its name, a minute later.
const FAKE: &str = r#"192.0.2.1 - - [01/Aug/2026:00:00:00 +0000] "GET /robots.txt HTTP/1.1" 200 100 "-" "GPTBot/1.2"
192.0.2.1 - - [01/Aug/2026:00:00:30 +0000] "GET /ok HTTP/1.1" 200 500 "-" "GPTBot/1.2"
198.51.100.7 - - [01/Aug/2026:00:01:00 +0000] "GET /private/x HTTP/1.1" 200 7 "-" "GPTBot/1.2"
"#;

/// The entry of a crawler with this identity.
fn entry<'v>(report: &'v serde_json::Value, name: &str, identity: &str) -> &'v serde_json::Value {
    let all = report["crawlers"].as_array().unwrap();
    all.iter()
        .find(|crawler| crawler["name"] == name && crawler["identity"] == identity)
        .unwrap()
}

#[test]
fn no_output_blames_a_crawler_for_claims() {
    let dir = with_log(FAKE);
    dir.write("gptbot.json", RANGES);
    let base = words("-s a --host example.com access.log --verify-ips gptbot.json");
    let report = json(&dir, &base);
    let (verified, claimed) = (
        entry(&report, "GPTBot", "verified"),
        entry(&report, "GPTBot", "claimed"),
    );
    assert_eq!(report["crawlers"].as_array().unwrap().len(), 2);
    let figures = [
        "requests",
        "allowed",
        "disallowed",
        "robots_txt",
        "bytes",
        "disallowed_bytes",
        "disallowed_2xx",
    ];
    let found = figures.map(|key| verified[key].as_u64().unwrap());
    assert_eq!(found, [2, 2, 0, 1, 600, 0, 0]);
    let found = figures.map(|key| claimed[key].as_u64().unwrap());
    assert_eq!(found, [1, 0, 1, 0, 7, 7, 1]);
    assert_eq!(verified["rules"], json!([]));
    assert_eq!(verified["last"], "2026-08-01T00:00:30Z");
    assert_eq!(claimed["rules"][0]["requests"], 1);
    assert_eq!(claimed["first"], "2026-08-01T00:01:00Z");
    let after = ["disallowed_after", "disallowed_without"];
    let found = after.map(|key| verified["after_robots_txt"][key].as_u64().unwrap());
    assert_eq!(found, [0, 0]);
    let found = after.map(|key| claimed["after_robots_txt"][key].as_u64().unwrap());
    assert_eq!(found, [0, 1]);

    let ran = audit(
        &dir,
        &[&base[..], &["--html", "audit.html", "-o", "audit.txt"]].concat(),
    );
    ran.says("of crawlers 2  disallowed 0  claimed 1  claimed disallowed 1");
    let table = dir.read_text("audit.txt");
    let expected = "\
0 of 1 crawler broke the rules (2 requests of crawlers in 3 lines; 0 of other agents, 0 invalid)
1 request only claims to be of a crawler: its address is not published; 1 disallowed

  crawler                             requests disallowed      share  of it 2xx    unknown robots.txt      bytes
  GPTBot (verified)                          2          0        0 %          0          0          1        600
  GPTBot (claimed)                           1          1      100 %          1          0          0          7

GPTBot (claimed, not from a published address): 2026-08-01T00:01:00Z to 2026-08-01T00:01:00Z
  1 without reading robots.txt in these logs
  1 × Disallow: /private  e.g. https://example.com/private/x
";
    assert_eq!(table, expected);
    let page = dir.read_text("audit.html");
    let title = "0 of 1 crawler broke the rules";
    assert_eq!(page.matches(&format!("<title>{title}")).count(), 1);
    assert_eq!(page.matches(&format!("<h1>{title}")).count(), 1);
    let (before, claims) = page
        .split_once("Requests that only claim to be of a crawler")
        .unwrap();
    assert!(before.contains("GPTBot (verified)") && !before.contains("GPTBot (claimed)"));
    assert!(claims.contains("GPTBot (claimed)") && !claims.contains("GPTBot (verified)"));
    assert!(
        !before.contains("/private") && !claims.contains("OpenAI"),
        "only the operator of verified requests is named"
    );
    let csv = String::from_utf8(audit(&dir, &[&base[..], &["--csv"]].concat()).stdout).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| [0, 1, 4, 6].map(|column| row[column]))
        .collect();
    let expected = [
        ["name", "identity", "requests", "disallowed"],
        ["GPTBot", "verified", "2", "0"],
        ["GPTBot", "claimed", "1", "1"],
    ];
    assert_eq!(rows, expected);
    let annotated = audit(&dir, &[&base[..], &["-q", "--as", "annotate"]].concat()).stdout;
    let starts: Vec<_> = String::from_utf8(annotated)
        .unwrap()
        .lines()
        .map(|line| line[..9].to_owned())
        .collect();
    assert_eq!(starts, ["A\tGPTBot\t", "A\tGPTBot\t", "d\tGPTBot\t"]);
}

#[test]
fn published_addresses_verify_crawlers() {
    let dir = with_log(LOG);
    for name in ["gptbot.json", "ips.json"] {
        dir.write(name, RANGES);
    }
    let base = words("-s a --host example.com access.log --verify-ips");
    for (arg, verifies_all) in [
        ("GPTBot=ips.json", false),
        ("gptbot.json", false),
        ("ips.json", true),
    ] {
        let report = json(&dir, &[&base[..], &[arg]].concat());
        let counts = |identity| {
            ["requests", "disallowed"]
                .map(|key| entry(&report, "GPTBot", identity)[key].as_u64().unwrap())
        };
        assert_eq!(counts("verified"), [3, 1], "{arg}");
        assert_eq!(counts("claimed"), [2, 2], "{arg}");
        assert_eq!(
            crawler(&report, "CCBot")["identity"],
            if verifies_all {
                json!("verified")
            } else {
                json!(null)
            }
        );
        // Claims come last, though they broke more rules.
        let order: Vec<_> = report["crawlers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["identity"].clone())
            .collect();
        let found = order.iter().position(|identity| *identity == "claimed");
        assert_eq!(found, Some(2), "{arg}");
        // Each row has its own figures: the rule of the verified requests is broken once.
        assert_eq!(
            entry(&report, "GPTBot", "verified")["rules"][0]["requests"],
            1
        );
        // The claims at 00:00:00 and two days later have no request for robots.txt.
        let after = &entry(&report, "GPTBot", "claimed")["after_robots_txt"];
        assert_eq!(after["disallowed_after"], 0);
        assert_eq!(after["disallowed_without"], 2);
    }
    dir.write(
        "empty.json",
        r#"{"prefixes": [{"ip_prefix": "192.0.2.0/24"}]}"#,
    );
    dir.write("large.json", " ".repeat((16 << 20) + 1));
    for (arg, said) in [
        ("Nobot=ips.json", "no crawler of the audit"),
        ("GPTBot=a", "published list"),
        ("no.json", "no.json"),
        ("empty.json", "empty.json: it has no range of addresses"),
        ("large.json", "large.json: larger than 16 MiB"),
    ] {
        let ran = audit(&dir, &[&base[..], &[arg]].concat());
        ran.refused(said);
    }
    // Without an address every request would count as a claim.
    dir.write(
        "access.log",
        "[01/Aug/2026:00:00:00 +0000] \"GET / HTTP/1.1\" GPTBot\n",
    );
    let ran = audit(
        &dir,
        &[
            &base[..],
            &["ips.json", "--log-format", "%t \"%r\" %{User-Agent}i"],
        ]
        .concat(),
    );
    ran.refused("access.log: its lines do not name the addresses");
}

#[test]
fn lines_of_verified_or_claimed_requests() {
    let other = LOG
        .lines()
        .next()
        .unwrap()
        .replace("/robots.txt", "/a")
        .replace("GPTBot", "CCBot")
        + "\n";
    let dir = with_log(LOG.to_owned() + &other);
    dir.write("gptbot.json", RANGES);
    let base = words("-q -s a --host example.com access.log --lines broken.log");
    let log: Vec<String> = (LOG.to_owned() + &other)
        .lines()
        .map(|line| line.to_owned() + "\n")
        .collect();
    for (which, lines) in [
        ("all", &[1, 2, 3, 13][..]),
        ("verified", &[1]),
        ("claimed", &[2, 3]),
    ] {
        let ran = audit(
            &dir,
            &[
                &base[..],
                &["--verify-ips", "gptbot.json", "--lines-of", which],
            ]
            .concat(),
        );
        ran.succeeds();
        let expected: String = lines.iter().map(|line| &log[*line][..]).collect();
        let found = dir.read_text("broken.log");
        assert_eq!(found, expected, "{which}");
    }
    let ran = audit(&dir, &[&base[..], &["--lines-of", "claimed"]].concat());
    ran.refused("--verify-ips");
}

#[test]
fn offending_lines_are_unchanged_and_every_line_is_annotated() {
    // Blocks have 256 KiB, so this is several of them, on several threads.
    let log = LOG.repeat(600);
    let dir = with_log(&log);
    let args = words("-q -s a --host example.com access.log --as annotate --lines broken.log");
    let ran = audit(&dir, &args);
    ran.succeeds();
    let annotated = ran.text();
    let letters: String = annotated.lines().take(13).map(|line| &line[..1]).collect();
    assert_eq!(letters, "ADDDAA----III");
    let columns = |line: &str| line.splitn(3, '\t').map(str::to_owned).collect::<Vec<_>>();
    let rest: String = annotated
        .lines()
        .map(|line| columns(line)[2].clone() + "\n")
        .collect();
    assert_eq!(rest, log);
    let expected: String = log
        .lines()
        .filter(|line| line.contains("/private"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let found = dir.read_text("broken.log");
    assert_eq!(found, expected);
    let report = json_line(&dir, "-s a --host example.com access.log");
    assert_eq!(requests(&report, "GPTBot"), [3000, 1200, 1800, 0, 600]);
    assert_eq!(crawler(&report, "GPTBot")["rules"][0]["requests"], 1800);
    assert_eq!(crawler(&report, "GPTBot")["rules_left_out"], 0);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let dir = with_log(LOG.repeat(600));
    let base = words("-s a --host example.com access.log access.log");
    let one = json(&dir, &[&base[..], &["-j", "1"]].concat());
    assert_eq!(one, json(&dir, &[&base[..], &["-j", "4"]].concat()));
    assert_eq!(lines(&one)[0], 2 * 600 * 13);
}

#[test]
fn table_csv_and_page_have_the_figures() {
    let dir = with_log(LOG);
    let base = ["-s", "a", "--host", "example.com", "access.log"];
    let ran = audit(&dir, &[&base[..], &["--html", "audit.html"]].concat());
    let table = ran.text();
    let expected = "1 of 2 crawlers broke the rules (6 requests of crawlers in 13 lines; 3 of other agents, 1 without a User-Agent, 3 invalid)";
    assert_eq!(table.lines().next().unwrap(), expected);
    let row = table
        .lines()
        .find(|line| line.starts_with("  GPTBot"))
        .unwrap();
    let expected = ["GPTBot", "5", "3", "60.0", "%", "1", "0", "1", "1,107"];
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), expected);
    let csv = String::from_utf8(audit(&dir, &[&base[..], &["--csv"]].concat()).stdout).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let expected = [
        "name",
        "identity",
        "operator",
        "purpose",
        "requests",
        "allowed",
        "disallowed",
    ];
    assert_eq!(rows[0][..7], expected);
    let expected = ["GPTBot", "", "OpenAI", "ai-train", "5", "2", "3"];
    assert_eq!(rows[1][..7], expected);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    // Each number of the page equals the figure that its pointer names.
    let report = json(&dir, &base);
    let page = dir.read_text("audit.html");
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
        let found = report.pointer(pointer).unwrap().to_string();
        assert_eq!(found, number, "{pointer}");
    }
}

#[test]
fn outputs_overwrite_no_input() {
    let dir = with_log(LOG);
    for option in ["-o", "--lines", "--html"] {
        for file in ["access.log", "a"] {
            let ran = audit(
                &dir,
                &words(&format!(
                    "-s 2026=a --host example.com access.log {option} {file}"
                )),
            );
            ran.refused("overwritten");
        }
    }
    let found = dir.read_text("access.log");
    assert_eq!(found, LOG);
}

/// `scripts/x recount-audit` shares no code with robosieve.
#[cfg(unix)]
#[test]
fn an_independent_script_counts_the_same() {
    use std::process::Command;
    if !Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|ran| ran.status.success())
    {
        eprintln!("SKIPPED: python3 is not installed");
        return;
    }
    let dir = with_log(LOG.repeat(20));
    let script = checkout().join("scripts/x");
    let check = |args: &[&str]| {
        let mut command = Command::new(&script);
        command
            .arg("recount-audit")
            .args(args)
            .current_dir(dir.root())
            .env("ROBOSIEVE", env!("CARGO_BIN_EXE_robosieve"));
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{args:?}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    let printed = check(&["a", "https://example.com", "access.log"]);
    let expected = "260 lines, 2 crawlers, 60 disallowed: all figures are equal\n";
    assert_eq!(printed, expected);
    // The same requests in both formats, with fields that are escaped, and fakes among them.
    compile(
        &dir,
        "odd",
        r#"{"url":"https://example.com/robots.txt","status":200,"body":"User-agent: *\nDisallow: /*~joe\nDisallow: /*caf%C3%A9\nDisallow: /*{a}|b\nDisallow: /search\nAllow: /*it's^\nDisallow: /*[1]\n"}"#,
    );
    dir.write("ips.json", RANGES);
    let verify = words("--verify-ips GPTBot=ips.json --verify-ips Googlebot=ips.json");
    let reports = ["combined", "cloudfront"].map(|format| {
        let mut command = Command::new(&script);
        command.arg("synthetic-log");
        let log = command
            .args(["3000", "7", "--odd", "--published", "--format", format])
            .output()
            .unwrap()
            .stdout;
        dir.write(format, log);
        let printed = check(&[&verify[..], &["odd", "example.com", format]].concat());
        assert_starts(&printed, "3,000 lines, 10 crawlers, ");
        let mut report = json(
            &dir,
            &[&["-s", "odd", "--host", "example.com", format], &verify[..]].concat(),
        );
        // The line of one format is not that of the other.
        assert!(report["invalid_example"].take().is_object());
        report
    });
    assert_eq!(reports[0], reports[1]);
    for (name, identity) in [
        ("GPTBot", "verified"),
        ("GPTBot", "claimed"),
        ("Googlebot", "claimed"),
    ] {
        assert!(
            entry(&reports[0], name, identity)["disallowed"].as_u64() > Some(10),
            "{name}"
        );
    }
}

/// An audit finds the broken line by the compiled order of the rules, an explanation by comparing
/// all of them.
#[test]
fn broken_rules_are_those_of_explanations() {
    let robots = "user-agent: *\nDisallow: /a # one\ndisallow: /*b\ndisallow: /ab$\ndisallow: /cb\nallow: /c\n\
        disallow: /c?b\ndisallow: *?b\ndisallow:\ndisallow: /%C3%A9\n\nuser-agent: FooBot\ndisallow: /\n";
    let snapshot = Arc::new(snapshot_of_robots("https://example.com", robots));
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
        log += &format!(
            "h - - [01/Aug/2026:00:00:00 +0000] \"GET {target} HTTP/1.1\" 200 1 \"-\" \"GPTBot\"\n"
        );
        let url = if target.starts_with('/') {
            format!("https://example.com{target}")
        } else {
            target.to_owned()
        };
        let why = judge.explain(url.as_bytes(), 0).unwrap();
        let refusing = why
            .rules
            .and_then(|rules| rules.deciding)
            .filter(|_| why.verdict == Verdict::Disallowed);
        if let Some(rule) = refusing {
            *expected.entry(rule.text).or_insert(0) += 1;
        }
    }
    assert_eq!(expected.len(), 5);
    let options = AuditOptions::default()
        .host("https://example.com".to_owned())
        .top(100);
    let audit = Audit::new(vec![DatedSnapshot::new(None, snapshot)], options).unwrap();
    let inputs = vec![Input::from_reader("log", std::io::Cursor::new(log))];
    let report = audit.run(inputs, AuditOutputs::default(), &|_| {}).unwrap();
    let rules = report.crawlers[0]
        .rules
        .iter()
        .map(|rule| (rule.rule.clone(), rule.requests));
    assert_eq!(rules.collect::<BTreeMap<_, _>>(), expected);
}
