//! Runs ended by a signal: exit status, last message, and remaining files.

use crate::command::{assert_has, robosieve, with_usual_signals};
use crate::streams::snapshot_dir;
use crate::waiting::{self, WAIT_FOR, wait_until};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

const SIGNALS: [(&str, i32); 3] = [("HUP", 1), ("INT", 2), ("TERM", 15)];

/// The temporary files with a name.
fn temporary_files(dir: &Path) -> usize {
    let names = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".tmp")).count()
}

/// The temporary files without a name that a process has open; only Linux has them.
fn unnamed_files(process: u32, dir: &Path) -> usize {
    let handles = fs::read_dir(format!("/proc/{process}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    let files = handles.filter_map(|handle| fs::read_link(handle.path()).ok());
    files
        .filter(|file| file.starts_with(dir) && file.to_string_lossy().ends_with(" (deleted)"))
        .count()
}

/// A run that has opened its outputs and waits for its input.
pub(crate) fn begun(mut command: Command, dir: &Path, outputs: usize) -> Child {
    let command = command
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    wait_until("the temporary files of the outputs", || {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the run ended before its first write"
        );
        temporary_files(dir) + unnamed_files(child.id(), dir) >= outputs
    });
    child
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Its exit status and its standard error.
fn ended(mut child: Child) -> (ExitStatus, String) {
    // `wait` would close its input, so it might end before the signal.
    let input = child.stdin.take();
    let status = waiting::ended("a run after a signal", &mut child);
    drop(input);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    (status, stderr)
}

#[test]
#[cfg(target_os = "linux")]
fn shortened_snapshots_end_runs_with_their_name() {
    for args in [
        "filter -s s -a FooBot -o old",
        "annotate -s s -a FooBot -o old -",
    ] {
        let temp_dir = snapshot_dir();
        let dir = temp_dir.path();
        fs::write(dir.join("old"), "as it was").unwrap();
        let mut command = with_usual_signals();
        command.args(args.split(' '));
        let mut child = begun(command, dir, 1);
        // The snapshot is open, and its pages are gone.
        fs::File::options()
            .write(true)
            .open(dir.join("s"))
            .unwrap()
            .set_len(0)
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // The run may end before it has read all.
        let _ = input.write_all("https://shop.example/\n".repeat(100_000).as_bytes());
        let (status, stderr) = ended(child);
        assert_eq!(status.code(), Some(2), "{status}, {stderr}");
        let file = dir.canonicalize().unwrap().join("s");
        let expected = format!(
            "robosieve: {} was shortened while it was in use; write a new snapshot next to it and \
             rename that, as compile does: no output file was written or changed\n",
            file.display()
        );
        assert_eq!(stderr, expected, "{args}");
        assert_eq!(temporary_files(dir), 0, "{args}");
        assert_eq!(fs::read(dir.join("old")).unwrap(), b"as it was", "{args}");
    }
}

/// `cp` and other programs overwrite a file in place, so that a run reads old and new bytes.
/// `rsync --inplace --times` also restores the time of the last change.
#[test]
fn overwritten_snapshots_are_an_error() {
    const LOG_LINE: &str = "192.0.2.1 - - [01/Aug/2026:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 9 \
                            \"-\" \"GPTBot/1.2\"\n";
    const CAPTURE: &str = "{\"url\": \"https://a.example/robots.txt\", \"body\": \"\"}\n";
    for (args, input) in [
        ("filter -s s -a FooBot -o old", "https://shop.example/\n"),
        (
            "annotate -s s -a FooBot -o old -",
            "https://shop.example/\n",
        ),
        (
            "report -s s -a FooBot --json-to old -",
            "https://shop.example/\n",
        ),
        ("compile --previous s -o old -", CAPTURE),
        ("audit -s s --host https://e.example -o old -", LOG_LINE),
    ] {
        for (is_changed, restores_time) in
            [(true, false), (false, false), (true, true), (false, true)]
        {
            let temp_dir = snapshot_dir();
            let dir = temp_dir.path();
            fs::write(dir.join("old"), "as it was").unwrap();
            let mut bytes = fs::read(dir.join("s")).unwrap();
            let modified = fs::metadata(dir.join("s")).unwrap().modified().unwrap();
            let mut command = with_usual_signals();
            command.args(args.split(' '));
            let mut child = begun(command, dir, 1);
            let mut stdin = child.stdin.take().unwrap();
            // The snapshot is open once the run reads more than a pipe holds.
            stdin.write_all(input.as_bytes()).unwrap();
            stdin.write_all(&[b'\n'; 1 << 21]).unwrap();
            if is_changed {
                bytes = another_snapshot(dir, &bytes);
            }
            // The times of some file systems have steps of milliseconds.
            std::thread::sleep(Duration::from_millis(20));
            let mut file = fs::File::options().write(true).open(dir.join("s")).unwrap();
            file.write_all(&bytes).unwrap();
            if restores_time {
                file.set_modified(modified).unwrap();
            }
            drop(stdin);
            let (status, stderr) = ended(child);
            let old = fs::read(dir.join("old")).unwrap();
            if is_changed {
                assert_eq!(status.code(), Some(2), "{args}: {stderr}");
                let expected = "s: damaged snapshot: it was overwritten while it was read";
                assert!(stderr.contains(expected), "{args}: {stderr}");
                assert_eq!(old, b"as it was", "{args}");
            } else {
                assert_eq!(status.code(), Some(0), "{args}: {stderr}");
                assert_ne!(old, b"as it was", "{args}");
            }
        }
    }
}

/// The bytes of another snapshot of the same length: a rule has another path.
fn another_snapshot(dir: &Path, old: &[u8]) -> Vec<u8> {
    let archive = fs::read_to_string(dir.join("robots.jsonl")).unwrap();
    fs::write(dir.join("other.jsonl"), archive.replace("/x", "/y")).unwrap();
    let args = ["compile", "-q", "-o", "other", "other.jsonl"];
    assert_eq!(robosieve(dir, &args).code, Some(0));
    let bytes = fs::read(dir.join("other")).unwrap();
    assert!(bytes.len() >= old.len() && bytes != old);
    bytes
}

#[test]
fn signals_end_runs_without_temporary_files() {
    let temp_dir = snapshot_dir();
    let dir = temp_dir.path();
    fs::write(dir.join("old"), "as it was").unwrap();
    for (name, number) in SIGNALS {
        for (args, outputs) in [
            ("filter -s s -a FooBot -o old --disallowed-to new", 2),
            ("annotate -s s -a FooBot -o old", 1),
            ("compile - -o new --stats-json old", 1),
        ] {
            let mut command = with_usual_signals();
            command.args(args.split(' '));
            let child = begun(command, dir, outputs);
            send(name, &child);
            let (status, stderr) = ended(child);
            let found = status.signal();
            assert_eq!(found, Some(number), "{name}, {args}: {status}, {stderr}");
            let expected = format!(
                "robosieve: interrupted by SIG{name}: no output file was written or changed\n"
            );
            assert_eq!(stderr, expected);
            assert_eq!(temporary_files(dir), 0, "{name}, {args}");
            assert!(
                !dir.join("new").exists() && fs::read(dir.join("old")).unwrap() == b"as it was",
                "{name}, {args}"
            );
        }
    }
}

#[test]
fn shells_see_the_usual_status() {
    let temp_dir = snapshot_dir();
    for (name, number) in SIGNALS {
        // The shell waits for the run, and the signal goes to the run alone.
        let script = "env --default-signal \"$0\" filter -q -s s -a FooBot -o new <&3 & \
                      opened() { (ls -A; ls -l /proc/$1/fd) 2>/dev/null | grep -Eq '[.]tmp$|[(]deleted[)]$'; }; \
                      wait_for 'a temporary file' opened $!; \
                      kill -$1 $!; wait $!; echo $?";
        let script = format!("{WAIT_FOR}exec 3<&0; {script}");
        let mut shell = Command::new("bash");
        let shell = shell
            .args(["-c", &script, env!("CARGO_BIN_EXE_robosieve"), name])
            .current_dir(temp_dir.path());
        let mut child = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut status = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut status)
            .unwrap();
        child.wait().unwrap();
        assert_eq!(status.trim(), (128 + number).to_string(), "{name}");
    }
}

/// `nohup` and `trap '' INT` ask to ignore signals.
#[test]
fn ignored_signals_stay_ignored() {
    let temp_dir = snapshot_dir();
    let dir = temp_dir.path();
    for (name, _) in SIGNALS {
        let mut command = Command::new("sh");
        let script = format!("trap '' {name}; exec \"$0\" filter -q -s s -a FooBot -o new");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_robosieve")]);
        let mut child = begun(command, dir, 1);
        send(name, &child);
        // More than a pipe holds: the signal has arrived before all is written.
        child
            .stdin
            .take()
            .unwrap()
            .write_all(&fs::read(dir.join("list.txt")).unwrap().repeat(3))
            .unwrap();
        let (status, stderr) = ended(child);
        assert!(status.success(), "{name}: {status}, {stderr}");
        let found = fs::read_to_string(dir.join("new")).unwrap().lines().count();
        assert_eq!(found, 120_000, "{name}");
        fs::remove_file(dir.join("new")).unwrap();
    }
}

#[test]
fn file_size_limits_are_write_errors() {
    let temp_dir = snapshot_dir();
    for args in [
        "filter -s s -a FooBot list.txt -o new",
        "annotate -s s -a FooBot list.txt -o new",
    ] {
        let script = format!("ulimit -f 100; exec \"$0\" {args}");
        let mut command = Command::new("bash");
        let run = command
            .args(["-c", &script, env!("CARGO_BIN_EXE_robosieve")])
            .current_dir(temp_dir.path());
        let ran = run.output().unwrap();
        let stderr = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(2), "{}: {stderr}", ran.status);
        assert_has(&stderr, "robosieve: new: ");
        assert!(temporary_files(temp_dir.path()) == 0, "{args}");
        assert!(!temp_dir.path().join("new").exists(), "{args}");
    }
}
