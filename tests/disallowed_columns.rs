//! `filter --disallowed-add`: the disallowed lines carry the values of `annotate --add`.

use crate::command::{assert_starts, checkout, words};
use crate::test_dir::TestDir;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;

/// All added values.
const ALL: &str = "origin,reason,crawl_delay,rule,line,agent";

/// The ways to choose the disallowed lines, and the output that has them.
const SELECTIONS: [(&str, &str); 4] = [
    ("--disallowed-to no -o yes", "no"),
    ("--require any --disallowed-to no -o yes", "no"),
    ("--keep disallowed --require any -o no", "no"),
    (
        "--keep disallowed --reason server-error,unreachable -o no",
        "no",
    ),
];

/// A directory with the snapshot `s` of `datasets/small`, and its table.
fn small() -> TestDir {
    let dir = TestDir::new();
    dir.compile_small("s");
    for file in ["pages.parquet", "robots.warc"] {
        std::fs::copy(checkout().join("datasets/small").join(file), dir.path(file)).unwrap();
    }
    dir
}

/// The URLs of `datasets/small`.
fn urls() -> String {
    std::fs::read_to_string(checkout().join("datasets/small/urls.txt")).unwrap()
}

/// Runs a filter without and with added columns. The other outputs must be the same. Returns the
/// disallowed lines of both.
fn both(dir: &TestDir, selection: (&str, &str), added: &str, inputs: &str) -> [String; 2] {
    let (options, disallowed) = selection;
    let filter = format!("filter -q -s s -a GPTBot,FooBot {options} {inputs}");
    dir.done_line(&filter);
    let plain = dir.read_text(disallowed);
    let others = dir.path("yes").exists().then(|| dir.read("yes"));
    dir.done_line(&format!("{filter} --disallowed-add {added}"));
    assert_eq!(dir.path("yes").exists().then(|| dir.read("yes")), others);
    [plain, dir.read_text(disallowed)]
}

/// The columns of a table are those of `annotate --as csv`, in front of the unchanged line.
fn assert_columns(dir: &TestDir, delimiter: char, columns: usize, added: &str, inputs: &str) {
    let annotate = "annotate -q -s s -a GPTBot,FooBot --as csv";
    let annotated = dir.stdout_of(&format!("{annotate} --add {added} {inputs}"));
    for selection in SELECTIONS {
        let [plain, with_values] = both(dir, selection, added, inputs);
        assert_eq!(plain.lines().count(), with_values.lines().count());
        for (line, with_values) in plain.lines().zip(with_values.lines()) {
            // In this list only the last column has quotes.
            let rest = with_values.splitn(columns + 1, delimiter).last().unwrap();
            assert_eq!(rest, line, "{selection:?}");
        }
        let mut annotated = annotated
            .lines()
            .map(|line| line.splitn(3, delimiter).last().unwrap());
        for line in with_values.lines() {
            assert!(annotated.any(|other| other == line), "{line}");
        }
    }
}

#[test]
fn tables_get_columns_in_front() {
    let dir = small();
    for (delimiter, name) in [(',', "in.csv"), (';', "in.csv"), ('\t', "in.tsv")] {
        let row = |url: &str| match delimiter {
            '\t' => format!("1\t{url}\r\n"),
            _ => format!("1{delimiter}\"{}\"\r\n", url.replace('"', "\"\"")),
        };
        let rows: String = urls().lines().map(row).collect();
        // The last line has no line end.
        let table = format!("n{delimiter}url\r\n{}", rows.trim_end());
        dir.write(name, table);
        for added in ["reason", "reason,line,agent"] {
            let columns = if added == "reason" { 1 } else { 5 };
            assert_columns(&dir, delimiter, columns, added, name);
        }
    }
    let [_, table] = both(&dir, SELECTIONS[0], "reason,rule", "in.tsv");
    let header = "robots_reason\trobots_rule_GPTBot\trobots_rule_FooBot\tn\turl";
    assert_eq!(table.lines().next(), Some(header));
    // What belongs to the start of the file stays there.
    let rows = "https://down.example/x;1\r\nhttps://wiki.example/w/index.php;2\r\n";
    dir.write("in.csv", format!("\u{feff}sep=;\r\nurl;n\r\n{rows}"));
    let [plain, table] = both(&dir, SELECTIONS[0], "reason", "in.csv");
    assert!(plain.starts_with("\u{feff}sep=;\r\nurl;n\r\n"), "{plain}");
    assert_starts(&table, "\u{feff}sep=;\r\nrobots_reason;url;n\r\n");
    assert!(
        table.ends_with("rules;https://wiki.example/w/index.php;2\r\n"),
        "{table}"
    );
}

