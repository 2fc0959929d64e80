//! Damaged and forged histories: damage never changes a verdict silently, and contradictions are
//! refused. docs/FORMAT.md has the layout, sections 16 to 25.

use crate::forging::{
    TIMES, URLS, assemble, extents, history_tables, is_corrupt, overlapping, sections, survives,
    verdicts, verdicts_of_times, with_history,
};
use crate::generate::Random;
use robosieve::audit::{Audit, AuditOptions, AuditOutputs, DatedSnapshot};
use robosieve::job::Input;
use robosieve::{Compiler, ErrorKind, Judge, JudgeOptions, Remedy, Snapshot};
use serde_json::json;
use std::fmt::Write;
use std::io::Cursor;

const STARTS: usize = 14;
const VERSIONS: usize = 15;
const FAILURES: usize = 16;
const HISTORY_URLS: usize = 17;
const OLD_TEXTS: usize = 18;
const FRAMES: usize = 19;
const OLD_FILES: usize = 20;
const OLD_NAMED: usize = 21;
const OLD_RULE_SETS: usize = 22;
const OLD_TOKENS: usize = 23;
const VERSION_ROW: usize = 24;
const NONE: [u8; 4] = [0xff; 4];

fn forged(section: usize, change: impl FnOnce(&mut Vec<u8>)) -> Snapshot {
    let mut sections = sections(with_history());
    change(&mut sections[section]);
    Snapshot::new(assemble(&sections)).unwrap()
}

/// The row of the first version of a kind.
fn version_of_kind(kind: u8) -> usize {
    let versions = &sections(with_history())[VERSIONS];
    let mut rows = versions.chunks(VERSION_ROW);
    rows.position(|row| row[22] == kind).unwrap() * VERSION_ROW
}

#[test]
fn the_history_is_rich() {
    let snapshot = Snapshot::new(with_history()).unwrap();
    snapshot.verify().unwrap();
    assert!(assemble(&sections(with_history())) == with_history());
    for (section, rows) in [
        (STARTS, 14 * 4),
        (VERSIONS, 15 * VERSION_ROW),
        (FAILURES, 5 * 24),
        (HISTORY_URLS, 4),
        (OLD_TEXTS, 3 * 16),
        (FRAMES, 10),
        // The rules of the short text, and the end.
        (OLD_FILES, 2 * 16),
        (OLD_NAMED, 3 * 8),
        (OLD_RULE_SETS, 3 * 100),
        (OLD_TOKENS, 3 * 8 + 6),
    ] {
        assert!(sections(with_history())[section].len() >= rows, "{section}");
    }
    // A difference is among the old texts, and a redirect among the answers before failures.
    let texts = &sections(with_history())[OLD_TEXTS];
    assert!(texts.chunks(16).any(|row| row[8..12] != NONE));
    // So is one without stored rules, before the row of the end.
    let rows = texts.chunks(16).filter(|row| row[12..] == NONE);
    assert_eq!(rows.count(), 2);
    let failures = &sections(with_history())[FAILURES];
    assert!(failures.chunks(24).any(|row| row[20] == 2));
    let letters = verdicts_of_times(&snapshot);
    assert!(
        ['A', 'D', 'U']
            .iter()
            .all(|letter| letters.contains(*letter))
    );
}

/// A snapshot with a history is the one without, and ten sections more.
#[test]
fn newest_verdicts_do_not_depend_on_the_history() {
    let mut rest = sections(with_history());
    rest[STARTS..=OLD_TOKENS].iter_mut().for_each(Vec::clear);
    let without = Snapshot::new(assemble(&rest)).unwrap();
    without.verify().unwrap();
    let with = Snapshot::new(with_history()).unwrap();
    assert_eq!(verdicts(&with), verdicts(&without));
    let judge = Judge::new(&without, &[], JudgeOptions::default()).unwrap();
    let err = judge.judge_as_of(URLS[0].as_bytes(), 0).unwrap_err();
    assert!(matches!(err.kind(), ErrorKind::NoHistory));
    let options = JudgeOptions::default().as_of(0);
    let err = Judge::new(&without, &[], options).unwrap_err();
    assert!(matches!(err.kind(), ErrorKind::NoHistory));
}

/// A forger's change of a section.
type Change<'c> = &'c dyn Fn(&mut Vec<u8>);

