//! One path against one rule set: how rules are encoded, and the search for the one that decides.
//!
//! Two engines, over rules as they are stored: the [automaton](prefix_automaton) of literal
//! prefixes, and the [wildcard-segment matcher](wildcard) for the few rules of a bucket whose
//! [`signature`] passes. Rule sets that many paths reach are promoted by the [cache](rule_cache) to
//! a [bit-parallel table](bit_table) with [Teddy](teddy) fingerprints.

mod bit_table;
pub(crate) mod build;
mod candidate;
pub(crate) mod canonical;
#[cfg(test)]
mod generate;
pub(crate) mod packed_rule;
pub(crate) mod prefix_automaton;
mod rule_cache;
pub(crate) mod rule_set;
mod signature;
mod teddy;
pub(crate) mod wildcard;

pub(crate) use candidate::{Candidate, PathSignature};
pub(crate) use rule_cache::RuleCache;
