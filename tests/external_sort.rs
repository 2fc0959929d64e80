//! Compiling under any budget of memory: sorted runs and temporary files, or all in memory. The
//! bytes are the same, for random webs in any order and division, from archives or captures files.

use crate::command::{assert_has, assert_starts, words};
use crate::determinism::robots;
use crate::forging::{METADATA, sections};
use crate::generate::Random;
use crate::test_dir::TestDir;
use proptest::prelude::*;
use robosieve::compile::CapturesFile;
use robosieve::{Compiler, Profile, Snapshot};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A web of few hosts with every kind of answer: redirects to other hosts and other paths, chains
/// and loops, 304, failures, ports, captures without a time and captures of one second.
struct RandomWeb {
    random: Random,
    hosts: u64,
    /// Different times of captures.
    times: u64,
}

impl RandomWeb {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let hosts = [3, 40, 400][random.below(3) as usize];
        let times = [2, 50, 100_000][random.below(3) as usize];
        Self {
            random,
            hosts,
            times,
        }
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.below(of.len() as u64) as usize]
    }

    fn url(&mut self) -> String {
        // One host of five draws is a hub.
        let host = if self.random.below(5) == 0 {
            0
        } else {
            self.random.below(self.hosts)
        };
        let scheme = self.pick(&["http", "https", "https"]);
        let www = self.pick(&["", "", "www."]);
        let port = self.pick(&["", "", "", "", ":8080", ":81"]);
        let path = self.pick(&[
            "/robots.txt",
            "/robots.txt",
            "/robots.txt",
            "/robots.txt",
            "/r",
            "/en/robots.txt?a=1",
        ]);
        format!("{scheme}://{www}h{host}.example{port}{path}")
    }

    fn capture(&mut self) -> String {
        let url = self.url();
        let mut capture = json!({ "url": url });
        if self.random.below(20) > 0 {
            capture["fetched_at"] = json!(1_767_225_600 + self.random.below(self.times));
        }
        match self.random.below(20) {
            0..=7 => capture["body"] = json!(robots(self.random.below(90))),
            8..=12 => {
                capture["status"] =
                    json!(self.pick(&["301", "302", "308"]).parse::<u16>().unwrap());
                let target = match self.random.below(9) {
                    0 => "/robots.txt".to_owned(),
                    1 => "en/robots.txt?a=1".to_owned(),
                    2 => url,
                    3 => "http://".to_owned(),
                    _ => self.url(),
                };
                capture["headers"] = json!({ "Location": target });
            }
            13 => capture["status"] = json!(304),
            14 | 15 => {
                capture["status"] = json!(self.pick(&["404", "403", "410"]).parse::<u16>().unwrap())
            }
            16..=18 => {
                capture["status"] = json!(self.pick(&["500", "503", "429"]).parse::<u16>().unwrap())
            }
            _ => capture["error"] = json!(self.pick(&["dns", "timeout"])),
        }
        if capture.get("error").is_none() && self.random.below(8) == 0 {
            let max_age = format!("max-age={}", self.random.below(1000));
            let headers = capture
                .as_object_mut()
                .unwrap()
                .entry("headers")
                .or_insert_with(|| json!({}));
            headers["Cache-Control"] = Value::String(max_age);
        }
        capture.to_string() + "\n"
    }
}

/// The captures of a web, one per line.
pub(crate) fn web(seed: u64, captures: usize) -> Vec<String> {
    let mut web = RandomWeb::new(seed);
    (0..captures).map(|_| web.capture()).collect()
}

/// How a web is compiled.
#[derive(Debug)]
struct Compilation {
    /// `None` is the default, in which nothing of these webs leaves memory.
    memory: Option<u64>,
    threads: usize,
    /// The number of inputs.
    inputs: usize,
    /// The seed of the order of captures.
    order: u64,
    /// A bit for each input: whether it is a captures file instead of an archive.
    captures_files: u32,
    as_of: Option<i64>,
}

impl Compilation {
    const IN_MEMORY: Self = Self {
        memory: None,
        threads: 1,
        inputs: 1,
        order: 0,
        captures_files: 0,
        as_of: None,
    };

