//! No output overwrites an input of the run, under any of its names, and no two outputs are one
//! file.

use super::snapshot_dir;
use crate::test_dir::TestDir;
use std::fs;

/// Commands, and the words of the message: the output's option, and the role of the file.
const CASES: &[&str] = &[
    "$R filter -s s -a a -o u.txt u.txt | u.txt: would be overwritten | -o | an input (u.txt) | \
     another file with -o",
    "$R filter -s s -a a -o ./dir/../u.txt u.txt | -o | an input (u.txt)",
    "$R filter -s s -a a -o hard u.txt | hard | an input (u.txt)",
    "$R filter -s s -a a -o soft u.txt | soft | an input (u.txt)",
    "$R filter -s s -a a -o u.txt soft | an input (soft)",
    "$R filter -s s -a a -o u.txt < u.txt | -o | an input (standard input)",
    "$R filter -s s -a a -o u.txt - < hard | an input (standard input)",
    "$R filter -s s -a a -o u.txt 'u.tx?' | an input (u.txt)",
    "$R filter -s s -a a -o dir/x --shard 1/2 u.txt dir/x | an input (dir/x)",
    "$R filter -s s -a a -o new --disallowed-to u.txt u.txt | --disallowed-to | an input (u.txt)",
    "$R filter -s s -a a -o new --unknown-to u.txt u.txt | --unknown-to | an input (u.txt)",
    "$R filter -s s -a a -o new --invalid-to u.txt u.txt | --invalid-to | an input (u.txt)",
    "$R filter -s s -a a u.txt --disallowed-to s | --disallowed-to | the snapshot (s)",
    "$R filter -s s -a a -o s u.txt | -o | the snapshot (s)",
    "$R filter -s s --agents-from agents -o agents u.txt | -o | --agents-from (agents)",
    "$R filter -s s -a a --files-from list -o list | -o | --files-from (list)",
    "$R filter -s s -a a --files-from - -o list < list | -o | --files-from (standard input)",
    "$R filter -s s -a a u.txt >> u.txt | standard output | an input (u.txt) | redirect it",
    "$R filter -s s -a a -o in.parquet in.parquet | -o | an input (in.parquet)",
    "$R filter -s s -a a -o new.parquet --unknown-to s in.parquet | --unknown-to | \
     the snapshot (s)",
    "$R annotate -s s -a a -o in.parquet in.parquet | -o | an input (in.parquet)",
    "$R annotate -s s -a a -o u.txt u.txt | -o | an input (u.txt)",
    "$R annotate -s s -a a -o s u.txt | -o | the snapshot (s)",
    "$R annotate -s s -a a u.txt >> s | standard output | the snapshot (s)",
    "$R filter -s s -a a --out-dir . u.txt | --out-dir | an input (u.txt) | another directory",
    "$R filter -s s -a a --out-dir dir d2/agents --agents-from dir/agents | dir/agents | \
     --agents-from",
    "$R filter -s s -a a --out-dir out --invalid-to . u.txt | --invalid-to | an input (u.txt)",
    "$R filter -s s -a a --out-dir gone/../dir dir/x | `..` follows a folder that does not exist | \
     write the path without `..`",
    "$R filter -s s -a a --out-dir out --stats-json out/gone/../../u.txt u.txt | `..` follows",
    "$R filter -s s -a a --out-dir out u.txt out/.robosieve/u.txt.json | \
     an input (out/.robosieve/u.txt.json)",
    "$R report -s s -a a --html s | --html | the snapshot (s)",
    "$R report -s s -a a --json-to u.txt u.txt | --json-to | an input (u.txt)",
    "$R report -s s --agents-from agents --csv-to agents | --csv-to | --agents-from (agents)",
    "$R report -s s -a a >> s | standard output | the snapshot (s)",
    "$R diff s t --svg t | --svg | the new snapshot (t)",
    "$R diff s t --svg s | --svg | the old snapshot (s)",
    "$R diff s t --json >> s | standard output | the old snapshot (s)",
    "$R compile -o web.jsonl web.jsonl | -o | an input (web.jsonl)",
    "$R compile -o dir/h.example dir | -o | an input (dir/h.example)",
    "$R compile -o new --stats-json web.jsonl web.jsonl | --stats-json | an input (web.jsonl)",
    "$R compile -o new --stats-json web.jsonl - < web.jsonl | --stats-json | \
     an input (standard input)",
    "$R compile --previous s -o new --stats-json s web.jsonl | --stats-json | --previous (s)",
    "$R check --robots robots.txt -a a /p >> robots.txt | standard output | --robots (robots.txt)",
    "$R check -s s -a a https://h.example/p >> s | standard output | the snapshot (s)",
    "$R inspect s >> s | standard output | the snapshot (s)",
    "$R agents s >> s | standard output | the snapshot (s)",
    "$R bench -s s --urls u.txt --runs 1 >> u.txt | standard output | --urls (u.txt)",
    // Two outputs.
    "$R filter -s s -a a -o x --disallowed-to ./x u.txt | \
     named for two outputs, -o and --disallowed-to",
    "$R filter -s s -a a -o x --disallowed-to later u.txt | \
     named for two outputs, -o and --disallowed-to",
    "$R filter -s s -a a -o hard2 --invalid-to soft2 u.txt | \
     named for two outputs, -o and --invalid-to",
    "$R filter -s s -a a --unknown-to - u.txt | \
     named for two outputs, standard output and --unknown-to",
    "$R filter -s s -a a --unknown-to old u.txt >> old | named for two outputs",
    "$R filter -s s -a a --out-dir x --unknown-to ./x u.txt | \
     named for two outputs, --out-dir and --unknown-to",
    "$R report -s s -a a --html - --csv-to - | named for two outputs, --html and --csv",
    "$R report -s s -a a --json-to old --csv-to hard2 | \
     named for two outputs, --json-to and --csv-to",
    "$R compile -o new --stats-json new web.jsonl | named for two outputs, -o and --stats-json",
    "$R bench --origins 10 --urls 10 --write-to b | \
     named for two outputs, --write-to and --write-to",
];

