//! A file of crawlers that extends or replaces the registry.

use super::entry::{CrawlerEntry, bad_registry};
use super::{robots_json, table};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest file. The public lists have less than 100 KB.
const MAX_BYTES: u64 = 4 << 20;

/// The most crawlers of a file. An audit looks for all of them at once.
const MAX_CRAWLERS: usize = 10_000;

/// What a file states about crawlers, to extend a
/// [`CrawlerRegistry`](crate::crawlers::CrawlerRegistry) with.
///
/// The file has one of two formats, recognised by the content:
///
/// * a table as `robosieve agents --tsv` writes it: a header, and lines of fields with TABs between
///   them. The columns are `token`, `operator`, `purpose`, `obeys`, `falls_back_to`, `ignores_star`
///   and `source`, in any order. Only `token` is needed. An empty field, or `unknown`, states
///   nothing; `none` states that a crawler falls back to no name.
/// * `robots.json` of the public list <https://github.com/ai-robots-txt/ai.robots.txt>. Its free
///   texts are read cautiously: `datasets/README.md` has the rules.
///
/// ```
/// use robosieve::crawlers::{AgentSet, CrawlerList, CrawlerRegistry};
/// let list = CrawlerList::parse(b"token\tpurpose\nAcmeBot\tai-train\n")?;
/// let mut registry = CrawlerRegistry::shipped().clone();
/// registry.extend(list);
/// assert!(registry.members(AgentSet::AiTrain).any(|known| known.token == "AcmeBot"));
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CrawlerList {
    pub(super) entries: Vec<CrawlerEntry>,
    pub(super) date: Option<String>,
}

