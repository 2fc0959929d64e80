//! Compares robosieve with other robots.txt crates on the same sites and URLs, and checks every
//! answer.

mod aho_corasick;
pub mod contestants;
pub mod sites;
pub mod table;

// Some of it is for the benchmarks of the crate itself.
#[allow(dead_code)]
#[path = "../../common/mod.rs"]
mod common;
