//! `annotate`, `filter` and `report` on Parquet files: each row gets the verdict of its URL, and
//! all other data is copied byte for byte.

use crate::command::{cells, robosieve_with};
use crate::snapshots::judge_for;
use crate::test_dir::{TestDir, file_names};
use ::parquet::basic::{Compression, Encoding};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::record::Row;
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;
use robosieve::job::{Input, Job, Output, Outputs};
use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot, Verdict};
use std::fs;
use std::sync::Arc;

const SCHEMA: &str = "message m {
    optional binary url (STRING); required int64 n;
    optional group tags (LIST) { repeated group list { optional int32 element; } }
    optional group page { optional binary link (STRING); } }";

/// The URL of a row. Rules judge two in three. The others are null, invalid, overlong, or of an
/// unknown origin.
fn url(row: usize) -> Option<Vec<u8>> {
    match row % 12 {
        1 => None,
        3 => Some(format!("https://unknown.example/{row}").into_bytes()),
        5 => Some(b"no URL".to_vec()),
        7 => Some(format!("https://a.example/{row}\nhttps://a.example/x").into_bytes()),
        9 if row % 1200 == 9 => {
            Some(format!("https://a.example/{}{row}", "y/".repeat(10_000)).into_bytes())
        }
        k if k % 2 == 0 => Some(format!("https://a.example/x{}/{row}", k).into_bytes()),
        _ => Some(format!("https://a.example/ok/{row}").into_bytes()),
    }
}

/// Writes the next column of a row group: its values, definition levels and repetition levels.
pub(crate) fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    defined: Option<&[i16]>,
    repeated: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    let typed = column.typed::<T>();
    typed.write_batch(values, defined, repeated).unwrap();
    column.close().unwrap();
}

/// A file whose row groups have these numbers of rows.
pub(crate) fn table(properties: WriterPropertiesBuilder, groups: &[usize]) -> Vec<u8> {
    let entry = KeyValue::new("kept".to_owned(), "value".to_owned());
    let properties = properties
        .set_key_value_metadata(Some(vec![entry]))
        .set_created_by("someone".to_owned())
        .build();
    let mut file = SerializedFileWriter::new(
        Vec::new(),
        Arc::new(parse_message_type(SCHEMA).unwrap()),
        Arc::new(properties),
    )
    .unwrap();
    let mut first = 0;
    for &rows in groups {
        let rows = first..first + rows;
        first = rows.end;
        let mut group = file.next_row_group().unwrap();
        let urls: Vec<ByteArray> = rows.clone().filter_map(url).map(ByteArray::from).collect();
        let levels: Vec<i16> = rows
            .clone()
            .map(|row| i16::from(url(row).is_some()))
            .collect();
        write_column::<ByteArrayType>(&mut group, &urls, Some(&levels), None);
        let numbers: Vec<i64> = rows.clone().map(|row| row as i64).collect();
        write_column::<Int64Type>(&mut group, &numbers, None, None);
        // In turn: a null list, an empty list, one element, and two elements, one of them null.
        let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows.clone() {
            let levels: &[(i16, i16)] =
                [&[(0, 0)][..], &[(1, 0)], &[(3, 0)], &[(2, 0), (3, 1)]][row % 4];
            values.extend(
                levels
                    .iter()
                    .filter(|(defined, _)| *defined == 3)
                    .map(|_| row as i32),
            );
            levels
                .iter()
                .for_each(|(d, r)| (defined.push(*d), repeated.push(*r)).0);
        }
        write_column::<Int32Type>(&mut group, &values, Some(&defined), Some(&repeated));
        let levels: Vec<i16> = levels.iter().map(|level| level * 2).collect();
        write_column::<ByteArrayType>(&mut group, &urls, Some(&levels), None);
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

/// A directory with the snapshot `s`.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("s", snapshot());
    dir
}

impl TestDir {
    fn open_parquet(&self, name: &str) -> SerializedFileReader<Bytes> {
        SerializedFileReader::new(self.read(name).into()).unwrap()
    }

    fn parquet_rows(&self, name: &str) -> Vec<Row> {
        self.open_parquet(name)
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }
}

fn snapshot() -> Vec<u8> {
    let mut compiler = Compiler::default();
    let robots = b"user-agent: one\ndisallow: /x2\n\
                   user-agent: two\ndisallow: /x\nallow: /x4\ncrawl-delay: 1.5";
    compiler.add_robots("https://a.example", robots).unwrap();
    compiler.finish().unwrap().to_vec().unwrap()
}

/// The verdicts on this number of rows for the agents `one` and `two`. Each row is judged alone.
fn verdicts(rows: usize) -> Vec<[Verdict; 2]> {
    let snapshot = Snapshot::new(snapshot()).unwrap();
    let agents = ["one".parse().unwrap(), "two".parse().unwrap()];
    let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).unwrap();
    let verdicts_of = |url: &[u8]| {
        let verdicts = judge.judge(url).unwrap();
        [verdicts.get(0), verdicts.get(1)]
    };
    let line = |url: &Vec<u8>| !url.contains(&b'\n');
    (0..rows)
        .map(|row| {
            url(row)
                .filter(line)
                .map_or([Verdict::Invalid; 2], |url| verdicts_of(&url))
        })
        .collect()
}

