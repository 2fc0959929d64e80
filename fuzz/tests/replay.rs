//! Runs each target on its seeds, on its corpus, and on some mutations of both.

use flate2::read::GzDecoder;
use robosieve_fuzz::Target;
use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// The mutations per target: few, because libFuzzer makes better ones. They are the same in every
/// run.
const MUTATIONS: u64 = 200;

/// An input of a corpus.
struct Input {
    name: String,
    bytes: Vec<u8>,
}

/// The corpus of a target: the files of its archive, which `scripts/x fuzz` writes sorted by name.
fn corpus(name: &str) -> Vec<Input> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(format!("{name}.tar.gz"));
    let file = File::open(&path)
        .unwrap_or_else(|err| panic!("{}: {err}; scripts/x fuzz {name} writes it", path.display()));
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    let mut inputs = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let name = entry.path().unwrap().display().to_string();
        inputs.push(Input { name, bytes });
    }
    // Two files of one name would be one file when the archive is unpacked.
    assert!(
        inputs.is_sorted_by(|earlier, later| earlier.name < later.name),
        "{}: the names are not sorted, or a name is there twice",
        path.display()
    );
    inputs
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
    let corpus = corpus(name);
    assert!(!corpus.is_empty(), "the corpus of {name} is empty");
    println!("{name}: {} inputs of the corpus", corpus.len());
    for input in corpus {
        check(target, &input.bytes, &input.name);
        inputs.push(input.bytes);
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
    parse_robots judge_url split_url open_snapshot warc arc gzip_members jsonl captures records
    audit_line parquet filter_stream
}
