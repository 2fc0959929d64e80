//! The interface between the ordered pipeline and the inputs that it reads: lists and Parquet row
//! groups.

use crate::error::Result;

/// The size from which the memory of a block is counted while it is read. Ordinary blocks have some
/// 300 KiB.
pub(crate) const LARGE_BLOCK: usize = 8 << 20;

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
    ///
    /// A block that grows beyond [`LARGE_BLOCK`] calls `grow` with its bytes before each further
    /// step. That call waits while other blocks fill the memory.
    fn read(
        &self,
        reader: &mut Self::Reader,
        block: &mut Self::Block,
        grow: &dyn Fn(usize),
    ) -> Result<bool>;

    /// Reads the part of a block that needs no reader.
    fn load(&self, _block: &mut Self::Block) -> Result<()> {
        Ok(())
    }

    /// Whether reading this input takes so long that idle workers should read later inputs.
    fn is_slow(&self, reader: &Self::Reader) -> bool;

    /// The bytes of memory that a block holds, with its results. They bound how far workers read
    /// ahead.
    fn bytes_held(&self, block: &Self::Block) -> usize;
}