/// Encodings, page versions and codecs, each with the row counts of the row groups.
fn kinds() -> Vec<(&'static str, WriterPropertiesBuilder, Vec<usize>)> {
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    let second = || WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
    vec![
        (
            "dictionaries",
            WriterProperties::builder().set_compression(Compression::SNAPPY),
            vec![20_000, 3, 5000],
        ),
        (
            "short pages",
            plain()
                .set_data_page_row_count_limit(100)
                .set_write_batch_size(10),
            vec![10_000],
        ),
        (
            "pages of version 2",
            second().set_compression(Compression::ZSTD(Default::default())),
            vec![1000; 5],
        ),
        (
            "deltas",
            plain().set_column_encoding("url".into(), Encoding::DELTA_BYTE_ARRAY),
            vec![2000, 1],
        ),
        (
            "lengths",
            plain().set_column_encoding("url".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY),
            vec![3000],
        ),
        (
            "gzip",
            plain().set_compression(Compression::GZIP(Default::default())),
            vec![700],
        ),
        (
            "lz4",
            second()
                .set_compression(Compression::LZ4_RAW)
                .set_bloom_filter_enabled(true),
            vec![12, 1300],
        ),
        ("no rows", plain(), vec![0]),
        ("no row groups", plain(), vec![]),
    ]
}

/// Asserts that each old column has the same bytes in the new file, and that its page indexes and
/// Bloom filters are preserved.
fn assert_copied(kind: &str, (old, new): (&Bytes, &Bytes)) {
    let open = |bytes: &Bytes| SerializedFileReader::new(bytes.clone()).unwrap();
    let (before, after) = (open(old), open(new));
    let (before, after) = (before.metadata(), after.metadata());
    assert_eq!(before.num_row_groups(), after.num_row_groups(), "{kind}");
    for (before, after) in before.row_groups().iter().zip(after.row_groups()) {
        assert_eq!(before.num_rows(), after.num_rows(), "{kind}");
        for (before, after) in before.columns().iter().zip(after.columns()) {
            let bytes = |file: &Bytes, (start, len): (u64, u64)| {
                file.slice(start as usize..(start + len) as usize)
            };
            assert!(
                bytes(old, before.byte_range()) == bytes(new, after.byte_range()),
                "{kind}: {}",
                before.column_path()
            );
            assert_eq!(before.statistics(), after.statistics(), "{kind}");
            let found = before.bloom_filter_length();
            assert_eq!(found, after.bloom_filter_length(), "{kind}");
            let found = before.column_index_length();
            assert_eq!(found, after.column_index_length(), "{kind}");
            let found = before.offset_index_offset().is_some();
            assert_eq!(found, after.offset_index_offset().is_some(), "{kind}");
        }
    }
}

