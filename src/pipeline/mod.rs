//! The ordered pipeline: blocks of inputs through all workers, results in input order, bounded
//! memory.
//!
//! - [`source`]: the interface to the inputs;
//! - [`scheduler`]: the input that a free worker reads next;
//! - [`reorder_buffer`]: judged blocks that wait for earlier ones;
//! - [`ordered`]: the workers, which put these together;
//! - [`sync`]: their locks and threads, which a model checker replaces in `model`;
//! - [`blocks`] and [`ranged_file`]: lists cut into blocks of whole lines.

pub(crate) mod blocks;
mod destination;
#[cfg(all(test, target_os = "linux"))]
mod model;
pub(crate) mod ordered;
#[cfg(test)]
mod ordered_tests;
pub(crate) mod progress;
pub(crate) mod ranged_file;
mod reason_counts;
mod reorder_buffer;
mod scheduler;
pub(crate) mod source;
pub(crate) mod stats;
mod sync;

pub(crate) use destination::Destination;
pub use progress::Progress;
pub use reason_counts::ReasonCounts;
pub(crate) use stats::TimesFound;
pub use stats::{FilterStats, ListCounts, ListFilterStats};
