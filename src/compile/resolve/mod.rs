//! Fetch histories to outcomes: each origin's newest answer, after redirects, failures and 304s.
//!
//! [`payloads`] finds the bodies of `revisit` records, [`history`] sorts the captures of one URL,
//! [`resolver`] follows redirects from URL to URL and
//! decides the outcome of each origin. [`versions`] finds where the answer of a URL changes.

mod history;
pub(super) mod payloads;
pub(super) mod resolved_origin;
pub(super) mod resolver;
pub(super) mod versions;
