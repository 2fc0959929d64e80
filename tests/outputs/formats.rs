//! The extension of an output must match its format.

use super::snapshot_dir;

#[test]
fn mismatched_extensions_are_refused() {
    let dir = snapshot_dir();
    // A job that begins creates its directories, also if all of its files fail.
    std::fs::create_dir_all(dir.path("out/.robosieve")).unwrap();
    for (command, words) in [
        (
            "$R filter -s s -a a -o y.parquet u.txt",
            &["y.parquet: text is written here", "y.txt"][..],
        ),
        (
            "$R filter -s s -a a -o y.xz u.txt",
            &["y.xz: cannot write .xz", "y.zst"],
        ),
        (
            "$R filter -s s -a a -o y.txt.bz2 u.txt",
            &["cannot write .bz2", "y.zst"],
        ),
        (
            "$R annotate -s s -a a -o y.lz4 u.txt",
            &["cannot write .lz4"],
        ),
        ("$R annotate -s s -a a -o y.parquet u.txt", &["y.txt"]),
        (
            "$R filter -s s -a a -o y --disallowed-to y.zip u.txt",
            &["y.zip: cannot write .zip"],
        ),
        (
            "$R filter -s s -a a -o y --unknown-to y.parquet.gz u.txt",
            &["y.parquet.gz: text is written here"],
        ),
        (
            "$R filter -s s -a a -o y.jsonl in.parquet",
            &["y.jsonl: Parquet is written here", "y.parquet"],
        ),
        (
            "$R filter -s s -a a -o y.csv.zst in.parquet",
            &["y.parquet"],
        ),
        (
            "$R filter -s s -a a -o y.parquet --invalid-to z.txt in.parquet",
            &["z.txt: Parquet is written here", "z.parquet"],
        ),
        ("$R annotate -s s -a a -o y.tsv in.parquet", &["y.parquet"]),
        (
            "$R annotate -s s -a a -o y.parquet.gz in.parquet",
            &["not compressed as a whole", "y.parquet"],
        ),
        (
            "$R filter -s s -a a --out-dir out odd.txt",
            &[
                "out/odd.txt: Parquet is written here",
                "name the input odd.parquet",
                "1 of 1 files failed",
            ],
        ),
        ("$R report -s s -a a --json-to y.xz", &["cannot write .xz"]),
        ("$R diff s t --svg y.bz2", &["cannot write .bz2"]),
        (
            "$R compile -o y.rsieve.gz web.jsonl",
            &["is not compressed", "y.rsieve"],
        ),
        (
            "$R compile -o y.rsieve --stats-json y.xz web.jsonl",
            &["cannot write .xz"],
        ),
    ] {
        dir.write("odd.txt", super::parquet(super::LIST));
        dir.shell_fails(command, words);
    }
}

#[test]
fn matching_and_neutral_extensions_are_accepted() {
    let dir = snapshot_dir();
    for command in [
        "$R filter -q -s s -a a -o y.txt.GZ u.txt && gzip -t < y.txt.GZ",
        "$R filter -q -s s -a a -o y.csv u.txt",
        "$R filter -q -s s -a a -o list.example u.txt",
        "$R filter -q -s s -a a -o y.parquet in.parquet",
        "$R annotate -q -s s -a a -o y in.parquet",
        "$R report -q -s s -a a --html y.html.gz",
        "$R compile -q -o y.2024 web.jsonl",
    ] {
        let ran = dir.shell(command);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}");
    }
}
