//! Damaged and forged snapshots: nothing panics or hangs, and every wrong verdict is detected.

use crate::forging::{
    AGENTS, ALIGN, DICTIONARY, FILES, HEAD, HEADER, HISTORY, METADATA, RULE_SETS, SECTIONS, TEXTS,
    UNION, URLS, ask, assemble, extents, intact, is_corrupt, put_u64, seal_head, sections,
    survives, verdicts,
};
use crate::generate::Random;
use crate::snapshots::judge_for;
use crate::waiting::bounded;
use robosieve::job::{Input, Job, Output};
use robosieve::snapshot::{FORMAT_VERSION, OriginEntry};
use robosieve::{ErrorKind, Result, Snapshot};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::Cursor;
use std::sync::{Arc, Mutex};

/// Runs the cases in order, and names the one that panics, fails or hangs.
fn sweep<C: Copy + Debug + Send + 'static>(cases: Vec<C>, run: impl Fn(C) + Send + 'static) {
    assert!(!cases.is_empty());
    let last = Arc::new(Mutex::new(None));
    let current = last.clone();
    let swept = bounded(move |step| {
        for case in cases {
            step(format!("the case {case:?}"));
            *current.lock().unwrap() = Some(case);
            run(case);
        }
    });
    assert!(
        swept.is_ok(),
        "{:?} panics or fails; see its message above",
        last.lock().unwrap()
    );
}

/// Random bytes, in styles whose offsets and counts are often almost within bounds.
fn garbage(random: &mut Random, len: u64) -> Vec<u8> {
    let style = random.below(4);
    let mut byte = || match style {
        0 => random.next() as u8,
        1 => random.below(3) as u8 * u8::from(random.below(4) == 0),
        2 => u8::MAX * u8::from(random.below(4) > 0),
        _ => random.pick(b"/*.a\0\x01\xff%"),
    };
    (0..len).map(|_| byte()).collect()
}

#[test]
fn test_snapshot_is_rich() {
    let snapshot = Snapshot::new(intact()).unwrap();
    snapshot.verify().unwrap();
    assert!(
        snapshot
            .outcome_counts()
            .unwrap()
            .iter()
            .all(|(_, count)| *count > 0)
    );
    let origins: Vec<_> = snapshot.origins().map(Result::unwrap).collect();
    assert!(origins.iter().any(OriginEntry::has_last_good));
    assert!(origins.iter().any(|entry| entry.outcome().cut_short));
    assert!(
        origins
            .iter()
            .any(|entry| entry.source().is_some() && entry.detail().is_none())
    );
    assert!(origins.iter().any(|entry| entry.detail().is_some()));
    let sections = sections(intact());
    let empty = sections.iter().filter(|section| section.is_empty()).count();
    assert_eq!(empty, HISTORY, "all but those of a history have bytes");
    assert!(unions(&sections[RULE_SETS]) > 0, "no unions of rule sets");
    let verdicts = verdicts(&snapshot);
    assert!("ADUI".chars().all(|letter| verdicts.contains(letter)) && !verdicts.contains('!'));
}

/// Counts the unions in a section of rule sets.
fn unions(sets: &[u8]) -> usize {
    let word = |at: usize| u32::from_le_bytes(sets[at..at + 4].try_into().unwrap());
    let (mut at, mut found) = (0, 0);
    while at < sets.len() {
        let (first, second) = (word(at), word(at + 4));
        found += usize::from(first == UNION);
        at += if first == UNION {
            8 + (second as usize * 4).next_multiple_of(8)
        } else {
            let (prefixes, buckets, wildcards) =
                (first as usize, second as usize, word(at + 8) as usize);
            let patterns = word(at + 12) as usize & 0xff_ffff;
            32 + 24 * prefixes + 16 * buckets + 24 * wildcards + patterns.next_multiple_of(8)
        };
    }
    assert_eq!(at, sets.len());
    found
}

#[test]
fn layout_is_the_documented_one() {
    // The sections determine every other byte: header, table, checksums, order and padding.
    assert!(assemble(&sections(intact())) == intact());
}

#[test]
fn header_bit_flips_are_refused() {
    for bit in 0..HEAD * 8 {
        let mut bytes = intact().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let err = Snapshot::new(bytes).unwrap_err();
        let fits = match bit / 8 {
            0..8 => matches!(err.kind(), ErrorKind::NotASnapshot { .. }),
            8..12 => matches!(err.kind(), ErrorKind::UnsupportedVersion { .. }),
            _ => is_corrupt(&err),
        };
        assert!(fits, "bit {bit}: {err}");
    }
}

