//! Inputs whose layout is detected: tables of spreadsheets, JSON of tools, schemas of corpora. What is
//! not clear is refused before anything is written, with the option that decides.

use crate::command::{case, cells, robosieve_with};
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
    for row in [
        "a.csv | url;title\n | PDF;Report\n | PAGE;Page\n",
        "a.csv | \u{feff}Titel;URL\r\n | \"1;2\";PDF\r\n | ;PAGE\r\n",
        "a.csv | sep=;\r\ntitle;url\r\n | x;PDF\r\n | y;PAGE\r\n",
        "a.csv | \"sep=,\"\n\"a,b\",Url\n | 1,PDF\n | \"2,3\",PAGE\n",
        "a.csv.zst | \"url\";\"n\"\n | \"PDF\";\"a\nb\"\n | \"PAGE\";1\n",
        "a.csv | url,n\r\n | PDF,\"1;2\"\r\n | PAGE,3\r\n",
        "a.csv | n\turl\n | 1\tPDF\n | 2\tPAGE\n",
        "a.csv | n|url\n | 1|PDF\n | 2|PAGE\n",
        "a.tsv | url,n\n | PDF,1\n | PAGE,2\n",
        // Data frames, R, and Excel's texts with tabs.
        "a.tsv | url\ttitle\n | PDF\t\"a\n\"\"b\"\n | PAGE\t\"c\td\"\n",
        "a.tsv | title\turl\n | \"a\tb\"\tPDF\n | \tPAGE\n",
        "a.tab | \"url\"\t\"n\"\n | \"PDF\"\t1\n | \"PAGE\"\t2\n",
        "a.txt | n\turl\r\n | \"a, b\"\tPDF\r\n | 2\tPAGE\r\n",
        "a.txt | url;n\n | PDF;1\n | PAGE;2\n",
        // Databases: a quote is a byte like any other.
        "a.tsv | url\ttitle\n | PDF\t\"a\n | PAGE\t\"b\n",
        "a.tsv | url\ttitle\n | PDF\t\"a\" b\n | PAGE\t\"c\"\n",
        // Without a name.
        "- | url;n\n | PDF;1\n | PAGE;2\n",
        "- | n,url\n | \"a,b\",PDF\n | 1,PAGE\n",
        "- | url\tn\n | PDF\t\"\n | PAGE\t\n",
        "- | sep=|\nurl|n\n | PDF|1\n | PAGE|2\n",
    ] {
        let row = row.replace("PDF", pdf).replace("PAGE", page);
        let [name, header, refused, kept] = cells(&row);
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
    for row in [
        "a.csv | url;title\n@;a;b\n | has \"url\", \"title\" if ';' separates columns | \
         record 2 | --delimiter",
        "a.csv | link;title\n@;a\n | no column \"url\": if ';' separates | \"link\", \"title\" | \
         --delimiter | --field",
        "a.csv | @\ta\n | if a tab separates | --delimiter",
        "a.txt | @\t200\n@x\t404\n | no column \"url\": the first line has \"@\", \"200\" | --field N",
        "list | n\tpage\n1\t@\n2\t@x\n | no column \"url\": the first line has \"n\", \"page\" | --field N",
        "a.csv | source_url,target_uri\n | several that may hold URLs | --field",
        "a.csv | url,n\r@,1\r@,2\r | its lines end with CR | tr ",
        "a.csv | url\r@\r | its lines end with CR",
        "a.jsonl | {\"url\":\"@\"}\r{\"url\":\"@\"}\r | its lines end with CR",
        "a.csv | n,url\n1,@\n\"a\n\\\"b\\\" c\",@\n | line 3: a backslash escapes a quote",
        "a.json | [{\"url\":\"@\"},\n{\"url\":\"@\"}]\n | a JSON array | jq -c '.[]'",
        "a.jsonl | [\n  {\"url\":\"@\"},\n  {\"url\":\"@\"}\n]\n | jq -c '.[]'",
        "list | [\n{\"url\":\"@\"},\n{\"url\":\"@\"}\n]\n | jq -c '.[]'",
        "list | [\"@\",\n\"@\"]\n | jq -r '.[]'",
        "a.json | {\n\"url\":\"@\"\n}\n | jq -c .",
        "a.json | {\"url\":\"@\"},\n{\"url\":\"@\"}\n | a comma follows | sed",
        "a.jsonl | {\"link\":\"@\"}\n | URLs are under \"link\" | --json-key",
        "list | {\"a\":{\"b\":\"@\"}}\n | under \"a.b\" | --json-key",
    ] {
        let row = row.replace('@', url);
        let (name, parts) = case(&row);
        let (text, parts) = parts.split_first().unwrap();
        dir.write(name, text);
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
