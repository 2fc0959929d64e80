//! Times of rows: inputs that lack them are refused before any output, and the message says how to
//! name them.

use crate::command::cells;
use crate::test_dir::TestDir;

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.compile_small("s");
    let url = "https://news.example/a";
    dir.write("list.txt", format!("{url}\n"));
    dir.write("a.csv", format!("url,at\n{url},2024-03-05 12:00:00+00\n"));
    dir.write(
        "a.jsonl",
        format!("{{\"url\":\"{url}\",\"at\":1709640000}}\n"),
    );
    dir.write(
        "a.cdx",
        format!(" CDX N b a\nexample,news)/a 20240305120000 {url}\n"),
    );
    dir.write("no-date.cdx", format!(" CDX N a\nexample,news)/a {url}\n"));
    dir.write(
        "a.warc",
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\n\
             WARC-Date: 2024-03-05T12:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        ),
    );
    dir
}

#[test]
fn inputs_without_times_are_refused() {
    let dir = dir();
    // The options, the message, and its advice.
    let cases = [
        "--as-of-column day a.csv | a.csv: no column \"day\" of times: the first line has \"url\", \
         \"at\" | ; name the column or key of the times with --as-of-column NAME",
        "--as-of-record a.csv | a.csv: the records of a table have no time of their own | ; name the \
         column or key of the times with --as-of-column NAME",
        "--as-of-record a.jsonl | a.jsonl: JSON objects have no time of their own | ; name the column \
         or key of the times with --as-of-column NAME",
        "--as-of-record no-date.cdx | names no field \"b\", which is the timestamp | ; name the",
        "--as-of-record list.txt | list.txt: a list of URLs has no times | ; name the column",
        "--as-of-column at a.warc | a record of a WARC file has its time in WARC-Date | \
         (--as-of-record)",
        "--as-of-record pages.parquet | the rows of a Parquet file have no time of their own | ; name \
         the column of the times with --as-of-column NAME",
        "--as-of-column day pages.parquet | has no column \"day\", only id, url | ; name the \
         column of the times with --as-of-column NAME",
        "--as-of-column at --as-of-record a.csv | cannot be used with | --as-of-record",
    ];
    let table = std::fs::read(crate::command::checkout().join("datasets/small/pages.parquet"));
    dir.write("pages.parquet", table.unwrap());
    for case in cases {
        let [options, message, advice] = cells(case);
        for verb in ["filter -o out", "annotate -o out", "filter --out-dir outs"] {
            let ran = dir.run_line(&format!("{verb} -q -s s -a GPTBot {options}"));
            ran.refused(message).says(advice);
            assert!(!dir.path("out").is_file(), "{case}");
        }
    }
}
