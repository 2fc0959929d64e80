//! `scripts/x years` on the sample of its archive: the figures are those of a second count, and of what
//! its files say.

use crate::command::checkout;
use std::process::Command;

#[test]
fn figures_of_the_sample_are_counted_twice() {
    let run = Command::new("python3")
        .args(["-B", "scripts/x", "years", "--print", "--captures"])
        .arg("datasets/years/captures.jsonl.gz")
        .env("ROBOSIEVE", env!("CARGO_BIN_EXE_robosieve"))
        .current_dir(checkout())
        .output()
        .unwrap();
    let page = String::from_utf8(run.stdout).unwrap();
    let messages = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{messages}");
    // 56 months, 11 agents, and three numbers each.
    assert!(page.contains("all 1,848 numbers agree"), "{page}");
    // Counted by hand: two names each of cbo.gov, csce.gov and usagm.gov, bbg.gov, ibb.gov and
    // www.niams.nih.gov. The file of evergladesrestoration.gov names GPTBot too, but disallows a part.
    assert!(
        page.contains("In 2025-03, 9 of 18 hosts disallow everything to GPTBot by its name"),
        "{page}"
    );
}
