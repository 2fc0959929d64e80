//! The work that is left for comparing the rules of a file, so that a hostile file takes seconds.

/// The most comparisons of two rules. The largest group in a corpus of 40,000 hosts has 7,368 rules.
const MAX_COMPARISONS: usize = 1 << 28;

/// The same for comparisons with wildcard rules, which cost some twenty times as much as others.
const MAX_WILDCARD_COMPARISONS: usize = 1 << 25;

/// What is left. Work that needs more is not begun.
pub(super) struct Budget {
    rules: usize,
    comparisons: usize,
    wildcard_comparisons: usize,
}

impl Budget {
    /// A budget with this number of rules, over all agents that obey different groups.
    pub(super) fn new(rules: usize) -> Self {
        Self {
            rules,
            comparisons: MAX_COMPARISONS,
            wildcard_comparisons: MAX_WILDCARD_COMPARISONS,
        }
    }

    /// Takes rules, if enough are left.
    pub(super) fn take_rules(&mut self, count: usize) -> bool {
        let left = self.rules.checked_sub(count);
        self.rules = left.unwrap_or(self.rules);
        left.is_some()
    }

    /// Takes comparisons, if enough are left. `wildcard` of them are with wildcard rules.
    pub(super) fn take_comparisons(&mut self, all: usize, wildcard: usize) -> bool {
        if all > self.comparisons || wildcard > self.wildcard_comparisons {
            return false;
        }
        self.comparisons -= all;
        self.wildcard_comparisons -= wildcard;
        true
    }
}
