//! `check --expect`: compares verdicts and the entries of filter lists with those that a file
//! expects, so that a site can test its robots.txt before it goes live.

use super::{CheckArgs, find_entry, refuse_path};
use crate::ExitCode;
use crate::figures::counts::counted;
use crate::figures::escape::escape;
use crate::lists::match_columns;
use crate::output::{print, print_commands};
use crate::robots_file::{parse_robots, read_robots};
use crate::standard_streams::check_stdin;
use crate::stderr::print_line;
use crate::value_enums::ExpectFormat;
use anyhow::{Context, bail, ensure};
use robosieve::filter_lists::FilterLists;
use robosieve::judge::{Explanation, explain};
use robosieve::output::is_standard_stream;
use robosieve::{Agent, Judge, RobotsRef, Snapshot, Verdict};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

/// An expected verdict: a line of the file.
#[derive(Debug)]
struct Expectation {
    /// The number of the line, from 1.
    line: usize,
    url: String,
    /// The number of the agent in [`Expectations::agents`].
    agent: usize,
    verdict: Verdict,
}

/// What filter lists are expected to say about a URL.
#[derive(Debug)]
struct ListExpectation {
    /// The number of the line, from 1.
    line: usize,
    url: String,
    answer: ListAnswer,
}

/// What filter lists say about a URL, as the columns of a line.
#[derive(Debug, PartialEq, Eq)]
struct ListAnswer {
    /// `listed`, `exception`, or `-`: the URL is not listed.
    word: String,
    /// The names of the lists. An expectation without them takes any.
    lists: Option<String>,
    /// The entry. An expectation without it takes any.
    entry: Option<String>,
}

/// The content of the file.
#[derive(Debug, Default)]
struct Expectations {
    lines: Vec<Expectation>,
    list_lines: Vec<ListExpectation>,
    /// The agents, each once.
    agents: Vec<Agent>,
}

/// An expectation, and the answer.
struct Tested {
    /// The number of the line, from 1.
    line: usize,
    /// What gives the answer: the robots.txt, or the lists.
    source: &'static str,
    /// The agent and the URL, or the URL.
    name: String,
    expected: String,
    found: String,
    /// Why the answer is so, in a few words, if `found` does not say it.
    reason: Option<String>,
    differs: bool,
}

/// Compares the verdicts, and prints those that differ. The exit code is 1 if any does.
pub(super) fn run(args: &CheckArgs, file: &Path, quiet: bool) -> anyhow::Result<ExitCode> {
    let shown = file.display().to_string();
    let mut expectations = read_expectations(file).with_context(|| shown.clone())?;
    let is_standard_input_taken = [Some(file), args.robots.as_deref()]
        .into_iter()
        .flatten()
        .any(is_standard_stream);
    let lists = args
        .lists
        .open(!args.verify.no_verify, is_standard_input_taken)?;
    let lists = lists.as_ref().map(|own| &own.lists);
    match lists {
        Some(_) => expectations.expect_no_other_entries(),
        None => expectations.refuse_list_lines(),
    }
    .with_context(|| shown.clone())?;
    let mut tested = match (&args.snapshot, &args.robots) {
        (Some(path), _) => {
            let snapshot = args.open_snapshot(path, &expectations.agents)?;
            test_snapshot(args, &snapshot, &expectations)
                .with_context(|| path.display().to_string())?
        }
        (None, Some(path)) => {
            let body = read_robots(path).with_context(|| path.display().to_string())?;
            let robots = parse_robots(path, &body, args.profile)?.0;
            args.judge
                .agents
                .check_spelling_by(&expectations.agents, &robots)?;
            test_robots(args, &robots, &expectations)
        }
        (None, None) => bail!("give a snapshot (-s SNAP) or a robots.txt file (--robots FILE)"),
    };
    if let Some(lists) = lists {
        tested.extend(test_lists(lists, &expectations)?);
        tested.sort_by_key(|tested| tested.line);
    }
    let differing: Vec<&Tested> = tested.iter().filter(|tested| tested.differs).collect();
    match args.format.unwrap_or(ExpectFormat::Text) {
        ExpectFormat::Text => print(&text_of(&differing, &shown))?,
        ExpectFormat::Github => print_commands(&annotations(&differing, &shown))?,
        ExpectFormat::Junit => print(&junit(&tested, differing.len(), &shown))?,
    }
    let differing = differing.len();
    if !quiet {
        print_line(format_args!(
            "robosieve: {}, {} with another {}",
            counted(tested.len() as u64, "expectation"),
            if differing == 0 {
                "none".to_owned()
            } else {
                differing.to_string()
            },
            if lists.is_some() { "answer" } else { "verdict" }
        ));
    }
    Ok(ExitCode::from(u8::from(differing > 0)))
}