/// A directory with other names of inputs and outputs: links, and folders that options read.
#[cfg(unix)]
fn links_dir() -> TestDir {
    use std::os::unix::fs::symlink;
    let dir = snapshot_dir();
    dir.write("old", "old content");
    dir.write("dir/x", "https://h.example/x\n");
    dir.write("dir/agents", "FooBot\n");
    dir.write("d2/agents", "https://h.example/x\n");
    dir.write("out/.robosieve/u.txt.json", "https://h.example/\n");
    dir.write("b/urls.txt", "");
    fs::hard_link(dir.path("b/urls.txt"), dir.path("b/robots.jsonl.zst")).unwrap();
    fs::hard_link(dir.path("u.txt"), dir.path("hard")).unwrap();
    fs::hard_link(dir.path("old"), dir.path("hard2")).unwrap();
    symlink("u.txt", dir.path("soft")).unwrap();
    symlink("old", dir.path("soft2")).unwrap();
    symlink("x", dir.path("later")).unwrap();
    dir
}

#[cfg(unix)]
#[test]
fn inputs_and_outputs_are_not_overwritten() {
    links_dir().all_shells_fail(CASES);
}

/// Files that take long to make, and commands that would replace them by another format.
const OTHER_FORMATS: &[&str] = &[
    "$R filter -s s -a a u.txt -o t | it is a snapshot, and text would replace it | another file",
    "$R filter -s s -a a u.txt -o other.rsieve | the name says .rsieve; name it other.txt",
    "$R filter -s s -a a u.txt -o new --unknown-to other.rsieve | the name says .rsieve",
    "$R filter -s s -a a u.txt -o own | it is a file of compiled lists, and text would replace it",
    "$R filter -s s -a a u.txt -o own.rlists | the name says .rlists; name it own.txt",
    "$R filter -s s -a a u.txt -o u.warc.gz | the name says .warc; name it u.txt",
    "$R filter -s s -a a u.txt -o u.arc | the name says .arc; name it u.txt",
    "$R filter -s s -a a u.txt -o u.wacz | the name says .wacz; name it u.txt",
    "$R filter -s s -a a u.txt -o c | it is a captures file",
    "$R filter -s s -a a in.parquet -o t | it is a snapshot, and a Parquet file would replace it",
    "$R annotate -s s -a a u.txt -o t | it is a snapshot",
    "$R report -s s -a a --json-to t | it is a snapshot",
    "$R diff s s --svg t | it is a snapshot",
    "$R export -s s -a a -o t | it is a snapshot",
    "$R export -s s -a a --as parquet -o t | it is a snapshot, and a Parquet file would replace it",
    "$R due -s s --stale-at now -o t | it is a snapshot",
    "$R compile -o own web.jsonl | it is a file of compiled lists, and a snapshot would replace it",
    "$R compile -o new --stats-json t web.jsonl | it is a snapshot",
    "$R compile -o x.rlists web.jsonl | name it x.rsieve",
    "$R captures -o t web.jsonl | it is a snapshot, and a captures file would replace it",
    "$R lists -o t hosts | it is a snapshot, and compiled lists would replace it",
];

#[cfg(unix)]
#[test]
fn files_of_this_program_are_not_replaced_by_other_formats() {
    let dir = links_dir();
    dir.write("hosts", "ads.example\n");
    dir.done_line("lists -q -o own hosts");
    dir.done_line("captures -q -o c web.jsonl");
    for copy in ["other.rsieve", "d3/u.txt"] {
        dir.write(copy, dir.read("t"));
    }
    dir.write("own.rlists", dir.read("own"));
    dir.all_shells_fail(OTHER_FORMATS);
    // Other files of the run would be written, so it has created the directory of states.
    let ran = dir.shell("$R filter -s s -a a u.txt --out-dir d3");
    ran.refused("d3/u.txt: cannot be an output: it is a snapshot");
    assert!(dir.read("d3/u.txt") == dir.read("t"));
}

