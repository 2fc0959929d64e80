//! Random records, reports, and members of odd sizes.

use super::outputs::check_index;
use super::{all, gunzip, gz, gz_at, gz_each, judging, members, record, response, snapshot_dir};
use crate::command::{assert_has, words};
use crate::snapshots::{judge_for, snapshot_of_robots};
use proptest::prelude::*;
use robosieve::Judge;
use robosieve::job::{FilterStats, Form, Input, Job, Output, Outputs, Written};
use std::fs;
use std::io::Cursor;

/// A judge whose rules are those of [`snapshot_dir`].
fn judge() -> Judge {
    let snapshot = snapshot_of_robots("https://e.example", b"user-agent: *\ndisallow: /x");
    judge_for(snapshot, "FooBot")
}

/// The figures of a report do not depend on the container of the URLs.
#[test]
fn reports_count_records_as_a_list_of_their_urls() {
    let dir = snapshot_dir();
    // Enough records for several blocks, and one that is too long to be held.
    let mut records = Vec::new();
    for number in 0..400 {
        records.extend(all());
        let url = format!("https://e.example/{}{number}", ["a", "x", "xy"][number % 3]);
        records.push(response(&url, &vec![b'p'; 4_000]));
    }
    records.push(response("https://e.example/xlong", &vec![7; 20 << 20]));
    let plain = records.concat();
    dir.write("pages.warc", &plain);
    dir.write("pages.warc.gz", gz_each(&records));
    dir.write("whole.warc.gz", gz(&plain));
    dir.done(&judging(&words(
        "annotate -q pages.warc --as jsonl -o all.jsonl",
    )));
    let lines = dir.read_text("all.jsonl");
    // A list of records, so that secondary records have the URLs of their pages.
    let urls: String = lines
        .split_inclusive('\n')
        .filter(|line| !line.contains("\"type\":\"warcinfo\""))
        .collect();
    dir.write("urls.jsonl", urls.as_bytes());
    let report = |input: &str| {
        dir.done(&judging(&["report", "-q", input, "--json-to", "figures"]));
        let mut figures: serde_json::Value = serde_json::from_slice(&dir.read("figures")).unwrap();
        // The bytes are those of records, and the time is that of the run.
        figures["lists"]["bytes"].take();
        figures["made_at"].take();
        figures
    };
    let expected = report("urls.jsonl");
    assert!(expected["lists"]["refused_to_any"].as_u64().unwrap() > 800);
    for name in ["pages.warc", "pages.warc.gz", "whole.warc.gz"] {
        assert_eq!(report(name), expected, "{name}");
    }
}

/// The four outputs, the index, the counts, and the annotated lines.
type Filtered = ([Vec<u8>; 4], Vec<u8>, FilterStats, Vec<u8>);

fn filtered(judge: &Judge, file: &[u8], threads: usize, gzip: bool) -> Result<Filtered, String> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let input = || vec![Input::from_reader("x", Cursor::new(file.to_vec()))];
    let dir = tempfile::tempdir().unwrap();
    // A name without the extension of an archive suits both compressions.
    let ending = if gzip { ".gz" } else { "" };
    let names = ["k", "o", "u", "i"].map(|name| dir.path().join(format!("{name}{ending}")));
    let index = dir.path().join("index.cdxj");
    let ran = pool.install(|| {
        let [kept, other, unknown, invalid] = names.each_ref().map(Some);
        let outputs = Outputs {
            kept,
            other,
            unknown,
            invalid,
            index: Some(&index),
            ..Outputs::default()
        };
        let job = Job::new(judge).form(Form::Letters);
        let stats = job
            .filter(input(), outputs.try_map(Output::create)?)?
            .commit()?;
        let mut lines = Vec::new();
        let annotated = job.annotate(input(), Output::from_writer(&mut lines));
        assert_eq!(annotated.and_then(Written::commit)?, stats);
        let outs = names.map(|name| fs::read(name).unwrap());
        Ok((outs, fs::read(&index).unwrap(), stats, lines))
    });
    // The directory is another one in each run.
    let dir = dir.path().display().to_string();
    ran.map_err(|err: robosieve::Error| err.to_string().replace(&dir, "DIR"))
}

/// A record of a random file: its letter, its text, and the compression of its member.
#[derive(Clone)]
struct RandomRecord {
    letter: char,
    text: Vec<u8>,
    level: u32,
}

impl std::fmt::Debug for RandomRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {} bytes at level {}",
            self.letter,
            self.text.len(),
            self.level
        )
    }
}

/// A block: text, noise, or a WARC file of gzip members, whose headers look like those of the
/// outer file if the member does not compress them.
fn block() -> impl Strategy<Value = Vec<u8>> {
    let noise = |len: usize, seed: u64| {
        let mut state = seed | 1;
        let next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        std::iter::repeat_with(next).take(len).collect::<Vec<u8>>()
    };
    prop_oneof![
        6 => (0..2000usize).prop_map(|len| b"text ".repeat(len)),
        4 => (0..40_000usize, any::<u64>()).prop_map(move |(len, seed)| noise(len, seed)),
        1 => (1..3_000_000usize, any::<u64>()).prop_map(move |(len, seed)| noise(len, seed)),
        1 => Just(vec![b'z'; 17 << 20]),
        3 => (1..300usize, any::<u64>()).prop_map(move |(count, seed)| {
            gz(record("response", "https://e.example/x", &noise(4000, seed))).repeat(count)
        }),
    ]
}

