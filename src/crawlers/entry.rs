//! What a file states about one crawler. Any fact but the token may be missing.

use super::known_agent::{Compliance, Purpose};
use crate::agent::Agent;
use crate::error::{Error, ErrorKind};

/// The statements of a file about one crawler. Missing facts are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CrawlerEntry {
    pub token: String,
    pub operator: Option<String>,
    pub purpose: Option<Purpose>,
    pub obeys: Option<Compliance>,
    /// The names after the token in the crawler's chain; an empty text for none.
    pub falls_back_to: Option<String>,
    pub ignores_star: Option<bool>,
    pub source: Option<String>,
}

impl CrawlerEntry {
    /// Adds the facts of `other` that are missing here.
    pub(super) fn complete_with(&mut self, other: Self) {
        self.operator = self.operator.take().or(other.operator);
        self.purpose = self.purpose.or(other.purpose);
        self.obeys = self.obeys.or(other.obeys);
        self.falls_back_to = self.falls_back_to.take().or(other.falls_back_to);
        self.ignores_star = self.ignores_star.or(other.ignores_star);
        self.source = self.source.take().or(other.source);
    }
}

/// Whether a text has a control character.
pub(super) fn has_control(text: &str) -> bool {
    if text.is_ascii() {
        // Without an early end, the compiler compares many bytes at once.
        text.bytes()
            .fold(false, |any, byte| any | byte.is_ascii_control())
    } else {
        text.contains(char::is_control)
    }
}

/// Why a text cannot be the product token of one crawler; `None` if it can.
pub(super) fn token_defect(token: &str) -> Option<String> {
    // Most tokens are plain, and every command parses the shipped table.
    if !token.is_empty()
        && token
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    {
        return None;
    }
    if has_control(token) {
        return Some(format!("{token:?} has a control character"));
    }
    match token.parse::<Agent>() {
        Err(err) => Some(err.to_string()),
        Ok(agent) if agent.names().eq([token.to_ascii_lowercase()]) => None,
        Ok(_) => Some(format!(
            "{token:?} is not a single product token; write the name alone, without a version, \
             `:`, `*` or `#`"
        )),
    }
}

/// An error of a registry file, at a line if it has one.
pub(super) fn bad_registry(line: Option<usize>, what: impl Into<String>) -> Error {
    ErrorKind::BadRegistry {
        line: line.map(|line| line as u64),
        what: what.into(),
    }
    .into()
}