/// Reads a file of expectations; `-` is standard input.
fn read_expectations(file: &Path) -> anyhow::Result<Expectations> {
    check_stdin([file])?;
    let text = if is_standard_stream(file) {
        std::io::read_to_string(std::io::stdin())?
    } else {
        std::fs::read_to_string(file)?
    };
    Expectations::parse(&text)
}

impl Expectations {
    /// Parses the file: URL, agent and verdict, separated by TABs; or verdict, agent and URL, as
    /// `check` prints them; or what lists say, the lists, the entry and URL, as `check` prints them
    /// too. Empty lines and lines that begin with `#` are skipped.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut expectations = Self::default();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.trim();
            if !content.is_empty() && !content.starts_with('#') {
                expectations
                    .add(line, content)
                    .with_context(|| format!("line {line}"))?;
            }
        }
        ensure!(
            !expectations.lines.is_empty() || !expectations.list_lines.is_empty(),
            "expects nothing; write lines of URL, agent and verdict, separated by TABs"
        );
        Ok(expectations)
    }

    fn add(&mut self, line: usize, content: &str) -> anyhow::Result<()> {
        let fields: Vec<&str> = content.split('\t').map(str::trim).collect();
        if let Some(word @ ("listed" | "exception" | "-")) = fields.first().copied() {
            let [_, lists, entry, url] = fields[..] else {
                bail!(
                    "{} of four; write {word}, lists, entry and URL, separated by TABs",
                    counted(fields.len() as u64, "field")
                );
            };
            let column = |text: &str| (!matches!(text, "" | "-")).then(|| text.to_owned());
            self.list_lines.push(ListExpectation {
                line,
                url: url.to_owned(),
                answer: ListAnswer {
                    word: word.to_owned(),
                    lists: column(lists),
                    entry: column(entry),
                },
            });
            return Ok(());
        }
        let [first, agent, last, ..] = fields[..] else {
            bail!(
                "{} of three; write URL, agent and verdict, separated by TABs",
                counted(fields.len() as u64, "field")
            );
        };
        // The verdict shows which of the two orders a line has. Columns of preferences may follow.
        let (url, verdict) = match (verdict_named(first), verdict_named(last)) {
            (_, Some(verdict)) if fields.len() == 3 => (first, verdict),
            (Some(verdict), _) => (last, verdict),
            _ => bail!("{last:?} is not a verdict; write allowed or disallowed"),
        };
        let agent: Agent = agent.parse()?;
        let known = self.agents.iter().position(|other| other.is_same(&agent));
        let agent = known.unwrap_or_else(|| {
            self.agents.push(agent);
            self.agents.len() - 1
        });
        self.lines.push(Expectation {
            line,
            url: url.to_owned(),
            agent,
            verdict,
        });
        Ok(())
    }

    /// Without lists, nothing gives the answers that such lines expect.
    fn refuse_list_lines(&mut self) -> anyhow::Result<()> {
        match self.list_lines.first() {
            Some(line) => bail!(
                "line {}: expects an answer of filter lists; name them with --lists or --block",
                line.line
            ),
            None => Ok(()),
        }
    }

    /// Expects of each URL without such a line that it is not listed: `check` would print a line.
    fn expect_no_other_entries(&mut self) -> anyhow::Result<()> {
        let mut known: HashSet<String> = HashSet::new();
        known.extend(self.list_lines.iter().map(|line| line.url.clone()));
        for expected in &self.lines {
            refuse_path(&expected.url).with_context(|| format!("line {}", expected.line))?;
            if known.insert(expected.url.clone()) {
                self.list_lines.push(ListExpectation {
                    line: expected.line,
                    url: expected.url.clone(),
                    answer: ListAnswer::not_listed(),
                });
            }
        }
        Ok(())
    }

    /// Each expectation with its agent.
    fn iter(&self) -> impl Iterator<Item = (&Expectation, &Agent)> {
        self.lines
            .iter()
            .map(|line| (line, &self.agents[line.agent]))
    }
}