#[test]
fn annotate_adds_verdicts_and_copies_the_rest() {
    let dir = snapshot_dir();
    for (kind, properties, groups) in kinds() {
        let old = Bytes::from(table(properties, &groups));
        dir.write("in.parquet", &old);
        let verdicts = verdicts(groups.iter().sum());
        let judged = |row: &[Verdict; 2]| !matches!(row[0], Verdict::Unknown | Verdict::Invalid);
        let code = |verdict: Verdict| match verdict {
            Verdict::Disallowed => 0,
            Verdict::Allowed => 1,
            Verdict::Unknown => 2,
            Verdict::Invalid => 3,
        };
        for (column, two) in [("url", ""), ("page.link", " --as int8 --as-name may_")] {
            dir.done_line(&format!(
                "annotate -s s -a one,two in.parquet -o out.parquet --column {column}{two}"
            ));
            let new = Bytes::from(dir.read("out.parquet"));
            assert_copied(kind, (&old, &new));
            let entries = dir
                .open_parquet("out.parquet")
                .metadata()
                .file_metadata()
                .key_value_metadata()
                .unwrap()
                .clone();
            assert_eq!(
                entries.iter().map(|entry| &*entry.key).collect::<Vec<_>>(),
                [
                    "kept",
                    "robosieve.agents",
                    "robosieve.version",
                    "robosieve.snapshot",
                    "robosieve.options",
                    "robosieve.counts"
                ]
            );
            let rows = dir.parquet_rows("out.parquet");
            assert_eq!(rows.len(), verdicts.len(), "{kind}");
            for (number, (row, verdicts)) in rows.iter().zip(&verdicts).enumerate() {
                let text = row.to_string();
                let [one, two_] = verdicts.map(code);
                let end = match two {
                    "" if judged(verdicts) => format!("robots_allowed: {}}}", one + 2 * two_),
                    "" => "robots_allowed: null}".to_owned(),
                    // Only null itself is null: other rows without a verdict have a number.
                    _ if url(number).is_none() => "may_one: null, may_two: null}".to_owned(),
                    _ => format!("may_one: {one}, may_two: {two_}}}"),
                };
                assert!(
                    text.ends_with(&end),
                    "{kind}, row {number}: {end} in ...{}",
                    &text[text.len().saturating_sub(80)..]
                );
            }
        }
    }
}

/// The values of `--add` in a row with this URL.
fn added(url: Option<Vec<u8>>) -> String {
    let Some(url) = url else {
        return "origin: null, reason: null, crawl_delay_one: null, crawl_delay_two: null"
            .to_owned();
    };
    // A text with a line end is not a URL.
    let url = Some(url).filter(|url| !url.contains(&b'\n'));
    let (origin, reason, delay) = match url.and_then(|url| Origin::of(&url)) {
        None => ("null".to_owned(), "not-a-url", "null"),
        Some(origin) if origin.as_str() == "https://a.example" => {
            (format!("{:?}", origin.as_str()), "rules", "1.5")
        }
        Some(origin) => (format!("{:?}", origin.as_str()), "unknown-origin", "null"),
    };
    format!("origin: {origin}, reason: {reason:?}, crawl_delay_one: null, crawl_delay_two: {delay}")
}

#[test]
fn added_columns_follow_the_verdicts() {
    let dir = snapshot_dir();
    for (kind, properties, groups) in kinds() {
        dir.write("in.parquet", table(properties, &groups));
        for (options, prefix) in [
            ("", "robots_"),
            ("--as bits --as-name may", "may_"),
            ("--as int8 --as-name may_", "may_"),
        ] {
            dir.done_line(&format!(
                "annotate -q -s s -a one,two --add origin,reason,crawl_delay {options} \
                 in.parquet -o out.parquet"
            ));
            let [old, new] = ["in.parquet", "out.parquet"].map(|name| Bytes::from(dir.read(name)));
            assert_copied(kind, (&old, &new));
            for (number, row) in dir.parquet_rows("out.parquet").iter().enumerate() {
                let end = added(url(number)).replace(", ", &format!(", {prefix}"));
                let text = row.to_string();
                assert!(
                    text.ends_with(&format!(", {prefix}{end}}}")),
                    "{kind} {options}, row {number}: {end} in ...{}",
                    &text[text.len().saturating_sub(160)..]
                );
            }
        }
    }
}

