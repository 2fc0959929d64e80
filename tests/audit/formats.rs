//! The formats of logs: the same three requests in each.

use super::{audit, audit_line, compile, json, json_line, lines, requests, with_log};
use crate::test_dir::gz;

/// Audits a log of three lines: `/private/a` is disallowed to GPTBot and `/b` allowed, a browser.
pub(super) fn assert_audited(log: &str, args: &[&str]) {
    let dir = with_log(log);
    let report = json(&dir, &[&["-s", "a", "access.log"], args].concat());
    assert_eq!(lines(&report), [3, 0, 1], "{log}");
    assert_eq!(requests(&report, "GPTBot"), [2, 1, 1, 0, 0], "{log}");
    assert_eq!(
        super::crawler(&report, "GPTBot")["first"],
        "2026-08-01T10:00:00Z",
        "{log}"
    );
}

pub(super) const HOST: &[&str] = &["--host", "https://example.com"];

#[test]
fn combined_and_formats_that_extend_it() {
    let log = |before: &str, after: &str| {
        let line = |target: &str, agent: &str| {
            format!(
                "{before}192.0.2.1 - - [01/Aug/2026:12:00:00 +0200] \"GET {target} HTTP/2.0\" 200 5 \"-\" \"{agent}\"{after}\n"
            )
        };
        [
            line("/private/a", "GPTBot/1"),
            line("/b", "x (GPTBot)"),
            line("/private/a", "Firefox"),
        ]
        .concat()
    };
    assert_audited(&log("", ""), HOST);
    assert_audited(&log("", " \"203.0.113.7\" 0.010"), HOST);
    assert_audited(&log("example.com:443 ", ""), &[]);
    assert_audited(&log("example.com:80 ", ""), &[]);
    assert_audited(&log("example.com:443 ", ""), HOST);
    assert_audited(&log("", "").replace('\n', "\r\n"), HOST);
    assert_audited(&format!("\u{feff}{}", log("", "").trim_end()), HOST);
}

#[test]
fn layouts_of_apache_and_nginx() {
    let log = "example.com|2026-08-01T12:00:00+02:00|200|GET /private/a HTTP/1.1|GPTBot\n\
               example.com|2026-08-01T12:00:01+02:00|200|GET /b HTTP/1.1|GPTBot\n\
               example.com|2026-08-01T12:00:01+02:00|200|GET /private HTTP/1.1|a b\n";
    assert_audited(
        log,
        &[
            "--log-format",
            "$host|$time_iso8601|$status|$request|$http_user_agent",
        ],
    );
    assert_audited(
        log,
        &["--log-format", "%v|%{%Y-%m-%dT%T%z}t|%>s|%r|%{User-agent}i"],
    );
    let log = "[01/Aug/2026:10:00:00 +0000] GPTBot \"a\\\"b\" /private/a?q=1 example.com 200 7\n\
               [01/Aug/2026:10:00:00 +0000] GPTBot \"\\\\\" /b example.com 304 -\n\
               [01/Aug/2026:10:00:00 +0000] curl \"-\" /private example.com 200 7\n";
    assert_audited(
        log,
        &[
            "--log-format",
            r#"%t %{User-Agent}i \"%{Referer}i\" %U%q %v %<s %B"#,
        ],
    );
    let log = "https example.com 1785578400.123 /private/a [GPTBot]\n\
               https example.com 1785578400.123 /b [GPTBot]\n\
               https example.com 1785578400.123 /b [-]\n";
    assert_audited(
        log,
        &[
            "--log-format",
            "$scheme ${host} $msec $request_uri [$http_user_agent]",
        ],
    );
}

#[test]
fn unusable_layouts_are_refused() {
    let dir = with_log("x\n");
    for (format, said) in [
        ("%h %t \"%r\"", "lacks the User-Agent"),
        ("$request $http_user_agent", "lacks the time"),
        ("%t %{User-Agent}i", "lacks the request"),
        ("%{User-Agent", "`{` without `}`"),
        ("$", "without the name"),
        ("common-ish", "give combined"),
    ] {
        let ran = audit(&dir, &["-s", "a", "--log-format", format, "access.log"]);
        ran.refused(said);
    }
    let dir = with_log("192.0.2.1 - - [01/Aug/2026:12:00:00 +0200] \"GET / HTTP/1.1\" 200 5\n");
    let ran = audit_line(&dir, "-s a --host example.com access.log");
    ran.refused("has no User-Agent");
}

