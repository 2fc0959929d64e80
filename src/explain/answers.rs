//! The answers of a robots.txt without their reasons: its rules compared one by one, or compiled.
//!
//! The first answers by a group compare each of its rules with the path. Then its rules are compiled
//! to a rule set in the encoding of a snapshot, and the search is that of
//! [`matcher`](crate::matcher): it reads few rules of many. In each form, the rule with the highest
//! rank decides.

use crate::agent::{Agent, AgentMatch};
use crate::explain::explanation::{matching_length, rule_path};
use crate::matcher::canonical::canonical;
use crate::matcher::packed_rule::PackedRule;
use crate::matcher::rule_set::RuleSet;
use crate::matcher::{Candidate, PathSignature, build};
use crate::profile::Profile;
use crate::robots::compiled_rules::PLAIN_ANSWERS;
use crate::robots::{Group, Robots, RobotsRef, Rule, RuleKind};
use crate::simd::AnyBackend;

impl RobotsRef<'_> {
    /// Whether the agent may fetch `url`, a URL or a bare path with its query. Any other text counts
    /// as the path `/`, or as that from its first `/`, `?` or `;` on. So an agent in the place of the
    /// URL is allowed wherever `/` is: check texts of unknown origin first
    /// ([`is_url_or_path`](crate::judge::is_url_or_path)).
    ///
    /// Only the rules decide: the origin of `url` and the status of the robots.txt play no part.
    /// For a URL, the answer is that of [`explain`](crate::judge::explain) with
    /// [`AgentMatch::Extended`], and that of a [`Judge`](crate::Judge) for an origin with this
    /// robots.txt. The longest matching rule decides, and allow wins between rules of the same
    /// length (RFC 9309 §2.2.2); without a matching rule, the URL is allowed.
    ///
    /// Cost: the agent is compared with each user-agent line. The first eight answers by a group
    /// also compare each of its rules with the path. The next one compiles its rules, which costs as
    /// much as these answers. Later answers read few of them. The compiled rules are kept. Threads
    /// share them, and none waits for another. For many sites, compile a snapshot. Never panics.
    ///
    /// ```
    /// use robosieve::{Profile, RobotsRef};
    /// let robots = RobotsRef::parse(b"user-agent: *\ndisallow: /x\nallow: /x/y", Profile::Google);
    /// assert!(!robots.allows(&"FooBot".parse()?, "/x?page=2"));
    /// assert!(robots.allows(&"FooBot".parse()?, b"https://e.example/x/y/z"));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn allows(&self, agent: &Agent, url: impl AsRef<[u8]>) -> bool {
        self.allows_with(agent, AgentMatch::Extended, url)
    }

    /// [`allows`](Self::allows), with a choice of how the agent is compared with user-agent lines.
    ///
    /// ```
    /// use robosieve::{AgentMatch, Profile, RobotsRef};
    /// let robots = RobotsRef::parse(b"user-agent: MJ12bot\ndisallow: /", Profile::Google);
    /// let agent = "MJ12bot".parse()?;
    /// assert!(!robots.allows_with(&agent, AgentMatch::Extended, "/"));
    /// assert!(robots.allows_with(&agent, AgentMatch::Google, "/"));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn allows_with(&self, agent: &Agent, how: AgentMatch, url: impl AsRef<[u8]>) -> bool {
        allow(self.groups_of(agent, how), url.as_ref(), self.profile())
    }
}

impl Robots {
    /// Whether the agent may fetch `url`, a URL or a bare path with its query: the answer of
    /// [`RobotsRef::allows`] of [`parsed`](Self::parsed). Clones share the compiled rules.
    ///
    /// ```
    /// use robosieve::{Profile, Robots};
    /// let robots = Robots::parse("user-agent: *\ndisallow: /x\nallow: /x/y", Profile::Google);
    /// assert!(!robots.allows(&"FooBot".parse()?, "https://e.example/x"));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn allows(&self, agent: &Agent, url: impl AsRef<[u8]>) -> bool {
        self.parsed().allows(agent, url)
    }
}

/// Whether these groups together allow `url`.
pub(crate) fn allow<'g>(
    groups: impl Iterator<Item = &'g Group<'g>>,
    url: &[u8],
    profile: Profile,
) -> bool {
    let path = rule_path(url, profile);
    allows_path(groups, &path, profile, &mut PathSignature::new())
}

/// Whether these groups together allow a path in normal form.
pub(crate) fn allows_path<'g>(
    groups: impl Iterator<Item = &'g Group<'g>>,
    path: &[u8],
    profile: Profile,
    signature: &mut PathSignature,
) -> bool {
    if profile.always_allows(path) {
        return true;
    }
    let ranks = groups.map(|group| highest_rank(group, path, signature));
    PackedRule::rank_allows(ranks.max().unwrap_or(0))
}

