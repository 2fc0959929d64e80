//! The benchmarks, in one binary, so that the crate is linked once. Each asserts its answer.

mod common;
mod filter;
mod matching;
mod parse;
mod rows;
mod snapshot;
mod url;

use criterion::criterion_main;

criterion_main!(
    parse::benches,
    url::benches,
    matching::benches,
    snapshot::benches,
    filter::benches,
    rows::benches
);