impl ListAnswer {
    fn not_listed() -> Self {
        Self {
            word: "-".to_owned(),
            lists: None,
            entry: None,
        }
    }

    /// What the lists say about a URL.
    fn of(lists: &FilterLists, url: &str) -> anyhow::Result<Self> {
        let Some(found) = find_entry(Some(lists), url)? else {
            return Ok(Self::not_listed());
        };
        let columns = match_columns(&found)?;
        let mut columns = columns.split('\t').map(str::to_owned);
        Ok(Self {
            word: columns.next().unwrap_or_default(),
            lists: columns.next(),
            entry: columns.next(),
        })
    }

    /// Whether an answer is as this one expects. A URL that an exception covers is not listed.
    fn accepts(&self, found: &Self) -> bool {
        let is_same = |expected: &Option<String>, found| expected.is_none() || expected == found;
        match self.word.as_str() {
            "-" => found.word != "listed",
            word => {
                word == found.word
                    && is_same(&self.lists, &found.lists)
                    && is_same(&self.entry, &found.entry)
            }
        }
    }

    fn description(&self) -> String {
        let mut text = match self.word.as_str() {
            "listed" => "listed",
            "exception" => "excepted",
            _ => "not listed",
        }
        .to_owned();
        for (word, column) in [("by", &self.lists), ("with", &self.entry)] {
            if let Some(column) = column {
                let _ = write!(text, " {word} {column}");
            }
        }
        text
    }
}

/// The verdict of a name.
fn verdict_named(name: &str) -> Option<Verdict> {
    let all = [
        Verdict::Allowed,
        Verdict::Disallowed,
        Verdict::Unknown,
        Verdict::Invalid,
    ];
    all.into_iter().find(|verdict| verdict.name() == name)
}

fn test_snapshot(
    args: &CheckArgs,
    snapshot: &Snapshot,
    expectations: &Expectations,
) -> anyhow::Result<Vec<Tested>> {
    let judge = Judge::new(snapshot, &expectations.agents, args.options())?;
    let mut tested = Vec::new();
    for (expected, agent) in expectations.iter() {
        let explanation = judge.explain(expected.url.as_bytes(), expected.agent)?;
        let reason = match &explanation.rules {
            Some(rules) => reason_of(rules),
            None => explanation.reason.description().to_owned(),
        };
        tested.push(Tested::of_verdict(
            expected,
            agent,
            explanation.verdict,
            reason,
        ));
    }
    Ok(tested)
}

fn test_robots(
    args: &CheckArgs,
    robots: &RobotsRef<'_>,
    expectations: &Expectations,
) -> Vec<Tested> {
    let agent_match = args.judge.agents.agent_match;
    expectations
        .iter()
        .map(|(expected, agent)| {
            let explanation = explain(robots, agent, agent_match, expected.url.as_bytes());
            let reason = reason_of(&explanation);
            Tested::of_verdict(expected, agent, explanation.verdict, reason)
        })
        .collect()
}

fn test_lists(lists: &FilterLists, expectations: &Expectations) -> anyhow::Result<Vec<Tested>> {
    let mut tested = Vec::new();
    for expected in &expectations.list_lines {
        let found = ListAnswer::of(lists, &expected.url)?;
        tested.push(Tested {
            line: expected.line,
            source: "lists",
            name: expected.url.clone(),
            expected: expected.answer.description(),
            found: found.description(),
            reason: None,
            differs: !expected.answer.accepts(&found),
        });
    }
    Ok(tested)
}

/// The deciding rule.
fn reason_of(rules: &Explanation) -> String {
    match &rules.deciding {
        _ if rules.verdict == Verdict::Invalid => {
            "neither a URL nor a path, which begins with /".to_owned()
        }
        Some(rule) => format!("robots.txt line {}: {}", rule.line, rule.text),
        None => "no rule matches".to_owned(),
    }
}

impl Tested {
    fn of_verdict(expected: &Expectation, agent: &Agent, found: Verdict, reason: String) -> Self {
        Self {
            line: expected.line,
            source: "robots.txt",
            name: format!("{} {}", agent.label(), expected.url),
            expected: expected.verdict.name().to_owned(),
            found: found.name().to_owned(),
            reason: Some(reason),
            differs: found != expected.verdict,
        }
    }

