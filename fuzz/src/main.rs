//! The fuzz targets as a program. With `--cfg fuzzing` (`scripts/x fuzz`) libFuzzer calls the
//! target that `FUZZ_TARGET` names; with `FUZZ_SEEDS` too, the program writes the seeds to that
//! directory. Otherwise it runs a target on given files, to debug a finding: `cargo run -p
//! robosieve-fuzz -- TARGET FILE…` Without a target it prints the list.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod engine {
    use libfuzzer_sys::fuzz_target;
    use robosieve_fuzz::{Target, print_targets, tolerate_parquet_panics, write_seeds};
    use std::sync::OnceLock;

    static TARGET: OnceLock<&Target> = OnceLock::new();

    fn choose_target() {
        let Ok(name) = std::env::var("FUZZ_TARGET") else {
            print_targets();
            std::process::exit(0);
        };
        let target = Target::named(&name).expect("FUZZ_TARGET names a target");
        if let Some(dir) = std::env::var_os("FUZZ_SEEDS") {
            write_seeds(target, dir.as_ref());
            std::process::exit(0);
        }
        TARGET.get_or_init(|| target);
        tolerate_parquet_panics();
    }

    fuzz_target!(
        init: choose_target(),
        |input: &[u8]| {
            (TARGET.get().expect("chosen before the first input").run)(input);
        }
    );
}

#[cfg(not(fuzzing))]
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, files)) = args.split_first() else {
        return robosieve_fuzz::print_targets();
    };
    let target = robosieve_fuzz::Target::named(name).expect("the name of a target");
    for file in files {
        let input = std::fs::read(file).expect("a readable file");
        (target.run)(&input);
    }
    println!("{name}: {} passed", files.len());
}