/// A list of URLs gets the columns that it gets as a table with tabs.
#[test]
fn lists_get_columns_with_tabs() {
    let dir = small();
    // The marks of the two files stay at their lines, and the first last line gets a line end.
    dir.write(
        "a.txt",
        format!("\u{feff}https://shop.example/cart\n{}", urls().trim_end()),
    );
    dir.write("b.txt", format!("\r\n{}", urls().replace('\n', "\r\n")));
    for selection in SELECTIONS {
        let [plain, with_values] = both(&dir, selection, ALL, "a.txt b.txt");
        assert!(!plain.is_empty());
        let rest: String = with_values
            .split_inclusive('\n')
            .map(|line| {
                let mark = if line.starts_with('\u{feff}') {
                    "\u{feff}"
                } else {
                    ""
                };
                mark.to_owned() + line.splitn(11, '\t').last().unwrap()
            })
            .collect();
        assert_eq!(rest, plain, "{selection:?}");
    }
    dir.write("one.txt", urls());
    let annotate = "annotate -q -s s -a GPTBot,FooBot --as csv --input-format tsv --field 1";
    let annotated = dir.stdout_of(&format!("{annotate} --add {ALL} one.txt"));
    let expected: String = annotated
        .split_inclusive('\n')
        .filter(|line| {
            line.split('\t')
                .take(2)
                .any(|verdict| verdict == "disallowed")
        })
        .map(|line| line.splitn(3, '\t').last().unwrap())
        .collect();
    let [_, found] = both(&dir, SELECTIONS[0], ALL, "one.txt");
    assert!(found == expected);
}

/// A list of URLs has no header that would tell the columns apart.
#[test]
fn columns_have_the_order_in_which_they_are_named() {
    let dir = small();
    let url = "https://wiki.example/w/index.php";
    dir.write("in.txt", format!("{url}\n"));
    dir.write("in.csv", format!("url\n{url}\n"));
    dir.write("in.jsonl", format!("{{\"url\":\"{url}\"}}\n"));
    let filter = "filter -q -s s -a GPTBot --keep disallowed";
    let added = |names: &str, input: &str| {
        dir.stdout_of(&format!("{filter} --disallowed-add {names} {input}"))
    };
    let [origin, rule] = ["https://wiki.example", "Disallow: /w/"];
    for (names, columns) in [
        ("reason,origin", format!("rules\t{origin}")),
        ("origin,reason", format!("{origin}\trules")),
        ("rule,reason,origin", format!("{rule}\trules\t{origin}")),
        (
            "reason,rule,origin,reason",
            format!("rules\t{rule}\t{origin}"),
        ),
    ] {
        assert_eq!(added(names, "in.txt"), format!("{columns}\t{url}\n"));
    }
    let reversed = "entry,list,agent,line,rule,crawl_delay,reason,origin";
    let names: Vec<&str> = reversed.split(',').collect();
    // The names in a text, in their order. Those of agents have the agent after them.
    let order = |text: &str| {
        let mut found: Vec<(usize, &str)> = Vec::new();
        for name in &names {
            found.extend(text.find(&format!("robots_{name}")).map(|at| (at, *name)));
        }
        found.sort_unstable();
        found
            .into_iter()
            .map(|(_, name)| name)
            .collect::<Vec<_>>()
            .join(",")
    };
    let unlisted = "agent,line,rule,crawl_delay,reason,origin";
    for input in ["in.csv", "in.jsonl"] {
        assert_eq!(order(&added(unlisted, input)), unlisted, "{input}");
    }
    dir.write("own.txt", "other.example\n");
    let annotate = format!("annotate -q -s s -a GPTBot --block own.txt --add {reversed}");
    for options in ["--as csv in.csv", "--as jsonl in.jsonl"] {
        assert_eq!(
            order(&dir.stdout_of(&format!("{annotate} {options}"))),
            reversed
        );
    }
    dir.done_line(&format!(
        "{filter} --disallowed-add {unlisted} pages.parquet -o no.parquet"
    ));
    dir.done_line(&format!("{annotate} pages.parquet -o all.parquet"));
    for (file, expected) in [("no.parquet", unlisted), ("all.parquet", reversed)] {
        let table =
            SerializedFileReader::new(std::fs::File::open(dir.path(file)).unwrap()).unwrap();
        let schema = table.metadata().file_metadata().schema_descr();
        let columns = schema.columns().iter();
        let text: String = columns
            .map(|column| column.name().to_owned() + "\n")
            .collect();
        assert_eq!(order(&text), expected, "{file}");
    }
    // The values are those of their columns.
    let rows =
        SerializedFileReader::new(std::fs::File::open(dir.path("all.parquet")).unwrap()).unwrap();
    let row = rows.get_row_iter(None).unwrap().next().unwrap().unwrap();
    let values: Vec<_> = row.get_column_iter().collect();
    let (last, origin) = values.last().unwrap();
    assert_eq!(*last, "robots_origin");
    assert!(
        matches!(origin, Field::Str(text) if text.starts_with("https://")),
        "{origin:?}"
    );
}

