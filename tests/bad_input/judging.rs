//! Snapshots, lists, outputs and agents that are unusable.

use super::*;

#[test]
fn every_verb_refuses_non_snapshots() {
    let dir = snapshot_dir();
    let good = dir.read("good.rsieve");
    let mut version = good.clone();
    version[8..12].copy_from_slice(&99u32.to_le_bytes());
    dir.write("version", version);
    dir.write("begun", &good[..40]);
    dir.write("cut", cut(good));
    dir.write("empty", "");
    for (name, cause) in [
        ("list.txt", "not a robosieve snapshot"),
        ("empty", "not a robosieve snapshot"),
        ("version", "version 99"),
        ("begun", "damaged snapshot"),
        ("cut", "damaged snapshot"),
        ("folder", "directory"),
        ("missing", "No such file"),
    ] {
        for verb in ["filter", "annotate"] {
            dir.fails_to_write_as(&format!(
                "{verb} -s {name} -a FooBot list.txt | {name} | {cause}"
            ));
        }
        dir.fails_as(&format!(
            "check -s {name} -a FooBot https://a.example/ | {name} | {cause}"
        ));
        dir.fails(&["inspect", name], &[name, cause]);
    }
    let message = dir.fails(&["inspect", "folder"], &["folder"]);
    assert!(
        !message.contains("JSONL"),
        "the hint is for archives: {message}"
    );
}

#[test]
fn unopenable_files_are_named() {
    let dir = snapshot_dir();
    for verb in ["filter", "annotate"] {
        for row in [
            "missing | missing | No such file",
            "list.txt missing | missing | No such file",
            "folder | folder | directory",
        ] {
            dir.fails_to_write_as(&format!("{verb} -s good.rsieve -a FooBot {row}"));
        }
        for row in [
            "list.txt -o folder | folder | is a directory",
            "list.txt -o no/new | no/new | no folder",
        ] {
            dir.fails_as(&format!("{verb} -s good.rsieve -a FooBot {row}"));
        }
    }
    for option in ["--disallowed-to", "--unknown-to", "--invalid-to"] {
        let filter = format!("filter -s good.rsieve -a FooBot list.txt {option} folder");
        dir.fails_to_write_as(&format!("{filter} | folder | is a directory"));
    }
}

#[test]
fn causes_are_printed_once() {
    let dir = snapshot_dir();
    for args in [
        &["compile", "missing", "-o", "new"][..],
        &["compile", "good.jsonl", "-o", "no/new"],
        &["filter", "-s", "missing", "-a", "a", "list.txt"],
        &["filter", "-s", "good.rsieve", "-a", "a", "missing"],
        &["annotate", "-s", "good.rsieve", "-a", "a", "folder"],
        &words("annotate -s good.rsieve -a a list.txt -o no/new"),
        &["inspect", "missing"],
        &["check", "--robots", "missing", "-a", "a", "/"],
    ] {
        let message = dir.fails(args, &[]);
        let parts: Vec<&str> = message.trim_end().split(": ").collect();
        assert!(
            parts.windows(2).all(|pair| pair[0] != pair[1]),
            "{args:?}: {message}"
        );
        assert!(!message.contains(".tmp"), "{args:?}: {message}");
    }
}

#[test]
fn one_file_is_not_two_outputs() {
    let dir = snapshot_dir();
    for row in [
        "-o old --invalid-to old | old",
        "--unknown-to new --disallowed-to new | new",
        "-o new --invalid-to ./new | ./new",
        "-o old --invalid-to folder/../old | folder/../old",
        "-o - --invalid-to - | -",
        "--invalid-to - | -",
    ] {
        let filter = "filter -s good.rsieve -a FooBot list.txt";
        dir.fails_as(&format!("{filter} {row} | two outputs"));
    }
}

#[cfg(unix)]
#[test]
fn one_file_under_two_names_is_not_two_outputs() {
    let dir = snapshot_dir();
    std::os::unix::fs::symlink("old", dir.path("link")).unwrap();
    dir.fails_as(
        "filter -s good.rsieve -a FooBot list.txt -o old --invalid-to link | link | two outputs",
    );
}

#[test]
fn invalid_agents_are_refused() {
    let dir = snapshot_dir();
    for (agent, cause) in [
        ("", "a name is missing"),
        ("a,,b", "a name is missing"),
        ("a::b", "a name is missing"),
        (
            "Mozilla/5.0 (compatible; FooBot/1.0; +https://foo.example/bot)",
            "product token",
        ),
    ] {
        for verb in ["filter", "annotate"] {
            dir.fails_to_write(
                &[verb, "-s", "good.rsieve", "-a", agent, "list.txt"],
                &["agent", cause],
            );
        }
        dir.fails(
            &[
                "check",
                "-s",
                "good.rsieve",
                "-a",
                agent,
                "https://a.example/",
            ],
            &["agent", cause],
        );
    }
    dir.fails(&["filter", "-s", "good.rsieve", "list.txt"], &["--agent"]);
}

