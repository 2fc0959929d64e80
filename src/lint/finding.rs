//! A finding, its JSON object, and the collector that bounds the number of findings of a hostile file.

use crate::lint::code::{Code, MendedPart, Severity};
use crate::lint::edits::{Fix, LineFix, LineStarts};
use serde_json::{Value, json};

/// A defect of one line, or of the whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The line's number, from 1; line 1 for a defect of the whole file.
    pub line: u32,
    /// The kind of defect.
    pub code: Code,
    /// One sentence that says what parsers make of the line. It quotes the file, so it may contain
    /// any characters except line ends.
    pub message: String,
    /// What to write instead, with the same caveat.
    pub help: String,
    fix: Option<Fix>,
}

impl Finding {
    /// The edits that mend the line, if there is one way to do so. [`Code::fixable`] says for which
    /// codes; `docs/LINT.md` has the conditions.
    pub fn fix(&self) -> Option<&Fix> {
        self.fix.as_ref()
    }

    /// The severity of its code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// A line whose finding has no safe fix, so that mending it may change what parsers read.
#[derive(Clone, Debug)]
pub(super) struct UnsettledLine {
    pub line: u32,
    /// What may change.
    pub part: MendedPart,
    /// The unsafe fix, if there is one.
    pub fix: Option<LineFix>,
    /// A mended path begins as the path does, up to its first escape.
    pub keeps_start: bool,
    /// A mended rule matches no other paths.
    pub keeps_paths: bool,
    /// A mended rule matches the same paths, with another length.
    pub changes_rank: bool,
}

/// The most findings of one code in one file. A file of 500 KiB can have 250,000 bad lines; without
/// a limit their messages would take 100 MB.
pub(super) const MAX_PER_CODE: u32 = 1000;

/// Collects the findings of a file. After the limit, it counts only.
#[derive(Debug)]
pub(super) struct FindingCollector {
    /// The most findings of one code.
    limit: u32,
    findings: Vec<OpenFinding>,
    /// For each code with findings, in the order of their first finding.
    counts: Vec<CodeCounter>,
    /// Lines whose mend may change what parsers read, also past the limit.
    unsettled: Vec<UnsettledLine>,
}

/// A finding whose fix is described by lines.
#[derive(Debug)]
struct OpenFinding {
    line: u32,
    code: Code,
    texts: FindingTexts,
}

/// What a finding says, and how it is mended.
#[derive(Debug)]
pub(super) struct FindingTexts {
    pub message: String,
    pub help: String,
    pub fix: Option<LineFix>,
}

#[derive(Debug)]
struct CodeCounter {
    code: Code,
    count: u32,
    /// The line of the first finding that was left out.
    first_omitted: Option<u32>,
}

impl FindingCollector {
    /// Collects at most `limit` findings of each code.
    pub(super) fn new(limit: u32) -> Self {
        Self {
            limit,
            findings: Vec::new(),
            counts: Vec::new(),
            unsettled: Vec::new(),
        }
    }

    /// Adds a finding without a fix. The texts are built only if it is kept.
    pub(super) fn add(&mut self, line: u32, code: Code, texts: impl FnOnce() -> (String, String)) {
        self.add_fixable(line, code, || {
            let (message, help) = texts();
            FindingTexts {
                message,
                help,
                fix: None,
            }
        });
    }

    /// Adds a finding that may have a fix. The texts are built only if it is kept.
    pub(super) fn add_fixable(
        &mut self,
        line: u32,
        code: Code,
        texts: impl FnOnce() -> FindingTexts,
    ) {
        let index = match self.counts.iter().position(|counter| counter.code == code) {
            Some(index) => index,
            None => {
                self.counts.push(CodeCounter {
                    code,
                    count: 0,
                    first_omitted: None,
                });
                self.counts.len() - 1
            }
        };
        // A hostile file has a mistake in each of many thousand lines. Past the limit, findings are
        // counted only.
        let counter = &mut self.counts[index];
        counter.count += 1;
        if counter.count > self.limit {
            counter.first_omitted.get_or_insert(line);
            // Its fix is not known.
            self.add_unsettled(line, code, None);
            return;
        }
        let texts = texts();
        if !texts.fix.as_ref().is_some_and(|fix| fix.is_safe) {
            self.add_unsettled(line, code, texts.fix.clone());
        }
        debug_assert!(
            texts
                .fix
                .as_ref()
                .is_none_or(|fix| code.fixable().has(fix.is_safe)),
            "{code}: the table of codes has no such fix"
        );
        self.findings.push(OpenFinding { line, code, texts });
    }

    /// Whether further findings of a code are counted only.
    pub(super) fn is_full(&self, code: Code) -> bool {
        let mut counters = self.counts.iter();
        counters.any(|counter| counter.code == code && counter.count >= self.limit)
    }

