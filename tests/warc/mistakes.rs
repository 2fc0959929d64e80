//! Mistaken options and damaged files.

use super::{all, gz, gz_each, judging, snapshot_dir};
use crate::command::{case, words};

#[test]
fn mistakes_have_advice() {
    let dir = snapshot_dir();
    dir.write("in.warc.gz", gz_each(&all()));
    dir.write("in.warc", all().concat());
    dir.write("list", b"https://e.example/a\n");
    for row in [
        "filter in.warc list -o x | give each kind to a run of its own",
        "annotate list in.warc.gz -o x | give each kind to a run of its own",
        "filter in.warc.gz -o go.warc | name it go.warc.gz",
        "filter in.warc.gz -o go.warc.zst | name it go.warc.gz",
        "filter in.warc -o go.txt | name it go.warc.gz",
        "filter in.warc -o go.parquet | name it go.warc.gz",
        "annotate in.warc -o go.warc.gz | text is written here | name it go.txt",
        "annotate in.warc --as bits -o x | letters, jsonl, csv or mask",
        "annotate in.warc --as csv -o x | tables (CSV, TSV)",
        "filter in.warc --field 2 -o x | WARC-Target-URI",
        "filter in.warc --host e.example -o x | WARC-Target-URI",
        "report in.warc --host e.example --json-to x | WARC-Target-URI",
        "report in.warc list --json-to x | give each kind to a run of its own",
    ] {
        let (line, expected) = case(row);
        dir.fails(&judging(&words(line)), &expected);
    }
}

#[test]
fn damage_names_the_file_and_the_offset() {
    let dir = snapshot_dir();
    let one = gz(&all()[1]);
    let two = gz(&all()[2]);
    let start = one.len();
    let long = |text: &[u8], by: usize| text[..text.len() - by].to_vec();
    let lies = String::from_utf8(all()[1].clone()).unwrap();
    let length = lies.find("Content-Length: ").unwrap() + 16;
    let with_length =
        |value: &str| format!("{}{value}{}", &lies[..length], &lies[length + 2..]).into_bytes();
    let mut flipped = two.clone();
    flipped[40] ^= 0x20;
    let mut checksum = two.clone();
    checksum[two.len() - 6] ^= 1;
    let third = all()[2].clone();
    let (half, rest) = third.split_at(60);
    let cases = [
        (
            "cut.warc.gz",
            [one.clone(), long(&two, 9)].concat(),
            start,
            "ends inside this gzip member",
        ),
        (
            "trailer.warc.gz",
            [one.clone(), long(&two, 1)].concat(),
            start,
            "ends inside this gzip member",
        ),
        (
            "header.warc.gz",
            [&one, &two[..5]].concat(),
            start,
            "ends inside this gzip member",
        ),
        (
            "flipped.warc.gz",
            [&one, &flipped, &two[..]].concat(),
            start,
            "gzip member",
        ),
        (
            "checksum.warc.gz",
            [&one, &checksum, &two[..]].concat(),
            start,
            "checksum",
        ),
        (
            "garbage.warc.gz",
            [&one, b"garbage garbage".as_slice(), &two].concat(),
            start,
            "no gzip header",
        ),
        (
            "half.warc.gz",
            [one.clone(), gz(half), gz(rest)].concat(),
            start,
            "ends inside a WARC record",
        ),
        (
            "long.warc.gz",
            [one.clone(), gz(with_length("99999"))].concat(),
            start,
            "ends inside a WARC record",
        ),
        (
            "short.warc.gz",
            [one.clone(), gz(with_length("3")), two.clone()].concat(),
            start,
            "Content-Length is wrong",
        ),
        (
            "huge.warc.gz",
            [one.clone(), gz(with_length("18446744073709551615"))].concat(),
            start,
            "Content-Length",
        ),
        (
            "none.warc.gz",
            [one.clone(), gz(b"WARC/1.0\r\n\r\n")].concat(),
            start,
            "Content-Length",
        ),
        (
            "other.warc.gz",
            [one.clone(), gz(b"<html>")].concat(),
            start,
            "should begin here",
        ),
        (
            "short.warc",
            [all()[1].clone(), with_length("3")].concat(),
            all()[1].len(),
            "Content-Length is wrong",
        ),
        (
            "long.warc",
            [all()[1].clone(), with_length("99")].concat(),
            all()[1].len(),
            "ends inside a WARC record",
        ),
        (
            "cut.warc",
            [&all()[1], &all()[2][..70]].concat(),
            all()[1].len(),
            "ends inside a WARC header",
        ),
        (
            "endless.warc",
            [b"WARC/1.0\r\n".as_slice(), &vec![b'x'; 2 << 20]].concat(),
            0,
            "header without end",
        ),
        (
            "endless.warc.gz",
            gz([b"WARC/1.0\r\n".as_slice(), &vec![b'x'; 40 << 20]].concat()),
            0,
            "header without end",
        ),
        (
            "whole.warc.gz",
            long(&gz(all().concat()), 3),
            0,
            "gzip member",
        ),
    ];
    for (name, bytes, offset, expected) in cases {
        dir.write(name, &bytes);
        for args in [
            &["filter", name, "-o", "new.gz"][..],
            &["filter", name, "-o", "new.gz", "-j1"],
            &["annotate", name, "-o", "new"],
        ] {
            let at = format!("byte {offset}:");
            dir.fails(&judging(args), &[name, expected, &at]);
        }
    }
}
