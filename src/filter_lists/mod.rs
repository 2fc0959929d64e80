//! The user's own block lists: which hosts and URL prefixes they name.
//!
//! [`entry`] parses one line, [`text`] reads a whole list.

pub(crate) mod entry;
pub(crate) mod text;

#[cfg(test)]
mod tests;
