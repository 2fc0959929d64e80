//! The nights of a crawler from an empty folder: `packaging/refresh` with `examples/fetch.py`,
//! against servers on ports of this machine. Skipped without Python.

use super::crawl::{serve, with_body};
use crate::command::checkout;
use crate::test_dir::TestDir;
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whether the servers close connections without an answer, as a broken network does.
static OUTAGE: AtomicBool = AtomicBool::new(false);

/// The number of 304s of the sites.
static UNCHANGED: AtomicUsize = AtomicUsize::new(0);

/// The requests to the busy site, of which the first of each night is refused.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// The requests to the site that asks for a long wait.
static CLOSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A robots.txt that is stale at once, so the next night needs no other day.
const HEAD: &str = "200 OK\r\nCache-Control: max-age=0";

/// A site that has not changed since it was fetched.
fn site(request: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    if OUTAGE.load(Ordering::SeqCst) {
        return Ok(());
    }
    if request.contains("\r\nIf-Modified-Since: ") {
        UNCHANGED.fetch_add(1, Ordering::SeqCst);
        return with_body(stream, "304 Not Modified\r\nCache-Control: max-age=0", "");
    }
    with_body(stream, HEAD, "User-agent: *\nDisallow: /private/\n")
}

/// A site that asks for a second before it answers.
fn busy(_: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    if OUTAGE.load(Ordering::SeqCst) {
        return Ok(());
    }
    match BUSY.fetch_add(1, Ordering::SeqCst) % 2 {
        0 => with_body(stream, "429 Too Many Requests\r\nRetry-After: 1", ""),
        _ => with_body(stream, HEAD, "User-agent: *\nDisallow: /busy/\n"),
    }
}

/// A site that asks for half a day.
fn closed(request: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    CLOSED.lock().unwrap().push(request.to_owned());
    with_body(stream, "503 Service Unavailable\r\nRetry-After: 43200", "")
}

/// Waits for the next second, because captures of one second are not ordered by time.
fn next_second() {
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs()
    };
    let before = now();
    // At most 200 waits of 10 ms.
    for _ in 0..200 {
        if now() > before {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the clock stands");
}

impl TestDir {
    /// Runs a night. The command has an argument with blanks.
    fn night(&self) -> Output {
        next_second();
        let fetcher = checkout().join("examples/fetch.py").display().to_string();
        self.run_refresh(
            &[
                "python3",
                &fetcher,
                "--private",
                // Limits that no busy machine reaches.
                "--connect-limit",
                "600",
                "--time-limit",
                "600",
                "--agent",
                "NightBot/1.0 (+https://bot.example/)",
            ],
            "",
        )
    }

    /// The outcomes of all origins with their numbers.
    fn outcomes(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for outcome in self
            .stdout_of("export -q -s s --columns outcome")
            .lines()
            .skip(1)
        {
            *counts.entry(outcome.to_owned()).or_default() += 1;
        }
        counts
    }
}

fn counts(all: &[(&str, usize)]) -> BTreeMap<String, usize> {
    all.iter()
        .map(|(name, number)| ((*name).to_owned(), *number))
        .collect()
}

#[test]
fn nights_begin_in_an_empty_folder() {
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: no python3");
    }
    let dir = TestDir::new();
    let sites: Vec<String> = (0..120).map(|_| serve(site)).collect();
    let (busy, closed) = (serve(busy), serve(closed));
    let pages = sites.iter().chain([&busy, &closed]);
    let pages: String = pages.map(|origin| format!("{origin}/a/page\n")).collect();
    dir.write("urls.txt", pages);

    // The first night: no snapshot. The busy site answers after the second that it asks for.
    let out = dir.night();
    assert!(out.status.success(), "{out:?}");
    let first = String::from_utf8(out.stdout).unwrap();
    assert!(first.contains("s: does not exist"), "{first}");
    let found = dir.outcomes();
    assert_eq!(found, counts(&[("rules", 121), ("server-error", 1)]));
    assert_eq!(BUSY.load(Ordering::SeqCst), 2);
    let letters = dir.stdout_of("annotate -q -s s -a NightBot urls.txt");
    assert_eq!(letters.matches("A\t").count(), 121);

    // The second night: the servers say that nothing has changed. The closed site is not asked.
    let out = dir.night();
    assert!(out.status.success(), "{out:?}");
    assert_eq!(UNCHANGED.load(Ordering::SeqCst), 120);
    let found = dir.outcomes();
    assert_eq!(found, counts(&[("rules", 121), ("server-error", 1)]));
    assert_eq!(CLOSED.lock().unwrap().len(), 1);
    let good = dir.read("s");

    // A night without a network is refused, and its answers are kept.
    OUTAGE.store(true, Ordering::SeqCst);
    let out = dir.night();
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    let stderr = String::from_utf8(out.stderr).unwrap();
    for words in [
        "121 of the 121 captured origins that answered in the previous snapshot fail now",
        "closed without an answer 121",
        "the answers are kept in s.refused.jsonl",
    ] {
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
    assert!(dir.read("s") == good);
    assert_eq!(dir.read_text("s.refused.jsonl").lines().count(), 121);

    // The night after the outage is one as any other.
    OUTAGE.store(false, Ordering::SeqCst);
    let out = dir.night();
    assert!(out.status.success(), "{out:?}");
    assert_eq!(UNCHANGED.load(Ordering::SeqCst), 240);
    let found = dir.outcomes();
    assert_eq!(found, counts(&[("rules", 121), ("server-error", 1)]));

    // Who looks at the answers may accept them.
    dir.done_line("compile -q --previous s -o s --max-failing 100% s.refused.jsonl");
}
