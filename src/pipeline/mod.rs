//! The ordered pipeline: blocks of inputs through all workers, results in input order, bounded
//! memory.
//!
//! - [`source`]: the interface to the inputs;
//! - [`scheduler`]: the input that a free worker reads next;
//! - [`reorder_buffer`]: judged blocks that wait for earlier ones;
//! - [`ordered`]: the workers, which put these together;
//! - [`blocks`] and [`ranged_file`]: lists cut into blocks of whole lines.

pub(crate) mod blocks;
pub(crate) mod ordered;
pub(crate) mod progress;
pub(crate) mod ranged_file;
mod reason_counts;
mod reorder_buffer;
mod scheduler;
pub(crate) mod source;
pub(crate) mod stats;

pub use progress::Progress;
pub use reason_counts::ReasonCounts;
pub use stats::FilterStats;
