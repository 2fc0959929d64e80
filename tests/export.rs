//! `export`: the snapshot as a table, in all formats.

use crate::command::assert_starts;
use crate::determinism::robots;
use crate::test_dir::TestDir;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use robosieve::{AgentMatch, Origin, Snapshot};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;

type Row = Map<String, Value>;

/// A directory with the snapshot `s.rsieve` of these captures.
fn snapshot_dir(captures: &[Value]) -> TestDir {
    let dir = TestDir::new();
    let lines = captures.iter().map(|capture| format!("{capture}\n"));
    dir.write("a.jsonl", lines.collect::<String>());
    dir.stdout_of("compile -q -o s.rsieve a.jsonl");
    dir
}

/// A directory with the snapshot of `datasets/small`.
fn small_dir() -> TestDir {
    let dir = TestDir::new();
    dir.compile_small("s.rsieve");
    dir
}

impl TestDir {
    /// The rows of an export as JSON.
    fn rows(&self, args: &str) -> Vec<Row> {
        let lines = self.stdout_of(&format!("export -q -s s.rsieve --as jsonl {args}"));
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// The row of an origin.
fn of<'r>(rows: &'r [Row], origin: &str) -> &'r Row {
    rows.iter()
        .find(|row| row["origin"] == origin)
        .unwrap_or_else(|| panic!("no row of {origin}"))
}

/// Checks some values of a row.
fn assert_row(row: &Row, expected: &Value) {
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(row.get(key), Some(value), "{key} of {row:?}");
    }
}

#[test]
fn a_small_web_has_the_values_worked_out_by_hand() {
    let dir = small_dir();
    let rows = dir.rows("-a GPTBot,Googlebot,FooBot,MJ12bot");
    assert_eq!(rows.len(), 48);
    for expected in [
        json!({
            "origin": "https://signals.example", "outcome": "rules", "status": 200, "scheme": "https",
            "host": "signals.example", "port": 443, "domain": "signals.example", "tld": "example",
            "failing_since": null, "fetched": "2026-09-15T07:00:06Z", "age": 4,
            "stale_from": "2026-09-16T07:00:06Z", "redirects": 0, "source": null, "detail": null,
            "has_last_good": false, "groups": 2, "allow": 0, "disallow": 2, "sitemaps": 2,
            "host_field": "signals.example",
            "content_signal": "search=yes, ai-input=no, ai-train=no; ai-train=yes", "content_usage": "train-ai=n",
            "other_fields": {"clean-param": ["ref /articles/"], "crawl-delay": ["0.5"], "request-rate": ["1/10"]},
            "GPTBot.access": "partial", "GPTBot.named": "name", "GPTBot.crawl_delay": 0.5,
            "Googlebot.crawl_delay": 0.5, "FooBot.access": "allowed", "FooBot.named": "name",
            "FooBot.crawl_delay": null, "MJ12bot.named": "none", "MJ12bot.access": "allowed",
        }),
        json!({
            "origin": "https://shop.example", "bytes": 331, "groups": 3, "allow": 2, "disallow": 9, "sitemaps": 1,
            "GPTBot.access": "partial", "GPTBot.named": "*", "GPTBot.crawl_delay": 2,
            "MJ12bot.access": "blocked", "MJ12bot.named": "name", "MJ12bot.crawl_delay": null,
            "other_fields": {"crawl-delay": ["2"]}, "host_field": null,
        }),
        json!({
            "origin": "https://news.example", "GPTBot.access": "partial", "Googlebot.access": "partial",
            "content_signal": "search=yes, ai-train=no", "content_usage": null, "license": null, "sitemaps": 2, "age": 3605,
        }),
        // Failing for 40 days: the rules of the last good copy apply.
        json!({
            "origin": "https://failing.example", "outcome": "server-error", "status": 503, "has_last_good": true,
            "GPTBot.access": "blocked", "GPTBot.named": "name", "FooBot.access": "partial", "FooBot.named": "*",
            "groups": 2, "disallow": 2, "failing_since": "2026-08-06T06:00:22Z",
        }),
        json!({
            "origin": "https://down.example", "outcome": "server-error", "status": 503, "GPTBot.access": "blocked",
            "GPTBot.named": null, "groups": null, "bytes": null, "has_last_good": false,
        }),
        json!({
            "origin": "https://timeout.example", "outcome": "unreachable", "status": null, "detail": "timeout",
            "GPTBot.access": "blocked",
        }),
        json!({"origin": "http://blog.example", "outcome": "client-error", "status": 404, "GPTBot.access": "allowed"}),
        json!({
            "origin": "https://moved.example", "redirects": 2, "source": "https://www.moved.example/robots.txt",
        }),
        json!({"origin": "http://[2001:db8::7]:8080", "scheme": "http", "host": "[2001:db8::7]", "port": 8080}),
        json!({
            "origin": "http://192.0.2.10", "host": "192.0.2.10", "port": 80, "domain": "192.0.2.10",
            "tld": null,
        }),
        json!({"origin": "ftp://files.example", "scheme": "ftp", "port": 21}),
        // A max-age of a week.
        json!({"origin": "https://cache.example", "stale_from": "2026-09-22T07:00:04Z", "GPTBot.named": "none"}),
        json!({"origin": "https://names.example", "MJ12bot.access": "partial", "MJ12bot.named": "name"}),
    ] {
        assert_row(of(&rows, expected["origin"].as_str().unwrap()), &expected);
    }
}

