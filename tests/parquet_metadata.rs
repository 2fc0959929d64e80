//! The key-value metadata that Parquet outputs have about their runs, and those that they keep.

use crate::command::words;
use crate::outputs::parquet_of;
use crate::test_dir::TestDir;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use robosieve::Compiler;
use serde_json::{Value, json};
use std::sync::Arc;

/// A file with these URLs and these metadata entries, of someone else.
fn table(urls: &[&str], entries: &[(&str, &str)]) -> Vec<u8> {
    let entry = |(key, value): &(&str, &str)| KeyValue::new((*key).to_owned(), (*value).to_owned());
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(entries.iter().map(entry).collect()))
        .build();
    parquet_of(urls, properties)
}

const URLS: [&str; 5] = [
    "https://a.example/ok",
    "https://a.example/one",
    "https://a.example/two",
    "https://b.example/",
    "not a URL",
];

/// A directory with the snapshot `s`, whose rules disallow one path of each agent.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    let mut compiler = Compiler::default();
    let robots = b"user-agent: one\ndisallow: /one\nuser-agent: two\ndisallow: /two";
    compiler.add_robots("https://a.example", robots).unwrap();
    dir.write("s", compiler.finish().unwrap().to_vec().unwrap());
    dir
}

/// The entries of a file in their order, also those with the same key.
fn entries(dir: &TestDir, name: &str) -> Vec<(String, String)> {
    let reader = SerializedFileReader::new(std::fs::File::open(dir.path(name)).unwrap()).unwrap();
    let entries = reader.metadata().file_metadata().key_value_metadata();
    let entries = entries.unwrap().iter();
    entries
        .map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default()))
        .collect()
}

fn keys(dir: &TestDir, name: &str) -> Vec<String> {
    entries(dir, name).into_iter().map(|(key, _)| key).collect()
}

/// The value of the only entry with this key.
fn value(dir: &TestDir, name: &str, key: &str) -> String {
    let all = entries(dir, name);
    let mut found = all.into_iter().filter(|(other, _)| other == key);
    let (_, value) = found.next().unwrap_or_else(|| panic!("{name}: no {key}"));
    assert_eq!(found.next(), None, "{name}: {key} twice");
    value
}

fn counts(dir: &TestDir, name: &str, key: &str) -> Value {
    serde_json::from_str(&value(dir, name, key)).unwrap()
}

