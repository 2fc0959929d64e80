//! `due`: the robots.txt URLs of unknown origins and of stale ones.

mod crawl;
#[cfg(unix)]
mod night;
#[cfg(unix)]
mod refresh;

use crate::command::{case, checkout, robosieve_with};
use crate::outputs::parquet;
use crate::test_dir::{TestDir, gz};
use robosieve::Origin;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

/// A directory with the snapshot `s` and the list `urls.txt` of `datasets/small`.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    dir.compile_small("s");
    fs::copy(
        checkout().join("datasets/small/urls.txt"),
        dir.path("urls.txt"),
    )
    .unwrap();
    dir
}

impl TestDir {
    /// The URLs of `due` with these arguments.
    fn due(&self, args: &str) -> Vec<String> {
        let out = self.stdout_of(&format!("due -q -s s {args}"));
        out.lines().map(str::to_owned).collect()
    }

    /// The slow model: the origins of the lines that `filter` calls unknown.
    fn unknown(&self, list: &str) -> BTreeSet<String> {
        self.stdout_of(&format!(
            "filter -q -s s -a a -o /dev/null --unknown-to unknown {list}"
        ));
        let lines = self.read("unknown");
        let origins = lines.split(|byte| *byte == b'\n').filter_map(Origin::of);
        origins
            .filter(|origin| matches!(origin.scheme(), "http" | "https"))
            .map(|origin| origin.robots_url())
            .collect()
    }

    /// The stale http and https origins by `export`.
    fn stale(&self, args: &str) -> BTreeSet<String> {
        let table = self.stdout_of(&format!("export -q -s s --columns origin {args}"));
        let origins = table.lines().filter(|line| line.starts_with("http"));
        origins
            .map(|origin| format!("{origin}/robots.txt"))
            .collect()
    }
}

/// Lines of every kind: known and unknown origins, in several spellings, and no URLs.
fn mixed_lines(seed: usize) -> String {
    const HOSTS: &[&str] = &[
        "shop.example",
        "news.example",
        "new.example",
        "NEW.example",
        "www.new.example",
        "b\u{fc}cher.example",
        "xn--bcher-kva.example",
        "user:pw@new.example",
        "192.0.2.77",
        "[2001:db8::9]",
        "localhost",
        "a-host-with-a-name-of-more-than-thirty-two-bytes.example",
        "",
    ];
    const SCHEMES: &[&str] = &["https://", "http://", "HTTP://", "ftp://", "mailto:", ""];
    const PORTS: &[&str] = &["", ":443", ":80", ":8080", ":", ":99999"];
    const PATHS: &[&str] = &["", "/", "/a", "/robots.txt", "?q", "#f", "/x y", "/ "];
    let mut lines = String::new();
    // Steps that share no factor with the lengths visit the combinations in another order for each
    // seed, and repeat some.
    for i in 0..400 {
        let at = (i + 3) * (seed * 2 + 7);
        let scheme = SCHEMES[at % 11 % SCHEMES.len()];
        let host = HOSTS[(at + seed) % HOSTS.len()];
        let port = PORTS[at % 17 % PORTS.len()];
        let path = PATHS[at % 23 % PATHS.len()];
        let _ = writeln!(lines, "{scheme}{host}{port}{path}");
    }
    lines
}

#[test]
fn urls_are_those_of_unknown_and_of_stale_origins() {
    let dir = snapshot_dir();
    for seed in 0..8 {
        dir.write("mixed.txt", mixed_lines(seed));
        let unknown = dir.unknown("mixed.txt");
        assert!(unknown.len() > 5, "{unknown:?}");
        let listed = dir.due("mixed.txt");
        let set: BTreeSet<String> = listed.iter().cloned().collect();
        assert_eq!(set.len(), listed.len(), "each URL is listed once");
        assert_eq!(set, unknown, "{seed}");
        for more in ["", " --outcome unreachable,rules"] {
            let at = format!("--stale-at 2026-09-20{more}");
            let stale = dir.stale(&at);
            let listed = dir.due(&format!("{at} mixed.txt"));
            let set: BTreeSet<String> = listed.iter().cloned().collect();
            assert_eq!(set, &unknown | &stale, "{seed} {at}");
            assert_eq!(listed.len(), unknown.len() + stale.len());
            assert!(unknown.is_disjoint(&stale));
        }
    }
}