#[test]
fn domains_are_those_of_reports() {
    // The host, its domain and its top-level domain.
    let cases = [
        ("example.com", "example.com", Some("com")),
        ("www.example.com", "example.com", Some("com")),
        ("a.b.example.com.", "example.com", Some("com")),
        ("www.example.co.uk", "example.co.uk", Some("uk")),
        ("user.github.io", "user.github.io", Some("io")),
        ("pages.user.github.io", "user.github.io", Some("io")),
        (
            "www.b\u{fc}cher.example",
            "xn--bcher-kva.example",
            Some("example"),
        ),
        (
            "\u{44f}.\u{440}\u{444}",
            "xn--41a.xn--p1ai",
            Some("xn--p1ai"),
        ),
        // Without a registrable domain.
        ("co.uk", "co.uk", Some("uk")),
        ("github.io.", "github.io", Some("io")),
        ("localhost", "localhost", Some("localhost")),
        ("intranet.", "intranet", Some("intranet")),
        ("192.0.2.10", "192.0.2.10", None),
        ("0x7f.1", "127.0.0.1", None),
        ("[2001:DB8::7]", "[2001:db8::7]", None),
    ];
    let captures = cases.map(|(host, ..)| {
        json!({"url": format!("https://{host}/robots.txt"), "status": 200, "body": "user-agent: *"})
    });
    let dir = snapshot_dir(&captures);
    let rows = dir.rows("--columns origin,domain,tld");
    assert_eq!(rows.len(), cases.len());
    for (host, domain, tld) in cases {
        let origin = Origin::of(format!("https://{host}/").as_bytes()).unwrap();
        let row = of(&rows, &origin.to_string());
        assert_row(row, &json!({"domain": domain, "tld": tld}));
    }
    // A report counts each of these domains once.
    let distinct: std::collections::BTreeSet<&str> = rows
        .iter()
        .filter_map(|row| row["domain"].as_str())
        .collect();
    dir.stdout_of("report -q -s s.rsieve -a GPTBot --by domain --json-to r.json");
    let report: Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    assert_eq!(report["units"], distinct.len());
}

#[test]
fn failures_have_the_time_of_their_first() {
    let day = |day: u32| format!("2026-09-{day:02}T00:00:00Z");
    struct Case {
        host: &'static str,
        /// The day and the status of each capture; 0 for no answer.
        captures: &'static [(u32, u16)],
        /// The day since which it fails.
        since: Option<u32>,
    }
    let case = |host, captures, since| Case {
        host,
        captures,
        since,
    };
    let cases = [
        case("fine", &[(1, 200)], None),
        case("gone", &[(1, 503), (2, 404)], None),
        case("once", &[(3, 503)], Some(3)),
        case("run", &[(1, 200), (2, 503), (4, 500), (9, 502)], Some(2)),
        case("again", &[(1, 503), (2, 200), (5, 503)], Some(5)),
        case("busy", &[(4, 429), (6, 503)], Some(4)),
        case("silent", &[(2, 0), (3, 0)], Some(2)),
    ];
    let mut captures = Vec::new();
    for case in &cases {
        for (at, status) in case.captures {
            let url = format!("https://{}.example/robots.txt", case.host);
            let mut capture = json!({"url": url, "fetched_at": day(*at), "body": ""});
            match status {
                0 => capture["error"] = "timeout".into(),
                status => capture["status"] = (*status).into(),
            }
            captures.push(capture);
        }
    }
    // A failure of unknown time, and one at the end of a redirect.
    captures.extend([
        json!({"url": "https://undated.example/robots.txt", "status": 503}),
        json!({"url": "https://moved.example/robots.txt", "status": 301, "fetched_at": day(8),
               "headers": {"location": "https://once.example/robots.txt"}}),
    ]);
    let dir = snapshot_dir(&captures);
    let rows = dir.rows("--columns origin,failing_since,outcome");
    for Case { host, since, .. } in cases {
        let row = of(&rows, &format!("https://{host}.example"));
        assert_eq!(row["failing_since"], json!(since.map(day)), "{host}");
    }
    let undated = of(&rows, "https://undated.example");
    assert_row(
        undated,
        &json!({"outcome": "server-error", "failing_since": null}),
    );
    // `inspect` states the same.
    for row in &rows {
        let origin = row["origin"].as_str().unwrap();
        let shown = dir.stdout_of(&format!("inspect s.rsieve {origin} --json"));
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(row["failing_since"], shown["first_failure"], "{origin}");
    }
}

/// The rows of a table with columns per agent, with a row per agent instead.
fn reshaped(wide: &[Row], agents: &[&str]) -> Vec<Row> {
    let mut long = Vec::new();
    for row in wide {
        for agent in agents {
            let is_of_origin = |(key, _): &(String, Value)| !key.contains('.');
            let mut new: Row = row.clone().into_iter().filter(is_of_origin).collect();
            new.insert("agent".into(), (*agent).into());
            for column in ["access", "named", "crawl_delay"] {
                new.insert(column.into(), row[&format!("{agent}.{column}")].clone());
            }
            long.push(new);
        }
    }
    long
}

