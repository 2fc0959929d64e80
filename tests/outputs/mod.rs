//! Outputs and existing files: no input is overwritten, and the outputs of one run appear together
//! or not at all.

#[cfg(unix)]
mod attributes;
#[cfg(unix)]
mod concurrent;
mod formats;
mod overwrite;
mod partitions;
#[cfg(target_os = "linux")]
mod streams;
mod together;

use crate::command::{Ran, case};
use crate::parquet::write_column;
use crate::test_dir::TestDir;
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use std::sync::Arc;

const LIST: &str = "https://h.example/a\nhttps://h.example/p\nfoo\nhttps://u.example/\n";

/// A directory with an archive, snapshots, a list, a Parquet file of the same URLs, and other
/// inputs.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    let robots =
        "{\"url\":\"https://h.example/robots.txt\",\"body\":\"user-agent: *\\ndisallow: /p\\n\"}\n";
    dir.write("web.jsonl", robots);
    dir.done(&["compile", "-q", "-o", "s", "web.jsonl"]);
    dir.done(&["compile", "-q", "-o", "t", "web.jsonl"]);
    dir.write("u.txt", LIST);
    dir.write("in.parquet", parquet(LIST));
    dir.write("agents", "FooBot\n");
    dir.write("list", "u.txt\n");
    dir.write("robots.txt", "user-agent: *\ndisallow: /p\n");
    dir.write("dir/h.example", "user-agent: *\n");
    dir
}

impl TestDir {
    /// Runs `command` in a shell; `$R` is the program.
    fn shell(&self, command: &str) -> Ran {
        let mut shell = std::process::Command::new("bash");
        shell
            .args(["-c", command])
            .env("R", env!("CARGO_BIN_EXE_robosieve"))
            .current_dir(self.root());
        let out = shell.stdin(std::process::Stdio::null()).output().unwrap();
        Ran::new(&[command], out)
    }

    /// Asserts that a command of a shell [fails](Self::fails).
    fn shell_fails(&self, command: &str, words: &[&str]) {
        self.assert_failure(command, words, || self.shell(command));
    }

    /// Asserts that the command of each row fails, with the words in its other cells.
    fn all_shells_fail(&self, rows: &[&str]) {
        for row in rows {
            let (command, words) = case(row);
            self.shell_fails(command, &words);
        }
    }
}

/// A Parquet file with a column `url` of these lines.
pub(crate) fn parquet(lines: &str) -> Vec<u8> {
    let urls: Vec<&str> = lines.lines().collect();
    parquet_of(&urls, Default::default())
}

/// A Parquet file with a column of these URLs.
pub(crate) fn parquet_of(urls: &[&str], properties: WriterProperties) -> Vec<u8> {
    let schema = parse_message_type("message m { required binary url (STRING); }").unwrap();
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    let urls: Vec<ByteArray> = urls.iter().map(|url| ByteArray::from(*url)).collect();
    write_column::<ByteArrayType>(&mut group, &urls, None, None);
    group.close().unwrap();
    file.into_inner().unwrap()
}
