//! Damaged and forged files of filter lists: nothing panics, and [`FilterLists::verify`] refuses
//! them.

use super::format::{
    CLASS_ROW_LEN, ClassRow, HOST_PATHS_LEN, HOSTS_PER_BLOCK, HostFilter, HostPathsRow,
    PATH_ENTRY_LEN, PATH_GROUP_LEN, PathGroupRow, Scheme, WORD_ROW_LEN, hash_host, stored_form,
};
use super::{FilterLists, ListCompiler, ListKind};
use crate::error::{Error, ErrorKind};
use crate::snapshot::format::{FileKind, NONE, Section};
use crate::snapshot::index::{BUCKET_LEN, IndexBuilder, Load};
use crate::snapshot::sections::Sections;
use std::io::Cursor;

const FIRST: &[&str] = &[
    "a.example",
    "=b.example",
    "@@www.a.example",
    "deep.er.sub.c.example",
    "192.0.2.7",
    "[2001:db8::7]/x",
    "p.example/dir/",
    "p.example/a*b",
    "@@p.example/dir/ok$",
    "https://p.example:8443",
    "||q.example/longer/path/of/more/bytes",
    "*.q.example/x*y*z$",
    "q.example:8080/z",
    "@@p.example/a*bc",
];

const SECOND: &[&str] = &[
    "a.example",
    "z.example",
    "p.example/dir/",
    "p.example/a*b",
    "=www.z.example",
    "ftp://z.example/y",
    "single/",
    "one.example",
    "two.example",
    "three.example",
    "four.example",
    "five.example",
    "six.example",
];

/// Lists of words, soft words and substrings.
const WORDS: [(ListKind, &[&str]); 3] = [
    (
        ListKind::Words,
        &["casino", "poker", "averylongwordofmanybytes"],
    ),
    (ListKind::SoftWords, &["adult", "casino", "live", "hot"]),
    (ListKind::Substrings, &["big win", "poker"]),
];

const URLS: &[&str] = &[
    "http://a.example/",
    "https://x.www.a.example/y",
    "http://b.example/",
    "http://s.b.example/",
    "http://deep.er.sub.c.example/",
    "http://sub.c.example/",
    "http://192.0.2.7/",
    "http://[2001:db8::7]/xy",
    "http://p.example/dir/ok",
    "http://p.example/dir/other",
    "http://p.example/a-b",
    "http://p.example/a-bc",
    "https://p.example:8443/q",
    "http://w.q.example/longer/path/of/more/bytes?",
    "http://w.q.example/x1y2z",
    "http://q.example:8080/zz",
    "ftp://z.example/yy",
    "http://www.z.example/",
    "http://single/",
    "http://unknown.example/",
    "http://unknown.example/the-Casino",
    "http://unknown.example/live/adult",
    "http://unknown.example/big%20-%20win",
    "http://unknown.example/averylongwordofmanybytes",
];

fn compile(first: &[&str], second: &[&str]) -> Vec<u8> {
    compile_with(first, second, &[])
}

fn compile_with(first: &[&str], second: &[&str], words: &[(ListKind, &[&str])]) -> Vec<u8> {
    let mut compiler = ListCompiler::new();
    for (name, lines) in [("first", first), ("second", second)] {
        let text = lines.join("\n");
        compiler
            .add(name, ListKind::Block, text.as_bytes())
            .unwrap();
    }
    for (kind, lines) in words {
        let text = lines.join("\n");
        let name = format!("{kind:?}");
        compiler.add(&name, *kind, text.as_bytes()).unwrap();
    }
    compiler.finish().unwrap().to_vec().unwrap()
}

fn intact() -> Vec<u8> {
    compile_with(FIRST, SECOND, &WORDS)
}

fn assert_damaged(err: &Error) {
    let is_expected = matches!(
        err.kind(),
        ErrorKind::DamagedLists { .. } | ErrorKind::NotFilterLists { .. }
    );
    assert!(is_expected, "{err}");
}

/// The answers for all URLs, `!` for an error.
fn answers(lists: &FilterLists) -> Vec<String> {
    let mut answers = Vec::new();
    for url in URLS {
        let found = lists.find(url.as_bytes());
        answers.push(match &found {
            Ok(None) => "-".to_owned(),
            Ok(Some(found)) => {
                let names: Vec<&str> = found.lists().collect();
                let entry = found.entry().inspect_err(assert_damaged);
                format!("{} {names:?}", entry.unwrap_or_else(|_| "!".to_owned()))
            }
            Err(err) => {
                assert_damaged(err);
                "!".to_owned()
            }
        });
    }
    answers
}

