//! The loop of a crawler, closed by three commands: `due`, `examples/fetch.py`, and
//! `compile --previous`. The sites are servers on ports of this machine. Skipped without Python.

use crate::command::{checkout, robosieve};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Answers a request, given by its lines. The connection ends then.
pub(super) type Answer = fn(&str, &mut TcpStream) -> std::io::Result<()>;

/// Starts a server, and returns its origin.
pub(super) fn serve(answer: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = String::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            while lines.read_line(&mut request).is_ok_and(|len| len > 2) {}
            // A client may go away early.
            let _ = answer(&request, &mut stream);
        }
    });
    format!("http://127.0.0.1:{port}")
}

const RULES: &str = "User-agent: *\nDisallow: /private/\n";

pub(super) fn with_body(stream: &mut TcpStream, head: &str, body: &str) -> std::io::Result<()> {
    let len = body.len();
    write!(
        stream,
        "HTTP/1.1 {head}\r\nContent-Length: {len}\r\n\r\n{body}"
    )
}

fn has_rules(request: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    assert!(request.starts_with("GET /robots.txt HTTP/1.1\r\n"));
    assert!(
        request.contains("\r\nUser-Agent: TestBot/1.0 (+https://bot.example/)\r\n"),
        "{request}"
    );
    with_body(stream, "200 OK", RULES)
}

fn has_none(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    with_body(stream, "404 Not Found", "no such file")
}

fn is_busy(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    with_body(stream, "503 Service Unavailable", "")
}

/// Answers once, and fails from then on.
fn breaks_down(request: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    use std::sync::atomic::{AtomicBool, Ordering};
    static HAS_ANSWERED: AtomicBool = AtomicBool::new(false);
    match HAS_ANSWERED.swap(true, Ordering::Relaxed) {
        false => has_rules(request, stream),
        true => is_busy(request, stream),
    }
}

/// Redirects to another path of its own, with a blank in it.
fn has_moved(request: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    match request.starts_with("GET /new%20rules?a ") {
        true => with_body(stream, "200 OK", RULES),
        false => with_body(stream, "301 Moved\r\nLocation: /new rules?a#top", ""),
    }
}

fn redirects_in_a_circle(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    with_body(stream, "302 Found\r\nlocation: /robots.txt", "")
}

fn is_slow(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{RULES}"
    )?;
    // Until the client goes away.
    while stream.write_all(b"#").is_ok() {
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// A rule at the start of 600 KiB, and one after their end.
fn is_long(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    let filler = "# filler\n".repeat(600 << 7);
    with_body(
        stream,
        "200 OK",
        &format!("{RULES}{filler}Disallow: /late/\n"),
    )
}

fn sends_chunks(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: public\r\n\
                Cache-Control: max-age=60\r\n";
    let (first, rest) = RULES.split_at(5);
    write!(
        stream,
        "{head}\r\n5;a=b\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
        rest.len()
    )
}

fn is_cut_off(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{RULES}"
    )
}

fn is_no_http(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"220 ftp.example\r\n")
}