#[test]
fn urls_are_in_the_order_of_origins_for_any_number_of_threads() {
    let dir = snapshot_dir();
    let list: String = (0..3).map(mixed_lines).collect();
    dir.write("mixed.txt", list.repeat(20));
    let one = dir.due("-j 1 --stale-at now mixed.txt urls.txt");
    let origins: Vec<&str> = one
        .iter()
        .map(|url| url.strip_suffix("/robots.txt").unwrap())
        .collect();
    assert!(origins.is_sorted(), "{origins:#?}");
    assert_eq!(dir.due("-j 4 --stale-at now urls.txt mixed.txt"), one);
}

#[test]
fn every_format_of_lists_is_read() {
    let dir = snapshot_dir();
    let text = dir.read_text("urls.txt");
    let expected = dir.due("urls.txt");
    assert_eq!(expected.len(), 28);
    dir.write("urls.gz", gz(&text));
    dir.write("urls.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    dir.write("urls.parquet", parquet(&text));
    let objects = text
        .lines()
        .map(|url| json!({ "id": 1, "page": { "url": url } }));
    let objects: String = objects.map(|object| format!("{object}\n")).collect();
    dir.write("urls.jsonl", objects);
    let rows: String = text.lines().map(|url| format!("1\t{url}\n")).collect();
    dir.write("urls.tsv", format!("id\tpage\n{rows}"));
    let record = |kind: &str, url: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n\
             Content-Length: 0\r\n\r\n\r\n\r\n"
        )
    };
    let warcinfo = record("warcinfo", "https://no.example/");
    let records: String = text.lines().map(|url| record("response", url)).collect();
    dir.write("urls.warc", warcinfo + &records);
    let members: Vec<u8> = text
        .lines()
        .flat_map(|url| gz(record("metadata", url)))
        .collect();
    dir.write("urls.warc.gz", members);
    fs::create_dir_all(dir.path("tree/a/b")).unwrap();
    dir.write("tree/a/b/urls.txt", &text);
    for args in [
        "urls.gz",
        "urls.zst",
        "urls.parquet",
        "urls.jsonl --json-key page.url",
        "urls.tsv --field page",
        "urls.warc",
        "urls.warc.gz",
        "tree/a/b",
        "tree/**/*.txt",
        "urls.gz urls.txt urls.zst",
    ] {
        assert_eq!(dir.due(args), expected, "{args}");
    }
    // Lists of several formats, and with different columns.
    let half = |odd: usize| -> String {
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(number, _)| number % 2 == odd);
        lines.map(|(_, url)| format!("{url}\n")).collect()
    };
    let objects = half(0)
        .lines()
        .map(|url| json!({ "url": url }).to_string() + "\n")
        .collect::<String>();
    dir.write("half.jsonl", objects);
    dir.write("half.parquet", parquet(&half(1)));
    assert_eq!(dir.due("half.jsonl half.parquet urls.warc"), expected);
    let rows: String = half(0).lines().map(|url| format!("{url}\t2\n")).collect();
    dir.write("half.tsv", format!("page\tnumber\n{rows}"));
    assert_eq!(dir.due("--field page half.tsv urls.tsv"), expected);
    let stdin = robosieve_with(dir.root(), &["due", "-q", "-s", "s", "-"], text.as_bytes());
    assert_eq!(stdin.text(), expected.join("\n") + "\n");
    // A long value of a Parquet file is judged apart.
    let long = format!("https://of-long-paths.example/{}\n", "x".repeat(40_000));
    dir.write("long.parquet", parquet(&long));
    let found = dir.due("long.parquet");
    assert_eq!(found, ["https://of-long-paths.example/robots.txt"]);
}

#[test]
fn objects_say_why_an_origin_is_due() {
    let dir = snapshot_dir();
    dir.write("list", "https://new.example:443/a\n");
    let out = dir.stdout_of("due -q -s s --stale-at now --as jsonl list");
    let objects: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let object = |origin: &str| {
        let found = objects.iter().find(|object| object["origin"] == origin);
        found.unwrap_or_else(|| panic!("{origin}"))
    };
    let expected = &json!({
        "url": "https://new.example/robots.txt", "origin": "https://new.example",
        "reason": "unknown-origin", "outcome": null, "status": null, "fetched": null,
        "stale_from": null, "failing_since": null, "source": null, "detail": null,
    });
    assert_eq!(object("https://new.example"), expected);
    let expected = &json!({
        "url": "https://mourned.example/robots.txt", "origin": "https://mourned.example",
        "reason": "stale", "outcome": "unreachable", "status": null,
        "fetched": "2026-09-15T07:00:08Z", "stale_from": "2026-09-15T08:00:08Z",
        "failing_since": "2026-08-06T07:00:08Z", "source": null, "detail": "timeout",
    });
    assert_eq!(object("https://mourned.example"), expected);
    // The URL of an origin that redirects is its own.
    let hop = object("https://hop.example");
    assert_eq!(hop["url"], "https://hop.example/robots.txt");
    assert_eq!(hop["source"], "https://wiki.example/robots.txt");
}

