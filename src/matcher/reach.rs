//! How much a set of rules refuses: nothing, something, or everything.
//!
//! For each rule one path is judged that it matches and that is spelled by it alone: where the rule has a `*`, and behind its end, stands
//! a NUL byte, which no rule can contain. Another rule that matches this path too has a `*` for each NUL, and so matches whatever the
//! rule matches. So if the path is not refused, no path that the rule matches is refused by this rule; if it is, one is known. The same holds for allows. What is
//! decided here is exact, then, and takes one judgement a rule at most; the first ones nearly always settle it.

use super::hot::HotSets;
use super::rules::Seen;
use super::subject::Subject;
use crate::error::Result;
use crate::profile::Profile;
use crate::simd::AnyMachine;
use crate::snapshot::listing::ListedRule;
use crate::snapshot::ruleset::Rules;
use crate::snapshot::view::View;
use serde::Serialize;

/// How much of an origin is refused to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// No URL is refused.
    Not,
    /// Some URL is refused, and one beside `/robots.txt` is allowed.
    Partly,
    /// Every URL is refused, but perhaps `/robots.txt`.
    Wholly,
}

impl Reach {
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

/// Rules that are tried. Only a hostile file has so many of which none does anything; it counts as refusing something.
const MAX_TRIED: usize = 10_000;

/// How much the rules at a place refuse.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
pub(crate) fn reach(
    view: &View<'_>,
    profile: Profile,
    (place, rules): (u32, &Rules<'_>),
    hot: &mut HotSets,
) -> Result<Reach> {
    let mut search = Search { view, profile, place, rules, refused: false, allowed: false };
    // A path that no rule spells out: refused only by a rule that matches all paths.
    search.look(&[b'/', ANY], hot)?;
    let mut tried = 0;
    view.each_rule(rules, |rule| {
        // A rule can only show what it says.
        if if rule.allow { search.allowed } else { search.refused } {
            return Ok(true);
        }
        tried += 1;
        for path in witnesses(&rule) {
            search.look(&path, hot)?;
        }
        Ok(!search.is_settled() && tried < MAX_TRIED)
    })?;
    Ok(match (search.refused, search.allowed) {
        (true, false) if tried < MAX_TRIED => Reach::Wholly,
        (false, _) if tried < MAX_TRIED => Reach::Not,
        _ => Reach::Partly,
    })
}

struct Search<'r, 'a> {
    view: &'r View<'a>,
    profile: Profile,
    place: u32,
    rules: &'r Rules<'a>,
    /// Whether a refused path is known, and an allowed one.
    refused: bool,
    allowed: bool,
}

impl Search<'_, '_> {
    fn is_settled(&self) -> bool {
        self.refused && self.allowed
    }

    fn look(&mut self, path: &[u8], hot: &mut HotSets) -> Result<()> {
        let is_robots_txt = path == b"/robots.txt";
        if is_robots_txt && self.profile == Profile::Rfc9309 {
            return Ok(());
        }
        let subject = (Subject::new(path), &mut Seen::new());
        if self.view.allows((self.place, self.rules), subject, hot, AnyMachine::detect())? {
            self.allowed |= !is_robots_txt;
        } else {
            self.refused = true;
        }
        Ok(())
    }
}

/// The paths that a rule alone spells: one, or two if it begins with `*`, which may be empty only if what follows begins with `/`. (Of `*` itself
/// the snapshot keeps the empty text.)
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