    /// The difference in one sentence.
    fn difference(&self) -> String {
        let Self {
            name,
            expected,
            found,
            ..
        } = self;
        let because = self.reason.as_ref().map(|reason| format!(" ({reason})"));
        let because = because.unwrap_or_default();
        format!("expected {expected}, but {name} is {found}{because}")
    }
}

/// A line for each difference, as compilers print them.
fn text_of(differing: &[&Tested], file: &str) -> String {
    let mut out = String::new();
    for tested in differing {
        let _ = writeln!(
            out,
            "{}:{}: {}",
            escape(file),
            tested.line,
            escape(&tested.difference())
        );
    }
    out
}

/// Workflow commands of GitHub Actions, which show each difference at its line.
fn annotations(differing: &[&Tested], file: &str) -> String {
    let mut out = String::new();
    for tested in differing {
        let _ = writeln!(
            out,
            "::error file={},line={},title={}::{}",
            escaped_property(&escape(file)),
            tested.line,
            tested.source,
            escaped_data(&escape(&tested.difference()))
        );
    }
    out
}

/// The text of a workflow command; `%` begins an escape there.
fn escaped_data(text: &str) -> String {
    text.replace('%', "%25")
}

/// A property of a workflow command; `:` and `,` end one.
fn escaped_property(text: &str) -> String {
    escaped_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A report in the XML format of JUnit, which most CI services read: a test case per expectation.
fn junit(tested: &[Tested], differing: usize, file: &str) -> String {
    let counts = format!("tests=\"{}\" failures=\"{differing}\"", tested.len());
    let file = escaped_xml(file);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n\
         <testsuite name=\"{file}\" {counts}>\n"
    );
    for tested in tested {
        let _ = write!(
            out,
            "<testcase classname=\"{}\" name=\"{}\" file=\"{file}\" line=\"{}\"",
            tested.source,
            escaped_xml(&tested.name),
            tested.line
        );
        let _ = if tested.differs {
            let message = escaped_xml(&tested.difference());
            writeln!(out, "><failure message=\"{message}\"/></testcase>")
        } else {
            writeln!(out, "/>")
        };
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// A text as the value of an attribute. XML allows no control characters, so they are shown escaped.
fn escaped_xml(text: &str) -> String {
    let mut out = String::new();
    for c in escape(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Not characters of XML 1.0, and not escaped above.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_of_columns_are_read() {
        let text = "# a comment\n\n/x\tGPTBot\tdisallowed\r\nallowed\tGPTBot\t/y\n\
                    allowed\tCCBot\t/z\tcontent-usage: train-ai=n\n";
        let expectations = Expectations::parse(text).unwrap();
        let lines: Vec<_> = expectations
            .iter()
            .map(|(line, agent)| (line.line, line.url.as_str(), agent.label(), line.verdict))
            .collect();
        assert_eq!(
            lines,
            [
                (3, "/x", "GPTBot", Verdict::Disallowed),
                (4, "/y", "GPTBot", Verdict::Allowed),
                (5, "/z", "CCBot", Verdict::Allowed),
            ]
        );
        assert_eq!(expectations.agents.len(), 2);
    }

    #[test]
    fn defects_name_the_line_and_a_remedy() {
        for (text, message) in [
            ("", "expects nothing; write lines of URL, agent and verdict"),
            (
                "# x\n/x GPTBot allowed\n",
                "line 2: 1 field of three; write",
            ),
            (
                "/x\tGPTBot\tallow\n",
                "line 1: \"allow\" is not a verdict; write",
            ),
            ("/x\t\tallowed\n", "line 1: agent \"\""),
            (
                "listed\tads\thttps://e.example/\n",
                "line 1: 3 fields of four; write listed, lists, entry and URL",
            ),
            ("/x\t@ai\tallowed\n", "line 1: agent \"@ai\""),
        ] {
            let err = format!("{:#}", Expectations::parse(text).unwrap_err());
            assert!(err.starts_with(message), "{text:?}: {err}");
        }
    }

    #[test]
    fn texts_are_safe_in_each_format() {
        assert_eq!(
            escaped_xml("<a b=\"c\"> & \u{1b}"),
            "&lt;a b=&quot;c&quot;&gt; &amp; \\u{1b}"
        );
        assert_eq!(escaped_property("a:b,c%"), "a%3Ab%2Cc%25");
    }
}