#[test]
fn unknown_option_values_list_the_possible_ones() {
    let dir = snapshot_dir();
    for row in [
        "--keep | allowed | disallowed",
        "--require | all | any",
        "--unknown | allow | disallow",
        "--status-policy | google | google-2012 | google-2019 | google-2023 | google-2026 | \
         rfc9309 | strict",
        "--scheme | exact | any",
        "--agent-match | extended | google",
        "--jobs | at least 1",
    ] {
        let (option, _) = case(row);
        for value in ["0", "nonsense"] {
            let filter = format!("filter -s good.rsieve -a FooBot {option} {value}");
            dir.fails_as(&format!("{filter} list.txt -o old | {value} | {row}"));
        }
    }
    dir.fails_as("compile good.jsonl -o old --profile x | --profile | google | rfc9309");
    dir.fails(&["compiel"], &["compiel", "compile"]);
}

#[test]
fn damaged_lists_write_nothing() {
    let dir = snapshot_dir();
    let list: Vec<u8> = (0..100_000)
        .flat_map(|i| format!("https://a.example/{i}\n").into_bytes())
        .collect();
    for (name, bytes) in [
        ("bad.gz", damage(gz(&list))),
        ("cut.gz", cut(gz(&list))),
        ("bad.zst", damage(zst(&list))),
        ("cut.zst", cut(zst(&list))),
    ] {
        dir.write(name, bytes);
        for verb in ["filter", "annotate"] {
            let args = [verb, "-s", "good.rsieve", "-a", "FooBot", "list.txt", name];
            let message = dir.fails_to_write(&args, &[name, "damaged at byte"]);
            assert!(
                !message.contains("--skip-damaged"),
                "{verb} has no --skip-damaged: {message}"
            );
        }
    }
}

#[test]
fn closed_stdout_ends_the_command_quietly() {
    let dir = snapshot_dir();
    dir.write("long.txt", b"https://a.example/\n".repeat(200_000));
    for args in [
        &words("filter -q -s good.rsieve -a FooBot long.txt")[..],
        &words("annotate -q -s good.rsieve -a FooBot long.txt"),
        &["inspect", "good.rsieve"],
    ] {
        let is_long = args.contains(&"long.txt");
        let mut child = Command::new(env!("CARGO_BIN_EXE_robosieve"))
            .args(args)
            .current_dir(dir.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout
            .read_exact(&mut vec![0; if is_long { 100 } else { 0 }])
            .unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(output.stderr.as_slice(), &b""[..], "{args:?}");
    }
}

#[test]
fn check_answers_by_exit_code() {
    let dir = snapshot_dir();
    dir.write("robots.txt", ROBOTS);
    let by_snapshot = ["check", "-s", "good.rsieve", "-a", "FooBot"];
    let by_file = ["check", "--robots", "robots.txt", "-a", "FooBot"];
    let all = [&by_snapshot[..], &by_file[..]];
    let cases = [
        (&all[..], &["https://a.example/"][..], 0, "allowed\t"),
        (&all[..], &["https://a.example/x"], 1, "disallowed\t"),
        (
            &all[..],
            &["https://a.example/", "https://a.example/x"],
            1,
            "allowed\t",
        ),
        (&all[1..], &["/x"], 1, "disallowed\t"),
        (&all[1..], &["/"], 0, "allowed\t"),
        (&all[..1], &["https://q.example/"], 2, "unknown\t"),
        (
            &all[..1],
            &["https://a.example/x", "https://q.example/"],
            2,
            "disallowed\t",
        ),
        (&all[..1], &["/x"], 2, "invalid\t"),
        (&all[..1], &["https://"], 2, "invalid\t"),
    ];
    for (ways, urls, code, stdout) in cases {
        for way in ways {
            let ran = dir.run(&[way, urls].concat());
            assert_eq!(ran.code, Some(code), "{way:?} {urls:?}: {}", ran.stderr);
            assert!(
                ran.stdout.starts_with(stdout.as_bytes()),
                "{way:?} {urls:?}"
            );
        }
    }
    dir.fails(
        &[&by_snapshot[..], &["https://q.example/"]].concat(),
        &["does not have the origin", "--unknown"],
    );
    dir.fails(&[&by_snapshot[..], &["foo"]].concat(), &["not a URL"]);
    dir.fails_as("check --robots missing -a FooBot / | missing | No such file");
    dir.fails_as("check --robots folder -a FooBot / | folder | irectory");
}

#[test]
fn check_requires_a_snapshot_or_robots_txt() {
    let dir = snapshot_dir();
    dir.fails_as("check -a FooBot https://a.example/ | --snapshot | --robots");
    let both = words("check -s good.rsieve --robots list.txt -a FooBot /");
    dir.fails(&both, &["--snapshot", "--robots"]);
}

#[test]
fn inspect_reports_absence_and_damage() {
    let dir = snapshot_dir();
    dir.fails_as("inspect good.rsieve https://q.example | https://q.example | not in the snapshot");
    for text in ["not a host", "https://", ""] {
        let shown = format!("{text:?}");
        dir.fails(
            &["inspect", "good.rsieve", text],
            &[&shown, "not an origin"],
        );
    }
    let good = dir.read("good.rsieve");
    let sections = Snapshot::new(good.clone())
        .unwrap()
        .sections()
        .map(|(_, len)| len)
        .sum::<u64>() as usize;
    for at in [good.len() - sections / 2, good.len() - sections / 4] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        dir.write("bad.rsieve", bad);
        dir.fails_as("inspect --verify bad.rsieve | bad.rsieve | damaged snapshot");
    }
    dir.done(&["inspect", "--verify", "good.rsieve"]);
}
