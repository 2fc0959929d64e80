//! The inputs to start from: the small data set, the cases of the specification, and small files of
//! each kind.

use crate::archives::{ARC, JSON, WARC};
use crate::input::condense;
use crate::{audit_line, filter_stream, judge_url, records as record_lists, split_url};
use bstr::ByteSlice;
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::basic::{Compression as Codec, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> Vec<u8> {
    fs::read(checkout().join(path)).expect("a file of the repository")
}

/// The texts of a key in the cases of the specification. Their strings are those of JSON, but for
/// some escapes, which are left out.
fn of_cases(key: &str) -> Vec<String> {
    let mut files: Vec<PathBuf> = fs::read_dir(checkout().join("tests/cases"))
        .expect("the cases")
        .map(|entry| entry.expect("a case file").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    let texts = files
        .iter()
        .map(|path| fs::read_to_string(path).expect("UTF-8"));
    let start = format!("{key} = ");
    let mut values: Vec<String> = Vec::new();
    for text in texts {
        let found = text.lines().filter_map(|line| line.strip_prefix(&start));
        let found = found.filter_map(|value| serde_json::from_str(value).ok());
        values.extend(found.filter(|value: &String| value.len() < 1000));
    }
    values
}

pub(crate) fn robots() -> Vec<Vec<u8>> {
    let files = fs::read_dir(checkout().join("tests/cases/lint"))
        .into_iter()
        .flatten();
    let files = files.filter_map(|entry| fs::read(entry.ok()?.path()).ok());
    let files = files.filter(|file| file.len() < 4096);
    of_cases("robots")
        .into_iter()
        .map(String::into_bytes)
        .chain(files)
        .collect()
}

pub(crate) fn questions() -> Vec<Vec<u8>> {
    let tokens = judge_url::tokens();
    let question = |robots: String| {
        let paths = ["/x", "/a/b?c=d", "/index.html", "/%41%2a$"]
            .map(|path| condense(path.as_bytes(), &tokens));
        [
            &[0x41][..],
            &condense(robots.as_bytes(), &tokens),
            &[0xfe],
            &paths.join(&0xfe),
        ]
        .concat()
    };
    of_cases("robots").into_iter().map(question).collect()
}

pub(crate) fn urls() -> Vec<Vec<u8>> {
    let table = String::from_utf8(read("tests/cases/origins.tsv")).expect("UTF-8");
    let urls = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next());
    urls.map(|url| condense(url.as_bytes(), &split_url::tokens()))
        .collect()
}

/// Changes of each section, and none.
pub(crate) fn forgeries() -> Vec<Vec<u8>> {
    let kinds = (0..12).flat_map(|section| (0..8).map(move |kind| vec![section, kind, 9, 0, 1]));
    kinds.chain([Vec::new()]).collect()
}

/// An input with two bytes of options in front.
fn with_options(options: [u8; 2], text: Vec<u8>) -> Vec<u8> {
    [&options[..], &text].concat()
}

pub(crate) fn warcs() -> Vec<Vec<u8>> {
    let file = read("datasets/small/robots.warc");
    let records = file.split_str("WARC/1.0\r\n");
    archive_seeds(records.filter(|record| !record.is_empty()), WARC)
}

pub(crate) fn arcs() -> Vec<Vec<u8>> {
    let page = "HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /x\n";
    let records = [
        "x.arc 0.0.0.0 20010203040506 text/plain 12\n1 0 Crawler\n\n".to_owned(),
        format!(
            "https://a.example/robots.txt 192.0.2.1 20260915060000 text/plain {}\n{page}\n",
            page.len()
        ),
    ];
    let file = records.concat();
    archive_seeds([file.as_bytes()].into_iter(), ARC)
        .into_iter()
        .flat_map(|mut seed| {
            // Two kinds of intact files, and tokens.
            [0, 1, 2].map(|kind| {
                seed[0] = kind;
                seed.clone()
            })
        })
        .collect()
}

pub(crate) fn json_lines() -> Vec<Vec<u8>> {
    let file = read("datasets/small/more.jsonl");
    archive_seeds(file.split_inclusive(|&byte| byte == b'\n'), JSON)
}

/// Each entry of an archive in the tokens of its grammar, and some made-up archives.
fn archive_seeds<'e>(entries: impl Iterator<Item = &'e [u8]>, tokens: &[&str]) -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = entries
        .map(|entry| with_options([1, 6], condense(entry, tokens)))
        .collect();
    seeds.extend((0..8).map(|at| vec![0, 9, 5, at * 30, at / 2, 0, at, 0, 1]));
    seeds
}

