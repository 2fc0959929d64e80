//! The directory of a test: its files, and runs of the command in it.
//!
//! Other modules add functions for what only they read or run.

use crate::command::{Ran, case, checkout, robosieve, words};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary directory, which is removed when the test ends.
pub(crate) struct TestDir(TempDir);

impl TestDir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file, and creates its directories.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// All files and directories below the root, with their bytes. Directories have none, nor does
    /// anything else, such as a device: reading it might not end.
    pub(crate) fn entries(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut entries = BTreeMap::new();
        let mut dirs = vec![self.root().to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let mut bytes = Vec::new();
                if path.is_file() {
                    bytes = fs::read(&path).unwrap();
                } else if path.is_dir() && !path.is_symlink() {
                    dirs.push(path.clone());
                }
                entries.insert(path, bytes);
            }
        }
        entries
    }

    /// Compiles `datasets/small` into the snapshot `name`.
    pub(crate) fn compile_small(&self, name: &str) {
        let small = checkout().join("datasets/small");
        let [warc, jsonl] =
            ["robots.warc", "more.jsonl"].map(|file| small.join(file).display().to_string());
        self.done(&["compile", "-q", "-o", name, &warc, &jsonl]);
    }

    /// Runs a command.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        robosieve(self.root(), args)
    }

    /// Runs a command, and asserts success.
    pub(crate) fn done(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        ran
    }

    /// [`run`](Self::run) with arguments that blanks separate.
    pub(crate) fn run_line(&self, line: &str) -> Ran {
        self.run(&words(line))
    }

    /// [`done`](Self::done) with arguments that blanks separate.
    pub(crate) fn done_line(&self, line: &str) -> Ran {
        self.done(&words(line))
    }

    /// The standard output of a run that succeeds without a message.
    pub(crate) fn stdout_of(&self, line: &str) -> String {
        let ran = self.done_line(line);
        assert_eq!(ran.stderr, "", "{line}");
        String::from_utf8(ran.stdout).unwrap()
    }

    /// Asserts that a command fails: exit code 2, a message with all of `expected`, and no changed,
    /// new or removed file or directory. Returns the message.
    pub(crate) fn fails(&self, args: &[&str], expected: &[&str]) -> String {
        self.assert_failure(&args.join(" "), expected, || self.run(args))
    }

    /// [`fails`](Self::fails) for a row: a command, and the parts of its message.
    pub(crate) fn fails_as(&self, row: &str) -> String {
        let (command, parts) = case(row);
        self.fails(&words(command), &parts)
    }

    /// [`fails_as`](Self::fails_as) for each row.
    pub(crate) fn all_fail(&self, rows: &[&str]) {
        for row in rows {
            self.fails_as(row);
        }
    }

    /// [`fails`](Self::fails) for a run by other means.
    pub(crate) fn assert_failure(
        &self,
        command: &str,
        expected: &[&str],
        run: impl FnOnce() -> Ran,
    ) -> String {
        let before = self.entries();
        let ran = run();
        assert_eq!(ran.code, Some(2), "{command}: {}", ran.stderr);
        for part in expected {
            ran.says(part);
        }
        assert!(!ran.stderr.contains("panicked"), "{command}: {ran:?}");
        let after = self.entries();
        let changed: Vec<_> = before
            .keys()
            .chain(after.keys())
            .filter(|path| before.get(*path) != after.get(*path))
            .collect();
        assert!(changed.is_empty(), "{command} changed {changed:?}");
        ran.stderr
    }
}

/// A gzip file of one member.
pub(crate) fn gz(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes.as_ref()).unwrap();
    out.finish().unwrap()
}

/// The names of the files and directories in a directory, sorted.
pub(crate) fn file_names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
