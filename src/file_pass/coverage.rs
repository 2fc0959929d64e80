//! How much of an origin a set of rules disallows: nothing, some of it, or everything.
//!
//! Enumerating paths is impossible, so the method judges one *witness* per rule: a path that stands
//! for all paths that the rule matches. The witness has a NUL byte for each `*`, and at the end of
//! a rule without `$`. No rule contains a NUL, so another rule that matches the witness has a `*`
//! for each NUL, and matches whatever the first rule matches.
//!
//! * If the witness of a disallow rule is disallowed, then a disallowed path is known.
//! * If it is allowed, then another rule overrides this one everywhere, and it disallows no path.
//!
//! The same holds for allow rules. The result is exact. The search ends as soon as a disallowed and
//! an allowed path are known, which nearly always takes one or two witnesses. Most files refer to the
//! same few rule sets, so a cache keeps their coverages.

use crate::error::Result;
use crate::explain::answers::allows_path;
use crate::file_pass::listed_rule::{ListedRule, visit_rules};
use crate::judge::AgentGroup;
use crate::judge::path::allows;
use crate::matcher::canonical::{canonical, reduce};
use crate::matcher::rule_set::Rules;
use crate::matcher::{Candidate, PathSignature, RuleCache};
use crate::profile::Profile;
use crate::robots::{Group, Rule, RuleKind};
use crate::simd::AnyBackend;
use crate::snapshot::Snapshot;
use crate::snapshot::format::NONE;
use crate::snapshot::view::View;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// How much of an origin is disallowed to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Coverage {
    /// No URL is disallowed.
    Not,
    /// Some URL is disallowed, and one other than `/robots.txt` is allowed.
    Partly,
    /// Every URL is disallowed, except possibly `/robots.txt`.
    Wholly,
}

impl Coverage {
    /// The word: `not`, `partly`, `wholly`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::Partly => "partly",
            Self::Wholly => "wholly",
        }
    }

    /// The letter in tables: `-` for not, `P` for partly, `W` for wholly.
    pub fn letter(self) -> char {
        match self {
            Self::Not => '-',
            Self::Partly => 'P',
            Self::Wholly => 'W',
        }
    }

    /// A description, such as `disallowed wholly`.
    pub fn description(self) -> &'static str {
        match self {
            Self::Not => "nothing disallowed",
            Self::Partly => "disallowed partly",
            Self::Wholly => "disallowed wholly",
        }
    }
}

/// The part of the protocol that decides about an agent at an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecidedBy {
    /// A group that names the agent, or an agent of its chain.
    Name,
    /// The global groups, `User-agent: *`.
    Global,
    /// Nothing: the robots.txt has neither a group that names the agent nor a global one.
    NoGroup,
}

impl DecidedBy {
    /// The part that decides about an agent by its rules in a robots.txt.
    pub(super) fn of_group(offset: AgentGroup) -> Self {
        match offset {
            AgentGroup { is_named: true, .. } => Self::Name,
            AgentGroup { offset: NONE, .. } => Self::NoGroup,
            AgentGroup { .. } => Self::Global,
        }
    }
}

/// How much of an origin is disallowed to one agent, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgentCoverage {
    pub coverage: Coverage,
    pub decided_by: DecidedBy,
}

/// The byte of a witness for any text. It ends a line of a robots.txt, so no rule contains it.
const ANY: u8 = 0;

/// The number of rules that are tried at most. Only a hostile file has more rules that settle
/// nothing; it counts as [`Coverage::Partly`].
const MAX_TRIED: usize = 10_000;

/// How much the rules at an offset of the snapshot disallow. Judges one or two paths per rule until
/// the answer is settled.
pub(super) fn coverage(
    view: &View<'_>,
    profile: Profile,
    offset: u32,
    rules: &Rules<'_>,
    cache: &mut RuleCache,
) -> Result<Coverage> {
    let mut search = WitnessSearch::new(profile, |path: &[u8]| {
        allows(
            view,
            offset,
            rules,
            Candidate::new(path),
            &mut PathSignature::new(),
            cache,
            AnyBackend::detect(),
        )
    });
    search.judge_the_rest()?;
    visit_rules(view, rules, |rule| search.visit(&rule))?;
    Ok(search.coverage())
}

