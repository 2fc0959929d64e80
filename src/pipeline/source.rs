//! The interface between the ordered pipeline and the inputs that it reads: lists and Parquet row
//! groups.

use crate::error::Result;

/// Opens inputs and reads them block by block.
///
/// One worker at a time holds the reader of an input. Several workers [load](Self::load) blocks at
/// once.
pub(crate) trait BlockSource: Sync {
    /// An input that is not open yet. There may be more of them than a process can hold open.
    type Input: Send;
    /// An open input.
    type Reader: Send;
    /// A block, and the results of judging it. The pipeline recycles blocks to save allocations.
    type Block: Default + Send;

    /// Opens an input.
    fn open(&self, input: Self::Input) -> Result<Self::Reader>;

    /// Makes `block` the next one of the input; `false` at its end.
    fn read(&self, reader: &mut Self::Reader, block: &mut Self::Block) -> Result<bool>;

    /// Reads the part of a block that needs no reader.
    fn load(&self, _block: &mut Self::Block) -> Result<()> {
        Ok(())
    }

    /// Whether reading this input takes so long that idle workers should read later inputs.
    fn is_slow(&self, reader: &Self::Reader) -> bool;

    /// The number of blocks in flight from which no block of a later input is read.
    fn max_in_flight(&self, threads: usize) -> usize;
}
