//! `audit --robots`: one robots.txt file in place of a snapshot.

use super::{audit, audit_line, crawler, json_line, lines, requests, with_log};
use crate::command::robosieve_with;

const RULES: &str = "User-agent: GPTBot\nDisallow: /private\n";

fn combined(path: &str) -> String {
    format!(
        "192.0.2.1 - - [01/Aug/2026:12:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"GPTBot\"\n"
    )
}

#[test]
fn a_log_needs_no_host() {
    let log = combined("/robots.txt") + &combined("/private") + &combined("/b");
    let dir = with_log(&log);
    dir.write("robots.txt", RULES);
    let report = json_line(&dir, "--robots robots.txt access.log");
    assert_eq!(requests(&report, "GPTBot"), [3, 2, 1, 0, 1]);
    let rules = &crawler(&report, "GPTBot")["rules"][0];
    assert_eq!(rules["rule"], "Disallow: /private");
    assert_eq!(rules["example"], "/private");
    assert_eq!(
        crawler(&report, "GPTBot")["after_robots_txt"]["disallowed_after"],
        1
    );
    assert_eq!(report["sites"], serde_json::json!([]));
    // The same as by a snapshot of the site.
    let by_host = json_line(&dir, "--robots robots.txt --host shop.example access.log");
    assert_eq!(requests(&by_host, "GPTBot"), requests(&report, "GPTBot"));
    let expected = "https://shop.example/private";
    assert_eq!(crawler(&by_host, "GPTBot")["rules"][0]["example"], expected);
    // The file may be standard input, but not both.
    let args = ["audit", "--robots", "-", "access.log", "--json"];
    let ran = robosieve_with(dir.root(), &args, RULES.as_bytes());
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(requests(&report, "GPTBot"), [3, 2, 1, 0, 1]);
    for log in [&["-"][..], &[]] {
        let ran = robosieve_with(
            dir.root(),
            &[&["audit", "--robots", "-"], log].concat(),
            b"",
        );
        ran.refused("read once only");
    }
    for args in [
        &["-s", "a", "--robots", "robots.txt", "access.log"][..],
        &["access.log"],
    ] {
        assert_eq!(audit(&dir, args).code, Some(2), "{args:?}");
    }
}

#[test]
fn the_rules_hold_for_every_host_of_the_log() {
    let log = ["shop.example:443 ", "www.shop.example:80 "]
        .map(|host| format!("{host}{}", combined("/private")))
        .concat()
        + &format!("shop.example:443 {}", combined("https://shop.example?x"));
    let dir = with_log(&log);
    dir.write("robots.txt", format!("{RULES}Disallow: /?x\n"));
    let report = json_line(&dir, "--robots robots.txt access.log");
    assert_eq!(lines(&report), [3, 0, 0]);
    assert_eq!(requests(&report, "GPTBot"), [3, 0, 3, 0, 0]);
    let rules = crawler(&report, "GPTBot")["rules"].as_array().unwrap();
    assert_eq!(rules[0]["example"], "https://shop.example/private");
    assert_eq!(report["sites"][0]["origin"], "https://shop.example");
    // Other hosts may have other rules.
    dir.write(
        "access.log",
        log + &format!("blog.example:443 {}", combined("/a")),
    );
    let ran = audit_line(&dir, "-q --robots robots.txt access.log");
    assert_eq!(ran.code, Some(0));
    ran.says(
        "warning: requests to several hosts (shop.example, blog.example) were judged by one \
             robots.txt",
    );
}

#[test]
fn files_that_have_no_rules_are_told() {
    let dir = with_log(combined("/private"));
    dir.write("robots.txt", "Disallow: /private\n");
    let ran = audit_line(&dir, "--robots robots.txt access.log");
    ran.succeeds();
    ran.says("robots.txt: no rule belongs to a group");
    // A snapshot is not a robots.txt, and the file is protected.
    let ran = audit_line(&dir, "--robots a access.log");
    ran.refused("not a robots.txt");
    let args = ["--robots", "robots.txt", "access.log", "-o", "robots.txt"];
    assert_eq!(audit(&dir, &args).code, Some(2));
}
