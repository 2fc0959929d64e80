//! Findings as JSON objects.

use crate::lint::edits::Fix;
use crate::lint::finding::Finding;
use serde_json::{Value, json};

impl Finding {
    /// The object of `robosieve lint --json`, without the key `file`: `line`, `code`, `severity`,
    /// `message`, `help` and `fix`.
    ///
    /// `fix` is `null`, or an object with `safe` and `edits`. An edit replaces the bytes of the file
    /// from offset `start` to `end` with `text`.
    ///
    /// ```
    /// let finding = &robosieve::lint::lint(b"User-agent: *\nDissallow: /cart")[0];
    /// let fix = &finding.to_json()["fix"];
    /// assert_eq!((&fix["safe"], &fix["edits"][0]["start"]), (&false.into(), &14.into()));
    /// ```
    pub fn to_json(&self) -> Value {
        json!({
            "line": self.line, "code": self.code.name(), "severity": self.severity().name(),
            "message": self.message, "help": self.help, "fix": self.fix().map(Fix::to_json),
        })
    }
}

impl Fix {
    fn to_json(&self) -> Value {
        let edits = self.edits.iter().map(
            |edit| json!({ "start": edit.range.start, "end": edit.range.end, "text": edit.text }),
        );
        json!({ "safe": self.is_safe, "edits": edits.collect::<Vec<_>>() })
    }
}
