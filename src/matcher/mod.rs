//! One path against one robots.txt: the verdict, fast, or the explanation, in full.

mod explain;
#[cfg(test)]
mod generate;
pub(crate) mod hot;
mod index;
mod parts;
mod pieces;
mod policy;
mod reach;
pub(crate) mod rules;
mod sieve;
pub(crate) mod subject;
mod table;

pub use explain::{Explanation, Loss, RuleLine, explain};
pub(crate) use policy::{Ruling, ruling};
pub use policy::{StatusPolicy, Verdict};
pub use reach::Reach;
pub(crate) use reach::reach;