pub(crate) fn members() -> Vec<Vec<u8>> {
    let member = |text: &[u8], level| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    };
    let mut seeds: Vec<Vec<u8>> = [0, 1, 9]
        .map(|level| {
            with_options(
                [0, 3],
                [member(b"a text, a text", level), member(b"", level)].concat(),
            )
        })
        .into();
    seeds.push(with_options(
        [0, 3],
        zstd::bulk::compress(b"a text, a text", 3).expect("memory"),
    ));
    seeds.extend((0..16).map(|at| {
        vec![
            1 + at % 3 + at / 8 * 4,
            9,
            at,
            at * 17,
            5,
            at * 16,
            at / 4,
            at % 8,
            3,
            0,
            0xff,
        ]
    }));
    seeds
}

pub(crate) fn records() -> Vec<Vec<u8>> {
    let lists = [
        "http://h.example/x\nhttp://h.example/y",
        "url\tn\nhttps://h.example/x\t1\n\t2\n",
        "n,url\n1,\"http://h.example/x\"\n2,\"a\nb\"\n",
        "{\"url\": \"http://h.example/x\"}\n{\"a\": {\"b\": \"http://h.example/\"}}\n",
        "example,h)/x 20260101000000 {\"url\": \"http://h.example/x\"}\n",
        " CDX N b a m s k r M S V g\nexample,h)/x 20260101 http://h.example/x text/html 200 - - 1 2 f\n",
    ];
    let seeds = lists.iter().enumerate().flat_map(|(format, list)| {
        let format = [6, 1, 2, 3, 4, 5][format];
        [[0, 0, 0, 200], [format, 0, 8, 3], [format, 8, 1, 1]].map(|options| {
            [
                &options[..],
                &condense(list.as_bytes(), record_lists::TOKENS),
            ]
            .concat()
        })
    });
    seeds.collect()
}

pub(crate) fn logs() -> Vec<Vec<u8>> {
    let site = read("datasets/site/access.log");
    let site = site
        .split_inclusive(|&byte| byte == b'\n')
        .take(4)
        .collect::<Vec<_>>()
        .concat();
    let logs: [&[u8]; 13] = [
        &site,
        br#"h.example:443 192.0.2.1 - - [01/Aug/2026:12:00:00 +0200] "GET /x HTTP/1.1" 200 5 "-" "GPTBot/1.2""#,
        br#"{"level":"info","ts":1785578400.52,"request":{"host":"h.example","uri":"/x","headers":{"User-Agent":["GPTBot"]}},"size":12,"status":200}"#,
        b"#Version: 1.0\n#Fields: date time cs-uri-stem cs(User-Agent) sc-status\n2026-08-01 10:00:00 /x GPTBot 200\n",
        b"#Fields: date\ttime\tcs-uri-stem\tcs(User-Agent)\tsc-status\n2026-08-01\t10:00:00\t/x\tGPTBot%20x\t200\n",
        b"#Fields: date time cs-uri-stem cs(User-Agent) sc-status\n2026-08-01 10:00:00 /x GPTBot+x 200\n",
        b"h.example|2026-08-01T12:00:00+02:00|200|GET /x HTTP/1.1|GPTBot\n",
        br#"[01/Aug/2026:10:00:00 +0000] GPTBot "a\"b" /x?q=1 h.example 200 7"#,
        b"https h.example 1785578400.123 /x [GPTBot]\n",
        b"h.example|2026-08-01T12:00:00+02:00|200|GET /x HTTP/1.1|GPTBot\n",
        br#"h2 2026-08-01T10:00:00.1Z app/x 192.0.2.1:2817 10.0.0.1:80 0 0 0 200 200 34 366 "GET http://h.example/x HTTP/1.1" "GPTBot/1.2" - -"#,
        br#"2026-08-01T10:00:00.1Z x 192.0.2.1:2817 - -1 -1 -1 503 0 0 0 "GET http://h.example/x HTTP/1.1" "GPTBot/1.2" - -"#,
        br#"haproxy[1]: 192.0.2.1:3 [01/Aug/2026:12:00:00.655] a b/c 1/0/3/6/9 200 2 - - ---- 1/1/1/1/0 0/0 {h.example|GPTBot/1} {} "GET /x HTTP/1.1""#,
    ];
    let seeds = logs
        .iter()
        .enumerate()
        .map(|(format, log)| with_options([format as u8, 200], condense(log, audit_line::TOKENS)));
    let layouts = audit_line::FORMATS.iter().zip(logs).map(|(format, log)| {
        let text = [format.as_bytes(), b"\n", log].concat();
        with_options([0xf0, 0], condense(&text, audit_line::TOKENS))
    });
    seeds.chain(layouts).collect()
}