    /// Notes that a part of the file may change once the line is mended.
    pub(super) fn leave_open(&mut self, line: u32, part: MendedPart) {
        self.unsettled.push(UnsettledLine {
            line,
            part,
            fix: None,
            keeps_start: false,
            keeps_paths: false,
            changes_rank: false,
        });
    }

    fn add_unsettled(&mut self, line: u32, code: Code, fix: Option<LineFix>) {
        let part = code.mended_part();
        if part != MendedPart::Nothing {
            self.unsettled.push(UnsettledLine {
                line,
                part,
                fix,
                keeps_start: code.keeps_start_of_path(),
                keeps_paths: code.keeps_paths(),
                changes_rank: code == Code::LeadingStar,
            });
        }
    }

    /// The lines whose mend may change what parsers read.
    pub(super) fn unsettled(&self) -> &[UnsettledLine] {
        &self.unsettled
    }

    /// The number of findings so far.
    pub(super) fn len(&self) -> usize {
        self.findings.len()
    }

    /// Drops the findings that need the same groups in both profiles, and the safe fixes of others,
    /// except for the first `kept` findings.
    pub(super) fn drop_claims_about_groups(&mut self, kept: usize) {
        let mut later = self.findings.split_off(kept);
        later.retain(|finding| !finding.code.needs_same_groups());
        for finding in &mut later {
            finding.texts.fix.take_if(|fix| fix.is_safe);
        }
        self.findings.append(&mut later);
        self.counts
            .retain(|counter| !counter.code.needs_same_groups());
    }

    /// Drops the findings that call a line superfluous.
    pub(super) fn drop_claims_about_lines(&mut self) {
        self.findings.retain(|finding| {
            let fix = finding.texts.fix.as_ref();
            !finding.code.calls_line_superfluous() && fix.is_none_or(|fix| !fix.removes_lines())
        });
        self.counts
            .retain(|counter| !counter.code.calls_line_superfluous());
    }

    /// All findings of `body` in the order of lines, then of codes.
    pub(super) fn finish(self, body: &[u8]) -> Vec<Finding> {
        let has_fixes = self.findings.iter().any(|found| found.texts.fix.is_some());
        let lines = has_fixes.then(|| LineStarts::new(body));
        let closed = self.findings.into_iter().map(|finding| {
            let OpenFinding { line, code, texts } = finding;
            let FindingTexts { message, help, fix } = texts;
            let fix = fix.and_then(|fix| lines.as_ref()?.resolve(&fix));
            Finding {
                line,
                code,
                message,
                help,
                fix,
            }
        });
        let mut findings: Vec<Finding> = closed.collect();
        for CodeCounter {
            code,
            count,
            first_omitted,
        } in self.counts
        {
            let Some(line) = first_omitted else { continue };
            let message = format!(
                "{} more lines have this finding; they are not listed",
                count - self.limit
            );
            let help = "correct the listed lines, and check again".to_owned();
            findings.push(Finding {
                line,
                code,
                message,
                help,
                fix: None,
            });
        }
        findings.sort_by_key(|finding| (finding.line, finding.code));
        findings
    }
}

/// The most characters of the file that a message quotes.
const MAX_QUOTED: usize = 80;

/// A part of the file in backquotes, cut if it is long. Bytes that are not UTF-8 are U+FFFD.
pub(super) fn quote(text: &[u8]) -> String {
    // A character has at most four bytes, so the cut text has enough of them.
    let is_long = text.len() > MAX_QUOTED * 4;
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_QUOTED * 4)]);
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None if is_long => format!("`{text}…`"),
        None => format!("`{text}`"),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let mut collector = FindingCollector::new(MAX_PER_CODE);
        for line in 1..=MAX_PER_CODE + 5 {
            collector.add(line, Code::MissingColon, || {
                ("m".to_owned(), "h".to_owned())
            });
        }
        collector.add(2, Code::Html, || ("m".to_owned(), "h".to_owned()));
        let findings = collector.finish(b"");
        assert_eq!(findings.len(), MAX_PER_CODE as usize + 2);
        assert_eq!((findings[1].code, findings[1].line), (Code::Html, 2));
        let last = findings.last().unwrap();
        assert_eq!(
            (last.line, last.message.starts_with("5 more ")),
            (MAX_PER_CODE + 1, true)
        );
    }

    #[test]
    fn quotations_are_cut() {
        assert_eq!(quote(b"/a\xff"), "`/a\u{fffd}`");
        let long = quote("ä".repeat(100).as_bytes());
        assert_eq!(long.chars().count(), MAX_QUOTED + 3);
        assert!(quote(&b"a".repeat(10_000)).ends_with("…`"));
    }
}
