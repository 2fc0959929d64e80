//! `scripts/x commoncrawl` against a local server with the layout of Common Crawl. The server
//! breaks connections, is busy, and sends damaged files.

use crate::command::checkout;
use crate::test_dir::{file_names, gz};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

pub(crate) const CRAWL: &str = "CC-MAIN-2026-38";

/// The fault of the first request for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mishap {
    /// The answer ends after this number of bytes.
    BreakOff(usize),
    Busy,
    /// One byte is changed.
    Damage,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    mishaps: BTreeMap<String, Mishap>,
    /// Requested paths, each with the offset of its first byte.
    requests: Vec<(String, usize)>,
}

/// A local server. It runs until the process ends.
#[derive(Clone)]
pub(crate) struct Server {
    pub address: String,
    state: Arc<Mutex<State>>,
}

/// The records of a WARC file, one gzip member each, distributed over this number of files.
fn deal(warc: &[u8], files: usize) -> Vec<Vec<u8>> {
    let starts: Vec<usize> = memchr::memmem::find_iter(warc, b"WARC/1.0\r\n").collect();
    let mut out = vec![Vec::new(); files];
    for (i, start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(warc.len());
        out[i % files].extend(gz(&warc[*start..end]));
    }
    out
}

/// The small list as an index of a crawl.
fn index(urls: &[u8]) -> Vec<u8> {
    let line = |url: &str| {
        let url = serde_json::to_string(url).unwrap();
        format!(
            "example,crawl)/ 20260915060000 {{\"url\": {url}, \"mime\": \"text/html\", \"status\": \"200\"}}\n"
        )
    };
    String::from_utf8_lossy(urls)
        .lines()
        .map(line)
        .collect::<String>()
        .into_bytes()
}

impl Server {
    /// Serves a crawl of four robots.txt archives and two files of the index, made of
    /// `datasets/small`.
    pub(crate) fn start() -> Self {
        let small = checkout().join("datasets/small");
        let mut files = BTreeMap::new();
        let mut list = String::new();
        for (i, bytes) in deal(&std::fs::read(small.join("robots.warc")).unwrap(), 4)
            .into_iter()
            .enumerate()
        {
            let path =
                format!("crawl-data/{CRAWL}/segments/17.{i}/robotstxt/{CRAWL}-{i:05}.warc.gz");
            list += &format!("{path}\n");
            files.insert(path, bytes);
        }
        files.insert(
            format!("crawl-data/{CRAWL}/robotstxt.paths.gz"),
            gz(list.as_bytes()),
        );
        let mut list = format!("cc-index/collections/{CRAWL}/metadata.yaml\n");
        let urls = std::fs::read(small.join("urls.txt")).unwrap();
        for i in 0..2 {
            let path = format!("cc-index/collections/{CRAWL}/indexes/cdx-{i:05}.gz");
            list += &format!("{path}\n");
            files.insert(path, gz(index(&urls)));
        }
        list += &format!("cc-index/collections/{CRAWL}/indexes/cluster.idx\n");
        files.insert(
            format!("crawl-data/{CRAWL}/cc-index.paths.gz"),
            gz(list.as_bytes()),
        );
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = Self {
            address,
            state: Arc::new(Mutex::new(State {
                files,
                ..State::default()
            })),
        };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client may close its connection.
                let _ = serving.answer(stream.unwrap());
            }
        });
        server
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut path = String::new();
        let mut start = 0;
        for line in BufReader::new(stream.try_clone()?).lines() {
            let line = line?;
            if let Some(rest) = line.strip_prefix("GET /") {
                path = rest.split(' ').next().unwrap().to_owned();
            } else if let Some(range) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                start = range.trim_end_matches('-').parse().unwrap();
            } else if line.is_empty() {
                break;
            }
        }
        let (bytes, mishap) = {
            let mut state = self.state.lock().unwrap();
            state.requests.push((path.clone(), start));
            (state.files.get(&path).cloned(), state.mishaps.remove(&path))
        };
        let Some(mut bytes) = bytes else {
            return stream.write_all(
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
        };
        let total = bytes.len();
        let mut sent = total - start;
        match mishap {
            Some(Mishap::Busy) => {
                return stream.write_all(
                    b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                );
            }
            Some(Mishap::BreakOff(len)) => sent = len,
            Some(Mishap::Damage) => bytes[total / 2] ^= 1,
            None => {}
        }
        let (status, range) = match start {
            0 => ("200 OK", String::new()),
            _ => (
                "206 Partial Content",
                format!("Content-Range: bytes {start}-{}/{total}\r\n", total - 1),
            ),
        };
        let length = total - start;
        write!(
            stream,
            "HTTP/1.1 {status}\r\n{range}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        )?;
        stream.write_all(&bytes[start..start + sent])
    }

    fn mishap(&self, path: &str, mishap: Mishap) {
        let mut state = self.state.lock().unwrap();
        let path = state
            .files
            .keys()
            .find(|known| known.contains(path))
            .unwrap()
            .clone();
        state.mishaps.insert(path, mishap);
    }

    /// The requests since the last call, for files whose path contains this text.
    fn requests(&self, path: &str) -> Vec<usize> {
        let requests = std::mem::take(&mut self.state.lock().unwrap().requests);
        requests
            .into_iter()
            .filter(|(requested, _)| requested.contains(path))
            .map(|(_, start)| start)
            .collect()
    }

    fn fetch(&self, dir: &Path, args: &[&str]) -> Output {
        let script = checkout().join("scripts/x");
        let mut command = Command::new(script);
        command
            .arg("commoncrawl")
            .args(args)
            .current_dir(dir)
            .env("COMMONCRAWL", &self.address)
            .env("COMMONCRAWL_DELAY", "0");
        command.output().unwrap()
    }
}

fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: {program} is not installed");
    }
    there
}

#[test]
fn downloads_survive_failures() {
    if !is_there("curl") || !is_there("python3") {
        return;
    }
    let server = Server::start();
    server.mishap("00000.warc", Mishap::BreakOff(100));
    server.mishap("00002.warc", Mishap::Damage);
    server.mishap("robotstxt.paths", Mishap::Busy);
    let dir = tempfile::tempdir().unwrap();
    let args = [
        CRAWL,
        "cc",
        "--robots",
        "2",
        "--index",
        "1",
        "--parallel",
        "3",
    ];
    let ran = server.fetch(dir.path(), &args);
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let cc = dir.path().join("cc");
    // Two of the four archives, evenly spread, and no partial file.
    let expected = [
        format!("{CRAWL}-00000.warc.gz"),
        format!("{CRAWL}-00002.warc.gz"),
    ];
    assert_eq!(file_names(&cc.join("robotstxt")), expected);
    assert_eq!(file_names(&cc.join("index")), ["cdx-00000.gz"]);
    {
        let state = server.state.lock().unwrap();
        for (path, bytes) in state
            .files
            .iter()
            .filter(|(path, _)| path.ends_with("00002.warc.gz") || path.ends_with("00000.warc.gz"))
        {
            let file = cc.join("robotstxt").join(path.rsplit('/').next().unwrap());
            assert!(std::fs::read(file).unwrap() == *bytes, "{path}");
        }
        assert!(state.mishaps.is_empty());
    }
    let found = server.requests("00000.warc");
    assert_eq!(found, [0, 100], "a broken transfer is resumed");
    // Everything is present: nothing is requested again, and the checksums match.
    let ran = server.fetch(dir.path(), &args);
    assert!(ran.status.success() && server.requests("").is_empty());
    assert!(
        server
            .fetch(dir.path(), &["--verify", "cc"])
            .status
            .success()
    );
    // Download more of the same crawl.
    let ran = server.fetch(
        dir.path(),
        &[CRAWL, "cc", "--robots", "all", "--index", "0"],
    );
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_eq!(file_names(&cc.join("robotstxt")).len(), 4);
    assert_eq!(server.requests("warc.gz").len(), 2);
    std::fs::write(cc.join("index/cdx-00000.gz"), "other").unwrap();
    let ran = server.fetch(dir.path(), &["--verify", "cc"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&ran.stdout).contains("index/cdx-00000.gz: FAILED"),
        "{ran:?}"
    );
}

#[test]
fn failed_downloads_are_reported() {
    if !is_there("curl") || !is_there("python3") {
        return;
    }
    let server = Server::start();
    let missing = format!("crawl-data/{CRAWL}/segments/17.1/robotstxt/{CRAWL}-00001.warc.gz");
    server.state.lock().unwrap().files.remove(&missing);
    let dir = tempfile::tempdir().unwrap();
    for (args, expected) in [
        (
            &["CC-MAIN-2026-39", "cc"][..],
            "CC-MAIN-2026-39/robotstxt.paths.gz: curl: (22)",
        ),
        (
            &[CRAWL, "cc", "--robots", "all"],
            "17.1/robotstxt/CC-MAIN-2026-38-00001.warc.gz: curl: (22)",
        ),
        (&["2026-38", "cc"], "not a crawl's name"),
        (&[CRAWL, "cc", "--robots", "0"], "nothing is wanted"),
        (&[CRAWL, "cc", "--robots", "many"], "give a number, or all"),
        (&[CRAWL, "cc", "--robots"], "needs a value"),
        (&[CRAWL, "cc", "--pages", "1"], "unknown option"),
        (&["--verify", "none"], "nothing was fetched"),
        (&[], "usage:"),
    ] {
        let ran = server.fetch(dir.path(), args);
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
    let found = file_names(&dir.path().join("cc/robotstxt")).len();
    assert_eq!(found, 3, "complete files are kept");
}
