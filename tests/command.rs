//! Runs the binary like a user.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
    "lists",
    "agents",
    "diff",
    "due",
    "report",
    "audit",
    "bench",
    "completions",
    "man",
];

/// The result of a run of `robosieve`. Results of different arguments may be equal.
pub(crate) struct Ran {
    /// The arguments, for messages of failed tests.
    pub args: String,
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl std::fmt::Debug for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}, {:?}, ", self.args, self.code, self.stderr)?;
        write!(f, "{:.2000}", String::from_utf8_lossy(&self.stdout))
    }
}

impl PartialEq for Ran {
    fn eq(&self, other: &Self) -> bool {
        (self.code, &self.stdout, &self.stderr) == (other.code, &other.stdout, &other.stderr)
    }
}

impl Ran {
    /// The result of a run of `robosieve`, or of a shell that ran it, with these arguments.
    pub(crate) fn new(args: &[&str], output: Output) -> Self {
        Self {
            args: args.join(" "),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The standard output as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Asserts that the message has a part.
    #[track_caller]
    pub(crate) fn says(&self, part: &str) -> &Self {
        assert!(self.stderr.contains(part), "should say {part:?}: {self:?}");
        self
    }

    /// Asserts exit code 0.
    #[track_caller]
    pub(crate) fn succeeds(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Asserts exit code 2, and that the message has a part.
    #[track_caller]
    pub(crate) fn refused(&self, part: &str) -> &Self {
        assert_eq!(self.code, Some(2), "{self:?}");
        self.says(part)
    }
}

/// Asserts that a text has a part.
#[track_caller]
pub(crate) fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "should have {part:?}: {text}");
}

/// Asserts that a text starts with a part.
#[track_caller]
pub(crate) fn assert_starts(text: &str, part: &str) {
    assert!(text.starts_with(part), "should start with {part:?}: {text}");
}

/// The words of a line, which blanks separate: the arguments of a command.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The cells of a row of a table of cases, which ` | ` separates.
#[track_caller]
pub(crate) fn cells<const N: usize>(row: &str) -> [&str; N] {
    let cells: Vec<&str> = row.split(" | ").collect();
    let not = |cells: Vec<_>| panic!("not {N} but {} cells: {row:?}", cells.len());
    cells.try_into().unwrap_or_else(not)
}

/// The first cell of a row of a table of cases, and the others: often a command, and the parts of
/// its message.
#[track_caller]
pub(crate) fn case(row: &str) -> (&str, Vec<&str>) {
    let (first, others) = row.split_once(" | ").expect(row);
    (first, others.split(" | ").collect())
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
    Ran::new(args, output)
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