/// How much these groups of a parsed robots.txt disallow together, as [`coverage`].
pub(super) fn coverage_of_groups(groups: &[&Group<'_>], profile: Profile) -> Result<Coverage> {
    let rules: Vec<&[Rule<'_>]> = groups.iter().map(|group| group.rules()).collect();
    let mut signature = PathSignature::new();
    let mut search = WitnessSearch::new(profile, |path: &[u8]| {
        let groups = groups.iter().copied();
        Ok(allows_path(groups, path, profile, &mut signature))
    });
    search.judge_the_rest()?;
    for rule in reduce(canonical(&rules)) {
        let rule = ListedRule {
            pattern: &rule.text,
            anchored: rule.anchored,
            allow: rule.kind == RuleKind::Allow,
        };
        if search.visit(&rule)?.is_break() {
            break;
        }
    }
    Ok(search.coverage())
}

/// A search for a disallowed and an allowed path.
struct WitnessSearch<F> {
    profile: Profile,
    /// Whether the rules allow a path.
    allows: F,
    /// Whether a disallowed path is known.
    refused: bool,
    /// Whether an allowed path other than `/robots.txt` is known.
    allowed: bool,
    /// The rules that were tried.
    tried: usize,
}

impl<F: FnMut(&[u8]) -> Result<bool>> WitnessSearch<F> {
    fn new(profile: Profile, allows: F) -> Self {
        Self {
            profile,
            allows,
            refused: false,
            allowed: false,
            tried: 0,
        }
    }

    /// Judges a path that only a rule for all paths matches.
    fn judge_the_rest(&mut self) -> Result<()> {
        self.judge(&[b'/', ANY])
    }

    /// Judges the witnesses of a rule, if they can settle anything.
    fn visit(&mut self, rule: &ListedRule<'_>) -> Result<ControlFlow<()>> {
        // The witness of an allow rule can only show an allowed path, and the reverse.
        let is_known = if rule.allow {
            self.allowed
        } else {
            self.refused
        };
        if is_known {
            return Ok(ControlFlow::Continue(()));
        }
        self.tried += 1;
        for path in witnesses(rule) {
            self.judge(&path)?;
        }
        let is_done = self.refused && self.allowed || self.tried >= MAX_TRIED;
        Ok(if is_done {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }

    /// Judges a path, and records whether it is disallowed or allowed.
    fn judge(&mut self, path: &[u8]) -> Result<()> {
        let is_robots_txt = path == b"/robots.txt";
        if is_robots_txt && self.profile == Profile::Rfc9309 {
            return Ok(());
        }
        if (self.allows)(path)? {
            self.allowed |= !is_robots_txt;
        } else {
            self.refused = true;
        }
        Ok(())
    }

    /// The coverage, once the rules were visited.
    fn coverage(&self) -> Coverage {
        match (self.refused, self.allowed) {
            (true, false) if self.tried < MAX_TRIED => Coverage::Wholly,
            (false, _) if self.tried < MAX_TRIED => Coverage::Not,
            _ => Coverage::Partly,
        }
    }
}

/// The witnesses of a rule: one, or two if it begins with `*/`, as the `*` may match nothing.
fn witnesses(rule: &ListedRule<'_>) -> impl Iterator<Item = Vec<u8>> {
    // The rule `*` is stored with an empty pattern, so it counts as one that begins with a star.
    let begins_with_star = rule.pattern.first() != Some(&b'/');
    let tail = &rule.pattern[rule.pattern.iter().take_while(|b| **b == b'*').count()..];
    let start: &[u8] = if begins_with_star { &[b'/', ANY] } else { b"" };
    let first = witness(start, tail, rule.anchored);
    let second = (begins_with_star && tail.first() == Some(&b'/'))
        .then(|| witness(b"", tail, rule.anchored));
    [Some(first), second].into_iter().flatten()
}

fn witness(start: &[u8], tail: &[u8], anchored: bool) -> Vec<u8> {
    let mut path = start.to_vec();
    path.extend(tail.iter().map(|b| if *b == b'*' { ANY } else { *b }));
    if !anchored {
        path.push(ANY);
    }
    path
}

/// The number of cached coverages. When full, the cache is cleared.
const MAX_CACHED: usize = 1 << 14;

/// Computes coverages, once for each rule set. One per thread.
pub(super) struct CoverageCache<'s> {
    snapshot: &'s Snapshot,
    /// The profile of the snapshot, once it is needed.
    profile: Option<Profile>,
    /// By the offsets of the rule sets.
    coverages: HashMap<u32, Coverage>,
    rules: RuleCache,
}

impl<'s> CoverageCache<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            profile: None,
            coverages: HashMap::new(),
            rules: RuleCache::default(),
        }
    }

    /// How much the rules at an offset disallow. Without rules ([`NONE`]) nothing is disallowed.
    pub(super) fn of_rules(&mut self, offset: u32) -> Result<Coverage> {
        if offset == NONE {
            return Ok(Coverage::Not);
        }
        if let Some(cached) = self.coverages.get(&offset) {
            return Ok(*cached);
        }
        let profile = match self.profile {
            Some(profile) => profile,
            None => *self.profile.insert(self.snapshot.profile()?),
        };
        let view = self.snapshot.view();
        let rules = view.rules(offset)?;
        let found = coverage(&view, profile, offset, &rules, &mut self.rules)?;
        if self.coverages.len() >= MAX_CACHED {
            self.coverages.clear();
        }
        self.coverages.insert(offset, found);
        Ok(found)
    }
}