    fn compiler(&self, dir: &Path) -> Compiler {
        let compiler = Compiler::new(Profile::Google).temp_dir(dir);
        if let Some(memory) = self.memory {
            compiler.memory(memory)
        } else {
            compiler
        }
    }

    /// A compiler with these captures.
    fn filled(&self, dir: &Path, lines: &[String]) -> Compiler {
        let mut lines = lines.to_vec();
        Random(self.order).shuffle(&mut lines);
        let mut compiler = self.compiler(dir);
        for (number, part) in lines
            .chunks(lines.len().div_ceil(self.inputs).max(1))
            .enumerate()
        {
            let mut input = part.concat().into_bytes();
            if self.captures_files >> number & 1 == 1 {
                let mut of_part = self.compiler(dir);
                of_part.add_reader("part", &*input).unwrap();
                input = written(of_part);
            }
            compiler.add_reader("web", &*input).unwrap();
        }
        compiler
    }

    fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .unwrap()
            .install(work)
    }

    fn compile(&self, dir: &Path, lines: &[String], previous: Option<&[u8]>) -> Vec<u8> {
        self.run(|| {
            let mut compiler = self.filled(dir, lines).as_of(self.as_of);
            if let Some(previous) = previous {
                compiler = compiler
                    .previous(Snapshot::new(previous.to_vec()).unwrap())
                    .unwrap()
                    .max_failing(1.0);
            }
            compiler.finish().unwrap().to_vec().unwrap()
        })
    }

    /// The captures file of these captures.
    fn captures_file(&self, dir: &Path, lines: &[String]) -> Vec<u8> {
        self.run(|| written(self.filled(dir, lines)))
    }
}

/// The captures file of a compiler.
fn written(compiler: Compiler) -> Vec<u8> {
    let dir = TestDir::new();
    let path = dir.path("web.captures");
    let report = compiler.write_captures(&path).unwrap();
    CapturesFile::open(&path).unwrap().verify().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(report.input.bytes_out, bytes.len() as u64);
    bytes
}

