//! A judge for one site with the crate `aho-corasick`, the textbook automaton for many literals.
//!
//! The automaton holds the literal prefix of each rule, the part before its first `*`. An anchored,
//! overlapping search from the start of the path reports every prefix in one pass. A reported
//! literal rule matches. For a rule with wildcards, the remaining segments are compared.

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, Input, MatchKind, StartKind};
use robosieve::judge::explain;
use robosieve::robots::RuleKind;
use robosieve::{Agent, AgentMatch, Profile, RobotsRef};

/// The rules of one site, ready to match.
pub(crate) struct PrefixJudge {
    automaton: DFA,
    /// The rule of each pattern of the automaton.
    rules: Vec<Rule>,
}

struct Rule {
    allows: bool,
    priority: usize,
    /// The segments after the literal prefix, separated by `*`; empty for a literal rule.
    segments: Vec<Vec<u8>>,
    anchored: bool,
    prefix_len: usize,
}

impl PrefixJudge {
    /// Builds the automaton from the rules for `agent`, parsed by robosieve.
    pub(crate) fn new(robots: &str, agent: &Agent) -> Self {
        let robots = RobotsRef::parse(robots.as_bytes(), Profile::Google);
        let why = explain(&robots, agent, AgentMatch::Google, b"/");
        let lines = why
            .losers
            .into_iter()
            .map(|loser| loser.rule)
            .chain(why.deciding);
        let (mut prefixes, mut rules) = (Vec::new(), Vec::new());
        for line in lines.filter(|line| !line.pattern.is_empty()) {
            let (text, anchored) = match line.pattern.strip_suffix('$') {
                Some(text) => (text, true),
                None => (line.pattern.as_str(), false),
            };
            let mut segments = text.split('*');
            let prefix = segments.next().unwrap_or_default();
            let segments = segments
                .map(|segment| segment.as_bytes().to_vec())
                .collect();
            let (allows, prefix_len) = (line.kind == RuleKind::Allow, prefix.len());
            prefixes.push(prefix.to_owned());
            rules.push(Rule {
                allows,
                priority: line.pattern.len(),
                segments,
                anchored,
                prefix_len,
            });
        }
        let mut builder = DFA::builder();
        builder
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::Standard);
        Self {
            automaton: builder.build(&prefixes).expect("an automaton"),
            rules,
        }
    }

    /// Whether the path may be fetched: the longest matching rule decides, and allow wins a tie.
    pub(crate) fn allows(&self, path: &[u8]) -> bool {
        let input = Input::new(path).anchored(Anchored::Yes);
        let mut state = OverlappingState::start();
        let mut best = (0, true);
        loop {
            self.automaton
                .try_find_overlapping(&input, &mut state)
                .expect("an anchored search");
            let Some(found) = state.get_match() else {
                return best.1;
            };
            let rule = &self.rules[found.pattern().as_usize()];
            // The states of an automaton also report the suffixes of prefixes.
            if found.start() == 0 && (rule.priority, rule.allows) > best && rule.matches_rest(path)
            {
                best = (rule.priority, rule.allows);
            }
        }
    }
}

impl Rule {
    /// Whether the rule matches a path that begins with its prefix.
    fn matches_rest(&self, path: &[u8]) -> bool {
        let mut rest = &path[self.prefix_len..];
        let Some((last, segments)) = self.segments.split_last() else {
            return !self.anchored || rest.is_empty();
        };
        for segment in segments {
            let Some(at) = find(rest, segment) else {
                return false;
            };
            rest = &rest[at + segment.len()..];
        }
        if self.anchored {
            rest.ends_with(last)
        } else {
            find(rest, last).is_some()
        }
    }
}

fn find(text: &[u8], segment: &[u8]) -> Option<usize> {
    if segment.is_empty() {
        Some(0)
    } else {
        text.windows(segment.len())
            .position(|window| window == segment)
    }
}
