//! The same inputs in any order, however divided and with any number of threads, give the same bytes.

use crate::command::robosieve;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;

const ORIGINS: u64 = 900;
const CAPTURES: u64 = 4000;

/// A linear congruential generator (Knuth's MMIX constants), so that every run makes the same data.
pub(crate) struct Lcg(pub u64);

impl Lcg {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

fn host(number: u64) -> String {
    let (scheme, port) = if number.is_multiple_of(7) { ("http", ":8080") } else { ("https", "") };
    format!("{scheme}://h{number}.example{port}")
}

/// A robots.txt; small numbers make the bodies that many sites share.
pub(crate) fn robots(number: u64) -> String {
    let mut random = Lcg(number);
    let mut text = String::new();
    for group in 0..random.below(4) {
        let agent = ["*", "FooBot", "BarBot", "MJ12bot", "Kangaroo Bot"][random.below(5) as usize];
        text += &format!("User-agent: {agent}\n");
        for _ in 0..random.below(6) {
            let verb = ["Disallow", "Allow"][random.below(2) as usize];
            let path = ["", "/*", "/p", "/p/*.html$", "/%C3%BC", "/a*b*c"][random.below(6) as usize];
            text += &format!("{verb}: {path}{}\n", ["", "/x", "1", "$"][random.below(4) as usize]);
        }
        text += &format!("crawl-delay: {group}\nSitemap: /map{}.xml\n\n", random.below(3));
    }
    text
}

/// One capture: of an origin's robots.txt or, for redirects to find, of another page; times are often equal.
fn capture(random: &mut Lcg) -> serde_json::Value {
    let path = if random.below(9) == 0 { "/moved.txt" } else { "/robots.txt" };
    let mut object = json!({"url": host(random.below(ORIGINS)) + path});
    if random.below(10) > 0 {
        object["fetched_at"] = json!(format!("2024-0{}-01T00:00:00Z", 1 + random.below(3)));
    }
    match random.below(10) {
        0 => object["error"] = json!(["timeout", "refused", "no such host"][random.below(3) as usize]),
        1 => object["status"] = json!([404, 403, 410, 429, 500, 503][random.below(6) as usize]),
        2 | 3 => {
            let target = ["/robots.txt", "/moved.txt"][random.below(2) as usize];
            object["status"] = json!(301 + random.below(2));
            object["headers"] = json!({"Location": host(random.below(ORIGINS)) + target});
        }
        4 | 5 => {
            object["body"] = json!(robots(1000 + random.below(100_000)));
            object["headers"] = json!({"Cache-Control": format!("max-age={}", random.below(3) * 60)});
            if random.below(4) == 0 {
                object["truncated"] = json!("length");
            }
        }
        _ => object["body"] = json!(robots(random.below(40))),
    }
    object
}

/// Lines of JSON: many captures of few origins, in no order.
pub(crate) fn archive() -> Vec<String> {
    let mut random = Lcg(1);
    (0..CAPTURES).map(|_| capture(&mut random).to_string() + "\n").collect()
}

/// A folder in which archives are compiled and compared.
struct Compared {
    dir: TempDir,
    first: Option<Vec<u8>>,
}

impl Compared {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), first: None }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.dir.path().join(name), bytes).unwrap();
    }

    /// Compiles the inputs; the snapshot must be the one that the first call gave.
    fn compile(&mut self, threads: &str, inputs: &[&str]) {
        let args = [&["compile", "-q", "-j", threads, "-o", "out.rsieve"][..], inputs].concat();
        run(self.dir.path(), &args);
        let snapshot = fs::read(self.dir.path().join("out.rsieve")).unwrap();
        let first = self.first.get_or_insert_with(|| snapshot.clone());
        assert!(*first == snapshot, "{args:?} gave other bytes than the first compilation");
    }
}

/// Runs what must succeed; gives its standard output.
fn run(dir: &Path, args: &[&str]) -> Vec<u8> {
    let ran = robosieve(dir, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran.stdout
}

#[test]
fn threads_do_not_matter_to_a_snapshot() {
    let mut compared = Compared::new();
    compared.write("all.jsonl", archive().concat());
    for threads in ["1", "2", "7", "2", "7"] {
        compared.compile(threads, &["all.jsonl"]);
    }
}

#[test]
fn the_order_of_captures_does_not_matter_to_a_snapshot() {
    let mut compared = Compared::new();
    let mut lines = archive();
    compared.write("all.jsonl", lines.concat());
    compared.compile("1", &["all.jsonl"]);
    for seed in 2..6 {
        Lcg(seed).shuffle(&mut lines);
        compared.write("all.jsonl", lines.concat());
        compared.compile(["1", "2", "7"][seed as usize % 3], &["all.jsonl"]);
    }
}

#[test]
fn division_order_and_compression_of_the_inputs_do_not_matter_to_a_snapshot() {
    let mut compared = Compared::new();
    let lines = archive();
    compared.write("all.jsonl", lines.concat());
    compared.compile("2", &["all.jsonl"]);
    let mut names = Vec::new();
    for (i, part) in lines.chunks(lines.len() / 7 + 1).enumerate() {
        let name = format!("part{i}");
        let text = part.concat().into_bytes();
        compared.write(&name, if i % 2 == 0 { zstd::encode_all(text.as_slice(), 1).unwrap() } else { text });
        names.push(name);
    }
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (seed, threads) in [(7, "1"), (8, "2"), (9, "7")] {
        compared.compile(threads, &names);
        Lcg(seed).shuffle(&mut names);
    }
    // What is said twice is said once.
    compared.compile("2", &[&names[..], &["all.jsonl", "all.jsonl"]].concat());
}

#[test]
fn the_profile_does_matter_to_a_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("all.jsonl"), archive().concat()).unwrap();
    let compile = |profile| {
        run(dir.path(), &["compile", "-q", "--profile", profile, "all.jsonl", "-o", profile]);
        fs::read(dir.path().join(profile)).unwrap()
    };
    assert!(compile("google") != compile("rfc9309"), "the comparisons of this file would not see a difference");
}

