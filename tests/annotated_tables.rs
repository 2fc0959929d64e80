//! `annotate --as csv`: columns before those of a table, with its delimiter and its quotes.

use crate::command::{checkout, words};
use crate::test_dir::TestDir;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use serde_json::Value;

/// A directory with the snapshot `s` of a site whose rule for `*` has commas and quotes.
fn snapshot() -> TestDir {
    let dir = TestDir::new();
    let robots = "User-agent: GPTBot\\nDisallow: /x\\n\\nUser-agent: *\\nDisallow: /a,\\\"b\\\";c";
    dir.write(
        "robots.jsonl",
        format!(
            "{{\"url\": \"https://a.example/robots.txt\", \"status\": 200, \"body\": \"{robots}\"}}\n"
        ),
    );
    dir.done_line("compile -q -o s robots.jsonl");
    dir
}

/// Writes an input, annotates it, and returns the output.
fn annotated(dir: &TestDir, input: &str, options: &str) -> String {
    dir.write("in.csv", input);
    dir.stdout_of(&format!("annotate -q -s s --as csv {options} in.csv"))
}

#[test]
fn columns_precede_those_of_the_table() {
    let dir = snapshot();
    let input = "title,url\r\n\"Tea, \"\"green\"\"\nand black\",https://a.example/x\r\n\
                 b,\"https://a.example/y\"\r\nc,\r\nd,https://b.example/";
    let expected = "robots_GPTBot,robots_CCBot,title,url\r\n\
                    disallowed,allowed,\"Tea, \"\"green\"\"\nand black\",https://a.example/x\r\n\
                    allowed,allowed,b,\"https://a.example/y\"\r\n\
                    invalid,invalid,c,\r\n\
                    unknown,unknown,d,https://b.example/";
    let found = annotated(&dir, input, "-a GPTBot,CCBot");
    assert_eq!(found.trim_end_matches('\n'), expected);
}

#[test]
fn the_delimiter_is_that_of_the_table() {
    let dir = snapshot();
    for (input, expected) in [
        (
            "url;n\nhttps://a.example/x;1,5\n",
            "robots_GPTBot;url;n\ndisallowed;https://a.example/x;1,5\n",
        ),
        // What belongs to the start of the file stays there.
        (
            "\u{feff}url,n\nhttps://a.example/x,1\n",
            "\u{feff}robots_GPTBot,url,n\ndisallowed,https://a.example/x,1\n",
        ),
        (
            "sep=;\r\nurl;n\r\nhttps://a.example/x;1\r\n",
            "sep=;\r\nrobots_GPTBot;url;n\r\ndisallowed;https://a.example/x;1\r\n",
        ),
    ] {
        assert_eq!(annotated(&dir, input, "-a GPTBot"), expected);
    }
    let marked = annotated(
        &dir,
        "\u{feff}https://a.example/x,1\n",
        "-a GPTBot --field 1",
    );
    assert_eq!(marked, "\u{feff}disallowed,https://a.example/x,1\n");
    dir.write("in.tsv", "url\tn\nhttps://a.example/x\t1\n");
    assert_eq!(
        dir.stdout_of("annotate -q -s s --as csv -a GPTBot in.tsv"),
        "robots_GPTBot\turl\tn\ndisallowed\thttps://a.example/x\t1\n"
    );
}

#[test]
fn added_values_are_quoted_columns() {
    let dir = snapshot();
    let found = annotated(
        &dir,
        "url,n\n\"https://a.example/a,\"\"b\"\";c\",1\nhttps://b.example/,2\n",
        "-a CCBot --add origin,reason,crawl_delay,rule,line,agent",
    );
    let expected = "\
        robots_CCBot,robots_origin,robots_reason,robots_crawl_delay_CCBot,robots_rule_CCBot,\
         robots_line_CCBot,robots_agent_CCBot,url,n\n\
         disallowed,https://a.example,rules,,\"Disallow: /a,\"\"b\"\";c\",5,*,\
         \"https://a.example/a,\"\"b\"\";c\",1\n\
         unknown,https://b.example,unknown-origin,,,,,https://b.example/,2\n";
    assert_eq!(found, expected);
}