#[test]
fn the_long_table_is_the_wide_one_reshaped() {
    let agents = ["GPTBot", "Googlebot-Image:Googlebot", "*", "MJ12bot"];
    for dir in [small_dir(), hostile_dir()] {
        for selection in [
            "",
            " --outcome rules,unreachable",
            " --stale-at 2026-09-20 --at now",
        ] {
            let options = format!("-a {}{selection}", agents.join(","));
            let mut wide = dir.rows(&options);
            let mut long = dir.rows(&format!("--long {options}"));
            if selection.contains("now") {
                // The clock runs between the two.
                for row in wide.iter_mut().chain(&mut long) {
                    row.remove("age");
                }
            }
            assert_eq!(long, reshaped(&wide, &agents), "{options}");
        }
        assert_formats_agree(&dir, &format!("--long -a {}", agents.join(",")));
        let columns = "--columns crawl_delay,origin,AGENT,access";
        let chosen = dir.rows(&format!("--long -a {} {columns}", agents.join(",")));
        for (chosen, row) in chosen
            .iter()
            .zip(dir.rows(&format!("--long -a {}", agents.join(","))))
        {
            assert_eq!(chosen.len(), 4);
            assert!(chosen.iter().all(|(key, value)| row[key] == *value));
        }
    }
}

#[test]
fn names_of_columns_have_two_spellings() {
    let dir = small_dir();
    let names = |args: &str, extension: &str| -> Vec<String> {
        let name = format!("names.{extension}");
        dir.stdout_of(&format!("export -q -s s.rsieve {args} -o {name}"));
        if extension == "parquet" {
            return parquet_names(&dir.path(&name));
        }
        let text = dir.read_text(&name);
        let first = text.lines().next().unwrap();
        let split = |separator: char| first.split(separator).map(str::to_owned).collect();
        match extension {
            "jsonl" => {
                let row: Value = serde_json::from_str(first).unwrap();
                row.as_object().unwrap().keys().cloned().collect()
            }
            "csv" => split(','),
            _ => split('\t'),
        }
    };
    let dots = ["Googlebot-Image:Googlebot.access", "MJ12bot.crawl_delay"];
    let underscores = ["Googlebot_Image_Googlebot_access", "MJ12bot_crawl_delay"];
    for columns in [dots, underscores] {
        let args = format!(
            "-a Googlebot-Image:Googlebot,MJ12bot --columns {}",
            columns.join(",")
        );
        for extension in ["tsv", "csv", "jsonl", "parquet"] {
            let default = if extension == "parquet" {
                underscores
            } else {
                dots
            };
            assert_eq!(names(&args, extension), default, "{extension}");
            for (style, expected) in [("dots", dots), ("underscores", underscores)] {
                let args = format!("{args} --column-names {style}");
                assert_eq!(names(&args, extension), expected, "{extension} {style}");
            }
        }
    }
    // Agents whose names become equal. A name that both share is refused, not guessed.
    let same = "-a Qqqq-Wwww,Qqqq_Wwww";
    for args in ["-o same.parquet", "--columns Qqqq_Wwww_access"] {
        let ran = dir.run_line(&format!("export -q -s s.rsieve {same} {args}"));
        assert_eq!(ran.code, Some(2));
        let cause = "two agents have the column Qqqq_Wwww_access";
        ran.says(cause).says("--column-names dots");
        assert!(ran.stdout.is_empty() && !dir.path("same.parquet").exists());
    }
    dir.stdout_of(&format!(
        "export -q -s s.rsieve {same} --column-names dots -o same.parquet"
    ));
    dir.stdout_of(&format!(
        "export -q -s s.rsieve {same} --long -o same.parquet"
    ));
    dir.stdout_of(&format!(
        "export -q -s s.rsieve {same} --columns Qqqq-Wwww.access,origin -o same.parquet"
    ));
}

/// The library's look-ups give the same values.
#[test]
fn rows_equal_look_ups() {
    let dir = small_dir();
    let snapshot = Snapshot::open(dir.path("s.rsieve")).unwrap();
    let rows = dir.rows("-a GPTBot");
    let sitemaps = dir.rows("--sitemaps");
    assert_eq!(rows.len(), snapshot.origins().count());
    let mut delays = 0;
    for (row, entry) in rows.iter().zip(snapshot.origins()) {
        let entry = entry.unwrap();
        assert_eq!(row["origin"], entry.origin());
        let origin = Origin::of(entry.origin().as_bytes()).unwrap();
        let delay = snapshot
            .crawl_delay(&origin, &"GPTBot".parse().unwrap(), AgentMatch::Extended)
            .unwrap();
        let found = row["GPTBot.crawl_delay"].as_f64();
        assert_eq!(found, delay.map(|delay| delay.as_secs_f64()), "{origin}");
        delays += usize::from(delay.is_some());
        let found = snapshot.sitemaps(&origin).unwrap();
        let exported: Vec<&str> = sitemaps
            .iter()
            .filter(|row| row["origin"] == entry.origin())
            .map(|row| row["sitemap"].as_str().unwrap())
            .collect();
        let expected = found
            .iter()
            .map(|value| std::str::from_utf8(value).unwrap())
            .collect::<Vec<_>>();
        assert_eq!(exported, expected);
        let actual = row["sitemaps"].as_u64().unwrap_or_default();
        assert_eq!(actual, found.len() as u64);
    }
    assert!(delays > 1, "{delays} delays");
}

