//! The outputs of a filter of WARC files.

use std::io::Write;

/// One output of a filter.
pub struct WarcOutput<'w> {
    /// Gets the bytes.
    pub out: &'w mut (dyn Write + Send),
    /// Whether each record becomes a gzip member. If one input is gzip, this holds for all outputs.
    pub gzip: bool,
}

impl std::fmt::Debug for WarcOutput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WarcOutput")
            .field("gzip", &self.gzip)
            .finish_non_exhaustive()
    }
}

/// An offset index (CDXJ) of the kept records.
pub struct WarcIndex<'w> {
    /// Gets one line per record, in the order of the output.
    pub out: &'w mut (dyn Write + Send),
    /// The name of the file of kept records, as entries give it.
    pub file_name: &'w str,
}

impl std::fmt::Debug for WarcIndex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WarcIndex")
            .field("file_name", &self.file_name)
            .finish_non_exhaustive()
    }
}

/// The outputs of a filter; `None` discards. Every record goes to exactly one output, with its bytes
/// unchanged and in input order.
#[derive(Debug, Default)]
pub struct WarcOutputs<'w> {
    /// The records with the verdict that is kept, and all `warcinfo` records.
    pub kept: Option<WarcOutput<'w>>,
    /// The records with the other verdict.
    pub other: Option<WarcOutput<'w>>,
    /// The records of unknown origins.
    pub unknown: Option<WarcOutput<'w>>,
    /// The records without an http or https URL.
    pub invalid: Option<WarcOutput<'w>>,
    /// The offset index of the kept records.
    pub index: Option<WarcIndex<'w>>,
}