#[test]
fn verify_finds_changed_sections() {
    let bytes = extents(intact()).into_iter().flatten();
    let cases = bytes.map(|at| (at, [0x01, 0x80, 0xff][at % 3])).collect();
    sweep(cases, |(at, change): (usize, u8)| {
        let mut bytes = intact().to_vec();
        bytes[at] ^= change;
        let snapshot = Snapshot::new(bytes.clone()).unwrap();
        assert!(is_corrupt(&snapshot.verify().unwrap_err()));
        verdicts(&snapshot);
        ask(&snapshot);
    });
}

#[test]
fn only_padding_lacks_a_checksum() {
    let expected = verdicts(&Snapshot::new(intact()).unwrap());
    let mut covered = vec![false; intact().len()];
    covered[..HEAD].fill(true);
    extents(intact())
        .into_iter()
        .for_each(|extent| covered[extent].fill(true));
    let padding: Vec<usize> = (0..covered.len()).filter(|&at| !covered[at]).collect();
    for gap in padding.chunk_by(|a, b| a + 1 == *b) {
        assert!(
            gap.len() < ALIGN && (gap[gap.len() - 1] + 1).is_multiple_of(ALIGN),
            "{gap:?} is not padding"
        );
    }
    for at in padding {
        assert_eq!(intact()[at], 0);
        let mut bytes = intact().to_vec();
        bytes[at] = 0xff;
        let snapshot = Snapshot::new(bytes.clone()).unwrap();
        assert!(is_corrupt(&snapshot.verify().unwrap_err()), "byte {at}");
        assert!(verdicts(&snapshot) == expected, "byte {at}");
    }
}

#[test]
fn wrong_lengths_are_refused() {
    for len in 0..intact().len() {
        let err = Snapshot::new(&intact()[..len]).unwrap_err();
        let fits = if len < 8 {
            matches!(err.kind(), ErrorKind::NotASnapshot { .. })
        } else {
            is_corrupt(&err)
        };
        assert!(fits, "{len} bytes: {err}");
    }
    for more in [1, ALIGN, 1 << 16] {
        let bytes = [intact(), &vec![0; more]].concat();
        assert!(is_corrupt(&Snapshot::new(bytes).unwrap_err()));
    }
}

#[test]
fn magic_and_version_are_checked_first() {
    let garbage = garbage(&mut Random(1), 1000);
    for version in [
        0,
        FORMAT_VERSION - 1,
        FORMAT_VERSION + 1,
        0x0100_0000,
        u32::MAX,
    ] {
        for len in [0, 4, 20, HEAD, garbage.len()] {
            let bytes = [
                b"RSIEVE\x1a\n".as_slice(),
                &version.to_le_bytes(),
                &garbage[..len],
            ]
            .concat();
            let err = Snapshot::new(bytes).unwrap_err();
            let ErrorKind::UnsupportedVersion { found, supported } = err.kind() else {
                panic!("{err}")
            };
            assert_eq!((*found, *supported), (version, FORMAT_VERSION));
        }
    }
    // A transfer in text mode, other formats, an empty file.
    for start in [
        &b"RSIEVE\x1a\r\n"[..],
        b"RSIEVE\n",
        b"\x1f\x8b",
        b"WARC/1.0\r\n",
        b"{\"url\"",
        b"",
        b"rsieve\x1a\n",
    ] {
        let bytes = [start, &intact()[start.len()..]].concat();
        for bytes in [
            start,
            if start.is_empty() {
                b""
            } else {
                bytes.as_slice()
            },
        ] {
            assert!(
                matches!(
                    Snapshot::new(bytes.to_vec()).unwrap_err().kind(),
                    ErrorKind::NotASnapshot { .. }
                ),
                "{start:?}"
            );
        }
    }
}

#[test]
fn damaged_files_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut claims_much = intact().to_vec();
    put_u64(&mut claims_much, 16, 1 << 30);
    seal_head(&mut claims_much);
    // The last two are sparse files: opening must not read them.
    let cases: [(&str, &[u8], u64); 5] = [
        ("empty", b"", 0),
        ("cut", intact(), intact().len() as u64 - 1),
        ("claims 1 GiB", &claims_much, claims_much.len() as u64),
        ("is 1 GiB", intact(), 1 << 30),
        ("zeros", b"", 1 << 30),
    ];
    for (name, content, len) in cases {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(len)
            .unwrap();
        let err = Snapshot::open(&path).unwrap_err();
        let is_empty = content.is_empty();
        let found = matches!(err.kind(), ErrorKind::NotASnapshot { .. });
        assert_eq!(found, is_empty, "{err}");
        assert!(is_empty || is_corrupt(&err), "{err}");
        assert_eq!(err.path(), Some(path.as_path()));
    }
    assert!(Snapshot::open(dir.path()).is_err());
    assert!(Snapshot::open(dir.path().join("absent")).is_err());
}