#[test]
fn sitemaps_are_resolved_against_the_answer() {
    let capture = |host: &str, more: Value| {
        let mut capture = json!({"url": format!("https://{host}/robots.txt"), "status": 200});
        capture
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        capture
    };
    let body = "Sitemap: /a.xml\nSitemap: b.xml\n\nSitemap: https://c.example/c.xml\nSitemap: /a.xml\nSitemap: http://[";
    let dir = snapshot_dir(&[
        capture("e.example", json!({"body": body})),
        capture(
            "f.example",
            json!({"status": 301, "headers": {"location": "https://g.example/x/robots.txt"}}),
        ),
        json!({"url": "https://g.example/x/robots.txt", "status": 200, "body": "sitemap: b.xml"}),
        capture("h.example", json!({"body": "user-agent: *"})),
    ]);
    let row = |origin: &str, sitemap: &str, url: Option<&str>, line: u32| {
        json!({"origin": origin, "sitemap": sitemap, "url": url, "line": line})
            .as_object()
            .unwrap()
            .clone()
    };
    let expected = [
        row(
            "https://e.example",
            "/a.xml",
            Some("https://e.example/a.xml"),
            1,
        ),
        row(
            "https://e.example",
            "b.xml",
            Some("https://e.example/b.xml"),
            2,
        ),
        row(
            "https://e.example",
            "https://c.example/c.xml",
            Some("https://c.example/c.xml"),
            4,
        ),
        row("https://e.example", "http://[", None, 6),
        row(
            "https://f.example",
            "b.xml",
            Some("https://g.example/x/b.xml"),
            1,
        ),
    ];
    assert_eq!(dir.rows("--sitemaps"), expected);
}

#[test]
fn rules_have_a_row_for_each_agent() {
    let body = "Disallow: /early\nUser-agent: FooBot/1.0\nUser-agent: MJ12bot\nDisallow: /%7Ea*$ # x\nAllow:\n\n\
                User-agent: *\nDisallow: /x\nUser-agent: foobot\nDisallow: /y";
    let dir = snapshot_dir(&[
        json!({"url": "https://e.example/robots.txt", "status": 200, "body": body}),
    ]);
    let row = |group: u32, agent: &str, kind: &str, pattern: &str, line: u32| {
        let origin = "https://e.example";
        let row = json!({"origin": origin, "group": group, "agent": agent, "kind": kind, "pattern": pattern, "line": line});
        row.as_object().unwrap().clone()
    };
    let all = [
        row(1, "foobot", "disallow", "/%7Ea*$", 4),
        row(1, "foobot", "allow", "", 5),
        row(1, "mj12bot", "disallow", "/%7Ea*$", 4),
        row(1, "mj12bot", "allow", "", 5),
        row(2, "*", "disallow", "/x", 8),
        row(3, "foobot", "disallow", "/y", 10),
    ];
    assert_eq!(dir.rows("--rules"), all);
    // FooBot obeys both of its groups, and BarBot that for all agents.
    let obeyed = [
        row(1, "FooBot", "disallow", "/%7Ea*$", 4),
        row(1, "FooBot", "allow", "", 5),
        row(2, "BarBot", "disallow", "/x", 8),
        row(3, "FooBot", "disallow", "/y", 10),
    ];
    assert_eq!(dir.rows("--rules -a FooBot,BarBot"), obeyed);
}

/// A robots.txt of 500 KiB can combine 10,000 agents with 10,000 rules.
#[test]
fn large_groups_have_one_row_per_rule() {
    let agents: String = (0..10_000)
        .map(|number| format!("user-agent: a{number}\n"))
        .collect();
    let rules: String = (0..10_000)
        .map(|number| format!("disallow: /{number}\n"))
        .collect();
    let body = format!("user-agent: a\ndisallow: /first\n{agents}{rules}");
    let dir = snapshot_dir(&[
        json!({"url": "https://e.example/robots.txt", "status": 200, "body": body}),
    ]);
    let rows = dir.rows("--rules");
    assert_eq!(rows.len(), 10_001);
    let found = (&rows[0]["agent"], &rows[1]["agent"], &rows[1]["line"]);
    assert_eq!(found, (&json!("a"), &Value::Null, &json!(10_003)));
    assert_eq!(dir.rows("--rules -a a7").len(), 10_000);
}

