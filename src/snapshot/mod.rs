//! The snapshot: one file that holds every origin's robots.txt, ready to be judged from where it lies.
//!
//! `docs/FORMAT.md` describes every byte. `format` has the layout's constants and fixed rows, each with its encoder
//! beside its decoder; `index` leads from an origin to its entry; `ruleset` packs rules, made ready by `draft`, as
//! `stems` and `wild` have them; `write` streams a snapshot out by `sections`, `read` opens one and looks things up,
//! `view` is what judging needs of it, `verify` walks all of it.

pub(crate) mod contents;
pub(crate) mod format;
pub(crate) mod index;
pub(crate) mod listing;
pub(crate) mod map;
mod outcome;
pub(crate) mod read;
mod sections;
mod store;
pub(crate) mod text;
mod verify;
pub(crate) mod view;
pub(crate) mod write;

pub use format::{Counts, FORMAT_VERSION, Metadata};
pub use outcome::{Outcome, OutcomeClass};
pub use read::{OriginEntry, Snapshot};
