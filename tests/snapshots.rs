//! Snapshots of one robots.txt, or of captures as JSON lines, and judges by them.

use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
use std::io::Read;
use std::sync::Arc;

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

/// A judge for one agent, with the default options.
pub(crate) fn judge_for(snapshot: impl Into<Arc<Snapshot>>, agent: &str) -> Judge {
    Judge::new(snapshot, &[agent.parse().unwrap()], JudgeOptions::default()).unwrap()
}
