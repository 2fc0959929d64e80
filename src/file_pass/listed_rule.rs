//! The rules of a stored rule set, one by one: for statistics, which read rules and match nothing.

use crate::error::Result;
use crate::matcher::packed_rule::PackedRule;
use crate::matcher::rule_set::{RuleSet, Rules};
use crate::snapshot::Snapshot;
use crate::snapshot::view::View;
use std::ops::ControlFlow;

/// A rule of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedRule<'p> {
    /// Its path in normal form, without a final `$` and without trailing stars. Each `*` is a
    /// wildcard.
    pub pattern: &'p [u8],
    /// Whether its path ends with `$`.
    pub anchored: bool,
    pub allow: bool,
}

impl<'p> ListedRule<'p> {
    fn new(pattern: &'p [u8], rule: &PackedRule) -> Self {
        Self {
            pattern,
            anchored: rule.anchored,
            allow: rule.allow,
        }
    }
}

/// Calls `visit` with each rule of the rule set or union at an offset of the snapshot, until it
/// breaks.
///
/// # Errors
/// As [`visit_rules`].
pub(crate) fn visit_rule_set(
    snapshot: &Snapshot,
    offset: u32,
    visit: impl FnMut(ListedRule<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let view = snapshot.view();
    visit_rules(&view, &view.rules(offset)?, visit)
}

/// Calls `visit` with each rule, those of a union set by set, until it breaks.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes contradict each other; errors of `visit`.
pub(super) fn visit_rules<'a>(
    view: &View<'a>,
    rules: &Rules<'a>,
    mut visit: impl FnMut(ListedRule<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    match rules {
        Rules::Set(set) => visit_set(set, &mut visit).map(drop),
        Rules::Union(offsets) => {
            for set in view.union_sets(offsets) {
                if visit_set(&set?, &mut visit)?.is_break() {
                    break;
                }
            }
            Ok(())
        }
    }
}

fn visit_set(
    set: &RuleSet<'_>,
    visit: &mut impl FnMut(ListedRule<'_>) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    for rule in set.rules() {
        let (pattern, rule) = rule?;
        if visit(ListedRule::new(&pattern, &rule))?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