/// Uses a forged file. It may give an error or any answer. Returns why it is refused, if it is.
fn refusal(data: Vec<u8>) -> Option<String> {
    let lists = match FilterLists::new(data) {
        Ok(lists) => lists,
        Err(err) => {
            assert_damaged(&err);
            return Some(err.to_string());
        }
    };
    answers(&lists);
    let refused = lists.verify().err();
    refused.inspect(assert_damaged).map(|err| err.to_string())
}

/// The contents of the sections, in the order of [`Section::LISTS`].
#[derive(Clone)]
struct Parts {
    seed: u64,
    contents: Vec<Vec<u8>>,
}

impl Parts {
    fn of(data: Vec<u8>) -> Self {
        let lists = FilterLists::new(data).unwrap();
        let contents = Section::LISTS
            .iter()
            .map(|&section| lists.file.section(section).to_vec());
        Self {
            seed: lists.file.seed(),
            contents: contents.collect(),
        }
    }

    fn section(&mut self, section: Section) -> &mut Vec<u8> {
        let at = Section::LISTS.iter().position(|other| *other == section);
        &mut self.contents[at.unwrap()]
    }

    /// A file of these sections with right checksums.
    fn assemble(&self) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        let count = self.contents.len() + 1;
        let mut sections = Sections::new(&mut out, FileKind::FilterLists, count);
        for (section, content) in Section::LISTS.into_iter().zip(&self.contents) {
            let slot = sections.reserve(section, content.len() as u64);
            sections.fill(slot, |out| out.append(content)).unwrap();
        }
        sections.finish(self.seed).unwrap();
        out.into_inner()
    }
}

#[test]
fn intact_files_are_verified() {
    let data = intact();
    assert_eq!(Parts::of(data.clone()).assemble(), data);
    let lists = FilterLists::new(data).unwrap();
    lists.verify().unwrap();
    let answers = answers(&lists);
    assert!(answers.iter().all(|answer| answer != "!"), "{answers:?}");
    let listed = answers.iter().filter(|answer| *answer != "-").count();
    assert_eq!(listed, URLS.len() - 3, "{answers:?}");
    FilterLists::new(compile(&[], &[]))
        .unwrap()
        .verify()
        .unwrap();
    FilterLists::new(compile(&["a.example"], &[]))
        .unwrap()
        .verify()
        .unwrap();
}

