//! Logs of other programs whose fields are elsewhere than those of a server's default format. Each
//! form is one that a public project writes or tests; the comment names it.

use super::formats::{HOST, assert_audited, three};
use super::{audit_line, compile, crawler, json_line, lines, requests, with_log};

#[test]
fn json_judges_what_the_client_sent() {
    for (fields, args) in [
        // Logstash's `%{COMBINEDAPACHELOG}`: the request without its method, and the file of the log.
        (
            r#""@timestamp":"2026-08-09T00:00:00.000Z","host":"h102.temp","path":"/private/access.log","clientip":"192.0.2.1","timestamp":"01/Aug/2026:10:00:00 +0000","verb":"GET","request":"PATH","response":"200","bytes":"294","agent":"AGENT""#,
            HOST,
        ),
        (
            r#""clientip":"192.0.2.1","timestamp":"01/Aug/2026:10:00:00 +0000","request":"PATH","response":"200","bytes":"294","agent":"AGENT""#,
            HOST,
        ),
        (
            r#""ts":1785578400,"domain":"example.com","host":"172.16.0.23","url":"PATH","path":"/private/access.log","status":200,"ua":"AGENT""#,
            &[],
        ),
        // nginx with `$uri`, which rewriting changes, next to `$request`.
        (
            r#""ts":"2026-08-01T10:00:00Z","host":"example.com","request":"GET PATH HTTP/1.1","uri":"/private/index.php","status":200,"http_user_agent":"AGENT""#,
            &[],
        ),
        (
            r#""ts":"2026-08-01T10:00:00Z","host":"example.com","uri":"/private/index.php","request":"GET PATH HTTP/1.1","status":200.0,"http_user_agent":"AGENT""#,
            &[],
        ),
        // The request as sent comes before all others.
        (
            r#""msec":1785578400.1,"host":"example.com","request":"GET /private/x HTTP/1.1","request_uri":"PATH","status":200,"http_user_agent":"AGENT""#,
            &[],
        ),
        // nginx with `$server_addr` as the host.
        (
            r#""msec":1785578400.1,"host":"172.16.0.5","http_host":"example.com","uri":"PATH","status":200,"http_user_agent":"AGENT""#,
            &[],
        ),
        (
            r#""msec":1785578400.1,"http_host":"-","host":"","server_name":"example.com","uri":"PATH","status":200,"http_user_agent":"AGENT""#,
            &[],
        ),
        // The Elastic Common Schema.
        (
            r#""@timestamp":"2026-08-01T10:00:00.000Z","url":{"original":"PATH","domain":"example.com","path":"/private"},"http":{"response":{"status_code":200,"body":{"bytes":5}}},"source":{"ip":"192.0.2.1"},"user_agent":{"original":"AGENT"}"#,
            &[],
        ),
        // Apache with `%t`, which has brackets, and a status with its words.
        (
            r#""time":"[01/Aug/2026:10:00:00 +0000]","host":"example.com","request":"PATH","userAgent":"AGENT","status":"200 OK","bytes":-1"#,
            &[],
        ),
        // A whole URL.
        (
            r#""time":"[01/Aug/2026:10:00:00 +0000]","request":"https://example.comPATH","userAgent":"AGENT","status":200"#,
            &[],
        ),
    ] {
        let log = three(|path, agent| {
            format!(
                "{{{}}}",
                fields.replace("PATH", path).replace("AGENT", agent)
            )
        });
        assert_audited(&log, args);
    }
}

#[test]
fn named_keys_come_before_usual_ones() {
    let log = three(|path, agent| {
        format!(
            r#"{{"ts":1785578400,"host":"example.com","request":"GET /private/x HTTP/1.1","sent":"{path}","ua":"{agent}"}}"#
        )
    });
    assert_audited(&log, &["--log-key", "target=sent"]);
}