/// Has not changed since it was captured.
fn is_unchanged(request: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    match request.contains("\r\nIf-Modified-Since: Fri, 02 Jan 2026 03:04:05 GMT\r\n") {
        true => stream.write_all(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        false => with_body(stream, "200 OK", ""),
    }
}

/// Runs a command that prints no error, and returns its output.
fn done(dir: &Path, args: &[&str]) -> String {
    let ran = robosieve(dir, args);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Fetches the URLs of `due.jsonl`, and compiles the answers over the snapshot `web`.
fn fetch_and_compile(dir: &Path) -> String {
    let out = Command::new("python3")
        .arg(checkout().join("examples/fetch.py"))
        .args(["--agent", "TestBot/1.0 (+https://bot.example/)"])
        .args(["--private", "--time-limit", "4", "due.jsonl"])
        .current_dir(dir)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{stderr}");
    assert!(stderr.contains(" requests in "), "{stderr}");
    fs::write(dir.join("fetched.jsonl"), &out.stdout).unwrap();
    let compile = "compile -q --previous web -o web fetched.jsonl";
    done(dir, &compile.split(' ').collect::<Vec<_>>());
    String::from_utf8(out.stdout).unwrap()
}

/// Writes `due.jsonl`, and returns its origins.
fn due(dir: &Path, args: &str) -> BTreeSet<String> {
    let args = format!("due -q -s web -o due.jsonl {args}");
    done(dir, &args.split(' ').collect::<Vec<_>>());
    let text = fs::read_to_string(dir.join("due.jsonl")).unwrap();
    let objects = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    objects
        .map(|object| object["origin"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn three_commands_close_the_loop_of_a_crawler() {
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: no python3");
    }
    let temp_dir = tempfile::tempdir().unwrap();
    let dir = temp_dir.path();
    let (good, missing, busy) = (serve(has_rules), serve(has_none), serve(is_busy));
    let (failing, moved, circle) = (
        serve(breaks_down),
        serve(has_moved),
        serve(redirects_in_a_circle),
    );
    let (slow, long, chunked) = (serve(is_slow), serve(is_long), serve(sends_chunks));
    let (cut, no_http, unchanged) = (serve(is_cut_off), serve(is_no_http), serve(is_unchanged));
    // Nobody listens at a port that was given back.
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let capture = json!({
        "url": format!("{unchanged}/robots.txt"), "body": RULES,
        "fetched_at": "2026-01-02T03:04:05Z",
    });
    fs::write(dir.join("old.jsonl"), format!("{capture}\n")).unwrap();
    done(dir, &["compile", "-q", "-o", "web", "old.jsonl"]);
    let new = [
        &good, &missing, &busy, &failing, &moved, &circle, &slow, &long, &chunked, &cut, &no_http,
        &closed,
    ];
    let pages = ["/", "/private/a", "/b?c"].map(|page| {
        let lines = new.iter().map(|origin| format!("{origin}{page}\n"));
        lines.collect::<String>()
    });
    fs::write(dir.join("urls.txt"), pages.concat() + "ftp://a.example/\n").unwrap();

    // The first day: all but one origin are new.
    let all: BTreeSet<String> = new.into_iter().chain([&unchanged]).cloned().collect();
    assert_eq!(due(dir, "--stale-at 2026-02-01 urls.txt"), all);
    fetch_and_compile(dir);
    let verdict = |url: &str, more: &[&str]| {
        let args = [&["check", "-s", "web", "-a", "TestBot", url], more].concat();
        let out = String::from_utf8(robosieve(dir, &args).stdout).unwrap();
        out.split('\t').next().unwrap().to_owned()
    };
    for (origin, private, other) in [
        (&good, "disallowed", "allowed"),
        (&missing, "allowed", "allowed"),
        (&busy, "disallowed", "disallowed"),
        (&failing, "disallowed", "allowed"),
        (&moved, "disallowed", "allowed"),
        (&circle, "allowed", "allowed"),
        (&slow, "disallowed", "disallowed"),
        (&long, "disallowed", "allowed"),
        (&chunked, "disallowed", "allowed"),
        (&cut, "disallowed", "disallowed"),
        (&no_http, "disallowed", "disallowed"),
        (&closed, "disallowed", "disallowed"),
        (&unchanged, "disallowed", "allowed"),
    ] {
        let entry = done(dir, &["inspect", "web", origin]);
        let found = ["/private/", "/late/"].map(|path| verdict(&format!("{origin}{path}"), &[]));
        assert_eq!(found, [private, other], "{entry}");
    }
    for (origin, words) in [
        (&slow, "unreachable, "),
        (&slow, ", timeout"),
        (&closed, ", connection refused"),
        (&cut, ", truncated: disconnect"),
        (&no_http, ", not an HTTP answer"),
        (&moved, "/new%20rules?a after 1 redirect"),
        (&long, "cut short in the archive"),
        (&circle, "unresolved-redirect"),
    ] {
        let entry = done(dir, &["inspect", "web", origin]);
        assert!(entry.contains(words), "{words}: {entry}");
    }

    // At once nothing is due. Later all is: failing sites and the file with a `max-age` first.
    assert_eq!(due(dir, "--stale-at now urls.txt"), BTreeSet::new());
    let times = fs::read_to_string(dir.join("fetched.jsonl")).unwrap();
    let times = times
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let newest = times
        .map(|object| object["fetched_at"].as_str().unwrap().to_owned())
        .max();
    let newest: jiff::Timestamp = newest.unwrap().parse().unwrap();
    let hour_later = newest + jiff::SignedDuration::from_hours(1);
    let hour_later = format!("--stale-at {hour_later} urls.txt");
    let failures = [&busy, &slow, &cut, &no_http, &closed];
    let first: BTreeSet<String> = failures.into_iter().chain([&chunked]).cloned().collect();
    assert_eq!(due(dir, &hour_later), first);
    let only = BTreeSet::from([chunked.clone()]);
    let patient = format!("--retry-failed 24h {hour_later}");
    assert_eq!(due(dir, &patient), only);
    let day_later = newest + jiff::SignedDuration::from_hours(25);
    assert_eq!(due(dir, &format!("--stale-at {day_later} urls.txt")), all);

    // The second day: of those with rules, one fails. Its last good copy is kept.
    std::thread::sleep(Duration::from_millis(1100));
    let with_rules: BTreeSet<String> = [&good, &failing, &moved, &long, &chunked, &unchanged]
        .into_iter()
        .cloned()
        .collect();
    let args = format!("--stale-at {day_later} --outcome rules");
    assert_eq!(due(dir, &args), with_rules);
    fetch_and_compile(dir);
    let entry = done(dir, &["inspect", "web", &failing]);
    for words in [
        "server-error, status 503",
        "failing since",
        "last good copy kept",
        "Disallow: /private/",
    ] {
        assert!(entry.contains(words), "{words}: {entry}");
    }
    let open = format!("{failing}/b");
    assert_eq!(verdict(&open, &[]), "disallowed", "for 30 days");
    let month_later = (newest + jiff::SignedDuration::from_hours(24 * 31)).to_string();
    assert_eq!(verdict(&open, &["--at", &month_later]), "allowed");
    let private = format!("{failing}/private/");
    assert_eq!(verdict(&private, &["--at", &month_later]), "disallowed");
}

/// The fetcher with a resolver and a network of its own: slow names, failures of this machine,
/// private addresses, `Retry-After`, and signals.
#[test]
fn the_tests_of_the_fetcher_pass() {
    let ran = Command::new("python3")
        .arg(checkout().join("tests/due/fetch_test.py"))
        .output();
    let Ok(out) = ran else {
        return eprintln!("SKIPPED: no python3");
    };
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{stderr}");
    assert!(stderr.contains("OK"), "{stderr}");
}

#[test]
fn private_addresses_are_not_asked() {
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: no python3");
    }
    let temp_dir = tempfile::tempdir().unwrap();
    let origin = serve(is_busy);
    let list = format!("{origin}/robots.txt\nftp://a.example/robots.txt\n");
    fs::write(temp_dir.path().join("list"), list).unwrap();
    let fetch = |args: &[&str]| {
        Command::new("python3")
            .arg(checkout().join("examples/fetch.py"))
            .args(args)
            .current_dir(temp_dir.path())
            .output()
            .unwrap()
    };
    let out = fetch(&["--agent", "TestBot (bot@bot.example)", "list"]);
    let records = String::from_utf8(out.stdout).unwrap();
    let record: Value = serde_json::from_str(&records).unwrap();
    assert_eq!(record["error"], "private address", "{records}");
    // A User-Agent names a contact.
    let out = fetch(&["--agent", "TestBot", "list"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("must name a contact"));
}
