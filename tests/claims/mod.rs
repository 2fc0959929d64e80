//! The figures of README.md, docs/PERFORMANCE.md and python/README.md are those of the newest records
//! in `benches/record`.
//!
//! For each page, a file of this directory lists all texts that have numbers:
//!
//! - `[claims]` has a list for each record: a text, in which each `{}` stands for a figure, and where
//!   the record has its figures. Each must be that of the record, rounded to the digits of the text.
//!   A record without a date is the newest one of its name.
//! - `[constants]`: texts with numbers that nobody measured, and the reason.
//!
//! A text must occur exactly once in its page, and each number of the page must be in one of the
//! texts. So a changed number fails, and so does a new sentence that is not listed. Code, addresses
//! of links and numbers of RFCs do not count.
//!
//! A figure is one of these, or the quotient of two (`A / B`):
//!
//! - `CONTEXT > ROW > COLUMN`: a cell of a table. `A|B` are several columns. Contexts choose among
//!   tables: a heading, the bold words above, or the first cell of the head. The second column of a
//!   name is `NAME (2)`.
//! - `~TEXT {} TEXT`: a number in the prose. ` ... ` stands for any text.
//! - `FIGURE * NUMBER`: a figure with a factor.
//! - `date`: the day of the record.

use crate::command::checkout;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    /// For each record, texts and their figures.
    claims: BTreeMap<String, Vec<Vec<String>>>,
    constants: BTreeMap<String, String>,
}

/// A match of a pattern in a text.
struct Match {
    start: usize,
    end: usize,
    /// The numbers at the holes of the pattern.
    numbers: Vec<String>,
}

/// A cell of a table of a record.
struct Cell {
    contexts: Vec<String>,
    row: String,
    column: String,
    value: String,
}

struct Record {
    /// The file name, which begins with the date.
    name: String,
    prose: String,
    cells: Vec<Cell>,
}

/// Replaces each run of white space with one blank.
fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a page without its blocks of code.
fn prose(page: &str) -> String {
    let outside = page.split("```").step_by(2);
    collapse(&outside.collect::<Vec<_>>().join(" "))
}

/// The length of the number at the start of a text: digits with commas, points, and the hyphens of
/// a date. 0 if there is none.
fn number_len(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    let len = text
        .find(|c: char| !c.is_ascii_digit() && !",.-".contains(c))
        .unwrap_or(text.len());
    text[..len].trim_end_matches([',', '.', '-']).len()
}

/// Matches a pattern at the start of a text: the end of the match, and the numbers of its holes.
fn match_start(pattern: &str, text: &str, numbers: &mut Vec<String>) -> Option<usize> {
    let hole = pattern.find("{}").unwrap_or(pattern.len());
    let gap = pattern.find(" ... ").unwrap_or(pattern.len());
    let literal = &pattern[..hole.min(gap)];
    let rest = text.strip_prefix(literal)?;
    if literal.len() == pattern.len() {
        return Some(literal.len());
    }
    let held = numbers.len();
    if hole < gap {
        let len = number_len(rest);
        numbers.push(rest[..len].to_owned());
        let end = match_start(&pattern[hole + 2..], &rest[len..], numbers);
        if len > 0 && end.is_some() {
            return end.map(|end| literal.len() + len + end);
        }
    } else {
        for at in rest.char_indices().map(|(at, _)| at) {
            if let Some(end) = match_start(&pattern[gap + 5..], &rest[at..], numbers) {
                return Some(literal.len() + at + end);
            }
        }
    }
    numbers.truncate(held);
    None
}

/// All matches of a pattern in a text. A match begins no number in its middle.
fn matches(pattern: &str, text: &str) -> Vec<Match> {
    let mut found = Vec::new();
    for start in text.char_indices().map(|(at, _)| at) {
        let in_number = text[..start].ends_with(|c: char| c.is_ascii_digit() || ",.".contains(c))
            && text[start..].starts_with(|c: char| c.is_ascii_digit());
        let mut numbers = Vec::new();
        if in_number {
            continue;
        }
        if let Some(len) = match_start(pattern, &text[start..], &mut numbers) {
            let end = start + len;
            found.push(Match {
                start,
                end,
                numbers,
            });
        }
    }
    found
}

