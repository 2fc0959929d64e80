//! Progress bars on a terminal.

use crate::streams::snapshot_dir;
use crate::waiting::WAIT_FOR;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Clears a line of the terminal.
const CLEAR: &str = "\u{1b}[2K";

/// The terminal output of a bash script, in which `$ROBOSIEVE` is the command; `None` without
/// script(1).
fn shown(dir: &Path, script: &str) -> Option<String> {
    let run = Command::new("script")
        .args(["-qefc", script, "shown"])
        .current_dir(dir)
        .env("SHELL", "/bin/bash")
        .env("ROBOSIEVE", env!("CARGO_BIN_EXE_robosieve"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    if run.is_err() {
        eprintln!("skipped: script(1) is not installed");
        return None;
    }
    Some(String::from_utf8_lossy(&fs::read(dir.join("shown")).unwrap()).into_owned())
}

#[test]
fn compile_shows_bytes_rate_and_time_left() {
    let temp_dir = snapshot_dir();
    let length = fs::metadata(temp_dir.path().join("robots.jsonl"))
        .unwrap()
        .len();
    fs::create_dir(temp_dir.path().join("archives")).unwrap();
    fs::copy(
        temp_dir.path().join("robots.jsonl"),
        temp_dir.path().join("archives/a.jsonl"),
    )
    .unwrap();
    for (input, bytes) in [
        ("robots.jsonl", length),
        ("archives", length),
        ("robots.jsonl archives", 2 * length),
    ] {
        let Some(shown) = shown(
            temp_dir.path(),
            &format!("$ROBOSIEVE compile {input} -o new"),
        ) else {
            return;
        };
        let bar = format!("{bytes} B/{bytes} B ");
        let drawn = shown.split(CLEAR).find_map(|drawn| drawn.split_once(&bar));
        let (_, rest) = drawn.unwrap_or_else(|| panic!("{input}: no {bar:?} in {shown:?}"));
        let words: Vec<&str> = rest.split_whitespace().collect();
        assert!(words[1].ends_with("B/s"), "{input}: {rest:?}");
        assert!(words[2].starts_with("0s"), "{input}: {rest:?}");
        assert!(
            shown.rsplit(CLEAR).next().unwrap().starts_with("compiled "),
            "{input}: the bar stays: {shown:?}"
        );
    }
}

#[test]
fn errors_and_signals_remove_the_bar() {
    let temp_dir = snapshot_dir();
    fs::write(
        temp_dir.path().join("bad.jsonl"),
        "{\"url\": \"https://e.example/robots.txt\", \"body\": \"\"}\n{]\n",
    )
    .unwrap();
    // The list is longer than a block, so the bar is drawn while the command waits for the rest.
    let interrupted = &format!(
        "{WAIT_FOR}mkfifo pipe; exec 3<>pipe; cat list.txt >&3 & cat=$!; \
         env --default-signal $ROBOSIEVE filter -s s -a FooBot -o new <&3 & run=$!; \
         wait_for 'the bar' grep -q MiB shown; kill -TERM $run; wait $run; kill $cat"
    );
    for (script, line) in [
        (
            "$ROBOSIEVE compile robots.jsonl bad.jsonl -o new",
            "robosieve: bad.jsonl: ",
        ),
        (
            interrupted,
            "robosieve: interrupted by SIGTERM: no output file was written or changed\r\n",
        ),
    ] {
        let Some(shown) = shown(temp_dir.path(), script) else {
            return;
        };
        let last = shown.rsplit(CLEAR).next().unwrap();
        let at = last
            .find(line)
            .unwrap_or_else(|| panic!("no {line:?} in {shown:?}"));
        assert!(!last[..at].contains("B/s"), "{shown:?}");
    }
}