#[test]
fn rows_and_columns_are_selected() {
    let dir = small_dir();
    let origins = |args: &str| -> Vec<String> {
        let rows = dir.rows(&format!("--columns origin {args}"));
        assert!(rows.iter().all(|row| row.len() == 1));
        rows.iter()
            .map(|row| row["origin"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(origins("--outcome unreachable").len(), 4);
    assert_eq!(origins("--outcome unreachable,server-error").len(), 8);
    // Origins whose day or week is over; `due` lists the same, but no ftp.
    for at in ["2026-09-16T06:30:00Z", "2026-09-20", "now"] {
        let mut stale = origins(&format!("--stale-at {at}"));
        assert!(!stale.is_empty() && stale.len() <= 48);
        stale.retain(|origin| !origin.starts_with("ftp:"));
        let listed = dir.stdout_of(&format!("due -q -s s.rsieve --stale-at {at}"));
        let listed: Vec<&str> = listed
            .lines()
            .map(|url| url.strip_suffix("/robots.txt").unwrap())
            .collect();
        assert_eq!(stale, listed, "{at}");
    }
    let found = origins("--stale-at 2026-09-20").len();
    assert_eq!(found, 47, "all but the one with a max-age of a week");
    let tsv =
        dir.stdout_of("export -q -s s.rsieve -a GPTBot --columns status,gptbot.ACCESS,origin --outcome unreachable");
    assert_starts(
        &tsv,
        "status\tGPTBot.access\torigin\n\tallowed\thttps://mourned.example\n\tblocked\thttps://",
    );
    let ages = dir.rows("--at 2026-09-15T07:00:16Z --columns origin,age");
    assert_eq!(of(&ages, "https://signals.example")["age"], 10);
}

#[test]
fn status_policies_decide_access() {
    let dir = small_dir();
    let access = |policy: &str, origin: &str| {
        let rows = dir.rows(&format!(
            "-a FooBot --status-policy {policy} --columns origin,FooBot.access"
        ));
        of(&rows, origin)["FooBot.access"].clone()
    };
    for (policy, origin, expected) in [
        ("google", "https://busy.example", "blocked"),
        ("google-2019", "https://busy.example", "allowed"),
        ("google-2026", "https://busy.example", "blocked"),
        ("google-2012", "https://failing.example", "blocked"),
        ("google-2023", "https://failing.example", "partial"),
        ("rfc9309", "https://busy.example", "allowed"),
        ("google", "https://closed.example", "allowed"),
        ("strict", "https://closed.example", "blocked"),
    ] {
        assert_eq!(access(policy, origin), expected, "{policy} {origin}");
    }
}

#[test]
fn wrong_options_are_refused() {
    let dir = small_dir();
    for (args, cause) in [
        (
            "--columns nothing",
            "there is no such column; the columns are origin, outcome, status,",
        ),
        ("--columns origin,Origin", "the column origin appears twice"),
        ("-a GPTBot,gptbot", "appears twice"),
        ("-o s.rsieve", "the name says .rsieve"),
        ("-o x.json", "name it .jsonl"),
        ("-o x.parquet.zst", "not compressed as a whole"),
        ("--as parquet", "Parquet needs a file"),
        ("--sitemaps --rules", "cannot be used with"),
        ("-a GPTBot --long --rules", "cannot be used with"),
        ("-a GPTBot --long --sitemaps", "cannot be used with"),
        ("--long", "name agents with -a"),
        (
            "-a GPTBot --long --columns GPTBot.access",
            "agent, access, named, crawl_delay",
        ),
        ("--column-names spaces", "underscores"),
        ("--stale-at soon", "not a time"),
        ("--outcome fine", "unreachable"),
    ] {
        let ran = dir.run_line(&format!("export -q -s s.rsieve {args}"));
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        ran.says(cause);
        assert!(ran.stdout.is_empty(), "{args}: {ran:?}");
    }
}

#[test]
fn files_that_decide_are_numbered_on_request_only() {
    let dir = small_dir();
    let all = dir.stdout_of("export -q -s s.rsieve");
    assert!(!all.contains("rules_file") && !all.contains("status_access"));
    let columns = "--columns rules_file,reason,status_access,FooBot.access";
    let rows = dir.stdout_of(&format!("export -q -s s.rsieve -a FooBot {columns}"));
    let mut numbers = BTreeSet::new();
    for row in rows.lines().skip(1) {
        let [number, reason, by_status, access] =
            row.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let has_rules = ["rules", "last-good-copy"].contains(&reason);
        assert_eq!(number.parse::<u32>().is_ok(), has_rules, "{row}");
        // Without rules, the status decides for all agents.
        assert_eq!(by_status, if has_rules { "" } else { access }, "{row}");
        numbers.insert(number);
    }
    // Origins share files.
    assert!((2..rows.lines().count() - 1).contains(&numbers.len()));
}

/// Sites with fields full of characters that the formats use.
fn hostile_dir() -> TestDir {
    let odd = "\t\u{1b}]0;x\u{7}\u{9b}\u{202e}\\t\\u{1b}\"',;= ü \u{fffd}";
    let bodies = [
        format!(
            "user-agent: *\ndisallow: /{odd}\nhost: ={odd}\ncontent-signal: {odd}\nlicense: {odd}\nsitemap: /{odd}"
        ),
        format!(
            "host: '{odd}\nhost: +1\ncontent-usage: @x,\"y\"\nlicense: \"\nlicense:\nuser-agent:\ndisallow: {odd}"
        ),
        "host: \u{feff}\u{2028}\\\nuser-agent: x\\y\ndisallow: \\".to_owned(),
    ];
    let mut captures: Vec<Value> = bodies
        .iter()
        .enumerate()
        .map(|(number, body)| json!({"url": format!("https://h{number}.example/robots.txt"), "status": 200, "body": body}))
        .collect();
    captures.push(json!({"url": "https://i.example/robots.txt", "error": format!("dns\r\n{odd}")}));
    captures.push(json!({"url": "https://j.example/robots.txt", "body_base64": "aG9zdDogm/8KdXNlci1hZ2VudDogKg=="}));
    snapshot_dir(&captures)
}

/// The text of a field of TSV or CSV: without the apostrophe that protects spreadsheets, and
/// without escapes.
fn unescape(field: &str) -> String {
    assert!(
        !field.starts_with(['=', '+', '-', '@']),
        "a spreadsheet reads {field} as a formula"
    );
    let (mut out, mut rest) = (String::new(), field.strip_prefix('\'').unwrap_or(field));
    while let Some(at) = rest.find('\\') {
        out += &rest[..at];
        let escape = &rest[at + 1..];
        let (c, len) = match escape.chars().next().unwrap() {
            't' => ('\t', 1),
            'n' => ('\n', 1),
            'r' => ('\r', 1),
            '\\' => ('\\', 1),
            'u' => {
                let end = escape.find('}').unwrap();
                (
                    char::from_u32(u32::from_str_radix(&escape[2..end], 16).unwrap()).unwrap(),
                    end + 1,
                )
            }
            c => panic!("an unknown escape \\{c} in {field}"),
        };
        out.push(c);
        rest = &escape[len..];
    }
    out + rest
}

/// The fields of a line of CSV.
fn csv_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                fields.last_mut().unwrap().push(chars.next().unwrap())
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields.iter().map(|field| unescape(field)).collect()
}

/// The text of a JSON value in TSV and CSV.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The text of a value in a Parquet file.
fn parquet_text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::TimestampMicros(micros) => jiff::Timestamp::from_second(micros / 1_000_000)
            .unwrap()
            .to_string(),
        Field::Double(number) => number.to_string(),
        Field::Long(number) => number.to_string(),
        Field::Bool(flag) => flag.to_string(),
        other => panic!("a column of another type: {other:?}"),
    }
}

