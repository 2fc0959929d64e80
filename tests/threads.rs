//! One judge that many threads share, and more threads than the machine allows.

use crate::command::{Ran, checkout, robosieve, words};
use crate::determinism::robots;
#[cfg(target_os = "linux")]
use crate::signals::begun;
use crate::streams::snapshot_dir;
use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Barrier;

/// The answers about a URL: a letter per agent, and the explanation for the first.
fn answers(judge: &Judge, url: &str) -> (String, String) {
    judge.verify_url(url.as_bytes()).unwrap();
    let verdicts = judge.judge(url.as_bytes()).unwrap();
    let letters = verdicts.iter().map(Verdict::letter).collect();
    let explanation = judge.explain(url.as_bytes(), 0).unwrap();
    (letters, format!("{explanation:?}"))
}

/// Threads verify blocks of one snapshot, read texts and promote rule sets at the same time. Each
/// begins with another URL, and all get the answers that a single thread gets.
#[test]
fn threads_share_a_judge() {
    const THREADS: usize = 64;
    const SITES: u64 = 400;
    let mut compiler = Compiler::default();
    for site in 0..SITES {
        let origin = format!("https://h{site}.example");
        compiler
            .add_robots(&origin, robots(site).as_bytes())
            .unwrap();
    }
    // A rule set that is promoted, because thousands of paths reach it.
    let busy: String = (0..60)
        .map(|rule| format!("disallow: /busy/{rule}/*.html$\n"))
        .collect();
    let busy = format!("user-agent: *\n{busy}");
    compiler
        .add_robots("https://busy.example", busy.as_bytes())
        .unwrap();
    let bytes = compiler.finish().unwrap().to_vec().unwrap();
    // Each judge has a snapshot of its own, none of whose blocks is verified yet.
    let judge = || {
        let agents = ["FooBot", "BarBot:FooBot", "MJ12bot", "*"].map(|name| name.parse().unwrap());
        let snapshot = Snapshot::new(bytes.clone()).unwrap();
        Judge::new(snapshot, &agents, JudgeOptions::default()).unwrap()
    };
    let urls: Vec<String> = (0..3 * SITES)
        .map(|number| match number % 3 {
            0 => format!("https://h{}.example/p/{number}.html", number / 3),
            1 => format!("https://h{}.example/axbxc{number}", number / 3 + 3),
            _ => format!("https://busy.example/busy/{}/x.html", number % 90),
        })
        .chain(["no URL".to_owned()])
        .collect();
    let alone = judge();
    let expected: Vec<_> = urls.iter().map(|url| answers(&alone, url)).collect();
    let letters: String = expected
        .iter()
        .map(|(letters, _)| letters.as_str())
        .collect();
    assert!(
        ['A', 'D', 'U', 'I']
            .iter()
            .all(|&letter| letters.contains(letter)),
        "{letters}"
    );

    let (shared, start) = (judge(), Barrier::new(THREADS));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shared, start, urls, expected) = (&shared, &start, &urls, &expected);
            scope.spawn(move || {
                start.wait();
                for round in 0..urls.len() {
                    let row = (round + thread * urls.len() / THREADS) % urls.len();
                    let found = answers(shared, &urls[row]);
                    assert!(found == expected[row], "{}: {found:?}", urls[row]);
                }
                // Enough for promotions, whatever memory of the pool this thread gets.
                for row in (0..4 * urls.len()).map(|row| row % urls.len()) {
                    let verdicts = shared.judge(urls[row].as_bytes()).unwrap();
                    assert!(
                        verdicts
                            .iter()
                            .map(Verdict::letter)
                            .eq(expected[row].0.chars())
                    );
                }
            });
        }
    });
}

#[test]
fn too_many_threads_are_capped_with_a_note() {
    let temp_dir = snapshot_dir();
    let most = robosieve::threads::max_threads();
    let note = format!(
        "robosieve: note: 100000 threads are too many; using {most}, the most that are allowed here"
    );
    let args = words("filter -s s -a FooBot list.txt -o new -j 100000");
    let ran = robosieve(temp_dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.starts_with(&note), "{}", ran.stderr);
    let quiet = robosieve(temp_dir.path(), &[&args[..], &["-q"]].concat());
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        robosieve(temp_dir.path(), &["inspect", "s", "-j", "0"]).code,
        Some(2)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn capped_runs_start_no_more_threads() {
    let temp_dir = snapshot_dir();
    for (jobs, variable) in [(&["-j", "100000"][..], "1"), (&[], "100000")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_robosieve"));
        command
            .args(["filter", "-q", "-s", "s", "-a", "FooBot", "-o", "new"])
            .args(jobs);
        command.env("RAYON_NUM_THREADS", variable);
        let mut child = begun(command, temp_dir.path(), 1);
        let threads = fs::read_dir(format!("/proc/{}/task", child.id()))
            .unwrap()
            .count();
        child.stdin.take();
        child.wait().unwrap();
        let most = robosieve::threads::max_threads();
        assert!(
            (most..most + 8).contains(&threads),
            "{jobs:?}: {threads} threads"
        );
    }
}

/// Runs `robosieve` as a user with a limit on threads: the system does not limit root.
#[cfg(target_os = "linux")]
fn limited(dir: &Path, threads: u32, args: &str) -> Ran {
    let script = format!("ulimit -u {threads} && exec ./robosieve {args}");
    // The limit covers all processes of a user, so each run of the tests has its own user.
    let user = format!("--reuid={}", 100_000 + std::process::id());
    let output = Command::new("setpriv")
        .args([&user, "--clear-groups", "bash", "-c", &script])
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran::new(&[args], output)
}

#[cfg(target_os = "linux")]
#[test]
fn unstartable_threads_are_explained() {
    use std::os::unix::fs::PermissionsExt;
    let temp_dir = snapshot_dir();
    let dir = temp_dir.path();
    let data = checkout().join("datasets/small");
    fs::copy(data.join("pages.parquet"), dir.join("pages.parquet")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_robosieve"), dir.join("robosieve")).unwrap();
    fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
    if limited(dir, 100, "--version").code != Some(0) {
        eprintln!("skipped: needs root, bash and setpriv(1)");
        return;
    }
    for args in [
        "compile -q -j 4 robots.jsonl -o new",
        "filter -q -j 4 -s s -a FooBot list.txt -o kept",
        "annotate -q -j 4 -s s -a FooBot pages.parquet -o new.parquet",
    ] {
        let mut refused = 0;
        for threads in 1..12 {
            let ran = limited(dir, threads, args);
            match ran.code {
                Some(0) => {}
                Some(2) => {
                    refused += 1;
                    ran.says("cannot start ");
                    ran.says("-j N");
                }
                code => panic!("{args} with {threads} threads: {code:?}, {}", ran.stderr),
            }
        }
        assert!((4..11).contains(&refused), "{args}: {refused} refused");
    }
}
