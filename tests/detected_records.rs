//! Inputs whose layout is detected: tables of spreadsheets, JSON of tools, schemas of corpora. What is
//! not clear is refused before anything is written, with the option that decides.

use crate::command::robosieve_with;
use crate::snapshots::compile_robots;
use crate::test_dir::TestDir;

fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    let snapshot = compile_robots("https://a.test", b"user-agent: *\ndisallow: /*.pdf$\n");
    dir.write("s.rsieve", snapshot);
    dir
}

const FILTER: [&str; 6] = ["filter", "-q", "-s", "s.rsieve", "-a", "FooBot"];

/// Tables as spreadsheets write them. The second URL is allowed.
#[test]
fn tables_of_spreadsheets_are_read() {
    let dir = snapshot_dir();
    let (pdf, page) = ("https://a.test/x.pdf", "https://a.test/y");
    // Excel: German list separator, byte order mark, CRLF, with and without the line `sep=`.
    // LibreOffice: quotes around all texts. Google Sheets: commas without a mark. Then others.
    let cases = [
        (
            "a.csv",
            "url;title\n",
            format!("{pdf};Report\n"),
            format!("{page};Page\n"),
        ),
        (
            "a.csv",
            "\u{feff}Titel;URL\r\n",
            format!("\"1;2\";{pdf}\r\n"),
            format!(";{page}\r\n"),
        ),
        (
            "a.csv",
            "sep=;\r\ntitle;url\r\n",
            format!("x;{pdf}\r\n"),
            format!("y;{page}\r\n"),
        ),
        (
            "a.csv",
            "\"sep=,\"\n\"a,b\",Url\n",
            format!("1,{pdf}\n"),
            format!("\"2,3\",{page}\n"),
        ),
        (
            "a.csv.zst",
            "\"url\";\"n\"\n",
            format!("\"{pdf}\";\"a\nb\"\n"),
            format!("\"{page}\";1\n"),
        ),
        (
            "a.csv",
            "url,n\r\n",
            format!("{pdf},\"1;2\"\r\n"),
            format!("{page},3\r\n"),
        ),
        (
            "a.csv",
            "n\turl\n",
            format!("1\t{pdf}\n"),
            format!("2\t{page}\n"),
        ),
        (
            "a.csv",
            "n|url\n",
            format!("1|{pdf}\n"),
            format!("2|{page}\n"),
        ),
        (
            "a.tsv",
            "url,n\n",
            format!("{pdf},1\n"),
            format!("{page},2\n"),
        ),
        // Without a name.
        ("-", "url;n\n", format!("{pdf};1\n"), format!("{page};2\n")),
        (
            "-",
            "n,url\n",
            format!("\"a,b\",{pdf}\n"),
            format!("1,{page}\n"),
        ),
        (
            "-",
            "url\tn\n",
            format!("{pdf}\t\"\n"),
            format!("{page}\t\n"),
        ),
        (
            "-",
            "sep=|\nurl|n\n",
            format!("{pdf}|1\n"),
            format!("{page}|2\n"),
        ),
    ];
    for (name, header, refused, kept) in cases {
        let text = format!("{header}{refused}{kept}");
        let bytes = if name.ends_with(".zst") {
            zstd::encode_all(text.as_bytes(), 1).unwrap()
        } else {
            text.clone().into_bytes()
        };
        if name != "-" {
            dir.write(name, &bytes);
        }
        let input = if name == "-" { &bytes[..] } else { b"" };
        let ran = robosieve_with(dir.root(), &[&FILTER[..], &[name]].concat(), input);
        assert_eq!(ran.code, Some(0), "{text}: {}", ran.stderr);
        let expected = format!("{header}{kept}");
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected, "{text}");
    }
}

/// A line of text, or of a single column, is a URL with all its bytes.
#[test]
fn single_columns_keep_their_delimiters() {
    let dir = snapshot_dir();
    for (name, text) in [
        ("a.csv", "url\nhttps://a.test/x.pdf;v=1\n"),
        ("a.csv", "https://a.test/x.pdf;v=1\nhttps://a.test/y;v=2\n"),
        ("a.csv", "https://a.test/x.pdf|1\n"),
        ("a.tsv", "https://a.test/x.pdf;1\nhttps://a.test/x.pdf,2\n"),
        ("a.txt", "https://a.test/x.pdf;1\nhttps://a.test/x.pdf;2\n"),
        ("list", "https://a.test/x.pdf;1\nhttps://a.test/x.pdf;2\n"),
    ] {
        dir.write(name, text);
        let ran = dir.done(&[&FILTER[..], &[name]].concat());
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), text, "{name}");
    }
    dir.write("b.csv", "https://a.test/x.pdf;1\n");
    for (options, kept) in [
        (&["--delimiter", ";", "--field", "1"][..], ""),
        (&["--delimiter", ","], "https://a.test/x.pdf;1\n"),
    ] {
        let ran = dir.done(&[&FILTER[..], options, &["b.csv"]].concat());
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), kept, "{options:?}");
    }
}