fn decompressed(bytes: &[u8]) -> String {
    String::from_utf8(zstd::decode_all(bytes).unwrap()).unwrap()
}

/// All formats have the values of the JSON lines.
fn assert_formats_agree(dir: &TestDir, args: &str) {
    let rows = dir.rows(args);
    assert!(!rows.is_empty());
    for name in ["t.tsv.zst", "t.csv", "t.parquet", "t.jsonl.gz"] {
        dir.stdout_of(&format!("export -q -s s.rsieve {args} -o {name}"));
    }
    let tsv = decompressed(&dir.read("t.tsv.zst"));
    let mut lines = tsv.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    assert!(rows.iter().all(|row| row.len() == names.len()));
    let expected: Vec<Vec<String>> = rows
        .iter()
        .map(|row| names.iter().map(|name| as_text(&row[*name])).collect())
        .collect();
    let found: Vec<Vec<String>> = lines
        .map(|line| line.split('\t').map(unescape).collect())
        .collect();
    assert_eq!(found, expected, "TSV of {args:?}");

    let csv = dir.read_text("t.csv");
    let mut lines = csv.lines();
    assert_eq!(csv_fields(lines.next().unwrap()), names);
    let found: Vec<Vec<String>> = lines.map(csv_fields).collect();
    assert_eq!(found, expected, "CSV of {args:?}");

    let file = SerializedFileReader::new(fs::File::open(dir.path("t.parquet")).unwrap()).unwrap();
    let parquet: Vec<_> = file
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let found: Vec<Vec<String>> = parquet
        .iter()
        .map(|row| {
            row.get_column_iter()
                .map(|(_, field)| parquet_text(field))
                .collect()
        })
        .collect();
    assert_eq!(found, expected, "Parquet of {args:?}");
    let header = dir.stdout_of(&format!(
        "export -q -s s.rsieve {args} --column-names underscores"
    ));
    let expected = header
        .lines()
        .next()
        .unwrap()
        .split('\t')
        .collect::<Vec<_>>();
    assert_eq!(parquet_names(&dir.path("t.parquet")), expected);
}

/// The names of the columns of a Parquet file.
fn parquet_names(path: &std::path::Path) -> Vec<String> {
    let file = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let fields = file.metadata().file_metadata().schema().get_fields();
    fields.iter().map(|field| field.name().to_owned()).collect()
}

#[test]
fn formats_have_the_same_values() {
    for dir in [small_dir(), hostile_dir()] {
        for args in [
            "-a GPTBot,Googlebot-Image:Googlebot",
            "--sitemaps",
            "--rules",
            "--rules -a GPTBot",
        ] {
            assert_formats_agree(&dir, args);
        }
    }
}

#[test]
fn hostile_texts_are_escaped() {
    let dir = hostile_dir();
    for format in ["tsv", "csv", "jsonl"] {
        for table in ["-a GPTBot", "--sitemaps", "--rules"] {
            let text = dir.stdout_of(&format!("export -q -s s.rsieve {table} --format {format}"));
            let is_hostile = |c: char| {
                c.is_control() && !"\n\t".contains(c) || "\u{202e}\u{feff}\u{2028}".contains(c)
            };
            assert!(!text.contains(is_hostile), "{format} {table}: {text:?}");
            let separators = text.lines().map(|line| line.matches('\t').count());
            let found = separators.collect::<std::collections::BTreeSet<_>>().len();
            assert_eq!(found, 1, "{format} {table}");
        }
    }
    let csv = dir.stdout_of("export -q -s s.rsieve --as csv --columns host_field");
    assert!(
        csv.lines().skip(1).all(|line| !line
            .trim_start_matches('"')
            .starts_with(['=', '+', '-', '@'])),
        "{csv}"
    );
}

/// A snapshot with several blocks gives the same bytes with any number of threads.
#[test]
fn bytes_do_not_depend_on_threads() {
    let captures: Vec<Value> = (0..9000)
        .map(|number| {
            let body = robots(if number % 3 == 0 { number } else { number % 40 });
            json!({"url": format!("https://h{number}.example/robots.txt"), "status": 200, "body": body})
        })
        .collect();
    let dir = snapshot_dir(&captures);
    for (args, extension) in [
        ("-a FooBot,BarBot", "tsv"),
        ("--rules", "csv"),
        ("-a FooBot", "parquet"),
        // Blocks begin and end within an origin.
        ("--long -a FooBot,BarBot,BazBot", "tsv"),
        (
            "--long -a FooBot,BarBot,BazBot --columns origin,agent,access",
            "parquet",
        ),
        ("--rules", "parquet"),
    ] {
        let written = ["1", "2", "5"].map(|threads| {
            let name = format!("{threads}.{extension}");
            dir.stdout_of(&format!(
                "export -q -j {threads} -s s.rsieve {args} -o {name}"
            ));
            dir.read(&name)
        });
        assert!(written[0].len() > 10_000);
        assert!(
            written.iter().all(|bytes| *bytes == written[0]),
            "{args} {extension}"
        );
    }
    let file = SerializedFileReader::new(fs::File::open(dir.path("5.parquet")).unwrap()).unwrap();
    assert_eq!(
        file.metadata().file_metadata().num_rows() as usize,
        dir.rows("--rules").len()
    );
}

