//! The steps of writing and naming files. The tests record them, and fail each in turn.

/// A step that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Create a temporary file.
    Create,
    /// Write bytes to it.
    Write,
    /// Sync it to disk.
    Sync,
    /// Give it a temporary name, next to the file that it will replace.
    Link,
    /// Give it its name.
    Name,
    /// Sync a folder to disk, with the new names.
    SyncFolder,
}

/// Marks a step, which the tests can fail.
#[cfg(test)]
pub(super) use crate::atomic::fault_injection::step;

#[cfg(not(test))]
#[inline]
pub(super) fn step(_: Step) -> std::io::Result<()> {
    Ok(())
}
