//! The expansion of inputs, and their order.

use super::snapshot_dir;
use crate::command::{case, words};
use crate::test_dir::TestDir;
use std::fs;

const LISTS: [&str; 7] = [
    "b.txt",
    "a.txt",
    "crawl/2.txt",
    "crawl/10.txt",
    "crawl/.old.txt",
    "crawl/deep/3.txt",
    "c[1].txt",
];

/// A directory with the lists of [`LISTS`], a list of lists, and an empty folder.
fn lists_dir() -> TestDir {
    let dir = snapshot_dir();
    LISTS.iter().for_each(|name| dir.write_list(name));
    dir.write("list", "crawl/2.txt\r\n\n  \nb.txt\n'none'.txt\n");
    dir.write_list("'none'.txt");
    fs::create_dir(dir.path("empty")).unwrap();
    dir
}

#[test]
fn inputs_are_expanded_in_order() {
    let dir = lists_dir();
    for row in [
        "b.txt a.txt |  | b.txt | a.txt",
        "crawl a.txt |  | crawl/10.txt | crawl/2.txt | a.txt",
        "crawl/ |  | crawl/10.txt | crawl/2.txt",
        "?.txt |  | a.txt | b.txt",
        "crawl/* |  | crawl/10.txt | crawl/2.txt",
        "crawl/.*.txt |  | crawl/.old.txt",
        "crawl/**/*.txt |  | crawl/10.txt | crawl/2.txt | crawl/deep/3.txt",
        // The name of an existing file is not a pattern.
        "c[1].txt |  | c[1].txt",
        "--files-from list |  | crawl/2.txt | b.txt | 'none'.txt",
        "--files-from list a.txt |  | a.txt | crawl/2.txt | b.txt | 'none'.txt",
        "--files-from - | crawl\nb.tx? | crawl/10.txt | crawl/2.txt | b.txt",
        "a.txt - | https://h1.example/stdin\n | a.txt | stdin",
    ] {
        let (args, others) = case(row);
        let (stdin, expected) = others.split_first().unwrap();
        assert_eq!(dir.taken(&words(args), stdin), expected, "{row:?}");
    }
    let ran = dir.done(&["filter", "-s", "web.rsieve", "-a", "FooBot", "crawl"]);
    ran.says("crawl: reads the 2 files in it and skips 1 directory");
}

/// A link to a directory above it makes the tree endless.
#[cfg(unix)]
#[test]
fn globs_follow_links_but_no_loops() {
    use std::os::unix::fs::symlink;
    let dir = lists_dir();
    dir.write_list("other/4.txt");
    symlink("..", dir.path("crawl/deep/up")).unwrap();
    symlink(".", dir.path("crawl/deep/self")).unwrap();
    symlink("../other", dir.path("crawl/other")).unwrap();
    symlink("gone", dir.path("crawl/dangling")).unwrap();
    let expected = [
        "crawl/10.txt",
        "crawl/2.txt",
        "crawl/deep/3.txt",
        "other/4.txt",
    ];
    for pattern in ["crawl/**/*.txt", "./crawl/**/**/*.txt"] {
        assert_eq!(dir.taken(&[pattern], ""), expected, "{pattern}");
    }
    // A link that leads nowhere is a file that cannot be read.
    dir.fails_as("filter -q -s web.rsieve -a FooBot cr*/** | crawl/dangling: No such file");
    std::fs::remove_file(dir.path("crawl/dangling")).unwrap();
    assert_eq!(dir.taken(&["cr*/**"], ""), expected);
    dir.write_list("crawl/[x]/*.txt");
    assert_eq!(dir.taken(&["crawl/**/[*].txt"], ""), ["crawl/[x]/*.txt"]);
}

/// The markers that Spark, Databricks, parquet-java and HDFS put beside the files of a data set, and
/// the files of tasks that failed.
#[test]
fn markers_of_query_engines_are_not_inputs() {
    let dir = snapshot_dir();
    for name in ["part-0.txt", "lang=de/part-0.txt", "_urls.txt"] {
        dir.write_list(&format!("d/{name}"));
    }
    for marker in [
        "_SUCCESS",
        "._SUCCESS.crc",
        ".part-0.txt.crc",
        "_committed_882345",
        "_started_882345",
        "_metadata",
        "_common_metadata",
        "part-1.txt._COPYING_",
        "_temporary/0/task_1/part-1.txt",
        "lang=de/_SUCCESS",
    ] {
        dir.write(&format!("d/{marker}"), "https://h1.example/marker\n");
    }
    for row in [
        "d | d/_urls.txt | d/part-0.txt",
        "d/* | d/_urls.txt | d/part-0.txt",
        "d/**/*.txt | d/_urls.txt | d/lang=de/part-0.txt | d/part-0.txt",
        "d/**/* | d/_urls.txt | d/lang=de/part-0.txt | d/part-0.txt",
        "d/** | d/_urls.txt | d/lang=de/part-0.txt | d/part-0.txt",
        // An explicit underscore, and a file that is named.
        "d/_temporary/**/*.txt | marker",
        "d/_S* | marker",
        "d/_SUCCESS | marker",
    ] {
        let (input, expected) = case(row);
        assert_eq!(dir.taken(&[input], ""), expected, "{input}");
    }
    // A data set of directories has no file, although Spark puts a marker beside these.
    dir.write("parts/_SUCCESS", "");
    dir.write_list("parts/lang=de/part-0.txt");
    dir.fails_as("filter -s web.rsieve -a FooBot parts | parts: a directory without files | glob");
}