#[test]
fn many_hosts_are_verified() {
    let mut lines = Vec::new();
    for number in 0..200_000 {
        lines.push(format!("h{}.d{}.example", number % 77, number / 2));
        lines.push(format!("d{}.example/p{number}", number / 64));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    FilterLists::new(compile(&lines, FIRST))
        .unwrap()
        .verify()
        .unwrap();
}

#[test]
fn flipped_bits_are_refused() {
    let data = intact();
    for at in 0..data.len() {
        for bit in 0..8 {
            let mut damaged = data.clone();
            damaged[at] ^= 1 << bit;
            assert!(refusal(damaged).is_some(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn truncated_files_are_refused() {
    let data = intact();
    for len in 0..data.len() {
        assert!(refusal(data[..len].to_vec()).is_some(), "{len}");
    }
    assert!(refusal([&data[..], b"\0"].concat()).is_some());
}

/// Bytes with right checksums may say anything, but contradictions are no panic.
#[test]
fn forged_bytes_never_panic() {
    let parts = Parts::of(intact());
    let intact_answers = answers(&FilterLists::new(parts.assemble()).unwrap());
    let mut refused = 0;
    let mut total = 0;
    for (number, section) in Section::LISTS.into_iter().enumerate() {
        for at in 0..parts.contents[number].len() {
            let byte = parts.contents[number][at];
            for value in [
                0,
                1,
                byte ^ 1,
                byte ^ 0x80,
                byte.wrapping_add(1),
                0x7f,
                0xff,
            ] {
                let mut forged = parts.clone();
                forged.contents[number][at] = value;
                let data = forged.assemble();
                let is_refused = refusal(data.clone()).is_some();
                refused += usize::from(is_refused);
                total += 1;
                // What the index has beside its keys is not compared, and changes no answer.
                if section == Section::HostIndex && !is_refused {
                    let found = answers(&FilterLists::new(data).unwrap());
                    assert_eq!(found, intact_answers, "byte {at} of the index");
                }
            }
        }
    }
    assert!(refused * 2 > total, "{refused} of {total}");
}

/// Sections of any length, with right checksums.
#[test]
fn forged_lengths_are_refused() {
    let parts = Parts::of(intact());
    for number in 1..parts.contents.len() {
        let content = &parts.contents[number];
        let name = Section::LISTS[number].name();
        for len in (0..content.len()).chain([content.len() + 1, content.len() + 64]) {
            let mut forged = parts.clone();
            forged.contents[number].resize(len, 0);
            assert!(
                refusal(forged.assemble()).is_some(),
                "{len} bytes of {name}"
            );
        }
    }
}

/// A change of the sections, and what the refusal names.
struct Forgery {
    name: &'static str,
    change: fn(&mut Parts),
    refusal: &'static str,
}

fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

fn replace(text: &mut Vec<u8>, from: &str, to: &str) {
    let changed = String::from_utf8(text.clone())
        .unwrap()
        .replacen(from, to, 1);
    assert_ne!(changed.as_bytes(), text);
    *text = changed.into_bytes();
}

const FORGERIES: &[Forgery] = &[
    Forgery {
        name: "the count of hosts",
        change: |parts| {
            replace(
                parts.section(Section::ListMetadata),
                "\"hosts\":",
                "\"hosts\":1",
            )
        },
        refusal: "the metadata counts",
    },
    Forgery {
        name: "the count of paths",
        change: |parts| {
            replace(
                parts.section(Section::ListMetadata),
                "\"paths\":",
                "\"paths\":1",
            )
        },
        refusal: "the metadata counts",
    },
    Forgery {
        name: "more exceptions than entries",
        change: |parts| {
            replace(
                parts.section(Section::ListMetadata),
                "\"exceptions\":",
                "\"exceptions\":9",
            );
        },
        refusal: "more exceptions than entries",
    },
    Forgery {
        name: "a set of a missing list",
        change: |parts| {
            let sets = parts.section(Section::ListSets);
            let at = sets.len() - 2;
            put_u16(sets, at, 7);
        },
        refusal: "the lists of the set",
    },
    Forgery {
        name: "a set 0 with lists",
        change: |parts| put_u32(parts.section(Section::ListSets), 4, 1),
        refusal: "the set 0 has lists",
    },
    Forgery {
        name: "no sets",
        change: |parts| put_u32(parts.section(Section::ListSets), 0, 0),
        refusal: "0 sets of lists",
    },
    Forgery {
        name: "an empty set",
        change: |parts| {
            let sets = parts.section(Section::ListSets);
            put_u32(sets, 8, 0);
        },
        refusal: "the set 1 is empty or repeated",
    },
    Forgery {
        name: "an unused set",
        change: |parts| {
            let rows = parts.section(Section::ListSets);
            let count = u32::from_le_bytes(rows[..4].try_into().unwrap());
            // The sets are {0, 1}, {0}, {1}, and those of words.
            assert_eq!(count, 7);
            let (ends, lists) = rows[4..].split_at(4 * 7);
            let end = lists.len() as u32 / 2 + 2;
            *rows = [
                &8u32.to_le_bytes()[..],
                ends,
                &end.to_le_bytes(),
                lists,
                &[0, 0, 4, 0],
            ]
            .concat();
        },
        refusal: "no entry has the set 7",
    },
    Forgery {
        name: "a class with a missing set",
        change: |parts| put_u16(parts.section(Section::ClassRows), 0, 99),
        refusal: "a set of lists 99",
    },
    Forgery {
        name: "a class with unknown flags",
        change: |parts| parts.section(Section::ClassRows)[8] |= 2,
        refusal: "unknown flags",
    },
    Forgery {
        name: "an unused class",
        change: |parts| {
            let mut row = [0; CLASS_ROW_LEN];
            row[..8].copy_from_slice(&[1, 0, 1, 0, 1, 0, 1, 0]);
            parts.section(Section::ClassRows).extend_from_slice(&row);
        },
        refusal: "no host has the class",
    },
    Forgery {
        name: "a repeated class",
        change: |parts| {
            let rows = parts.section(Section::ClassRows);
            let row = rows[..CLASS_ROW_LEN].to_vec();
            rows.extend_from_slice(&row);
        },
        refusal: "is repeated",
    },
    Forgery {
        name: "a class without anything",
        change: |parts| {
            parts
                .section(Section::ClassRows)
                .extend_from_slice(&[0; CLASS_ROW_LEN])
        },
        refusal: "says nothing",
    },
    Forgery {
        name: "a host with subdomains that its class lacks",
        change: |parts| {
            let rows = parts.section(Section::ClassRows);
            let class = rows
                .chunks_mut(CLASS_ROW_LEN)
                .find(|class| class[8] == 1 && class[0] > 0);
            class.unwrap()[8] = 0;
        },
        refusal: "about its subdomains",
    },
    Forgery {
        name: "a host that shares more than the one before has",
        change: |parts| parts.section(Section::HostTexts)[0] = 1,
        refusal: "",
    },
    Forgery {
        name: "a host of another text",
        change: |parts| parts.section(Section::HostTexts)[2] ^= 2,
        refusal: "",
    },
    Forgery {
        name: "blocks out of order",
        change: |parts| put_u32(parts.section(Section::HostBlocks), 4, 1 << 20),
        refusal: "the blocks of hosts are out of order",
    },
    Forgery {
        name: "bytes before the first host",
        change: |parts| put_u32(parts.section(Section::HostBlocks), 0, 1),
        refusal: "bytes before the first host",
    },
    Forgery {
        name: "another seed",
        change: |parts| parts.seed ^= 1,
        refusal: "the index does not lead to the host 0",
    },
    Forgery {
        name: "an empty filter",
        change: |parts| parts.section(Section::HostFilter).fill(0),
        refusal: "the filter is not that of the hosts",
    },
    Forgery {
        name: "a full filter",
        change: |parts| parts.section(Section::HostFilter).fill(0xff),
        refusal: "the filter is not that of the hosts",
    },
    Forgery {
        name: "a mark without need",
        change: |parts| parts.section(Section::HostIndex)[20] = 1,
        refusal: "a marked bucket of the index that has room",
    },
    Forgery {
        name: "a key without a host",
        change: |parts| {
            let index = parts.section(Section::HostIndex);
            let free = (0..10)
                .find(|lane| index[2 * lane..2 * lane + 2] == [0; 2])
                .unwrap();
            put_u16(index, 2 * free, 1);
        },
        refusal: "keys for",
    },
    Forgery {
        name: "a larger index",
        change: |parts| {
            parts
                .section(Section::HostIndex)
                .extend_from_slice(&[0; 64])
        },
        refusal: "",
    },
    Forgery {
        name: "another host with paths",
        change: |parts| put_u32(parts.section(Section::HostPaths), 0, 0),
        refusal: "of host paths",
    },
    Forgery {
        name: "a host without groups",
        change: |parts| put_u32(parts.section(Section::HostPaths), HOST_PATHS_LEN + 4, 0),
        refusal: "of host paths",
    },
    Forgery {
        name: "a first group that is not the first",
        change: |parts| put_u32(parts.section(Section::HostPaths), 4, 1),
        refusal: "of host paths",
    },
    Forgery {
        name: "an unknown scheme",
        change: |parts| parts.section(Section::PathGroups)[1] = 4,
        refusal: "unknown flags or schemes",
    },
    Forgery {
        name: "unknown flags of a group",
        change: |parts| parts.section(Section::PathGroups)[0] |= 4,
        refusal: "unknown flags or schemes",
    },
    Forgery {
        name: "a group that is wrong about wildcards",
        change: |parts| parts.section(Section::PathGroups)[0] ^= 2,
        refusal: "about wildcards",
    },
    Forgery {
        name: "the rules of another group",
        change: |parts| put_u32(parts.section(Section::PathGroups), PATH_GROUP_LEN + 4, 0),
        refusal: "is not that of its entries",
    },
    Forgery {
        name: "groups that share entries",
        change: |parts| put_u32(parts.section(Section::PathGroups), PATH_GROUP_LEN + 8, 0),
        refusal: "the entries of the group 0",
    },
    Forgery {
        name: "groups out of order",
        change: |parts| {
            // The first of the groups of `p.example` comes after the others.
            let rows = parts.section(Section::HostPaths).clone();
            let mut hosts = rows.windows(2 * HOST_PATHS_LEN).step_by(HOST_PATHS_LEN);
            let host = hosts.find(|pair| pair[12] - pair[4] == 3).unwrap();
            let at = usize::from(host[4]) * PATH_GROUP_LEN;
            let groups = parts.section(Section::PathGroups);
            groups[at] |= 1;
            groups[at + 1] = 3;
        },
        refusal: "out of order",
    },
    Forgery {
        name: "an entry that lists where the rule allows",
        change: |parts| {
            let rows = parts.section(Section::PathEntries);
            let exception = rows.chunks_mut(PATH_ENTRY_LEN).find(|row| row[7] == 1);
            exception.unwrap()[7] = 0;
        },
        refusal: "is not that of its entries",
    },
    Forgery {
        name: "an entry without lists",
        change: |parts| put_u16(parts.section(Section::PathEntries), 4, 0),
        refusal: "has no lists",
    },
    Forgery {
        name: "an entry of a missing set",
        change: |parts| put_u16(parts.section(Section::PathEntries), 4, 50),
        refusal: "a set of lists 50",
    },
    Forgery {
        name: "unknown flags of an entry",
        change: |parts| parts.section(Section::PathEntries)[6] |= 2,
        refusal: "the entry 0 for paths",
    },
    Forgery {
        name: "bytes before the first path",
        change: |parts| {
            parts.section(Section::PathEntries)[0] = 1;
            parts.section(Section::PathTexts)[1] = b'/';
        },
        refusal: "the entry 0 for paths",
    },
    Forgery {
        name: "another path",
        change: |parts| parts.section(Section::PathTexts)[1] ^= 3,
        refusal: "is not that of its entries",
    },
    Forgery {
        name: "a path without a slash",
        change: |parts| parts.section(Section::PathTexts)[0] = b'x',
        refusal: "the entry 0 for paths",
    },
    Forgery {
        name: "another end of the groups",
        change: |parts| {
            let rows = parts.section(Section::PathGroups);
            let at = rows.len() - PATH_GROUP_LEN + 4;
            put_u32(rows, at, 0);
        },
        refusal: "the last group",
    },
    Forgery {
        name: "another end of the entries",
        change: |parts| {
            let rows = parts.section(Section::PathEntries);
            let at = rows.len() - 1;
            rows[at] = 1;
        },
        refusal: "the last entry",
    },
    Forgery {
        name: "the count of words",
        change: |parts| {
            replace(
                parts.section(Section::ListMetadata),
                "{\"words\":",
                "{\"words\":1",
            )
        },
        refusal: "counts other words",
    },
    Forgery {
        name: "words that the metadata do not have",
        change: |parts| {
            replace(
                parts.section(Section::ListMetadata),
                ",\"words\":",
                ",\"others\":",
            )
        },
        refusal: "counts other words",
    },
    Forgery {
        name: "a threshold of no soft words",
        change: |parts| {
            replace(
                parts.section(Section::ListMetadata),
                "\"soft_threshold\":2",
                "\"soft_threshold\":0",
            )
        },
        refusal: "a threshold of 0 soft words",
    },
    Forgery {
        name: "a word in upper case",
        change: |parts| parts.section(Section::WordTexts)[0] = b'A',
        refusal: "the word 0",
    },
    Forgery {
        name: "words out of order",
        change: |parts| parts.section(Section::WordTexts)[0] = b'z',
        refusal: "the word 1",
    },
    Forgery {
        name: "bytes before the first word",
        change: |parts| parts.section(Section::Words)[0] = 1,
        refusal: "the word 0",
    },
    Forgery {
        name: "an empty word",
        change: |parts| {
            let second = parts.section(Section::Words)[WORD_ROW_LEN];
            parts.section(Section::Words)[2 * WORD_ROW_LEN] = second;
        },
        refusal: "the word 1",
    },
    Forgery {
        name: "a word of a missing set",
        change: |parts| put_u16(parts.section(Section::Words), 6, 60),
        refusal: "a set of lists 60",
    },
    Forgery {
        name: "a word without lists",
        change: |parts| put_u16(parts.section(Section::Words), 6, 0),
        refusal: "the word 0",
    },
    Forgery {
        name: "unknown flags of a word",
        change: |parts| parts.section(Section::Words)[10] = 1,
        refusal: "the row 0 of words",
    },
    Forgery {
        name: "another end of the words",
        change: |parts| {
            let rows = parts.section(Section::Words);
            let at = rows.len() - 1;
            rows[at] = 1;
        },
        refusal: "of words",
    },
    Forgery {
        name: "a filter without words",
        change: |parts| parts.section(Section::WordFilter).fill(0),
        refusal: "the word filter",
    },
    Forgery {
        name: "a filter with other words",
        change: |parts| parts.section(Section::WordFilter).fill(0xff),
        refusal: "the word filter",
    },
];

#[test]
fn contradictions_are_refused() {
    let parts = Parts::of(intact());
    let mut failures = Vec::new();
    for forgery in FORGERIES {
        let mut forged = parts.clone();
        (forgery.change)(&mut forged);
        let refused = refusal(forged.assemble());
        if !refused
            .as_ref()
            .is_some_and(|refused| refused.contains(forgery.refusal))
        {
            failures.push(format!("{}: {refused:?}", forgery.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The class of a host, of which there may be none: that is one of the forgeries.
fn forged_class(rows: &[u8], classes: &[u8], host: u32) -> ClassRow {
    let class = classes.get(host as usize).copied().unwrap_or_default();
    ClassRow::decode(rows, class.into()).unwrap_or_default()
}

impl Parts {
    /// Replaces the hosts, in this order and with these classes, by rows that look-ups find.
    fn set_hosts(&mut self, hosts: &[&str], classes: &[u8]) {
        let mut texts = Vec::new();
        let mut blocks = Vec::new();
        let mut index = IndexBuilder::new(hosts.len(), Load::FourFifths);
        let rows = self.section(Section::ClassRows).clone();
        let suffixes: Vec<u32> = (0..)
            .zip(hosts)
            .filter(|(_, host)| host.matches('.').count() < 2)
            .map(|(number, _)| number)
            .collect();
        let keys = suffixes
            .iter()
            .map(|host| HostFilter::keys(&forged_class(&rows, classes, *host)));
        let mut filter = vec![0; HostFilter::words(keys.sum())];
        for (number, host) in (0u32..).zip(hosts) {
            if number.is_multiple_of(HOSTS_PER_BLOCK) {
                blocks.extend_from_slice(&(texts.len() as u32).to_le_bytes());
            }
            texts.extend_from_slice(&[0, host.len() as u8]);
            texts.extend(stored_form(host.as_bytes()));
            let hash = hash_host(host.as_bytes(), self.seed);
            assert!(index.add(hash, number));
            if suffixes.contains(&number) {
                HostFilter::add(&mut filter, hash, &forged_class(&rows, classes, number));
            }
        }
        *self.section(Section::HostTexts) = texts;
        *self.section(Section::HostBlocks) = blocks;
        *self.section(Section::HostIndex) = index.finish().as_flattened().to_vec();
        *self.section(Section::HostFilter) =
            filter.into_iter().flat_map(u64::to_le_bytes).collect();
        *self.section(Section::HostClasses) = classes.to_vec();
    }
}

/// Hosts with their classes, and what the refusal names; nothing if the file is right.
struct ForgedHosts<'c> {
    hosts: &'c [&'c str],
    classes: &'c [u8],
    refusal: &'c str,
}

#[test]
fn hosts_need_their_ancestors_and_their_order() {
    // The classes are, by their first use: c.example, b.c.example, a.b.c.example.
    let lines = ["c.example", "a.b.c.example"];
    let parts = Parts::of(compile(&lines, &[]));
    let long = format!("{}.example", "a".repeat(246));
    let long = [long.as_str()];
    let case = |hosts, classes, refusal| ForgedHosts {
        hosts,
        classes,
        refusal,
    };
    let cases = [
        case(
            &["c.example", "b.c.example", "a.b.c.example"],
            &[0, 1, 2],
            "",
        ),
        case(
            &["c.example", "a.b.c.example"],
            &[0, 2],
            "the host 1 has no parent",
        ),
        case(
            &["b.c.example", "a.b.c.example"],
            &[1, 2],
            "the host 0 has no parent",
        ),
        case(
            &["z.example", "c.example"],
            &[2, 2],
            "the host 1 is out of order",
        ),
        case(
            &["c.example", "c.example"],
            &[2, 2],
            "the host 1 is out of order",
        ),
        case(&long, &[2], "the host 0 has 254 bytes"),
        case(&[""], &[2], "the host 0 has 0 bytes"),
        case(&["c.example", "d.example"], &[0, 2], "about its subdomains"),
    ];
    for case in cases {
        let mut forged = parts.clone();
        forged.set_hosts(case.hosts, case.classes);
        match refusal(forged.assemble()) {
            None => assert_eq!(case.refusal, "", "{:?}", case.hosts),
            Some(err) => assert!(
                !case.refusal.is_empty() && err.contains(case.refusal),
                "{:?}: {err}",
                case.hosts
            ),
        }
    }
}

/// An index all of whose slots have the tag of one host, and lead to another.
#[test]
fn hosts_with_one_tag_are_compared_a_few_times() {
    let mut parts = Parts::of(compile(&["a.example"], &[]));
    let hash = hash_host(b"b.example", parts.seed);
    let mut bucket = [0; BUCKET_LEN];
    for tag in bucket[..20].chunks_exact_mut(2) {
        tag.copy_from_slice(&(hash as u16).max(1).to_le_bytes());
    }
    // The mark of a full bucket.
    bucket[20] = 1;
    *parts.section(Section::HostIndex) = [bucket; 100].as_flattened().to_vec();
    let words = parts.section(Section::HostFilter);
    words.fill(0xff);
    let lists = FilterLists::new(parts.assemble()).unwrap();
    let err = lists.find(b"https://b.example/").unwrap_err();
    assert!(
        err.to_string().contains("too many hosts with one tag"),
        "{err}"
    );
    assert_damaged(&lists.verify().unwrap_err());
}

/// A bucket with these hosts, all of which have the tag of this hash.
fn tagged_bucket(hash: u64, hosts: &[u32], is_full: bool) -> [u8; BUCKET_LEN] {
    let mut bucket = [0; BUCKET_LEN];
    for (lane, host) in hosts.iter().enumerate() {
        bucket[2 * lane..][..2].copy_from_slice(&(hash as u16).max(1).to_le_bytes());
        bucket[24 + 4 * lane..][..4].copy_from_slice(&host.to_le_bytes());
    }
    bucket[20] = is_full.into();
    bucket
}

/// A host without entries may count by its tag alone only if no other host has this tag.
#[test]
fn entries_are_found_after_an_ancestor_with_their_tag() {
    let mut parts = Parts::of(compile(&["listed.example", "deeper.parent.example"], &[]));
    let hash = hash_host(b"listed.example", parts.seed);
    let (listed, parent) = (0u32, 1u32);
    let one = vec![tagged_bucket(hash, &[parent, listed], false)];
    let mut two = vec![
        tagged_bucket(hash, &[parent], true),
        tagged_bucket(hash, &[listed], false),
    ];
    // The search begins at the bucket that the high bit of the hash names.
    two.rotate_left((hash >> 63) as usize);
    for buckets in [one, two] {
        *parts.section(Section::HostIndex) = buckets.as_flattened().to_vec();
        let lists = FilterLists::new(parts.assemble()).unwrap();
        let found = lists.find(b"https://listed.example/").unwrap().unwrap();
        assert_eq!(found.entry().unwrap(), "listed.example");
    }
}

/// A file whose host `p.example` has many groups with the same rule set, entries and texts.
fn shared_groups(scheme: Scheme, groups: u32) -> FilterLists {
    let mut lines: Vec<String> = (0..8000).map(|n| format!("p.example/*a*{n:04}b")).collect();
    lines.push("p.example/*a".to_owned());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut parts = Parts::of(compile(&lines, &[]));
    let rows = parts.section(Section::PathGroups).clone();
    let group = PathGroupRow::decode(&rows, 0).unwrap();
    let group = PathGroupRow { scheme, ..group };
    let forged = parts.section(Section::PathGroups);
    forged.clear();
    for _ in 0..groups {
        group.encode(forged);
    }
    forged.extend_from_slice(&rows[PATH_GROUP_LEN..]);
    let host_paths = parts.section(Section::HostPaths);
    let host = HostPathsRow::decode(host_paths, 0).unwrap().host;
    host_paths.clear();
    for (host, first_group) in [(host, 0), (NONE, groups)] {
        HostPathsRow { host, first_group }.encode(host_paths);
    }
    FilterLists::new(parts.assemble()).unwrap()
}

#[test]
fn groups_do_not_share_rule_sets() {
    let lists = shared_groups(Scheme::ANY, 50_000);
    let err = lists.find(b"http://p.example/x/aaaa").unwrap_err();
    assert!(err.to_string().contains("share rule sets"), "{err}");
    assert!(lists.verify().is_err());
}

#[test]
fn hosts_do_not_share_groups() {
    // Groups of another scheme do not count, but each is read.
    let lines = [
        "https://p.example",
        "https://a.p.example",
        "https://b.a.p.example",
    ];
    let mut parts = Parts::of(compile(&lines, &[]));
    let rows = parts.section(Section::HostPaths);
    for (row, first_group) in [0, 3, 0, 3].into_iter().enumerate() {
        put_u32(rows, row * HOST_PATHS_LEN + 4, first_group);
    }
    let lists = FilterLists::new(parts.assemble()).unwrap();
    let err = lists.find(b"http://b.a.p.example/").unwrap_err();
    assert!(err.to_string().contains("share groups"), "{err}");
    let refused = lists.verify().unwrap_err().to_string();
    assert!(refused.contains("of host paths"), "{refused}");
}

#[test]
fn groups_do_not_share_entries() {
    let lines: Vec<String> = (1..2000)
        .map(|port| format!("p.example:{port}/*b"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut parts = Parts::of(compile(&lines, &[]));
    let rows = parts.section(Section::PathGroups);
    let count = (rows.len() / PATH_GROUP_LEN - 1) as u32;
    // Every other group has all entries, and counts for each port.
    let mut forged = Vec::new();
    for number in 0..count {
        PathGroupRow {
            port: 0,
            first_entry: count * (number % 2),
            ..PathGroupRow::decode(rows, number).unwrap()
        }
        .encode(&mut forged);
    }
    PathGroupRow::end(count).encode(&mut forged);
    *rows = forged;
    let lists = FilterLists::new(parts.assemble()).unwrap();
    let err = lists.find(b"http://p.example/b").unwrap_err();
    assert!(err.to_string().contains("share entries"), "{err}");
    assert!(lists.verify().is_err());
}

#[test]
fn names_of_a_match_are_not_repeated() {
    let mut parts = Parts::of(compile(&["a.example"], &[]));
    let mut sets = 2u32.to_le_bytes().to_vec();
    for end in [0, 100_000u32] {
        sets.extend_from_slice(&end.to_le_bytes());
    }
    sets.resize(sets.len() + 200_000, 0);
    *parts.section(Section::ListSets) = sets;
    let lists = FilterLists::new(parts.assemble()).unwrap();
    let found = lists.find(b"http://a.example/").unwrap().unwrap();
    assert_eq!(found.lists().collect::<Vec<_>>(), ["first"]);
    assert!(lists.verify().is_err());
}

#[test]
fn the_order_of_lines_does_not_matter() {
    let data = intact();
    let mut first = FIRST.to_vec();
    first.reverse();
    let mut second = SECOND.to_vec();
    second.rotate_left(3);
    assert!(compile_with(&first, &second, &WORDS) == data);
    first.rotate_left(5);
    let mut words = WORDS;
    let reversed = ["averylongwordofmanybytes", "poker", "casino"];
    words[0].1 = &reversed;
    assert!(compile_with(&first, &second, &words) == data);
    // Whereas that of lists does.
    assert!(compile_with(SECOND, FIRST, &WORDS) != data);
}

/// Zero bytes fill the words of short prefixes, but they are not the same as a zero in a path.
#[test]
fn zero_bytes_in_paths_are_compared() {
    let lines = [
        "a.example/x",
        "@@a.example/x\0",
        "a.example/x\0\0y",
        "a.example/\0",
    ];
    let lists = FilterLists::new(compile(&lines, &[])).unwrap();
    lists.verify().unwrap();
    let cases = [
        ("/", None),
        ("/x", Some("a.example/x")),
        ("/xy", Some("a.example/x")),
        ("/x\0", Some("@@a.example/x\0")),
        ("/x\0z", Some("@@a.example/x\0")),
        ("/x\0\0y", Some("a.example/x\0\0y")),
        ("/\0", Some("a.example/\0")),
    ];
    for (path, entry) in cases {
        let url = format!("http://a.example{path}");
        let found = lists.find(url.as_bytes()).unwrap();
        let found = found.map(|found| found.entry().unwrap());
        assert_eq!(found.as_deref(), entry, "{url:?}");
    }
}

/// The search for a substring is a binary one, and its comparisons read at most the longest word.
#[test]
fn substrings_that_do_not_ascend_are_refused_at_opening() {
    let honest = compile_with(
        &["a.example"],
        &[],
        &[(ListKind::Substrings, &["aa", "ab"])],
    );
    assert!(FilterLists::new(honest.clone()).is_ok());
    let long = [&[b'a'; 256][..], b"b"].concat();
    for (texts, second) in [(&b"abab"[..], 2), (b"abaa", 2), (&long, 256)] {
        let mut parts = Parts::of(honest.clone());
        put_u32(parts.section(Section::Words), WORD_ROW_LEN, second);
        let end = u32::try_from(texts.len()).unwrap();
        put_u32(parts.section(Section::Words), 2 * WORD_ROW_LEN, end);
        *parts.section(Section::WordTexts) = texts.to_vec();
        let err = FilterLists::new(parts.assemble()).unwrap_err();
        let refused = err.to_string();
        assert!(refused.contains("too long or out of order"), "{refused}");
    }
}
