//! Closed or full standard output and standard error: results and exit statuses.

use crate::command::{Ran, checkout, robosieve, words};
use crate::waiting::ended;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A directory with a snapshot `s`, an archive, and a list `list.txt` that is longer than a pipe
/// holds.
pub(crate) fn snapshot_dir() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let robots =
        r#"{"url": "https://e.example/robots.txt", "body": "user-agent: *\ndisallow: /x"}"#;
    fs::write(dir.path().join("robots.jsonl"), robots).unwrap();
    let line = |i: u32| {
        format!(
            "https://e.example/{}/{i}\n",
            if i.is_multiple_of(3) { "x" } else { "a" }
        )
    };
    fs::write(
        dir.path().join("list.txt"),
        (0..60_000).map(line).collect::<String>(),
    )
    .unwrap();
    robosieve(dir.path(), &words("compile -q -o s robots.jsonl")).succeeds();
    dir
}

/// A pipe without a reader.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// A device that is always full, if the system has one.
fn full() -> Option<Stdio> {
    File::options()
        .write(true)
        .open("/dev/full")
        .ok()
        .map(Stdio::from)
}

fn command(dir: &Path, args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_robosieve"));
    command
        .args(args.split(' '))
        .current_dir(dir)
        .env("SOURCE_DATE_EPOCH", "0")
        .stdin(Stdio::null());
    command
}

fn ran(command: &mut Command) -> Ran {
    Ran::new(&[&format!("{command:?}")], command.output().unwrap())
}

/// The files of a directory, without those of every run.
fn made(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| {
        path.file_name()
            .is_some_and(|name| name.to_str().is_some_and(|name| name.starts_with("new")))
    });
    files.sort();
    let read = |path: PathBuf| {
        (
            PathBuf::from(path.file_name().unwrap()),
            fs::read(path).unwrap_or_default(),
        )
    };
    files.into_iter().map(read).collect()
}

#[test]
fn failing_stderr_changes_no_result() {
    let temp_dir = snapshot_dir();
    let dir = temp_dir.path();
    for (args, code) in [
        ("filter -s s -a FooBot list.txt -o new", 0),
        ("filter -s s -a FooBot list.txt --unknown-to new", 0),
        ("filter -s s -a FooBot missing.txt -o new", 2),
        ("annotate -s s -a FooBot,MJ12bot list.txt -o new", 0),
        (
            "annotate -s s -a FooBot --out-dir new.d --resume list.txt",
            0,
        ),
        ("compile robots.jsonl -o new", 0),
        ("compile list.txt -o new", 2),
        ("report -s s -a FooBot list.txt --csv-to new", 0),
        ("check -s s -a MJ12bot https://e.example/", 0),
        ("check -s s -a MJ12bot https://e.example/x", 1),
        ("check -s s -a FooBot https://unknown.example/", 2),
        ("agents -a @ai,GPTBot", 0),
        ("bench --origins 10 --urls 10 --write-to new.d", 0),
        ("inspect s -j 100000", 0),
        ("inspect --no-such-option", 2),
    ] {
        let fresh = || {
            made(dir).iter().for_each(|(name, _)| {
                let path = dir.join(name);
                let _ = if path.is_dir() {
                    fs::remove_dir_all(path)
                } else {
                    fs::remove_file(path)
                };
            });
        };
        let expected = ran(&mut command(dir, args));
        assert_eq!(expected.code, Some(code), "{args}: {}", expected.stderr);
        assert!(
            !expected.stderr.is_empty(),
            "{args} writes nothing to stderr"
        );
        let files = made(dir);
        for (stderr, how) in [(Some(closed()), "closed"), (full(), "full")] {
            fresh();
            let Some(stderr) = stderr else { continue };
            let found = ran(command(dir, args).stderr(stderr));
            assert_eq!(found.code, expected.code, "{args}: stderr is {how}");
            assert!(found.stdout == expected.stdout, "{args}: stderr is {how}");
            assert!(made(dir) == files, "{args}: stderr is {how}");
        }
        fresh();
    }
}

