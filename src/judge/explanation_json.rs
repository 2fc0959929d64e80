//! Explanations by a snapshot as JSON objects. docs/CHECK.md documents the keys: programs rely on
//! them.

use super::explain_url::UrlExplanation;
use crate::explain::rules_json;
use crate::robots::LooksLike;
use crate::snapshot::{AnswerInForce, OriginEntry};
use jiff::Timestamp;
use serde_json::{Value, json};

impl UrlExplanation<'_> {
    /// The explanation as a JSON object with the keys of `docs/CHECK.md`, those of `check --json`.
    ///
    /// `url` and `agent` become the keys of these names; bytes that are not UTF-8 become U+FFFD.
    /// With `all`, `losers` also has the rules that do not match. Texts of sites are as they wrote
    /// them, so escape control characters before you print them to a terminal.
    ///
    /// ```
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// let url = b"https://e.example/x/1";
    /// let json = judge.explain(url, 0)?.to_json(url, "FooBot", false);
    /// assert_eq!((&json["verdict"], &json["rule"]["line"]), (&"disallowed".into(), &2.into()));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn to_json(&self, url: &[u8], agent: &str, all: bool) -> Value {
        let origin = self.origin.as_ref().map(|origin| origin.as_str());
        let entry = self
            .entry
            .as_ref()
            .map(|entry| entry_json(entry, self.via_other_scheme));
        let mut object = rules_json(self.rules.as_ref(), all);
        if let Some(answer) = &self.in_force {
            let mut in_force = answer_json(answer);
            in_force["replaced"] = self.replaced.as_ref().map(answer_json).into();
            object.insert("in_force".to_owned(), in_force);
        }
        object.extend([
            ("url".to_owned(), String::from_utf8_lossy(url).into()),
            ("agent".to_owned(), agent.into()),
            ("verdict".to_owned(), self.verdict.name().into()),
            ("basis".to_owned(), self.reason.name().into()),
            ("origin".to_owned(), origin.into()),
            ("robots".to_owned(), entry.into()),
            ("preferences".to_owned(), self.preferences.to_json()),
        ]);
        object.into()
    }
}

/// An answer in force at some time, with its bounds.
fn answer_json(answer: &AnswerInForce<'_>) -> Value {
    let outcome = answer.entry.outcome();
    json!({
        "outcome": outcome.class.name(), "status": outcome.status,
        "since": answer.since.map(rfc3339), "last_seen": answer.last_seen.map(rfc3339),
        "changed_at": answer.changed_at.map(rfc3339),
    })
}

/// The entry of the origin in the snapshot.
fn entry_json(entry: &OriginEntry<'_>, via_other_scheme: bool) -> Value {
    let outcome = entry.outcome();
    json!({
        "origin": entry.origin(), "outcome": outcome.class.name(), "status": outcome.status, "hops": outcome.hops,
        "source": entry.source(), "detail": entry.detail(), "cut_short": outcome.cut_short,
        "fetched_at": outcome.fetched.map(rfc3339), "first_failure": outcome.first_failure.map(rfc3339),
        "max_age": outcome.max_age, "has_last_good": entry.has_last_good(), "via_other_scheme": via_other_scheme,
        "past_limit": outcome.past_limit, "looks_like": outcome.looks_like.map(LooksLike::name),
    })
}

/// Seconds since 1970 as RFC 3339.
pub(crate) fn rfc3339(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}
