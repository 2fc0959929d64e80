//! Limits: memory, disk space and a device that is always full.

use super::*;

/// Runs `robosieve` after a shell command that sets a limit, on two threads: memory depends on
/// their number.
fn limited(dir: &Path, limit: &str, args: &[&str]) -> Ran {
    let script = format!("{limit} && exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_robosieve"), "-j2"])
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran::new(args, output)
}

const ONE_GIGABYTE: &str = "ulimit -v 1000000";

#[test]
fn missing_memory_is_an_error() {
    let dir = snapshot_dir();
    let mut refused = 0;
    // The least limits stop the loader of programs, and the greatest are enough.
    for kilobytes in [50_000, 70_000, 90_000, 120_000, 160_000, 200_000, 300_000] {
        let limit = format!("ulimit -v {kilobytes}");
        let args = ["compile", "-q", "good.jsonl", "-o", "new"];
        let ran = limited(dir.root(), &limit, &args);
        assert!(
            matches!(ran.code, Some(0 | 2 | 126 | 127)),
            "{limit}: {:?}, {ran:?}",
            ran.code
        );
        refused += usize::from(ran.code == Some(2) && ran.stderr.contains("not enough memory"));
    }
    assert!(refused > 0);
}

/// `start` and four gigabytes of repeated bytes, as zstd frames.
fn four_gigabytes(start: &[u8], unit: &[u8]) -> Vec<u8> {
    let frame = zst(&unit.repeat((16 << 20) / unit.len()));
    [zst(start), frame.repeat(256)].concat()
}

#[test]
fn archives_take_bounded_memory() {
    let dir = snapshot_dir();
    for (bytes, cause) in [
        (four_gigabytes(b"WARC/1.0\r\n", b"x"), "header without end"),
        (
            four_gigabytes(b"WARC/1.0\r\n", b"name: value\r\n"),
            "header without end",
        ),
        (four_gigabytes(b"{\"url\": \"", b"x"), "64 MiB"),
        (zst(&warc(u64::MAX)), "Content-Length"),
        (warc(1_u64 << 40), "ends inside a WARC record"),
    ] {
        dir.write("x", bytes);
        let args = ["compile", "x", "-o", "old"];
        dir.assert_failure(&args.join(" "), &["x: ", cause], || {
            limited(dir.root(), ONE_GIGABYTE, &args)
        });
    }
}

#[test]
fn huge_records_are_skipped() {
    let dir = snapshot_dir();
    let frame = zst(&vec![b'\n'; 16 << 20]);
    let big = zst(&record_of_length("b", response().len() + 4 + (1 << 30)));
    dir.write(
        "x.warc.zst",
        [zst(&record("a")), big, frame.repeat(64), zst(&record("c"))].concat(),
    );
    let ran = limited(
        dir.root(),
        ONE_GIGABYTE,
        &["compile", "-q", "x.warc.zst", "-o", "new"],
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(dir.letters("new"), "AAA");
}

#[test]
fn endless_lines_take_bounded_memory() {
    let dir = snapshot_dir();
    let frame = zst(&vec![b'y'; 16 << 20]);
    dir.write(
        "x.zst",
        [zst(LIST), frame.repeat(64), zst(b"\nhttps://a.example/x")].concat(),
    );
    let args = words("filter -q -s good.rsieve -a FooBot x.zst --disallowed-to new");
    let ran = limited(dir.root(), ONE_GIGABYTE, &args);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.stdout, b"https://a.example/\n");
    assert_eq!(dir.read("new"), b"https://a.example/x\nhttps://a.example/x");
}

#[test]
fn full_disks_leave_no_files() {
    let dir = snapshot_dir();
    dir.write("long.txt", b"https://a.example/\n".repeat(200_000));
    let captures = |i: usize| {
        let body = format!("user-agent: *\n{}", format!("disallow: /{i}\n").repeat(100));
        serde_json::json!({"url": format!("https://h{i}.example/robots.txt"), "body": body})
            .to_string()
            + "\n"
    };
    dir.write("long.jsonl", (0..2000).map(captures).collect::<String>());
    let small_files = "trap '' XFSZ && ulimit -f 100";
    for args in [
        &words("filter -q -s good.rsieve -a FooBot long.txt -o")[..],
        &words("annotate -q -s good.rsieve -a FooBot long.txt -o"),
        &words("filter -q -s good.rsieve -a FooBot list.txt long.txt --invalid-to I -o"),
        &["compile", "-q", "long.jsonl", "-o"],
    ] {
        for out in ["old", "new"] {
            let args = [args, &[out]].concat();
            dir.assert_failure(&args.join(" "), &[out, "File too large"], || {
                limited(dir.root(), small_files, &args)
            });
        }
    }
}

#[test]
fn full_devices_are_named() {
    let dir = snapshot_dir();
    let judge = words("-s good.rsieve -a FooBot list.txt -o /dev/full");
    for args in [
        [&["filter"][..], &judge].concat(),
        [&["annotate"][..], &judge].concat(),
        vec!["compile", "good.jsonl", "-o", "/dev/full"],
    ] {
        dir.fails(&args, &["/dev/full", "No space left"]);
    }
    for verb in ["filter", "annotate"] {
        let args = [verb, "-s", "good.rsieve", "-a", "FooBot", "list.txt"];
        let expected = ["standard output", "No space left"];
        dir.assert_failure(&args.join(" "), &expected, || {
            limited(dir.root(), "exec >/dev/full", &args)
        });
    }
}
