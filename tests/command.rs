//! Runs the binary like a user.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The top folder of the checkout. The tests belong to the package in `cli`, one folder below.
pub(crate) fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// All Rust files below a directory, sorted.
pub(crate) fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The verbs of the command.
pub const VERBS: &[&str] = &[
    "compile",
    "captures",
    "filter",
    "annotate",
    "check",
    "inspect",
    "export",
    "lint",
    "agents",
    "diff",
    "due",
    "report",
    "audit",
    "bench",
    "completions",
    "man",
];

/// The result of a run of `robosieve`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ran {
    /// Asserts that the message has a part.
    #[track_caller]
    pub(crate) fn says(&self, part: &str) -> &Self {
        assert!(self.stderr.contains(part), "should say {part:?}: {self:?}");
        self
    }

    /// Asserts exit code 2, and that the message has a part.
    #[track_caller]
    pub(crate) fn refused(&self, part: &str) -> &Self {
        assert_eq!(self.code, Some(2), "{self:?}");
        self.says(part)
    }
}

/// The words of a line, which blanks separate: the arguments of a command.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs `robosieve` in `dir` with nothing on standard input.
pub(crate) fn robosieve(dir: &Path, args: &[&str]) -> Ran {
    robosieve_with(dir, args, b"")
}

/// Runs `robosieve` in `dir` with `stdin` on standard input.
pub(crate) fn robosieve_with(dir: &Path, args: &[&str], stdin: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_robosieve"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A command that fails early closes its end; the tests check its messages.
        scope.spawn(move || drop(input.write_all(stdin)));
        child.wait_with_output().unwrap()
    });
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A `robosieve` that signals end, even if they are ignored for the tests (in the background of a
/// shell, or under `nohup`).
#[cfg(unix)]
pub(crate) fn with_usual_signals() -> Command {
    let reset = ["--default-signal=HUP,INT,TERM"];
    match Command::new("env").args(reset).arg("true").output() {
        Ok(tried) if tried.status.success() => {
            let mut command = Command::new("env");
            command.args(reset).arg(env!("CARGO_BIN_EXE_robosieve"));
            command
        }
        _ => Command::new(env!("CARGO_BIN_EXE_robosieve")),
    }
}
