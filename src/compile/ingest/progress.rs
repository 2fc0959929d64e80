//! The progress of reading archives.

/// Progress of a compilation, for a display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileProgress {
    /// Archive entries parsed so far.
    pub entries: u64,
    /// Bytes read of all inputs so far, before decompression.
    pub bytes_read: u64,
    /// Inputs read to their end.
    pub inputs_done: usize,
}