#[test]
fn filter_writes_each_row_to_one_output_in_order() {
    let dir = snapshot_dir();
    for (kind, properties, groups) in kinds() {
        dir.write("in.parquet", table(properties, &groups));
        dir.done_line("filter -s s -a one,two in.parquet -o A --disallowed-to D --unknown-to U --invalid-to I");
        let rows = dir.parquet_rows("in.parquet");
        for (name, verdict) in [
            ("U", Verdict::Unknown),
            ("I", Verdict::Invalid),
            ("A", Verdict::Allowed),
            ("D", Verdict::Disallowed),
        ] {
            let of_row = |row: &[Verdict; 2]| {
                if row[0] == row[1] {
                    row[0]
                } else {
                    Verdict::Disallowed
                }
            };
            let verdicts = verdicts(rows.len());
            let wanted = rows
                .iter()
                .zip(&verdicts)
                .filter(|(_, row)| of_row(row) == verdict)
                .map(|(row, _)| row);
            assert!(dir.parquet_rows(name).iter().eq(wanted), "{kind}: {name}");
            let chunks = |name| {
                dir.open_parquet(name)
                    .metadata()
                    .row_groups()
                    .first()
                    .map(|group| group.column(0).compression())
            };
            assert!(
                chunks(name).is_none() || chunks(name) == chunks("in.parquet"),
                "{kind}"
            );
        }
        // If one output gets all rows of a row group, the group is copied.
        dir.done_line("filter -s s -a one --unknown allow --keep allowed A -o again");
        assert_copied(kind, (&dir.read("A").into(), &dir.read("again").into()));
    }
}