#[test]
fn json_of_caddy_nginx_and_by_keys() {
    let caddy = |uri: &str, agent: &str| {
        format!(
            r#"{{"level":"info","ts":1785578400.52,"logger":"http.log.access","request":{{"remote_ip":"192.0.2.1","method":"GET","host":"example.com","uri":"{uri}","headers":{{"User-Agent":["{agent}"],"Accept":["*/*"]}}}},"duration":0.01,"size":12,"status":200,"resp_headers":{{"Server":["Caddy"]}}}}"#
        ) + "\n"
    };
    assert_audited(
        &[
            caddy("/private/a", "GPTBot\\/1"),
            caddy("/b", "GPTBot"),
            caddy("/b", "curl"),
        ]
        .concat(),
        &[],
    );
    let nginx = |request: &str, agent: &str| {
        format!(
            r#"{{"time_iso8601":"2026-08-01T10:00:00+00:00","remote_addr":"192.0.2.1","request":"GET {request} HTTP/1.1","status":"200","body_bytes_sent":"5","http_user_agent":"{agent}"}}"#
        ) + "\n"
    };
    let log = [
        nginx("/private/a", "GPTBot \\u00e4"),
        nginx("/b", "GPTBot"),
        nginx("/b", "curl"),
    ]
    .concat();
    assert_audited(&log, HOST);
    let own = |path: &str, agent: &str| {
        format!(
            "{{\"at\":{{\"s\":1785578400}},\"ua\":\"no\",\"h.ua\":\"{agent}\",\"p\":\"{path}\",\"agent\":\"no\"}}\n"
        )
    };
    let log = [
        own("/private/a", "GPTBot"),
        own("/b", "GPTBot"),
        own("/b", "x"),
    ]
    .concat();
    assert_audited(
        &log,
        &[
            "--log-key",
            "agent=h.ua,time=at.s",
            // The name of the option in the first version.
            "--json-key",
            "target=p",
            "--host",
            "example.com",
        ],
    );
    let dir = with_log(&log);
    let ran = audit_line(&dir, "-s a --log-key referer=x access.log");
    ran.refused("agent, time, host");
}

#[test]
fn w3c_of_cloudfront_and_iis() {
    let cloudfront = "#Version: 1.0\n\
        #Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header cs-protocol\n\
        2026-08-01\t10:00:00\tFRA\t9\t192.0.2.1\tGET\td1.cloudfront.net\t/private/a\t200\t-\tGPTBot/1.2%20(x)\tq=1\texample.com\thttps\n\
        2026-08-01\t10:00:01\tFRA\t9\t192.0.2.1\tGET\td1.cloudfront.net\t/b\t200\t-\ta%20GPTBot\t-\texample.com\thttps\n\
        2026-08-01\t10:00:01\tFRA\t9\t192.0.2.1\tGET\td1.cloudfront.net\t/b\t200\t-\tcurl\t-\texample.com\thttps\n";
    assert_audited(cloudfront, &[]);
    // The columns change within the log.
    let iis = "#Software: Microsoft Internet Information Services 10.0\r\n\
        #Fields: date time cs-uri-stem cs-uri-query cs(User-Agent) sc-status\r\n\
        2026-08-01 10:00:00 /private/a - Mozilla/5.0+(compatible;+GPTBot) 200\r\n\
        #Fields: date time cs(User-Agent) cs-uri-stem\r\n\
        2026-08-01 10:00:02 GPTBot /b\r\n\
        2026-08-01 10:00:02 - /b\r\n";
    assert_audited(iis, HOST);
}

/// A robots.txt with the characters that CloudFront and IIS write otherwise than they were sent.
const ODD_ROBOTS: &str = r#"{"url":"https://example.com/robots.txt","status":200,"body":"User-agent: *\nDisallow: /~joe/\nDisallow: /caf%C3%A9\nDisallow: /*f[a]=1\nDisallow: /my%20docs/\nDisallow: /100%25\nDisallow: /{x}|y\nDisallow: /*q=a+b\n"}"#;