/// The rank of the highest rule of a group that matches the path; 0 if none does.
fn highest_rank(group: &Group<'_>, path: &[u8], signature: &mut PathSignature) -> u32 {
    let set = group.compiled().for_answer(|| compile(group));
    let found = set.and_then(|set| {
        let set = RuleSet::decode(set, 0).ok()?;
        let candidate = Candidate::new(path);
        let rank = set.highest(candidate, signature, AnyBackend::detect());
        rank.ok()
    });
    // A set that contradicts itself would be a defect of this library; the rules are right then.
    found.unwrap_or_else(|| compare_each(group.rules(), path))
}

/// [`highest_rank`] by the rules as they were parsed.
fn compare_each(rules: &[Rule<'_>], path: &[u8]) -> u32 {
    let mut highest = 0;
    for rule in rules {
        // A rule below the highest so far need not be compared. The further patterns of a rule have
        // ranks of their own.
        if rule.further().is_empty() && rank(rule, rule.pattern().priority()) <= highest {
            continue;
        }
        if let Some(length) = matching_length(rule, path).filter(|&length| length > 0) {
            highest = highest.max(rank(rule, length));
        }
    }
    highest
}

/// The [rank](PackedRule::rank) of a rule that matches with a length.
fn rank(rule: &Rule<'_>, length: usize) -> u32 {
    2 * length as u32 + u32::from(rule.kind() == RuleKind::Allow)
}

/// The rules of a group as a rule set. They are not reduced, because an agent may obey other groups
/// with them. Empty, which is not a rule set, for more rules than a robots.txt can have.
fn compile(group: &Group<'_>) -> Box<[u8]> {
    let encoded = build::encode(&canonical(&[group.rules()]));
    encoded.unwrap_or_default().into_boxed_slice()
}

/// Compiles the rules of a group at once, if they shall answer more often than rules are compared.
pub(crate) fn prepare(group: &Group<'_>, answers: usize) {
    if answers > PLAIN_ANSWERS as usize {
        group.compiled().for_many_answers(|| compile(group));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "user-agent: *\ndisallow: /x\nuser-agent: b\nuser-agent: c\ndisallow: /y\n";

    /// Which of the groups are compiled.
    fn compiled(robots: &RobotsRef<'_>) -> Vec<bool> {
        let groups = robots.groups().iter();
        groups
            .map(|group| group.compiled().get().is_some())
            .collect()
    }

    /// Asks until the answers of a group are one short of the one that compiles it.
    fn ask_plainly(robots: &RobotsRef<'_>, agent: &str) {
        let agent = agent.parse().unwrap();
        for _ in 0..PLAIN_ANSWERS {
            robots.allows(&agent, "/x");
        }
    }

    #[test]
    fn a_group_is_compiled_after_some_answers() {
        let owned = Robots::parse(BODY, Profile::Google);
        let robots = owned.parsed();
        ask_plainly(robots, "a");
        assert_eq!(compiled(robots), [false, false]);
        robots.allows(&"a".parse().unwrap(), "/x");
        assert_eq!(compiled(robots), [true, false]);
        assert_eq!(compiled(owned.clone().parsed()), [true, false]);
        assert_eq!(compiled(&robots.clone()), [false, false]);
    }

    /// However many agents were asked about, and in which order.
    #[test]
    fn agents_of_a_group_share_its_rules() {
        let robots = RobotsRef::parse(BODY.as_bytes(), Profile::Google);
        for number in 0..100_u8 {
            let name = format!("z{}", char::from(b'a' + number % 26));
            assert!(!robots.allows(&name.parse().unwrap(), "/x"));
        }
        assert_eq!(compiled(&robots), [true, false]);
        ask_plainly(&robots, "b");
        assert!(!robots.allows(&"c".parse().unwrap(), "/y"));
        assert_eq!(compiled(&robots), [true, true]);
    }

    /// In the first group alone, neither the allow nor the second rule would change a verdict.
    #[test]
    fn groups_of_one_agent_are_compiled_whole() {
        let body = b"user-agent: a\nallow: /x/y\ndisallow: /x/y/z\ndisallow: /x/y/z/1\n\
            user-agent: a\ndisallow: /x\nallow: /x/y/z/";
        let robots = RobotsRef::parse(body, Profile::Google);
        let agent = "a".parse().unwrap();
        for _ in 0..3 * PLAIN_ANSWERS {
            assert!(robots.allows(&agent, "/x/y"));
            assert!(!robots.allows(&agent, "/x/z"));
            assert!(robots.allows(&agent, "/x/y/z/2"));
            assert!(!robots.allows(&agent, "/x/y/z/1"));
        }
        assert_eq!(compiled(&robots), [true, true]);
    }
}
