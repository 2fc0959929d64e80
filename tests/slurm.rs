//! `packaging/slurm`, with a stand-in for `sbatch` that runs a job at once.

use crate::command::checkout;
use crate::test_dir::TestDir;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the tasks of an array one after the other, but for those in `LOST`: they are killed before
/// they begin. As that of a cluster, it runs a copy of the script, and notes its own options.
const SBATCH: &str = r#"#!/bin/sh
tasks=
echo "$*" >> calls
while :; do
  case "$1" in
    --array=1-*) tasks="$(seq "${1#--array=1-}")" ;;
    --*) ;;
    *) break ;;
  esac
  shift
done
cp "$1" spooled
shift
if [ -z "$tasks" ]; then
  sh spooled "$@" > last.log 2>&1
  echo $? > last.status
fi
for task in $tasks; do
  case " $LOST " in
    *" $task "*) ;;
    *) SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=2 sh spooled "$@" >> array.log 2>&1 ;;
  esac
done
echo "$(wc -l < calls);cluster"
"#;

impl TestDir {
    /// A snapshot `s`, five lists in `parts`, and the stand-in.
    fn with_cluster() -> Self {
        let dir = Self::new();
        dir.compile_small("s");
        let urls = fs::read(checkout().join("datasets/small/urls.txt")).unwrap();
        for number in 1..=5 {
            dir.write(&format!("parts/{number}.txt"), &urls);
        }
        dir.write("bin/sbatch", SBATCH);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(dir.path("bin/sbatch"), executable).unwrap();
        dir
    }

    /// Runs the script, with these tasks lost.
    fn submit(&self, args: &str, lost: &str) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_robosieve")).parent().unwrap();
        let own = self.path("bin");
        let usual = std::env::var("PATH").unwrap();
        Command::new("sh")
            .arg(checkout().join("packaging/slurm"))
            .args(args.split_whitespace())
            .current_dir(self.root())
            .env(
                "PATH",
                format!("{}:{}:{usual}", own.display(), program.display()),
            )
            .env("SBATCH", "--partition=cpu --time=60")
            .env("LOST", lost)
            .output()
            .unwrap()
    }

    /// Asserts that the outputs are those of one run over all inputs.
    fn assert_outputs(&self) {
        self.done_line("filter -q -s s -a MyBot --out-dir one --unknown-to one-new parts");
        for (found, expected) in [("kept", "one"), ("new", "one-new")] {
            for number in 1..=5 {
                let expected = self.read(&format!("{expected}/{number}.txt"));
                let found = format!("{found}/{number}.txt");
                assert!(!expected.is_empty());
                assert!(self.read(&found) == expected, "{found}");
            }
        }
    }
}

const RUN: &str = "2 filter -s s -a MyBot --out-dir kept --unknown-to new parts";

#[test]
fn the_tasks_of_an_array_write_each_output_once() {
    let dir = TestDir::with_cluster();
    let out = dir.submit(RUN, "");
    assert!(out.status.success(), "{out:?}");
    // The number of the second job, which waits for the first.
    assert_eq!(out.stdout, b"2\n");
    let calls = dir.read_text("calls");
    assert!(
        calls.contains("--parsable --partition=cpu --time=60 --job-name=robosieve --array=1-2"),
        "{calls}"
    );
    assert!(calls.contains("--dependency=afterany:1"), "{calls}");
    let array = dir.read_text("array.log");
    assert!(array.contains("files 3  done 3"), "{array}");
    assert!(array.contains("files 2  done 2"), "{array}");
    let last = dir.read_text("last.log");
    assert!(last.contains("5 of 5 files are complete"), "{last}");
    assert_eq!(dir.read_text("last.status"), "0\n");
    dir.assert_outputs();
}

#[test]
fn the_last_job_writes_what_killed_tasks_left() {
    let dir = TestDir::with_cluster();
    dir.submit(RUN, "2");
    let array = dir.read_text("array.log");
    assert!(
        array.contains("files 3  done 3") && !array.contains("files 2"),
        "{array}"
    );
    let last = dir.read_text("last.log");
    assert!(last.contains("3 of 5 files are complete"), "{last}");
    assert_eq!(dir.read_text("last.status"), "0\n");
    dir.assert_outputs();
}

#[test]
fn the_last_job_fails_if_an_output_cannot_be_complete() {
    let dir = TestDir::with_cluster();
    dir.write("parts/4.txt.gz", b"\x1f\x8b\x08 cut");
    dir.submit(RUN, "");
    let last = dir.read_text("last.log");
    assert!(last.contains("parts/4.txt.gz"), "{last}");
    assert_ne!(dir.read_text("last.status"), "0\n");
}

#[test]
fn wrong_arguments_are_named_before_a_job_is_submitted() {
    let dir = TestDir::with_cluster();
    for (args, message) in [
        (
            "filter -s s --out-dir kept parts",
            "the number of tasks is filter",
        ),
        (
            "0 filter -s s --out-dir kept parts",
            "the number of tasks is 0",
        ),
        (
            "2 compile -o s --out-dir kept parts",
            "the command is compile",
        ),
        ("2 filter -s s -a MyBot parts", "--out-dir DIR"),
        ("2 filter", "give the number of tasks"),
    ] {
        let out = dir.submit(args, "");
        let stderr = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{args}: {stderr}");
        assert!(stderr.contains(message), "{args}: {stderr}");
    }
    assert!(!dir.path("calls").exists());
}