#[test]
fn empty_tables_have_a_header() {
    let dir = small_dir();
    let at = "--stale-at 1990-01-01";
    let found = dir.stdout_of(&format!("export -q -s s.rsieve --sitemaps {at}"));
    assert_eq!(found, "origin\tsitemap\turl\tline\n");
    dir.stdout_of(&format!("export -q -s s.rsieve {at} -o x.parquet"));
    let file = SerializedFileReader::new(fs::File::open(dir.path("x.parquet")).unwrap()).unwrap();
    assert_eq!(file.num_row_groups(), 0);
    let found = file.metadata().file_metadata().schema().get_fields().len();
    assert_eq!(found, 27);
}

#[test]
fn licenses_and_odd_fields_are_exported() {
    let body = "License: https://l.example/l.xml\nuser-agent: *\ndomain: x.example\nRevisit-After: 7 days\n\
                license: /m.xml\nlicense:\nlicense: https://l.example/l.xml\nnoarchive: /\nother: 1\n";
    let dir = snapshot_dir(&[
        json!({"url": "https://a.example/robots.txt", "status": 200, "body": body}),
    ]);
    assert_row(
        of(&dir.rows("-a FooBot"), "https://a.example"),
        &json!({
            "license": "https://l.example/l.xml; /m.xml",
            "other_fields": {"domain": ["x.example"], "noarchive": ["/"], "revisit-after": ["7 days"]},
        }),
    );
}

#[test]
fn the_name_of_another_table_is_refused_with_the_formats() {
    let dir = TestDir::new();
    dir.compile_small("s");
    dir.write("urls", "https://news.example/\n");
    let formats = ".tsv, .csv, .jsonl and .parquet";
    dir.fails(&["export", "-s", "s", "-o", "x.xlsx"], &[formats]);
    dir.fails_as(
        "due -s s --stale-at now -o x.parquet | does not write .parquet; it writes .txt and .jsonl",
    );
    // Only a job has inputs whose format its output follows.
    let parquet = "Parquet is written only if the inputs are Parquet files";
    dir.fails_as(&format!(
        "filter -s s -a a -o x.parquet urls | name it x.txt | {parquet}"
    ));
    let message = dir.fails_as("report -s s -a a --csv-to x.parquet | name it x.txt");
    assert!(!message.contains(parquet), "{message}");
}

/// A directory with the snapshot `s.rsieve` with a history of some answers, and one without in
/// `newest`.
fn history_dir() -> TestDir {
    let dir = TestDir::new();
    let url = |host: &str| format!("https://{host}.example/robots.txt");
    let disallow = "User-agent: GPTBot\nDisallow: /";
    let html = "<!doctype html><p>Moved";
    let captures = [
        json!({"url": url("a"), "fetched_at": "2026-01-01", "body": "User-agent: *\nDisallow: /x"}),
        json!({"url": url("a"), "fetched_at": "2026-02-01", "body": "User-agent: *\nDisallow: /x"}),
        json!({"url": url("a"), "fetched_at": "2026-03-01", "body": disallow}),
        json!({"url": url("a"), "fetched_at": "2026-04-01", "status": 429}),
        json!({"url": url("a"), "fetched_at": "2026-04-20", "status": 503}),
        json!({"url": url("b"), "fetched_at": "2026-01-01", "status": 301, "headers": {"location": "/r"}}),
        json!({"url": "https://b.example/r", "fetched_at": "2026-01-01", "body": html}),
        json!({"url": url("b"), "fetched_at": "2026-02-01", "error": "dns"}),
        json!({"url": url("c"), "body": disallow}),
        json!({"url": url("c"), "fetched_at": "2026-02-01", "status": 302}),
        json!({"url": url("c"), "fetched_at": "2026-03-01", "status": 404}),
    ];
    let lines = captures.iter().map(|capture| format!("{capture}\n"));
    dir.write("a.jsonl", lines.collect::<String>());
    dir.stdout_of("compile -q --history -o s.rsieve a.jsonl");
    dir.stdout_of("compile -q -o newest a.jsonl");
    dir
}

