//! Every way in which a 2xx capture may become a robots.txt without rules: each is known, and has
//! the answer that `docs/SEMANTICS.md` states.

use crate::command::checkout;
use crate::spec::{annotate, cases_dir};
use robosieve::snapshot::OutcomeClass;
use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot};
use serde::Deserialize;
use std::io::Write;

const URL: &str = "https://a.example/robots.txt";
const RULES: &str = "user-agent: *\ndisallow: /x\n";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    answer: Answer,
    /// The block of a WARC record.
    block: Option<String>,
    /// The head of a WARC record before a gzip stream of `text`.
    gzip: Option<String>,
    /// The head of a WARC record before the rules in UTF-16.
    utf_16: Option<String>,
    /// A line of a JSONL archive.
    line: Option<String>,
    /// A file in a directory of robots.txt files.
    file: Option<String>,
    /// The text in the gzip stream, in place of rules.
    text: Option<String>,
    /// The bytes that are missing at the end of the gzip stream.
    #[serde(default)]
    cut: usize,
    /// 512,000 bytes of comments and the rules follow the block.
    #[serde(default)]
    filler: bool,
    /// The type of the record, if it is not a response.
    kind: Option<String>,
    /// The value of `WARC-Truncated`.
    truncated: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Allowed,
    Unreachable,
}

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(cases_dir().join("empty_texts/empty_texts.toml")).unwrap();
    toml::from_str::<Cases>(&text).unwrap().case
}

impl Case {
    /// The block of its WARC record, if it is one.
    fn record_block(&self) -> Option<Vec<u8>> {
        if let Some(head) = &self.gzip {
            let text = self.text.as_deref().unwrap_or(RULES);
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            gzip.write_all(text.as_bytes()).unwrap();
            let stream = gzip.finish().unwrap();
            return Some([head.as_bytes(), &stream[..stream.len() - self.cut]].concat());
        }
        if let Some(head) = &self.utf_16 {
            let units = ['\u{feff}'].into_iter().chain(RULES.chars());
            let bytes = units.flat_map(|c| (c as u16).to_le_bytes());
            return Some(head.bytes().chain(bytes).collect());
        }
        let mut block = self.block.clone()?;
        if self.filler {
            block += &"# filler\n".repeat((500 << 10) / 9 + 1);
            block += RULES;
        }
        Some(block.into_bytes())
    }

    fn compile(&self) -> Snapshot {
        let mut compiler = Compiler::default();
        if let Some(line) = &self.line {
            compiler.add_reader("archive", line.as_bytes()).unwrap();
        } else if let Some(file) = &self.file {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("a.example.txt"), file).unwrap();
            compiler
                .add_paths(&[dir.path().to_owned()], &|_| {})
                .unwrap();
        } else {
            let block = self.record_block().expect("a block, a line or a file");
            let kind = self.kind.as_deref().unwrap_or("response");
            let truncated = self
                .truncated
                .as_ref()
                .map(|cause| format!("WARC-Truncated: {cause}\r\n"))
                .unwrap_or_default();
            let head = format!(
                "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {URL}\r\n\
                 WARC-Date: 2026-01-01T00:00:00Z\r\n{truncated}Content-Length: {}\r\n\r\n",
                block.len()
            );
            let record = [head.as_bytes(), &block, b"\r\n\r\n"].concat();
            compiler.add_reader("archive", &*record).unwrap();
        }
        Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
    }
}

#[test]
fn failures_do_not_pass_for_empty_texts() {
    for case in cases() {
        let snapshot = case.compile();
        let origin = Origin::of(URL.as_bytes()).unwrap();
        let entry = snapshot.origin(&origin).unwrap();
        let entry = entry.unwrap_or_else(|| panic!("{}: no outcome", case.name));
        let expected = match case.answer {
            Answer::Allowed => (OutcomeClass::Rules, "A"),
            Answer::Unreachable => (OutcomeClass::Unreachable, "D"),
        };
        let judge = Judge::new(
            &snapshot,
            &["FooBot".parse().unwrap()],
            JudgeOptions::default(),
        );
        let letter = annotate(&judge.unwrap(), "https://a.example/x");
        let found = (entry.outcome().class, &letter[..1]);
        assert_eq!(found, expected, "{}", case.name);
    }
}

#[test]
fn the_specification_lists_every_case() {
    let page = std::fs::read_to_string(checkout().join("docs/SEMANTICS.md")).unwrap();
    let (_, section) = page.split_once("### Every way to an empty text").unwrap();
    let (section, _) = section.split_once("\n### ").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let listed: Vec<String> = rows
        .skip(1)
        .map(|row| row.split(" | ").take(2).collect::<Vec<_>>().join(" | "))
        .collect();
    let cases: Vec<String> = cases()
        .iter()
        .map(|case| {
            let answer = match case.answer {
                Answer::Allowed => "allowed",
                Answer::Unreachable => "unreachable",
            };
            format!("| {} | {answer}", case.name)
        })
        .collect();
    assert_eq!(listed, cases);
}