impl CrawlerList {
    /// Parses the content of a file.
    ///
    /// # Errors
    /// [`ErrorKind::BadRegistry`](crate::ErrorKind::BadRegistry) for a content that has neither
    /// format or states no crawler, for a token that is there twice in a table, and for more than
    /// 4 MiB or 10,000 crawlers. It names the line.
    pub fn parse(content: &[u8]) -> Result<Self> {
        if content.len() as u64 > MAX_BYTES {
            return Err(bad_registry(
                None,
                "longer than 4 MiB; a list of crawlers is not that long",
            ));
        }
        let text = std::str::from_utf8(content).map_err(|err| {
            let line = content[..err.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1;
            bad_registry(Some(line), "not UTF-8; save the file as UTF-8 text")
        })?;
        // A table has names of columns first, so the first character distinguishes the formats.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_json = text.trim_start().starts_with(['{', '[']);
        let entries = if is_json {
            robots_json::parse(text)?
        } else {
            table::parse(text)?
        };
        // A file without entries would add nothing silently; it is probably another file.
        if entries.is_empty() {
            let what = format!(
                "lists no crawlers; give a table with the columns {}",
                table::COLUMNS.join(", ")
            );
            return Err(bad_registry(
                None,
                format!("{what}, or robots.json of ai.robots.txt"),
            ));
        }
        if entries.len() > MAX_CRAWLERS {
            return Err(bad_registry(
                None,
                format!("{} crawlers; a list has at most 10,000", entries.len()),
            ));
        }
        Ok(Self {
            entries,
            date: table::date(text).map(str::to_owned),
        })
    }

    /// Reads and parses a file. At most 4 MiB are read.
    ///
    /// # Errors
    /// I/O errors and those of [`parse`](Self::parse), which name the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut content = Vec::new();
        let read =
            File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut content));
        read.map_err(|err| Error::io(path, err))?;
        Self::parse(&content).map_err(|err| err.at(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::{Compliance, Purpose};

    fn entry(text: &str) -> CrawlerEntry {
        CrawlerList::parse(text.as_bytes())
            .unwrap()
            .entries
            .remove(0)
    }

    #[test]
    fn both_formats_state_the_same_facts() {
        let expected = CrawlerEntry {
            token: "AcmeBot".to_owned(),
            operator: Some("Acme".to_owned()),
            purpose: Some(Purpose::AiTrain),
            obeys: Some(Compliance::Yes),
            falls_back_to: None,
            ignores_star: None,
            source: Some("https://acme.example/bot".to_owned()),
        };
        let table = "# a comment\n\ntoken\toperator\tpurpose\tobeys\tsource\n\
                     AcmeBot\tAcme\tai-train\tyes\thttps://acme.example/bot\n";
        let json = r#"{"AcmeBot/1.0": {"operator": "Acme", "respect": "[Yes](https://acme.example/bot)",
                      "function": "LLM training.", "frequency": "", "description": "", "new": [1]}}"#;
        let other_order = "\u{feff}source\ttoken\tobeys\tpurpose\toperator\r\n\
                           https://acme.example/bot\t AcmeBot \tyes\tai-train\tAcme\r\n";
        for text in [table, json, other_order] {
            assert_eq!(entry(text), expected, "{text}");
        }
        let bare = CrawlerEntry {
            token: "AcmeBot".to_owned(),
            ..CrawlerEntry::default()
        };
        for text in [
            "token\nAcmeBot",
            "token\toperator\tpurpose\tobeys\tsource\nAcmeBot\tunknown\t\tunknown\t\n",
            r#" {"AcmeBot": {"function": "Unclear at this time."}}"#,
        ] {
            assert_eq!(entry(text), bare, "{text}");
        }
    }

    #[test]
    fn names_of_a_json_list_that_are_one_crawler_are_merged() {
        let text = r#"{"Acme  Bot": {"function": "?", "respect": "No"}, "FooBot": {"function": "AI Agents"},
                       "acme bot/2.0": {"function": "AI Assistants", "respect": "Yes", "operator": "Acme"},
                       "acme bot/2.0": {"function": "AI Agents"}}"#;
        let entries = CrawlerList::parse(text.as_bytes()).unwrap().entries;
        assert_eq!(entries.len(), 2);
        assert_eq!(
            (entries[0].token.as_str(), entries[0].operator.as_deref()),
            ("Acme Bot", Some("Acme"))
        );
        assert_eq!(
            (entries[0].purpose, entries[0].obeys),
            (Some(Purpose::AiUser), Some(Compliance::No))
        );
    }

    #[test]
    fn defects_name_the_line_and_a_remedy() {
        for (content, expected) in [
            (
                &b""[..],
                "lists no crawlers; give a table with the columns token, operator, purpose, obeys, \
                 falls_back_to, ignores_star, source",
            ),
            (b"# only a comment\n", "lists no crawlers"),
            (b"token\tpurpose\n", "lists no crawlers"),
            (b"{}", "lists no crawlers"),
            (b"token\nAcme\xff\n", "line 2: not UTF-8; save"),
            (
                b"AcmeBot\tAcme\n",
                "line 1: \"AcmeBot\" is not a column of a registry; name columns of token,",
            ),
            (
                b"token,purpose\nA,other\n",
                "line 1: \"token,purpose\" is not a column",
            ),
            (
                b"# x\ntoken\ttoken\n",
                "line 2: column token is named twice",
            ),
            (b"operator\nAcme\n", "line 1: no column is named token"),
            (
                b"token\tpurpose\nAcmeBot\n",
                "line 2: 1 field, and the header has 2; separate fields by one TAB",
            ),
            (
                b"token\tpurpose\nAcmeBot\tai-train\t\n",
                "line 2: 3 fields, and the header has 2;",
            ),
            (
                b"token\tpurpose\nAcmeBot\tai\n",
                "line 2: \"ai\" is not a purpose; there are ai-train, ai-search,",
            ),
            (
                b"token\tobeys\nAcmeBot\tmaybe\n",
                "line 2: \"maybe\" does not say whether the crawler obeys; write yes",
            ),
            (
                b"token\nAcmeBot\nx\nACMEBOT\n",
                "line 4: ACMEBOT is in line 2 already; keep one",
            ),
            (
                b"token\toperator\n\tAcme\n",
                "line 2: agent \"\": a name is missing",
            ),
            (b"token\n*\n", "line 2: \"*\" is not a single product token"),
            (
                b"token\nA:B\n",
                "line 2: \"A:B\" is not a single product token",
            ),
            (
                b"token\nAcmeBot/2.0\n",
                "line 2: \"AcmeBot/2.0\" is not a single product token; write the name alone",
            ),
            (
                b"token\n@ai\n",
                "line 2: agent \"@ai\": a name with @ is a set",
            ),
            (
                b"token\nMozilla/5.0 (compatible; AcmeBot)\n",
                "line 2: agent \"Mozilla",
            ),
            (
                b"token\toperator\nA\tB\x1b[31m\n",
                "line 2: the operator has a control character; remove it",
            ),
            (b"[1]", "not a list of crawlers: invalid type: sequence"),
            (
                b"{\"A\": {\"operator\": \"B\"}}",
                "not a list of crawlers: missing field `function` at line 1 column",
            ),
            (
                b"{\"A\": {\"function\": 3}}",
                "invalid type: integer `3`, expected a string at line 1",
            ),
            (
                b"{\n\"A:B\": {\"function\": \"\"}}",
                "\"A:B\" is not a single product token",
            ),
            (b"{\"A\"", "not a list of crawlers: EOF while parsing"),
        ] {
            let err = CrawlerList::parse(content).unwrap_err().to_string();
            assert!(
                err.contains(expected),
                "{:?}: {err}",
                String::from_utf8_lossy(content)
            );
        }
    }

    #[test]
    fn size_is_bounded() {
        let lines = |count: usize| (0..count).map(|i| format!("\nbot{i}")).collect::<String>();
        assert!(CrawlerList::parse(format!("token{}", lines(10_000)).as_bytes()).is_ok());
        let err = CrawlerList::parse(format!("token{}", lines(10_001)).as_bytes()).unwrap_err();
        assert!(
            err.to_string()
                .contains("10001 crawlers; a list has at most 10,000"),
            "{err}"
        );
        let long = format!("token\n{}", "#\n".repeat(2 << 20));
        assert!(
            CrawlerList::parse(long.as_bytes())
                .unwrap_err()
                .to_string()
                .contains("longer than 4 MiB")
        );
        // Nesting as deep as the file allows is an error, not a stack overflow.
        let deep = format!(
            "{{\"A\": {{\"function\": \"\", \"x\": {}",
            "[".repeat(1 << 20)
        );
        assert!(CrawlerList::parse(deep.as_bytes()).is_err());
    }

    #[test]
    fn dates_are_read_from_comments() {
        let date = |text: &str| CrawlerList::parse(text.as_bytes()).unwrap().date;
        assert_eq!(
            date("# x\n# date: 2026-11-23\ntoken\na\n").as_deref(),
            Some("2026-11-23")
        );
        for text in [
            "token\na\n",
            "# date: today\ntoken\na\n",
            "token\na\n# date: 2026-11-23\n",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
