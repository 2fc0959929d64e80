//! Forged snapshots that are small, and whose references lead to the same bytes again and again. All
//! checksums are right. Without a bound, each would take hours, or more memory than a machine has.
//! `scripts/x bombs` measures larger ones; `docs/LIMITS.md` lists the bounds.

use crate::forging::{
    FIRST_OPTIONAL, NUMBERS, SectionRow, assemble, assemble_rows, extents, intact, is_corrupt,
    sections, verdicts,
};
use robosieve::{Error, ErrorKind, Judge, JudgeOptions, Snapshot};
use robosieve_cli::report::Reporter;

const INDEX: usize = 1;
const ORIGINS: usize = 2;
const ORIGIN_METADATA: usize = 3;
const FILES: usize = 5;
const RULE_SETS: usize = 7;
const FILE_ROW: usize = 16;
const METADATA_ROW: usize = 16;
const BUCKET: usize = 64;
/// The offset of the mark in a bucket.
const MARK: usize = 20;

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// The intact snapshot after a change of one section.
fn forged(section: usize, change: impl FnOnce(&mut Vec<u8>)) -> Snapshot {
    let mut sections = sections(intact());
    change(&mut sections[section]);
    Snapshot::new(assemble(&sections)).unwrap()
}

fn is_refused<T>(result: Result<T, Error>, cause: &str) {
    let err = result.err().expect(cause);
    assert!(is_corrupt(&err) && err.to_string().contains(cause), "{err}");
}

#[test]
fn files_share_neither_texts_nor_names() {
    // The second row of two is that of the start or of the end, so every other file has everything.
    for (field, len) in [(4, 4), (8, 8)] {
        let snapshot = forged(FILES, |rows| {
            let end = rows[rows.len() - FILE_ROW..].to_vec();
            let last = rows.len() / FILE_ROW - 1;
            for row in 1..last {
                let at = row * FILE_ROW + field;
                rows[at..at + len].fill(0);
                if row % 2 == 1 {
                    rows[at..at + len].copy_from_slice(&end[field..field + len]);
                }
            }
        });
        // Judges and statistics verify no more than this.
        is_refused(
            snapshot.verify_judging_checksums(),
            "files are out of order",
        );
        is_refused(snapshot.verify_checksums(), "files are out of order");
    }
}

#[test]
fn keys_of_origins_do_not_overlap() {
    // The first key reaches into the entries after it.
    let snapshot = forged(ORIGINS, |entries| {
        let len = u16::from_le_bytes([entries[8], entries[9]]) + 100;
        entries[8..10].copy_from_slice(&len.to_le_bytes());
    });
    let first = snapshot.origins().next().unwrap();
    is_refused(first, "origin 0 does not end where the next one begins");
    // No bytes precede the first entry, and none are behind the last.
    let snapshot = forged(ORIGINS, |entries| entries.extend([0; 8]));
    let last = snapshot.origins().last().unwrap();
    is_refused(last, "does not end where the next one begins");
    let mut sections = sections(intact());
    sections[ORIGINS].splice(0..0, [0; 8]);
    for row in sections[ORIGIN_METADATA].chunks_mut(METADATA_ROW) {
        let entry = u32_at(row, 0);
        put_u32(row, 0, entry + 1);
    }
    let snapshot = Snapshot::new(assemble(&sections)).unwrap();
    is_refused(snapshot.verify(), "bytes before the first origin");
}

#[test]
fn only_full_buckets_of_the_index_are_marked() {
    let snapshot = forged(INDEX, |index| index[MARK] = 1);
    is_refused(
        snapshot.verify(),
        "a marked bucket of the index that has room",
    );
    // A full bucket whose free slots have another tag each.
    let snapshot = forged(INDEX, |index| {
        for lane in 0..10 {
            if index[2 * lane..2 * lane + 2] == [0; 2] {
                index[2 * lane] = 7;
            }
        }
    });
    assert!(extents(intact())[INDEX].len() >= BUCKET);
    is_refused(snapshot.verify(), "keys for 14 origins");
}

