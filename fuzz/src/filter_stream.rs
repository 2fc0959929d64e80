//! Any bytes as a list of URLs: no line is lost, repeated or changed.

use crate::generate::SEGMENTS;
use crate::input::{Bytes, InSteps, expand};
use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
use robosieve::job::{Input, Job, Keep, Output, Outputs, Require};
use robosieve::judge::UnknownOrigin;
use robosieve::records::{InputFormat, RecordOptions};
use robosieve::{Compiler, Judge, JudgeOptions, Result, Snapshot};
use std::io::Cursor;
use std::sync::OnceLock;

/// Starts of lines: known and unknown origins, plain and odd, and texts that are not URLs.
const TOKENS: &[&str] = &[
    "http://h.example/",
    "https://h.example/x",
    "http://h.example",
    "HTTP://H.example:80/x",
    "http://unknown.example/",
    "https://u@h.example;/x",
    "http://1.2.3/",
    "not a URL",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "\n\n",
    "http://h.example/x\nhttp://h.example/y\n",
    "https://a-host-with-a-name-that-no-vector-holds.of.32.bytes.example/x",
    "//h.example/x",
    "#f",
    "http://h.example/xhttp://h.example/",
    "\0",
];

/// All tokens.
pub(crate) fn tokens() -> Vec<&'static str> {
    TOKENS.iter().chain(SEGMENTS).copied().collect()
}

/// A snapshot with the origins of the tokens.
pub(crate) fn snapshot() -> &'static Snapshot {
    static SNAPSHOT: OnceLock<Snapshot> = OnceLock::new();
    SNAPSHOT.get_or_init(|| {
        let mut compiler = Compiler::default();
        let robots = b"user-agent: *\ndisallow: /x\n\nuser-agent: FooBot\ndisallow: /*a\nallow: /x";
        for origin in [
            "http://h.example",
            "https://h.example",
            "https://a-host-with-a-name-that-no-vector-holds.of.32.bytes.example",
        ] {
            compiler.add_robots(origin, robots).unwrap();
        }
        Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
    })
}

/// Own lists with entries of each kind for the hosts of the tokens.
fn lists() -> FilterLists {
    static LISTS: OnceLock<FilterLists> = OnceLock::new();
    let made = LISTS.get_or_init(|| {
        let entries = b"of.32.bytes.example\nh.example:80/x\n@@h.example/x/\nhttps://h.example\n";
        let mut compiler = ListCompiler::new();
        compiler
            .add("own", ListKind::Block, entries.as_slice())
            .unwrap();
        FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
    });
    made.clone()
}

/// A judge of one or two agents, with own lists or without.
pub(crate) fn judge(options: u8) -> Judge {
    let agents = ["FooBot".parse().unwrap(), "Absent".parse().unwrap()];
    let agents = &agents[usize::from(options & 1)..];
    let unknown = [
        None,
        Some(UnknownOrigin::Allow),
        Some(UnknownOrigin::Disallow),
        None,
    ];
    let unknown = unknown[usize::from(options >> 1 & 3)];
    let judge = Judge::new(snapshot(), agents, JudgeOptions::default().unknown(unknown)).unwrap();
    match options >> 3 & 1 {
        0 => judge,
        _ => judge.with_lists(lists()),
    }
}

/// What a filter wrote.
pub(crate) struct Filtered {
    /// The kept, the other, the unknown, the invalid and the listed records.
    pub(crate) parts: [Vec<u8>; 5],
    /// Their numbers.
    pub(crate) counts: [u64; 5],
}

/// Filters a list that is read in steps.
pub(crate) fn filter(job: &Job<'_>, name: &str, list: &[u8], step: usize) -> Result<Filtered> {
    let mut parts: [Vec<u8>; 5] = Default::default();
    let [kept, other, unknown, invalid, listed] = &mut parts;
    let outputs = Outputs {
        kept: Some(Output::from_writer(kept)),
        other: Some(Output::from_writer(other)),
        unknown: Some(Output::from_writer(unknown)),
        invalid: Some(Output::from_writer(invalid)),
        listed: Some(Output::from_writer(listed)),
        index: None,
    };
    let reader = InSteps {
        inner: Cursor::new(list.to_vec()),
        step,
    };
    let written = job.filter(vec![Input::from_reader(name, reader)], outputs)?;
    let stats = written.commit()?;
    let counts = [
        stats.allowed,
        stats.disallowed,
        stats.unknown,
        stats.invalid,
        stats.listed(),
    ];
    assert_eq!(stats.lines, counts.iter().sum::<u64>());
    Ok(Filtered { parts, counts })
}

