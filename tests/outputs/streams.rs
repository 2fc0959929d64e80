//! Devices, pipes and open files are written in place, and symbolic links stay.

use super::{LIST, snapshot_dir};
use crate::command::{case, cells};
use ::parquet::file::reader::FileReader;
use std::fs;
use std::os::unix::fs::symlink;

/// The kept lines of the list, and the refused ones.
const KEPT: &str = "https://h.example/a\n";
const REFUSED: &str = "https://h.example/p\n";

#[test]
fn descriptors_keep_their_position() {
    let dir = snapshot_dir();
    let filter = "$R filter -q -s s -a a u.txt";
    let cases = [
        (
            format!("{filter} -o /dev/stdout >> all"),
            format!("before\n{KEPT}after\n"),
        ),
        (
            format!("{filter} --disallowed-to /dev/fd/3 3>> all > x"),
            format!("before\n{REFUSED}after\n"),
        ),
        (
            format!("{filter} -o /proc/self/fd/3 3>> all"),
            format!("before\n{KEPT}after\n"),
        ),
        (
            format!("{filter} -o link 3>> all"),
            format!("before\n{KEPT}after\n"),
        ),
        (
            format!("{filter} -o /dev/stderr 2>> all"),
            format!("before\n{KEPT}after\n"),
        ),
        // The output starts at the position of the shell's descriptor, and later output follows it.
        (
            format!("exec 3<> all; read <&3; {filter} -o /dev/fd/3; echo last >&3"),
            format!("before\n{KEPT}last\n"),
        ),
    ];
    for (command, expected) in cases {
        dir.write("all", "before\n");
        let _ = fs::remove_file(dir.path("link"));
        symlink("/dev/fd/3", dir.path("link")).unwrap();
        let ran = dir.shell(&format!("{command} && echo after >> all"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}");
        let all = dir.read_text("all");
        assert_eq!(
            all.strip_suffix("after\n").unwrap_or(&all),
            expected.strip_suffix("after\n").unwrap_or(&expected),
            "{command}"
        );
        assert!(dir.path("link").is_symlink());
    }
}

#[test]
fn every_verb_appends_to_descriptors() {
    let dir = snapshot_dir();
    for row in [
        "$R annotate -q -s s -a a -o /dev/fd/3 u.txt | A\thttps://h.example/a\n",
        "$R compile -q -o new --stats-json /dev/fd/3 web.jsonl | {\n",
        "$R compile -q -o new --stats-json - web.jsonl >&3 | {\n",
        "$R report -q -s s -a a --json-to /dev/fd/3 | {\n",
        "$R report -q -s s -a a --csv-to /dev/fd/3 | section,",
        "$R report -q -s s -a a --html /dev/fd/3 | <!DOCTYPE html>",
        "$R diff s t --svg /dev/fd/3 | <svg",
    ] {
        let [command, start] = cells(row);
        dir.write("all", "before\n");
        let ran = dir.shell(&format!("exec 3>> all; {command}"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}");
        let all = dir.read_text("all");
        assert!(
            all.strip_prefix("before\n")
                .is_some_and(|new| new.starts_with(start)),
            "{command}: {all:.100}"
        );
    }
}

#[test]
fn snapshots_and_tables_go_through_pipes() {
    let dir = snapshot_dir();
    for (command, made) in [
        (
            "$R compile -q -o /dev/stdout web.jsonl | cat > piped; cmp piped s",
            "piped",
        ),
        (
            "$R compile -q -o appended web.jsonl; $R compile -q -o /dev/fd/3 web.jsonl 3>> x; cmp x s",
            "x",
        ),
        (
            "$R filter -q -s s -a a in.parquet -o /dev/stdout | cat > piped.parquet",
            "piped.parquet",
        ),
        (
            "mkfifo fifo; cat fifo > got & $R filter -q -s s -a a u.txt -o fifo; wait; test -p fifo",
            "got",
        ),
    ] {
        let ran = dir.shell(command);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}");
        assert!(fs::metadata(dir.path(made)).unwrap().len() > 0, "{command}");
    }
    let piped = fs::File::open(dir.path("piped.parquet")).unwrap();
    let table = ::parquet::file::reader::SerializedFileReader::new(piped).unwrap();
    assert_eq!(table.metadata().file_metadata().num_rows(), 1);
    assert_eq!(dir.read_text("got"), KEPT);
}

#[test]
fn stdout_aliases_suppress_the_table() {
    let dir = snapshot_dir();
    let ran = dir.shell("$R report -s s -a a --json-to /dev/stdout");
    assert!(
        ran.stdout.ends_with(b"}\n"),
        "{}",
        String::from_utf8_lossy(&ran.stdout)
    );
}

#[test]
fn symbolic_links_are_kept() {
    let dir = snapshot_dir();
    dir.write("old", "old content");
    fs::create_dir(dir.path("sub")).unwrap();
    for (link, target) in [
        ("to_old", "old"),
        ("dangling", "sub/new"),
        ("chain", "dangling"),
    ] {
        symlink(target, dir.path(link)).unwrap();
    }
    for (link, real) in [
        ("to_old", "old"),
        ("chain", "sub/new"),
        ("dangling", "sub/new"),
    ] {
        dir.done(&["filter", "-q", "-s", "s", "-a", "a", "-o", link, "u.txt"]);
        assert!(
            ["to_old", "dangling", "chain"]
                .iter()
                .all(|link| dir.path(link).is_symlink()),
            "{link}"
        );
        assert_eq!(dir.read_text(real), KEPT);
        fs::remove_file(dir.path(real)).unwrap();
    }
    assert_eq!(dir.read_text("u.txt"), LIST);
}

#[test]
fn errors_name_the_output() {
    let dir = snapshot_dir();
    let big: String = (0..300_000)
        .map(|i| format!("https://h.example/{i}\n"))
        .collect();
    dir.write("big.txt", &big);
    dir.write("big.parquet", super::parquet(&big));
    let cases = [
        "$R filter -q -s s -a a -o /dev/full u.txt | robosieve: /dev/full: No space left on device",
        "$R filter -q -s s -a a -o x --invalid-to /dev/full u.txt | \
         robosieve: /dev/full: No space left",
        "$R filter -q -s s -a a u.txt > /dev/full | robosieve: standard output: No space left",
        "$R report -q -s s -a a --json-to x --csv-to /dev/full | \
         robosieve: /dev/full: No space left",
        "$R diff s t --svg /dev/full | robosieve: /dev/full: No space left",
        "$R compile -q -o x --stats-json /dev/full web.jsonl | robosieve: /dev/full: No space left",
        "$R compile -q -o /dev/full web.jsonl | robosieve: /dev/full: No space left",
        "$R filter -q -s s -a a -o /dev/full in.parquet | robosieve: /dev/full: No space left",
        "trap '' XFSZ; ulimit -f 400; $R filter -q -s s -a a -o x.txt big.txt | \
         robosieve: x.txt: File too large",
        "trap '' XFSZ; ulimit -f 100; $R filter -q -s s -a a -o x.parquet big.parquet | \
         robosieve: x.parquet: File too large",
        "trap '' XFSZ; ulimit -f 0; $R compile -q -o x.rsieve web.jsonl | \
         robosieve: x.rsieve: File too large",
    ];
    dir.all_shells_fail(&cases);
    for row in cases {
        let (command, _) = case(row);
        let stderr = dir.shell(command).stderr;
        assert!(!stderr.contains(".tmp"), "{command}: {stderr}");
        assert!(!stderr.contains("uncategorized"), "{command}: {stderr}");
    }
}

#[test]
fn too_many_open_files_are_explained() {
    let dir = snapshot_dir();
    let outputs = "-o x --disallowed-to y --unknown-to z --invalid-to w";
    let mut failures = Vec::new();
    for limit in 4..12 {
        let ran = dir.shell(&format!(
            "ulimit -n {limit}; $R filter -q -s s -a a -j 1 {outputs} u.txt"
        ));
        if ran.code == Some(2) && !ran.stderr.contains("shared libraries") {
            ran.says("Too many open files");
            failures.push(ran.stderr);
        }
    }
    // If an output exceeds the limit, the message names it.
    let of_output = |stderr: &&String| {
        ["x:", "y:", "z:", "w:"]
            .iter()
            .any(|name| stderr.contains(name))
    };
    let message = failures
        .iter()
        .find(of_output)
        .expect("an output exceeds the limit");
    assert!(message.contains("ulimit -n"), "{message}");
}

/// A closed standard output loses the lines, and a closed standard input has none. Rust opens
/// `/dev/null` for both.
#[test]
fn closed_standard_streams_are_errors() {
    let dir = snapshot_dir();
    for command in [
        "filter -s s -a a u.txt",
        "filter -s s -a a --disallowed-to new u.txt",
        "filter -s s -a a -o new --disallowed-to - u.txt",
        "filter -s s -a a -o /dev/stdout u.txt",
        "annotate -s s -a a u.txt",
        "due -s s u.txt",
        "export -s s -a a",
        "report -s s -a a --json-to new",
        "report -s s -a a --html -",
        "agents -s s",
        "agents",
        "inspect s",
        "diff s t --svg new",
        "lint robots.txt",
        "check -s s -a a https://h.example/",
        "compile -o new --stats-json - web.jsonl",
        "compile -o /dev/fd/1 web.jsonl",
        "completions bash",
        "man",
        "--version",
        "--help",
    ] {
        let words = ["standard output: it is closed; redirect it"];
        dir.shell_fails(&format!("$R {command} >&-"), &words);
        dir.shell_fails(&format!("$R {command} >&- <&-"), &words);
    }
    for command in [
        "filter -s s -a a",
        "filter -s s -a a -o new -",
        "annotate -s s -a a /dev/stdin",
        "annotate -s s -a a --files-from -",
        "due -s s -",
        "report -s s -a a --json-to new -",
        "compile -o new -",
        "captures -o new.captures web.jsonl -",
        "lint -",
        "lint --fix -",
        "check --robots - -a a /x",
    ] {
        let words = ["standard input: it is closed; name a file"];
        dir.shell_fails(&format!("$R {command} <&-"), &words);
    }
    // Nothing is lost in these, and messages go into no output.
    for command in [
        "$R filter -s s -a a -o new u.txt >&- <&- 2>&-",
        "$R filter -s s -a a u.txt >new 2>&- <&-",
        "$R compile -o new web.jsonl >&- <&- 2>&-",
    ] {
        let ran = dir.shell(command);
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
        let text = String::from_utf8_lossy(&dir.read("new")).into_owned();
        assert!(!text.is_empty(), "{command}");
        assert!(!text.contains("robosieve: "), "{command}");
        std::fs::remove_file(dir.path("new")).unwrap();
    }
    let ran = dir.shell("$R filter -s missing -a a u.txt 2>&-");
    assert_eq!((ran.code, ran.stdout), (Some(2), Vec::new()));
}
