//! The rules of a packed set one after the other, for those who report on rules rather than match paths.

use crate::error::Result;
use crate::matcher::packed_rule::PackedRule;
use crate::matcher::prefix_automaton::inline_text;
use crate::matcher::rule_set::{RuleSet, Rules};
use crate::snapshot::view::View;

/// A rule as a snapshot holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedRule<'p> {
    /// Its path in normal form, without the final `$` and without stars at its end; every `*` is the wildcard.
    pub pattern: &'p [u8],
    /// Its path ends in `$`.
    pub anchored: bool,
    pub allow: bool,
}

impl<'p> ListedRule<'p> {
    fn new(pattern: &'p [u8], rule: &PackedRule) -> Self {
        Self { pattern, anchored: rule.anchored, allow: rule.allow }
    }
}

impl View<'_> {
    /// Calls `each` with all rules, those of a union set by set, until it says that it has seen enough (`false`).
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) where the bytes contradict each other; what `each` gives.
    pub(crate) fn each_rule(
        &self,
        rules: &Rules<'_>,
        mut each: impl FnMut(ListedRule<'_>) -> Result<bool>,
    ) -> Result<()> {
        match rules {
            Rules::Set(set) => each_of_set(set, &mut each).map(drop),
            Rules::Union(places) => {
                for place in *places {
                    if !each_of_set(&self.rule_set(u32::from_le_bytes(*place))?, &mut each)? {
                        break;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Whether `each` wants more.
fn each_of_set(set: &RuleSet<'_>, each: &mut impl FnMut(ListedRule<'_>) -> Result<bool>) -> Result<bool> {
    for (word, rule) in set.packed_rules() {
        let text;
        let pattern = match word.filter(|_| rule.is_inline()) {
            Some(word) => {
                text = inline_text(word, rule.len);
                &text
            }
            None => set.pattern(&rule)?,
        };
        if !each(ListedRule::new(pattern, &rule))? {
            return Ok(false);
        }
    }
    Ok(true)
}
