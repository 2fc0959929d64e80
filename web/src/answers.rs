//! Questions about one robots.txt and their answers, as JSON objects.

use robosieve::census::SpellCheck;
use robosieve::crawlers::{AgentSet, KnownAgent, add_agents};
use robosieve::judge::{ExplainedRobots, Reason, is_url_or_path};
use robosieve::lint::{Code, Finding, FixOptions, fix, lint};
use robosieve::robots::BodyFacts;
use robosieve::{Agent, AgentMatch, Profile, Robots, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One robots.txt, parsed for both profiles.
pub struct Tester {
    google: Robots,
    rfc9309: Robots,
    facts: BodyFacts,
    body: Vec<u8>,
}

impl Tester {
    /// Parses the body of a robots.txt.
    pub fn new(body: Vec<u8>) -> Self {
        Self {
            google: Robots::parse(&*body, Profile::Google),
            rfc9309: Robots::parse(&*body, Profile::Rfc9309),
            facts: BodyFacts::of(&body),
            body,
        }
    }

    /// Answers a question, an object with the key `ask`:
    ///
    /// * `about`: the registry of crawlers, and its sets.
    /// * `agents`: the agents that the names in `agents` stand for, each once, with the members of
    ///   sets (`@ai`) in place of them; and `warnings` about names that look misspelled. A name that
    ///   is wrong stays, and the answers of `judge` have the error.
    /// * `lint`: the findings, with the keys of `robosieve lint --json`.
    /// * `fix`: the text after all safe fixes, which [`Tester::fixes`] describes.
    /// * `judge`: the answers to each URL of `urls` for each agent of `agents`, with `profile` and
    ///   `agent_match`. An answer has the keys of `robosieve check --robots --json`, and
    ///   `other_profile`, the verdict by the other profile. Instead of that, the answer to a text that
    ///   is not a URL or a path has an `error`, and so has that for a wrong agent, which has no other
    ///   keys than `url` and `agent`.
    ///
    /// Any other text gives an object with the key `error`.
    pub fn answer(&self, question: &[u8]) -> Value {
        let question: Value = match serde_json::from_slice(question) {
            Ok(question) => question,
            Err(err) => return json!({ "error": format!("the question is not JSON: {err}") }),
        };
        match question["ask"].as_str() {
            Some("about") => about(),
            Some("lint") => self.findings(),
            Some("fix") => self.fixes(),
            Some("agents") => self
                .agents(&question)
                .unwrap_or_else(|message| json!({ "error": message })),
            Some("judge") => self
                .judge(&question)
                .unwrap_or_else(|message| json!({ "error": message })),
            _ => json!({ "error": "the key `ask` is `about`, `agents`, `lint`, `fix` or `judge`" }),
        }
    }

    fn findings(&self) -> Value {
        let findings: Vec<Value> = lint(&self.body)
            .iter()
            .map(|finding| finding.to_json())
            .collect();
        json!({ "findings": findings, "robots": self.facts.to_json(None) })
    }

    /// Applies the safe fixes, as `robosieve lint --fix` does, and answers with these keys:
    ///
    /// * `robots`: the fixed text, with one character per byte, from U+0000 to U+00FF. So any bytes
    ///   come back as they are.
    /// * `mended`: the findings of the given text that were fixed, with the keys of `lint`.
    /// * `later`: those that appeared during the fixes and were fixed too. Their lines count in a
    ///   text between the given one and the fixed one.
    /// * `count`: the number of both, of which at most [`MAX_LISTED`] are listed.
    /// * `left`: the number of findings of the fixed text.
    fn fixes(&self) -> Value {
        let fixed = fix(&self.body, &FixOptions::new());
        let found = lint(&self.body);
        let given: BTreeSet<FindingKey> = found.iter().map(finding_key).collect();
        let mut mended = Vec::new();
        let mut later = Vec::new();
        for finding in fixed.mended.iter().take(MAX_LISTED) {
            let list = match given.contains(&finding_key(finding)) {
                true => &mut mended,
                false => &mut later,
            };
            list.push(finding.to_json());
        }
        json!({
            "robots": fixed.body.iter().map(|byte| char::from(*byte)).collect::<String>(),
            "mended": mended,
            "later": later,
            "count": fixed.mended.len(),
            "left": lint(&fixed.body).len(),
        })
    }

    fn agents(&self, question: &Value) -> Result<Value, String> {
        let mut agents: Vec<Agent> = Vec::new();
        let mut labels: Vec<String> = Vec::new();
        for name in texts(&question["agents"], "agents")? {
            let mut named = Vec::new();
            if add_agents(name, &mut named).is_err() {
                labels.push(name.to_owned());
                continue;
            }
            for agent in named {
                if !agents.iter().any(|other| other.is_same(&agent)) {
                    labels.push(agent.label().to_owned());
                    agents.push(agent);
                }
            }
        }
        let mut check = SpellCheck::new(&agents);
        check.add_robots(self.google.parsed());
        let mut warnings = Vec::new();
        for agent in check.finish() {
            if !agent.joined.is_empty() {
                let words = agent.joined.join(", ");
                let label = &agent.label;
                warnings.push(format!(
                    "{label} is not a known agent, but each of its words is; write {words}"
                ));
            }
            warnings.extend(agent.misspelled.iter().map(|name| {
                format!(
                    "The robots.txt does not name {}; did you mean {}?",
                    name.name, name.suggestion
                )
            }));
        }
        Ok(json!({ "agents": labels, "warnings": warnings }))
    }

    fn judge(&self, question: &Value) -> Result<Value, String> {
        let profile = match question["profile"].as_str() {
            Some("google") => Profile::Google,
            Some("rfc9309") => Profile::Rfc9309,
            _ => return Err("the key `profile` is `google` or `rfc9309`".to_owned()),
        };
        let agent_match = match question["agent_match"].as_str() {
            Some("extended") => AgentMatch::Extended,
            Some("google") => AgentMatch::Google,
            _ => return Err("the key `agent_match` is `extended` or `google`".to_owned()),
        };
        let (robots, other) = match profile {
            Profile::Rfc9309 => (&self.rfc9309, &self.google),
            _ => (&self.google, &self.rfc9309),
        };
        let explained = ExplainedRobots::new(robots.parsed(), Reason::Rules, self.facts);
        let mut answers = Vec::new();
        for url in texts(&question["urls"], "urls")? {
            for name in texts(&question["agents"], "agents")? {
                let agent = match one_agent(name) {
                    Ok(agent) => agent,
                    Err(error) => {
                        answers.push(json!({ "url": url, "agent": name, "error": error }));
                        continue;
                    }
                };
                let url = url.as_bytes();
                let mut answer = explained.to_json(&agent, agent_match, url, false);
                if !is_url_or_path(url) {
                    answer["error"] = NO_URL.into();
                    answers.push(answer);
                    continue;
                }
                let allowed = other.parsed().allows_with(&agent, agent_match, url);
                answer["other_profile"] = verdict(allowed).into();
                answers.push(answer);
            }
        }
        Ok(json!({ "answers": answers }))
    }
}

/// The answer to a text without a verdict.
const NO_URL: &str =
    "This is not a URL, such as https://shop.example/cart, and not a path, such as /cart";

/// The most fixed findings that an answer lists. A hostile text has 20,000 of each code.
const MAX_LISTED: usize = 1000;

/// What makes a finding of one text the same as a finding of another.
type FindingKey<'f> = (u32, Code, &'f str);

