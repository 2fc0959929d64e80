//! Reasons of verdicts: which disallowed lines a rule disallows, and which a failure of the site.

use crate::command::checkout;
use crate::test_dir::TestDir;
use serde_json::Value;
use std::collections::BTreeMap;

/// A directory with the snapshot `s` of `datasets/small`, and its list, table and archive.
fn small() -> TestDir {
    let dir = TestDir::new();
    dir.compile_small("s");
    for file in ["urls.txt", "pages.parquet", "robots.warc"] {
        std::fs::copy(checkout().join("datasets/small").join(file), dir.path(file)).unwrap();
    }
    dir
}

/// The lines of `urls.txt` by verdict and reason, as `annotate` has them.
fn annotated(dir: &TestDir) -> BTreeMap<(String, String), Vec<String>> {
    let text = dir.stdout_of("annotate -q -s s -a GPTBot --as jsonl --add reason urls.txt");
    let list = dir.read_text("urls.txt");
    let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (line, url) in text.lines().zip(list.lines()) {
        let object: Value = serde_json::from_str(line).unwrap();
        let name = |value: &Value| value.as_str().unwrap().to_owned();
        let key = (
            name(&object["robots"]["GPTBot"]),
            name(&object["robots_reason"]),
        );
        found.entry(key).or_default().push(url.to_owned());
    }
    found
}

#[test]
fn a_filter_keeps_the_chosen_reasons() {
    let dir = small();
    let by_reason = annotated(&dir);
    for (keep, reasons) in [
        (
            "disallowed",
            &["rules", "last-good-copy", "server-error", "unreachable"][..],
        ),
        (
            "allowed",
            &["rules", "forbidden", "no-robots-txt", "unreachable"],
        ),
    ] {
        for reason in reasons {
            let command =
                format!("filter -q -s s -a GPTBot --keep {keep} --reason {reason} urls.txt");
            let kept = dir.stdout_of(&command);
            let expected = &by_reason[&(keep.to_owned(), reason.to_string())];
            assert_eq!(kept.lines().collect::<Vec<_>>(), *expected, "{command}");
        }
    }
    let both = "filter -q -s s -a GPTBot --keep disallowed --reason rules,last-good-copy urls.txt";
    assert_eq!(dir.stdout_of(both).lines().count(), 163);
}

/// The records of each reason alone are together those of all reasons, in every container.
#[test]
fn reasons_divide_the_kept_records() {
    let dir = small();
    for file in ["urls.txt", "pages.parquet", "robots.warc"] {
        let letters = |output: &str| -> Vec<String> {
            let text = match file {
                "pages.parquet" => parquet_urls(&dir.path(output)),
                "robots.warc" => String::from_utf8_lossy(&dir.read(output))
                    .lines()
                    .filter(|line| line.starts_with("WARC-Target-URI: "))
                    .map(|line| line.to_owned() + "\n")
                    .collect(),
                _ => dir.read_text(output),
            };
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let all = format!("all-{file}");
        dir.done_line(&format!(
            "filter -q -s s -a GPTBot --keep disallowed -o {all} {file}"
        ));
        let mut together = Vec::new();
        for reason in ["rules", "last-good-copy", "server-error", "unreachable"] {
            let one = format!("{reason}-{file}");
            dir.done_line(&format!(
                "filter -q -s s -a GPTBot --keep disallowed --reason {reason} -o {one} {file}"
            ));
            together.extend(letters(&one));
        }
        together.sort();
        assert_eq!(together, letters(&all), "{file}");
    }
}

/// The column `url` of a Parquet file, one per line.
fn parquet_urls(path: &std::path::Path) -> String {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut out = String::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let (_, url) = row
            .get_column_iter()
            .find(|(name, _)| *name == "url")
            .unwrap();
        out += &format!("{url}\n");
    }
    out
}

#[test]
fn summaries_count_lines_without_a_rule() {
    let dir = small();
    let without = "disallowed without a rule: server-error 9, unreachable 6";
    for command in [
        "filter -s s -a GPTBot urls.txt",
        "annotate -s s -a GPTBot urls.txt",
    ] {
        let summary = dir.done_line(command).stderr;
        assert!(summary.contains(without), "{summary}");
    }
    let summary = dir
        .done_line("filter -s s -a GPTBot --keep disallowed --reason rules urls.txt")
        .stderr;
    let left = "not written: disallowed lines with other reasons (last-good-copy 3, server-error 9, \
                unreachable 6)";
    assert!(summary.contains(left), "{summary}");
    // With each file of a run of many, too.
    let summary = dir
        .done_line("filter -s s -a GPTBot --out-dir out urls.txt")
        .stderr;
    assert!(summary.contains(without), "{summary}");
    let again = dir
        .done_line("filter -s s -a GPTBot --out-dir out --resume urls.txt")
        .stderr;
    assert!(again.contains("skipped 1"), "{again}");
    // Another reason is another output.
    let other = dir
        .done_line("filter -s s -a GPTBot --reason rules --out-dir out --resume urls.txt")
        .stderr;
    assert!(other.contains("skipped 0"), "{other}");
}

#[test]
fn a_reason_that_no_kept_line_has_is_refused() {
    let dir = small();
    dir.fails_as("filter -s s -a a --reason not-a-url urls.txt | --invalid-to FILE");
}

/// The table of origins has the reasons of `annotate`, and `--reason` selects them.
#[test]
fn exported_reasons_are_those_of_annotate() {
    let dir = small();
    let export = |options: &str| -> BTreeMap<String, String> {
        let table = dir.stdout_of(&format!(
            "export -q -s s -a GPTBot --as jsonl --columns origin,reason,GPTBot.access{options}"
        ));
        let rows = table.lines().map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            (text("origin"), text("reason"))
        });
        rows.collect()
    };
    for policy in ["google", "google-2026", "strict"] {
        let policy = format!(" --status-policy {policy}");
        let exported = export(&policy);
        assert_eq!(exported.len(), 48);
        let urls: String = exported
            .keys()
            .map(|origin| format!("{origin}/\n"))
            .collect();
        dir.write("origins", urls);
        let annotated = dir.stdout_of(&format!(
            "annotate -q -s s -a GPTBot --as jsonl --add origin,reason{policy} origins"
        ));
        for line in annotated.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let expected = row["robots_reason"].as_str().unwrap();
            assert_eq!(exported[row["robots_origin"].as_str().unwrap()], expected);
        }
        let selected = export(&format!("{policy} --reason server-error,rules"));
        let expected = exported
            .iter()
            .filter(|(_, reason)| ["server-error", "rules"].contains(&reason.as_str()));
        let expected: BTreeMap<String, String> =
            expected.map(|(a, b)| (a.clone(), b.clone())).collect();
        assert!(!expected.is_empty());
        assert_eq!(selected, expected);
    }
    for table in ["--long", "--sitemaps", "--rules"] {
        let lines = |reason: &str| {
            let command = format!("export -q -s s -a GPTBot {table} --reason {reason}");
            dir.stdout_of(&command).lines().count()
        };
        assert_eq!(lines("forbidden") > 1, table == "--long", "{table}");
        assert!(lines("rules") > 1, "{table}");
    }
    let command = ["export", "-s", "s", "--reason", "unknown-origin"];
    dir.fails(
        &command,
        &["only the origins that it knows", "annotate --add reason"],
    );
}
