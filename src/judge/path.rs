//! A path of a known origin to verdicts: normalise it, and match it with the rules of the agents.

use super::agent_groups::RuleGroup;
use super::engine::{Engine, Matching};
use super::origin_cache::{OriginPolicy, OriginState, SingleRuleSet};
use super::verdicts_ref::{VerdictBits, VerdictsRef};
use crate::error::Result;
use crate::explain::Verdict;
use crate::matcher::packed_rule::PackedRule;
use crate::matcher::rule_set::Rules;
use crate::matcher::{Candidate, PathSignature, RuleCache};
use crate::simd::Backend;
use crate::snapshot::view::View;
use crate::url::escape::normalize_path;
use std::borrow::Cow;

impl Engine<'_> {
    /// The verdicts on the rest of a URL after its origin: nothing, a path, or a path that lacks
    /// its `/`, with or without a fragment.
    #[inline(always)]
    pub(super) fn judge_rest<'a>(
        &self,
        rest: &[u8],
        origin: &'a OriginState<'_>,
        matching: &'a mut Matching,
        backend: impl Backend,
    ) -> Result<VerdictsRef<'a>> {
        // A plain path is its own normal form, as nearly all are.
        if rest.first() == Some(&b'/') && backend.is_plain(rest) {
            return self.judge_path(rest, origin, matching, backend);
        }
        self.judge_odd(rest, origin, matching, backend)
    }

    /// As [`judge_rest`](Self::judge_rest), of text that need not be in normal form. Not inlined:
    /// it is rare.
    #[inline(never)]
    fn judge_odd<'a>(
        &self,
        rest: &[u8],
        origin: &'a OriginState<'_>,
        matching: &'a mut Matching,
        backend: impl Backend,
    ) -> Result<VerdictsRef<'a>> {
        self.judge_path(&self.normal_path(rest), origin, matching, backend)
    }

    /// The rest of a URL after its origin as a path in normal form.
    pub(super) fn normal_path<'p>(&self, rest: &'p [u8]) -> Cow<'p, [u8]> {
        let path = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
        match path.first() {
            None => Cow::Borrowed(b"/"),
            Some(b'/') => normalize_path(path, self.profile),
            Some(_) => {
                Cow::Owned(normalize_path(&[b"/", path].concat(), self.profile).into_owned())
            }
        }
    }

    /// The verdicts on a path in normal form.
    #[inline(always)]
    pub(super) fn judge_path<'a>(
        &self,
        path: &[u8],
        origin: &'a OriginState<'_>,
        matching: &'a mut Matching,
        backend: impl Backend,
    ) -> Result<VerdictsRef<'a>> {
        let OriginPolicy::OneSet(one) = &origin.policy else {
            return self.judge_by_groups(path, origin, matching, backend);
        };
        let is_allowed = self.allows_path(path, one, &mut matching.rules, backend)?;
        Ok(origin.verdicts(one.answer(is_allowed)))
    }

    /// Whether the one rule set of an origin lets a path in normal form be fetched.
    #[inline(always)]
    pub(super) fn allows_path(
        &self,
        path: &[u8],
        one: &SingleRuleSet,
        rules: &mut RuleCache,
        backend: impl Backend,
    ) -> Result<bool> {
        if self.profile.always_allows(path) {
            return Ok(true);
        }
        rules.allows(
            self.view.rule_sets(),
            one.offset,
            Candidate::new(path),
            &mut PathSignature::new(),
            backend,
        )
    }

    /// Whether the one rule set of an origin lets the rest of a URL after its origin be fetched.
    /// Not inlined: it is for the few that need not be in normal form.
    #[inline(never)]
    pub(super) fn allows_odd(
        &self,
        rest: &[u8],
        one: &SingleRuleSet,
        rules: &mut RuleCache,
        backend: impl Backend,
    ) -> Result<bool> {
        self.allows_path(&self.normal_path(rest), one, rules, backend)
    }

    /// The verdicts on a path if the agents obey several rule sets, or none.
    #[inline(never)]
    fn judge_by_groups<'a>(
        &self,
        path: &[u8],
        origin: &'a OriginState<'_>,
        matching: &'a mut Matching,
        backend: impl Backend,
    ) -> Result<VerdictsRef<'a>> {
        let answer = match &origin.policy {
            _ if self.profile.always_allows(path) => VerdictBits::Same(Verdict::Allowed),
            OriginPolicy::Uniform(verdict) => VerdictBits::Same(*verdict),
            OriginPolicy::AllButRobots => VerdictBits::Same(Verdict::Disallowed),
            OriginPolicy::OldRules => {
                let allowed = &mut matching.allowed;
                match &origin.old_rules {
                    Some(rules) => rules.judge(path, allowed),
                    None => allowed.fill(0),
                }
                VerdictBits::of_words(allowed)
            }
            OriginPolicy::ByOldGroups => {
                let view = &self.old_view;
                // The rule cache is for the newest rules: few paths reach the same old ones.
                allowed_by_groups(
                    origin,
                    path,
                    &mut matching.allowed,
                    |group, path, signature| {
                        let rank = match &group.rules {
                            Rules::Set(set) => set.highest(path, signature, backend)?,
                            Rules::Union(sets) => {
                                highest_of_union(view, sets, path, signature, backend)?
                            }
                        };
                        Ok(PackedRule::rank_allows(rank))
                    },
                )?
            }
            OriginPolicy::OneSet(_) | OriginPolicy::ByGroups => {
                let Matching { rules, allowed } = matching;
                let view = &self.view;
                allowed_by_groups(origin, path, allowed, |group, path, signature| {
                    allows(
                        view,
                        group.offset,
                        &group.rules,
                        path,
                        signature,
                        rules,
                        backend,
                    )
                })?
            }
        };
        Ok(origin.verdicts(answer))
    }
}

