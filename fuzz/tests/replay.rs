//! Runs each target on its seeds, on its corpus, and on some mutations of both.

use robosieve_fuzz::Target;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

/// The mutations per target: few, because libFuzzer makes better ones. They are the same in every
/// run.
const MUTATIONS: u64 = 200;

/// The files of the corpus of a target, by name.
fn corpus(name: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(name);
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs a target, and prints the input if its property does not hold.
fn check(target: &Target, input: &[u8], from: &str) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(input))) {
        eprintln!(
            "{}: fails for {from}: b\"{}\"",
            target.name,
            input.escape_ascii()
        );
        resume_unwind(panic);
    }
}

/// A seeded generator (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % end.max(1)
    }

    /// The start of one input and the end of another, with some other bytes.
    fn mutation(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let [first, second] = [(); 2].map(|()| &inputs[self.below(inputs.len())]);
        let start = &first[..self.below(first.len() + 1)];
        let mut mixed = [start, &second[self.below(second.len() + 1)..]].concat();
        for _ in 0..self.below(4) {
            let at = self.below(mixed.len());
            if let Some(byte) = mixed.get_mut(at) {
                *byte = self.below(256) as u8;
            }
        }
        mixed
    }
}

fn replay(name: &str) {
    let target = Target::named(name).unwrap();
    let mut inputs = (target.seeds)();
    for (number, input) in inputs.iter().enumerate() {
        check(target, input, &format!("seed {number}"));
    }
    let files = corpus(name);
    assert!(
        !files.is_empty(),
        "no corpus: scripts/fuzz {name} makes one"
    );
    for file in files {
        let input = fs::read(&file).unwrap();
        check(target, &input, &file.display().to_string());
        inputs.push(input);
    }
    let mut random = Random(1);
    for number in 0..MUTATIONS {
        check(
            target,
            &random.mutation(&inputs),
            &format!("mutation {number}"),
        );
    }
}

/// A test for each target.
macro_rules! tests {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        #[test]
        fn every_target_is_tested() {
            let names: Vec<_> = robosieve_fuzz::TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

tests! {
    parse_robots judge_url split_url open_snapshot warc gzip_members jsonl captures records
    audit_line parquet filter_stream
}
