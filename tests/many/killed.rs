//! Runs that are killed leave no partial output, and keep what they completed.

use super::out_dir::list;
use super::snapshot_dir;
use crate::command::with_usual_signals;
use crate::test_dir::{TestDir, gz};
use crate::waiting::{self, wait_until};
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const FILES: usize = 40;
const ARGS: [&str; 9] = [
    "filter",
    "-q",
    "-j",
    "2",
    "-s",
    "web.rsieve",
    "-a",
    "FooBot",
    "in",
];

/// A directory with [`FILES`] compressed lists.
fn compressed_dir() -> TestDir {
    let dir = snapshot_dir();
    // Compressing the outputs makes the run longer.
    let list = gz(list(20_000));
    (0..FILES).for_each(|i| dir.write(&format!("in/{i}.gz"), &list));
    dir
}

/// The names in a directory, without that of the state.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".robosieve")
        .collect()
}

/// A run that has completed this number of files.
fn begun(dir: &TestDir, complete: usize) -> Child {
    let to = ["--out-dir", "out", "--disallowed-to", "no", "--resume"];
    let mut child = with_usual_signals()
        .args([&ARGS[..], &to].concat())
        .current_dir(dir.root())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the states of completed files", || {
        states(dir) >= complete || child.try_wait().unwrap().is_some()
    });
    child
}

/// The number of files that are complete. On a busy machine, a run may complete all of them before
/// its signal arrives.
fn states(dir: &TestDir) -> usize {
    names(&dir.path("out/.robosieve"))
        .iter()
        .filter(|name| name.ends_with(".json"))
        .count()
}

#[test]
fn killed_and_resumed_runs_give_the_same_bytes() {
    let dir = compressed_dir();
    for complete in [1, 10, 25] {
        let mut child = begun(&dir, complete);
        child.kill().unwrap();
        child.wait().unwrap();
        let states = states(&dir);
        assert!((complete..=FILES).contains(&states), "{states} complete");
    }
    let to = ["--out-dir", "out", "--disallowed-to", "no", "--resume"];
    let resumed = dir.run(
        &[
            &["filter", "-s", "web.rsieve", "-a", "FooBot", "in"][..],
            &to,
        ]
        .concat(),
    );
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let skipped = resumed
        .stderr
        .split_once("resume: ")
        .and_then(|(_, rest)| rest.split_once(' '))
        .unwrap()
        .0;
    assert!(
        (25..=FILES).contains(&skipped.parse().unwrap()),
        "{resumed:?}"
    );
    dir.done(
        &[
            &ARGS[..],
            &["--out-dir", "calm", "--disallowed-to", "calm-no"],
        ]
        .concat(),
    );
    for (found, expected) in [("out", "calm"), ("no", "calm-no")] {
        for name in names(&dir.path(expected)) {
            let read = |outputs: &str| dir.read(&format!("{outputs}/{name}"));
            assert!(read(found) == read(expected), "{found}/{name}");
        }
        let visible = names(&dir.path(found))
            .into_iter()
            .filter(|name| !name.starts_with('.'))
            .count();
        assert_eq!(visible, FILES);
    }
}

#[test]
fn interrupted_runs_leave_no_temporary_files() {
    let dir = compressed_dir();
    for complete in [1, 5, 10, 15] {
        let mut child = begun(&dir, complete);
        let sent = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let status = waiting::ended("an interrupted run", &mut child);
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        let states = states(&dir);
        if status.success() {
            assert_eq!(states, FILES, "{stderr}");
            continue;
        }
        assert_eq!(status.signal(), Some(2), "{status}, {stderr}");
        let kept = stderr
            .strip_prefix("robosieve: interrupted by SIGINT: ")
            .and_then(|kept| kept.split_once(' '));
        // Each of the two threads may have completed a file that was not yet counted.
        let (kept, rest) = kept.unwrap_or_else(|| panic!("{stderr}"));
        assert!(
            (complete.saturating_sub(2)..=states).contains(&kept.parse().unwrap()),
            "{stderr}, {states} complete"
        );
        let expected = "of 40 files are complete; the same command with --resume does the others\n";
        assert_eq!(rest, expected);
        let all = ["out", "no", "out/.robosieve"]
            .map(|outputs| names(&dir.path(outputs)))
            .concat();
        assert!(all.iter().all(|name| !name.ends_with(".tmp")), "{all:?}");
    }
}