#[test]
fn closed_stdout_ends_runs_quietly() {
    let temp_dir = snapshot_dir();
    let dir = temp_dir.path();
    for (args, code) in [
        ("filter -s s -a FooBot list.txt", 0),
        ("filter -s s -a FooBot list.txt -o /dev/stdout", 0),
        ("annotate -s s -a FooBot list.txt", 0),
        ("report -s s -a FooBot", 0),
        ("inspect s", 0),
        ("due -s s --stale-at 2024-01-01 list.txt", 0),
        ("agents", 0),
        ("diff s s", 0),
        ("man", 0),
        ("completions bash", 0),
        ("filter --help", 0),
        ("check -s s -a FooBot https://e.example/", 2),
        ("check -s s -a FooBot https://e.example/x", 2),
        ("diff s s --exit-code", 2),
    ] {
        let found = ran(command(dir, args).stdout(closed()));
        assert_eq!(found.code, Some(code), "{args}: {}", found.stderr);
        let messages: Vec<&str> = found
            .stderr
            .lines()
            .filter(|line| line.starts_with("robosieve: "))
            .collect();
        match code {
            0 => assert!(messages.is_empty(), "{args}: {messages:?}"),
            _ => assert!(
                messages.len() == 1 && messages[0].contains("its reader closed it"),
                "{args}: {messages:?}"
            ),
        }
    }
}

#[test]
fn closed_stdout_completes_files() {
    let temp_dir = snapshot_dir();
    let dir = temp_dir.path();
    for args in [
        "filter -s s -a FooBot list.txt --disallowed-to new.1 --unknown-to new.2 --invalid-to new.3",
        "filter -s s -a FooBot list.txt --keep disallowed --unknown-to new.1",
        "report -s s -a FooBot --json-to - --csv-to new.1 --html new.2",
        "report -s s -a FooBot --html - --json-to new.1",
        "report -s s -a FooBot --json-to new.1 --csv-to new.2",
        "diff s s --svg new.1",
        "compile robots.jsonl -o new.1 --stats-json -",
    ] {
        let clear = || {
            made(dir)
                .iter()
                .for_each(|(name, _)| fs::remove_file(dir.join(name)).unwrap())
        };
        let calm = ran(&mut command(dir, args));
        assert!(calm.code == Some(0), "{args}: {calm:?}");
        assert!(!calm.stdout.is_empty(), "{args}: {calm:?}");
        let files = made(dir);
        assert!(!files.is_empty(), "{args}");
        clear();
        let found = ran(command(dir, args).stdout(closed()));
        assert_eq!(found.code, Some(0), "{args}: {}", found.stderr);
        assert!(
            made(dir) == files,
            "{args}: {:?}",
            made(dir).iter().map(|(name, _)| name).collect::<Vec<_>>()
        );
        clear();
    }
}

