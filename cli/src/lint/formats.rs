//! Findings as text, JSON or SARIF, written file by file, and the list of all codes.

use super::lint_args::{LintArgs, code_width, shown};
use crate::figures::escape::{escape, escape_lines, to_json, to_json_pretty};
use crate::output::print;
use robosieve::lint::{Code, Finding, Fix};
use robosieve::output::is_standard_stream;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// The format of the findings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FindingFormat {
    Text,
    Json,
    Sarif,
}

/// Writes the findings of one file after another.
pub(super) struct FindingWriter {
    format: FindingFormat,
    /// Whether an element of the array is written.
    has_element: bool,
}

/// The address of the schema, as the specification has it.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

impl FindingWriter {
    /// Writes the start of the document.
    pub(super) fn begin(args: &LintArgs, out: &mut impl Write) -> anyhow::Result<Self> {
        let format = match args {
            LintArgs { json: true, .. } => FindingFormat::Json,
            LintArgs { sarif: true, .. } => FindingFormat::Sarif,
            _ => FindingFormat::Text,
        };
        match format {
            FindingFormat::Text => {}
            FindingFormat::Json => write!(out, "[")?,
            FindingFormat::Sarif => write!(
                out,
                "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{}}},\"results\":[",
                to_json(&driver())?
            )?,
        }
        Ok(Self {
            format,
            has_element: false,
        })
    }

    /// Writes the findings of a file.
    pub(super) fn write(
        &mut self,
        out: &mut impl Write,
        path: &Path,
        findings: &[Finding],
    ) -> anyhow::Result<()> {
        for finding in findings {
            match self.format {
                FindingFormat::Text => write_text(out, path, finding)?,
                FindingFormat::Json => self.write_element(out, &json_object(path, finding))?,
                FindingFormat::Sarif => self.write_element(out, &sarif_result(path, finding))?,
            }
        }
        Ok(())
    }

    fn write_element(
        &mut self,
        out: &mut impl Write,
        element: &serde_json::Value,
    ) -> anyhow::Result<()> {
        let separator = if self.has_element { ",\n" } else { "\n" };
        self.has_element = true;
        Ok(write!(out, "{separator}{}", to_json(element)?)?)
    }

    /// Writes the end of the document.
    pub(super) fn end(self, out: &mut impl Write) -> io::Result<()> {
        let end = if self.has_element { "\n" } else { "" };
        match self.format {
            FindingFormat::Text => Ok(()),
            FindingFormat::Json => writeln!(out, "{end}]"),
            FindingFormat::Sarif => writeln!(out, "{end}]}}]}}"),
        }
    }
}

fn write_text(out: &mut impl Write, path: &Path, finding: &Finding) -> io::Result<()> {
    let Finding {
        line,
        code,
        message,
        help,
        ..
    } = finding;
    let file = shown(path);
    let severity = finding.severity();
    let text = format!(
        "{}:{line}: {severity}[{code}]: {}",
        escape(&file),
        escape(message)
    );
    // The name of a file may begin like a command.
    writeln!(out, "{}", escape_lines(&text))?;
    writeln!(out, "  help: {}", escape(help))
}

fn json_object(path: &Path, finding: &Finding) -> serde_json::Value {
    let mut object = finding.to_json();
    object["file"] = shown(path).into();
    object
}

/// The tool and its rules (SARIF 2.1.0 §3.19). Code scanning services show the descriptions and the
/// help of a rule.
fn driver() -> serde_json::Value {
    let rules = Code::ALL.iter().map(|code| {
        let help =
            format!("docs/LINT.md has the sources of {code}, with a bad and a good example.");
        json!({
            "id": code.name(),
            "shortDescription": { "text": code.summary() },
            "fullDescription": { "text": code.summary() },
            "help": { "text": help },
            "defaultConfiguration": { "level": code.severity().name() },
        })
    });
    json!({
        "name": "robosieve", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules.collect::<Vec<_>>(),
    })
}