/// The first night has no snapshot, and begins from the lists alone.
#[test]
fn without_a_snapshot_every_origin_is_due() {
    let dir = snapshot_dir();
    let lines = mixed_lines(1) + &dir.read_text("urls.txt");
    dir.write("all.txt", &lines);
    let origins = lines.lines().filter_map(|line| Origin::of(line.as_bytes()));
    let expected: BTreeSet<String> = origins
        .filter(|origin| matches!(origin.scheme(), "http" | "https"))
        .map(|origin| origin.robots_url())
        .collect();
    let out = dir.stdout_of("due -q all.txt");
    let listed: Vec<String> = out.lines().map(str::to_owned).collect();
    let by_origin = |url: &String| url.strip_suffix("/robots.txt").unwrap().to_owned();
    assert!(listed.is_sorted_by_key(by_origin), "{listed:?}");
    assert!(listed.len() > 60, "{listed:?}");
    assert_eq!(BTreeSet::from_iter(listed), expected);
    // Among them are those that a snapshot has.
    assert!(expected.contains("https://news.example/robots.txt"));
    let out = dir.stdout_of("due -q --as jsonl all.txt");
    assert_eq!(out.lines().count(), expected.len());
    for line in out.lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["reason"], "unknown-origin", "{line}");
    }
    let ran = dir.run_line("due -o due.txt all.txt");
    let counts = format!("of unknown origins {}  stale 0", expected.len());
    assert!(ran.stderr.contains(&counts), "{}", ran.stderr);
}

#[test]
fn summaries_count_what_is_left_out() {
    let dir = snapshot_dir();
    let ran = dir.run_line("due -s s --stale-at now -o due.jsonl.gz urls.txt");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
    for line in [
        "due 75  of unknown origins 28  stale 47  left out as neither http nor https 3",
        "lines 381  invalid 24  bytes 12,185",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    let mut text = String::new();
    let file = fs::File::open(dir.path("due.jsonl.gz")).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).unwrap();
    assert_eq!(text.lines().count(), 75);
    // Without lists there are no lines to count.
    let ran = dir.run_line("due -s s --stale-at now -o due");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn mistakes_are_explained() {
    let dir = snapshot_dir();
    dir.write("empty", "");
    dir.write("blank", "\n\n");
    dir.write("prose", "no URL\n");
    assert_eq!(dir.due("empty"), [""; 0]);
    assert_eq!(dir.due("blank"), [""; 0]);
    for row in [
        "due -s s | give lists of URLs | --stale-at TIME",
        "due | give lists of URLs | -s SNAP --stale-at TIME",
        "due --stale-at now urls.txt | --snapshot <SNAP> | required",
        "due -s s prose | prose | none of the 1 lines",
        "due -s s missing | missing",
        "due -s urls.txt urls.txt | not a robosieve snapshot",
        "due -s s --outcome rules urls.txt | --stale-at <TIME> | required",
        "due -s s urls.txt --as jsonl -o due.txt | the name says .txt | name it .jsonl",
        "due -s s urls.txt -o due.json | name it .jsonl",
        "due -s s urls.txt -o due.parquet | due.parquet | .txt and .jsonl",
        "due -s s urls.txt -o s | s: cannot be an output | it is a snapshot",
        "due -s s urls.txt -o urls.txt | -o | an input (urls.txt)",
        "due -s s urls.txt -o none/due | none/due",
        "inspect s --stale-at now | robosieve due -s SNAP --stale-at TIME",
    ] {
        let (args, words) = case(row);
        let ran = dir.run_line(args);
        assert_eq!(ran.code, Some(2), "{args}");
        for word in words {
            assert!(ran.stderr.contains(word), "{args}: {word}: {}", ran.stderr);
        }
    }
    // A failed run leaves no output.
    let ran = dir.run_line("due -s s prose -o due");
    assert_eq!(ran.code, Some(2));
    assert!(!dir.path("due").exists());
}
