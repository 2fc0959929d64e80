//! The compiled rules of a group, made after some answers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The answers that compare each rule of a group, before its rules are compiled: as many as cost the
/// same as compiling (the ski rental problem).
pub(crate) const PLAIN_ANSWERS: u32 = 8;

/// The rules of a group as a rule set of a snapshot, once the group has decided often enough.
///
/// Each group has its own, so their bytes are proportional to the file, and neither the order nor
/// the number of agents matters.
#[derive(Debug, Default)]
pub(crate) struct CompiledRules {
    /// The answers so far, until the rules are compiled.
    plain_answers: AtomicU32,
    set: OnceLock<Box<[u8]>>,
}

impl CompiledRules {
    /// The rule set for one more answer; `None` if the answer compares each rule.
    ///
    /// One thread compiles, and the others do not wait for it.
    #[inline]
    pub(crate) fn for_answer(&self, compile: impl FnOnce() -> Box<[u8]>) -> Option<&[u8]> {
        if self.get().is_none()
            && self.plain_answers.fetch_add(1, Ordering::Relaxed) == PLAIN_ANSWERS
        {
            self.for_many_answers(compile);
        }
        self.get()
    }

    /// The rule set, once it is compiled.
    #[inline]
    pub(crate) fn get(&self) -> Option<&[u8]> {
        self.set.get().map(|set| &**set)
    }

    /// Compiles the rules, unless they are.
    pub(crate) fn for_many_answers(&self, compile: impl FnOnce() -> Box<[u8]>) {
        self.set.get_or_init(compile);
    }
}

impl Clone for CompiledRules {
    /// A clone compiles its own.
    fn clone(&self) -> Self {
        Self::default()
    }
}