/// A pipe, or standard input, that is named twice.
const STREAMS: &[&str] = &[
    "$R filter -s s -a a - - -o x < <(cat u.txt) | an input (-) is given twice | name it once",
    "$R filter -s s -a a - /dev/stdin -o x < <(cat u.txt) | an input (-) and an input (/dev/stdin) \
     are the same stream, which can be read once only; leave one out",
    "$R filter -s s -a a /dev/fd/0 /proc/self/fd/0 -o x < <(cat u.txt) | the same stream",
    "$R filter -s s -a a --shard 1/2 - - -o x < <(cat u.txt) | an input (-) is given twice",
    "$R filter -s s -a a - - -o x < u.txt | an input (-) is given twice",
    "$R filter -s s -a a - /dev/stdin -o x < u.txt | the same stream",
    "$R filter -s s -a a fifo fifo -o x | an input (fifo) is given twice",
    "$R filter -s s -a a fifo fifo2 -o x | an input (fifo) and an input (fifo2) are the same",
    "$R filter -s s -a a - fifo -o x < u.txt 0<> fifo | the same stream",
    "$R filter -s s -a a --files-from /dev/stdin - -o x < <(cat list) | \
     --files-from (/dev/stdin) and an input (-) are the same stream",
    "$R filter -s s --agents-from /dev/stdin - -o x < <(cat agents) | \
     --agents-from (/dev/stdin) and an input (-) are the same stream",
    "$R annotate -s s -a a - - -o x < <(cat u.txt) | is given twice",
    "$R report -s s -a a - - --json-to x < <(cat u.txt) | is given twice",
    "$R due -s s - - -o x < <(cat u.txt) | is given twice",
    "$R audit -s s -a a - - -o x < <(cat u.txt) | is given twice",
    "$R compile -o x - - < <(cat web.jsonl) | is given twice",
    "$R captures -o x - /dev/stdin < <(cat web.jsonl) | the same stream",
    "$R lint - - < <(cat robots.txt) | is given twice",
    "$R lint --fix - /dev/stdin < <(cat robots.txt) | the same stream",
    "$R lists -o x a=/dev/stdin b=- < <(cat list) | the same stream",
    "$R lists -o x a=fifo b=fifo | is given twice",
];

#[cfg(unix)]
#[test]
fn streams_are_named_once() {
    let dir = links_dir();
    let made = std::process::Command::new("mkfifo")
        .arg(dir.path("fifo"))
        .status()
        .unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("fifo", dir.path("fifo2")).unwrap();
    dir.all_shells_fail(STREAMS);
    // A regular file is read twice.
    let ran = dir.shell("$R filter -q -s s -a a u.txt u.txt | wc -l");
    assert_eq!((ran.code, ran.text().trim()), (Some(0), "2"));
    let ran = dir.shell("$R filter -q -s s -a a - u.txt < u.txt | wc -l");
    assert_eq!((ran.code, ran.text().trim()), (Some(0), "2"));
}

/// Only the directory decides whether a name may get another file.
#[test]
fn write_protected_files_are_not_replaced() {
    let dir = snapshot_dir();
    dir.write("protected", "https://h.example/\n");
    let mut permissions = std::fs::metadata(dir.path("protected"))
        .unwrap()
        .permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(dir.path("protected"), permissions).unwrap();
    for command in [
        "filter -q -s s -a a -o protected u.txt",
        "filter -q -s s -a a -o x --invalid-to protected u.txt",
        "report -q -s s -a a --json-to protected",
        "compile -q -o protected web.jsonl",
    ] {
        dir.run_line(command)
            .refused("protected: cannot be an output: it is write-protected")
            .says("chmod u+w");
        assert!(!dir.path("x").exists());
        assert_eq!(dir.read_text("protected"), "https://h.example/\n");
    }
}

#[cfg(unix)]
#[test]
fn other_files_may_be_overwritten() {
    for command in [
        "$R compile -q --previous s -o s web.jsonl",
        "$R compile -q --previous s -o ./s",
        "$R filter -q -s s -a a -o old u.txt",
        "$R filter -q -s s -a a -o dir/u.txt u.txt",
        "$R filter -q -s s -a a -o /dev/null --disallowed-to /dev/null --unknown-to /dev/null u.txt",
        "$R filter -q -s s -a a -o /dev/null < /dev/null",
        "$R filter -q -s s -a a -o x --disallowed-to y u.txt",
        "$R filter -q -s s -a a --out-dir x --disallowed-to x/no u.txt",
        "$R filter -q -s s -a a u.txt | cat > x",
        "$R report -q -s s -a a --json-to /dev/null --csv-to /dev/null",
        "$R annotate -q -s s -a a -o x - < u.txt",
    ] {
        let ran = links_dir().shell(command);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}");
    }
}
