//! Crawlers that obey other groups too, and crawlers whose disallowed requests need not break the rules.

use super::{audit, compile, crawler, json, requests, with_log};
use crate::command::assert_has;

/// Everything is disallowed, except to Googlebot.
const ONLY_GOOGLEBOT: &str = concat!(
    r#"{"url":"https://example.com/robots.txt","status":200,"body":"User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n\nUser-agent: GoogleOther\nDisallow: /b\n\nUser-agent: Mediapartners-Google\nDisallow: /c\n"}"#,
    "\n"
);

const HOST: &[&str] = &["-s", "g", "--host", "https://example.com", "access.log"];

/// A log with a request of each agent for each path.
fn log(agents: &[&str], paths: &[&str]) -> String {
    let mut log = String::new();
    for agent in agents {
        for path in paths {
            log += &format!(
                "192.0.2.1 - - [01/Aug/2026:12:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"x {agent}/1\"\n"
            );
        }
    }
    log
}

#[test]
fn crawlers_are_judged_by_the_groups_that_their_operators_document() {
    let disallowed = [
        ("Googlebot-Image", "Googlebot-Image:Googlebot", 0),
        (
            "Google-InspectionTool",
            "Google-InspectionTool:Googlebot",
            0,
        ),
        ("AdsBot-Google", "AdsBot-Google:!*", 0),
        ("Mediapartners-Google", "Mediapartners-Google:!*", 1),
        ("GoogleOther-Image", "GoogleOther-Image:GoogleOther", 1),
        ("Applebot", "Applebot:Googlebot", 0),
        ("YandexBot", "YandexBot:Yandex", 3),
        ("Storebot-Google", "Storebot-Google", 3),
        ("GPTBot", "GPTBot", 3),
    ];
    let dir = with_log(log(&disallowed.map(|(name, ..)| name), &["/a", "/b", "/c"]));
    compile(&dir, "g", ONLY_GOOGLEBOT);
    let report = json(&dir, HOST);
    for (name, chain, disallowed) in disallowed {
        let found = requests(&report, name);
        assert_eq!(found, [3, 3 - disallowed, disallowed, 0, 0], "{name}");
        let crawler = crawler(&report, name);
        assert_eq!(crawler["judged_as"], chain);
        // The rule of a chain is found too.
        let rules = crawler["rules"].as_array().unwrap();
        let broken: u64 = rules
            .iter()
            .map(|rule| rule["requests"].as_u64().unwrap())
            .sum();
        assert_eq!(broken, disallowed, "{name}");
    }
    // An agent that is named is judged as it is given, with a note.
    let ran = audit(&dir, &[HOST, &["--json", "-a", "Googlebot-Image"]].concat());
    assert!(
        ran.stderr.ends_with("-a Googlebot-Image:Googlebot\n"),
        "{ran:?}"
    );
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(requests(&report, "Googlebot-Image"), [3, 0, 3, 0, 0]);
    // The sets and the audit agree.
    dir.write("urls", "https://example.com/b\n");
    let args = ["annotate", "-q", "-s", "g", "-a", "@search", "urls"];
    let letters = dir.run(&args).stdout;
    let report = json(&dir, &[HOST, &["-a", "@search"]].concat());
    assert_eq!(requests(&report, "Applebot:Googlebot"), [3, 3, 0, 0, 0]);
    assert!(letters.contains(&b'A') && letters.contains(&b'D'));
}

#[test]
fn crawlers_with_an_exception_do_not_count_as_breakers() {
    let agents = ["GPTBot", "ChatGPT-User", "facebookexternalhit", "CCBot"];
    let dir = with_log(log(&agents, &["/a"]));
    compile(&dir, "g", ONLY_GOOGLEBOT);
    let table = String::from_utf8(audit(&dir, HOST).stdout).unwrap();
    let mut lines = table.lines();
    let expected = "\
        2 of 2 crawlers broke the rules (4 requests of crawlers in 4 lines; 0 of other agents, 0 \
         invalid)";
    assert_eq!(lines.next().unwrap(), expected);
    let expected = "\
        Of 2 crawlers that act for a user or obey with exceptions, 2 made disallowed requests (2 of \
         2)";
    assert_eq!(lines.next().unwrap(), expected);
    let names: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' ') && !line.contains('×'))
        .map(|line| line.split("  ").next().unwrap())
        .take(6)
        .collect();
    let expected = [
        "crawler",
        "CCBot",
        "GPTBot",
        "Crawlers that act for a user or obey with exceptions:",
        "ChatGPT-User",
        "facebookexternalhit",
    ];
    assert_eq!(names, expected);
    assert_has(&table, "ChatGPT-User (OpenAI, acts for a user)");
    let report = json(&dir, HOST);
    for (name, exception) in [
        ("GPTBot", None),
        ("ChatGPT-User", Some("acts-for-user")),
        ("facebookexternalhit", Some("partly")),
    ] {
        assert_eq!(crawler(&report, name)["exception"].as_str(), exception);
    }
    // Without other crawlers, nobody broke the rules.
    dir.write("access.log", log(&["ChatGPT-User"], &["/a"]));
    let table = String::from_utf8(audit(&dir, HOST).stdout).unwrap();
    assert!(table.starts_with("Only crawlers that act for a user or obey with exceptions made requests (1 request of crawlers"), "{table}");
}