/// The only match of a text in a page.
fn find(pattern: &str, page: &str) -> Result<Match, String> {
    let pattern = collapse(pattern);
    let mut found = matches(&pattern, page);
    match found.len() {
        1 => Ok(found.remove(0)),
        times => Err(format!("occurs {times} times, not once: {pattern}")),
    }
}

/// The cells of a line of a table.
fn table_line(line: &str) -> Vec<&str> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(str::trim).collect()
}

/// The names of the columns, of which the second of a name is `NAME (2)`.
fn columns(head: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in head {
        let again = names.iter().any(|earlier| earlier == name);
        names.push(if again {
            format!("{name} (2)")
        } else {
            (*name).to_owned()
        });
    }
    names
}

impl Record {
    /// Reads a record, or the newest one of a name without a date.
    fn named(name: &str) -> Self {
        let folder = checkout().join("benches/record");
        let suffix = format!("{name}.md");
        let names = fs::read_dir(&folder).unwrap().map(|entry| {
            let name = entry.unwrap().file_name();
            name.into_string().unwrap()
        });
        let dated = names.filter(|file| {
            file.strip_suffix(&suffix)
                .is_some_and(|day| day.is_empty() || day.len() == "2026-11-27-".len())
        });
        let file = dated.max().unwrap_or_else(|| panic!("no record {name}"));
        let text = fs::read_to_string(folder.join(&file)).unwrap();
        Self::parse(file, &text)
    }

    fn parse(name: String, text: &str) -> Self {
        let mut cells = Vec::new();
        let mut heading = String::new();
        let mut bold = String::new();
        let mut head: Vec<String> = Vec::new();
        for line in text.lines() {
            if !line.starts_with('|') {
                head.clear();
            }
            if line.starts_with('#') {
                line.trim_start_matches('#').trim().clone_into(&mut heading);
                bold.clear();
            } else if let Some(rest) = line.strip_prefix("**") {
                bold = rest.split("**").next().unwrap().to_owned();
            } else if line.starts_with('|') && head.is_empty() {
                head = columns(&table_line(line));
            } else if line.starts_with('|') && !line.contains("---") {
                let fields = table_line(line);
                for (column, value) in head.iter().zip(&fields).skip(1) {
                    cells.push(Cell {
                        contexts: vec![heading.clone(), bold.clone(), head[0].clone()],
                        row: fields[0].to_owned(),
                        column: column.clone(),
                        value: (*value).to_owned(),
                    });
                }
            }
        }
        Self {
            name,
            prose: collapse(text),
            cells,
        }
    }

    /// The value of the only cell of a row and column in the given contexts.
    fn cell(&self, contexts: &[&str], row: &str, column: &str) -> Result<String, String> {
        let found: Vec<&Cell> = self
            .cells
            .iter()
            .filter(|cell| cell.row == row && cell.column == column)
            .filter(|cell| {
                contexts
                    .iter()
                    .all(|context| cell.contexts.iter().any(|known| known == context))
            })
            .collect();
        match found.as_slice() {
            [cell] => Ok(cell.value.clone()),
            cells => Err(format!(
                "{} cells: {contexts:?} {row} > {column}",
                cells.len()
            )),
        }
    }

