//! Snapshots of one robots.txt, or of captures as JSON lines.

use robosieve::{Compiler, Snapshot};
use std::io::Read;

fn finish(compiler: Compiler) -> Vec<u8> {
    compiler.finish().unwrap().to_vec().unwrap()
}

/// The bytes of a snapshot with the robots.txt of one origin.
pub(crate) fn compile_robots(origin: &str, robots: impl AsRef<[u8]>) -> Vec<u8> {
    let mut compiler = Compiler::default();
    compiler.add_robots(origin, robots.as_ref()).unwrap();
    finish(compiler)
}

/// A snapshot with the robots.txt of one origin.
pub(crate) fn snapshot_of_robots(origin: &str, robots: impl AsRef<[u8]>) -> Snapshot {
    Snapshot::new(compile_robots(origin, robots)).unwrap()
}

/// A snapshot of an archive.
pub(crate) fn snapshot_of_captures(archive: impl Read + Send) -> Snapshot {
    let mut compiler = Compiler::default();
    compiler.add_reader("archive", archive).unwrap();
    Snapshot::new(finish(compiler)).unwrap()
}
