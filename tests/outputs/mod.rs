//! Outputs and existing files: no input is overwritten, and the outputs of one run appear together
//! or not at all.

mod formats;
mod overwrite;
mod partitions;
#[cfg(target_os = "linux")]
mod streams;
mod together;

use crate::command::{Ran, robosieve};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const LIST: &str = "https://h.example/a\nhttps://h.example/p\nfoo\nhttps://u.example/\n";

/// A directory with an archive, snapshots, a list, a Parquet file of the same URLs, and other
/// inputs.
pub(super) struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let robots = "{\"url\":\"https://h.example/robots.txt\",\"body\":\"user-agent: *\\ndisallow: /p\\n\"}\n";
        place.write("web.jsonl", robots);
        place.done(&["compile", "-q", "-o", "s", "web.jsonl"]);
        place.done(&["compile", "-q", "-o", "t", "web.jsonl"]);
        place.write("u.txt", LIST);
        place.write("in.parquet", parquet(LIST));
        place.write("agents", "FooBot\n");
        place.write("list", "u.txt\n");
        place.write("robots.txt", "user-agent: *\ndisallow: /p\n");
        place.write("dir/h.example", "user-agent: *\n");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap_or_else(|err| panic!("{name}: {err}")))
            .unwrap()
    }

    fn run(&self, args: &[&str]) -> Ran {
        robosieve(self.0.path(), args)
    }

    fn done(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        ran
    }

    /// Runs `command` in a shell; `$R` is the program.
    fn shell(&self, command: &str) -> Ran {
        let mut shell = std::process::Command::new("bash");
        shell
            .args(["-c", command])
            .env("R", env!("CARGO_BIN_EXE_robosieve"))
            .current_dir(self.0.path());
        let out = shell.stdin(std::process::Stdio::null()).output().unwrap();
        let stderr = String::from_utf8(out.stderr).unwrap();
        Ran {
            code: out.status.code(),
            stdout: out.stdout,
            stderr,
        }
    }

    /// All files of all directories, with their bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn add(dir: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(dir)
                .unwrap()
                .map(|entry| entry.unwrap().path())
            {
                if entry.is_dir() && !entry.is_symlink() {
                    add(&entry, all);
                } else {
                    // Reading a device would not end.
                    let bytes = if entry.is_file() {
                        fs::read(&entry).unwrap()
                    } else {
                        Vec::new()
                    };
                    all.insert(entry, bytes);
                }
            }
        }
        let mut all = BTreeMap::new();
        add(self.0.path(), &mut all);
        all
    }

    /// Asserts that a command fails with a message that has all of `words`, and changes no file.
    fn refused(&self, command: &str, words: &[&str]) {
        let before = self.files();
        let ran = self.shell(command);
        assert_eq!(ran.code, Some(2), "{command}: {}", ran.stderr);
        for word in words {
            assert!(
                ran.stderr.contains(word),
                "{command} should say {word:?}: {}",
                ran.stderr
            );
        }
        let after = self.files();
        let changed: Vec<_> = before
            .keys()
            .chain(after.keys())
            .filter(|name| before.get(*name) != after.get(*name))
            .collect();
        assert!(changed.is_empty(), "{command} changed {changed:?}");
    }
}

/// A Parquet file with a column `url` of these lines.
pub(crate) fn parquet(lines: &str) -> Vec<u8> {
    use ::parquet::data_type::{ByteArray, ByteArrayType};
    let schema = ::parquet::schema::parser::parse_message_type(
        "message m { required binary url (STRING); }",
    )
    .unwrap();
    let mut file = ::parquet::file::writer::SerializedFileWriter::new(
        Vec::new(),
        Arc::new(schema),
        Arc::default(),
    )
    .unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let urls: Vec<ByteArray> = lines.lines().map(ByteArray::from).collect();
    column
        .typed::<ByteArrayType>()
        .write_batch(&urls, None, None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.into_inner().unwrap()
}
