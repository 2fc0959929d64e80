//! Opens the snapshots of verbs that judge or count much, and verifies them first.

use clap::Args;
use robosieve::{Result, Snapshot};
use std::path::Path;

// What verbs share that read most of a snapshot.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Do not compare the snapshot with its checksums first. That reads it once, from its beginning
    /// to its end; without it, damage of the file can change verdicts silently
    #[arg(long)]
    pub no_verify: bool,
}

impl VerifyArgs {
    /// Verifies the sections that judging reads.
    pub(crate) fn judging(&self, snapshot: &Snapshot, path: &Path) -> Result<()> {
        if self.no_verify { Ok(()) } else { snapshot.verify_judging_checksums().map_err(|err| err.at(path)) }
    }

    /// Verifies all sections.
    pub(crate) fn all(&self, snapshot: &Snapshot, path: &Path) -> Result<()> {
        if self.no_verify { Ok(()) } else { snapshot.verify_checksums().map_err(|err| err.at(path)) }
    }
}