#[test]
fn unclear_layouts_are_refused() {
    let dir = snapshot_dir();
    let url = "https://a.test/x.pdf";
    let long = format!("url;n\n{}{url};1;2\n", format!("{url};1\n").repeat(9_000));
    let cases = [
        (
            "a.csv",
            format!("url;title\n{url};a;b\n"),
            &[
                "has \"url\", \"title\" if ';' separates columns",
                "record 2",
                "--delimiter",
            ][..],
        ),
        (
            "a.csv",
            format!("link;title\n{url};a\n"),
            &[
                "no column \"url\": if ';' separates",
                "\"link\", \"title\"",
                "--delimiter",
                "--field",
            ],
        ),
        (
            "a.csv",
            format!("{url}\ta\n"),
            &["if a tab separates", "--delimiter"],
        ),
        (
            "a.csv",
            "source_url,target_uri\n".to_owned(),
            &["several that may hold URLs", "--field"],
        ),
        (
            "a.json",
            format!("[{{\"url\":\"{url}\"}},\n{{\"url\":\"{url}\"}}]\n"),
            &["a JSON array", "jq -c '.[]'"],
        ),
        (
            "a.jsonl",
            format!("[\n  {{\"url\":\"{url}\"}},\n  {{\"url\":\"{url}\"}}\n]\n"),
            &["jq -c '.[]'"],
        ),
        (
            "list",
            format!("[\n{{\"url\":\"{url}\"}},\n{{\"url\":\"{url}\"}}\n]\n"),
            &["jq -c '.[]'"],
        ),
        (
            "list",
            format!("[\"{url}\",\n\"{url}\"]\n"),
            &["jq -r '.[]'"],
        ),
        (
            "a.json",
            format!("{{\n\"url\":\"{url}\"\n}}\n"),
            &["jq -c ."],
        ),
        (
            "a.json",
            format!("{{\"url\":\"{url}\"}},\n{{\"url\":\"{url}\"}}\n"),
            &["a comma follows", "sed"],
        ),
        (
            "a.jsonl",
            format!("{{\"link\":\"{url}\"}}\n"),
            &["URLs are under \"link\"", "--json-key"],
        ),
        (
            "list",
            format!("{{\"a\":{{\"b\":\"{url}\"}}}}\n"),
            &["under \"a.b\"", "--json-key"],
        ),
    ];
    for (name, text, parts) in cases {
        dir.write(name, &text);
        for run in [
            &FILTER[..],
            &["annotate", "-q", "-s", "s.rsieve", "-a", "FooBot"],
        ] {
            dir.fails(
                &[run, &[name, "-o", "out"]].concat(),
                &[&[name], parts].concat(),
            );
        }
    }
    // Records after the sample are read as the first ones are.
    dir.write("a.csv", &long);
    let ran = dir.done(&[&FILTER[..], &["a.csv"]].concat());
    assert_eq!(ran.stdout, b"url;n\n");
}

/// The keys of published corpora, and the columns of the same names.
#[test]
fn urls_of_corpora_are_found() {
    let dir = snapshot_dir();
    let line = |template: &str, url: &str| template.replace('@', &format!("\"{url}\"")) + "\n";
    for template in [
        "{\"text\":\"t\",\"url\":@}",
        "{\"URL\":@,\"TEXT\":\"t\"}",
        "{\"text\":\"t\",\"id\":\"1\",\"metadata\":{\"url\":@}}",
        "{\"text\":\"t\",\"meta\":{\"url\":@,\"source\":\"cc\"}}",
        "{\"content\":\"t\",\"warc_headers\":{\"warc-target-uri\":@},\"metadata\":{\"quality_warnings\":null}}",
        "{\"f\":\"x.warc.gz\",\"u\":@,\"c\":\"text/html\"}",
        "{\"source_url\":@}",
        "{\"target_uri\":@}",
    ] {
        let line = |url: &str| line(template, url);
        let [refused, kept] = ["https://a.test/x.pdf", "https://a.test/y"].map(line);
        for name in ["a.jsonl", "list"] {
            dir.write(name, format!("{refused}{kept}"));
            let ran = dir.done(&[&FILTER[..], &[name]].concat());
            assert_eq!(String::from_utf8(ran.stdout).unwrap(), kept, "{name}");
        }
    }
    // The header of a WACZ file's list of pages has no URL.
    let pages = "{\"format\":\"json-pages-1.0\",\"id\":\"pages\",\"title\":\"All Pages\"}\n\
                 {\"id\":\"1\",\"url\":\"https://a.test/y\"}\n";
    dir.write("pages.jsonl", pages);
    let ran = dir.done(&[&FILTER[..], &["pages.jsonl"]].concat());
    assert!(pages.as_bytes().ends_with(&ran.stdout) && !ran.stdout.is_empty());
}

/// Records without a URL are refused in every format, and inputs without records in none.
#[test]
fn one_rule_holds_for_inputs_without_urls() {
    let dir = snapshot_dir();
    for (name, text, is_error) in [
        ("a.csv", "n,url\n1,\n2,\n", true),
        ("a.jsonl", "{\"n\":1}\n", true),
        ("a.jsonl", "{\"url\":null}\n", true),
        ("a.csv", "n,url\n", false),
        ("a.csv", "sep=;\r\nn;url\r\n", false),
        ("a.jsonl", "\n\n", false),
        ("a.json", "", false),
    ] {
        dir.write(name, text);
        let args = [&FILTER[..], &[name]].concat();
        if is_error {
            dir.fails(&args, &[name, "has a URL"]);
        } else {
            dir.done(&args);
        }
    }
}