/// An eighth of the memory makes a run. A capture of these webs has some 70 to 130 bytes: runs of
/// one capture, of about three, of about 64, and all of them.
fn budgets() -> impl Strategy<Value = Option<u64>> {
    prop::sample::select(vec![
        Some(0),
        Some(8 * 250),
        Some(8 * 6000),
        Some(1 << 30),
        None,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn snapshots_ignore_memory_division_order_and_threads(
        seed: u64,
        captures in prop::sample::select(vec![0_usize, 1, 2, 30, 400, 1500]),
        memory in budgets(),
        threads in prop::sample::select(vec![1_usize, 2, 4]),
        inputs in 1_usize..4,
        captures_files in 0_u32..8,
    ) {
        let dir = TestDir::new();
        let lines = web(seed, captures);
        let compilation = Compilation { memory, threads, inputs, order: seed ^ 1, captures_files, as_of: None };
        let found = compilation.compile(dir.root(), &lines, None);
        prop_assert!(found == Compilation::IN_MEMORY.compile(dir.root(), &lines, None), "{compilation:?}");
        Snapshot::new(found.clone()).unwrap().verify().unwrap();

        // All history is in captures files: an earlier time needs no archives.
        let as_of = Some(1_767_225_600 + (seed % 100) as i64);
        let earlier = Compilation { as_of, ..compilation };
        let expected = Compilation { as_of, ..Compilation::IN_MEMORY }.compile(dir.root(), &lines, None);
        prop_assert!(earlier.compile(dir.root(), &lines, None) == expected, "{earlier:?}");
        let compilation = Compilation { as_of: None, ..earlier };

        let file = compilation.captures_file(dir.root(), &lines);
        prop_assert!(file == Compilation::IN_MEMORY.captures_file(dir.root(), &lines), "{compilation:?}");

        // The same over the snapshot of other captures of the same hosts.
        let more = web(seed, captures * 2).split_off(captures);
        let again = compilation.compile(dir.root(), &more, Some(&found));
        prop_assert!(again == Compilation::IN_MEMORY.compile(dir.root(), &more, Some(&found)), "{compilation:?}");
        prop_assert_eq!(std::fs::read_dir(dir.root()).unwrap().count(), 0, "temporary files have no names");
    }
}

/// A hub: every site redirects to one URL, which was captured often.
/// Sites with schemes that sort before and after http.
#[test]
fn snapshots_hold_origins_of_all_schemes() {
    let mut compiler = Compiler::default();
    let origins = [
        "ftp://a.example",
        "http://a.example",
        "https://a.example",
        "ws://a.example",
    ];
    for origin in [
        "ws://a.example",
        "https://a.example",
        "ftp://a.example",
        "http://a.example",
    ] {
        compiler
            .add_robots(origin, b"user-agent: *\ndisallow: /x")
            .unwrap();
    }
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    snapshot.verify().unwrap();
    let found: Vec<_> = snapshot
        .origins()
        .map(|entry| entry.unwrap().origin())
        .collect();
    assert_eq!(found, origins);
}

#[test]
fn hubs_do_not_depend_on_memory() {
    let dir = TestDir::new();
    let capture = |i: u64| {
        let url = if i.is_multiple_of(2) {
            "https://hub.example/robots.txt"
        } else {
            &*format!("https://h{i}.example/robots.txt")
        };
        let mut capture = json!({ "url": url, "fetched_at": 1_767_225_600 + i });
        match i % 4 {
            0 => capture["body"] = json!(robots(i % 50)),
            2 => capture["status"] = json!(503),
            _ => {
                capture["status"] = json!(301);
                capture["headers"] = json!({ "Location": "https://hub.example/robots.txt" });
            }
        }
        capture.to_string() + "\n"
    };
    let lines: Vec<String> = (0..4000).map(capture).collect();
    let expected = Compilation::IN_MEMORY.compile(dir.root(), &lines, None);
    for memory in [0, 8 * 6000] {
        let compilation = Compilation {
            memory: Some(memory),
            threads: 2,
            inputs: 3,
            order: 5,
            ..Compilation::IN_MEMORY
        };
        assert!(
            compilation.compile(dir.root(), &lines, None) == expected,
            "{memory} bytes"
        );
    }
    let metadata = String::from_utf8(sections(&expected)[METADATA].clone()).unwrap();
    assert!(metadata.contains("\"redirected\":2000"), "{metadata}");
}

#[test]
fn unusable_directories_are_errors() {
    let dir = TestDir::new();
    let missing = dir.path("missing");
    let mut compiler = Compiler::default().memory(0).temp_dir(&missing);
    let lines = web(1, 100).concat();
    let added = compiler.add_reader("web", lines.as_bytes());
    let err = added
        .and_then(|()| compiler.finish().map(drop))
        .unwrap_err()
        .to_string();
    assert_starts(&err, &missing.display().to_string());
    assert_has(&err, "temporary data (");
}

/// A killed process cannot clean up, so temporary files have no names; an output is whole or
/// absent.
#[test]
fn killed_runs_leave_no_temporary_files() {
    let dir = TestDir::new();
    let temporary = dir.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    dir.write("web.jsonl", web(7, 20_000).concat());
    let mut finished = 0;
    for moment in 0..40 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_robosieve"));
        let args = words("compile -q --memory 64K --temp-dir temporary -o web.rsieve web.jsonl");
        let mut child = command.args(args).current_dir(dir.root()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(moment * moment / 4));
        child.kill().unwrap();
        let is_finished = child.wait().unwrap().success();
        finished += u32::from(is_finished);
        let found = std::fs::read_dir(&temporary).unwrap().count();
        assert_eq!(found, 0, "after {moment}² / 4 ms");
        let names = std::fs::read_dir(dir.root())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let hidden: Vec<_> = names
            .filter(|name| name.to_string_lossy().starts_with('.'))
            .collect();
        assert!(
            !cfg!(target_os = "linux") || hidden.is_empty(),
            "after {moment}² / 4 ms: {hidden:?}"
        );
        let output = dir.path("web.rsieve");
        if output.exists() {
            Snapshot::new(std::fs::read(&output).unwrap())
                .unwrap()
                .verify()
                .unwrap();
            std::fs::remove_file(&output).unwrap();
        } else {
            assert!(!is_finished);
        }
    }
    assert!(finished < 40, "no run was killed");
}
