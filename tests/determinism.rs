//! The same inputs give the same bytes, in any order, in any division, with any number of threads.

use crate::command::robosieve;
use crate::generate::Random;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;

const ORIGINS: u64 = 900;
const CAPTURES: u64 = 4000;

fn host(number: u64) -> String {
    let (scheme, port) = if number.is_multiple_of(7) {
        ("http", ":8080")
    } else {
        ("https", "")
    };
    format!("{scheme}://h{number}.example{port}")
}

/// A robots.txt of this number. Many sites share the bodies of small numbers.
pub(crate) fn robots(number: u64) -> String {
    let mut random = Random(number);
    let mut text = String::new();
    for group in 0..random.below(4) {
        let agent = random.pick(&["*", "FooBot", "BarBot", "MJ12bot", "Kangaroo Bot"]);
        text += &format!("User-agent: {agent}\n");
        for _ in 0..random.below(6) {
            let verb = random.pick(&["Disallow", "Allow"]);
            let path = random.pick(&["", "/*", "/p", "/p/*.html$", "/%C3%BC", "/a*b*c"]);
            text += &format!("{verb}: {path}{}\n", random.pick(&["", "/x", "1", "$"]));
        }
        text += &format!(
            "crawl-delay: {group}\nSitemap: /map{}.xml\n\n",
            random.below(3)
        );
    }
    text
}

/// One capture, of a robots.txt or of another page as a target of redirects. Times are often equal.
fn capture(random: &mut Random) -> serde_json::Value {
    let path = if random.below(9) == 0 {
        "/moved.txt"
    } else {
        "/robots.txt"
    };
    let mut object = json!({"url": host(random.below(ORIGINS)) + path});
    if random.below(10) > 0 {
        object["fetched_at"] = json!(format!("2024-0{}-01T00:00:00Z", 1 + random.below(3)));
    }
    match random.below(10) {
        0 => object["error"] = json!(random.pick(&["timeout", "refused", "no such host"])),
        1 => object["status"] = json!(random.pick(&[404, 403, 410, 429, 500, 503])),
        2 | 3 => {
            let target = random.pick(&["/robots.txt", "/moved.txt"]);
            object["status"] = json!(301 + random.below(2));
            object["headers"] = json!({"Location": host(random.below(ORIGINS)) + target});
        }
        4 | 5 => {
            object["body"] = json!(robots(1000 + random.below(100_000)));
            object["headers"] =
                json!({"Cache-Control": format!("max-age={}", random.below(3) * 60)});
            if random.below(4) == 0 {
                object["truncated"] = json!("length");
            }
        }
        _ => object["body"] = json!(robots(random.below(40))),
    }
    object
}

/// JSON lines: many captures of few origins, unordered.
pub(crate) fn archive() -> Vec<String> {
    let mut random = Random(1);
    (0..CAPTURES)
        .map(|_| capture(&mut random).to_string() + "\n")
        .collect()
}

/// A directory in which archives are compiled and compared.
struct Compared {
    dir: TempDir,
    first: Option<Vec<u8>>,
}

impl Compared {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            first: None,
        }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.dir.path().join(name), bytes).unwrap();
    }

    /// Compiles the inputs, and asserts that the snapshot equals that of the first call.
    fn compile(&mut self, threads: &str, inputs: &[&str]) {
        let args = [
            &["compile", "-q", "-j", threads, "-o", "out.rsieve"][..],
            inputs,
        ]
        .concat();
        run(self.dir.path(), &args);
        let snapshot = fs::read(self.dir.path().join("out.rsieve")).unwrap();
        let first = self.first.get_or_insert_with(|| snapshot.clone());
        assert!(
            *first == snapshot,
            "{args:?}: the bytes differ from the first compilation"
        );
    }
}

/// Runs a command, asserts success, and returns its standard output.
fn run(dir: &Path, args: &[&str]) -> Vec<u8> {
    let ran = robosieve(dir, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran.stdout
}

#[test]
fn snapshots_ignore_thread_count() {
    let mut compared = Compared::new();
    compared.write("all.jsonl", archive().concat());
    for threads in ["1", "2", "7", "2", "7"] {
        compared.compile(threads, &["all.jsonl"]);
    }
}

#[test]
fn snapshots_ignore_capture_order() {
    let mut compared = Compared::new();
    let mut lines = archive();
    compared.write("all.jsonl", lines.concat());
    compared.compile("1", &["all.jsonl"]);
    for seed in 2..6 {
        Random(seed).shuffle(&mut lines);
        compared.write("all.jsonl", lines.concat());
        compared.compile(["1", "2", "7"][seed as usize % 3], &["all.jsonl"]);
    }
}

#[test]
fn snapshots_ignore_input_division() {
    let mut compared = Compared::new();
    let lines = archive();
    compared.write("all.jsonl", lines.concat());
    compared.compile("2", &["all.jsonl"]);
    let mut names = Vec::new();
    for (i, part) in lines.chunks(lines.len() / 7 + 1).enumerate() {
        let name = format!("part{i}");
        let text = part.concat().into_bytes();
        compared.write(
            &name,
            if i % 2 == 0 {
                zstd::encode_all(text.as_slice(), 1).unwrap()
            } else {
                text
            },
        );
        names.push(name);
    }
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (seed, threads) in [(7, "1"), (8, "2"), (9, "7")] {
        compared.compile(threads, &names);
        Random(seed).shuffle(&mut names);
    }
    // Repeated captures change nothing.
    compared.compile("2", &[&names[..], &["all.jsonl", "all.jsonl"]].concat());
}

#[test]
fn snapshots_depend_on_the_profile() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("all.jsonl"), archive().concat()).unwrap();
    let compile = |profile| {
        run(
            dir.path(),
            &[
                "compile",
                "-q",
                "--profile",
                profile,
                "all.jsonl",
                "-o",
                profile,
            ],
        );
        fs::read(dir.path().join(profile)).unwrap()
    };
    assert!(
        compile("google") != compile("rfc9309"),
        "the comparison detects no difference"
    );
}