/// The agents whose group of the origin's state lets a path be fetched, and those without a group.
#[inline(always)]
fn allowed_by_groups<'a, 's>(
    origin: &OriginState<'s>,
    path: &[u8],
    allowed: &'a mut [u64],
    mut allows: impl FnMut(&RuleGroup<'s>, Candidate<'_>, &mut PathSignature) -> Result<bool>,
) -> Result<VerdictBits<'a>> {
    // The signature is computed when the first rule set needs it, and then shared.
    let candidate = Candidate::new(path);
    let mut signature = PathSignature::new();
    allowed.copy_from_slice(origin.groups.without_group());
    for (group, agents) in origin.groups.iter() {
        if allows(group, candidate, &mut signature)? {
            allowed
                .iter_mut()
                .zip(agents)
                .for_each(|(word, agents)| *word |= agents);
        }
    }
    Ok(VerdictBits::of_words(allowed))
}

/// Whether the rules at an offset of the snapshot let a path be fetched. What no rule matches is
/// allowed (RFC 9309 §2.2.2).
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each other.
#[inline(always)]
pub(crate) fn allows<'a>(
    view: &View<'a>,
    offset: u32,
    rules: &Rules<'a>,
    candidate: Candidate<'_>,
    signature: &mut PathSignature,
    cache: &mut RuleCache,
    backend: impl Backend,
) -> Result<bool> {
    match rules {
        Rules::Set(_) => cache.allows(view.rule_sets(), offset, candidate, signature, backend),
        Rules::Union(offsets) => highest_of_union(view, offsets, candidate, signature, backend)
            .map(PackedRule::rank_allows),
    }
}

/// The highest rank of several rule sets that are judged together.
#[inline(never)]
fn highest_of_union<'a>(
    view: &View<'a>,
    offsets: &'a [[u8; 4]],
    candidate: Candidate<'_>,
    signature: &mut PathSignature,
    backend: impl Backend,
) -> Result<u32> {
    view.union_sets(offsets).try_fold(0, |rank, set| {
        Ok(rank.max(set?.highest(candidate, signature, backend)?))
    })
}
