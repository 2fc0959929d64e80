//! Flipped bits of a snapshot: each verb that judges either detects the damage or prints the same
//! as before.

use crate::command::{Ran, robosieve};
use crate::corruption::{AGENTS, URLS, extents, intact};
use robosieve::{Judge, JudgeOptions, Snapshot, Verdict};
use std::path::Path;

/// One quarter of the flipped bits, spread over the whole file and over all bits of a byte.
fn bits(part: usize) -> impl Iterator<Item = usize> {
    let step = (intact().len() * 8 / 480) | 1;
    (0..intact().len() * 8).step_by(step).skip(part).step_by(4)
}

fn flipped(bit: usize) -> Vec<u8> {
    let mut bytes = intact().to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

fn run(dir: &Path, args: &str, more: &[&str]) -> Ran {
    robosieve(dir, &args.split(' ').chain(more.iter().copied()).collect::<Vec<_>>())
}

/// Runs `work` on four threads. Each thread has its own directory with the list of URLs and the
/// intact snapshot.
fn on_four_threads(work: impl Fn(&Path, usize) + Sync) {
    std::thread::scope(|scope| {
        for part in 0..4 {
            let work = &work;
            scope.spawn(move || {
                let dir = tempfile::tempdir().unwrap();
                std::fs::write(dir.path().join("urls"), URLS.join("\n") + "\n").unwrap();
                std::fs::write(dir.path().join("intact"), intact()).unwrap();
                work(dir.path(), part);
            });
        }
    });
}

#[test]
fn bit_flips_change_no_annotated_list() {
    assert!((0..4).map(|part| bits(part).count()).sum::<usize>() > 400);
    on_four_threads(|dir, part| {
        let agents = AGENTS.join(",");
        let annotate = |name| run(dir, "annotate -j1 -q urls --preferences -a", &[&agents, "-s", name]);
        let wanted = annotate("intact");
        assert_eq!(wanted.code, Some(0), "{}", wanted.stderr);
        let mut found = 0;
        for bit in bits(part) {
            std::fs::write(dir.join("s"), flipped(bit)).unwrap();
            let ran = annotate("s");
            match ran.code {
                Some(0) => assert!(ran == wanted, "bit {bit} changes verdicts"),
                _ => assert!(
                    ran.code == Some(2) && ran.stdout.is_empty() && !ran.stderr.is_empty(),
                    "bit {bit}: {ran:?}"
                ),
            }
            found += usize::from(ran.code == Some(2));
        }
        assert!(found > 50, "{found}");
    });
}

#[test]
fn bit_flips_change_no_check() {
    on_four_threads(|dir, part| {
        for (number, bit) in bits(part).enumerate() {
            std::fs::write(dir.join("s"), flipped(bit)).unwrap();
            // The last URL has no verdict: it is invalid.
            let (url, agent) = (URLS[number % (URLS.len() - 1)], AGENTS[number % AGENTS.len()]);
            let check = |name| run(dir, "check --unknown allow -s", &[name, "-a", agent, url]);
            let (ran, wanted) = (check("s"), check("intact"));
            assert!(wanted.code < Some(2), "{wanted:?}");
            assert!(ran.code == Some(2) || ran == wanted, "bit {bit}: {ran:?} instead of {wanted:?}");
        }
    });
}

/// In each section that verdicts depend on, a flipped bit that changes a verdict is detected,
/// unless verification is off.
#[test]
fn unverified_damage_changes_verdicts() {
    let agents: Vec<_> = AGENTS.iter().map(|name| name.parse().unwrap()).collect();
    let letters = |bytes: &[u8]| -> Option<String> {
        let snapshot = Snapshot::new(bytes.to_vec()).ok()?;
        let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).ok()?;
        let mut letters = String::new();
        for url in URLS {
            letters.extend(judge.judge(url.as_bytes()).ok()?.iter().map(Verdict::letter));
        }
        Some(letters)
    };
    let wanted = letters(intact()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("urls"), URLS.join("\n") + "\n").unwrap();
    let agents = AGENTS.join(",");
    for (section, name) in
        [(1, "index"), (2, "origins"), (4, "files"), (5, "named"), (6, "rule sets"), (7, "patterns"), (8, "tokens")]
    {
        let extent = extents(intact())[section].clone();
        let silent = (extent.start * 8..extent.end * 8)
            .map(flipped)
            .find(|bytes| letters(bytes).is_some_and(|new| new != wanted));
        std::fs::write(dir.path().join("s"), silent.unwrap_or_else(|| panic!("no bit of {name} changes a verdict")))
            .unwrap();
        for verb in ["filter -q", "annotate -q", "report -q --json -"] {
            let ran = run(dir.path(), verb, &["-s", "s", "-a", &agents, "urls"]);
            let expected = format!("s: damaged snapshot: the section \"{name}\" has another checksum");
            assert!(ran.code == Some(2) && ran.stderr.contains(&expected) && ran.stdout.is_empty(), "{verb}: {ran:?}");
        }
        let ran = run(dir.path(), "annotate -q --no-verify", &["-s", "s", "-a", &agents, "urls"]);
        // The spelling check of agents reads names too, and may fail on them.
        let is_name = name == "tokens" && ran.stderr.contains("damaged snapshot");
        assert!(ran.code == Some(0) || is_name, "{name}: {}", ran.stderr);
        let bench = ["-s", "s", "-a", &agents, "--urls", "urls", "--runs", "1"];
        for args in [("bench -q", &bench[..]), ("diff", &["s", "s"]), ("agents", &["s"])] {
            let ran = run(dir.path(), args.0, args.1);
            assert!(ran.code == Some(2) && ran.stderr.contains("has another checksum"), "{args:?}: {ran:?}");
        }
    }
}

/// Explanations verify the dictionary, and no other section, so they show the stored text or fail.
#[test]
fn damaged_dictionaries_fail_explanations() {
    let dictionary = extents(intact())[10].clone();
    let agents = [AGENTS[0].parse().unwrap()];
    for bit in (dictionary.start * 8..dictionary.end * 8).step_by(37) {
        let bytes = flipped(bit);
        let snapshot = Snapshot::new(bytes.clone()).unwrap();
        let entry = snapshot.origins().map(Result::unwrap).find(|entry| entry.outcome().status == 200).unwrap();
        assert!(snapshot.robots_text(&entry).is_err(), "bit {bit}");
        let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).unwrap();
        assert!(judge.explain(URLS[0].as_bytes(), 0).is_err(), "bit {bit}");
    }
}

/// Explanations do not verify the index, but a damaged one gives an error or the right origin.
#[test]
fn explanations_survive_a_damaged_index() {
    let agents = [AGENTS[0].parse().unwrap()];
    let intact_snapshot = Snapshot::new(intact()).unwrap();
    let wanted = Judge::new(intact_snapshot.clone(), &agents, JudgeOptions::default()).unwrap();
    let index = extents(intact())[1].clone();
    let mut found = 0;
    for bit in (index.start * 8..index.end * 8).step_by(7) {
        let bytes = flipped(bit);
        let snapshot = Snapshot::new(bytes.clone()).unwrap();
        let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).unwrap();
        for url in [URLS[0], URLS[8], URLS[14], URLS[21]] {
            match judge.explain(url.as_bytes(), 0) {
                Ok(why) => {
                    assert_eq!(why.verdict, wanted.explain(url.as_bytes(), 0).unwrap().verdict, "bit {bit}: {url}")
                }
                Err(_) => found += 1,
            }
        }
    }
    assert!(found > 0);
}