/// Every value of the table is that of JSON lines.
#[test]
fn tables_have_the_values_of_json_lines() {
    let dir = TestDir::new();
    dir.compile_small("s");
    let list = std::fs::read_to_string(checkout().join("datasets/small/urls.txt")).unwrap();
    let quoted = |url: &str| format!("\"{}\",x\n", url.replace('"', "\"\""));
    let rows: String = list.lines().map(quoted).collect();
    dir.write("in.csv", format!("url,n\n{rows}"));
    let options = "-q -s s -a GPTBot,FooBot --add origin,reason,crawl_delay,rule,line,agent in.csv";
    let table = dir.stdout_of(&format!("annotate --as csv {options}"));
    let objects = dir.stdout_of(&format!("annotate --as jsonl {options}"));
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut compared = 0;
    for (line, object) in lines.zip(objects.lines()) {
        let object: Value = serde_json::from_str(object).unwrap();
        let fields = fields(line);
        for (name, field) in names[..names.len() - 2].iter().zip(&fields) {
            let value = match name.rsplit_once('_') {
                Some(("robots", agent @ ("GPTBot" | "FooBot"))) => &object["robots"][agent],
                Some((key, agent @ ("GPTBot" | "FooBot"))) => &object[key][agent],
                _ => &object[name],
            };
            let text = match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(*field, text, "{name}: {line}");
            compared += 1;
        }
    }
    assert_eq!(compared, 381 * 12);
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

#[test]
fn inputs_without_columns_are_refused() {
    let dir = snapshot();
    dir.write("urls", "https://a.example/x\n");
    dir.write("objects.jsonl", "{\"url\": \"https://a.example/x\"}\n");
    dir.write("a.csv", "url,n\nhttps://a.example/x,1\n");
    for input in ["urls", "objects.jsonl"] {
        dir.fails_as(&format!(
            "annotate -s s -a a --as csv {input} | tables (CSV, TSV) | form jsonl"
        ));
    }
    let preferences = words("annotate -s s -a a --as csv --preferences a.csv");
    dir.fails(&preferences, &["the form csv cannot hold preferences"]);
}

/// A field of a row as JSON.
fn value_of(field: &Field) -> Value {
    match field {
        Field::Str(text) => text.as_str().into(),
        Field::Int(number) => (*number).into(),
        Field::Byte(number) => (*number).into(),
        _ => Value::Null,
    }
}

/// Rules are looked up once per agent and robots.txt, and a Parquet file has those of JSON lines.
#[test]
fn parquet_columns_have_the_lines_that_disallow() {
    let dir = TestDir::new();
    dir.compile_small("s");
    let pages = checkout().join("datasets/small/pages.parquet");
    let pages = pages.display();
    dir.done_line(&format!(
        "annotate -q -s s -a GPTBot,FooBot --as int8 --add rule,line,agent -o out.parquet {pages}"
    ));
    let file = std::fs::File::open(dir.path("out.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows: Vec<Value> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| {
            let row = row.unwrap();
            let columns = row.get_column_iter();
            columns
                .map(|(name, field)| (name.clone(), value_of(field)))
                .collect()
        })
        .collect();
    let urls: String = rows
        .iter()
        .map(|row| row["url"].as_str().unwrap().to_owned() + "\n")
        .collect();
    dir.write("urls", urls);
    let lines =
        dir.stdout_of("annotate -q -s s -a GPTBot,FooBot --as jsonl --add rule,line,agent urls");
    let mut found = 0;
    for (row, line) in rows.iter().zip(lines.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        for agent in ["GPTBot", "FooBot"] {
            for key in ["rule", "line", "agent"] {
                let value = &line[format!("robots_{key}")][agent];
                assert_eq!(row[format!("robots_{key}_{agent}")], *value, "{line}");
                found += usize::from(!value.is_null());
            }
        }
    }
    assert!(found > 300, "{found}");
}