pub(crate) fn lists() -> Vec<Vec<u8>> {
    let list = read("datasets/small/urls.txt");
    let list = list
        .split_inclusive(|&byte| byte == b'\n')
        .take(8)
        .collect::<Vec<_>>()
        .concat();
    let lists = [
        &list[..],
        b"http://h.example/x\r\nhttps://h.example/a\n\nnot a URL",
        b"",
    ];
    let seeds = lists.iter().flat_map(|list| {
        let text = condense(list, &filter_stream::tokens());
        [[0, 0, 200], [1, 1, 1], [2, 2, 7]].map(|options| [&options[..], &text].concat())
    });
    seeds.collect()
}

/// The file of the small data set, and one for each codec and encoding.
pub(crate) fn parquet_files() -> Vec<Vec<u8>> {
    let mut files = vec![read("datasets/small/pages.parquet")];
    let encodings = [
        Encoding::PLAIN,
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
    ];
    for (number, codec) in [
        Codec::UNCOMPRESSED,
        Codec::SNAPPY,
        Codec::ZSTD(Default::default()),
        Codec::LZ4_RAW,
        Codec::GZIP(Default::default()),
    ]
    .into_iter()
    .enumerate()
    {
        let version = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][number % 2];
        for (number, encoding) in encodings.into_iter().enumerate() {
            let properties = WriterProperties::builder()
                .set_compression(codec)
                .set_writer_version(version)
                .set_dictionary_enabled(number == 0)
                .set_bloom_filter_enabled(number == 2)
                .set_bloom_filter_max_ndv(4)
                .set_column_encoding("url".into(), encoding)
                .set_data_page_row_count_limit(2)
                .set_write_batch_size(2);
            files.push(parquet_file(properties.build()));
        }
    }
    files
}

/// A file of two row groups with a column of URLs, some of them null, and one of numbers.
fn parquet_file(properties: WriterProperties) -> Vec<u8> {
    let schema = "message m { optional binary url (STRING); required int64 n; optional group list (LIST) { repeated group list { optional int64 element; } } }";
    let schema = parse_message_type(schema).expect("a schema");
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema.into(), properties.into()).expect("memory");
    for rows in [5, 2] {
        let mut group = file.next_row_group().expect("a row group");
        let mut column = group.next_column().expect("a column").expect("a column");
        let urls = [
            "http://h.example/x",
            "http://h.example/",
            "no URL",
            "http://unknown.example/",
        ];
        let urls: Vec<ByteArray> = (0..rows - 1).map(|row| urls[row % 4].into()).collect();
        let levels: Vec<i16> = (0..rows).map(|row| i16::from(row != 1)).collect();
        column
            .typed::<ByteArrayType>()
            .write_batch(&urls, Some(&levels), None)
            .expect("memory");
        column.close().expect("memory");
        let mut column = group.next_column().expect("a column").expect("a column");
        column
            .typed::<Int64Type>()
            .write_batch(&vec![7; rows], None, None)
            .expect("memory");
        column.close().expect("memory");
        // A list of two numbers and a null in each row.
        let mut column = group.next_column().expect("a column").expect("a column");
        let definitions: Vec<i16> = [3, 3, 2].repeat(rows);
        let repetitions: Vec<i16> = [0, 1, 1].repeat(rows);
        column
            .typed::<Int64Type>()
            .write_batch(&vec![5; 2 * rows], Some(&definitions), Some(&repetitions))
            .expect("memory");
        column.close().expect("memory");
        group.close().expect("memory");
    }
    file.into_inner().expect("memory")
}
