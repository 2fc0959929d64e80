//! Two compilations that replace the same previous snapshot: no update is lost.

use super::snapshot_dir;
use crate::command::{assert_has, with_usual_signals};
use crate::signals::begun;
use crate::test_dir::TestDir;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::Child;

/// An archive of one site.
fn archive(host: &str) -> String {
    format!("{{\"url\":\"https://{host}/robots.txt\",\"body\":\"user-agent: *\\ndisallow: /\"}}\n")
}

/// A run that has opened the previous snapshot, and waits for its archive.
fn waiting(dir: &TestDir, output: &str) -> Child {
    let mut command = with_usual_signals();
    command.args(["compile", "-q", "--previous", "s", "-o", output, "-"]);
    let mut child = begun(command, dir.root(), 1);
    // The output is open before the snapshot. The run reads the archive after both, and a pipe holds
    // less than this, so the snapshot is open when all but the rest is written.
    let mut input = child.stdin.take().unwrap();
    input
        .write_all(archive("first.example").as_bytes())
        .unwrap();
    input.write_all(" ".repeat(1 << 21).as_bytes()).unwrap();
    child.stdin = Some(input);
    child
}

/// Ends the archive of a run. Returns its exit status and its standard error.
fn ended(mut child: Child) -> (Option<i32>, String) {
    drop(child.stdin.take());
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[test]
fn concurrent_updates_of_a_snapshot_are_not_lost() {
    let dir = snapshot_dir();
    dir.write("second.jsonl", archive("second.example"));
    for output in ["s", "./dir/../s"] {
        dir.done(&["compile", "-q", "-o", "s", "web.jsonl"]);
        let first = waiting(&dir, output);
        dir.done_line("compile -q --previous s -o s second.jsonl");
        let updated = dir.read("s");
        let before = dir.entries();
        let (code, stderr) = ended(first);
        assert_eq!(code, Some(2), "{stderr}");
        assert_has(
            &stderr,
            "robosieve: s: cannot be used as the previous snapshot: another program",
        );
        assert_has(&stderr, "run again");
        assert_eq!(dir.entries(), before);
        // The advice: the next run has both updates.
        dir.write("first.jsonl", archive("first.example"));
        dir.done(&["compile", "-q", "--previous", "s", "-o", "s", "first.jsonl"]);
        for host in ["first.example", "second.example", "h.example"] {
            let origin = format!("https://{host}");
            let found = dir.run(&["check", "-s", "s", "-a", "FooBot", &origin]);
            assert_ne!(found.code, Some(2), "{host}: {}", found.stderr);
        }
        assert_ne!(dir.read("s"), updated);
    }
    // Another output replaces nothing.
    let first = waiting(&dir, "other");
    dir.done_line("compile -q --previous s -o s second.jsonl");
    let (code, stderr) = ended(first);
    assert_eq!(code, Some(0), "{stderr}");
}

/// `chmod`, backups by hard links, `touch` and the removal of the name lose nothing.
#[test]
fn harmless_changes_of_the_previous_snapshot_are_accepted() {
    type Action = fn(&TestDir);
    let actions: [Action; 4] = [
        |dir| {
            let path = dir.path("s");
            let mut permissions = fs::metadata(&path).unwrap().permissions();
            permissions.set_readonly(true);
            fs::set_permissions(path, permissions).unwrap();
        },
        |dir| fs::hard_link(dir.path("s"), dir.path("backup")).unwrap(),
        |dir| {
            let file = File::options().append(true).open(dir.path("s")).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH)
                .unwrap();
        },
        |dir| fs::remove_file(dir.path("s")).unwrap(),
    ];
    for (number, action) in actions.into_iter().enumerate() {
        let dir = snapshot_dir();
        let child = waiting(&dir, "s");
        action(&dir);
        let (code, stderr) = ended(child);
        assert_eq!(code, Some(0), "{number}: {stderr}");
        let first = dir.run(&["check", "-s", "s", "-a", "a", "https://first.example/"]);
        assert_eq!(first.code, Some(1), "{number}");
    }
}
