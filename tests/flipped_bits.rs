//! Flipped bits of a snapshot: each verb that judges either detects the damage or prints the same
//! as before.

use crate::command::{Ran, robosieve};
use crate::forging::{AGENTS, URLS, extents, intact, with_history};
use crate::generate::Random;
use crate::test_dir::TestDir;
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
    robosieve(
        dir,
        &args
            .split(' ')
            .chain(more.iter().copied())
            .collect::<Vec<_>>(),
    )
}

/// Runs `work` on four threads. Each thread has its own directory with the list of URLs and the
/// intact snapshot.
fn on_four_threads(work: impl Fn(&Path, usize) + Sync) {
    std::thread::scope(|scope| {
        for part in 0..4 {
            let work = &work;
            scope.spawn(move || {
                let dir = TestDir::new();
                dir.write("urls", URLS.join("\n") + "\n");
                dir.write("intact", intact());
                work(dir.root(), part);
            });
        }
    });
}

#[test]
fn bit_flips_change_no_annotated_list() {
    assert!((0..4).map(|part| bits(part).count()).sum::<usize>() > 400);
    on_four_threads(|dir, part| {
        let agents = AGENTS.join(",");
        let annotate = |name| {
            run(
                dir,
                "annotate -j1 -q urls --preferences -a",
                &[&agents, "-s", name],
            )
        };
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
            let (url, agent) = (
                URLS[number % (URLS.len() - 1)],
                AGENTS[number % AGENTS.len()],
            );
            let check = |name| run(dir, "check --unknown allow -s", &[name, "-a", agent, url]);
            let (ran, wanted) = (check("s"), check("intact"));
            assert!(wanted.code < Some(2), "{wanted:?}");
            assert!(
                ran.code == Some(2) || ran == wanted,
                "bit {bit}: {ran:?} instead of {wanted:?}"
            );
        }
    });
}