/// Some megabytes of URLs on known and unknown origins, in runs and mixed, with lines that are none.
fn list() -> String {
    let mut random = Lcg(3);
    let mut text = String::new();
    let mut origin = host(0);
    for _ in 0..100_000 {
        if random.below(3) == 0 {
            origin = host(random.below(ORIGINS + 100));
        }
        let path =
            ["/", "/p", "/p/1.html", "/p/x1", "/ü/x", "/%c3%bc1", "/axbxc", "/p/x?q=1"][random.below(8) as usize];
        match random.below(50) {
            0 => text += "not a URL\n",
            1 => text += "\r\n",
            n => text += &format!("{origin}{path}{n}\n"),
        }
    }
    text
}

#[test]
fn threads_do_not_matter_to_verdicts() {
    const OUTPUTS: [&str; 4] = ["kept", "disallowed", "unknown", "invalid"];
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("all.jsonl"), archive().concat()).unwrap();
    fs::write(dir.path().join("list.txt"), list()).unwrap();
    run(dir.path(), &["compile", "-q", "all.jsonl", "-o", "web.rsieve"]);
    let with_threads = |threads| {
        let judge = ["-q", "-j", threads, "-s", "web.rsieve", "-a", "FooBot,BarBot:FooBot,MJ12bot,Other", "list.txt"];
        let to = ["-o", "kept", "--disallowed-to", "disallowed", "--unknown-to", "unknown", "--invalid-to", "invalid"];
        run(dir.path(), &[&["filter"][..], &judge, &to].concat());
        let mut outputs = OUTPUTS.map(|name| fs::read(dir.path().join(name)).unwrap()).to_vec();
        outputs.push(run(dir.path(), &[&["annotate"][..], &judge].concat()));
        outputs
    };
    let one = with_threads("1");
    assert!(one.iter().all(|output| output.len() > 10_000), "each output has its share");
    assert!(one == with_threads("2") && one == with_threads("7"));
}

/// The list divided at line ends into files of every compression; their names.
fn divided_list(dir: &Path) -> Vec<&'static str> {
    let gzip = |part: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(part).unwrap();
        out.finish().unwrap()
    };
    let text = list();
    let lines: Vec<&[u8]> = text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
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
    files.iter().for_each(|(name, bytes)| fs::write(dir.join(name), bytes).unwrap());
    files.map(|(name, _)| name).to_vec()
}

#[test]
fn division_and_compression_of_the_lists_do_not_matter_to_verdicts() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("all.jsonl"), archive().concat()).unwrap();
    fs::write(dir.path().join("list.txt"), list()).unwrap();
    run(dir.path(), &["compile", "-q", "all.jsonl", "-o", "web.rsieve"]);
    let annotate = |threads, lists: &[&str]| {
        let args = ["annotate", "-q", "-s", "web.rsieve", "-a", "FooBot,BarBot:FooBot", "-j", threads];
        run(dir.path(), &[&args, lists].concat())
    };
    let whole = annotate("1", &["list.txt"]);
    let parts = divided_list(dir.path());
    for threads in ["1", "2", "3", "16"] {
        assert!(annotate(threads, &parts) == whole, "{threads} threads");
    }
}

#[test]
fn of_two_damaged_lists_the_first_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("all.jsonl"), archive()[..100].concat()).unwrap();
    run(dir.path(), &["compile", "-q", "all.jsonl", "-o", "web.rsieve"]);
    let parts = divided_list(dir.path());
    for name in ["4.gz", "7.gz"] {
        let bytes = fs::read(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name), &bytes[..bytes.len() - 5]).unwrap();
    }
    for threads in ["1", "2", "16"] {
        let args = ["annotate", "-q", "-s", "web.rsieve", "-a", "FooBot", "-o", "out", "-j", threads];
        let ran = robosieve(dir.path(), &[&args[..], &parts].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains("4.gz") && !ran.stderr.contains("7.gz"), "{}", ran.stderr);
        assert!(!dir.path().join("out").exists());
    }
}