#[test]
fn json_lines_get_keys() {
    let dir = small();
    let urls = urls();
    let objects = urls
        .lines()
        .map(|url| serde_json::json!({ "n": 1, "url": url }).to_string() + "\n");
    dir.write("in.jsonl", objects.collect::<String>());
    let annotate = "annotate -q -s s -a GPTBot,FooBot --as jsonl";
    let annotated = dir.stdout_of(&format!("{annotate} --add {ALL} in.jsonl"));
    // The same text without the verdicts.
    let without_verdicts = |line: &str| {
        let (before, rest) = line.split_once("\"robots\":{").unwrap();
        format!("{before}{}\n", rest.split_once("},").unwrap().1)
    };
    let expected: String = annotated
        .lines()
        .filter(|line| line.contains(":\"disallowed\""))
        .map(without_verdicts)
        .collect();
    let [_, found] = both(&dir, SELECTIONS[0], ALL, "in.jsonl");
    assert!(found == expected);
    for selection in SELECTIONS {
        let [plain, with_reasons] = both(&dir, selection, "reason", "in.jsonl");
        let rest: String = with_reasons
            .lines()
            .map(|line| format!("{}}}\n", line.split_once(",\"robots_reason\":").unwrap().0))
            .collect();
        assert_eq!(rest, plain, "{selection:?}");
    }
    // An index has its JSON at the end, so its lines are not objects.
    dir.write(
        "in.cdxj",
        "example,wiki)/w/index.php 20260101000000 {\"url\": \"https://wiki.example/w/index.php\"}\n",
    );
    let [plain, index] = both(&dir, SELECTIONS[0], "reason", "in.cdxj");
    assert!(!plain.is_empty());
    assert_eq!(index, format!("rules\t{plain}"));
}

/// A row: the names and the values of its columns.
type Columns = Vec<(String, Field)>;

fn rows(dir: &TestDir, file: &str) -> Vec<Columns> {
    let file = std::fs::File::open(dir.path(file)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().into_columns()).collect()
}

/// Takes the columns of verdicts from a row. Returns whether an agent is disallowed.
fn take_verdicts(row: &mut Columns) -> bool {
    let is_verdict = |name: &str| ["robots_GPTBot", "robots_FooBot"].contains(&name);
    let is_disallowed = row
        .iter()
        .any(|(name, value)| is_verdict(name) && *value == Field::Byte(0));
    row.retain(|(name, _)| !is_verdict(name));
    is_disallowed
}