#[test]
fn report_counts_every_row() {
    let dir = snapshot_dir();
    for (kind, properties, groups) in kinds() {
        dir.write("in.parquet", table(properties, &groups));
        let ran = dir.done_line("report -q -s s -a one,two in.parquet --json-to -");
        let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        let verdicts = verdicts(groups.iter().sum());
        assert_eq!(report["lists"]["lines"], verdicts.len(), "{kind}");
        for agent in 0..2 {
            for (name, verdict) in [
                ("allowed", Verdict::Allowed),
                ("disallowed", Verdict::Disallowed),
                ("unknown", Verdict::Unknown),
                ("invalid", Verdict::Invalid),
            ] {
                let count = verdicts.iter().filter(|row| row[agent] == verdict).count();
                assert_eq!(
                    report["agents"][agent]["urls"][name], count,
                    "{kind}: {agent} {name}"
                );
            }
        }
        let of_bases: u64 = report["bases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of["urls"].as_u64().unwrap())
            .sum();
        assert_eq!(of_bases, verdicts.len() as u64, "{kind}");
    }
    let refused = dir.run_line("report -q -s s -a one in.parquet --field 2");
    refused.says("have names; give one");
}

#[test]
fn files_of_one_schema_are_concatenated() {
    let dir = snapshot_dir();
    dir.write("a.parquet", table(WriterProperties::builder(), &[5, 6]));
    dir.write(
        "b",
        table(
            WriterProperties::builder().set_dictionary_enabled(false),
            &[7],
        ),
    );
    let ran = dir.done_line("annotate -s s -a one a.parquet b -o out");
    assert!(ran.stderr.starts_with("lines 18  allowed "), "{ran:?}");
    assert_eq!(dir.open_parquet("out").metadata().num_row_groups(), 3);
}

/// Parquet files and lists mix. Each gets its own output, and a rerun skips complete ones.
#[test]
fn files_and_lists_share_an_output_directory() {
    let dir = snapshot_dir();
    dir.write("a.parquet", table(WriterProperties::builder(), &[50, 60]));
    dir.write("b.parquet", table(WriterProperties::builder(), &[70]));
    dir.write("c.txt", b"https://a.example/\n");
    dir.done_line("annotate -q -s s -a one a.parquet -o alone");
    let run = "annotate -s s -a one --out-dir out a.parquet b.parquet c.txt";
    let ran = dir.done_line(run);
    assert!(ran.stderr.contains("lines 181  allowed "), "{}", ran.stderr);
    assert_eq!(dir.read("out/a.parquet"), dir.read("alone"));
    let again = dir.done_line(&format!("{run} --resume"));
    again.says("3 of 3 files are complete");
    dir.write("b.parquet", table(WriterProperties::builder(), &[71]));
    let again = dir.done_line(&format!("{run} --resume"));
    again.says("2 of 3 files are complete");
    assert_eq!(dir.parquet_rows("out/b.parquet").len(), 71);
    // A failing file is reported, and its old output is kept.
    dir.write("b.parquet", b"PAR1 damaged");
    let ran = dir.run_line(&format!("{run} --resume"));
    ran.refused("b.parquet: Parquet: damaged");
    assert_eq!(dir.parquet_rows("out/b.parquet").len(), 71);
}

/// A file with one column of these values.
fn column_of(values: &[Option<&str>]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message m { optional binary url; }").unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let levels: Vec<i16> = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    let values: Vec<ByteArray> = values
        .iter()
        .flatten()
        .map(|value| ByteArray::from(*value))
        .collect();
    column
        .typed::<ByteArrayType>()
        .write_batch(&values, Some(&levels), None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn columns_without_urls_are_refused() {
    let dir = snapshot_dir();
    let long = "x".repeat(20_000);
    dir.write("out.parquet", b"from before");
    let runs = [
        "filter -q -s s -a one in.parquet -o",
        "annotate -q -s s -a one in.parquet -o",
    ];
    for (values, is_error) in [
        (&[Some("title"), None][..], true),
        (&[Some(&long), None], true),
        (&[None, Some("")], true),
        (&[None, None], true),
        (&[Some("title"), Some("https://unknown.example/")], false),
    ] {
        dir.write("in.parquet", column_of(values));
        let names = file_names(dir.root());
        for run in runs {
            let ran = dir.run_line(&format!("{run} out.parquet"));
            let expected = Some(if is_error { 2 } else { 0 });
            assert_eq!(ran.code, expected, "{run}: {ran:?}");
            let found = ran
                .stderr
                .contains("in.parquet: Parquet: none of the 2 rows has a URL");
            assert_eq!(found, is_error, "{ran:?}");
            let is_kept = dir.read("out.parquet") == b"from before";
            assert_eq!(is_kept, is_error, "{run}");
            assert_eq!(file_names(dir.root()), names.clone(), "{run}");
            dir.write("out.parquet", b"from before");
        }
        let report = dir.run_line("report -q -s s -a one in.parquet");
        let expected = Some(if is_error { 2 } else { 0 });
        assert_eq!(report.code, expected, "{report:?}");
    }
}

/// As with lists, the completed URL is judged, and the output keeps the original.
#[test]
fn incomplete_urls_are_completed() {
    let dir = snapshot_dir();
    let long = format!("a.example/{}", "y/".repeat(10_000));
    let urls = [
        "/x",
        "/ok",
        "a.example/x",
        "//a.example/ok",
        "https://a.example/x",
        "?",
        "b.example/",
        &long,
    ];
    let schema = Arc::new(parse_message_type("message m { required binary url; }").unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    write_column::<ByteArrayType>(&mut group, &urls.map(ByteArray::from), None, None);
    group.close().unwrap();
    dir.write("in.parquet", file.into_inner().unwrap());
    dir.write("list", (urls.join("\n") + "\n").as_bytes());
    for options in [
        "--host a.example",
        "--default-scheme https",
        "--host a.example --default-scheme http",
        "",
    ] {
        let args = format!("-q -s s -a one {options}");
        let letters = dir.done_line(&format!("annotate {args} list")).stdout;
        let letters: Vec<u8> = letters
            .split(|b| *b == b'\n')
            .filter_map(|line| line.first().copied())
            .collect();
        dir.done_line(&format!("annotate {args} in.parquet -o out.parquet"));
        let masks: Vec<String> = dir
            .parquet_rows("out.parquet")
            .iter()
            .map(|row| row.get_column_iter().nth(1).unwrap().1.to_string())
            .collect();
        let wanted: Vec<&str> = letters
            .iter()
            .map(|letter| match letter {
                b'A' => "1",
                b'D' => "0",
                _ => "null",
            })
            .collect();
        assert_eq!(masks, wanted, "{options}");
    }
}

#[test]
fn impossible_runs_are_explained_and_write_nothing() {
    let dir = snapshot_dir();
    let good = table(WriterProperties::builder(), &[3000]);
    dir.write("in.parquet", &good);
    dir.write("cut.parquet", &good[..good.len() / 2]);
    dir.write("empty.parquet", b"");
    dir.write("text.parquet", b"https://a.example/\n");
    dir.write("list", b"https://a.example/\n");
    dir.done_line("annotate -q -s s -a one in.parquet -o other.parquet");
    let many: Vec<String> = (0..64).map(|n| format!("agent{}", "x".repeat(n))).collect();
    let many = many.join(",");
    let many = format!("annotate -s s -a {many} in.parquet -o new | a mask of bits holds 63");
    let names = file_names(dir.root());
    let cases = [
        "annotate -s s -a one in.parquet | -o out.parquet",
        "filter -s s -a one in.parquet -o - | needs a file; name one with -o",
        "annotate -s s -a one in.parquet -o new.parquet.gz | not compressed",
        "annotate -s s -a one in.parquet --column link -o new | \
         has no column \"link\", only url, n, tags.",
        "annotate -s s -a one in.parquet --column n -o new | column \"n\" holds INT64",
        "filter -s s -a one in.parquet --column tags.list.element -o new | repeated",
        "annotate -s s -a one other.parquet -o new | --as-name",
        "annotate -s s -a one,One --as int8 in.parquet -o new | the agent One is named twice",
        "annotate -s s -a one in.parquet other.parquet -o new | \
         its columns differ from those of in.parquet",
        "annotate -s s -a one in.parquet list -o new | some inputs are Parquet",
        "annotate -s s -a one cut.parquet -o new | cut.parquet: Parquet: damaged",
        "annotate -s s -a one empty.parquet -o new | empty.parquet: Parquet",
        "annotate -s s -a one text.parquet -o new | text.parquet: Parquet",
        "annotate -s s -a one missing.parquet -o new | missing.parquet: No such file",
        "annotate -s s -a one --as mask in.parquet -o new | a Parquet file takes bits or int8",
        "annotate -s s -a one --as bits list -o new | lines take letters, jsonl, csv or mask",
        "annotate -s s -a one --field 1 in.parquet -o new | have names",
        "filter -s s -a one --json-key page in.parquet -o new | \
         name the column of the URLs with --field NAME",
        "annotate -s s -a one --as-name x list -o new | the form letters has no name",
    ];
    for row in cases.into_iter().chain([&*many]) {
        let [args, expected] = cells(row);
        let ran = dir.run_line(args);
        ran.refused(expected);
        assert!(ran.stdout.is_empty(), "{args}");
        assert!(file_names(dir.root()) == names, "{args}");
    }
    let piped = robosieve_with(
        dir.root(),
        &["annotate", "-s", "s", "-a", "one", "-o", "new"],
        &good,
    );
    piped.refused("name the file instead of piping it");
}

/// A damaged file gives an error, or as many rows as its footer declares. It causes no panic, no
/// hang and no lost row.
#[test]
fn damaged_files_fail_or_keep_all_rows() {
    let snapshot = Snapshot::new(snapshot()).unwrap();
    let judge = judge_for(&snapshot, "one");
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("in"), dir.path().join("out"));
    let (mut errors, mut done) = (0, 0);
    for properties in [
        WriterProperties::builder(),
        WriterProperties::builder().set_dictionary_enabled(false),
    ] {
        let good = table(properties.set_compression(Compression::SNAPPY), &[8, 40]);
        for position in (0..good.len()).step_by(13) {
            let mut bad = good.clone();
            bad[position] ^= 1 << (position % 8);
            fs::write(&path, &bad).unwrap();
            let job = Job::new(&judge);
            let ran = (|| {
                let inputs = || Ok::<_, robosieve::Error>(vec![Input::open(&path)?]);
                let annotated = job.annotate(inputs()?, Output::create(&out)?)?.commit()?;
                let outputs = Outputs {
                    kept: Some(Output::create(&out)?),
                    ..Outputs::default()
                };
                let filtered = job.filter(inputs()?, outputs)?.commit()?;
                assert_eq!(annotated.lines, filtered.lines, "byte {position}");
                Ok::<_, robosieve::Error>(())
            })();
            match ran {
                Ok(_) => done += 1,
                Err(err) => errors += usize::from(err.to_string().len() > 20),
            }
        }
    }
    assert!(errors > 30 && done > 30, "{errors} errors, {done} done");
}
