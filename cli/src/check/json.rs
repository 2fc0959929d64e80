//! Answers as JSON. docs/CHECK.md documents the keys: scripts rely on them.

use super::{CheckAnswer, RobotsSource};
use robosieve::Verdict;
use robosieve::judge::Reason;
use serde_json::{Value, json};

/// One answer; `all` also lists the rules that do not match.
pub(super) fn object(answer: &CheckAnswer<'_>, all: bool) -> robosieve::Result<Value> {
    let mut object = of_robots(answer, all);
    if let Some(found) = &answer.list_match {
        object["list_match"] = match found {
            Some(found) => json!({
                "is_exception": found.is_exception(),
                "lists": found.lists().collect::<Vec<_>>(),
                "entry": found.entry()?,
            }),
            None => Value::Null,
        };
    }
    Ok(object)
}

/// The answer by the robots.txt.
fn of_robots(answer: &CheckAnswer<'_>, all: bool) -> Value {
    let agent = answer.agent.label();
    match &answer.robots {
        RobotsSource::Snapshot { explanation } => {
            explanation.to_json(answer.url.as_bytes(), agent, all)
        }
        RobotsSource::File { path, body, .. } => {
            let basis = if answer.verdict == Verdict::Invalid {
                Reason::NotAUrl
            } else {
                Reason::Rules
            };
            let mut object = answer
                .rules
                .map(|explanation| explanation.to_json(all))
                .unwrap_or_default();
            object.extend([
                ("url".to_owned(), answer.url.into()),
                ("agent".to_owned(), agent.into()),
                ("verdict".to_owned(), answer.verdict.name().into()),
                ("basis".to_owned(), basis.name().into()),
                ("origin".to_owned(), Value::Null),
                (
                    "robots".to_owned(),
                    body.to_json(Some(&path.to_string_lossy())),
                ),
                ("preferences".to_owned(), answer.preferences.to_json()),
            ]);
            object.into()
        }
    }
}