fn finding_key(finding: &Finding) -> FindingKey<'_> {
    (finding.line, finding.code, &finding.message)
}

/// The agent of a name. The name of a set is an error: the page asks for its members first.
fn one_agent(name: &str) -> Result<Agent, String> {
    if name.starts_with('@') {
        // The message about an unknown set lists the sets.
        let unknown = name.parse::<AgentSet>().err();
        return Err(unknown.map_or("a set of agents".to_owned(), |err| err.to_string()));
    }
    name.parse()
        .map_err(|err: robosieve::Error| err.to_string())
}

fn verdict(allowed: bool) -> &'static str {
    if allowed {
        Verdict::Allowed.name()
    } else {
        Verdict::Disallowed.name()
    }
}

fn texts<'v>(value: &'v Value, key: &str) -> Result<Vec<&'v str>, String> {
    let texts = value
        .as_array()
        .and_then(|texts| texts.iter().map(Value::as_str).collect());
    texts.ok_or_else(|| format!("the key `{key}` is a list of texts"))
}

fn about() -> Value {
    let agents: Vec<Value> = KnownAgent::all()
        .iter()
        .map(|known| {
            json!({
                "token": known.token, "operator": known.operator, "purpose": known.purpose.name(),
            })
        })
        .collect();
    let sets: Vec<Value> = AgentSet::ALL
        .into_iter()
        .map(|set| json!({ "name": set.name(), "members": set.members().count() }))
        .collect();
    json!({ "agents": agents, "sets": sets })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(question: Value) -> Value {
        let body = b"User-agent: *\nDisallow: /a\nAllow: /a/b\n".to_vec();
        Tester::new(body).answer(question.to_string().as_bytes())
    }

    #[test]
    fn answers_have_the_keys_of_check_and_the_other_profile() {
        let answer = judged(json!({
            "ask": "judge", "profile": "google", "agent_match": "extended",
            "agents": ["FooBot", ""], "urls": ["https://e.example/a/b"],
        }));
        let answers = answer["answers"].as_array().unwrap();
        assert_eq!(answers[0]["verdict"], "allowed");
        assert_eq!(answers[0]["rule"]["line"], 3);
        assert_eq!(answers[0]["losers"][0]["reason"], "shorter");
        assert_eq!(answers[0]["other_profile"], "allowed");
        assert!(answers[1]["error"].is_string());
    }

    #[test]
    fn texts_that_are_no_urls_have_no_verdict() {
        let answer = judged(json!({
            "ask": "judge", "profile": "google", "agent_match": "extended", "agents": ["FooBot"],
            "urls": ["cart", "not a url", "mailto:a@b", "/cart", "https://e.example"],
        }));
        let verdicts: Vec<&Value> = answer["answers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|answer| &answer["verdict"])
            .collect();
        assert_eq!(
            verdicts,
            ["invalid", "invalid", "invalid", "allowed", "allowed"]
        );
        let first = &answer["answers"][0];
        assert_eq!(
            (&first["error"], &first["basis"]),
            (&NO_URL.into(), &"not-a-url".into())
        );
        assert_eq!(
            (&first["path"], &first["other_profile"]),
            (&Value::Null, &Value::Null)
        );
    }

    fn answered(body: &[u8], question: &str) -> Value {
        let question = json!({ "ask": question }).to_string();
        Tester::new(body.to_vec()).answer(question.as_bytes())
    }

    /// The bytes of a text with one character per byte.
    fn bytes(text: &Value) -> Vec<u8> {
        let characters = text.as_str().unwrap().chars();
        characters.map(|byte| u8::try_from(byte).unwrap()).collect()
    }

    #[test]
    fn fixes_are_those_of_lint_and_end() {
        let body =
            b"User-agent: *\r\nDisallow: /cart\r\nDisallow: /cart/1 # \xff\r\nDisallow: tmp\r\n";
        let answer = answered(body, "fix");
        let fixed = bytes(&answer["robots"]);
        assert_eq!(fixed, fix(body, &FixOptions::new()).body);
        assert_eq!(
            fixed,
            b"User-agent: *\r\nDisallow: /cart\r\n# \xff\r\nDisallow: tmp\r\n"
        );
        assert_eq!(answer["mended"][0]["line"], 3);
        assert_eq!((&answer["count"], &answer["left"]), (&1.into(), &1.into()));
        assert_eq!(
            answered(&fixed, "lint")["findings"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        let again = answered(&fixed, "fix");
        assert_eq!(
            (bytes(&again["robots"]), &again["count"]),
            (fixed, &0.into())
        );
    }

    #[test]
    fn findings_that_appear_during_fixes_are_listed_apart() {
        // Once they are encoded, line 4 makes line 3 redundant.
        let body = "User-agent: *\nDisallow: /a\nDisallow: /ä/b\nDisallow: /ä\n";
        let answer = answered(body.as_bytes(), "fix");
        let lists = ["mended", "later"].map(|key| answer[key].as_array().unwrap());
        assert_eq!(lists.map(Vec::len), [2, 1]);
        assert_eq!(lists[1][0]["code"], "redundant-rule");
        assert_eq!(answer["count"], 3);
    }

    #[test]
    fn names_of_agents_are_resolved_and_checked() {
        let answer = judged(json!({
            "ask": "agents", "agents": ["GTPBot", "gptbot", "@ai-train", "CCBot GPTBot", "@x", "a:b:"],
        }));
        let agents = answer["agents"].as_array().unwrap();
        assert_eq!(&agents[..2], ["GTPBot", "gptbot"]);
        assert!(agents.contains(&"ClaudeBot".into()) && agents.contains(&"@x".into()));
        assert!(!agents.contains(&"GPTBot".into()), "each agent once");
        let warnings = answer["warnings"].as_array().unwrap();
        assert_eq!(
            warnings[0],
            "The robots.txt does not name GTPBot; did you mean GPTBot?"
        );
        assert!(
            warnings[1]
                .as_str()
                .unwrap()
                .ends_with("write CCBot, GPTBot")
        );
        assert_eq!(warnings.len(), 2);
        let wrong = judged(json!({
            "ask": "judge", "profile": "google", "agent_match": "extended", "agents": ["@x"],
            "urls": ["/"],
        }));
        assert!(
            wrong["answers"][0]["error"]
                .as_str()
                .unwrap()
                .contains("@ai-train")
        );
    }

    #[test]
    fn wrong_questions_are_answered_with_an_error() {
        let urls = json!({
            "ask": "judge", "profile": "google", "agent_match": "extended", "agents": ["a"],
            "urls": [1],
        });
        for question in [json!(1), json!({}), json!({ "ask": "judge" }), urls] {
            assert!(judged(question)["error"].is_string());
        }
        assert!(Tester::new(Vec::new()).answer(b"{")["error"].is_string());
    }
}