#[test]
fn forged_tables_are_survived() {
    let len = intact().len() as u64;
    let values = [
        0,
        1,
        HEAD as u64 - 1,
        HEAD as u64,
        len - 1,
        len,
        len + 1,
        1 << 32,
        u64::MAX - 1,
        u64::MAX,
    ];
    let mut cases = Vec::new();
    for at in (HEADER..HEAD).step_by(8) {
        cases.extend(values.map(|value| (at, value)));
    }
    sweep(cases, |(at, value)| {
        let mut bytes = intact().to_vec();
        put_u64(&mut bytes, at, value);
        seal_head(&mut bytes);
        survives(&bytes);
    });
}

#[test]
fn swapped_sections_are_survived() {
    let pairs = (0..SECTIONS)
        .flat_map(|a| (0..SECTIONS).map(move |b| (a, b)))
        .filter(|(a, b)| a != b)
        .collect();
    sweep(pairs, |(a, b): (usize, usize)| {
        let mut sections = sections(intact());
        sections[a] = sections[b].clone();
        survives(&assemble(&sections));
    });
}

#[test]
fn forged_numbers_are_survived() {
    let mut cases = Vec::new();
    for (section, bytes) in sections(intact()).iter().enumerate() {
        if ![METADATA, TEXTS, DICTIONARY].contains(&section) {
            for (word, old) in bytes
                .as_chunks()
                .0
                .iter()
                .map(|old| u32::from_le_bytes(*old))
                .enumerate()
            {
                let values = [
                    0,
                    1,
                    old.wrapping_add(1),
                    old.wrapping_sub(1),
                    i32::MAX as u32,
                    u32::MAX - 1,
                    u32::MAX,
                ];
                let values = BTreeSet::from(values);
                let changed = values.into_iter().filter(|value| *value != old);
                cases.extend(changed.map(|value| (section, word * 4, value)));
            }
        }
    }
    sweep(cases, |(section, at, value): (usize, usize, u32)| {
        let mut sections = sections(intact());
        sections[section][at..at + 4].copy_from_slice(&value.to_le_bytes());
        survives(&assemble(&sections));
    });
}

#[test]
fn truncated_sections_are_survived() {
    let lens: Vec<usize> = sections(intact()).iter().map(Vec::len).collect();
    let cuts = |len: usize| {
        [
            0,
            1,
            7,
            8,
            len / 2,
            len.saturating_sub(8),
            len.saturating_sub(1),
        ]
    };
    let cases = (0..SECTIONS)
        .flat_map(|section| cuts(lens[section]).map(move |len| (section, len)))
        .collect();
    sweep(cases, |(section, len): (usize, usize)| {
        let mut sections = sections(intact());
        sections[section].truncate(len);
        survives(&assemble(&sections));
    });
}

#[test]
fn forged_metadata_is_survived() {
    let good = String::from_utf8(sections(intact())[METADATA].clone()).unwrap();
    let deep = "[".repeat(100_000);
    let forged = [
        good.replace("google", "rfc9309"),
        good.replace("google", "nobody"),
        good.replace(":1", ":18446744073709551615"),
        good.replace(
            "\"captured\":[",
            "\"captured\":[-9223372036854775808,9223372036854775807],\"x\":[",
        ),
        good.replace("\"tool\"", &format!("\"x\":{deep},\"tool\"")),
        deep,
        String::new(),
        "null".to_owned(),
    ];
    for metadata in forged {
        let mut sections = sections(intact());
        sections[METADATA] = metadata.into_bytes();
        survives(&assemble(&sections));
    }
}

#[test]
fn garbage_sections_are_survived() {
    sweep((0..5000).collect(), |seed: u64| {
        let mut random = Random(seed);
        let mut sections = sections(intact());
        for (i, section) in sections.iter_mut().enumerate() {
            // Without intact metadata no judging starts; with some intact sections garbage gets
            // further.
            let keep = if i == METADATA { 10 } else { 3 };
            if random.below(12) >= keep {
                let len = random.below(600);
                *section = garbage(&mut random, len);
            }
        }
        survives(&assemble(&sections));
    });
}

#[test]
fn damaged_rules_end_a_list() {
    let mut sections = sections(intact());
    sections[FILES].fill(0xfe);
    let bytes = assemble(&sections);
    let snapshot = Snapshot::new(bytes.clone()).unwrap();
    let judge = judge_for(&snapshot, AGENTS[0]);
    let list = Input::from_reader("list", Cursor::new(URLS.join("\n")));
    let mut out = Vec::new();
    let err = Job::new(&judge)
        .annotate(vec![list], Output::from_writer(&mut out))
        .unwrap_err();
    assert!(is_corrupt(&err), "{err}");
}