/// Each verb that asks a history, once for each of some flipped bits of its sections.
#[test]
fn bit_flips_change_no_answer_by_a_history() {
    let as_of = "--as-of 2025-11-20";
    let lines = [
        "export -q -s SNAP -a FooBot --history".to_owned(),
        "export -q -s SNAP -a FooBot --disallowed-since".to_owned(),
        format!("export -q -s SNAP -a FooBot {as_of}"),
        format!("report -q -s SNAP -a FooBot --csv-to - {as_of}"),
        format!("filter -q -s SNAP -a FooBot {as_of} urls"),
        format!(
            "check -s SNAP -a FooBot --unknown allow {as_of} {}",
            URLS[0]
        ),
    ];
    // The sections of the history.
    let history = extents(with_history());
    let bits = history[14].start * 8..history[19].end * 8;
    on_four_threads(|dir, part| {
        std::fs::write(dir.join("history"), with_history()).unwrap();
        let ask = |line: &str, name| run(dir, &line.replace("SNAP", name), &[]);
        let wanted: Vec<Ran> = lines.iter().map(|line| ask(line, "history")).collect();
        let failed = wanted.iter().find(|ran| ran.code >= Some(2));
        assert!(failed.is_none(), "{failed:?}");
        let mut found = 0;
        for bit in bits.clone().skip(part * 101).step_by(4 * 101) {
            let mut bytes = with_history().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(dir.join("s"), bytes).unwrap();
            for (line, wanted) in lines.iter().zip(&wanted) {
                let ran = ask(line, "s");
                let is_refused = ran.code == Some(2) && ran.stdout.is_empty();
                assert!(is_refused || ran == *wanted, "bit {bit}, {line}: {ran:?}");
                found += usize::from(is_refused);
            }
        }
        assert!(found > 20, "{found}");
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
        let path: String = (0..40)
            .map(|_| char::from(b'a' + random.below(26) as u8))
            .collect();
        let robots =
            format!("user-agent: gptbot\ndisallow: /x\nuser-agent: *\ndisallow: /{path}\n");
        compiler
            .add_robots(&format!("https://site{site}.example"), robots.as_bytes())
            .unwrap();
    }
    compiler.finish().unwrap().to_vec().unwrap()
}

/// Bits of each section of a large snapshot: spread over the section, and those of the records that
/// decide about [`REFUSED`]. Each with whether it is one of the latter.
fn bits_of_large(bytes: &[u8]) -> Vec<(usize, bool)> {
    let extents = extents(bytes);
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    // The entry of the origin has its file, its row of origin metadata, and its key
    // (docs/FORMAT.md).
    let key = b"https://site3000.example";
    let key_at = extents[2]
        .clone()
        .find(|&at| bytes[at..].starts_with(key))
        .unwrap();
    let entry = key_at - 12;
    let [file, metadata] = [
        extents[5].start + 16 * u32_at(entry),
        extents[3].start + 16 * u32_at(entry + 4),
    ];
    let named = extents[6].start + 8 * u32_at(file + 4);
    let rules = extents[7].start + 8 * u32_at(named + 4);
    let text = extents[9].start + u32_at(file + 8);
    let records = [
        (entry, 12 + key.len()),
        (metadata, 16),
        (file, 32),
        (named, 8),
        (rules, 56),
        (text, 32),
    ];
    let of_records = records
        .into_iter()
        .flat_map(|(start, len)| (start * 8..(start + len) * 8).step_by(11));
    let of_sections = extents.iter().flat_map(|extent| {
        let step = (extent.len() * 8 / 9) | 1;
        (extent.start * 8..extent.end * 8).step_by(step)
    });
    of_records
        .map(|bit| (bit, true))
        .chain(of_sections.map(|bit| (bit, false)))
        .collect()
}

/// `check` and `inspect` of one origin verify the blocks that they read. A flipped bit in a record
/// that `check` reads is detected; another one is detected, or changes nothing. `inspect` of the
/// whole snapshot detects all.
#[test]
fn bit_flips_of_large_snapshots_are_detected() {
    let bytes = large();
    assert!(bytes.len() > 1 << 20, "{}", bytes.len());
    let bits = bits_of_large(&bytes);
    assert!(bits.len() > 150, "{}", bits.len());
    let commands: [(&str, &[&str]); 6] = [
        ("check -a GPTBot -s s", &[REFUSED]),
        ("check -a GPTBot --explain --json -s s", &[REFUSED]),
        (
            "check -a GPTBot --unknown allow -s s",
            &["https://unknown.example/"],
        ),
        ("inspect s", &[]),
        ("inspect s", &[REFUSED]),
        ("due -s s --stale-at", &["now"]),
    ];
    on_four_threads(|dir, part| {
        std::fs::write(dir.join("s"), &bytes).unwrap();
        let wanted = commands.map(|(args, more)| run(dir, args, more));
        for ((args, more), ran) in commands.iter().zip(&wanted) {
            let expected = Some(i32::from(*more == [REFUSED] && args.starts_with("check")));
            assert_eq!(ran.code, expected, "{args}: {ran:?}");
        }
        for (number, (bit, is_of_record)) in bits.iter().copied().enumerate().skip(part).step_by(4)
        {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(dir.join("s"), &bytes).unwrap();
            let command = number / 4 % commands.len();
            let (args, more) = commands[command];
            let ran = run(dir, args, more);
            let is_detected = ran.code == Some(2)
                && ran.stdout.is_empty()
                && ran.stderr.contains("damaged snapshot");
            let reads_all = more != [REFUSED] && args.starts_with("inspect");
            let reads_record = is_of_record && more == [REFUSED] && args.starts_with("check");
            let may_be_missed = !reads_all && !reads_record && ran == wanted[command];
            assert!(is_detected || may_be_missed, "bit {bit}: {args}: {ran:?}");
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
        snapshot.assume_verified();
        let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).ok()?;
        let mut letters = String::new();
        for url in URLS {
            letters.extend(
                judge
                    .judge(url.as_bytes())
                    .ok()?
                    .iter()
                    .map(Verdict::letter),
            );
        }
        Some(letters)
    };
    let wanted = letters(intact()).unwrap();
    let dir = TestDir::new();
    dir.write("urls", URLS.join("\n") + "\n");
    let agents = AGENTS.join(",");
    for (section, name) in [
        (1, "index"),
        (2, "origins"),
        (5, "files"),
        (6, "named"),
        (7, "rule sets"),
        (8, "tokens"),
    ] {
        let extent = extents(intact())[section].clone();
        let silent = (extent.start * 8..extent.end * 8)
            .map(flipped)
            .find(|bytes| letters(bytes).is_some_and(|new| new != wanted));
        dir.write(
            "s",
            silent.unwrap_or_else(|| panic!("no bit of {name} changes a verdict")),
        );
        for verb in ["filter -q", "annotate -q", "report -q --json-to -"] {
            let ran = run(dir.root(), verb, &["-s", "s", "-a", &agents, "urls"]);
            let expected =
                format!("s: damaged snapshot: the section \"{name}\" has another checksum");
            ran.refused(&expected);
            assert!(ran.stdout.is_empty(), "{verb}: {ran:?}");
        }
        let ran = run(
            dir.root(),
            "annotate -q --no-verify",
            &["-s", "s", "-a", &agents, "urls"],
        );
        // The spelling check of agents reads names too, and may fail on them.
        let is_name = name == "tokens" && ran.stderr.contains("damaged snapshot");
        assert!(ran.code == Some(0) || is_name, "{name}: {}", ran.stderr);
        let bench = ["-s", "s", "-a", &agents, "--urls", "urls", "--runs", "1"];
        for args in [
            ("bench -q", &bench[..]),
            ("diff", &["s", "s"]),
            ("agents", &["s"]),
        ] {
            let ran = run(dir.root(), args.0, args.1);
            ran.refused("has another checksum");
        }
    }
}

/// A damaged byte of the dictionary changes many texts, so all of it is verified before a text is
/// read.
#[test]
fn damaged_dictionaries_fail_explanations() {
    let dictionary = extents(intact())[10].clone();
    let agents = [AGENTS[0].parse().unwrap()];
    for bit in (dictionary.start * 8..dictionary.end * 8).step_by(37) {
        let bytes = flipped(bit);
        let snapshot = Snapshot::new(bytes.clone()).unwrap();
        let entry = snapshot
            .origins()
            .map(Result::unwrap)
            .find(|entry| entry.outcome().status == 200)
            .unwrap();
        assert!(snapshot.robots_text(&entry).is_err(), "bit {bit}");
        let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).unwrap();
        assert!(judge.explain(URLS[0].as_bytes(), 0).is_err(), "bit {bit}");
    }
}

/// Whatever bit is flipped, an explanation is an error or the right one: it verifies what it reads.
/// Without verification, some flips change answers.
#[test]
fn explanations_verify_what_they_read() {
    let agents = [AGENTS[0].parse().unwrap()];
    let judge = |snapshot: &Snapshot| Judge::new(snapshot, &agents, JudgeOptions::default());
    let explain = |judge: &Judge, url: &str| {
        judge
            .explain(url.as_bytes(), 0)
            .ok()
            .map(|why| format!("{why:?}"))
    };
    let intact_snapshot = Snapshot::new(intact()).unwrap();
    let urls = [URLS[0], URLS[8], URLS[14], URLS[21]];
    let wanted = urls.map(|url| explain(&judge(&intact_snapshot).unwrap(), url).unwrap());
    let (mut detected, mut silent) = (0, 0);
    for bit in (extents(intact())[0].start * 8..intact().len() * 8).step_by(61) {
        let snapshot = Snapshot::new(flipped(bit)).unwrap();
        for (url, wanted) in urls.iter().zip(&wanted) {
            let found = judge(&snapshot).ok().and_then(|judge| explain(&judge, url));
            assert!(
                found.as_ref().is_none_or(|found| found == wanted),
                "bit {bit}: {url}"
            );
            detected += usize::from(found.is_none());
        }
        let snapshot = Snapshot::new(flipped(bit)).unwrap();
        snapshot.assume_verified();
        let found = judge(&snapshot)
            .ok()
            .and_then(|judge| explain(&judge, urls[0]));
        silent += usize::from(found.is_some_and(|found| found != wanted[0]));
    }
    assert!(
        detected > 1000 && silent > 10,
        "{detected} detected, {silent} silent without verification"
    );
}

/// Before a single verdict, [`Judge::verify_url`] verifies what the verdict reads.
#[test]
fn single_verdicts_verify_what_they_read() {
    let agents: Vec<_> = AGENTS.iter().map(|name| name.parse().unwrap()).collect();
    let letters = |judge: &Judge, url: &str| -> Option<String> {
        judge.verify_url(url.as_bytes()).ok()?;
        Some(
            judge
                .judge(url.as_bytes())
                .ok()?
                .iter()
                .map(Verdict::letter)
                .collect(),
        )
    };
    for options in [
        JudgeOptions::default(),
        JudgeOptions::default().any_scheme(true),
    ] {
        let judge = |snapshot: Snapshot| Judge::new(snapshot, &agents, options).ok();
        let intact_judge = judge(Snapshot::new(intact()).unwrap()).unwrap();
        let wanted = URLS.map(|url| letters(&intact_judge, url).unwrap());
        for bit in (0..intact().len() * 8).step_by(173) {
            let Some(judge) = Snapshot::new(flipped(bit)).ok().and_then(judge) else {
                continue;
            };
            for (url, wanted) in URLS.iter().zip(&wanted) {
                let found = letters(&judge, url);
                assert!(
                    found.as_ref().is_none_or(|found| found == wanted),
                    "bit {bit}: {url}: {found:?}"
                );
            }
        }
    }
}

/// A block that no answer needs is not read: damage in it goes unnoticed by look-ups.
#[test]
fn look_ups_read_few_blocks() {
    let mut bytes = large();
    let extents = extents(&bytes);
    let agents = ["GPTBot".parse().unwrap()];
    let needed = |bytes: &[u8]| {
        let judge = Judge::new(
            Snapshot::new(bytes.to_vec()).unwrap(),
            &agents,
            JudgeOptions::default(),
        )?;
        judge.explain(REFUSED.as_bytes(), 0).map(|why| why.verdict)
    };
    assert_eq!(needed(&bytes).unwrap(), Verdict::Disallowed);
    // Damages one block after the other, and mends those that are needed.
    let blocks = extents[..12]
        .iter()
        .flat_map(|extent| extent.clone().step_by(64 << 10))
        .collect::<Vec<_>>();
    let mut read = 0;
    for &block in &blocks {
        bytes[block] ^= 1;
        if needed(&bytes).is_err() {
            bytes[block] ^= 1;
            read += 1;
        }
    }
    assert!(read <= 12, "{read} of {} blocks", blocks.len());
    assert!(blocks.len() > 25, "{read} of {} blocks", blocks.len());
    assert_eq!(needed(&bytes).unwrap(), Verdict::Disallowed);
}