#[test]
fn a_history_has_the_versions_worked_out_by_hand() {
    let dir = history_dir();
    let rows = dir.rows("--history -a GPTBot,Other");
    let expected = [
        json!({
            "url": "https://a.example/robots.txt", "origin": "https://a.example",
            "since": "2026-01-01T23:59:59Z", "last_seen": "2026-02-01T23:59:59Z",
            "changed_at": "2026-03-01T23:59:59Z", "outcome": "rules", "status": 200, "target": null,
            "bytes": 27, "looks_like": null, "past_limit": false, "cut_short": false,
            "failing_since": null, "first_unreachable": null, "last_good_file": null,
            "earlier_target": null, "GPTBot.access": "partial", "GPTBot.named": "*",
        }),
        json!({
            "since": "2026-03-01T23:59:59Z", "last_seen": "2026-03-01T23:59:59Z",
            "GPTBot.access": "blocked", "GPTBot.named": "name", "Other.access": "allowed",
            "Other.named": "none",
        }),
        json!({
            "outcome": "server-error", "status": 429, "failing_since": "2026-04-01T23:59:59Z",
            "first_unreachable": null, "rules_file": null, "bytes": null, "past_limit": null,
            "GPTBot.access": null, "GPTBot.named": null,
        }),
        json!({
            "outcome": "server-error", "status": 503, "failing_since": "2026-04-01T23:59:59Z",
            "first_unreachable": "2026-04-20T23:59:59Z", "changed_at": null,
        }),
        json!({
            "url": "https://b.example/robots.txt", "outcome": "redirect", "status": 301,
            "target": "https://b.example/r", "rules_file": null,
        }),
        json!({
            "outcome": "unreachable", "status": null, "earlier_target": "https://b.example/r",
            "last_good_file": null, "target": null,
        }),
        json!({
            "url": "https://c.example/robots.txt", "since": null, "last_seen": null,
            "changed_at": "2026-02-01T23:59:59Z", "GPTBot.access": "blocked",
        }),
        json!({"outcome": "redirect", "status": 302, "target": null}),
        json!({"outcome": "client-error", "status": 404}),
        json!({
            "url": "https://b.example/r", "origin": null, "outcome": "rules", "looks_like": "html",
            "bytes": 0, "GPTBot.access": "allowed",
        }),
    ];
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        assert_row(row, expected);
    }
    // The texts join with each other, and with the table of origins.
    assert_eq!(rows[1]["rules_file"], rows[6]["rules_file"]);
    for failing in [2, 3] {
        assert_eq!(rows[failing]["last_good_file"], rows[1]["rules_file"]);
    }
    let origins = dir.rows("--columns origin,rules_file --at 2027-01-01");
    assert_eq!(
        of(&origins, "https://a.example")["rules_file"],
        rows[1]["rules_file"]
    );
    let summary = dir.done_line("export -s s.rsieve --history -o h.csv");
    summary.says("rows 10  origins 3");
    for args in [
        "--history -a GPTBot",
        "--disallowed-since -a GPTBot",
        "--long --disallowed-since -a A",
    ] {
        assert_formats_agree(&dir, args);
    }
}

#[test]
fn origins_disallow_since_a_time_between_two_bounds() {
    let dir = history_dir();
    let columns = "GPTBot.access,GPTBot.disallowed_after,gptbot_disallowed_since,origin";
    let rows = dir.rows(&format!("-a GPTBot,Other --columns {columns}"));
    let expected = [
        // The failures up to now disallow too, so the run is not broken.
        (
            "a",
            "blocked",
            json!("2026-02-01T23:59:59Z"),
            json!("2026-03-01T23:59:59Z"),
        ),
        (
            "b",
            "blocked",
            json!("2026-01-01T23:59:59Z"),
            json!("2026-02-01T23:59:59Z"),
        ),
        ("c", "allowed", Value::Null, Value::Null),
    ];
    for (host, access, after, since) in expected {
        let row = of(&rows, &format!("https://{host}.example")).clone();
        assert_eq!(row["GPTBot.access"], access);
        assert_eq!(row["GPTBot.disallowed_after"], after, "{host}");
        assert_eq!(row["GPTBot.disallowed_since"], since, "{host}");
    }
    // The last columns of each agent, and of each row.
    let all = dir
        .stdout_of("export -q -s s.rsieve -a GPTBot --disallowed-since --column-names underscores");
    assert!(
        all.lines()
            .next()
            .unwrap()
            .ends_with("GPTBot_crawl_delay\tGPTBot_disallowed_after\tGPTBot_disallowed_since")
    );
    let long = dir.rows("-a GPTBot,Other --long --disallowed-since");
    assert_eq!(long.len(), 6);
    assert_eq!(long[0]["disallowed_since"], "2026-03-01T23:59:59Z");
    assert_eq!(long[1]["disallowed_since"], "2026-04-01T23:59:59Z");
    assert_eq!(long[1]["disallowed_after"], "2026-03-01T23:59:59Z");
    let chosen = dir.rows("-a GPTBot --disallowed-since --columns GPTBot.disallowed_since");
    assert_eq!(chosen[0].len(), 1);
}

#[test]
fn questions_that_a_history_does_not_answer_are_refused() {
    let dir = history_dir();
    dir.all_fail(&[
        "export -s newest --history | newest: the snapshot has no history | compile --history",
        "export -s newest -a GPTBot --disallowed-since | newest: the snapshot has no history",
        "export -s newest -a A --columns A.disallowed_since | newest: the snapshot has no history",
        "export -s s.rsieve -a A --as-of 2026-05 --columns A.disallowed_since | --as-of | leave it out",
        "export -s s.rsieve -a A --as-of 2026-05 --disallowed-since | cannot be used with",
        "export -s s.rsieve --disallowed-since | name agents with -a",
        "export -s s.rsieve --history --as-of 2026-05 -o x.csv | --as-of | all times | changed_at",
        "export -s s.rsieve --history --at now -o x.csv | --at | all times",
        "export -s s.rsieve --history --stale-at now | --stale-at | all times",
        "export -s s.rsieve --history --outcome rules | --outcome | all times",
        "export -s s.rsieve --history --reason rules | --reason | all times",
        "export -s s.rsieve --history --rules | cannot be used with",
        "export -s s.rsieve --history --sitemaps | cannot be used with",
        "export -s s.rsieve --history --columns fetched | no such column | url, origin, since",
    ]);
}
