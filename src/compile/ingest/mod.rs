//! Archives to captures: reader threads cut archives into entries, a pool parses them.
//!
//! A body goes from its entry to its rule sets in one pass: [`batch`] parses the entry and condenses
//! the body, [`file_store`] interns the text, groups its lines, merges the groups and encodes their
//! rules. Each distinct text and each distinct rule set is stored once.

pub(super) mod batch;
pub(super) mod fetch;
pub(super) mod file_store;
mod interner;
pub(super) mod readers;
pub(super) mod tally;
pub(super) mod url_key;
