//! Lines of access logs in every format: each is counted once, and an audit agrees with the parser
//! of single lines.

use crate::filter_stream::{is_compressed, lines, snapshot};
use crate::input::{Bytes, InSteps, expand};
use robosieve::audit::{Audit, AuditOptions, AuditOutputs, DatedSnapshot, LogFormat};
use robosieve::job::Input;
use std::io::Cursor;
use std::sync::OnceLock;

/// The formats by name, and layouts of Apache and nginx.
pub(crate) const FORMATS: &[&str] = &[
    "combined",
    "vhost_combined",
    "json",
    "w3c",
    "cloudfront",
    "iis",
    "$host|$time_iso8601|$status|$request|$http_user_agent",
    r#"%t %{User-Agent}i "%{Referer}i" %U%q %v %<s %B"#,
    "$scheme ${host} $msec $request_uri [$http_user_agent]",
    "%v|%{%Y-%m-%dT%T%z}t|%>s|%r|%{User-agent}i",
    "alb",
    "elb",
    "haproxy",
];

/// The parts of log lines and of layouts.
pub(crate) const TOKENS: &[&str] = &[
    "192.0.2.1 - - ",
    "[01/Aug/2026:12:00:00 +0200] ",
    "\"GET /x HTTP/1.1\" ",
    "\"GET ",
    " HTTP/1.1\"",
    " 200 5 ",
    "\"-\" ",
    "\"GPTBot/1.2\"",
    "\"Mozilla/5.0\"",
    "\n",
    "\r\n",
    "\"",
    "\\\"",
    "\\x22",
    "\\",
    "h.example:443 ",
    "h.example|",
    "2026-08-01T12:00:00+02:00",
    "|200|",
    "GPTBot",
    "1785578400.123",
    "https h.example ",
    " [GPTBot]",
    "{\"level\":\"info\",\"ts\":1785578400.52,\"request\":{",
    "\"host\":\"h.example\",",
    "\"uri\":\"/x\",",
    "\"headers\":{\"User-Agent\":[\"GPTBot\"]}},",
    "\"status\":200}",
    "\"size\":12,",
    "#Version: 1.0\n",
    "#Fields: date time cs-uri-stem cs(User-Agent) sc-status",
    " c-ip cs-host",
    "\t",
    "2026-08-01 10:00:00 /x ",
    "%20",
    "+",
    "GET",
    "http://h.example/x",
    "HTTP/1.1",
    "\u{feff}",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "%h",
    "%{",
    "}i",
    "$http_user_agent",
    "$request",
    "$",
    "%",
    "%>s",
    "%r",
    "%t",
    "9999999999999999999",
    "\\u00e4",
    "\\ud800",
    "-",
    "h2 2026-08-01T10:00:00.1Z app/x 192.0.2.1:2817 10.0.0.1:80 0 0 0 200 200 34 366 ",
    "2026-08-01T10:00:00.1Z x 192.0.2.1:2817 - -1 -1 -1 503 0 0 0 ",
    "haproxy[1]: 192.0.2.1:3 [01/Aug/2026:12:00:00.655] a b/c 1/0/3/6/9 200 2 - - ---- 1/1/1/1/0 0/0 ",
    "{h.example|GPTBot/1} {} ",
    "#22",
];

/// The audits by format.
fn audits() -> &'static [(LogFormat, Audit)] {
    static AUDITS: OnceLock<Vec<(LogFormat, Audit)>> = OnceLock::new();
    AUDITS.get_or_init(|| {
        let of_format = |name: &&str| {
            let format: LogFormat = name.parse().unwrap();
            let options = AuditOptions::default()
                .format(format.clone())
                .host("https://h.example".to_owned());
            let snapshots = vec![DatedSnapshot::new(None, snapshot().clone())];
            (format, Audit::new(snapshots, options).unwrap())
        };
        FORMATS.iter().map(of_format).collect()
    })
}

/// A byte that chooses the format, one of options, and the log; or a layout and a line.
pub(crate) fn run(input: &[u8]) {
    let mut input = Bytes(input);
    let (format, step) = (usize::from(input.byte()), usize::from(input.byte()) + 1);
    let text = expand(input.0, TOKENS);
    if format >= 0xf0 {
        return check_layout(&text);
    }
    let (format, audit) = &audits()[format % audits().len()];
    for line in lines(&text) {
        let record = format.record(line);
        // At the end of a log that was cut off, a carriage return belongs to the line.
        let bare = match line.strip_suffix(b"\n") {
            Some(bare) => bare.strip_suffix(b"\r").unwrap_or(bare),
            None => line,
        };
        for end in ["", "\n", "\r\n"] {
            let again = [bare, end.as_bytes()].concat();
            if bare.ends_with(b"\r") {
                continue;
            }
            assert_eq!(format.record(&again), record, "with the line end {end:?}");
        }
    }
    let (mut breaches, mut annotated) = (Vec::new(), Vec::new());
    let mut outputs = AuditOutputs::default().breaches(Some(&mut breaches));
    outputs.annotated = Some(&mut annotated);
    let reader = InSteps {
        inner: Cursor::new(text.clone()),
        step,
    };
    let run = audit.run(vec![Input::from_reader("log", reader)], outputs, &|_| {});
    let Ok(report) = run else {
        return;
    };
    let requests: u64 = report.crawlers.iter().map(|of| of.requests).sum();
    assert_eq!(
        report.lines,
        report.invalid + report.other_agents + requests
    );
    let disallowed: u64 = report.crawlers.iter().map(|of| of.disallowed).sum();
    assert_eq!(lines(&breaches).count() as u64, disallowed);
    if is_compressed(&text) {
        return;
    }
    let after = |line: &[u8]| {
        let mut tabs = line.iter().enumerate().filter(|&(_, &byte)| byte == b'\t');
        tabs.nth(1).map(|(at, _)| at + 1)
    };
    let is_w3c = [LogFormat::w3c(), LogFormat::cloudfront(), LogFormat::iis()].contains(format);
    let unannotated: Vec<&[u8]> = lines(&annotated)
        .map(|line| match after(line) {
            Some(at) => &line[at..],
            None => line,
        })
        .collect();
    if !is_w3c {
        assert_eq!(report.lines, lines(&text).count() as u64);
        assert!(unannotated.concat() == text, "annotating changes lines");
        let invalid = lines(&text)
            .filter(|line| format.record(line).is_none())
            .count();
        assert!(
            report.invalid >= invalid as u64,
            "{} invalid, but {invalid} cannot be parsed",
            report.invalid
        );
    }
}

/// Any text as a layout, and the rest as a line in it.
fn check_layout(text: &[u8]) {
    let mut rest = Bytes(text);
    let layout = String::from_utf8_lossy(rest.part(b'\n')).into_owned();
    if let Ok(format) = layout.parse::<LogFormat>() {
        for line in lines(rest.0) {
            let _ = format.record(line);
        }
    }
}
