//! `--out-dir` keeps the directories of inputs if their names alone would collide.

use super::snapshot_dir;
use crate::command::{case, words};
use crate::test_dir::TestDir;
use std::path::Path;

/// A directory with a tree of Parquet files, as query engines write it, and one of lists.
fn partitions_dir() -> TestDir {
    let dir = snapshot_dir();
    for day in [
        "y=1/m=1/p.parquet",
        "y=1/m=2/p.parquet",
        "y=2/m=1/p.parquet",
    ] {
        dir.write(
            &format!("part/{day}"),
            super::parquet(&format!("https://h.example/{day}\nhttps://h.example/p\n")),
        );
    }
    for list in ["a/1.txt", "a/2.txt", "b/1.txt", "b/deep/3.txt"] {
        dir.write(
            &format!("lists/{list}"),
            format!("https://h.example/{list}\nhttps://h.example/p\n"),
        );
    }
    dir
}

/// The files below `folder`, sorted.
fn files_below(dir: &TestDir, folder: &str) -> Vec<String> {
    let (entries, folder) = (dir.entries(), dir.path(folder));
    let files = entries.keys().filter(|path| path.is_file());
    let below = files.filter_map(|path| path.strip_prefix(&folder).ok());
    below
        .map(|path| path.display().to_string())
        .filter(|name| !name.starts_with(".robosieve"))
        .collect()
}

#[test]
fn outputs_mirror_input_directories() {
    let cases = [
        "'part/**/*.parquet' | y=1/m=1/p.parquet | y=1/m=2/p.parquet | y=2/m=1/p.parquet",
        "'./part/**/*.parquet' | y=1/m=1/p.parquet | y=1/m=2/p.parquet | y=2/m=1/p.parquet",
        // A single partition keeps its directories too.
        "'part/*/m=2/*.parquet' | y=1/m=2/p.parquet",
        "part/y=1/m=1/p.parquet part/y=1/m=2/p.parquet | m=1/p.parquet | m=2/p.parquet",
        "part/y=1/m=1 part/y=2/m=1 | y=1/m=1/p.parquet | y=2/m=1/p.parquet",
        "lists/a lists/b | a/1.txt | a/2.txt | b/1.txt",
        "lists/a \"$PWD\"/lists/b | a/1.txt | a/2.txt | b/1.txt",
        "lists/a lists/a/../b | a/1.txt | a/2.txt | b/1.txt",
        "'lists/*/*.txt' | a/1.txt | a/2.txt | b/1.txt",
        "--files-from names | a/1.txt | b/1.txt",
        // Distinct names need no directories.
        "lists/a lists/b/deep | 1.txt | 2.txt | 3.txt",
        "'lists/a/*.txt' | 1.txt | 2.txt",
    ];
    for row in cases {
        let (inputs, expected) = case(row);
        let dir = partitions_dir();
        dir.write("names", "lists/a/1.txt\nlists/b/1.txt\n");
        let command = format!("$R filter -q -s s -a a --out-dir out --disallowed-to no {inputs}");
        let ran = dir.shell(&command);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}");
        assert_eq!(files_below(&dir, "out"), expected, "{command}");
        assert_eq!(files_below(&dir, "no"), expected, "{command}");
    }
}

#[test]
fn reruns_find_complete_outputs() {
    let dir = partitions_dir();
    let args = words("filter -s s -a a --out-dir out --resume part/**/*.parquet");
    dir.done(&args);
    let ran = dir.done(&args);
    ran.says("3 of 3 files are complete");
    std::fs::remove_file(dir.path("out/y=1/m=2/p.parquet")).unwrap();
    let ran = dir.done(&args);
    ran.says("2 of 3 files are complete");
    assert!(Path::new(&dir.path("out/y=1/m=2/p.parquet")).is_file());
    assert!(dir.path("out/.robosieve/y=1/m=2/p.parquet.json").is_file());
}

#[test]
fn colliding_outputs_are_refused() {
    let dir = partitions_dir();
    dir.write("p2/y=1/x", "https://h.example/\n");
    dir.write("p2/x", "https://h.example/\n");
    dir.all_shells_fail(&[
        "$R filter -s s -a a --out-dir out lists/a/1.txt lists/a/1.txt | the same file twice | \
         name it once",
        "$R filter -s s -a a --out-dir out lists/a lists/b/../a/1.txt | the same file twice",
        "$R filter -s s -a a --out-dir lists 'lists/**/*.txt' | would be overwritten | \
         another directory",
        "$R filter -s s -a a --out-dir o --unknown-to o/y=1 p2/y=1/x p2/x 'p2/**/*' | \
         the same file twice",
        "$R filter -s s -a a --out-dir o --unknown-to o/y=1 'p2/**/*' | named for two outputs",
    ]);
}
