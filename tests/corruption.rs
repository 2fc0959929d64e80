//! Damaged and forged snapshots: nothing panics or hangs, and every wrong verdict is detected.

use crate::generate::Random;
use robosieve::diff::{Diff, DiffOptions};
use robosieve::job::{Input, Job, Output};
use robosieve::judge::{StatusPolicy, UnknownOrigin};
use robosieve::report::Reporter;
use robosieve::snapshot::{FORMAT_VERSION, OriginEntry};
use robosieve::{
    Agent, AgentMatch, Compiler, Error, ErrorKind, Judge, JudgeOptions, Origin, Result, Snapshot,
    Verdict,
};
use std::fmt::Debug;
use std::io::{Cursor, Write};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

// The layout of `docs/FORMAT.md`, written down a second time: a shared constant would hide an
// error.
const HEADER: usize = 40;
const ROW: usize = 32;
const HEAD: usize = HEADER + SECTIONS * ROW;
const ALIGN: usize = 64;
const SECTIONS: usize = 13;
const BLOCK: usize = 64 << 10;
pub(crate) const METADATA: usize = 0;
const FILES: usize = 5;
const RULE_SETS: usize = 7;
const TEXTS: usize = 9;
const DICTIONARY: usize = 10;
const CHECKSUMS: usize = 12;
const UNION: u32 = u32::MAX;