/// Targets, and whether [`ODD_ROBOTS`] disallows them.
const ODD_TARGETS: [(&str, bool); 12] = [
    ("/~joe/", true),
    ("/%7Ejoe/", false),
    ("/caf%C3%A9", true),
    ("/caf%c3%a9?x", true),
    ("/?f[a]=1", true),
    ("/?f%5Ba%5D=1", false),
    ("/my%20docs/a", true),
    ("/my+docs/a", false),
    ("/100%25", true),
    ("/100%2525", true),
    ("/{x}|y?'`<>\\^#", true),
    ("/s?q=a+b", true),
];

/// A field as CloudFront writes it, by the table in its developer guide.
fn cloudfront_field(text: &[u8]) -> String {
    let is_encoded = |byte: u8| byte <= 32 || byte >= 127 || b"<>\"#%{}|\\^~[]`'".contains(&byte);
    let encode = |byte: &u8| {
        if is_encoded(*byte) {
            format!("%{byte:02X}")
        } else {
            char::from(*byte).to_string()
        }
    };
    text.iter().map(encode).collect()
}

/// The report on a log by [`ODD_ROBOTS`].
fn report_of(log: &str, args: &[&str]) -> serde_json::Value {
    let dir = with_log(log);
    compile(&dir, "odd", ODD_ROBOTS);
    json(
        &dir,
        &[&["-s", "odd", "--top", "100", "access.log"], args].concat(),
    )
}

/// One line per target in combined format.
fn combined_log(targets: &[&str]) -> String {
    let line = |(i, target): (usize, &&str)| {
        let target = target.replace('\\', r"\x5C");
        format!(
            "192.0.2.1 - - [01/Aug/2026:10:00:{i:02} +0000] \"GET {target} HTTP/1.1\" 200 5 \"-\" \"a GPTBot/1 ~\"\n"
        )
    };
    targets.iter().enumerate().map(line).collect()
}

#[test]
fn fields_of_cloudfront_are_decoded() {
    let targets = ODD_TARGETS.map(|(target, _)| target);
    let expected = report_of(&combined_log(&targets), HOST);
    let refused = ODD_TARGETS
        .iter()
        .filter(|(_, is_refused)| *is_refused)
        .count() as u64;
    let found = requests(&expected, "GPTBot");
    assert_eq!(found, [12, 12 - refused, refused, 0, 0]);
    let log = |before: &str, fields: &str, user_agent: &str| {
        let line = |(i, target): (usize, &&str)| {
            let (stem, query) = target.split_once('?').unwrap_or((target, "-"));
            let (stem, query) = (
                cloudfront_field(stem.as_bytes()),
                cloudfront_field(query.as_bytes()),
            );
            format!(
                "2026-08-01\t10:00:{i:02}\t{before}192.0.2.1\t{stem}\t200\t5\t{user_agent}\t{query}\n"
            )
        };
        let header = format!(
            "#Version: 1.0\n#Fields: {fields} c-ip cs-uri-stem sc-status sc-bytes cs(User-Agent) cs-uri-query\n"
        );
        header + &targets.iter().enumerate().map(line).collect::<String>()
    };
    // Once as documented, and twice as many logs have it.
    let once = cloudfront_field(b"a GPTBot/1 ~");
    let twice = cloudfront_field(once.as_bytes());
    assert_eq!(twice, "a%2520GPTBot/1%2520%257E");
    for user_agent in [once, twice] {
        let log = log("FRA\t", "date time x-edge-location", &user_agent);
        assert_eq!(report_of(&log, HOST), expected);
        let found = report_of(&log, &[HOST, &["--log-format", "cloudfront"]].concat());
        assert_eq!(found, expected);
        // A distribution may log other separators, and only some fields.
        assert_eq!(report_of(&log.replace('\t', " "), HOST), expected);
    }
    let few = log("", "date time", "a%20GPTBot");
    assert_eq!(report_of(&few, HOST), expected);
    // The escapes that the format names hold across headers, blocks and columns.
    let forced = report_of(
        &few.replace('\t', " "),
        &[HOST, &["--log-format", "cloudfront"]].concat(),
    );
    assert_eq!(forced, expected);
    assert_ne!(
        report_of(&few, &[HOST, &["--log-format", "iis"]].concat()),
        expected
    );
}

