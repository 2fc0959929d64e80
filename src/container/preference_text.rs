//! Writes preferences in each form of annotation.

use super::form::LineForm;
use super::value_syntax::key_text;
use crate::judge::{FileStatements, Verdict, VerdictsRef, none_stated};
use crate::preferences::{Preference, Preferences, ResponseStatements, Signals};
use std::io::Write;

/// Writes preferences in one form. The texts that are the same for all lines are made once.
pub(super) struct PreferenceText {
    form: LineForm,
    /// The JSON text before the preferences and before the licences.
    preferences_key: String,
    license_key: String,
    /// The JSON text before each agent's preferences.
    keys: Vec<String>,
    /// The text for URLs without preferences that all agents may fetch, which are most.
    none: Vec<u8>,
}

impl PreferenceText {
    /// The names of keys begin with `prefix`.
    pub(super) fn new(form: LineForm, agents: &[String], prefix: &str) -> Self {
        let mut keys = Vec::with_capacity(agents.len());
        for (i, name) in agents.iter().enumerate() {
            let separator = if i == 0 { "" } else { "," };
            let name = serde_json::Value::from(name.as_str());
            keys.push(format!("{separator}{name}:{{\"train-ai\":"));
        }
        let mut text = Self {
            form,
            preferences_key: key_text(&format!("{prefix}preferences")),
            license_key: key_text(&format!("{prefix}license")),
            keys,
            none: Vec::new(),
        };
        let mut none = Vec::new();
        text.write_preferences(&vec![Preferences::default(); agents.len()], &mut none);
        text.none = none;
        text
    }

    /// The names of the columns, each with its TAB.
    pub(super) fn header(&self) -> &'static [u8] {
        b"content-usage\tcontent-signal\tlicense\t"
    }

    /// Writes the preferences under these verdicts of a site that states none.
    pub(super) fn write_none(&self, verdicts: &VerdictsRef<'_>, out: &mut Vec<u8>) {
        // In columns, `-` is the letter for both: none stated, and none applies.
        if self.form == LineForm::Jsonl
            && verdicts
                .iter()
                .any(|verdict| verdict == Verdict::Disallowed)
        {
            return self.write_preferences(&none_stated(verdicts.iter()).collect::<Vec<_>>(), out);
        }
        out.extend_from_slice(&self.none);
    }

    /// Writes preferences without a licence and without a response.
    fn write_preferences(&self, preferences: &[Preferences], out: &mut Vec<u8>) {
        let robots = FileStatements {
            preferences,
            licenses: &[],
        };
        self.write(robots, &[], out);
    }

    /// Writes the preferences of a URL for each agent: those of its robots.txt, combined with the
    /// statements of a response if there is one. JSON has both apart too.
    pub(super) fn write(
        &self,
        robots: FileStatements<'_>,
        statements: &[ResponseStatements],
        out: &mut Vec<u8>,
    ) {
        match self.form {
            LineForm::Letters if statements.is_empty() => {
                write_columns(robots.preferences, out);
                write_licenses(robots.licenses, out);
            }
            LineForm::Letters => {
                let pairs = statements.iter().zip(robots.preferences);
                let combined: Vec<_> = pairs.map(|(own, robots)| own.combine(*robots)).collect();
                write_columns(&combined, out);
                write_licenses(robots.licenses, out);
            }
            LineForm::Jsonl => {
                self.write_object(robots.preferences, statements, out);
                out.extend_from_slice(self.license_key.as_bytes());
                out.push(b'[');
                for (i, url) in robots.licenses.iter().enumerate() {
                    let separator = if i == 0 { "" } else { "," };
                    let _ = write!(out, "{separator}{}", serde_json::Value::from(url.as_str()));
                }
                out.push(b']');
            }
            LineForm::Mask | LineForm::Csv => {}
        }
    }

    /// Writes an object for each agent. Without a response, `statements` is empty.
    fn write_object(
        &self,
        robots: &[Preferences],
        statements: &[ResponseStatements],
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(self.preferences_key.as_bytes());
        out.push(b'{');
        for (i, (key, robots)) in self.keys.iter().zip(robots).enumerate() {
            let own = statements.get(i).filter(|own| !own.is_empty());
            let preferences = own.map_or(*robots, |own| own.combine(*robots));
            out.extend_from_slice(key.as_bytes());
            write_members(&preferences, out);
            if let Some(own) = own {
                out.extend_from_slice(b",\"sources\":");
                write_sources(robots, own, out);
            }
            out.push(b'}');
        }
        out.push(b'}');
    }
}

