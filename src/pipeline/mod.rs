//! Blocks of lines through all workers, results in the order of the input, in bounded memory.

pub(crate) mod blocks;
pub(crate) mod ranged_file;
pub(crate) mod reorder_buffer;
pub(crate) mod scheduler;
pub(crate) mod stats;
pub(crate) mod work_queue;
pub(crate) mod workers;

pub use blocks::Input;
pub(crate) use blocks::Part;
pub use stats::{FilterProgress, FilterStats};