#[test]
fn filtered_files_name_their_run() {
    let dir = snapshot_dir();
    dir.write("in.parquet", table(&URLS, &[("theirs", "kept\t\u{e9}")]));
    dir.done_line(
        "filter -q -s s -a @mine=one,two,one --require any --reason rules --scheme any in.parquet \
         -o kept.parquet --disallowed-to no.parquet --unknown-to unknown.parquet \
         --invalid-to invalid.parquet --stats-json stats.json",
    );
    let stats: Value = serde_json::from_slice(&dir.read("stats.json")).unwrap();
    // The policy is that of the snapshot's profile.
    let options = r#"{"status_policy":"google","unknown":null,"any_scheme":true,"agent_match":"extended","at":null,"as_of":null,"as_of_column":null,"no_time":"unknown"}"#;
    for (name, verdict) in [
        ("kept.parquet", "allowed"),
        ("no.parquet", "disallowed"),
        ("unknown.parquet", "unknown"),
        ("invalid.parquet", "invalid"),
    ] {
        let checksum = stats["snapshots"][0]["checksum"].as_str().unwrap();
        let run = |key: &str, value: &str| (format!("robosieve.filter.1.{key}"), value.to_owned());
        let mut found = entries(&dir, name);
        let (key, counts) = found.pop().unwrap();
        let expected = [
            ("theirs".to_owned(), "kept\t\u{e9}".to_owned()),
            run("agents", "one,two"),
            run("version", env!("CARGO_PKG_VERSION")),
            run("snapshot", checksum),
            run("options", options),
            run("sets", r#"{"@mine":["one","two"]}"#),
            run("keep", "allowed"),
            run("require", "any"),
            run("reasons", "rules"),
            run("verdict", verdict),
        ];
        assert_eq!(found, expected, "{name}");
        assert_eq!(key, "robosieve.filter.1.counts");
        let counts: Value = serde_json::from_str(&counts).unwrap();
        assert_eq!(counts["lines"], 5, "{name}");
        for (key, count) in counts.as_object().unwrap() {
            assert_eq!(count, &stats[key], "{name}: {key}");
        }
    }
}

#[test]
fn each_filter_of_an_annotated_table_has_entries_of_its_own() {
    let dir = snapshot_dir();
    dir.write("in.parquet", table(&URLS, &[]));
    dir.done_line("annotate -q -s s -a one,two in.parquet -o judged.parquet");
    dir.done_line("filter -q -s s -a one judged.parquet -o once.parquet");
    dir.done_line("filter -q -s s -a two --keep disallowed once.parquet -o twice.parquet");
    let annotated = entries(&dir, "judged.parquet");
    assert_eq!(annotated[0].1, "one,two");
    assert_eq!(entries(&dir, "once.parquet")[..5], annotated);
    let once = entries(&dir, "once.parquet");
    assert_eq!(entries(&dir, "twice.parquet")[..once.len()], once);
    for (number, agent, keep, lines) in [(1, "one", "allowed", 5), (2, "two", "disallowed", 2)] {
        let key = |name: &str| format!("robosieve.filter.{number}.{name}");
        assert_eq!(value(&dir, "twice.parquet", &key("agents")), agent);
        assert_eq!(value(&dir, "twice.parquet", &key("keep")), keep);
        assert_eq!(value(&dir, "twice.parquet", &key("verdict")), keep);
        let counts = counts(&dir, "twice.parquet", &key("counts"));
        assert_eq!(counts["lines"], json!(lines));
    }
    let reasons = value(&dir, "twice.parquet", "robosieve.filter.1.reasons");
    assert_eq!(reasons, "all");
}

#[test]
fn columns_of_an_earlier_annotation_keep_their_agents() {
    let dir = snapshot_dir();
    dir.write("in.parquet", table(&URLS, &[]));
    dir.done_line("annotate -q -s s -a one,two in.parquet -o 1.parquet");
    dir.done_line("annotate -q -s s -a two --as-name b 1.parquet -o 2.parquet");
    dir.done_line("filter -q -s s -a two 2.parquet -o 3.parquet");
    dir.done_line("annotate -q -s s -a three --as-name c 3.parquet -o 4.parquet");
    for (key, agents) in [
        ("robosieve.earlier.1.agents", "one,two"),
        ("robosieve.earlier.2.agents", "two"),
        ("robosieve.filter.1.agents", "two"),
        ("robosieve.agents", "three"),
    ] {
        assert_eq!(value(&dir, "4.parquet", key), agents);
    }
    for (key, allowed, lines) in [
        ("robosieve.earlier.1.counts", 1, 5),
        ("robosieve.earlier.2.counts", 2, 5),
        ("robosieve.counts", 2, 2),
    ] {
        let counts = counts(&dir, "4.parquet", key);
        assert_eq!(counts["allowed"], json!(allowed), "{key}");
        assert_eq!(counts["lines"], json!(lines), "{key}");
    }
}

#[test]
fn entries_that_hold_for_one_of_several_inputs_are_left_out() {
    let dir = snapshot_dir();
    dir.write("a.parquet", table(&URLS, &[("theirs", "a")]));
    dir.write("b.parquet", table(&URLS[..2], &[("theirs", "b")]));
    for name in ["a", "b"] {
        dir.done_line(&format!(
            "annotate -q -s s -a one,two {name}.parquet -o {name}1.parquet"
        ));
    }
    dir.done_line("filter -q -s s -a one b1.parquet -o b2.parquet");
    dir.done_line("filter -q -s s -a two a1.parquet b2.parquet -o c.parquet");
    let run = words("agents version snapshot options keep require reasons verdict counts");
    // The first filter saw no row of `a`, so the second has no number 1 before it.
    let run: Vec<_> = run
        .iter()
        .map(|key| format!("robosieve.filter.2.{key}"))
        .collect();
    let annotated =
        ["agents", "version", "snapshot", "options"].map(|key| format!("robosieve.{key}"));
    let expected = [&["theirs".to_owned()][..], &annotated, &run].concat();
    assert_eq!(keys(&dir, "c.parquet"), expected);
    // Metadata of others are those of the first input, as before.
    assert_eq!(value(&dir, "c.parquet", "theirs"), "a");
}

#[test]
fn columns_of_different_agents_are_not_joined() {
    let dir = snapshot_dir();
    dir.write("in.parquet", table(&URLS, &[]));
    dir.done_line("annotate -q -s s -a one,two in.parquet -o a.parquet");
    dir.done_line("annotate -q -s s -a two,one in.parquet -o b.parquet");
    for run in ["filter", "annotate --as-name c"] {
        let mut args: Vec<&str> = run.split(' ').collect();
        args.extend(["-s", "s", "-a", "one", "-o", "out.parquet"]);
        for inputs in [
            &["a.parquet", "b.parquet"][..],
            // Nor with a table between them that names no agents.
            &["a.parquet", "none.parquet", "b.parquet"],
        ] {
            if inputs.len() == 3 {
                dir.write("none.parquet", without_entries(&dir.read("a.parquet")));
            }
            dir.fails(
                &[&args[..], inputs].concat(),
                &[
                    "b.parquet",
                    "a.parquet",
                    "other agents",
                    "an output of its own",
                ],
            );
            assert!(!dir.path("out.parquet").exists());
        }
    }
}

/// A file with the same schema, no rows and no metadata.
fn without_entries(bytes: &[u8]) -> Vec<u8> {
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let properties = Arc::new(WriterProperties::builder().build());
    SerializedFileWriter::new(Vec::new(), schema.root_schema_ptr(), properties)
        .unwrap()
        .into_inner()
        .unwrap()
}

#[test]
fn metadata_that_are_not_text_are_refused_by_name() {
    let dir = snapshot_dir();
    let mut bytes = table(&URLS, &[("theirs", "~~~~")]);
    let at = bytes.windows(4).position(|four| four == b"~~~~").unwrap();
    bytes[at] = 0xff;
    dir.write("in.parquet", bytes);
    dir.fails_as(
        "filter -s s -a one -o out.parquet in.parquet | in.parquet | not UTF-8 | \
         key-value metadata | write the file again",
    );
}

#[test]
fn numbers_that_no_run_writes_stay_and_count_nothing() {
    let dir = snapshot_dir();
    let odd = [
        ("robosieve.filter.99999999999999999999.agents", "x"),
        ("robosieve.filter.-1.agents", "x"),
        ("robosieve.filter.", "x"),
        ("robosieve.filter.agents", "x"),
        ("robosieve.filter.7", "x"),
        ("robosieve.", "x"),
        ("robosieve", "x"),
    ];
    dir.write("in.parquet", table(&URLS, &odd));
    dir.done_line("filter -q -s s -a one in.parquet -o out.parquet");
    let found = keys(&dir, "out.parquet");
    assert_eq!(found[..odd.len()], odd.map(|(key, _)| key.to_owned()));
    assert_eq!(found[odd.len()], "robosieve.filter.1.agents");
}

#[test]
fn options_have_the_times_of_the_run() {
    let dir = snapshot_dir();
    let mut compiler = Compiler::default().history(true);
    compiler.add_robots("https://a.example", b"").unwrap();
    dir.write("s", compiler.finish().unwrap().to_vec().unwrap());
    dir.write("in.parquet", table(&URLS, &[]));
    for (options, as_of, as_of_column, no_time) in [
        ("", Value::Null, Value::Null, "unknown"),
        ("--as-of 1970-01-01", json!(86_399), Value::Null, "unknown"),
        (
            "--as-of-column url --no-time newest",
            Value::Null,
            json!("url"),
            "newest",
        ),
    ] {
        dir.done_line(&format!(
            "annotate -q -s s -a one {options} in.parquet -o out.parquet"
        ));
        let found: Value =
            serde_json::from_str(&value(&dir, "out.parquet", "robosieve.options")).unwrap();
        assert_eq!(found["as_of"], as_of, "{options}");
        assert_eq!(found["as_of_column"], as_of_column, "{options}");
        assert_eq!(found["no_time"], no_time, "{options}");
    }
}
