//! More threads than the machine allows.

use crate::command::{Ran, checkout, robosieve};
#[cfg(target_os = "linux")]
use crate::signals::begun;
use crate::streams::place;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn too_many_threads_are_capped_with_a_note() {
    let place = place();
    let most = robosieve::threads::max_threads();
    let note = format!(
        "robosieve: note: 100000 threads are too many; using {most}, the most that are allowed here"
    );
    let args = [
        "filter", "-s", "s", "-a", "FooBot", "list.txt", "-o", "new", "-j", "100000",
    ];
    let ran = robosieve(place.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.starts_with(&note), "{}", ran.stderr);
    let quiet = robosieve(place.path(), &[&args[..], &["-q"]].concat());
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        robosieve(place.path(), &["inspect", "s", "-j", "0"]).code,
        Some(2)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn capped_runs_start_no_more_threads() {
    let place = place();
    for (jobs, variable) in [(&["-j", "100000"][..], "1"), (&[], "100000")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_robosieve"));
        command
            .args(["filter", "-q", "-s", "s", "-a", "FooBot", "-o", "new"])
            .args(jobs);
        command.env("RAYON_NUM_THREADS", variable);
        let mut child = begun(command, place.path(), 1);
        let threads = fs::read_dir(format!("/proc/{}/task", child.id()))
            .unwrap()
            .count();
        child.stdin.take();
        child.wait().unwrap();
        let most = robosieve::threads::max_threads();
        assert!(
            (most..most + 8).contains(&threads),
            "{jobs:?}: {threads} threads"
        );
    }
}

/// Runs `robosieve` as a user with a limit on threads: the system does not limit root.
#[cfg(target_os = "linux")]
fn limited(dir: &Path, threads: u32, args: &str) -> Ran {
    let script = format!("ulimit -u {threads} && exec ./robosieve {args}");
    // The limit covers all processes of a user, so each run of the tests has its own user.
    let user = format!("--reuid={}", 100_000 + std::process::id());
    let output = Command::new("setpriv")
        .args([&user, "--clear-groups", "bash", "-c", &script])
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn unstartable_threads_are_explained() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let dir = place.path();
    let data = checkout().join("datasets/small");
    fs::copy(data.join("pages.parquet"), dir.join("pages.parquet")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_robosieve"), dir.join("robosieve")).unwrap();
    fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
    if limited(dir, 100, "--version").code != Some(0) {
        eprintln!("skipped: needs root, bash and setpriv(1)");
        return;
    }
    for args in [
        "compile -q -j 4 robots.jsonl -o new",
        "filter -q -j 4 -s s -a FooBot list.txt -o new",
        "annotate -q -j 4 -s s -a FooBot pages.parquet -o new.parquet",
    ] {
        let mut refused = 0;
        for threads in 1..12 {
            let ran = limited(dir, threads, args);
            match ran.code {
                Some(0) => {}
                Some(2) => {
                    refused += 1;
                    assert!(
                        ran.stderr.contains("cannot start ") && ran.stderr.contains("-j N"),
                        "{args}: {}",
                        ran.stderr
                    );
                }
                code => panic!("{args} with {threads} threads: {code:?}, {}", ran.stderr),
            }
        }
        assert!((4..11).contains(&refused), "{args}: {refused} refused");
    }
}