/// A result (SARIF 2.1.0 §3.27). Columns are not given: a finding is about a whole line.
fn sarif_result(path: &Path, finding: &Finding) -> serde_json::Value {
    let location = json!({
        "artifactLocation": { "uri": uri(path) }, "region": { "startLine": finding.line },
    });
    let mut result = json!({
        "ruleId": finding.code.name(),
        "ruleIndex": finding.code as usize,
        "level": finding.severity().name(),
        "message": { "text": sarif_text(&format!("{}. Help: {}.", finding.message, finding.help)) },
        "locations": [{ "physicalLocation": location }],
    });
    if let Some(fix) = finding.fix() {
        result["fixes"] = json!([sarif_fix(path, finding, fix)]);
    }
    result
}

/// A fix (SARIF 2.1.0 §3.55). Its regions count bytes (§3.30.11), as the file may have any.
fn sarif_fix(path: &Path, finding: &Finding, fix: &Fix) -> serde_json::Value {
    let replacements = fix.edits.iter().map(|edit| {
        json!({
            "deletedRegion": { "byteOffset": edit.range.start, "byteLength": edit.range.len() },
            "insertedContent": { "text": edit.text },
        })
    });
    json!({
        "description": { "text": sarif_text(&format!("{}.", finding.help)) },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(path) },
            "replacements": replacements.collect::<Vec<_>>(),
        }],
    })
}

/// A text as the message of a result. Braces are doubled, because `{0}` is a placeholder (SARIF
/// 2.1.0 §3.11.5), and a backslash keeps `[a](b)` from being a link (§3.11.6).
fn sarif_text(text: &str) -> String {
    text.replace('{', "{{")
        .replace('}', "}}")
        .replace("](", "\\](")
}

/// A path as a URI reference (RFC 3986): relative paths stay relative, for the service to resolve.
fn uri(path: &Path) -> String {
    if is_standard_stream(path) {
        return "stdin".to_owned();
    }
    let mut uri = if path.is_absolute() {
        "file://".to_owned()
    } else {
        String::new()
    };
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Prints all codes in the order of `docs/LINT.md`.
pub(super) fn print_codes(is_json: bool) -> anyhow::Result<()> {
    if is_json {
        let rows = Code::ALL.iter().map(|code| {
            json!({
                "code": code.name(), "severity": code.severity().name(), "in_snapshot": code.in_snapshot().name(),
                "fix": code.fixable().name(), "summary": code.summary(),
            })
        });
        return print(&to_json_pretty(&rows.collect::<Vec<_>>())?);
    }
    let width = code_width();
    let mut out = format!("{:<width$}  severity  snapshot  fix     meaning\n", "code");
    for code in Code::ALL {
        let name = code.name();
        let severity = code.severity().name();
        let in_snapshot = code.in_snapshot().name();
        let fix = code.fixable().name();
        let _ = writeln!(
            out,
            "{name:<width$}  {severity:<8}  {in_snapshot:<8}  {fix:<6}  {}",
            code.summary()
        );
    }
    print(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uri_references() {
        let uri_of = |path: &str| uri(Path::new(path));
        assert_eq!(uri_of("sites/a b:1/ä"), "sites/a%20b%3A1/%C3%A4");
        assert_eq!(uri_of("/srv/robots.txt"), "file:///srv/robots.txt");
        assert_eq!(uri_of("-"), "stdin");
    }

    #[cfg(unix)]
    #[test]
    fn names_outside_utf8_keep_their_bytes() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(
            uri(Path::new(std::ffi::OsStr::from_bytes(b"\xff.txt"))),
            "%FF.txt"
        );
    }

    #[test]
    fn texts_have_neither_placeholders_nor_links() {
        assert_eq!(
            sarif_text("`/{0}` `[a](https://b.example/)`"),
            "`/{{0}}` `[a\\](https://b.example/)`"
        );
    }
}
