//! `Job::visit`: a visitor sees each record once, whatever the container and its blocks.

use crate::parquet;
use ::parquet::file::properties::WriterProperties;
use robosieve::job::{FilterStats, Input, Job, RecordRun, SelectedUrls, Visitor};
use robosieve::records::{Field, RecordOptions};
use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The number of records with each URL, and the disallowed URLs in order.
#[derive(Default)]
struct Collector {
    urls: Mutex<BTreeMap<Vec<u8>, u64>>,
    disallowed: Mutex<Vec<Vec<u8>>>,
}

impl Visitor for Collector {
    type Local = BTreeMap<Vec<u8>, u64>;

    fn local(&self) -> Self::Local {
        BTreeMap::new()
    }

    fn visit(&self, records: RecordRun<'_>, urls: &mut Self::Local) -> bool {
        let mut count = 0;
        for url in records.urls() {
            count += records.records_per_url();
            *urls.entry(url.to_vec()).or_default() += records.records_per_url();
        }
        assert_eq!(count, records.count());
        records.verdicts().get(0) == Verdict::Disallowed
    }

    fn selected(&self, urls: SelectedUrls<'_>) {
        let mut disallowed = self.disallowed.lock().unwrap();
        disallowed.extend((0..urls.count()).map(|number| urls.get(number).unwrap().to_vec()));
        assert!(urls.get(urls.count()).is_none());
    }

    fn merge(&self, urls: Self::Local) {
        let mut all = self.urls.lock().unwrap();
        for (url, records) in urls {
            *all.entry(url).or_default() += records;
        }
    }
}

/// The visited URLs, the disallowed ones in order, and the counts.
fn visit(input: Input) -> (BTreeMap<Vec<u8>, u64>, Vec<Vec<u8>>, FilterStats) {
    visit_with(input, RecordOptions::default())
}

/// The same with options, such as those of times, which the visits do not depend on.
fn visit_with(
    input: Input,
    records: RecordOptions,
) -> (BTreeMap<Vec<u8>, u64>, Vec<Vec<u8>>, FilterStats) {
    let robots = b"user-agent: *\ndisallow: /x";
    // Times need a history.
    let mut compiler = Compiler::default().history(true);
    compiler.add_robots("https://a.example", robots).unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let agent = "FooBot".parse().unwrap();
    let judge = Judge::new(snapshot, &[agent], JudgeOptions::default()).unwrap();
    let collector = Collector::default();
    let job = Job::new(&judge).records(records);
    let stats = job.visit(vec![input], &collector).unwrap();
    let Collector { urls, disallowed } = collector;
    let urls = urls.into_inner().unwrap();
    assert_eq!(urls.values().sum::<u64>(), stats.lines);
    assert_eq!(stats.agent_allowed, [stats.allowed]);
    (urls, disallowed.into_inner().unwrap(), stats)
}

#[test]
fn the_lines_of_many_blocks_come_once_and_the_selected_in_order() {
    let mut table = "n,url\n".to_owned();
    let mut disallowed = Vec::new();
    for n in 0..40_000 {
        let path = if n % 7 == 3 { "x" } else { "ok" };
        let url = format!("https://a.example/{path}/{}", n / 2);
        table.push_str(&format!("{n}, {url} \n"));
        if path == "x" {
            disallowed.push(url.into_bytes());
        }
    }
    table.push('\n');
    let input = || Input::from_reader("t.csv", std::io::Cursor::new(table.clone()));
    let (urls, selected, stats) = visit(input());
    assert_eq!(selected, disallowed);
    assert_eq!((stats.lines, stats.blank, urls[&b""[..]]), (40_001, 1, 1));
    assert_eq!(stats.disallowed, disallowed.len() as u64);
    let times = RecordOptions::default().as_of_column(Field::from("n"));
    assert_eq!(visit_with(input(), times).0, urls);
}

#[test]
fn long_values_of_parquet_and_records_of_warc_come_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.parquet");
    let rows = [3000, 20];
    std::fs::write(&path, parquet::table(WriterProperties::builder(), &rows)).unwrap();
    let (urls, _, stats) = visit(Input::open(&path).unwrap());
    let long = urls.iter().filter(|(url, _)| url.len() > 16 << 10);
    assert_eq!(long.map(|(_, records)| records).sum::<u64>(), 3);
    assert_eq!(stats.lines, 3020);
    let times = RecordOptions::default().as_of_column(Field::from("n"));
    assert_eq!(visit_with(Input::open(&path).unwrap(), times).0, urls);

    let mut archive = Vec::new();
    for (kind, uri) in [
        ("warcinfo", ""),
        ("response", "WARC-Target-URI: https://a.example/x\r\n"),
        ("metadata", "WARC-Target-URI: https://a.example/x/y\r\n"),
        ("response", ""),
    ] {
        let record =
            format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{uri}Content-Length: 0\r\n\r\n\r\n\r\n");
        archive.extend_from_slice(record.as_bytes());
    }
    let input = || Input::from_reader("w", std::io::Cursor::new(archive.clone()));
    let (urls, selected, stats) = visit(input());
    let expected = [&b"https://a.example/x"[..], b"https://a.example/x/y"];
    assert_eq!(selected, expected);
    assert_eq!((urls[&b""[..]], stats.lines, stats.warcinfo), (1, 3, 1));
    let times = RecordOptions::default().as_of_record(true);
    assert_eq!(visit_with(input(), times).0, urls);
}