/// A closed standard output ends a run quietly. A pipe named as an output was requested, so it
/// fails.
#[cfg(target_os = "linux")]
#[test]
fn closed_output_pipes_are_errors() {
    let temp_dir = snapshot_dir();
    let script =
        "exec 3> >(exec true); wait $!; exec \"$0\" filter -q -s s -a FooBot list.txt -o /dev/fd/3";
    let mut bash = Command::new("bash");
    let found = ran(bash
        .args(["-c", script, env!("CARGO_BIN_EXE_robosieve")])
        .current_dir(temp_dir.path()));
    assert_eq!(found.code, Some(2), "{}", found.stderr);
    assert!(found.stderr.contains("/dev/fd/3"), "{}", found.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn full_stdout_is_an_error() {
    let temp_dir = snapshot_dir();
    for args in [
        "filter -q -s s -a FooBot list.txt",
        "filter -q -s s -a FooBot list.txt --disallowed-to new",
        "inspect s",
        "man",
        "--help",
        "--version",
    ] {
        let found = ran(command(temp_dir.path(), args).stdout(full().unwrap()));
        assert_eq!(found.code, Some(2), "{args}: {}", found.stderr);
        found.says("standard output: ");
        assert_eq!(made(temp_dir.path()), [], "{args}");
    }
}

/// `eprintln!` and similar macros panic if a stream fails. `cli/src/stderr.rs` and
/// `cli/src/output.rs` do not.
#[test]
fn panicking_print_macros_are_unused() {
    let mut folders = vec![checkout().join("src"), checkout().join("cli/src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let code: Vec<&str> = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .collect();
            for name in ["print!(", "println!(", "dbg!("] {
                let found = code.iter().find(|line| line.contains(name));
                assert!(found.is_none(), "{}: {}", path.display(), found.unwrap());
            }
            files += 1;
        }
    }
    assert!(files > 100, "{files} files");
}

/// A pipe that is written whole and closed, and another handle of its reading end.
#[cfg(target_os = "linux")]
fn filled_pipe(content: &[u8], size: usize) -> (std::io::PipeReader, std::io::PipeReader) {
    use std::io::Write;
    let (reader, mut writer) = std::io::pipe().unwrap();
    rustix::pipe::fcntl_setpipe_size(&writer, size).unwrap();
    // It fits, so nobody has to read meanwhile.
    assert!(content.len() <= size);
    writer.write_all(content).unwrap();
    let other = reader.try_clone().unwrap();
    (reader, other)
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_of_inputs_get_large_buffers() {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    const LARGE: usize = 1 << 20;
    let (probe, _writer) = std::io::pipe().unwrap();
    if fcntl_setpipe_size(&probe, LARGE).is_err() {
        println!("SKIPPED: the pipes of this user are at their limit");
        return;
    }
    let mut sizes = vec![1 << 16];
    // Only a privileged user may have a larger one.
    if fcntl_setpipe_size(&probe, 2 * LARGE).is_ok() {
        sizes.push(2 * LARGE);
    }
    let temp_dir = snapshot_dir();
    let dir = temp_dir.path();
    let list = &fs::read(dir.join("list.txt")).unwrap()[..1000];
    let list = &list[..=list.iter().rposition(|byte| *byte == b'\n').unwrap()];
    let archive = fs::read(dir.join("robots.jsonl")).unwrap();
    let log =
        b"192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 1 \"-\" \"FooBot\"\n";
    for (args, content) in [
        ("filter -q -s s -a FooBot -o - INPUT", list),
        ("filter -q -s s -a FooBot -o /dev/fd/1 INPUT", list),
        ("annotate -q -s s -a FooBot -o - INPUT", list),
        ("report -q -s s -a FooBot INPUT", list),
        ("due -q -s s INPUT", list),
        ("audit -q -s s -a FooBot --host e.example INPUT", log),
        ("compile -q -o new INPUT", &archive),
    ] {
        let plain = dir.join("plain");
        fs::write(&plain, content).unwrap();
        let expected = ran(&mut command(dir, &args.replace("INPUT", "plain")));
        assert_eq!(expected.code, Some(0), "{expected:?}");
        for name in ["-", "/dev/stdin"] {
            for &before in &sizes {
                let (stdin, input) = filled_pipe(content, before);
                let (output, stdout) = std::io::pipe().unwrap();
                let mut child = command(dir, &args.replace("INPUT", name))
                    .stdin(stdin)
                    .stdout(stdout)
                    .spawn()
                    .unwrap();
                let code = ended(args, &mut child).code();
                assert_eq!(code, Some(0), "{args}");
                let size = fcntl_getpipe_size(&input).unwrap();
                assert_eq!(size, before.max(LARGE), "{args}, {name}");
                let written = std::io::read_to_string(output).unwrap();
                assert_eq!(written.as_bytes(), expected.stdout, "{args}");
            }
        }
    }
}
