//! The archives of `datasets/small` give the expected verdicts in every packing.

use crate::command::{checkout, robosieve, words};
use crate::test_dir::gz;
use bstr::ByteSlice;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The agents of the columns of `expected.tsv`.
const AGENTS: &str = "GPTBot,Googlebot,Googlebot-Image:Googlebot,MJ12bot,FooBot";

/// The path of a shipped file.
fn shipped(name: &str) -> PathBuf {
    checkout().join("datasets/small").join(name)
}

/// The content of a shipped file.
fn content(name: &str) -> Vec<u8> {
    fs::read(shipped(name)).unwrap()
}

/// Runs `robosieve` in `dir`, asserts success, and returns its standard output.
fn run(dir: &Path, args: &[&str]) -> Vec<u8> {
    let ran = robosieve(dir, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran.stdout
}

/// Compiles `inputs` to `small.rsieve` in `dir`, and returns its bytes.
fn compile(dir: &Path, inputs: &[PathBuf]) -> Vec<u8> {
    let mut args = vec!["compile", "-q", "-o", "small.rsieve"];
    args.extend(inputs.iter().map(|input| input.to_str().unwrap()));
    run(dir, &args);
    fs::read(dir.join("small.rsieve")).unwrap()
}

/// A directory with `small.rsieve`, compiled from the shipped archives.
fn compiled() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    compile(dir.path(), &[shipped("robots.warc"), shipped("more.jsonl")]);
    dir
}

/// Annotates the shipped URLs with `small.rsieve` in `dir`.
fn annotate(dir: &Path) -> Vec<u8> {
    run(
        dir,
        &[
            "annotate",
            "-q",
            "-s",
            "small.rsieve",
            "-a",
            AGENTS,
            shipped("urls.txt").to_str().unwrap(),
        ],
    )
}

/// The first line in which two texts differ, for a readable message.
fn first_difference<'a>(
    got: &'a [u8],
    expected: &'a [u8],
) -> Option<(&'a bstr::BStr, &'a bstr::BStr)> {
    let lines = got
        .lines()
        .zip(expected.lines())
        .find(|(got, expected)| got != expected);
    lines.map(|(got, expected)| (got.as_bstr(), expected.as_bstr()))
}

/// Asserts that a packed WARC file gives the snapshot of the plain one, and the expected verdicts.
fn check_packed(warc: &[u8]) {
    let plain = compiled();
    let dir = tempfile::tempdir().unwrap();
    let packed = dir.path().join("packed");
    fs::write(&packed, warc).unwrap();
    let snapshot = compile(dir.path(), &[packed, shipped("more.jsonl")]);
    assert!(
        snapshot == fs::read(plain.path().join("small.rsieve")).unwrap(),
        "the snapshots differ"
    );
    assert!(
        annotate(dir.path()) == content("expected.tsv"),
        "the verdicts differ"
    );
}

/// The records of a WARC file. No body in `robots.warc` contains the separator of records.
fn records(warc: &[u8]) -> Vec<&[u8]> {
    const END: &[u8] = b"\r\n\r\n";
    let mut starts = vec![0];
    starts.extend(
        warc.find_iter(b"\r\n\r\nWARC/1.0\r\n")
            .map(|at| at + END.len()),
    );
    let ends = starts.iter().copied().skip(1).chain([warc.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| &warc[start..end])
        .collect()
}

/// The lines of `expected.tsv` whose first letter (GPTBot's) is `letter`, without the letters.
fn lines_with(letter: u8) -> Vec<u8> {
    let expected = content("expected.tsv");
    let lines = expected
        .lines_with_terminator()
        .filter(|line| line[0] == letter);
    lines
        .flat_map(|line| line.split_once_str("\t").unwrap().1)
        .copied()
        .collect()
}

#[test]
fn verdicts_are_as_expected() {
    let got = annotate(compiled().path());
    let expected = content("expected.tsv");
    assert_eq!(first_difference(&got, &expected), None);
    assert!(got == expected, "the numbers of lines differ");
}

#[test]
fn expected_urls_equal_shipped_urls() {
    let expected = content("expected.tsv");
    let urls = expected
        .lines_with_terminator()
        .map(|line| line.split_once_str("\t").unwrap().1);
    assert!(urls.collect::<Vec<_>>().concat() == content("urls.txt"));
}

#[test]
fn gzipped_warcs_give_the_same_verdicts() {
    check_packed(&gz(content("robots.warc")));
}

#[test]
fn warcs_of_gzip_members_give_the_same_verdicts() {
    let warc = content("robots.warc");
    let members: Vec<_> = records(&warc).into_iter().map(gz).collect();
    assert!(members.len() > 40, "the records were not separated");
    check_packed(&members.concat());
}

#[test]
fn zstd_warcs_give_the_same_verdicts() {
    check_packed(&zstd::encode_all(content("robots.warc").as_slice(), 3).unwrap());
}

#[test]
fn reversed_inputs_give_the_same_verdicts() {
    let plain = compiled();
    let dir = tempfile::tempdir().unwrap();
    let snapshot = compile(dir.path(), &[shipped("more.jsonl"), shipped("robots.warc")]);
    assert!(
        snapshot == fs::read(plain.path().join("small.rsieve")).unwrap(),
        "the snapshots differ"
    );
    assert!(
        annotate(dir.path()) == content("expected.tsv"),
        "the verdicts differ"
    );
}

#[test]
fn filter_partitions_the_lines() {
    let dir = compiled();
    let others = words("--disallowed-to d.txt --unknown-to u.txt --invalid-to i.txt");
    let urls = shipped("urls.txt");
    let args = [
        &["filter", "-q", "-s", "small.rsieve", "-a", "GPTBot"][..],
        &others,
        &[urls.to_str().unwrap()],
    ];
    let kept = run(dir.path(), &args.concat());
    assert_eq!(kept.as_bstr(), lines_with(b'A').as_bstr());
    for (file, letter) in [("d.txt", b'D'), ("u.txt", b'U'), ("i.txt", b'I')] {
        let got = fs::read(dir.path().join(file)).unwrap();
        assert_eq!(got.as_bstr(), lines_with(letter).as_bstr(), "{file}");
    }
}

#[test]
fn filter_names_the_option_that_keeps_unknown_origins() {
    let dir = compiled();
    let urls = shipped("urls.txt");
    for (keep, letter) in [("allowed", b'A'), ("disallowed", b'D')] {
        let args = [
            "filter",
            "-s",
            "small.rsieve",
            "-a",
            "GPTBot",
            "--keep",
            keep,
            urls.to_str().unwrap(),
        ];
        let ran = robosieve(dir.path(), &args);
        assert_eq!(
            ran.stdout.as_bstr(),
            lines_with(letter).as_bstr(),
            "by default they are not kept"
        );
        let hint = ran
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("not written: 35 lines of unknown origins ("));
        let option: Vec<&str> = hint.expect(&ran.stderr).split(' ').take(2).collect();
        assert_eq!(option[0], "--unknown", "{keep}: {}", ran.stderr);
        let followed = robosieve(dir.path(), &[&args[..], &option].concat());
        let kept = followed.stdout.lines().count() - ran.stdout.lines().count();
        assert_eq!(kept, lines_with(b'U').lines().count(), "{keep}: {option:?}");
        assert!(!followed.stderr.contains("unknown origins"), "{followed:?}");
    }
}
