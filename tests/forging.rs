//! Forged snapshots: sections with any content and right checksums, and the calls that must survive
//! them. The tests and the fuzz target `open_snapshot` share it.

use robosieve::compile::Compiled;
use robosieve::diff::{Diff, DiffOptions};
use robosieve::export::{ExportPosition, ExportTable, ExportValue, Exporter, StoredFiles};
use robosieve::job::{Input, Job, Outputs};
use robosieve::judge::{StatusPolicy, UnknownOrigin};
use robosieve::snapshot::FORMAT_VERSION;
use robosieve::{
    Agent, AgentMatch, Compiler, Error, ErrorKind, Judge, JudgeOptions, Origin, Snapshot, Verdict,
};
use std::io::{Cursor, Write};
use std::ops::Range;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64;

// The layout of `docs/FORMAT.md`, written down a second time: a shared constant would hide an
// error.
pub(crate) const HEADER: usize = 40;
pub(crate) const ROW: usize = 32;
/// The length of header and table of [`intact`], which has no history.
pub(crate) const HEAD: usize = HEADER + (SECTIONS - HISTORY) * ROW;
/// The number of the sections of a history, four of which have the rules of old texts.
pub(crate) const HISTORY: usize = 10;
pub(crate) const ALIGN: usize = 64;
pub(crate) const SECTIONS: usize = 25;
pub(crate) const BLOCK: usize = 64 << 10;
pub(crate) const METADATA: usize = 0;
pub(crate) const FILES: usize = 5;
pub(crate) const RULE_SETS: usize = 7;
pub(crate) const TEXTS: usize = 9;
pub(crate) const DICTIONARY: usize = 10;
pub(crate) const CHECKSUMS: usize = 24;
/// The numbers of the sections in the order of the file, and the first one that may be absent.
pub(crate) const NUMBERS: [u32; SECTIONS] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 13,
];
pub(crate) const FIRST_OPTIONAL: u32 = 14;
pub(crate) const UNION: u32 = u32::MAX;

