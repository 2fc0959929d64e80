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

/// A wrong column would make every verdict unknown: an empty output, and no sign of it with `-q`.
#[test]
fn inputs_without_a_readable_time_are_refused() {
    let dir = dir();
    let archive = crate::command::checkout().join("datasets/small/robots.warc");
    dir.done(&[
        "compile",
        "-q",
        "--history",
        "-o",
        "h",
        &archive.display().to_string(),
    ]);
    let url = "https://news.example/a";
    dir.write(
        "day.csv",
        format!("url,at\n\n{url},15/10/2026\n{url},soon\n"),
    );
    dir.write("none.csv", format!("url,at\n{url},\n"));
    dir.write(
        "day.jsonl",
        format!("{{\"url\":\"{url}\",\"at\":{{\"day\":\"15/10/2026\"}}}}\n"),
    );
    dir.write(
        "day.cdx",
        format!(" CDX N b a\nexample,news)/a yesterday {url}\n"),
    );
    dir.write(
        "day.warc",
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\n\
             WARC-Date: 15/10/2026\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        ),
    );
    let table = std::fs::read(crate::command::checkout().join("datasets/small/pages.parquet"));
    dir.write("pages.parquet", table.unwrap());
    let newest = "; name the column or key of the times with --as-of-column, or judge by the newest \
                  rules with --no-time newest";
    // The options, and the message.
    let cases = [
        "--as-of-column at day.csv | day.csv: no record has a time in \"at\" that can be read; \
         \"15/10/2026\" is not a time (times are like 2026-01-31T12:00:00Z, ",
        "--as-of-column 2 day.csv none.csv | day.csv: no record of this input and of the others has a time \
         in column 2 that can be read; \"15/10/2026\" is not a time (",
        "--as-of-column 7 a.csv | a.csv: no record has a time in column 7 that can be read (times",
        "--as-of-column at none.csv | none.csv: no record has a time in \"at\" that can be read (times",
        "--as-of-column day a.jsonl | a.jsonl: no record has a time in \"day\" that can be read (times",
        "--as-of-column at.day day.jsonl | \"15/10/2026\" is not a time (",
        "--as-of-column at day.jsonl | \"{\\\"day\\\":\\\"15/10/2026\\\"}\" is not a time (",
        "--as-of-column url pages.parquet | pages.parquet: Parquet: no record has a time in \"url\" \
         that can be read; \"https://",
        "--as-of-column id pages.parquet | in \"id\" that can be read; \"0\" is not a time (",
    ];
    for case in cases {
        let [options, message] = cells(case);
        for verb in ["filter -o out", "annotate -o out", "filter --out-dir outs"] {
            // Files of `--out-dir` fail one by one.
            if verb.ends_with("outs") && options.contains("day.csv none.csv") {
                continue;
            }
            let ran = dir.run_line(&format!("{verb} -q -s h -a GPTBot {options}"));
            ran.refused(message).says(newest);
            assert!(!dir.path("out").is_file(), "{case}");
            dir.done_line(&format!(
                "{verb} -q -s h -a GPTBot --no-time newest {options}"
            ));
            let outs = if verb.ends_with("outs") {
                "outs"
            } else {
                "out"
            };
            let out = dir.path(outs);
            if out.is_dir() {
                std::fs::remove_dir_all(out).unwrap();
            } else {
                std::fs::remove_file(out).unwrap();
            }
        }
    }
    for case in [
        "day.cdx | no record has a time of its own that can be read; \"yesterday\" is not a time (",
        "day.warc | no record has a time of its own that can be read; \"15/10/2026\" is not a time (",
    ] {
        let [input, message] = cells(case);
        for verb in ["filter", "annotate"] {
            let line = format!("{verb} -q -s h -a GPTBot --as-of-record {input}");
            let ran = dir.run_line(&line);
            ran.refused(message)
                .says("; --no-time newest judges by the newest");
            dir.done_line(&format!("{line} --no-time newest"));
        }
    }
    // One readable time is enough, and so is a record without a URL.
    dir.write("one.csv", format!("url,at\n{url},soon\n{url},2024-03-05\n"));
    dir.done_line("filter -q -s h -a GPTBot --as-of-column at one.csv");
    dir.write("header.csv", "url,at\n");
    dir.done_line("filter -q -s h -a GPTBot --as-of-column at header.csv");
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
