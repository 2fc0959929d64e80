//! The verification of a snapshot before it is used.

use crate::help_text::COMMON;
use clap::Args;
use robosieve::{Result, Snapshot};
use std::path::Path;

// Shared by the verbs that read a snapshot.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Skip the verification of checksums
    ///
    /// Verification reads the snapshot, and compiled lists, once, on all cores; that of a single
    /// look-up in a snapshot reads the blocks of 64 KiB that it needs. Without it, a damaged file can change verdicts silently.
    #[arg(long, hide_short_help = true, help_heading = COMMON)]
    pub no_verify: bool,
}

impl VerifyArgs {
    /// Verifies the sections that judging reads.
    pub(crate) fn judging(&self, snapshot: &Snapshot, path: &Path) -> Result<()> {
        self.verify(snapshot, path, Snapshot::verify_judging_checksums)
    }

    /// Verifies all sections.
    pub(crate) fn all(&self, snapshot: &Snapshot, path: &Path) -> Result<()> {
        self.verify(snapshot, path, Snapshot::verify_checksums)
    }

    /// Leaves the verification to look-ups, which verify what they read.
    pub(crate) fn look_ups(&self, snapshot: &Snapshot) {
        if self.no_verify {
            snapshot.assume_verified();
        }
    }

    fn verify(
        &self,
        snapshot: &Snapshot,
        path: &Path,
        verify: fn(&Snapshot) -> Result<()>,
    ) -> Result<()> {
        self.look_ups(snapshot);
        if self.no_verify {
            Ok(())
        } else {
            verify(snapshot).map_err(|err| err.at(path))
        }
    }
}
