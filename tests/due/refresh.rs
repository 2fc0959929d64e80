//! `packaging/refresh`, the nightly refresh of a snapshot, with fetchers of one line.

use super::snapshot_dir;
use crate::command::checkout;
use crate::test_dir::TestDir;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Answers each URL with rules, in a year from which nothing is due again.
const FETCH: &str = r#"exec sed 's|"origin".*|"fetched_at": "2999-01-01T00:00:00Z", "body": "User-agent: *\\nDisallow: /new/"}|'"#;

impl TestDir {
    /// Runs the script with this text of the fetcher.
    fn refresh(&self, fetch: &str) -> Output {
        self.write("fetch", fetch);
        self.run_refresh(&[], "sh fetch")
    }

    /// Runs the script with a command of these arguments, or with this line of shell.
    pub(super) fn run_refresh(&self, command: &[&str], line: &str) -> Output {
        let directory = Path::new(env!("CARGO_BIN_EXE_robosieve")).parent().unwrap();
        let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
        let temp = self.path("temp");
        fs::create_dir_all(&temp).unwrap();
        let out = Command::new("sh")
            .arg(checkout().join("packaging/refresh"))
            .args(command)
            .current_dir(self.root())
            .env("PATH", path)
            .env("TMPDIR", &temp)
            .env("FETCH", line)
            .env("SNAPSHOT", "s")
            .env("FRONTIER", "urls.txt")
            .output()
            .unwrap();
        let left: Vec<_> = fs::read_dir(temp).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        out
    }
}

#[test]
fn a_refresh_fetches_what_is_due_once() {
    let dir = snapshot_dir();
    let due = dir.due("--stale-at now urls.txt");
    let unknown = dir.due("urls.txt");
    assert!(unknown.len() > 1 && due.len() > unknown.len());
    let out = dir.refresh(FETCH);
    assert!(out.status.success(), "{out:?}");
    // The rules of all these are the new ones, and the snapshot lacks no origin of the list.
    assert_eq!(dir.due("--stale-at now urls.txt"), Vec::<String>::new());
    for url in due {
        let page = url.replace("/robots.txt", "/new/");
        let ran = dir.run_line(&format!("check -s s -a FooBot {page}"));
        assert!(ran.stdout.starts_with(b"disallowed"), "{ran:?}");
    }
    let before = dir.read("s");
    let out = dir.refresh("exit 1");
    assert_eq!(out.stdout, b"no robots.txt file is due\n");
    assert_eq!((out.status.code(), dir.read("s")), (Some(0), before));
}

#[test]
fn a_refresh_that_fails_leaves_the_snapshot() {
    let dir = snapshot_dir();
    let before = dir.read("s");
    let half = format!("head -n 3 | ({FETCH}); exit 3");
    for (fetch, message) in [
        // A fetcher that gives up, also after some answers.
        ("exit 3", ""),
        (half.as_str(), ""),
        // One that writes something else than answers, or nothing.
        ("sed s/https*:/,/", "answers.jsonl"),
        ("exec true", "answers.jsonl: no capture of any /robots.txt"),
    ] {
        let out = dir.refresh(fetch);
        assert!(!out.status.success(), "{fetch}: {out:?}");
        let stderr = String::from_utf8(out.stderr).unwrap();
        assert!(stderr.contains(message), "{fetch}: {stderr}");
        assert_eq!(dir.read("s"), before, "{fetch}");
    }
}

#[test]
fn a_command_has_arguments_with_blanks() {
    let dir = snapshot_dir();
    // As arguments of the script, and as a line of shell.
    let commands: [(&[&str], &str); 2] = [
        (&["sh", "fetch", "a b", "(c)"], ""),
        (&[], "sh fetch 'a b' \"(c)\""),
    ];
    for (arguments, line) in commands {
        dir.write("fetch", "printf '%s\\n' \"$@\" > arguments; exit 3");
        let out = dir.run_refresh(arguments, line);
        assert_eq!(out.status.code(), Some(3), "{out:?}");
        assert_eq!(dir.read_text("arguments"), "a b\n(c)\n");
    }
    let out = dir.run_refresh(&[], "");
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(stderr.contains("name the command that fetches"), "{stderr}");
}

#[test]
fn a_first_refresh_needs_a_list() {
    let dir = snapshot_dir();
    fs::remove_file(dir.path("s")).unwrap();
    let list = dir.read("urls.txt");
    dir.write("urls.txt", "");
    let out = dir.refresh(FETCH);
    let found = out.stdout.split(|byte| *byte == b'\n').count();
    assert_eq!(found, 3, "{out:?}");
    assert!(!dir.path("s").exists());
    dir.write("urls.txt", list);
    assert!(dir.refresh(FETCH).status.success());
    assert_eq!(dir.due("--stale-at now urls.txt"), Vec::<String>::new());
}
