//! An audit that cannot see the crawlers, or not the rules, is an error, never "0 broke the rules".

use super::{audit, compile, json, lines, requests, with_log};

const HOST: &[&str] = &["-s", "a", "--host", "https://example.com", "access.log"];

/// Asserts that the audit is refused, with all of these texts in the error.
fn assert_refused(log: &str, args: &[&str], said: &[&str]) {
    let dir = with_log(log);
    let ran = audit(&dir, args);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), &b""[..]), "{log}");
    for text in said {
        assert!(ran.stderr.contains(text), "{text}: {}", ran.stderr);
    }
}

fn combined(agent: &str) -> String {
    format!(
        "192.0.2.1 - - [01/Aug/2026:12:00:00 +0000] \"GET /private HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n"
    )
}

#[test]
fn logs_without_a_user_agent_are_refused() {
    // Traefik leaves the header out by default, or writes REDACTED.
    let traefik = |agent: &str| {
        format!(
            r#"{{"ClientHost":"192.0.2.1","DownstreamStatus":200,"RequestHost":"example.com","RequestMethod":"GET","RequestPath":"/private",{agent}"time":"2026-08-01T10:00:00Z"}}"#
        ) + "\n"
    };
    let json = &["-s", "a", "access.log"];
    assert_refused(
        &traefik("").repeat(3),
        json,
        &[
            "access.log: none of its 3 lines has a User-Agent",
            "agent=KEY",
            "Traefik",
        ],
    );
    assert_refused(
        &traefik(r#""request_User-Agent":"REDACTED","#),
        json,
        &["its line has no User-Agent"],
    );
    let w3c =
        |fields: &str, line: &str| format!("#Fields: date time cs-uri-stem {fields}\n{line}\n");
    assert_refused(
        &w3c("sc-status", "2026-08-01 10:00:00 /private 200"),
        HOST,
        &["no column cs(User-Agent)"],
    );
    assert_refused(
        &w3c("cs(User-Agent)", "2026-08-01 10:00:00 /private -"),
        HOST,
        &["the column cs(User-Agent) is `-`"],
    );
    assert_refused(&combined("-").repeat(2), HOST, &["the field is `-`"]);
    let vhost = format!("example.com:443 {}", combined("-"));
    assert_refused(&vhost, &["-s", "a", "access.log"], &["the field is `-`"]);
    // Also beyond the first block of the log, and if the lines after the first thousand have one.
    let thousand = combined("-").repeat(1000);
    assert_refused(
        &format!("{thousand}{}", combined("GPTBot")),
        HOST,
        &["none of its first 1,000 lines"],
    );
    let long = combined("-").replace("/private", &format!("/{}", "x".repeat(1000)));
    assert_refused(&long.repeat(600), HOST, &["none of its 600 lines"]);
}

#[test]
fn lines_without_a_user_agent_are_in_the_headline() {
    let log = combined("-").repeat(999) + &combined("GPTBot") + &combined("Firefox");
    let dir = with_log(log);
    let table = String::from_utf8(audit(&dir, HOST).stdout).unwrap();
    assert!(
        table.starts_with(
            "1 of 1 crawler broke the rules (1 request of crawlers in 1,001 lines; 1 of other \
             agents, 999 without a User-Agent, 0 invalid)\n"
        ),
        "{table}"
    );
    let report = json(&dir, HOST);
    assert_eq!(lines(&report), [1001, 0, 1000]);
    assert_eq!(report["without_agent"], 999);
    assert_eq!(report["first"], "2026-08-01T12:00:00Z");
    // Each log is looked at by itself.
    dir.write("second.log", combined(""));
    let ran = audit(&dir, &[HOST, &["second.log"]].concat());
    ran.refused("second.log: its line has no User-Agent");
}

const WWW: &str = concat!(
    r#"{"url":"https://www.shop.example/robots.txt","status":200,"body":"User-agent: *\nDisallow: /\n"}"#,
    "\n",
    r#"{"url":"https://blog.example/robots.txt","status":200,"body":""}"#,
    "\n"
);

#[test]
fn a_host_that_the_snapshot_lacks_is_refused() {
    let dir = with_log(combined("GPTBot"));
    compile(&dir, "www", WWW);
    let run = |args: &[&str]| audit(&dir, &[&["-s", "www", "access.log"], args].concat());
    let ran = run(&["--host", "https://shop.example"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains(
            "no snapshot has the site https://shop.example, so no request could be judged; it has \
             https://www.shop.example, https://blog.example"
        ),
        "{ran:?}"
    );
    // Verdicts for unknown sites, and the entry of the other scheme.
    assert_eq!(run(&["--host", "http://www.shop.example"]).code, Some(0));
    assert_eq!(
        run(&["--host", "http://www.shop.example", "--scheme", "exact"]).code,
        Some(2)
    );
}

#[test]
fn hosts_of_the_log_that_the_snapshot_lacks_are_refused_or_told() {
    let line = |host: &str, path: &str| {
        format!(
            "{host}:443 {}",
            combined("GPTBot").replace("/private", path)
        )
    };
    let robots = line("shop.example", "/robots.txt");
    let dir = with_log(robots.clone() + &line("shop.example", "/a") + &line("SHOP.example", "/b"));
    compile(&dir, "www", WWW);
    let args = &["-s", "www", "access.log"];
    let ran = audit(&dir, args);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), &b""[..]));
    assert!(
        ran.stderr.contains(
            "no request of a crawler could be judged: the logs name https://shop.example, and the \
             snapshot has https://www.shop.example, https://blog.example"
        ),
        "{ran:?}"
    );
    // A mixture has a warning and a headline.
    let mixture = robots + &line("shop.example", "/a") + &line("www.shop.example", "/a");
    dir.write("access.log", mixture);
    for quiet in [&[][..], &["-q"]] {
        let ran = audit(&dir, &[&args[..], quiet, &["--html", "a.html"]].concat());
        assert_eq!(ran.code, Some(0));
        let table = ran.text();
        let finding = "1 of 1 crawler broke the rules; 1 of 3 requests could not be judged";
        assert!(table.starts_with(finding), "{table}");
        assert!(
            ran.stderr.contains(
                "warning: 1 of 3 requests of crawlers could not be judged: no snapshot has their \
                 hosts, such as https://shop.example (1)"
            ),
            "{ran:?}"
        );
        let page = dir.read_text("a.html");
        assert!(page.contains(&format!("<h1>{finding}</h1>")), "{page}");
    }
    let ran = audit(&dir, &[&args[..], &["--json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(requests(&report, "GPTBot"), [3, 1, 1, 1, 1]);
    assert_eq!(
        report["unknown_sites"],
        serde_json::json!([{"origin": "https://shop.example", "requests": 2, "unknown": 1}])
    );
    assert_eq!(report["site_count"], 2);
}
