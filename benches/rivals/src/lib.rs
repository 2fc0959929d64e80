//! robosieve beside the other robots.txt crates: the same sites, the same URLs, every answer checked.

pub mod contestants;
pub mod sites;
pub mod table;

#[path = "../../common/mod.rs"]
mod common;