pub(crate) const RULES: &str = "\
User-agent: FooBot\nDisallow: /private\nAllow: /private/*.html$\nDisallow: /*.pdf$\nCrawl-delay: 2\n
User-agent: Kangaroo Bot/2\nUser-agent: BarBot\nDisallow: /a/path/that/no/prefix/word/holds\nAllow: /a/path/that$\n
User-agent: *\nDisallow: /cart*\nAllow: /cart/open$\nDisallow: *?session=\nDisallow: /****************stars\n
Sitemap: https://rules.example/sitemap.xml\n";

/// Captures with every outcome that a snapshot distinguishes, and every reason for a note.
pub(crate) const ARCHIVE: &str = r#"
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
{"url": "http://turned.example/robots.txt", "status": 302, "headers": {"Location": "https://absent.example/robots.txt", "Cache-Control": "max-age=7"}, "fetched_at": "2026-01-01T00:00:00Z"}
{"url": "http://turned.example/robots.txt", "status": 503, "headers": {"Retry-After": "3600"}, "fetched_at": "2026-03-01T00:00:00Z"}
{"url": "http://silent.example/robots.txt", "error": "connection timed out", "fetched_at": "2026-03-01T00:00:00Z"}
{"url": "http://long.example/robots.txt", "truncated": "length", "body": "user-agent: foobot\ndisallow: /\nallow: /pub"}
{"url": "http://m\u00fcller.example:8080/robots.txt", "body": "user-agent: foobot\nuser-agent: a9\ndisallow: /\u00e4"}
"#;

/// A record that states the digest of its payload.
const DIGESTED: &str = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://digested.example/robots.txt\r\n\
    WARC-Date: 2026-03-01T00:00:00Z\r\nWARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n\
    Content-Length: 51\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuser-agent: foobot\ndisallow: /a\n\r\n\r\n";

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

/// [`overlapping_groups`] whose large group has equal rules, so that a snapshot of it stays small.
pub(crate) fn overlapping() -> String {
    overlapping_groups(&"disallow: /a\n".repeat(600), |letter| {
        format!("allow: /a/b{letter}\n")
    })
}

/// A robots.txt with a large group for the names `aa` to `an`, and a small group for each of them.
/// `large` has the rules of the large group, `own` makes those of a name by its last letter. With 600
/// lines in the large group, merging both for every name would multiply the file, so the last names
/// get a union of rule sets.
pub(crate) fn overlapping_groups(large: &str, own: impl Fn(char) -> String) -> String {
    let names = ('a'..='n').map(|letter| (letter, format!("user-agent: a{letter}\n")));
    let mut text: String = names.clone().map(|(_, line)| line).collect();
    text.push_str(large);
    text.extend(names.map(|(letter, line)| line + &own(letter)));
    text
}

/// Earlier captures of the origins of [`ARCHIVE`]: old texts, one of them a difference, and one too
/// long for its rules to be stored; a redirect to another URL than a robots.txt; failures, also behind
/// a redirect.
const EARLIER: &str = r#"
{"url": "https://rules.example/robots.txt", "fetched_at": "2025-10-01T00:00:00Z", "status": 503}
{"url": "https://rules.example/robots.txt", "fetched_at": "2025-11-01T00:00:00Z", "status": 301, "headers": {"Location": "/rules"}}
{"url": "https://rules.example/rules", "fetched_at": "2025-10-15T00:00:00Z", "body": LONG}
{"url": "https://rules.example/rules", "fetched_at": "2025-11-15T00:00:00Z", "status": 500}
{"url": "https://rules.example/robots.txt", "fetched_at": "2025-12-01T00:00:00Z", "status": 500}
{"url": "https://rules.example/robots.txt", "fetched_at": "2026-01-01T00:00:00Z", "body": OLD}
{"url": "https://rules.example/robots.txt", "fetched_at": "2026-02-01T00:00:00Z", "body": OLD}
"#;

/// The snapshot of [`intact`] with a history.
pub(crate) fn with_history() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let rules = serde_json::to_string(RULES).unwrap();
        let old = serde_json::to_string(&(RULES.to_owned() + "disallow: /old\n")).unwrap();
        let long = "disallow: /long/path\n".repeat(400) + "disallow: /\n";
        let long = serde_json::to_string(&("user-agent: *\n".to_owned() + &long)).unwrap();
        let earlier = EARLIER.replace("OLD", &old).replace("LONG", &long);
        let archive = ARCHIVE.replace("RULES", &rules) + &earlier;
        let mut compiler = Compiler::default().history(true);
        compiler.add_reader("archive", archive.as_bytes()).unwrap();
        compiler.finish().unwrap().to_vec().unwrap()
    })
}

/// Captures after those of [`with_history`]: a failure, a 304 and a redirect to an old origin.
const LATER: &str = r#"
{"url": "https://rules.example/robots.txt", "status": 503, "fetched_at": "2100-01-01T00:00:00Z"}
{"url": "http://failing.example/robots.txt", "status": 304, "fetched_at": "2100-01-01T00:00:00Z"}
{"url": "https://later.example/robots.txt", "status": 301, "headers": {"location": "http://turned.example/robots.txt"}, "fetched_at": "2100-01-01T00:00:00Z"}
"#;

/// Times around the captures of [`with_history`].
pub(crate) const TIMES: [i64; 7] = [
    i64::MIN,
    0,
    1_762_000_000,
    1_763_500_000,
    1_768_000_000,
    1_772_400_000,
    i64::MAX,
];

/// Judges every URL for every agent as of several times. Returns the letters, `!` for an error.
pub(crate) fn verdicts_of_times(snapshot: &Snapshot) -> String {
    let agents: Vec<Agent> = AGENTS.iter().map(|name| name.parse().unwrap()).collect();
    let mut out = String::new();
    for options in all_options() {
        let Ok(judge) = Judge::new(snapshot, &agents, options) else {
            out.push('!');
            continue;
        };
        for (url, time) in URLS
            .iter()
            .flat_map(|url| TIMES.into_iter().map(move |time| (url, time)))
        {
            match judge.judge_as_of(url.as_bytes(), time) {
                Ok(verdicts) => out.extend(verdicts.iter().map(Verdict::letter)),
                Err(err) => {
                    assert!(
                        is_corrupt(&err) || matches!(err.kind(), ErrorKind::NoHistory),
                        "{err}"
                    );
                    out.push('!');
                }
            }
        }
    }
    out
}

/// A small snapshot with something in every section but those of a history.
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
        compiler
            .add_reader("digested", DIGESTED.as_bytes())
            .unwrap();
        compiler.finish().unwrap().to_vec().unwrap()
    })
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

pub(crate) fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// The number of sections in the header.
fn section_count(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize
}

/// The byte ranges of the sections, from the table. Those of absent ones are empty.
pub(crate) fn extents(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut extents = vec![0..0; SECTIONS];
    for row in 0..section_count(bytes) {
        let at = HEADER + row * ROW;
        let number = u64_at(bytes, at) as u32;
        let section = NUMBERS.iter().position(|other| *other == number).unwrap();
        let start = u64_at(bytes, at + 8) as usize;
        extents[section] = start..start + u64_at(bytes, at + 16) as usize;
    }
    extents
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
pub(crate) fn checksums(section: &[u8]) -> Vec<u8> {
    section
        .chunks(BLOCK)
        .flat_map(|block| xxh3_64(block).to_le_bytes())
        .collect()
}

/// Writes a valid checksum into the header, as a forger would.
pub(crate) fn seal_head(bytes: &mut [u8]) {
    put_u64(bytes, 32, 0);
    let end = (HEADER + section_count(bytes) * ROW).min(bytes.len());
    let checksum = xxh3_64(&bytes[..end]);
    put_u64(bytes, 32, checksum);
}

/// Assembles a snapshot of these sections with valid checksums. Empty ones that may be absent are.
pub(crate) fn assemble(sections: &[Vec<u8>]) -> Vec<u8> {
    let (seed, sections) = sections.split_last().unwrap();
    let is_required = |number: u32| u32::from(number < FIRST_OPTIONAL);
    let rows: Vec<SectionRow> = NUMBERS
        .into_iter()
        .zip(sections)
        .filter(|(number, section)| *number < FIRST_OPTIONAL || !section.is_empty())
        .map(|(number, section)| SectionRow {
            number,
            flags: is_required(number),
            content: section.clone(),
        })
        .collect();
    assemble_rows(rows, seed)
}

/// A row of the section table, and the content of its section.
pub(crate) struct SectionRow {
    pub number: u32,
    pub flags: u32,
    pub content: Vec<u8>,
}

/// Assembles a snapshot of any sections but that of the checksums, which is added.
pub(crate) fn assemble_rows(mut rows: Vec<SectionRow>, seed: &[u8]) -> Vec<u8> {
    let content = rows
        .iter()
        .flat_map(|row| checksums(&row.content))
        .collect();
    rows.push(SectionRow {
        number: NUMBERS[CHECKSUMS],
        flags: 1,
        content,
    });
    let mut out = [
        b"RSIEVE\x1a\n".as_slice(),
        &FORMAT_VERSION.to_le_bytes(),
        &(rows.len() as u32).to_le_bytes(),
    ]
    .concat();
    out.resize(HEADER + rows.len() * ROW, 0);
    for (position, row) in rows.iter().enumerate() {
        out.resize(out.len().next_multiple_of(ALIGN), 0);
        let is_last = position + 1 == rows.len();
        let fields = [
            u64::from(row.number) | u64::from(row.flags) << 32,
            out.len() as u64,
            row.content.len() as u64,
            if is_last {
                0
            } else {
                xxh3_64(&checksums(&row.content))
            },
        ];
        let at = HEADER + position * ROW;
        fields
            .iter()
            .enumerate()
            .for_each(|(field, value)| put_u64(&mut out, at + field * 8, *value));
        out.extend_from_slice(&row.content);
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
pub(crate) fn verdicts(snapshot: &Snapshot) -> String {
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

pub(crate) fn all_options() -> [JudgeOptions; 4] {
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
pub(crate) fn ask(snapshot: &Snapshot) {
    let _ = (
        snapshot.metadata(),
        snapshot.profile(),
        snapshot.outcome_counts(),
        snapshot.byte_len(),
    );
    let sections = snapshot.sections().count();
    assert!((FIRST_OPTIONAL as usize - 1..=SECTIONS).contains(&sections));
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
        drop(read_rows(&judge));
        // Numbers that no column has.
        for number in [3, 1000, u32::MAX - 1, u32::MAX] {
            drop(read_file(&mut StoredFiles::new(&judge), number));
            drop(StoredFiles::new(&judge).visit_rules(number, |_| {}));
        }
        let list = Input::from_reader("list", Cursor::new(URLS.join("\n")));
        drop(Job::new(&judge).filter(vec![list], Outputs::default()));
    }
    ask_about_times(snapshot);
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

/// Calls all that reads a history.
fn ask_about_times(snapshot: &Snapshot) {
    if !snapshot.has_history() {
        return;
    }
    let _ = snapshot.history_span();
    verdicts_of_times(snapshot);
    if let Err(err) = history_tables(snapshot) {
        assert!(is_corrupt(&err), "{err}");
    }
    for row in 0..snapshot.origin_count().min(100) {
        let answers = snapshot.timeline(row).take(100).flatten();
        answers.for_each(|answer| drop(format!("{answer:?}")));
    }
    for time in TIMES {
        let options = JudgeOptions::default().as_of(time);
        let explained = Judge::new(snapshot, &[AGENTS[0].parse().unwrap()], options)
            .and_then(|judge| judge.explain(URLS[1].as_bytes(), 0).map(drop));
        let compiled = Compiled::as_of(snapshot, time).and_then(|compiled| compiled.to_vec());
        for err in [explained.err(), compiled.err()].into_iter().flatten() {
            assert!(is_corrupt(&err), "{err}");
        }
    }
}

/// The tables that come from a history: its versions, and since when agents are disallowed.
pub(crate) fn history_tables(snapshot: &Snapshot) -> robosieve::Result<Vec<String>> {
    let agents = AGENTS.map(|agent| agent.parse().unwrap());
    let judge = Judge::new(snapshot, &agents, JudgeOptions::default())?;
    let versions = Exporter::new(&judge, ExportTable::History)?;
    let origins = Exporter::new(&judge, ExportTable::OriginsLong)?;
    let columns = ["origin", "agent", "disallowed_after", "disallowed_since"];
    let mut rows = Vec::new();
    for exporter in [versions, origins.choose_columns(&columns)?] {
        let mut position = ExportPosition::default();
        while let Some(batches) = exporter.read(&mut position)? {
            for batch in &batches {
                for row in 0..batch.rows() {
                    let columns = 0..batch.columns().len();
                    let values = columns.map(|column| batch.value(row, column));
                    rows.push(format!("{:?}", values.collect::<Vec<_>>()));
                }
            }
        }
    }
    Ok(rows)
}

/// Reads what a report reads: the rows of all origins, and the files that decide about them.
fn read_rows(judge: &Judge) -> robosieve::Result<()> {
    let columns = ["rules_file", "reason", "FooBot.access"];
    let exporter = Exporter::new(judge, ExportTable::Origins)?.choose_columns(&columns)?;
    let mut files = StoredFiles::new(judge);
    let mut position = ExportPosition::default();
    while let Some(batches) = exporter.read(&mut position)? {
        for batch in &batches {
            for row in 0..batch.rows() {
                if let ExportValue::Integer(file) = batch.value(row, 0) {
                    read_file(&mut files, file as u32)?;
                }
            }
        }
    }
    Ok(())
}

fn read_file(files: &mut StoredFiles<'_>, file: u32) -> robosieve::Result<()> {
    files.text(file)?;
    for set in files
        .agent_coverages(file)?
        .iter()
        .filter_map(|agent| agent.set)
    {
        files.visit_rules(set, |_| {})?;
    }
    Ok(())
}

/// Uses a forged snapshot. It may give an error or any verdict, but no panic and no hang.
pub(crate) fn survives(bytes: &[u8]) {
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
pub(crate) fn compile_over(bytes: &[u8], is_verified: bool) {
    let expected = |err: &Error| is_corrupt(err) || matches!(err.kind(), ErrorKind::BadPrevious(_));
    let old = Snapshot::new(bytes.to_vec()).unwrap();
    let has_history = old.has_history();
    let previous = Compiler::default().history(has_history).previous(old);
    assert_eq!(previous.is_ok(), is_verified);
    let mut compiler = match previous {
        Ok(compiler) => compiler,
        Err(err) => return assert!(expected(&err), "{err}"),
    };
    // Older captures do not continue a history.
    let archive = match has_history {
        true => LATER.to_owned(),
        false => ARCHIVE.replace("RULES", "\"user-agent: new\""),
    };
    compiler.add_reader("archive", archive.as_bytes()).unwrap();
    let compiled = compiler.finish().and_then(|compiled| compiled.to_vec());
    assert!(
        compiled
            .as_ref()
            .is_ok_and(|bytes| Snapshot::new(bytes.clone()).is_ok())
            || compiled.is_err_and(|err| expected(&err))
    );
}

/// Forges the only block of a captures file: changes its records, with right checksums.
pub(crate) fn forged_captures(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    // docs/FORMAT.md, "Captures files".
    let block = 32 + u32_at(12) + u32_at(16);
    let (texts_len, frame_len) = (u32_at(block + 12), u32_at(block + 16));
    let frame = block + 48 + texts_len;
    let mut records = zstd::bulk::decompress(&bytes[frame..frame + frame_len], 1 << 20).unwrap();
    change(&mut records);
    let packed = zstd::bulk::compress(&records, 3).unwrap();
    let mut out = bytes[..frame].to_vec();
    out.extend_from_slice(&packed);
    out[block + 16..block + 20].copy_from_slice(&(packed.len() as u32).to_le_bytes());
    out[block + 20..block + 24].copy_from_slice(&(records.len() as u32).to_le_bytes());
    let checksum = xxh3_64(&out[block + 48..]);
    out[block + 32..block + 40].copy_from_slice(&checksum.to_le_bytes());
    let checksum = xxh3_64(&out[block..block + 40]);
    out[block + 40..block + 48].copy_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(&bytes[frame + frame_len..]);
    out
}
