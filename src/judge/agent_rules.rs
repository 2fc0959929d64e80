//! The rules of one robots.txt for one agent, compiled for many URLs.
//!
//! [`RobotsRef::allows`] compares each rule with the path. Here they are a rule set in the encoding
//! of a snapshot, so the search is the one of [`matcher`](crate::matcher): it reads few rules of
//! many.

use crate::agent::{Agent, AgentMatch};
use crate::error::Result;
use crate::explain::rule_path;
use crate::matcher::canonical::{canonical, reduce};
use crate::matcher::packed_rule::PackedRule;
use crate::matcher::rule_set::RuleSet;
use crate::matcher::{Candidate, PathSignature, build};
use crate::profile::Profile;
use crate::robots::{RobotsRef, Rule};
use crate::simd::AnyBackend;

/// The rules that an agent obeys in one robots.txt, compiled for many URLs.
///
/// The answers are those of [`RobotsRef::allows`]. The rules are owned, so they outlive the
/// robots.txt.
///
/// ```
/// use robosieve::judge::AgentRules;
/// use robosieve::{AgentMatch, Profile, RobotsRef};
/// let robots = RobotsRef::parse(b"user-agent: *\ndisallow: /x\nallow: /x/y", Profile::Google);
/// let rules = AgentRules::new(&robots, &"FooBot".parse()?, AgentMatch::Extended)?;
/// assert!(!rules.allows("https://e.example/x/1")?);
/// assert!(rules.allows("/x/y")?);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AgentRules {
    profile: Profile,
    /// A rule set as a snapshot stores it.
    encoded: Vec<u8>,
}

impl AgentRules {
    /// Compiles the rules of the groups that `agent` obeys. Cost: about that of ten answers of
    /// [`RobotsRef::allows`].
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more rules than 500 KiB of a
    /// robots.txt can have, so not for one that was parsed.
    pub fn new(robots: &RobotsRef<'_>, agent: &Agent, how: AgentMatch) -> Result<Self> {
        let (groups, _) = robots.groups_for(agent, how);
        let rules: Vec<&[Rule<'_>]> = groups
            .into_iter()
            .map(|group| robots.groups()[group].rules())
            .collect();
        let profile = robots.profile();
        let encoded = build::encode(&reduce(canonical(&rules)))?;
        Ok(Self { profile, encoded })
    }

    /// Whether the agent may fetch `url`, a URL or a bare path with its query. Other text is judged as
    /// [`RobotsRef::allows`] says.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the compiled rules contradict each
    /// other, which would be a defect of this library.
    pub fn allows(&self, url: impl AsRef<[u8]>) -> Result<bool> {
        let path = rule_path(url.as_ref(), self.profile);
        if self.profile.always_allows(&path) {
            return Ok(true);
        }
        let set = RuleSet::decode(&self.encoded, 0)?;
        let rank = set.highest(
            Candidate::new(&path),
            &mut PathSignature::new(),
            AnyBackend::detect(),
        )?;
        Ok(PackedRule::rank_allows(rank))
    }
}
