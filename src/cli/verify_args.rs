//! The verification of a snapshot before it is used.

use super::help_text::COMMON;
use clap::Args;
use robosieve::{Result, Snapshot};
use std::path::Path;

// Shared by the verbs that read most of a snapshot.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Skip the verification of the snapshot's checksums
    ///
    /// Verification reads the snapshot once, from beginning to end. Without it, a damaged file can
    /// change verdicts silently.
    #[arg(long, hide_short_help = true, help_heading = COMMON)]
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