const RULES: &str = "\
User-agent: FooBot\nDisallow: /private\nAllow: /private/*.html$\nDisallow: /*.pdf$\nCrawl-delay: 2\n
User-agent: Kangaroo Bot/2\nUser-agent: BarBot\nDisallow: /a/path/that/no/prefix/word/holds\nAllow: /a/path/that$\n
User-agent: *\nDisallow: /cart*\nAllow: /cart/open$\nDisallow: *?session=\nDisallow: /****************stars\n
Sitemap: https://rules.example/sitemap.xml\n";

/// Captures with every outcome that a snapshot distinguishes, and every reason for a note.
const ARCHIVE: &str = r#"
{"url": "https://rules.example/robots.txt", "fetched_at": "2026-03-01T00:00:00Z", "body": RULES, "headers": {"Cache-Control": "max-age=60"}}
{"url": "http://moved.example/robots.txt", "status": 301, "headers": {"Location": "https://rules.example/robots.txt"}}
{"url": "http://loop.example/robots.txt", "status": 302, "headers": {"Location": "/robots.txt"}}
{"url": "http://lost.example/robots.txt", "status": 302, "headers": {"Location": "https://absent.example/robots.txt"}}
{"url": "http://gone.example/robots.txt", "status": 404}
{"url": "http://locked.example/robots.txt", "status": 403}
{"url": "http://busy.example/robots.txt", "status": 429, "fetched_at": "2026-03-01T00:00:00Z"}
{"url": "http://failing.example/robots.txt", "status": 200, "fetched_at": "2026-01-01T00:00:00Z", "body": "user-agent: *\ndisallow: /old"}
{"url": "http://failing.example/robots.txt", "status": 503, "fetched_at": "2026-01-02T00:00:00Z"}
{"url": "http://failing.example/robots.txt", "status": 500, "fetched_at": "2026-03-01T00:00:00Z"}
{"url": "http://silent.example/robots.txt", "error": "connection timed out", "fetched_at": "2026-03-01T00:00:00Z"}
{"url": "http://long.example/robots.txt", "truncated": "length", "body": "user-agent: foobot\ndisallow: /\nallow: /pub"}
{"url": "http://m\u00fcller.example:8080/robots.txt", "body": "user-agent: foobot\nuser-agent: a9\ndisallow: /\u00e4"}
"#;

pub(crate) const URLS: [&str; 23] = [
    "https://rules.example/private",
    "https://rules.example/private/page.html",
    "https://rules.example/folder/file.pdf",
    "https://rules.example/a/path/that",
    "https://rules.example/a/path/that/no/prefix/word/holds/x",
    "https://rules.example/cart/open",
    "https://rules.example/x?session=1",
    "https://rules.example/falling-stars",
    "http://moved.example/private/x",
    "http://loop.example/",
    "http://lost.example/",
    "http://gone.example/",
    "http://locked.example/",
    "http://busy.example/",
    "http://failing.example/old",
    "http://failing.example/new",
    "http://silent.example/",
    "http://long.example/pub",
    "http://xn--mller-kva.example:8080/%C3%A4",
    "http://union.example/a/bm/x",
    "https://union.example/a/x",
    "http://unknown.example/",
    "not a URL",
];

pub(crate) const AGENTS: [&str; 6] = [
    "FooBot",
    "Kangaroo Bot",
    "Absent:BarBot:FooBot",
    "am",
    "an",
    "*",
];

/// A robots.txt whose groups overlap so much that merging them for every name would multiply its
/// size. So the last names get a union of rule sets. Equal rules keep the snapshot small.
pub(crate) fn overlapping() -> String {
    let names: Vec<String> = ('a'..='n').map(|letter| format!("a{letter}")).collect();
    let mut text: String = names
        .iter()
        .map(|name| format!("user-agent: {name}\n"))
        .collect();
    text.push_str(&"disallow: /a\n".repeat(600));
    let own = |name: &String| format!("user-agent: {name}\nallow: /a/b{}\n", &name[1..]);
    text.extend(names.iter().map(own));
    text
}

/// A small snapshot with something in every section.
pub(crate) fn intact() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut archive = tempfile::NamedTempFile::new().unwrap();
        let rules = serde_json::to_string(RULES).unwrap();
        archive
            .write_all(ARCHIVE.replace("RULES", &rules).as_bytes())
            .unwrap();
        let mut compiler = Compiler::default();
        compiler.add_path(archive.path()).unwrap();
        compiler
            .add_robots("http://union.example", overlapping().as_bytes())
            .unwrap();
        compiler.finish().unwrap().to_vec().unwrap()
    })
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// The byte ranges of the sections, from the table.
pub(crate) fn extents(bytes: &[u8]) -> Vec<Range<usize>> {
    let extent = |row: usize| {
        let start = u64_at(bytes, HEADER + row * ROW + 8) as usize;
        start..start + u64_at(bytes, HEADER + row * ROW + 16) as usize
    };
    (0..SECTIONS).map(extent).collect()
}

/// The contents of the sections. Checksums follow from the other sections, so the seed of the index
/// is in the place of theirs.
pub(crate) fn sections(bytes: &[u8]) -> Vec<Vec<u8>> {
    let extents = extents(bytes).into_iter().take(CHECKSUMS);
    extents
        .chain(std::iter::once(24..32))
        .map(|extent| bytes[extent].to_vec())
        .collect()
}

/// The checksums of the blocks of a section.
fn checksums(section: &[u8]) -> Vec<u8> {
    section
        .chunks(BLOCK)
        .flat_map(|block| xxh3_64(block).to_le_bytes())
        .collect()
}

/// Writes a valid checksum into the header, as a forger would.
fn seal_head(bytes: &mut [u8]) {
    put_u64(bytes, 32, 0);
    let checksum = xxh3_64(&bytes[..HEAD]);
    put_u64(bytes, 32, checksum);
}

/// Assembles a snapshot of these sections with valid checksums.
pub(crate) fn assemble(sections: &[Vec<u8>]) -> Vec<u8> {
    let mut out = [
        b"RSIEVE\x1a\n".as_slice(),
        &FORMAT_VERSION.to_le_bytes(),
        &(SECTIONS as u32).to_le_bytes(),
    ]
    .concat();
    out.resize(HEAD, 0);
    let (seed, sections) = sections.split_last().unwrap();
    let all_checksums = sections
        .iter()
        .flat_map(|section| checksums(section))
        .collect::<Vec<u8>>();
    for (i, section) in sections.iter().chain([&all_checksums]).enumerate() {
        out.resize(out.len().next_multiple_of(ALIGN), 0);
        let checksum = if i == CHECKSUMS {
            0
        } else {
            xxh3_64(&checksums(section))
        };
        let row = [
            i as u64 + 1,
            out.len() as u64,
            section.len() as u64,
            checksum,
        ];
        let at = HEADER + i * ROW;
        row.iter()
            .enumerate()
            .for_each(|(field, value)| put_u64(&mut out, at + field * 8, *value));
        out.extend_from_slice(section);
    }
    let len = out.len() as u64;
    put_u64(&mut out, 16, len);
    seed.iter()
        .take(8)
        .enumerate()
        .for_each(|(i, byte)| out[24 + i] = *byte);
    seal_head(&mut out);
    out
}

/// Judges every URL for every agent under several options. Returns the letters, `!` for an error.
fn verdicts(snapshot: &Snapshot) -> String {
    let agents: Vec<Agent> = AGENTS.iter().map(|name| name.parse().unwrap()).collect();
    let mut out = String::new();
    for options in all_options() {
        let Ok(judge) = Judge::new(snapshot, &agents, options) else {
            out.push('!');
            continue;
        };
        for url in URLS {
            match judge.judge(url.as_bytes()) {
                Ok(verdicts) => out.extend(verdicts.iter().map(Verdict::letter)),
                Err(err) => {
                    assert!(is_corrupt(&err), "{err}");
                    out.push('!');
                }
            }
        }
    }
    out
}

fn all_options() -> [JudgeOptions; 4] {
    let base = JudgeOptions::default();
    [
        base,
        base.status_policy(StatusPolicy::Rfc9309).any_scheme(true),
        base.status_policy(StatusPolicy::Strict),
        base.agent_match(AgentMatch::Google)
            .unknown(UnknownOrigin::Allow),
    ]
}

pub(crate) fn is_corrupt(err: &Error) -> bool {
    matches!(err.kind(), ErrorKind::Corrupt { .. })
}

/// Calls the rest of the public interface. Each call must return, with any result.
fn ask(snapshot: &Snapshot) {
    let _ = (
        snapshot.metadata(),
        snapshot.profile(),
        snapshot.outcome_counts(),
        snapshot.byte_len(),
    );
    assert_eq!(snapshot.sections().count(), SECTIONS);
    for entry in snapshot.origins().flatten() {
        let _ = (
            entry.origin(),
            entry.outcome(),
            entry.source(),
            entry.detail(),
            entry.has_last_good(),
        );
        let _ = snapshot.robots_text(&entry);
    }
    for url in URLS {
        let _ = Origin::of(url.as_bytes()).map(|origin| snapshot.origin(&origin).map(drop));
    }
    let agents = [AGENTS[0].parse().unwrap(), AGENTS[4].parse().unwrap()];
    if let Ok(judge) = Judge::new(snapshot, &agents, JudgeOptions::default()) {
        let explained = [(1, 0), (14, 0), (19, 1)]
            .map(|(url, agent)| judge.explain(URLS[url].as_bytes(), agent));
        explained
            .iter()
            .flatten()
            .for_each(|why| drop(format!("{why:?}")));
        let reporter = Reporter::new(&judge);
        drop(reporter.of_snapshot());
        drop(reporter.of_inputs(vec![Input::from_reader(
            "list",
            Cursor::new(URLS.join("\n")),
        )]));
    }
    let _ = snapshot
        .census()
        .map(|census| drop((census.top(5), census.named("a"), census.global())));
    let other = Snapshot::new(intact()).unwrap();
    for agents in [Vec::new(), agents.to_vec()] {
        let options = DiffOptions::default().agents(agents);
        let _ = (
            Diff::of(snapshot, &other, &options),
            Diff::of(&other, snapshot, &options),
        );
    }
}

/// Runs the cases in order, and names the one that panics, fails or hangs.
fn sweep<C: Copy + Debug + Send + 'static>(cases: Vec<C>, run: impl Fn(C) + Send + 'static) {
    assert!(!cases.is_empty());
    let (sender, begun) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        for case in cases {
            let _ = sender.send(case);
            run(case);
        }
    });
    let mut last = None;
    loop {
        match begun.recv_timeout(Duration::from_secs(60)) {
            Ok(case) => last = Some(case),
            Err(RecvTimeoutError::Timeout) => panic!("{last:?} hangs"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert!(
        worker.join().is_ok(),
        "{last:?} panics or fails; see its message above"
    );
}

/// Uses a forged snapshot. It may give an error or any verdict, but no panic and no hang.
fn survives(bytes: &[u8]) {
    if let Ok(snapshot) = Snapshot::new(bytes.to_vec()) {
        let verified = snapshot.verify();
        if let Err(err) = &verified {
            assert!(is_corrupt(err), "{err}");
        }
        verdicts(&snapshot);
        ask(&snapshot);
        compile_over(bytes, verified.is_ok());
    }
}

/// Compiles over a forged snapshot. One that verification refuses is refused here too: its
/// contradictions would get right checksums.
fn compile_over(bytes: &[u8], is_verified: bool) {
    let expected = |err: &Error| is_corrupt(err) || matches!(err.kind(), ErrorKind::BadPrevious(_));
    let previous = Compiler::default().previous(Snapshot::new(bytes.to_vec()).unwrap());
    assert_eq!(previous.is_ok(), is_verified);
    let mut compiler = match previous {
        Ok(compiler) => compiler,
        Err(err) => return assert!(expected(&err), "{err}"),
    };
    compiler
        .add_reader(
            "archive",
            ARCHIVE.replace("RULES", "\"user-agent: new\"").as_bytes(),
        )
        .unwrap();
    let compiled = compiler.finish().and_then(|compiled| compiled.to_vec());
    assert!(
        compiled
            .as_ref()
            .is_ok_and(|bytes| Snapshot::new(bytes.clone()).is_ok())
            || compiled.is_err_and(|err| expected(&err))
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
    assert!(
        origins.iter().any(OriginEntry::has_last_good)
            && origins.iter().any(|entry| entry.outcome().cut_short)
    );
    assert!(
        origins
            .iter()
            .any(|entry| entry.source().is_some() && entry.detail().is_none())
    );
    assert!(origins.iter().any(|entry| entry.detail().is_some()));
    let sections = sections(intact());
    assert!(sections.iter().all(|section| !section.is_empty()));
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
        assert!(
            is_corrupt(&snapshot.verify().unwrap_err()) && verdicts(&snapshot) == expected,
            "byte {at}"
        );
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
        assert_eq!(
            matches!(err.kind(), ErrorKind::NotASnapshot { .. }),
            is_empty,
            "{err}"
        );
        assert!(is_empty || is_corrupt(&err), "{err}");
        assert_eq!(err.path(), Some(path.as_path()));
    }
    assert!(
        Snapshot::open(dir.path()).is_err() && Snapshot::open(dir.path().join("absent")).is_err()
    );
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
                cases.extend(values.map(|value| (section, word * 4, value)));
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
    let judge = Judge::new(
        snapshot.clone(),
        &[AGENTS[0].parse().unwrap()],
        JudgeOptions::default(),
    )
    .unwrap();
    let list = Input::from_reader("list", Cursor::new(URLS.join("\n")));
    let mut out = Vec::new();
    let err = Job::new(&judge)
        .annotate(vec![list], Output::from_writer(&mut out))
        .unwrap_err();
    assert!(is_corrupt(&err), "{err}");
}