#[test]
fn unions_have_no_more_rules_than_a_robots_txt() {
    // A rule set of 120 KB a hundred times, for all agents of all files. `verify` refuses the rules
    // and the repetition; a judge does not verify them, so it has a bound of its own.
    let mut sections = sections(intact());
    let states = 5000_usize;
    let mut rules: Vec<u8> = [states as u32, 0, 0, 0]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    rules.extend([0xff; 16]);
    rules.resize(rules.len() + 24 * states, 0);
    let union = (rules.len() / 8) as u32;
    rules.extend([u32::MAX, 100].into_iter().flat_map(u32::to_le_bytes));
    rules.resize(rules.len() + 400, 0);
    sections[RULE_SETS] = rules;
    let files = sections[FILES].len() / FILE_ROW - 1;
    for file in 0..files {
        put_u32(&mut sections[FILES], file * FILE_ROW, union);
    }
    let snapshot = Snapshot::new(assemble(&sections)).unwrap();
    snapshot.verify_judging_checksums().unwrap();
    assert!(is_corrupt(&snapshot.verify().unwrap_err()));
    let agents = ["Absent".parse().unwrap()];
    let judge = Judge::new(&snapshot, &agents, JudgeOptions::default()).unwrap();
    is_refused(
        judge.judge(b"https://rules.example/a").map(drop),
        "a union of over 8 MB of rules",
    );
    is_refused(
        Reporter::new(&judge).of_snapshot().map(drop),
        "a union of over 8 MB of rules",
    );
}

/// The sections of the intact snapshot, with another one before that of the checksums.
fn with_section_bytes(number: u32, flags: u32, content: Vec<u8>) -> Vec<u8> {
    let sections = sections(intact());
    let (seed, sections) = sections.split_last().unwrap();
    let mut rows: Vec<SectionRow> = NUMBERS
        .into_iter()
        .zip(sections)
        .map(|(number, section)| SectionRow {
            number,
            flags: u32::from(number < FIRST_OPTIONAL),
            content: section.clone(),
        })
        .collect();
    rows.push(SectionRow {
        number,
        flags,
        content,
    });
    assemble_rows(rows, seed)
}

fn with_section(number: u32, flags: u32, content: Vec<u8>) -> Result<Snapshot, Error> {
    Snapshot::new(with_section_bytes(number, flags, content))
}

/// docs/FORMAT.md, section table: a reader ignores a section that it does not know and need not know.
#[test]
fn unknown_sections_are_ignored_unless_they_are_required() {
    let content = vec![7; 100_000];
    let snapshot = with_section(77, 0, content.clone()).unwrap();
    snapshot.verify().unwrap();
    let intact = Snapshot::new(intact()).unwrap();
    assert_eq!(verdicts(&snapshot), verdicts(&intact));
    assert!(
        snapshot
            .sections()
            .any(|section| section == ("unknown", 100_000))
    );
    // Its bytes have checksums too.
    let mut bytes = with_section_bytes(77, 0, content.clone());
    let at = bytes.len() - 70_000;
    bytes[at] ^= 1;
    let damaged = Snapshot::new(bytes).unwrap();
    is_refused(
        damaged.verify_checksums(),
        "\"unknown\" has another checksum",
    );
    let err = with_section(77, 1, content).unwrap_err();
    assert!(
        matches!(err.kind(), ErrorKind::UnknownSection { number: 77 }),
        "{err}"
    );
    assert!(err.to_string().contains("update robosieve"), "{err}");
    // Numbers ascend, and each is there once.
    for number in [0, 1, 12, 13, 14, 15] {
        is_refused(
            with_section(number, 0, Vec::new()),
            "the sections are out of order",
        );
    }
}

/// The offset of each entry in the section of origins.
fn entries(section: &[u8]) -> Vec<usize> {
    let next = |at: &usize| {
        let key_len = usize::from(u16::from_le_bytes([section[at + 8], section[at + 9]]));
        Some(at + (12 + key_len).next_multiple_of(8)).filter(|at| *at < section.len())
    };
    std::iter::successors(Some(0), next).collect()
}

#[test]
fn entries_of_sites_without_a_robots_txt_are_marked_or_left_to_the_metadata() {
    // After the class; `gone.example` alone has a 404.
    let section = &sections(intact())[ORIGINS];
    let marked = |at: &usize| section[at + 11] == 1;
    let all = entries(section);
    assert_eq!(all.len(), 14);
    let marked: Vec<usize> = all.iter().copied().filter(marked).collect();
    assert_eq!(marked.len(), 1);
    assert!(section[marked[0] + 12..].starts_with(b"http://gone.example"));
    let unmarked = forged(ORIGINS, |entries| entries[marked[0] + 11] = 0);
    unmarked.verify().unwrap();
    let snapshot = Snapshot::new(intact().to_vec()).unwrap();
    assert_eq!(verdicts(&unmarked), verdicts(&snapshot));
    for at in all.into_iter().filter(|at| !marked.contains(at)) {
        let snapshot = forged(ORIGINS, |entries| entries[at + 11] = 1);
        assert!(is_corrupt(&snapshot.verify().unwrap_err()), "{at}");
        let read: Result<Vec<_>, _> = snapshot.origins().collect();
        assert!(is_corrupt(&read.unwrap_err()), "{at}");
    }
    let snapshot = forged(ORIGINS, |entries| entries[marked[0] + 11] = 2);
    is_refused(snapshot.verify(), "an origin's outcome class");
}
