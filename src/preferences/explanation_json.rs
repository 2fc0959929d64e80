//! Explained preferences as a JSON object. docs/CHECK.md documents the keys.

use crate::preferences::explain::PreferenceExplanation;
use serde_json::{Map, Value, json};

impl PreferenceExplanation {
    /// The value of the key `preferences` of `docs/CHECK.md`: the preferences, and the lines that
    /// state them.
    pub fn to_json(&self) -> Value {
        let found = self.preferences;
        let signals: Map<String, Value> = found
            .signals
            .iter()
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect();
        json!({
            "train-ai": found.train_ai.name(), "search": found.search.name(),
            "content-signal": signals, "license": self.licenses,
            "usage_lines": self.usage_lines, "signal_lines": self.signal_lines,
            "license_lines": self.license_lines,
        })
    }
}