/// nginx writes the bytes of a path as they came in JSON, and escaped in text logs.
#[test]
fn json_is_judged_by_the_bytes_of_the_path() {
    let robots = br#"{"url":"https://example.com/robots.txt","status":200,"body":"User-agent: *\nDisallow: /caf%E9\nDisallow: /a%C3\n"}"#;
    let paths: [&[u8]; 5] = [
        b"/caf\xe9",
        b"/a\xc3/",
        b"/caf\xc3\xa9",
        b"/caf\xef\xbf\xbd",
        b"/b\xff",
    ];
    let json_line = |path: &&[u8]| {
        [
            br#"{"time_iso8601":"2026-08-01T10:00:00Z","status":200,"http_user_agent":"GPTBot","request_uri":""#,
            *path,
            b"\"}\n",
        ]
        .concat()
    };
    let combined_line = |path: &&[u8]| {
        let path: String = path
            .iter()
            .map(|byte| {
                if *byte < 127 {
                    char::from(*byte).into()
                } else {
                    format!("\\x{byte:02X}")
                }
            })
            .collect();
        format!("192.0.2.1 - - [01/Aug/2026:10:00:00 +0000] \"GET {path} HTTP/1.1\" 200 - \"-\" \"GPTBot\"\n")
            .into_bytes()
    };
    let json_log: Vec<u8> = paths.iter().flat_map(json_line).collect();
    let combined_log: Vec<u8> = paths.iter().flat_map(combined_line).collect();
    let reports = [json_log, combined_log].map(|log| {
        let dir = with_log(log);
        compile(&dir, "raw", std::str::from_utf8(robots).unwrap());
        json(&dir, &[&["-s", "raw", "access.log"], HOST].concat())
    });
    assert_eq!(requests(&reports[0], "GPTBot"), [5, 3, 2, 0, 0]);
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn fields_of_iis_have_plus_for_blanks() {
    let log = "#Software: Microsoft Internet Information Services 10.0\r\n\
        #Fields: date time cs-uri-stem cs-uri-query cs(User-Agent) sc-status\r\n\
        2026-08-01 10:00:00 /my+docs/a - Sogou+web+spider/4.0+(x) 200\r\n\
        2026-08-01 10:00:01 /caf\u{e9} - Sogou+web+spider/4.0 200\r\n\
        2026-08-01 10:00:02 /~joe/ - Sogou+web+spider/4.0 200\r\n\
        2026-08-01 10:00:03 /s q=a+b Sogou+web+spider/4.0 200\r\n\
        2026-08-01 10:00:04 /s q=a%20b Sogou+web+spider/4.0 200\r\n\
        2026-08-01 10:00:05 /s - Mozilla/5.0%20Sogou+web+spider 200\r\n";
    for args in [HOST, &[HOST, &["--log-format", "iis"]].concat()] {
        let report = report_of(log, args);
        assert_eq!(requests(&report, "Sogou web spider"), [6, 2, 4, 0, 0]);
    }
}

/// A `#Fields:` line also counts for the next blocks, which other threads read.
#[test]
fn columns_of_w3c_hold_across_blocks() {
    let first = "#Fields: date time cs(User-Agent) cs-uri-stem\n".to_owned()
        + &"2026-08-01 10:00:02 GPTBot /private\n".repeat(20_000);
    let second = "#Fields: date time cs-uri-stem cs(User-Agent)\n".to_owned()
        + &"2026-08-01 10:00:02 /b GPTBot\n".repeat(20_000);
    let dir = with_log(first + &second);
    let report = json_line(&dir, "-s a access.log --host example.com -j 4");
    assert_eq!(requests(&report, "GPTBot"), [40_000, 20_000, 20_000, 0, 0]);
}

#[test]
fn compressed_logs_and_standard_input() {
    let line = "192.0.2.1 - - [01/Aug/2026:12:00:00 +0200] \"GET /private HTTP/2.0\" 200 5 \"-\" \"GPTBot\"\n";
    let dir = with_log(line);
    dir.write("access.log.1", gz(line));
    let zst = zstd::encode_all(line.as_bytes(), 1).unwrap();
    dir.write("access.log.2", zst);
    let report = json_line(&dir, "-s a --host example.com access.log*");
    assert_eq!(requests(&report, "GPTBot"), [3, 0, 3, 0, 0]);
    let args = ["audit", "-s", "a", "--host", "example.com", "--json", "-"];
    let ran = crate::command::robosieve_with(dir.root(), &args, line.as_bytes());
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(requests(&report, "GPTBot"), [1, 0, 1, 0, 0]);
}

#[test]
fn logs_without_hosts_or_of_other_formats_are_refused() {
    let dir = with_log(
        "192.0.2.1 - - [01/Aug/2026:12:00:00 +0200] \"GET / HTTP/1.1\" 200 5 \"-\" \"GPTBot\"\n",
    );
    let ran = audit_line(&dir, "-s a access.log");
    ran.refused("access.log: its lines do not name the host");
    dir.write("access.log", "https://example.com/\n");
    let ran = audit_line(&dir, "-s a access.log");
    ran.refused("--log-format");
}

/// Three lines of a format: GPTBot at `/private/a` and `/b`, and a browser.
pub(super) fn three(line: impl Fn(&str, &str) -> String) -> String {
    [
        line("/private/a?x=1", "Mozilla/5.0 (compatible; GPTBot/1.2)"),
        line("/b", "GPTBot/1"),
        line("/b", "Mozilla/5.0 (X11; Linux x86_64)"),
    ]
    .map(|line| line + "\n")
    .concat()
}

#[test]
fn logs_of_aws_load_balancers() {
    // The request has the whole URL, with the port.
    let alb = three(|path, agent| {
        format!(
            "h2 2026-08-01T10:00:00.186641Z app/my-lb/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 \
             0.000 0.001 0.000 200 200 34 366 \"GET https://example.com:443{path} HTTP/2.0\" \"{agent}\" \
             ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:x \"Root=1-58337262-36d228ad\" \"example.com\" \
             \"arn:aws:acm:y\" 1 2026-08-01T10:00:00.1Z \"forward\" \"-\" \"-\" \"10.0.0.1:80\" \"200\" \"-\" \
             \"-\""
        )
    });
    let elb = three(|path, agent| {
        format!(
            "2026-08-01T10:00:00.945958Z my-lb 192.0.2.1:2817 - -1 -1 -1 503 0 0 0 \"GET \
             http://example.com:80{path} HTTP/1.1\" \"{agent}\" - -"
        )
    });
    for (log, name) in [(alb, "alb"), (elb, "elb")] {
        assert_audited(&log, &[]);
        assert_audited(&log, &["--log-format", name]);
        // A request that the load balancer could not read is a line of another agent, or invalid.
        let odd = "- http://example.com:80- -";
        let bad = log.replace("GET https://example.com:443/b HTTP/2.0", odd);
        let bad = bad.replace("GET http://example.com:80/b HTTP/1.1", odd);
        let dir = with_log(bad);
        let report = json_line(&dir, "-s a access.log");
        assert_eq!(lines(&report), [3, 1, 1], "{name}");
    }
}

#[test]
fn json_of_cloudflare_and_vercel() {
    let cloudflare = three(|path, agent| {
        format!(
            r#"{{"ClientIP":"192.0.2.1","ClientRequestHost":"example.com","ClientRequestMethod":"GET","ClientRequestPath":"/no","ClientRequestScheme":"https","ClientRequestURI":"{path}","ClientRequestUserAgent":"{agent}","EdgeEndTimestamp":"2026-08-01T10:00:09Z","EdgeResponseBytes":9,"EdgeResponseStatus":200,"EdgeStartTimestamp":1785578400000000000,"RayID":"x"}}"#
        )
    });
    assert_audited(&cloudflare, &[]);
    assert_audited(&cloudflare, &["--log-format", "cloudflare"]);
    let times = cloudflare.replace("1785578400000000000", "\"2026-08-01T10:00:00Z\"");
    assert_audited(&times, &[]);
    let vercel = three(|path, agent| {
        format!(
            r#"{{"id":"1","source":"lambda","projectId":"p","host":"my-app-abc.vercel.app","path":"/[route]","timestamp":1785578409000,"statusCode":-1,"proxy":{{"timestamp":1785578400000,"method":"GET","host":"example.com","path":"{path}","userAgent":["{agent}"],"scheme":"https","statusCode":-1,"clientIp":"192.0.2.1","responseByteSize":5}}}}"#
        )
    });
    assert_audited(&vercel, &[]);
    assert_audited(&vercel, &["--log-format", "vercel"]);
}

#[test]
fn the_console_of_caddy() {
    let log = three(|path, agent| {
        format!(
            "2026/08/01 10:00:00.362\tINFO\thttp.log.access.log0\thandled request\t{{\"request\": \
             {{\"remote_ip\": \"192.0.2.1\", \"method\": \"GET\", \"host\": \"example.com\", \"uri\": \
             \"{path}\", \"headers\": {{\"User-Agent\": [\"{agent}\"]}}}}, \"size\": 12, \"status\": 0}}"
        )
    });
    assert_audited(&log, &[]);
    assert_audited(&log, &["--log-format", "caddy"]);
    // Its other messages are not requests.
    let message = "2026/08/01 10:00:00.362\tINFO\tserving initial configuration\n";
    let dir = with_log(message.to_owned() + &log);
    assert_eq!(lines(&json_line(&dir, "-s a access.log")), [4, 1, 1]);
}

#[test]
fn haproxy_with_captured_headers() {
    let log = |captures: &dyn Fn(&str) -> String, target: &str| {
        three(|path, agent| {
            format!(
                "Aug  1 10:00:00 lb haproxy[14389]: 192.0.2.1:33317 [01/Aug/2026:10:00:00.655] www~ \
                 app/srv1 10/0/30/69/109 -1 +2750 - - ---- 1/1/1/1/0 0/0 {}\"GET {target}{path} \
                 HTTP/1.1\"",
                captures(agent)
            )
        })
    };
    let both = log(&|agent| format!("{{example.com|{agent}}} {{}} "), "");
    assert_audited(&both, &[]);
    assert_audited(&both, &["--log-format", "haproxy"]);
    assert_audited(&log(&|agent| format!("{{203.0.113.9|{agent}}} "), ""), HOST);
    // With HTTP/2, the request line has the host.
    let http2 = log(&|agent| format!("{{{agent}}} "), "https://example.com");
    assert_audited(&http2, &[]);
    for bare in [
        log(&|_| String::new(), ""),
        log(&|_| "{203.0.113.9} ".to_owned(), ""),
    ] {
        let dir = with_log(bare);
        let ran = audit(&dir, &[&["-s", "a", "access.log"], HOST].concat());
        ran.refused("capture request header User-Agent");
    }
}

#[test]
fn lines_in_the_json_of_docker() {
    let wrapped = |log: &str| -> String {
        let line = |line: &str| {
            serde_json::json!({"log": format!("{line}\n"), "stream": "stdout", "time": "2020-01-01T00:00:00Z"})
                .to_string()
                + "\n"
        };
        log.lines().map(line).collect()
    };
    let combined = three(|path, agent| {
        format!(
            "192.0.2.1 - - [01/Aug/2026:12:00:00 +0200] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"{agent}\""
        )
    });
    let json_log = three(|path, agent| {
        format!(
            r#"{{"ts":1785578400.5,"request":{{"host":"example.com","uri":"{path}","headers":{{"User-Agent":["{agent}"]}}}},"status":200}}"#
        )
    });
    assert_audited(&wrapped(&combined), HOST);
    assert_audited(
        &wrapped(&combined),
        &[HOST, &["--log-format", "docker"]].concat(),
    );
    assert_audited(&wrapped(&json_log), &[]);
    // Lines of other programs are invalid. Those of the log are written as they are.
    let other = wrapped("nginx: start worker\n");
    let dir = with_log(other + &wrapped(&combined));
    let args = [&["-s", "a", "access.log", "--lines", "broken"], HOST].concat();
    assert_eq!(lines(&json(&dir, &args)), [4, 1, 1]);
    let broken = dir.read_text("broken");
    assert_eq!(broken, wrapped(combined.lines().next().unwrap()));
    let dir = with_log(wrapped("nginx: start worker\n"));
    let ran = audit(&dir, &[&["-s", "a", "access.log"], HOST].concat());
    ran.refused("known access log");
}