#[test]
fn contradictory_histories_are_refused() {
    let [rules, failure, redirect] = [0, 2, 4].map(version_of_kind);
    let cases: [(usize, &str, Change<'_>); 30] = [
        (STARTS, "a history of another number of URLs", &|rows| {
            rows.extend([0; 4]);
        }),
        (STARTS, "a part of a row", &|rows| rows.push(0)),
        (STARTS, "out of order", &|rows| {
            rows[4..8].copy_from_slice(&NONE)
        }),
        (STARTS, "before those of the first", &|rows| rows[0] = 1),
        (STARTS, "without a version", &|rows| {
            rows[4..8].copy_from_slice(&[0; 4]);
        }),
        (VERSIONS, "versions", &|rows| rows.extend([0; VERSION_ROW])),
        (VERSIONS, "an unknown kind", &|rows| rows[22] = 9),
        (VERSIONS, "out of order", &|rows| {
            let last_seen = rows[..8].to_vec();
            rows[..8].copy_from_slice(&i64::MAX.to_le_bytes());
            rows[8..16].copy_from_slice(&last_seen);
        }),
        (VERSIONS, "does not exist", &|rows| {
            rows[rules + 16..][..4].copy_from_slice(&[0, 0, 1, 0]);
        }),
        (VERSIONS, "a string", &|rows| {
            rows[redirect + 16..][..4].copy_from_slice(&[0, 0, 1, 0]);
        }),
        (
            VERSIONS,
            "the failures of the versions are out of order",
            &|rows| {
                rows[failure + 16..][..4].copy_from_slice(&[9, 0, 0, 0]);
            },
        ),
        (FAILURES, "failures of no version", &|rows| {
            rows.extend([0; 24])
        }),
        (FAILURES, "before its first failure", &|rows| {
            rows[..8].copy_from_slice(&i64::MAX.to_le_bytes());
        }),
        (FAILURES, "an unknown kind", &|rows| rows[20] = 3),
        (FAILURES, "does not exist", &|rows| {
            rows[16..20].copy_from_slice(&[0, 0, 1, 0]);
            rows[20] = 1;
        }),
        (FAILURES, "a redirect without a target", &|rows| {
            rows[16..20].copy_from_slice(&NONE);
            rows[20] = 2;
        }),
        (HISTORY_URLS, "a string", &|rows| {
            rows[..4].copy_from_slice(&[0, 0, 1, 0]);
        }),
        (HISTORY_URLS, "another number of URLs", &|rows| {
            let copy = rows.clone();
            rows.extend(copy);
        }),
        (OLD_TEXTS, "out of order", &|rows| rows[0] = 1),
        (OLD_TEXTS, "does not exist", &|rows| rows.clear()),
        (FRAMES, "frames of no old text", &|rows| rows.push(0)),
        (OLD_TEXTS, "rules of old texts are out of order", &|rows| {
            let short = rows.chunks(16).position(|row| row[12..] != NONE).unwrap();
            rows[short * 16 + 12] += 1;
        }),
        (OLD_TEXTS, "rules of no old text", &|rows| {
            for row in rows.chunks_mut(16) {
                row[12..].copy_from_slice(&NONE);
            }
        }),
        (OLD_FILES, "robots.txt files are out of order", &|rows| {
            rows[4] = 1
        }),
        (OLD_FILES, "texts or named agents", &|rows| rows.push(0)),
        // The first text of an origin with named agents is one with a group for all others.
        (OLD_FILES, "the global rule set", &|rows| {
            let global = rows.chunks(16).position(|row| row[..4] != NONE).unwrap();
            rows[global * 16..][..4].copy_from_slice(&[1, 0, 0, 0]);
        }),
        (OLD_NAMED, "the named agents", &|rows| rows[0] = 99),
        (OLD_RULE_SETS, "rule set", &|sets| {
            sets.pop();
        }),
        (OLD_RULE_SETS, "of robots.txt", &|sets| sets.clear()),
        (OLD_TOKENS, "the tokens are out of order", &|tokens| {
            let last = tokens.len() - 1;
            tokens[last] = 0;
            let first = 8 + 8 * (u64::from(tokens[0]) as usize + 1);
            tokens[first] = b'z';
        }),
    ];
    for (section, cause, change) in cases {
        let err = forged(section, change).verify().expect_err(cause);
        assert!(is_corrupt(&err), "{err}");
        assert!(err.to_string().contains(cause), "{section} {cause}: {err}");
    }
}

/// At most two frames are read for a text.
#[test]
fn differences_to_differences_are_refused() {
    let files = Snapshot::new(with_history()).unwrap().metadata().unwrap();
    let old = files.counts.files as u32;
    let snapshot = forged(OLD_TEXTS, |rows| {
        for row in rows.chunks_mut(16) {
            row[8..12].copy_from_slice(&old.to_le_bytes());
        }
    });
    assert!(is_corrupt(&snapshot.verify().unwrap_err()));
    assert!(verdicts_of_times(&snapshot).contains('!'));
}

#[test]
fn a_part_of_a_history_is_refused() {
    for section in VERSIONS..=OLD_TOKENS {
        let mut sections = sections(with_history());
        sections[STARTS..=OLD_TOKENS]
            .iter_mut()
            .enumerate()
            .filter(|(number, _)| STARTS + number != section)
            .for_each(|(_, content)| content.clear());
        let snapshot = Snapshot::new(assemble(&sections)).unwrap();
        let err = snapshot.verify().unwrap_err().to_string();
        assert!(err.contains("a part of a history"), "{err}");
        assert!(!snapshot.has_history());
    }
}

/// As programs wrote them before the rules of old texts were stored: the texts say the same.
#[test]
fn histories_without_stored_rules_give_the_same_verdicts() {
    let mut older = sections(with_history());
    older[OLD_FILES..=OLD_TOKENS]
        .iter_mut()
        .for_each(Vec::clear);
    for row in older[OLD_TEXTS].chunks_mut(16) {
        row[12..].fill(0);
    }
    let older = Snapshot::new(assemble(&older)).unwrap();
    older.verify().unwrap();
    let snapshot = Snapshot::new(with_history()).unwrap();
    assert_eq!(verdicts_of_times(&older), verdicts_of_times(&snapshot));
    for section in OLD_FILES..=OLD_TOKENS {
        let mut sections = sections(with_history());
        sections[OLD_FILES..=OLD_TOKENS]
            .iter_mut()
            .enumerate()
            .filter(|(number, _)| OLD_FILES + number != section)
            .for_each(|(_, content)| content.clear());
        let snapshot = Snapshot::new(assemble(&sections)).unwrap();
        snapshot.verify().unwrap_err();
        // Without the rows, the texts are parsed. Without what they refer to, there are no verdicts.
        let found = verdicts_of_times(&snapshot);
        assert_eq!(found.contains('!'), section == OLD_FILES, "{found}");
    }
}

/// Short texts have too few rules for a union, but another writer may store more.
#[test]
fn unions_of_old_rules_are_those_of_their_own_sections() {
    let line = |time: i64, body: &str| {
        json!({"url": "https://e.example/robots.txt", "fetched_at": time, "body": body}).to_string()
    };
    let newest = line(2_000_000_000, &overlapping());
    let archive = line(1_000_000_000, "user-agent: *\ndisallow: /\n") + "\n" + &newest;
    let mut compiler = Compiler::default().history(true);
    compiler.add_reader("archive", archive.as_bytes()).unwrap();
    let bytes = compiler.finish().unwrap().to_vec().unwrap();
    let verdicts_of = |bytes: Vec<u8>, time: i64| {
        let snapshot = Snapshot::new(bytes).unwrap();
        let agents = ["aa", "am", "an", "b"].map(|agent| agent.parse().unwrap());
        let options = JudgeOptions::default().as_of(time);
        let judge = Judge::new(snapshot, &agents, options).unwrap();
        ["/a/x", "/a/bm/x", "/a/bn", "/"].map(|path| {
            let url = format!("https://e.example{path}");
            let found = judge.judge(url.as_bytes()).unwrap();
            found
                .iter()
                .map(|verdict| verdict.letter())
                .collect::<String>()
        })
    };
    let expected = verdicts_of(bytes.clone(), 2_000_000_001);
    assert_eq!(expected, ["DDDA", "DADA", "DDAA", "AAAA"]);
    // The rules of the old text become those of the newest, which lose theirs.
    let mut sections = sections(&bytes);
    for (old, new) in [
        (OLD_FILES, 5),
        (OLD_NAMED, 6),
        (OLD_RULE_SETS, 7),
        (OLD_TOKENS, 8),
    ] {
        sections[old] = sections[new].clone();
    }
    sections[7].fill(0);
    assert_eq!(verdicts_of(assemble(&sections), 1_500_000_000), expected);
}

/// Look-ups verify what they read, without a verification before.
#[test]
fn flipped_bits_change_no_verdict_of_a_time() {
    let wanted = verdicts_of_times(&Snapshot::new(with_history()).unwrap());
    let mut refused = 0;
    for section in STARTS..=OLD_TOKENS {
        let extent = extents(with_history())[section].clone();
        for bit in (extent.start * 8..extent.end * 8).step_by(29) {
            let mut bytes = with_history().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let snapshot = Snapshot::new(bytes).unwrap();
            assert!(is_corrupt(&snapshot.verify_checksums().unwrap_err()));
            // The snapshot of before has no verified block, so each read finds the damage.
            let found = verdicts_of_times(&snapshot);
            let is_right = found.len() == wanted.len();
            assert!(found.contains('!') || is_right && found == wanted, "{bit}");
            refused += usize::from(found.contains('!'));
        }
    }
    assert!(refused > 10);
}

/// The tables of a history verify what they read of it, too.
#[test]
fn flipped_bits_change_no_table_of_a_history() {
    let wanted = history_tables(&Snapshot::new(with_history()).unwrap()).unwrap();
    assert!(wanted.len() > 30);
    let mut refused = 0;
    for section in STARTS..=OLD_TOKENS {
        let extent = extents(with_history())[section].clone();
        for bit in (extent.start * 8..extent.end * 8).step_by(31) {
            let mut bytes = with_history().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            match history_tables(&Snapshot::new(bytes).unwrap()) {
                Ok(found) => assert!(found == wanted, "{bit}"),
                Err(err) => {
                    assert!(is_corrupt(&err), "{bit}: {err}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 10);
}

#[test]
fn random_histories_are_survived() {
    let mut random = Random(58);
    let mut audits = 0;
    for _ in 0..150 {
        let mut sections = sections(with_history());
        let section = STARTS + random.below(10) as usize;
        let content = &mut sections[section];
        for _ in 0..=random.below(3) {
            if content.is_empty() {
                break;
            }
            let at = random.below(content.len() as u64) as usize;
            match random.below(4) {
                0 => content.truncate(at),
                1 => content[at] = random.next() as u8,
                2 => content[at] = content[at].wrapping_add(1),
                _ => content[at..].fill(0xff),
            }
        }
        let forged = assemble(&sections);
        survives(&forged);
        audits += u32::from(audit_survives(&forged));
    }
    // Many are damaged where an audit does not look, or not at all.
    assert!(audits > 20, "{audits}");
}

/// Audits requests near all times by a forged snapshot. It may give an error or any counts. Returns
/// whether it gave counts.
fn audit_survives(bytes: &[u8]) -> bool {
    let Ok(snapshot) = Snapshot::new(bytes.to_vec()) else {
        return false;
    };
    let mut log = String::new();
    for time in TIMES.into_iter().filter(|time| (1..1 << 40).contains(time)) {
        for target in URLS {
            let line = json!({"time": time, "host": "a.example", "path": target, "status": 200,
                "user_agent": "FooBot"});
            writeln!(log, "{line}").unwrap();
        }
    }
    let options = AuditOptions::default().agents(vec!["FooBot".parse().unwrap()]);
    let audit = Audit::new(vec![DatedSnapshot::new(None, snapshot)], options);
    let inputs = vec![Input::from_reader("log", Cursor::new(log))];
    let report = audit.and_then(|audit| audit.run(inputs, AuditOutputs::default(), &|_| {}));
    match report {
        Ok(report) => report.has_history,
        Err(err) => {
            let is_unjudged = matches!(err.kind(), ErrorKind::BadList(_));
            assert!(is_corrupt(&err) || is_unjudged, "{err}");
            false
        }
    }
}

/// The history would be lost without a word.
#[test]
fn a_history_is_the_previous_snapshot_of_a_history_only() {
    let old = Snapshot::new(with_history()).unwrap();
    let compiler = Compiler::default().previous(old.clone()).unwrap();
    let err = compiler.finish().unwrap_err();
    assert!(matches!(err.kind(), ErrorKind::BadPrevious(_)), "{err}");
    assert_eq!(err.remedy(), Some(Remedy::ContinueHistory));
    let compiler = Compiler::default().history(true).previous(old).unwrap();
    assert!(compiler.finish().unwrap().to_vec().unwrap() == with_history());
    assert!(TIMES.is_sorted());
}