#[test]
fn hosts_stand_before_or_after_the_address() {
    for start in [
        // elastic/beats, filebeat/module/nginx/access/test/test-with-host.log
        "example.com 192.0.2.1 - -",
        "example.com:443 192.0.2.1 - -",
        "example.com 2001:db8::1 - user name",
        // lighttpd's default format, `%h %V %u`, and the log of OVH in the tests of Matomo
        "192.0.2.1 example.com -",
        "192.0.2.1 example.com - -",
        // elastic/integrations, test-access-vhost.log: both with ports
        "192.0.2.1:11111 example.com:443 - -",
    ] {
        let log = three(|path, agent| {
            format!(
                "{start} [01/Aug/2026:10:00:00.123 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"{agent}\""
            )
        });
        assert_audited(&log, &[]);
    }
    // The client of a combined line may be a name.
    for start in [
        "crawl.example - -",
        "192.0.2.1 - j.doe",
        "192.0.2.1 - example.com",
    ] {
        let log = three(|path, agent| {
            format!(
                "{start} [01/Aug/2026:10:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"{agent}\""
            )
        });
        assert_audited(&log, HOST);
        let dir = with_log(log);
        audit_line(&dir, "-s a access.log").refused("do not name the host");
    }
    // One log may have both.
    let both = |host: &str| {
        format!(
            "{host} 192.0.2.1 - - [01/Aug/2026:10:00:00 +0000] \"GET /x HTTP/1.1\" 200 5 \"-\" \"GPTBot\"\n"
        )
    };
    let dir = with_log([both("plain.example:80"), both("example.com")].concat());
    let report = json_line(&dir, "-s a access.log");
    assert_eq!(requests(&report, "GPTBot"), [2, 1, 1, 0, 0]);
}

#[test]
fn columns_of_w3c_tell_scheme_and_quotes() {
    // elastic/beats, filebeat/module/iis/access/test/test.log
    let robots = concat!(
        r#"{"url":"http://a.example/robots.txt","body":""}"#,
        "\n",
        r#"{"url":"https://a.example/robots.txt","body":"user-agent: *\ndisallow: /"}"#,
        "\n",
    );
    let iis = |port: &str, cookie: &str| {
        format!(
            "#Fields: date time cs-method cs-uri-stem cs-uri-query s-port c-ip cs(User-Agent) cs(Cookie) cs-host sc-status\n\
             2026-09-15 09:10:11 GET /tea - {port} 192.0.2.1 GPTBot/1.2 {cookie} a.example 200\n"
        )
    };
    for (log, counts) in [
        (iis("80", "-"), [1, 1, 0, 0, 0]),
        (iis("443", "-"), [1, 0, 1, 0, 0]),
        // The port of a server behind a proxy is not that of the site.
        (iis("8080", "-"), [1, 0, 1, 0, 0]),
        // Imperva writes texts in quotes.
        (iis("80", "\"a b c\""), [1, 1, 0, 0, 0]),
        (iis("80", "\"\""), [1, 1, 0, 0, 0]),
    ] {
        let dir = with_log(&log);
        compile(&dir, "b", robots);
        let report = json_line(&dir, "-s b access.log");
        assert_eq!(requests(&report, "GPTBot"), counts, "{log}");
    }
    // Fields that cannot be told apart make no host.
    for cookie in ["a b c", "\"a b"] {
        let dir = with_log(iis("80", cookie));
        audit_line(&dir, "-s a access.log").refused("none of the 1 lines");
    }
}

/// A log with a line of GPTBot whose start is this, and one of a browser.
fn combined(start: &str) -> String {
    let line = |agent: &str| {
        format!(
            "{start} - - [01/Aug/2026:10:00:00 +0000] \"GET /b HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n"
        )
    };
    [line("GPTBot/1"), line("Firefox")].concat()
}

#[test]
fn addresses_are_told_from_other_texts() {
    const RANGES: &str =
        r#"{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}"#;
    let alb = |client: &str| {
        format!(
            "https 2026-08-01T10:00:00.186641Z app/lb/1 {client} 10.0.0.1:80 0.0 0.0 0.0 200 200 34 366 \
             \"GET https://example.com:443/b HTTP/2.0\" \"GPTBot/1\" x TLSv1.2\n"
        )
    };
    for log in [
        combined("192.0.2.1"),
        combined("192.0.2.1:8080"),
        combined("2001:db8::1"),
        combined("[2001:db8::1]:443"),
        // elastic/beats, iis test-ipv6zone.log
        combined("2001:db8::1%0"),
        // vectordotdev/vrl, parse_aws_alb_log.rs: a port after an address without brackets
        alb("192.0.2.1:2817"),
        alb("2001:db8:1:2:3:4:5:6:50599"),
        alb("2001:db8::1:5059"),
    ] {
        let dir = with_log(&log);
        dir.write("gptbot.json", RANGES);
        let report = json_line(
            &dir,
            "-s a --host https://example.com --verify-ips gptbot.json access.log",
        );
        let verified = &report["crawlers"][0];
        assert_eq!(verified["identity"], "verified", "{log}");
        assert_eq!(verified["requests"], 1, "{log}");
    }
    // elastic/beats, nginx test.log (forwarded addresses); syslog; containers (crowdsecurity/hub)
    for start in [
        "192.0.2.1, 10.0.0.1",
        "\"192.0.2.1, 10.0.0.1\" 10.2.1.185",
        "Dec  7 11:05:07 web1 nginx: 192.0.2.1",
        "2026-08-01T10:05:07.123456789Z stdout F 192.0.2.1",
        "crawl.example",
    ] {
        let dir = with_log(combined(start));
        dir.write("gptbot.json", RANGES);
        let run = "-s a --host https://example.com --verify-ips gptbot.json access.log";
        audit_line(&dir, run).refused("do not name the addresses of the clients (the field");
        // Such lines later in a log are claims, and told.
        dir.write("access.log", combined("192.0.2.1") + &combined(start));
        let ran = audit_line(&dir, &format!("{run} --json"));
        assert!(
            ran.stderr
                .contains("warning: 1 request could not be verified"),
            "{}",
            ran.stderr
        );
        let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(report["crawlers"][1]["without_address"], 1, "{report:#}");
    }
}

