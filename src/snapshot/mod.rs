//! The snapshot: one file that holds the robots.txt of every origin, ready to be judged against.
//!
//! The file is mapped into memory and used as it is: opening it decodes nothing. `docs/FORMAT.md`
//! describes every byte. In reading order:
//!
//! * `format`: header, section table and rows, each encoder next to its decoder.
//! * `index`: the hash table from an origin to its entry.
//! * `view`: the sections that judging reads, with prefetching.
//! * `section_file`, `map`, `mapped_file`: opening a file of sections, which filter lists are too, and
//!   whether it was changed in place.
//! * `read`: look-ups by origin, file and agent name.
//! * `tokens`: the agent names.
//! * `outcome`, `freshness`: the result of fetching a robots.txt, and how long it is fresh.
//! * `blocks`: the checksums of blocks, which look-ups verify.
//! * `history`: the versions of the answers of all URLs, if a snapshot keeps them.
//! * `text_reader`: condensed texts, many per thread.
//! * `verify`: all checksums, and all references from one section to another.
//! * `contents`, `text`, `store`, `sections`, `write`, `write_history`: the writing
//!   side.

pub(crate) mod as_of;
mod blocks;
pub(crate) mod contents;
pub(crate) mod details;
pub(crate) mod format;
mod freshness;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod map;
mod mapped_file;
mod outcome;
pub(crate) mod read;
pub(crate) mod section_file;
pub(crate) mod sections;
mod store;
pub(crate) mod text;
pub(crate) mod text_reader;
mod timeline;
mod tokens;
mod verify;
mod verify_history;
pub(crate) mod view;
pub(crate) mod write;
pub(crate) mod write_history;

pub use format::{Counts, FORMAT_VERSION, Metadata};
pub use freshness::Freshness;
pub(crate) use outcome::MAX_HOPS;
pub use outcome::{Outcome, OutcomeClass};
pub use read::{OriginEntry, Snapshot};
pub use timeline::AnswerInForce;

pub use crate::time_span::TimeSpan;