#[test]
fn parquet_rows_get_the_columns_of_annotate() {
    let dir = small();
    // Row groups whose rows are all disallowed, partly, and not at all.
    dir.done_line(
        "filter -q -s s -a GPTBot,FooBot pages.parquet -o yes.parquet --disallowed-to no.parquet",
    );
    let inputs = "no.parquet pages.parquet yes.parquet";
    let filter = format!("filter -q -s s -a GPTBot,FooBot {inputs} -o a.parquet --disallowed-to");
    dir.done_line(&format!("{filter} plain.parquet"));
    let allowed = dir.read("a.parquet");
    for added in ["reason", "origin,crawl_delay", ALL] {
        dir.done_line(&format!("{filter} with.parquet --disallowed-add {added}"));
        assert_eq!(dir.read("a.parquet"), allowed);
        dir.done_line(&format!(
            "annotate -q -s s -a GPTBot,FooBot --as int8 --add {added} -o all.parquet {inputs}"
        ));
        let with = rows(&dir, "with.parquet");
        let mut expected = rows(&dir, "all.parquet");
        expected.retain_mut(take_verdicts);
        assert!(expected.len() > 150);
        assert!(with == expected, "{added}");
        let plain = rows(&dir, "plain.parquet");
        assert_eq!(plain.len(), with.len());
        for (row, with) in plain.iter().zip(&with) {
            assert_eq!(row[..], with[..row.len()]);
        }
    }
    // The selected rows alone.
    dir.done_line(
        "filter -q -s s -a GPTBot --keep disallowed --reason server-error -o down.parquet \
         --disallowed-add reason pages.parquet",
    );
    let down = rows(&dir, "down.parquet");
    assert_eq!(down.len(), 8);
    for row in &down {
        let reason = Field::Str("server-error".to_owned());
        assert_eq!(row.last(), Some(&("robots_reason".to_owned(), reason)));
    }
}

#[test]
fn outputs_that_cannot_carry_columns_are_refused() {
    let dir = small();
    dir.write("u.txt", urls());
    let filter = ["filter", "-s", "s", "-a", "GPTBot", "--disallowed-add"];
    let refused = |more: &[&str], expected: &[&str]| dir.fails(&[&filter, more].concat(), expected);
    refused(
        &["reason", "u.txt"],
        &["--disallowed-to", "--keep disallowed"],
    );
    refused(
        &["reason", "--disallowed-to", "no.warc", "robots.warc"],
        &["WARC files", "form jsonl"],
    );
    refused(&["reasons", "--disallowed-to", "no", "u.txt"], &["reasons"]);
    dir.done_line("annotate -q -s s -a GPTBot --add reason -o has.parquet pages.parquet");
    refused(
        &words("reason --disallowed-to no.parquet -o yes.parquet has.parquet"),
        &[
            "has.parquet: Parquet: there is a column \"robots_reason\" already",
            "(--disallowed-add)",
        ],
    );
    assert!(!dir.path("yes.parquet").exists());
}

#[test]
fn other_columns_are_another_output_of_a_directory() {
    let dir = small();
    dir.write("u.txt", urls());
    let filter = "filter -s s -a GPTBot --out-dir yes --disallowed-to no --resume u.txt";
    dir.done_line(filter);
    let plain = dir.read_text("no/u.txt");
    let added = format!("{filter} --disallowed-add reason");
    for skipped in ["skipped 0", "skipped 1"] {
        let summary = dir.done_line(&added).stderr;
        assert!(summary.contains(skipped), "{summary}");
    }
    let found = dir.read_text("no/u.txt");
    let rest: String = found
        .split_inclusive('\n')
        .map(|line| line.split_once('\t').unwrap().1)
        .collect();
    assert_eq!(rest, plain);
}

/// Lines of robots.txt files come from the stored texts, which judging does not read.
#[test]
fn stored_texts_are_verified_for_their_lines() {
    let dir = small();
    dir.write("u.txt", urls());
    let snapshot = dir.read("s");
    let mut only_texts = 0;
    for offset in (64..snapshot.len()).step_by(500) {
        let mut damaged = snapshot.clone();
        damaged[offset] ^= 1;
        dir.write("damaged", damaged);
        let is_refused = |verb: &str, added: &str| {
            let ran = dir.run_line(&format!(
                "{verb} {added} -q -s damaged -a GPTBot -o yes u.txt"
            ));
            ran.code != Some(0)
        };
        let filter = "filter --disallowed-to no --disallowed-add";
        let for_reasons = is_refused(filter, "reason");
        let for_rules = is_refused(filter, "rule");
        // A few bytes between sections mean nothing.
        let annotate = "annotate --as jsonl --add";
        assert_eq!(for_rules, is_refused(annotate, "rule"), "byte {offset}");
        only_texts += usize::from(for_rules && !for_reasons);
    }
    assert!(only_texts > 5, "{only_texts}");
}
