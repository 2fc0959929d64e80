//! Progress of a compilation.

/// Progress of a compilation, for a display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileProgress {
    /// The current phase.
    pub phase: CompilePhase,
    /// Archive entries decoded so far; 0 after the first phase.
    pub entries: u64,
    /// Bytes read of all inputs so far, before decompression; 0 after the first phase.
    pub bytes_read: u64,
    /// Inputs read to their end; 0 after the first phase.
    pub inputs_done: usize,
    /// What is done of [`total`](Self::total); 0 in the first phase.
    pub done: u64,
    /// The whole work of the phase: bytes of captures to merge, or captured origins and those of
    /// the previous snapshot to resolve. 0 if it is not known.
    pub total: u64,
}

/// A phase of a compilation, in the order of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompilePhase {
    /// Archives are read.
    #[default]
    Read,
    /// Sorted runs of captures are merged.
    Sort,
    /// Origins are resolved, and their robots.txt files parsed.
    Build,
}

impl CompileProgress {
    /// Progress of a phase after the first.
    pub(super) fn of(phase: CompilePhase, done: u64, total: u64) -> Self {
        Self {
            phase,
            done,
            total,
            ..Self::default()
        }
    }
}

/// A function that shows progress; any thread may call it.
pub(super) type ShowProgress<'a> = dyn Fn(CompileProgress) + Sync + 'a;
