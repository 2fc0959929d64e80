//! Lists of records (TSV, CSV, JSON lines, CDX): the same answers in one read as in many, and no
//! record is lost or changed.

use crate::filter_stream::{filter, is_compressed, judge, lines};
use crate::input::{Bytes, InSteps, expand};
use robosieve::job::{Form, Input, Job, Output};
use robosieve::records::{Field, InputFormat, RecordOptions};
use std::io::Cursor;

/// The parts of records.
pub(crate) const TOKENS: &[&str] = &[
    "url",
    "url\tn\n",
    "n,url\n",
    "\"url\"",
    "\t",
    ",",
    "\"",
    "\"\"",
    "\n",
    "\r\n",
    "\r",
    "http://h.example/",
    "https://h.example/x",
    "http://unknown.example/",
    "h.example/x",
    "/x",
    "{\"url\": \"",
    "\"}\n",
    "\", \"n\": ",
    "{\"a\": {\"b\": \"",
    "\"}}\n",
    "{",
    "}",
    "[",
    "]",
    "null",
    "\\u0068",
    "\\ud83d",
    "\\\"",
    "\\",
    "example,h)/x 20260101000000 {\"url\": \"",
    " CDX N b a m s k r M S V g\n",
    "example,h)/x 20260101 http://h.example/x text/html 200 - - 1 2 f\n",
    " ",
    "\u{feff}",
    "#",
    ";",
    "1",
    "2",
    "-",
];

/// Four bytes of options, and the list.
pub(crate) fn run(input: &[u8]) {
    let mut input = Bytes(input);
    let format = input.pick(&[
        None,
        Some(InputFormat::Tsv),
        Some(InputFormat::Csv),
        Some(InputFormat::Jsonl),
        Some(InputFormat::Cdxj),
        Some(InputFormat::Cdx),
        Some(InputFormat::Text),
    ]);
    let (options, settings, step) = (input.byte(), input.byte(), usize::from(input.byte()) + 1);
    let field = [None, Some("1"), Some("2"), Some("url")][usize::from(options >> 3 & 3)];
    let mut records = RecordOptions::default()
        .format(format)
        .field(field.map(Field::from))
        .header(options & 32 != 0)
        .delimiter([None, Some(b';')][usize::from(options >> 6 & 1)]);
    if settings & 1 != 0 {
        records = records.default_scheme("http".to_owned());
    }
    if settings & 2 != 0 {
        records = records.host("h.example".to_owned());
    }
    if settings & 4 != 0 {
        records = records.json_key("a.b".to_owned());
    }
    let times = [None, Some("2"), Some("a.b"), None][usize::from(settings >> 6)];
    records = records
        .as_of_column(times.map(Field::from))
        .as_of_record(settings >> 6 == 3);
    let form = [Form::Letters, Form::Jsonl, Form::Mask][usize::from(settings >> 3) % 3];
    let list = expand(input.0, TOKENS);
    let judge = judge(options);
    let job = Job::new(&judge).records(records).form(form);

    let annotated = |step: usize| {
        let mut out = Vec::new();
        let reader = InSteps {
            inner: Cursor::new(list.clone()),
            step,
        };
        let inputs = vec![Input::from_reader("list", reader)];
        let written = job.annotate(inputs, Output::from_writer(&mut out));
        let stats = written.and_then(|written| written.commit());
        stats
            .map(|stats| (stats, out))
            .map_err(|err| err.to_string())
    };
    let (whole, stepped) = (annotated(usize::MAX), annotated(step));
    // How much of a damaged zstd frame is decoded, and stated in the message, depends on the steps.
    let is_zstd = is_compressed(&list) && !list.starts_with(b"\x1f\x8b");
    if !is_zstd || whole.is_ok() || stepped.is_ok() {
        assert_eq!(whole, stepped, "in steps of {step} bytes");
    }
    let filtered = filter(&job, "list", &list, step);
    assert_eq!(whole.is_ok(), filtered.is_ok(), "{whole:?}");
    let is_plain = !is_compressed(&list) && !list.starts_with(b"WARC/");
    let (Ok((stats, out)), Ok(filtered), true) = (whole, filtered, is_plain) else {
        return;
    };
    assert_eq!(stats.lines, filtered.counts.iter().sum::<u64>());
    // A header is in every output, so lines that are in the list once may be in the outputs often.
    let mut expected: Vec<&[u8]> = lines(&list).collect();
    let mut found: Vec<&[u8]> = filtered.parts.iter().flat_map(|part| lines(part)).collect();
    expected.sort_unstable();
    found.sort_unstable();
    expected.dedup();
    found.dedup();
    let complete = |mut lines: Vec<&[u8]>| -> Vec<Vec<u8>> {
        lines.sort_unstable();
        lines
            .iter()
            .map(|line| line.trim_ascii_end().to_vec())
            .collect()
    };
    let (mut expected, mut found) = (complete(expected), complete(found));
    expected.dedup();
    found.dedup();
    assert_eq!(found, expected, "the lines of the outputs");
    if form == Form::Mask {
        assert_eq!(lines(&out).count() as u64, stats.lines);
    }
}