/// The lines with their ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

/// Asserts that each line of `list` is in exactly one of the outputs, in the order of the list.
fn assert_partition(list: &[u8], parts: &[Vec<u8>; 5]) {
    let mut rest = parts.each_ref().map(|part| lines(part).peekable());
    for line in lines(list) {
        // Equal lines have the same verdict, so the first output that continues with it is right.
        let is_found = rest.iter_mut().any(|part| part.next_if_eq(&line).is_some());
        assert!(is_found, "lost: {:?}", line.escape_ascii().to_string());
    }
    for mut part in rest {
        let more = part.next().map(|line| line.escape_ascii().to_string());
        assert_eq!(more, None, "an output has more lines than the list");
    }
}

/// Whether a text begins as gzip or zstd, so that other lines than its own are judged.
pub(crate) fn is_compressed(text: &[u8]) -> bool {
    let magic: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];
    magic.iter().any(|magic| text.starts_with(magic)) || text.get(1..4) == Some(b"\x2a\x4d\x18")
}

/// Whether the first bytes are printable, but those of an archive, an image or a table.
fn begins_as_another_format(list: &[u8]) -> bool {
    let magic = [
        &b"WARC"[..],
        b"filedesc",
        b"%PDF",
        b"GIF87a",
        b"GIF89a",
        b"BZh",
    ];
    // A list may begin with these, unless nothing follows.
    let whole = [&b"PAR1"[..], b"PARE", b"FEA1", b"ORC"];
    magic.iter().any(|magic| list.starts_with(magic))
        || whole.contains(&list)
        || list
            .get(257..)
            .is_some_and(|rest| rest.starts_with(b"ustar"))
}

/// Three bytes of options, and the list.
pub(crate) fn run(input: &[u8]) {
    let mut input = Bytes(input);
    let (options, settings, step) = (input.byte(), input.byte(), usize::from(input.byte()) + 1);
    let list = expand(input.0, &tokens());
    let judge = judge(options);
    let keep = [Keep::Allowed, Keep::Disallowed][usize::from(settings & 1)];
    let require = [Require::All, Require::Any][usize::from(settings >> 1 & 1)];
    // Every other format has headers, or records of several lines: the target `records` has these.
    let records = RecordOptions::default().format(InputFormat::Text);
    let job = Job::new(&judge).keep(keep, require).records(records);

    let mut annotated = Vec::new();
    let reader = InSteps {
        inner: Cursor::new(list.clone()),
        step,
    };
    let inputs = vec![Input::from_reader("list", reader)];
    let written = job.annotate(inputs, Output::from_writer(&mut annotated));
    let written = written.and_then(|written| written.commit());
    let filtered = filter(&job, "list", &list, step);
    let (Ok(stats), Ok(filtered)) = (&written, filtered) else {
        let first = &list[..list.len().min(16)];
        let is_text = first.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~'));
        let is_list = is_text && !begins_as_another_format(&list);
        assert!(!is_list, "a list is refused: {:?}", written.err());
        return;
    };
    if is_compressed(&list) || list.starts_with(b"WARC/") {
        return;
    }
    let agents = if options & 1 == 0 { 2 } else { 1 };
    let unannotated: Vec<&[u8]> = lines(&annotated).map(|line| &line[agents + 1..]).collect();
    assert!(unannotated.concat() == list, "annotating changes lines");
    assert_eq!(stats.lines, lines(&list).count() as u64);
    assert_eq!(stats.bytes, list.len() as u64);
    assert_partition(&list, &filtered.parts);
    let expected = filtered
        .parts
        .each_ref()
        .map(|part| lines(part).count() as u64);
    let mut counts = filtered.counts;
    if keep == Keep::Disallowed {
        counts.swap(0, 1);
    }
    assert_eq!(counts, expected, "the counts are those of the outputs");
}
