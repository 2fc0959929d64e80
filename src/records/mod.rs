//! Where URLs stand in the lines of an input: the whole line, a column, a key of a JSON object.

mod compose;
mod csv;
mod detect;
mod extract;
mod json;
mod options;

pub(crate) use compose::Compose;
pub(crate) use detect::Head;
pub(crate) use extract::{Extracted, Records, without_end};
pub use options::{Field, InputFormat, RecordOptions};
