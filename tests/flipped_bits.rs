//! Flipped bits of a snapshot: each verb that judges either detects the damage or prints the same
//! as before.

use crate::command::{Ran, robosieve};
use crate::corruption::{AGENTS, URLS, extents, intact};
use crate::generate::Random;
use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
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

/// A snapshot of more than 1 MiB: the number of origins whose robots.txt differ from each other.
const LARGE: usize = 6_000;

/// The URL that the tests of the large snapshot ask about. `GPTBot` may not fetch it.
const REFUSED: &str = "https://site3000.example/x";

fn large() -> Vec<u8> {
    let mut compiler = Compiler::default();
    let mut random = Random(1);
    for site in 0..LARGE {
        // The last rule has no common pattern, so each site has a rule set and a text of its own.
        let path: String = (0..40).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
        let robots = format!("user-agent: gptbot\ndisallow: /x\nuser-agent: *\ndisallow: /{path}\n");
        compiler.add_robots(&format!("https://site{site}.example"), robots.as_bytes()).unwrap();
    }
    compiler.finish().unwrap().to_vec().unwrap()
}

/// Bits of each section of a large snapshot: spread over the section, and those of the records that
/// decide about [`REFUSED`].
fn bits_of_large(bytes: &[u8]) -> Vec<usize> {
    let extents = extents(bytes);
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    // The entry of the origin has its file, its row of origin metadata, and its key (docs/FORMAT.md).
    let key = b"https://site3000.example";
    let key_at = extents[2].clone().find(|&at| bytes[at..].starts_with(key)).unwrap();
    let entry = key_at - 12;
    let [file, metadata] = [extents[4].start + 32 * u32_at(entry), extents[3].start + 48 * u32_at(entry + 4)];
    let named = extents[5].start + 8 * u32_at(file + 8);
    let rules = extents[6].start + 8 * u32_at(named + 4);
    let text = extents[9].start + u32_at(file + 16);
    let records = [(entry, 12 + key.len()), (metadata, 48), (file, 32), (named, 8), (rules, 40), (text, 32)];
    let of_records = records.into_iter().flat_map(|(start, len)| (start * 8..(start + len) * 8).step_by(11));
    let of_sections = extents.iter().flat_map(|extent| {
        let step = (extent.len() * 8 / 5) | 1;
        (extent.start * 8..extent.end * 8).step_by(step)
    });
    of_records.chain(of_sections).collect()
}

/// `check` and `inspect` read few records of a snapshot, but a flipped bit may lead them to those of
/// another site. So they verify every section first, whatever the size.
#[test]
fn bit_flips_of_large_snapshots_are_detected() {
    let bytes = large();
    assert!(bytes.len() > 1 << 20, "{}", bytes.len());
    let bits = bits_of_large(&bytes);
    assert!(bits.len() > 150, "{}", bits.len());
    let commands: [(&str, &[&str]); 6] = [
        ("check -a GPTBot -s s", &[REFUSED]),
        ("check -a GPTBot --explain --json -s s", &[REFUSED]),
        ("check -a GPTBot --unknown allow -s s", &["https://unknown.example/"]),
        ("inspect s", &[]),
        ("inspect s", &[REFUSED]),
        ("inspect s --stale-at", &["now"]),
    ];
    on_four_threads(|dir, part| {
        std::fs::write(dir.join("s"), &bytes).unwrap();
        for (args, more) in commands {
            let ran = run(dir, args, more);
            assert_eq!(ran.code, Some(i32::from(more == [REFUSED] && args.starts_with("check"))), "{args}: {ran:?}");
        }
        for (number, bit) in bits.iter().copied().enumerate().skip(part).step_by(4) {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(dir.join("s"), &bytes).unwrap();
            let (args, more) = commands[number / 4 % commands.len()];
            let ran = run(dir, args, more);
            let is_detected = ran.code == Some(2) && ran.stdout.is_empty() && ran.stderr.contains("damaged snapshot");
            assert!(is_detected, "bit {bit}: {args}: {ran:?}");
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
