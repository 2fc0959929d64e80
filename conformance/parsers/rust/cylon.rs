//! The crate `cylon`.

use cylon::Compiler;
use futures_executor::block_on;
use robosieve_conformance::{Parses, path, serve};

fn main() {
    serve(
        Parses::PerAgent,
        |body, agent| block_on(Compiler::new(agent).compile(body)).ok(),
        |rules, _, url| rules.allow(path(url)),
    );
}
