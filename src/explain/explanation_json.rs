//! Explanations by one robots.txt as JSON objects. docs/CHECK.md documents the keys: programs rely
//! on them.

use crate::agent::{Agent, AgentMatch};
use crate::explain::explanation::{Explanation, RuleLine, explain};
use crate::explain::reason::Reason;
use crate::explain::verdict::Verdict;
use crate::preferences::explain_preferences;
use crate::robots::{BodyFacts, LooksLike, RobotsRef};
use serde_json::{Map, Value, json};

impl Explanation {
    /// The keys `path`, `group`, `rule`, `losers` and `not_matching` of `docs/CHECK.md`. With
    /// `all`, `losers` also has the rules that do not match.
    pub fn to_json(&self, all: bool) -> Map<String, Value> {
        rules_json(Some(self).filter(|_| self.verdict != Verdict::Invalid), all)
    }
}

/// A robots.txt without a snapshot, whose verdicts are explained.
#[derive(Clone, Debug)]
pub struct ExplainedRobots<'r> {
    robots: &'r RobotsRef<'r>,
    reason: Reason,
    facts: BodyFacts,
}

impl<'r> ExplainedRobots<'r> {
    /// The rules, why they hold ([`Reason::Rules`], or the kind of response that they stand for),
    /// and the facts about the body of the site.
    pub fn new(robots: &'r RobotsRef<'r>, reason: Reason, facts: BodyFacts) -> Self {
        Self {
            robots,
            reason,
            facts,
        }
    }

    /// The explanation of the verdict on a URL as a JSON object with the keys of `docs/CHECK.md`,
    /// those of `check --robots --json`. The key `file` is null.
    ///
    /// Under another reason than [`Reason::Rules`], the text is not the site's, so facts, rules and
    /// group are null. Bytes that are not UTF-8 become U+FFFD. With `all`, `losers` also has the
    /// rules that do not match. Texts of the site are as it wrote them, so escape control
    /// characters before you print them to a terminal.
    ///
    /// ```
    /// use robosieve::judge::{ExplainedRobots, Reason};
    /// use robosieve::robots::BodyFacts;
    /// use robosieve::{AgentMatch, Profile, RobotsRef};
    /// let body = b"user-agent: *\ndisallow: /x";
    /// let robots = RobotsRef::parse(body, Profile::Google);
    /// let explained = ExplainedRobots::new(&robots, Reason::Rules, BodyFacts::of(body));
    /// let json = explained.to_json(&"FooBot".parse()?, AgentMatch::Extended, b"/x/1", false);
    /// assert_eq!((&json["verdict"], &json["rule"]["line"]), (&"disallowed".into(), &2.into()));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn to_json(&self, agent: &Agent, how: AgentMatch, url: &[u8], all: bool) -> Value {
        let explanation = explain(self.robots, agent, how, url);
        let verdict = explanation.verdict;
        let mut found = explain_preferences(self.robots, agent, how, url);
        if verdict == Verdict::Disallowed {
            found.preferences = found.preferences.of_refused_url();
        }
        let is_invalid = verdict == Verdict::Invalid;
        let is_of_site = self.reason == Reason::Rules;
        let by_rules = Some(&explanation).filter(|_| is_of_site && !is_invalid);
        let mut object = rules_json(by_rules, all);
        let basis = if is_invalid {
            Reason::NotAUrl
        } else {
            self.reason
        };
        let facts = is_of_site.then(|| self.facts.to_json(None));
        object.extend([
            ("url".to_owned(), String::from_utf8_lossy(url).into()),
            ("agent".to_owned(), agent.label().into()),
            ("verdict".to_owned(), verdict.name().into()),
            ("basis".to_owned(), basis.name().into()),
            ("origin".to_owned(), Value::Null),
            ("robots".to_owned(), facts.into()),
            ("preferences".to_owned(), found.to_json()),
        ]);
        object.into()
    }
}

impl BodyFacts {
    /// The facts as the JSON object `robots` of `docs/CHECK.md`, with the name of the file.
    ///
    /// ```
    /// use robosieve::robots::BodyFacts;
    /// let json = BodyFacts::of(b"<!DOCTYPE html>").to_json(None);
    /// assert_eq!((&json["bytes"], &json["looks_like"]), (&15.into(), &"html".into()));
    /// ```
    pub fn to_json(&self, file: Option<&str>) -> Value {
        json!({
            "file": file, "bytes": self.bytes, "ignored_bytes": self.ignored_bytes,
            "ignored_from_line": self.ignored_from,
            "looks_like": self.looks_like.map(LooksLike::name),
        })
    }
}

/// The keys of an [`Explanation`]; without one, no rules decide.
pub(crate) fn rules_json(explanation: Option<&Explanation>, all: bool) -> Map<String, Value> {
    // Every key is always there, so that a reader of the JSON need not test for it.
    Map::from_iter([
        (
            "path".to_owned(),
            explanation
                .map(|explanation| explanation.path.as_str())
                .into(),
        ),
        ("group".to_owned(), explanation.and_then(group_json).into()),
        (
            "rule".to_owned(),
            explanation
                .and_then(|explanation| explanation.deciding.as_ref())
                .map(rule_json)
                .into(),
        ),
        (
            "losers".to_owned(),
            explanation
                .map_or(Vec::new(), |explanation| losers_json(explanation, all))
                .into(),
        ),
        (
            "not_matching".to_owned(),
            explanation.map_or(0, not_matching).into(),
        ),
    ])
}

/// The number of rules that do not match.
fn not_matching(explanation: &Explanation) -> usize {
    explanation
        .losers
        .iter()
        .filter(|loser| !loser.rejection.is_match())
        .count()
}

/// The group or groups of the agent; `None` if there is none.
fn group_json(explanation: &Explanation) -> Option<Value> {
    (!explanation.agent_lines.is_empty())
        .then(|| json!({ "name": explanation.named, "lines": explanation.agent_lines }))
}

fn rule_json(rule: &RuleLine) -> Value {
    json!({
        "line": rule.line, "text": rule.text, "kind": rule.kind.name(), "pattern": rule.pattern, "length": rule.length,
    })
}

fn losers_json(explanation: &Explanation, all: bool) -> Vec<Value> {
    let shown = explanation
        .losers
        .iter()
        .filter(|loser| all || loser.rejection.is_match());
    let mut losers = Vec::new();
    for loser in shown {
        let mut object = rule_json(&loser.rule);
        object["reason"] = loser.rejection.name().into();
        losers.push(object);
    }
    losers
}
