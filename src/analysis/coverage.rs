//! How much a set of rules refuses: nothing, something, or everything.
//!
//! The method is exact, and judges at most a few paths per rule; the first nearly always decide. Each
//! rule has a *witness*: a path that it matches and no other rule spells out. In the place of each
//! `*`, and at the end, the witness has a NUL byte, which no rule can contain. Another rule that
//! matches the witness has a `*` for each NUL, so it matches whatever the rule matches. If the witness
//! of a disallow is allowed, then no path is refused by that rule; if it is refused, a refused path is
//! known. The same holds for allows.

use crate::error::Result;
use crate::judge::path::allows;
use crate::matcher::rule_set::Rules;
use crate::matcher::{Candidate, PathSignature, RuleCache};
use crate::profile::Profile;
use crate::simd::AnyBackend;
use crate::snapshot::listing::ListedRule;
use crate::snapshot::view::View;
use serde::Serialize;

/// How much of an origin is refused to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// No URL is refused.
    Not,
    /// Some URL is refused, and one other than `/robots.txt` is allowed.
    Partly,
    /// Every URL is refused, except possibly `/robots.txt`.
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
}

/// Stands for any text: a NUL ends a line of a robots.txt, so no rule has one.
const ANY: u8 = 0;

/// The rules that are tried. Only a hostile file has more that decide nothing; it counts as refusing
/// something.
const MAX_TRIED: usize = 10_000;

/// How much the rules at a place refuse.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each other.
pub(crate) fn coverage(
    view: &View<'_>,
    profile: Profile,
    place: u32,
    rules: &Rules<'_>,
    cache: &mut RuleCache,
) -> Result<Coverage> {
    let mut search = Witnesses { view, profile, place, rules, refused: false, allowed: false };
    // A path that no rule spells out: refused only by a rule that matches all paths.
    search.judge(&[b'/', ANY], cache)?;
    let mut tried = 0;
    view.each_rule(rules, |rule| {
        // A rule can only show what it says.
        if if rule.allow { search.allowed } else { search.refused } {
            return Ok(true);
        }
        tried += 1;
        for path in witnesses(&rule) {
            search.judge(&path, cache)?;
        }
        Ok(!search.is_settled() && tried < MAX_TRIED)
    })?;
    Ok(match (search.refused, search.allowed) {
        (true, false) if tried < MAX_TRIED => Coverage::Wholly,
        (false, _) if tried < MAX_TRIED => Coverage::Not,
        _ => Coverage::Partly,
    })
}

struct Witnesses<'r, 'a> {
    view: &'r View<'a>,
    profile: Profile,
    place: u32,
    rules: &'r Rules<'a>,
    /// Whether a refused path is known, and an allowed one.
    refused: bool,
    allowed: bool,
}

impl Witnesses<'_, '_> {
    fn is_settled(&self) -> bool {
        self.refused && self.allowed
    }

    fn judge(&mut self, path: &[u8], cache: &mut RuleCache) -> Result<()> {
        let is_robots_txt = path == b"/robots.txt";
        if is_robots_txt && self.profile == Profile::Rfc9309 {
            return Ok(());
        }
        let (candidate, signature) = (Candidate::new(path), &mut PathSignature::new());
        if allows(self.view, self.place, self.rules, candidate, signature, cache, AnyBackend::detect())? {
            self.allowed |= !is_robots_txt;
        } else {
            self.refused = true;
        }
        Ok(())
    }
}

/// The witnesses of a rule: one, or two if it begins with a `*` before a `/`, as the `*` may be empty.
/// (The rule `*` is stored with an empty pattern.)
fn witnesses(rule: &ListedRule<'_>) -> impl Iterator<Item = Vec<u8>> {
    let star = rule.pattern.first() != Some(&b'/');
    let tail = &rule.pattern[rule.pattern.iter().take_while(|b| **b == b'*').count()..];
    let first = if star { spelled(&[b'/', ANY], tail, rule.anchored) } else { spelled(b"", tail, rule.anchored) };
    let second = (star && tail.first() == Some(&b'/')).then(|| spelled(b"", tail, rule.anchored));
    [Some(first), second].into_iter().flatten()
}

fn spelled(start: &[u8], tail: &[u8], anchored: bool) -> Vec<u8> {
    let mut path = start.to_vec();
    path.extend(tail.iter().map(|b| if *b == b'*' { ANY } else { *b }));
    if !anchored {
        path.push(ANY);
    }
    path
}
