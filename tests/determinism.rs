//! The same inputs give the same bytes, in any order, in any division, with any number of threads.

use crate::command::{VERBS, checkout, robosieve, words};
use crate::generate::Random;
use crate::parquet::table;
use crate::test_dir::{TestDir, gz};
use ::parquet::file::properties::WriterProperties;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

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
    dir: TestDir,
    first: Option<Vec<u8>>,
}

impl Compared {
    fn new() -> Self {
        Self {
            dir: TestDir::new(),
            first: None,
        }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.dir.path(name), bytes).unwrap();
    }

    /// Compiles the inputs, and asserts that the snapshot equals that of the first call.
    fn compile(&mut self, threads: &str, inputs: &[&str]) {
        let args = [
            &["compile", "-q", "-j", threads, "-o", "out.rsieve"][..],
            inputs,
        ]
        .concat();
        run(self.dir.root(), &args);
        let snapshot = fs::read(self.dir.path("out.rsieve")).unwrap();
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
    let dir = TestDir::new();
    dir.write("all.jsonl", archive().concat());
    let compile = |profile| {
        run(
            dir.root(),
            &words(&format!(
                "compile -q --profile {profile} all.jsonl -o {profile}"
            )),
        );
        dir.read(profile)
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

/// Runs of every verb that has `-j`, with each form of output. Outputs begin with `out`.
const RUNS: &[&str] = &[
    "filter -s web.rsieve -a AGENTS list.txt -o out0 --disallowed-to out1 --unknown-to out2 \
     --invalid-to out3",
    "filter -s web.rsieve -a AGENTS pages.parquet -o out0.parquet --disallowed-to out1.parquet \
     --unknown-to out2.parquet --invalid-to out3.parquet",
    "filter -s web.rsieve -a AGENTS list.txt -o out0 --disallowed-to out1 \
     --disallowed-add reason,rule",
    "filter -s web.rsieve -a AGENTS pages.parquet -o out0.parquet --disallowed-to out1.parquet \
     --disallowed-add origin,reason,line",
    "filter -s web.rsieve -a AGENTS robots.warc -o out0.warc --cdxj out1 --unknown-to out2.warc.gz",
    "annotate -s web.rsieve -a AGENTS list.txt",
    "annotate -s web.rsieve -a AGENTS list.txt -o out0.gz",
    "annotate -s web.rsieve -a AGENTS list.txt -o out0.zst",
    "annotate -s web.rsieve -a AGENTS --as jsonl --preferences --add origin,reason,crawl_delay \
     list.txt -o out0",
    "annotate -s web.rsieve -a AGENTS pages.parquet -o out0.parquet",
    "annotate -s web.rsieve -a AGENTS --add origin,reason,crawl_delay pages.parquet -o out0.parquet",
    "check -s web.rsieve -a AGENTS --explain --json --unknown allow https://h1.example/p/x",
    "inspect web.rsieve --json",
    "inspect web.rsieve --verify --json",
    "inspect web.captures --verify --json",
    "export -s web.rsieve -a AGENTS -o out0.tsv",
    "export -s web.rsieve -a AGENTS --long -o out0.csv",
    "export -s web.rsieve -a AGENTS --rules -o out0.jsonl",
    "export -s web.rsieve --sitemaps -o out0.parquet",
    "export -s web.rsieve -a AGENTS --stale-at 2027-01-01 -o out0.parquet",
    "export -s years.rsieve -a AGENTS --history -o out0.jsonl",
    "export -s years.rsieve -a AGENTS --history -o out0.parquet",
    "export -s years.rsieve -a AGENTS --disallowed-since -o out0.csv",
    "diff old.rsieve web.rsieve --json",
    "diff old.rsieve web.rsieve -a AGENTS --svg out0",
    "due -s old.rsieve --stale-at 2027-01-01 list.txt -o out0",
    "due -s old.rsieve --as jsonl pages.parquet",
    "agents web.rsieve --json",
    "lint web.rsieve --json",
    "lint sites --json",
    "lint sites --sarif",
    "lint sites --diff",
    "report -s web.rsieve -a AGENTS --html out0 --json-to out1 --csv-to out2",
    "report -s web.rsieve -a AGENTS --by host --group-by tld list.txt --html out0 --json-to out1 \
     --csv-to out2",
    "report -s web.rsieve -a AGENTS pages.parquet --json-to out0",
    "report -a AGENTS --series old=old.rsieve new=web.rsieve --html out0 --json-to out1 \
     --csv-to out2",
    "audit -s web.rsieve --host https://a.example access.log --as json -o out0 --html out1 \
     --lines out2",
    "audit -s web.rsieve --host https://a.example access.log --as csv",
    "audit -s web.rsieve --host https://a.example access.log --as annotate",
    "compile -o out0 --stats-json out1 all.jsonl robots.warc",
    "compile --memory 0 -o out0 all.jsonl robots.warc",
    "compile --previous old.rsieve -o out0 --stats-json out1 all.jsonl",
    "compile -o out0 web.captures half.jsonl",
    "captures -o out0.captures --stats-json out1 all.jsonl robots.warc",
    "captures --memory 0 -o out0.captures web.captures half.jsonl",
    "lists -o out0 --stats-json out1 a=domains.txt --allow b=domains.txt",
];

/// The inputs of [`RUNS`].
fn inputs_of_runs() -> TestDir {
    let dir = TestDir::new();
    let write = |name: &str, bytes: &[u8]| dir.write(name, bytes);
    let mut lines = archive();
    lines.push(
        json!({
            "url": "https://a.example/robots.txt",
            "body": "user-agent: *\ndisallow: /x2\nuser-agent: gptbot\ndisallow: /private",
        })
        .to_string()
            + "\n",
    );
    write("all.jsonl", lines.concat().as_bytes());
    write("half.jsonl", lines[..lines.len() / 2].concat().as_bytes());
    write("list.txt", list().as_bytes());
    let domains: String = (0..40_000)
        .map(|number| format!("h{}.{}.example\n", number * 7919 % 30_011, number % 97))
        .collect();
    write("domains.txt", domains.as_bytes());
    let groups = [3000, 1, 2000, 700, 900, 4000];
    write(
        "pages.parquet",
        &table(WriterProperties::builder(), &groups),
    );
    let warc = fs::read(checkout().join("datasets/small/robots.warc")).unwrap();
    write("robots.warc", &warc);
    let requests: String = (0..40_000)
        .map(|number| {
            let path = ["/", "/x2", "/private/x", "/robots.txt"][number % 4];
            let agent = ["GPTBot/1.2", "CCBot/2.0", "Mozilla/5.0"][number % 3];
            let day = 1 + number / 2000;
            format!(
                "192.0.2.{} - - [{day:02}/Mar/2026:00:00:00 +0000] \"GET {path}?{number} HTTP/1.1\" \
                 200 512 \"-\" \"{agent}\"\n",
                number % 250
            )
        })
        .collect();
    write("access.log", requests.as_bytes());
    fs::create_dir(dir.path("sites")).unwrap();
    for site in 0..600 {
        write(&format!("sites/h{site}.example"), robots(site).as_bytes());
    }
    for args in [
        "compile -q all.jsonl robots.warc -o web.rsieve",
        "compile -q --history all.jsonl -o years.rsieve",
        "compile -q half.jsonl -o old.rsieve",
        "captures -q all.jsonl -o web.captures",
    ] {
        run(dir.root(), &args.split(' ').collect::<Vec<_>>());
    }
    dir
}

/// What a run prints and writes. Reports have a date, and this one is always the same.
fn outputs_of(dir: &Path, args: &str, threads: &str) -> Vec<Vec<u8>> {
    let args = args.replace("AGENTS", "FooBot,BarBot:FooBot,MJ12bot,Other");
    let args = args.split_whitespace().collect::<Vec<_>>();
    let ran = Command::new(env!("CARGO_BIN_EXE_robosieve"))
        .args(["-q", "-j", threads])
        .args(&args)
        .current_dir(dir)
        .env("SOURCE_DATE_EPOCH", "1800000000")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // Status 1 is an answer of `check`, `lint` and `diff`.
    assert!(
        ran.status.code() < Some(2) && ran.stderr.is_empty(),
        "{args:?}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let names = args.iter().filter(|name| name.starts_with("out"));
    let mut outputs = vec![ran.stdout];
    for name in names {
        outputs.push(without_arguments(fs::read(dir.join(name)).unwrap()));
        fs::remove_file(dir.join(name)).unwrap();
    }
    outputs
}

/// The counts of a run without its arguments, which name the threads; other outputs as they are.
fn without_arguments(output: Vec<u8>) -> Vec<u8> {
    if let Ok(Value::Object(mut counts)) = serde_json::from_slice(&output)
        && counts.remove("arguments").is_some()
    {
        return serde_json::to_vec(&counts).unwrap();
    }
    output
}

#[test]
fn outputs_ignore_thread_count() {
    let dir = inputs_of_runs();
    for args in RUNS {
        let one = outputs_of(dir.root(), args, "1");
        let (stdout, files) = one.split_first().unwrap();
        let expected = args.contains(" -o out") || args.contains("-to out");
        assert_eq!(stdout.is_empty(), expected, "{args}");
        assert!(
            files.iter().all(|file| file.len() > 10),
            "{args}: an output is empty"
        );
        for threads in ["2", "3", "8", "64"] {
            let more = outputs_of(dir.root(), args, threads);
            for (number, (wanted, found)) in one.iter().zip(&more).enumerate() {
                assert!(
                    wanted == found,
                    "{args} -j {threads}: output {number} differs"
                );
            }
        }
    }
}

#[test]
fn every_verb_with_threads_has_a_run() {
    // These have no output that threads compute: `bench` prints times.
    const OTHERS: [&str; 3] = ["bench", "completions", "man"];
    for verb in VERBS {
        let has_run = RUNS
            .iter()
            .any(|args| args.split(' ').next() == Some(*verb));
        assert_eq!(has_run, !OTHERS.contains(verb), "{verb}");
    }
}

/// Divides the list at line ends into files of every compression. Returns their names.
fn divided_list(dir: &Path) -> Vec<&'static str> {
    let text = list();
    let lines: Vec<&[u8]> = text
        .as_bytes()
        .split_inclusive(|byte| *byte == b'\n')
        .collect();
    let mut parts = lines.chunks(lines.len() / 6 + 1).map(<[_]>::concat);
    let mut next = || parts.next().unwrap();
    let members = |text: Vec<u8>| text.chunks(9_001).flat_map(gz).collect();
    let files = [
        ("0.gz", gz(next())),
        ("1.gz", members(next())),
        ("2.zst", zstd::encode_all(&*next(), 1).unwrap()),
        ("3.gz", gz(b"")),
        ("4.gz", gz(next())),
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
    let dir = TestDir::new();
    dir.write("all.jsonl", archive().concat());
    dir.write("list.txt", list());
    run(
        dir.root(),
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
        run(dir.root(), &[&args, lists].concat())
    };
    let whole = annotate("1", &["list.txt"]);
    let parts = divided_list(dir.root());
    for threads in ["1", "2", "3", "16"] {
        assert!(annotate(threads, &parts) == whole, "{threads} threads");
    }
}

#[test]
fn first_damaged_list_is_named() {
    let dir = TestDir::new();
    dir.write("all.jsonl", archive()[..100].concat());
    run(
        dir.root(),
        &["compile", "-q", "all.jsonl", "-o", "web.rsieve"],
    );
    let parts = divided_list(dir.root());
    for name in ["4.gz", "7.gz"] {
        let bytes = dir.read(name);
        dir.write(name, &bytes[..bytes.len() - 5]);
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
        let ran = dir.run(&[&args[..], &parts].concat());
        ran.refused("4.gz");
        assert!(!ran.stderr.contains("7.gz"), "{ran:?}");
        assert!(!dir.path("out").exists());
    }
}
