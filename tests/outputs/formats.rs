//! The extension of an output must match its format.

use super::snapshot_dir;

#[test]
fn mismatched_extensions_are_refused() {
    let dir = snapshot_dir();
    // A job that begins creates its directories, also if all of its files fail.
    std::fs::create_dir_all(dir.path("out/.robosieve")).unwrap();
    let cases = [
        "$R filter -s s -a a -o y.parquet u.txt | y.parquet: text is written here | y.txt",
        "$R filter -s s -a a -o y.xz u.txt | y.xz: cannot write .xz | y.zst",
        "$R filter -s s -a a -o y.txt.bz2 u.txt | cannot write .bz2 | y.zst",
        "$R annotate -s s -a a -o y.lz4 u.txt | cannot write .lz4",
        "$R annotate -s s -a a -o y.parquet u.txt | y.txt",
        "$R filter -s s -a a -o y --disallowed-to y.zip u.txt | y.zip: cannot write .zip",
        "$R filter -s s -a a -o y --unknown-to y.parquet.gz u.txt | \
         y.parquet.gz: text is written here",
        "$R filter -s s -a a -o y.jsonl in.parquet | y.jsonl: Parquet is written here | y.parquet",
        "$R filter -s s -a a -o y.csv.zst in.parquet | y.parquet",
        "$R filter -s s -a a -o y.parquet --invalid-to z.txt in.parquet | \
         z.txt: Parquet is written here | z.parquet",
        "$R annotate -s s -a a -o y.tsv in.parquet | y.parquet",
        "$R annotate -s s -a a -o y.parquet.gz in.parquet | not compressed as a whole | y.parquet",
        "$R filter -s s -a a -o y.parquet.snappy in.parquet | says .snappy | y.parquet",
        "$R filter -s s -a a --out-dir out odd.txt | out/odd.txt: Parquet is written here | \
         name the input odd.parquet | 1 of 1 file failed",
        "$R report -s s -a a --json-to y.xz | cannot write .xz",
        "$R diff s t --svg y.bz2 | cannot write .bz2",
        "$R compile -o y.rsieve.gz web.jsonl | is not compressed | y.rsieve",
        "$R compile -o y.rsieve --stats-json y.xz web.jsonl | cannot write .xz",
    ];
    dir.write("odd.txt", super::parquet(super::LIST));
    dir.all_shells_fail(&cases);
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

/// Spark, Delta Lake and Common Crawl's index put the compression of the pages before `.parquet`.
#[test]
fn names_may_say_the_compression_inside() {
    let dir = snapshot_dir();
    let names = [
        "part-00000-b5d48b46-c000.snappy.parquet",
        "part-00001-b5d48b46.c000.gz.parquet",
        "part-00002-b5d48b46-c000.zstd.parquet",
        "part-00003-b5d48b46-c000.lz4.parquet",
        "part-00004-b5d48b46-c000.lz4hadoop.parquet",
        "part-00005-b5d48b46-c000.lz4raw.parquet",
        "part-00006-b5d48b46-c000.br.parquet",
        "part-00007-b5d48b46-c000.lzo.parquet",
        "part-00008-b5d48b46-c000.brotli.parquet",
        "urls.csv.parquet",
    ];
    for name in names {
        dir.write(&format!("set/lang=a b/{name}"), super::parquet(super::LIST));
        dir.write(
            &format!("set/lang=x%3Dy/{name}"),
            super::parquet(super::LIST),
        );
    }
    for verb in ["filter", "annotate"] {
        let ran = dir.shell(&format!(
            "$R {verb} -q -s s -a a --out-dir {verb} 'set/**/*.parquet'"
        ));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{verb}");
        for name in names {
            for lang in ["lang=a b", "lang=x%3Dy"] {
                let output = dir.read(&format!("{verb}/{lang}/{name}"));
                assert!(output.ends_with(b"PAR1"), "{verb}: {name}");
            }
            let one = format!("$R {verb} -q -s s -a a -o out-{name} 'set/lang=a b/{name}'");
            let ran = dir.shell(&one);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{one}");
        }
    }
}