    /// The values of a figure, as text.
    fn values(&self, figure: &str) -> Result<Vec<String>, String> {
        if figure == "date" {
            return Ok(vec![self.name[..10].to_owned()]);
        }
        let quotient = figure
            .split_once(" / ")
            .filter(|_| !figure.starts_with('~'));
        if let Some((dividend, divisor)) = quotient {
            let dividend = number_value(&self.values(dividend)?[0])?;
            let divisor = number_value(&self.values(divisor)?[0])?;
            return Ok(vec![(dividend / divisor).to_string()]);
        }
        let product = figure
            .rsplit_once(" * ")
            .and_then(|(figure, factor)| Some((figure, factor.parse::<f64>().ok()?)));
        if let Some((figure, factor)) = product {
            let value = number_value(&self.values(figure)?[0])?;
            return Ok(vec![(value * factor).to_string()]);
        }
        if let Some(pattern) = figure.strip_prefix('~') {
            return Ok(vec![find(pattern, &self.prose)?.numbers.remove(0)]);
        }
        let parts: Vec<&str> = figure.split(" > ").collect();
        let [contexts @ .., row, columns] = parts.as_slice() else {
            return Err(format!("not a figure: {figure}"));
        };
        columns
            .split('|')
            .map(|column| self.cell(contexts, row, column))
            .collect()
    }
}

/// The number at the start of a cell or text, such as `944/1000` or `1,964`.
fn number_value(text: &str) -> Result<f64, String> {
    let digits = text.split(['/', '%']).next().unwrap().replace(',', "");
    digits.parse().map_err(|_| format!("not a number: {text}"))
}

/// Whether a figure of a page is a value of a record, rounded to the digits of the page, and up from
/// the middle.
fn is_rounded(figure: &str, value: &str) -> bool {
    let is_number = figure.matches('.').count() <= 1 && !figure.contains('-');
    if !is_number {
        // A date, or the version of a library.
        return figure == value;
    }
    let (Ok(stated), Ok(recorded)) = (number_value(figure), number_value(value)) else {
        return false;
    };
    let decimals = figure
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 * 10f64.powi(-i32::try_from(decimals).unwrap());
    // The middle itself is not an exact number in binary.
    let slack = half * 1e-6;
    recorded >= stated - half - slack && recorded < stated + half - slack
}

/// The section of a page around a position: from one heading of the second level to the next.
fn section(page: &str, at: usize) -> Option<&str> {
    let start = page[..at].rfind(" ## ")?;
    let end = page[at..].find(" ## ").map_or(page.len(), |len| at + len);
    Some(&page[start..end])
}

/// The values of a claim in its record, one for each number of its text.
fn recorded(figures: &[String], record: &Record, found: &Match) -> Result<Vec<String>, String> {
    let mut values = Vec::new();
    for figure in figures {
        values.extend(record.values(figure)?);
    }
    if found.numbers.len() == values.len() {
        return Ok(values);
    }
    let numbers = found.numbers.len();
    Err(format!("{} figures for {numbers} numbers", values.len()))
}

/// Compares the figures of a claim with its record. A section must link the records of its figures;
/// the lines before the first section give their days only.
fn check_claim(
    record: &Record,
    claim: &[String],
    page: &str,
    found: &Match,
    links: bool,
) -> Result<(), String> {
    let failed = |error: String| format!("{}: {error}: {}", record.name, claim[0]);
    let values = recorded(&claim[1..], record, found).map_err(failed)?;
    for (number, value) in found.numbers.iter().zip(&values) {
        if !is_rounded(number, value) {
            return Err(failed(format!("has {value}, the page has {number}")));
        }
    }
    let link = format!("benches/record/{}", record.name);
    let section = section(page, found.start).filter(|_| links);
    if section.is_some_and(|section| !section.contains(&link)) {
        return Err(failed("the section has no link to it".to_owned()));
    }
    Ok(())
}