/// Some megabytes of URLs on known and unknown origins, in runs and mixed, and invalid lines.
fn list() -> String {
    let mut random = Random(3);
    let mut text = String::new();
    let mut origin = host(0);
    for _ in 0..100_000 {
        if random.below(3) == 0 {
            origin = host(random.below(ORIGINS + 100));
        }
        let path = random.pick(&[
            "/",
            "/p",
            "/p/1.html",
            "/p/x1",
            "/ü/x",
            "/%c3%bc1",
            "/axbxc",
            "/p/x?q=1",
        ]);
        match random.below(50) {
            0 => text += "not a URL\n",
            1 => text += "\r\n",
            n => text += &format!("{origin}{path}{n}\n"),
        }
    }
    text
}

#[test]
fn verdicts_ignore_thread_count() {
    const OUTPUTS: [&str; 4] = ["kept", "disallowed", "unknown", "invalid"];
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("all.jsonl"), archive().concat()).unwrap();
    fs::write(dir.path().join("list.txt"), list()).unwrap();
    run(
        dir.path(),
        &["compile", "-q", "all.jsonl", "-o", "web.rsieve"],
    );
    let with_threads = |threads| {
        let judge = [
            "-q",
            "-j",
            threads,
            "-s",
            "web.rsieve",
            "-a",
            "FooBot,BarBot:FooBot,MJ12bot,Other",
            "list.txt",
        ];
        let to = [
            "-o",
            "kept",
            "--disallowed-to",
            "disallowed",
            "--unknown-to",
            "unknown",
            "--invalid-to",
            "invalid",
        ];
        run(dir.path(), &[&["filter"][..], &judge, &to].concat());
        let mut outputs = OUTPUTS
            .map(|name| fs::read(dir.path().join(name)).unwrap())
            .to_vec();
        outputs.push(run(dir.path(), &[&["annotate"][..], &judge].concat()));
        outputs
    };
    let one = with_threads("1");
    assert!(
        one.iter().all(|output| output.len() > 10_000),
        "every output has lines"
    );
    assert!(one == with_threads("2") && one == with_threads("7"));
}

/// Divides the list at line ends into files of every compression. Returns their names.
fn divided_list(dir: &Path) -> Vec<&'static str> {
    let gzip = |part: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(part).unwrap();
        out.finish().unwrap()
    };
    let text = list();
    let lines: Vec<&[u8]> = text
        .as_bytes()
        .split_inclusive(|byte| *byte == b'\n')
        .collect();
    let mut parts = lines.chunks(lines.len() / 6 + 1).map(<[_]>::concat);
    let mut next = || parts.next().unwrap();
    let members = |text: Vec<u8>| text.chunks(9_001).flat_map(gzip).collect();
    let files = [
        ("0.gz", gzip(&next())),
        ("1.gz", members(next())),
        ("2.zst", zstd::encode_all(&*next(), 1).unwrap()),
        ("3.gz", gzip(b"")),
        ("4.gz", gzip(&next())),
        ("5.txt", next()),
        ("6.txt", Vec::new()),
        ("7.gz", members(next())),
    ];
    files
        .iter()
        .for_each(|(name, bytes)| fs::write(dir.join(name), bytes).unwrap());
    files.map(|(name, _)| name).to_vec()
}

#[test]
fn verdicts_ignore_list_division() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("all.jsonl"), archive().concat()).unwrap();
    fs::write(dir.path().join("list.txt"), list()).unwrap();
    run(
        dir.path(),
        &["compile", "-q", "all.jsonl", "-o", "web.rsieve"],
    );
    let annotate = |threads, lists: &[&str]| {
        let args = [
            "annotate",
            "-q",
            "-s",
            "web.rsieve",
            "-a",
            "FooBot,BarBot:FooBot",
            "-j",
            threads,
        ];
        run(dir.path(), &[&args, lists].concat())
    };
    let whole = annotate("1", &["list.txt"]);
    let parts = divided_list(dir.path());
    for threads in ["1", "2", "3", "16"] {
        assert!(annotate(threads, &parts) == whole, "{threads} threads");
    }
}

#[test]
fn first_damaged_list_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("all.jsonl"), archive()[..100].concat()).unwrap();
    run(
        dir.path(),
        &["compile", "-q", "all.jsonl", "-o", "web.rsieve"],
    );
    let parts = divided_list(dir.path());
    for name in ["4.gz", "7.gz"] {
        let bytes = fs::read(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name), &bytes[..bytes.len() - 5]).unwrap();
    }
    for threads in ["1", "2", "16"] {
        let args = [
            "annotate",
            "-q",
            "-s",
            "web.rsieve",
            "-a",
            "FooBot",
            "-o",
            "out",
            "-j",
            threads,
        ];
        let ran = robosieve(dir.path(), &[&args[..], &parts].concat());
        assert!(
            ran.code == Some(2) && ran.stderr.contains("4.gz") && !ran.stderr.contains("7.gz"),
            "{}",
            ran.stderr
        );
        assert!(!dir.path().join("out").exists());
    }
}
