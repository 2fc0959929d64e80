//! The outputs of one run appear together or not at all.

use super::snapshot_dir;
use std::fs;

/// Commands whose outputs are a, b, c and d.
const RUNS: &[&str] = &[
    "$R filter -q -s s -a a u.txt -o a --disallowed-to b --unknown-to c --invalid-to d",
    "$R filter -q -s s -a a in.parquet -o a --disallowed-to b --unknown-to c --invalid-to d",
    "$R report -q -s s -a a u.txt --html a --json-to b --csv-to c",
    "$R compile -q -o a --stats-json b web.jsonl",
    "$R diff s t --svg a --json > /dev/null",
];

/// The outputs of a run.
fn outputs(run: &str) -> impl Iterator<Item = &'static str> {
    ["a", "b", "c", "d"]
        .into_iter()
        .filter(move |name| run.contains(&format!(" {name}")) && is_output(run, name))
}

fn is_output(run: &str, name: &str) -> bool {
    run.split(' ')
        .collect::<Vec<_>>()
        .windows(2)
        .any(|pair| pair[1] == name && pair[0].starts_with('-') && pair[0] != "-a")
}

#[test]
fn one_failed_output_leaves_none() {
    for run in RUNS {
        assert!(outputs(run).count() > 0, "{run}");
        for broken in outputs(run) {
            let mut obstacles = vec!["mkdir X", "ln -s no/such X"];
            if cfg!(target_os = "linux") {
                obstacles.push("ln -s /dev/full X");
            }
            for obstacle in obstacles {
                let dir = snapshot_dir();
                dir.shell(&obstacle.replace('X', broken));
                dir.shell_fails(run, &[broken]);
            }
        }
    }
}

#[test]
fn old_files_stay_until_all_are_complete() {
    for run in RUNS {
        let dir = snapshot_dir();
        outputs(run).for_each(|name| dir.write(name, "old"));
        let last = outputs(run).last().unwrap();
        fs::remove_file(dir.path(last)).unwrap();
        fs::create_dir(dir.path(last)).unwrap();
        dir.shell_fails(run, &[last]);
        fs::remove_dir(dir.path(last)).unwrap();
        assert_eq!(dir.shell(run).code, Some(0), "{run}");
        assert!(outputs(run).all(|name| dir.read(name) != b"old"), "{run}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn failing_stdout_leaves_no_files() {
    let dir = snapshot_dir();
    for command in [
        "$R diff s t --svg a > /dev/full",
        "$R report -s s -a a --json-to a > /dev/full",
        "$R filter -q -s s -a a u.txt --disallowed-to a > /dev/full",
    ] {
        dir.shell_fails(command, &["standard output: No space left"]);
    }
}

#[test]
fn closed_stdout_loses_no_file() {
    let dir = snapshot_dir();
    let commands = [
        "$R diff s t --svg a0",
        "$R report -s s -a a --json-to a1",
        "$R report -q -s s -a a --html - --json-to a2",
        "$R compile -q -o a3 --stats-json - web.jsonl",
    ];
    for (number, command) in commands.iter().enumerate() {
        dir.shell(&format!("(sleep .1; {command}) | true"));
        assert!(dir.path(&format!("a{number}")).is_file(), "{command}");
    }
}