/// The numbers of a page outside of the given matches, each with the words around it.
fn numbers_outside(page: &str, matches: &[Match]) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    let mut address = false;
    let mut at = 0;
    while at < page.len() {
        let rest = &page[at..];
        let previous = page[..at].chars().next_back().unwrap_or(' ');
        code ^= rest.starts_with('`');
        address = (address || rest.starts_with("](")) && !rest.starts_with(')');
        let len = number_len(rest);
        let counts =
            !code && !address && !previous.is_alphanumeric() && !page[..at].ends_with("RFC ");
        let covered = matches
            .iter()
            .any(|found| found.start <= at && at + len <= found.end);
        if len > 0 && counts && !covered {
            let start = page[..at]
                .char_indices()
                .rev()
                .nth(40)
                .map_or(0, |(start, _)| start);
            let around: String = page[start..].chars().take(80).collect();
            found.push(format!("{} in: …{around}…", &rest[..len]));
        }
        at += len.max(rest.chars().next().unwrap().len_utf8());
    }
    found
}

/// Everything that is wrong with the figures of a page.
fn errors(text: &str, list: &str, links: bool) -> Vec<String> {
    let page = prose(text);
    let list: Page = toml::from_str(list).unwrap();
    let mut errors = Vec::new();
    let mut matches = Vec::new();
    for (name, claims) in &list.claims {
        let record = Record::named(name);
        for claim in claims {
            match find(&claim[0], &page) {
                Ok(found) => {
                    errors.extend(check_claim(&record, claim, &page, &found, links).err());
                    matches.push(found);
                }
                Err(error) => errors.push(error),
            }
        }
    }
    for (text, reason) in &list.constants {
        assert!(!reason.is_empty(), "no reason: {text}");
        match find(text, &page) {
            Ok(found) => matches.push(found),
            Err(error) => errors.push(error),
        }
    }
    errors.extend(
        numbers_outside(&page, &matches)
            .into_iter()
            .map(|number| format!("not listed: {number}")),
    );
    errors
}

#[test]
fn figures_of_the_pages_are_recorded() {
    let pages = [
        ("README.md", include_str!("readme.toml"), false),
        (
            "docs/PERFORMANCE.md",
            include_str!("performance.toml"),
            true,
        ),
        ("python/README.md", include_str!("python.toml"), false),
    ];
    for (page, list, links) in pages {
        let text = fs::read_to_string(checkout().join(page)).unwrap();
        let errors = errors(&text, list, links).join("\n");
        assert!(errors.is_empty(), "{page}:\n{errors}");
    }
}

/// The bars of the README have the times of the newest record, for both backgrounds.
#[test]
fn times_of_the_bars_are_recorded() {
    let record = Record::named("bulk-real");
    let mut times: Vec<&str> = Vec::new();
    for cell in &record.cells {
        let is_of_a_filter = cell.contexts.iter().any(|context| context == "filter");
        // The second command alone has no bar.
        let has_bar = !cell.row.starts_with("robosieve, `filter`");
        if cell.column == "seconds" && is_of_a_filter && has_bar {
            times.push(&cell.value);
        }
    }
    assert!(times.len() > 5, "{times:?}");
    for background in ["light", "dark"] {
        let path = checkout().join(format!("docs/bulk-{background}.svg"));
        let picture = fs::read_to_string(path).unwrap();
        let drawn: Vec<&str> = picture
            .split(" s</text>")
            .filter_map(|text| text.rsplit('>').next())
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .collect();
        assert_eq!(drawn, times, "{background}");
    }
}

#[test]
fn unlisted_numbers_are_noticed() {
    let list = "constants = {}
        [claims]
        2026-11-26-commands-real = [['Judging takes {} times as long.', 'filter, sorted > ratio']]";
    let right = "Judging takes 1.18 times as long. RFC 9309 and `code 7` are no figures.";
    assert_eq!(errors(right, list, false), [""; 0]);
    for wrong in [
        "Judging takes 1.19 times as long.",
        "Judging takes 1.18 times as long. Parsing takes 3 ns.",
        "Parsing takes 1.18 times as long.",
        "Judging takes 1.18 times as long. Judging takes 1.18 times as long.",
    ] {
        assert!(!errors(wrong, list, false).is_empty(), "{wrong}");
    }
    // No section links the record.
    let linked = "# Speed ## Path Judging takes 1.18 times as long.";
    assert_eq!(errors(linked, list, true).len(), 1);
}