/// Writes the members of an object after `{"train-ai":`.
fn write_members(preferences: &Preferences, out: &mut Vec<u8>) {
    write_json(preferences.train_ai, out);
    out.extend_from_slice(b",\"search\":");
    write_json(preferences.search, out);
    out.extend_from_slice(b",\"content-signal\":");
    write_signals(preferences.signals, out);
}

fn write_signals(signals: Signals, out: &mut Vec<u8>) {
    out.push(b'{');
    for (i, (key, value)) in signals.iter().enumerate() {
        let parts: [&[u8]; 5] = [
            if i == 0 { b"\"" } else { b",\"" },
            key.as_bytes(),
            b"\":\"",
            value.as_bytes(),
            b"\"",
        ];
        parts
            .into_iter()
            .for_each(|part| out.extend_from_slice(part));
    }
    out.push(b'}');
}

/// Writes the statements of the robots.txt, and those of each header field that states something.
fn write_sources(robots: &Preferences, own: &ResponseStatements, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"robots.txt\":{\"train-ai\":");
    write_members(robots, out);
    out.push(b'}');
    if [own.train_ai, own.search] != [Preference::Unknown; 2] {
        // As in a robots.txt, it does not apply to a URL that the agent may not fetch.
        let [train_ai, search] = if robots.train_ai == Preference::NotApplicable {
            [Preference::NotApplicable; 2]
        } else {
            [own.train_ai, own.search]
        };
        out.extend_from_slice(b",\"content-usage\":{\"train-ai\":");
        write_json(train_ai, out);
        out.extend_from_slice(b",\"search\":");
        write_json(search, out);
        out.push(b'}');
    }
    if !own.signals.is_empty() {
        out.extend_from_slice(b",\"content-signal\":");
        write_signals(own.signals, out);
    }
    if !own.tags.is_empty() {
        out.extend_from_slice(b",\"x-robots-tag\":[");
        for (i, tag) in own.tags.iter().enumerate() {
            let parts: [&[u8]; 3] = [if i == 0 { b"\"" } else { b",\"" }, tag.as_bytes(), b"\""];
            parts
                .into_iter()
                .for_each(|part| out.extend_from_slice(part));
        }
        out.push(b']');
    }
    out.push(b'}');
}

/// Writes a name in quotes, or `null`.
fn write_json(preference: Preference, out: &mut Vec<u8>) {
    match preference.name() {
        Some(name) => [b"\"", name.as_bytes(), b"\""]
            .into_iter()
            .for_each(|part| out.extend_from_slice(part)),
        None => out.extend_from_slice(b"null"),
    }
}

/// Writes a column of URLs, which have no blanks inside.
fn write_licenses(licenses: &[String], out: &mut Vec<u8>) {
    if licenses.is_empty() {
        out.push(b'-');
    }
    for (i, url) in licenses.iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(url.as_bytes());
    }
    out.push(b'\t');
}

/// Writes a column of letters and a column of signals. Semicolons separate agents.
fn write_columns(preferences: &[Preferences], out: &mut Vec<u8>) {
    for (i, agent) in preferences.iter().enumerate() {
        if i > 0 {
            out.push(b';');
        }
        out.extend([agent.train_ai.letter() as u8, agent.search.letter() as u8]);
    }
    out.push(b'\t');
    for (i, agent) in preferences.iter().enumerate() {
        if i > 0 {
            out.push(b';');
        }
        // A field between semicolons is never empty, so splitting on them keeps the agents apart.
        if agent.signals.is_empty() {
            out.push(b'-');
        }
        for (i, (key, value)) in agent.signals.iter().enumerate() {
            let parts: [&[u8]; 4] = [
                if i == 0 { b"" } else { b"," },
                key.as_bytes(),
                b"=",
                value.as_bytes(),
            ];
            parts
                .into_iter()
                .for_each(|part| out.extend_from_slice(part));
        }
    }
    out.push(b'\t');
}