#[test]
fn invalid_lines_that_name_a_crawler_are_told() {
    // crowdsecurity/hub, nginx_http-logs: a line without the second dash
    let odd = "192.0.2.1 - [01/Aug/2026:10:00:00 +0000] \"GET /private/a HTTP/1.1\" 200 5 \"-\" \"GPTBot/1\"\n";
    let dir = with_log(combined("192.0.2.1") + "noise\n" + odd);
    let ran = audit_line(&dir, "-s a --host example.com access.log --json");
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stderr.contains(
            "warning: 1 line that names a crawler was not audited, because it does not have the format \
             of the log: access.log: `192.0.2.1 - [01/Aug"
        ),
        "{}",
        ran.stderr
    );
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(lines(&report), [4, 2, 1]);
    assert_eq!(report["invalid_with_crawler"], 1);
    assert_eq!(report["invalid_example"]["path"], "access.log");
    // Other invalid lines are only counted.
    let dir = with_log(combined("192.0.2.1") + "noise\n");
    let report = json_line(&dir, "-s a --host example.com access.log");
    assert_eq!(report["invalid_with_crawler"], 0);
    assert_eq!(report["invalid_example"]["start"], "noise");
}

#[test]
fn unreadable_json_names_the_missing_key() {
    for (line, said) in [
        (
            r#"{"when":1,"request":"GET / HTTP/1.1","agent":"GPTBot"}"#,
            "without a known key of the time; name it with time=KEY",
        ),
        (
            r#"{"time":1,"what":"GET / HTTP/1.1","agent":"GPTBot"}"#,
            "without a known key of the request target; name it with target=KEY",
        ),
        (
            r#"{"time":"noon","request":"GET / HTTP/1.1","agent":"GPTBot"}"#,
            "the time in them, `noon`, cannot be read",
        ),
        (
            r#"{"time":1,"status":"fine","request":"GET / HTTP/1.1","agent":"GPTBot"}"#,
            "the status in them, `fine`, cannot be read",
        ),
    ] {
        let dir = with_log(line);
        audit_line(&dir, "-s a --host example.com access.log").refused(said);
    }
    // A format that no line has, by name: the error has the log and a line.
    let dir = with_log(r#"{"time":"noon","request":"GET / HTTP/1.1","agent":"GPTBot"}"#);
    let ran = audit_line(
        &dir,
        "-s a --host example.com --log-key agent=agent access.log",
    );
    ran.refused(
        "none of the 1 lines has the format of the log, such as access.log: `{\"time\":\"noon\"",
    );
}

#[test]
fn requests_without_a_path_name_no_host() {
    // Apache asks itself, and scanners ask for a tunnel.
    for request in ["OPTIONS * HTTP/1.0", "CONNECT foo.example:25 HTTP/1.1"] {
        let line = |request: &str| {
            format!(
                "192.0.2.1 - - [01/Aug/2026:10:00:00 +0000] \"{request}\" 200 5 \"-\" \"GPTBot\"\n"
            )
        };
        let dir = with_log(line(request) + &line("GET /b HTTP/1.1"));
        audit_line(&dir, "-s a access.log").refused("do not name the host");
    }
}

#[test]
fn answers_without_a_status_are_not_counted_as_none() {
    let log = three(|path, agent| {
        format!(r#"{{"time":1785578400,"host":"example.com","request":"{path}","ua":"{agent}"}}"#)
    });
    let dir = with_log(&log);
    let report = json_line(&dir, "-s a access.log");
    assert_eq!(crawler(&report, "GPTBot")["disallowed_without_status"], 1);
    let table = audit_line(&dir, "-s a access.log");
    let table = String::from_utf8(table.succeeds().stdout.clone()).unwrap();
    assert!(table.contains("not logged"), "{table}");
}