/// The files of a table with a log also hold deleted rows.
#[test]
fn tables_with_a_log_are_refused() {
    let dir = snapshot_dir();
    for file in [
        "delta/part-0.txt",
        "delta/lang=de/part-1.txt",
        "ice/data/part-0.txt",
        "ice/data/lang=de/part-1.txt",
        "hudi/part-0.txt",
        "other/part-0.txt",
        "other/metadata/crawl.metadata.json",
    ] {
        dir.write_list(file);
    }
    dir.write("delta/_delta_log/00000000000000000000.json", "{}\n");
    let metadata = "00000-f463ba78-a472-4032-a02a-4cedf9c8ccf3.metadata.json";
    dir.write(&format!("ice/metadata/{metadata}"), "{}\n");
    dir.write("hudi/.hoodie/hoodie.properties", "");
    dir.write("names", "delta/part-0.txt\nice/data/part-0.txt\n");
    dir.write("globs", "other\ndelta/*.txt\n");
    for row in [
        "delta | delta: belongs to the Delta Lake table  | one by one",
        "delta/lang=de | delta/lang=de: belongs to the Delta",
        "delta/**/*.txt | belongs to the Delta Lake table ",
        "*/*.txt | belongs to the Delta Lake table ",
        "--files-from globs | belongs to the Delta Lake table ",
        "ice | ice: belongs to the Iceberg table ",
        "ice/data | ice/data: belongs to the Iceberg table ",
        "ice/data/lang=*/* | belongs to the Iceberg table ",
        "hudi | hudi: belongs to the Hudi table ",
    ] {
        for verb in ["filter", "annotate", "report"] {
            dir.all_fail(&[&format!("{verb} -s web.rsieve -a FooBot {row}")]);
        }
    }
    // Their engine may list the files that hold its rows.
    assert_eq!(
        dir.taken(&["delta/lang=de/part-1.txt", "--files-from", "names"], ""),
        [
            "delta/lang=de/part-1.txt",
            "delta/part-0.txt",
            "ice/data/part-0.txt"
        ]
    );
    assert_eq!(dir.taken(&["other"], ""), ["other/part-0.txt"]);
}

#[test]
fn annotate_expands_inputs() {
    let ran = lists_dir().done_line("annotate -q -s web.rsieve -a FooBot --shard 1/2 crawl");
    assert_eq!(ran.stdout, b"A\thttps://h1.example/crawl/10.txt\n");
}

#[test]
fn shards_partition_the_inputs() {
    let dir = lists_dir();
    let all = ["--files-from", "list", "crawl", "a.txt"];
    let mut taken = Vec::new();
    for shard in ["1/4", "2/4", "3/4", "4/4"] {
        let part = dir.taken(&[&all[..], &["--shard", shard]].concat(), "");
        assert!((1..=2).contains(&part.len()), "{shard}: {part:?}");
        taken.extend(part);
    }
    let mut expected = dir.taken(&all, "");
    taken.sort();
    expected.sort();
    assert_eq!(taken, expected);
    // A shard without inputs does nothing. In particular it does not wait for standard input.
    let nothing: [&str; 0] = [];
    let found = dir.taken(&["--shard", "2/2", "a.txt"], "https://h1.example/stdin\n");
    assert_eq!(found, nothing);
}

#[test]
fn arguments_without_inputs_are_refused() {
    let dir = lists_dir();
    dir.write("blank", "\n \n");
    dir.all_fail(&[
        "filter -s web.rsieve -a FooBot *.gz | *.gz: no file has this name | ls",
        "filter -s web.rsieve -a FooBot a.txt[ | a.txt[: not a glob",
        "filter -s web.rsieve -a FooBot none.txt | none.txt: No such file",
        "filter -s web.rsieve -a FooBot empty | empty: a directory without files | glob",
        "filter -s web.rsieve -a FooBot --files-from blank | --files-from lists none",
        "filter -s web.rsieve -a FooBot --files-from none | none: No such file",
        "filter -s web.rsieve -a FooBot --files-from - - | --files-from - | leave one out",
        "filter -s web.rsieve -a FooBot --shard 1/2 | --shard divides inputs | --files-from",
        "filter -s web.rsieve -a FooBot --shard 0/4 a.txt | from 1 to N",
        "filter -s web.rsieve -a FooBot --shard 5/4 a.txt | from 1 to N",
    ]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let dir = snapshot_dir();
    let name = std::ffi::OsStr::from_bytes(b"\xff.txt");
    dir.write_list("odd/a.txt");
    fs::write(dir.path("odd").join(name), "https://h1.example/odd\n").unwrap();
    assert_eq!(dir.taken(&["odd"], ""), ["odd/a.txt", "odd"]);
    assert_eq!(dir.taken(&["odd/*"], ""), ["odd/a.txt"]);
}

#[cfg(target_os = "linux")]
#[test]
fn inputs_may_exceed_the_open_file_limit() {
    let dir = snapshot_dir();
    for i in 0..100 {
        dir.write_list(&format!("many/{i:02}"));
    }
    let binary = env!("CARGO_BIN_EXE_robosieve");
    let command =
        format!("ulimit -n 40; {binary} filter -q -j 2 -s web.rsieve -a FooBot many < /dev/null");
    let out = std::process::Command::new("bash")
        .args(["-c", &command])
        .current_dir(dir.root())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "");
    let found = out.stdout.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(found, 100);
}
