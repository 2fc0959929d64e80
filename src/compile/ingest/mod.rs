//! Archives to captures: reader threads cut archives into entries, a pool decodes them.
//!
//! [`batch`] decodes an entry and condenses the body. [`text_store`] keeps each distinct text once;
//! the capture becomes a [`capture_record`], which `sort` takes. Nothing is parsed here, so a
//! capture that a newer one supersedes costs no parsing. Captures files have records and texts
//! already, which [`block_captures`] validates.

pub(super) mod batch;
pub(super) mod block_captures;
pub(super) mod capture_record;
pub(super) mod readers;
pub(super) mod tally;
pub(super) mod text_store;
pub(super) mod url_key;