fn random_record() -> impl Strategy<Value = RandomRecord> {
    let kind = prop_oneof![
        Just(('A', "response", "https://e.example/a")),
        Just(('D', "response", "https://e.example/x")),
        Just(('U', "conversion", "https://u.example/")),
        Just(('I', "resource", "dns:e.example")),
        Just(('I', "metadata", "")),
        Just(('K', "warcinfo", "")),
    ];
    (kind, block(), prop_oneof![Just(0u32), Just(1), Just(6)]).prop_map(
        |((letter, kind, url), block, level)| RandomRecord {
            letter,
            text: record(kind, url, &block),
            level,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn outputs_partition_the_records(records in proptest::collection::vec(random_record(), 1..12)) {
        let judge = judge();
        let members: Vec<Vec<u8>> = records.iter().map(|record| gz_at(&record.text, record.level)).collect();
        let texts: Vec<Vec<u8>> = records.iter().map(|record| record.text.clone()).collect();
        let of = |letters: &str, parts: &[Vec<u8>]| -> Vec<u8> {
            let parts = records.iter().zip(parts).filter(|(record, _)| letters.contains(record.letter));
            parts.flat_map(|(_, part)| part.clone()).collect()
        };
        let count = |letter: char| records.iter().filter(|record| record.letter == letter).count() as u64;
        for (file, parts) in [(members.concat(), &members), (texts.concat(), &texts)] {
            // An empty file is not a gzip file, so an output without records is an empty member.
            let none = if *parts == members { gz(b"") } else { Vec::new() };
            let one = filtered(&judge, &file, 1, false).unwrap();
            let (outs, index, stats, lines) = &one;
            for (out, letters) in outs.iter().zip(["KA", "D", "U", "I"]) {
                let expected = Some(of(letters, parts)).filter(|expected| !expected.is_empty());
                prop_assert!(*out == expected.unwrap_or_else(|| none.clone()), "{letters}");
            }
            let counted = [stats.allowed, stats.disallowed, stats.unknown, stats.invalid, stats.warcinfo];
            prop_assert_eq!(counted, ['A', 'D', 'U', 'I', 'K'].map(count));
            prop_assert_eq!(stats.lines, records.len() as u64 - count('K'));
            prop_assert_eq!(stats.bytes as usize, texts.concat().len());
            prop_assert_eq!(check_index(index, &outs[0], "k") as u64, count('A'));
            let letters: String = std::str::from_utf8(lines).unwrap().lines().map(|line| &line[..1]).collect();
            let expected: String = records.iter().map(|record| record.letter).collect();
            prop_assert_eq!(letters, expected.replace('K', "I"));
            prop_assert!(filtered(&judge, &file, 4, false).unwrap() == one, "threads");
        }
        // Texts become members of their own.
        let whole = filtered(&judge, &texts.concat(), 2, true).unwrap();
        for (out, letters) in whole.0.iter().zip(["KA", "D", "U", "I"]) {
            let expected: Vec<Vec<u8>> =
                records.iter().filter(|record| letters.contains(record.letter)).map(|record| record.text.clone()).collect();
            let expected = if expected.is_empty() { vec![Vec::new()] } else { expected };
            prop_assert!(self::members(out) == expected, "{letters}");
        }
        prop_assert_eq!(check_index(&whole.1, &whole.0[0], "k") as u64, count('A'));
    }

    #[test]
    fn damaged_bytes_are_errors_or_change_nothing_else(
        records in proptest::collection::vec(random_record().prop_filter("short", |record| record.text.len() < 9000), 1..6),
        at in any::<proptest::sample::Index>(),
        mask in 1..=255u8,
        cut in any::<bool>(),
    ) {
        let judge = judge();
        let mut file: Vec<u8> = records.iter().flat_map(|record| gz_at(&record.text, record.level)).collect();
        let at = at.index(file.len());
        file[at] ^= mask;
        if cut {
            file.truncate(at);
        }
        let one = filtered(&judge, &file, 1, false);
        let four = filtered(&judge, &file, 4, false);
        prop_assert!(one == four);
        if let Ok((outs, ..)) = one {
            // Bits of a header that mean nothing may differ; the texts are right.
            let texts: usize = outs.iter().map(|out| gunzip(out).len()).sum();
            let whole: usize = records.iter().map(|record| record.text.len()).sum();
            prop_assert!(texts == whole || cut, "{texts} {whole}");
        }
    }
}

#[test]
fn long_members_hold_one_record() {
    // Two records of 9 MiB in a member, after a member with one.
    let long = record("resource", "https://e.example/a", &vec![b'z'; 9 << 20]);
    let file = [gz(&all()[1]), gz([&long[..], &long].concat())].concat();
    let err = filtered(&judge(), &file, 2, false).unwrap_err();
    assert_has(&err, &format!("byte {}: ", gz(&all()[1]).len()));
    assert_has(&err, "decompress the file first");
}

/// A member that holds a WARC file without compression: each block of the file ends before one
/// of the inner members, and none of these is a record.
#[test]
fn members_inside_a_member_are_no_records() {
    let inner = gz(response("https://e.example/x", b"inner")).repeat(20_000);
    let outer = response("https://e.example/a", &inner);
    let (first, last) = (all()[1].clone(), all()[4].clone());
    assert!(inner.len() > 3 << 20, "{}", inner.len());
    let file = [gz(&first), gz_at(&outer, 0), gz(&last), gz(&first)].concat();
    for threads in [1, 3] {
        let (outs, _, stats, lines) = filtered(&judge(), &file, threads, false).unwrap();
        assert!(outs[0] == [gz(&first), gz_at(&outer, 0), gz(&first)].concat());
        assert_eq!((stats.allowed, stats.disallowed, stats.lines), (3, 1, 4));
        let expected = "A\thttps://e.example/a\nA\thttps://e.example/a\nD\thttps://e.example/x1\nA\thttps://e.example/a\n";
        assert_eq!(String::from_utf8(lines).unwrap(), expected);
    }
}
