//! A line of a robots.txt with its number, as explanations and reports show it.

use serde::Serialize;

/// A line of a robots.txt. It serializes to an object with these keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct RobotsLine {
    /// Its number, from 1.
    pub line: u32,
    /// Its text, without comment and surrounding white space.
    pub text: String,
}

impl RobotsLine {
    /// A line with its number and its text.
    pub fn new(line: u32, text: impl Into<String>) -> Self {
        Self {
            line,
            text: text.into(),
        }
    }
}
