//! `--out-dir` keeps the directories of inputs if their names alone would collide.

use super::Place;
use std::path::Path;

/// A tree of Parquet files, as query engines write it, and one of lists.
fn place() -> Place {
    let place = Place::new();
    for day in [
        "y=1/m=1/p.parquet",
        "y=1/m=2/p.parquet",
        "y=2/m=1/p.parquet",
    ] {
        place.write(
            &format!("part/{day}"),
            super::parquet(&format!("https://h.example/{day}\nhttps://h.example/p\n")),
        );
    }
    for list in ["a/1.txt", "a/2.txt", "b/1.txt", "b/deep/3.txt"] {
        place.write(
            &format!("lists/{list}"),
            format!("https://h.example/{list}\nhttps://h.example/p\n"),
        );
    }
    place
}

/// The files below `dir`, sorted.
fn files_below(place: &Place, dir: &str) -> Vec<String> {
    let (files, dir) = (place.files(), place.path(dir));
    let below = files.keys().filter_map(|path| path.strip_prefix(&dir).ok());
    below
        .map(|path| path.display().to_string())
        .filter(|name| !name.starts_with(".robosieve"))
        .collect()
}

#[test]
fn outputs_mirror_input_directories() {
    for (inputs, expected) in [
        (
            "'part/**/*.parquet'",
            &[
                "y=1/m=1/p.parquet",
                "y=1/m=2/p.parquet",
                "y=2/m=1/p.parquet",
            ][..],
        ),
        (
            "'./part/**/*.parquet'",
            &[
                "y=1/m=1/p.parquet",
                "y=1/m=2/p.parquet",
                "y=2/m=1/p.parquet",
            ],
        ),
        // A single partition keeps its directories too.
        ("'part/*/m=2/*.parquet'", &["y=1/m=2/p.parquet"]),
        (
            "part/y=1/m=1/p.parquet part/y=1/m=2/p.parquet",
            &["m=1/p.parquet", "m=2/p.parquet"],
        ),
        (
            "part/y=1/m=1 part/y=2/m=1",
            &["y=1/m=1/p.parquet", "y=2/m=1/p.parquet"],
        ),
        ("lists/a lists/b", &["a/1.txt", "a/2.txt", "b/1.txt"]),
        (
            "lists/a \"$PWD\"/lists/b",
            &["a/1.txt", "a/2.txt", "b/1.txt"],
        ),
        ("lists/a lists/a/../b", &["a/1.txt", "a/2.txt", "b/1.txt"]),
        ("'lists/*/*.txt'", &["a/1.txt", "a/2.txt", "b/1.txt"]),
        ("--files-from names", &["a/1.txt", "b/1.txt"]),
        // Distinct names need no directories.
        ("lists/a lists/b/deep", &["1.txt", "2.txt", "3.txt"]),
        ("'lists/a/*.txt'", &["1.txt", "2.txt"]),
    ] {
        let place = place();
        place.write("names", "lists/a/1.txt\nlists/b/1.txt\n");
        let command = format!("$R filter -q -s s -a a --out-dir out --disallowed-to no {inputs}");
        let ran = place.shell(&command);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}");
        assert_eq!(files_below(&place, "out"), expected, "{command}");
        assert_eq!(files_below(&place, "no"), expected, "{command}");
    }
}

#[test]
fn reruns_find_complete_outputs() {
    let place = place();
    let args = [
        "filter",
        "-s",
        "s",
        "-a",
        "a",
        "--out-dir",
        "out",
        "--resume",
        "part/**/*.parquet",
    ];
    place.done(&args);
    let ran = place.done(&args);
    assert!(
        ran.stderr.contains("3 of 3 files are complete"),
        "{}",
        ran.stderr
    );
    std::fs::remove_file(place.path("out/y=1/m=2/p.parquet")).unwrap();
    let ran = place.done(&args);
    assert!(
        ran.stderr.contains("2 of 3 files are complete"),
        "{}",
        ran.stderr
    );
    assert!(Path::new(&place.path("out/y=1/m=2/p.parquet")).is_file());
    assert!(
        place
            .path("out/.robosieve/y=1/m=2/p.parquet.json")
            .is_file()
    );
}

#[test]
fn colliding_outputs_are_refused() {
    let place = place();
    for (command, words) in [
        (
            "$R filter -s s -a a --out-dir out lists/a/1.txt lists/a/1.txt",
            &["the same file twice", "name it once"][..],
        ),
        (
            "$R filter -s s -a a --out-dir out lists/a lists/b/../a/1.txt",
            &["the same file twice"],
        ),
        (
            "$R filter -s s -a a --out-dir lists 'lists/**/*.txt'",
            &["would be overwritten", "another directory"],
        ),
        (
            "$R filter -s s -a a --out-dir o --unknown-to o/y=1 p2/y=1/x p2/x 'p2/**/*'",
            &["the same file twice"],
        ),
        (
            "$R filter -s s -a a --out-dir o --unknown-to o/y=1 'p2/**/*'",
            &["named for two outputs"],
        ),
    ] {
        place.write("p2/y=1/x", "https://h.example/\n");
        place.write("p2/x", "https://h.example/\n");
        place.refused(command, words);
    }
}
