//! The snapshots of `--series`, each with its label: a given one, or the date in the name of its
//! file.

use crate::history_args::snapshot_as_of;
use crate::inputs::expand_globs;
use crate::verify_args::VerifyArgs;
use anyhow::{anyhow, bail};
use jiff::civil::{Date, ISOWeekDate, Weekday};
use robosieve::Snapshot;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

/// A snapshot of the series, and its label.
pub(super) struct LabelledSnapshot {
    pub label: String,
    pub path: PathBuf,
    /// The time, for a snapshot with a history.
    pub as_of: Option<i64>,
}

impl LabelledSnapshot {
    /// Opens the snapshot, as of its time if it has one.
    pub(super) fn open(&self, verify: &VerifyArgs) -> robosieve::Result<Snapshot> {
        let snapshot = Snapshot::open(&self.path)?;
        verify.all(&snapshot, &self.path)?;
        match self.as_of {
            Some(time) => snapshot_as_of(&snapshot, &self.path, time),
            None => Ok(snapshot),
        }
    }
}

/// The snapshots of `LABEL=SNAP` in the order given; or of names and globs, in the order of the
/// dates in the names.
pub(super) fn parse_series(arguments: &[String]) -> anyhow::Result<Vec<LabelledSnapshot>> {
    let with_label = arguments.iter().find(|argument| argument.contains('='));
    let without = arguments.iter().find(|argument| !argument.contains('='));
    match (with_label, without) {
        // The order of the command line and that of dates cannot both hold.
        (Some(with_label), Some(without)) => bail!(
            "--series {without}: has no label, and {with_label} has one; give each snapshot a \
             label, or none, if all names have dates"
        ),
        (Some(_), None) => labelled(arguments),
        _ => dated(arguments),
    }
}

/// Parses `LABEL=SNAP`. The label ends at the first `=`.
fn labelled(arguments: &[String]) -> anyhow::Result<Vec<LabelledSnapshot>> {
    let mut snapshots: Vec<LabelledSnapshot> = Vec::new();
    for argument in arguments {
        let parts = argument
            .split_once('=')
            .filter(|(label, path)| !label.is_empty() && !path.is_empty());
        let Some((label, path)) = parts else {
            bail!("--series {argument}: give each snapshot a label: 2025-01={argument}");
        };
        if snapshots.iter().any(|earlier| earlier.label == label) {
            bail!(
                "--series {argument}: an earlier snapshot has the label {label} too; give each its \
                 own"
            );
        }
        snapshots.push(LabelledSnapshot {
            label: label.to_owned(),
            path: PathBuf::from(path),
            as_of: None,
        });
    }
    Ok(snapshots)
}

/// Expands globs, and sorts the files by the dates in their names.
fn dated(arguments: &[String]) -> anyhow::Result<Vec<LabelledSnapshot>> {
    let paths: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    let mut snapshots = Vec::new();
    for path in expand_globs(&paths)? {
        snapshots.push((date_of(&path)?, path));
    }
    snapshots.sort_by_key(|(date, _)| date.start);
    // A series has no order between snapshots of one date.
    for pair in snapshots.windows(2) {
        if let [(earlier, one), (later, other)] = pair
            && earlier.start == later.start
        {
            bail!(
                "--series: {} and {} have the same date, {}; give each snapshot a label: \
                 2025-01={1}",
                one.display(),
                other.display(),
                later.start
            );
        }
    }
    let labelled = snapshots.into_iter().map(|(date, path)| LabelledSnapshot {
        label: date.label,
        path,
        as_of: None,
    });
    Ok(labelled.collect())
}

/// A date in the name of a file: a day, a month or a week.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NameDate {
    /// As ISO 8601 writes it: `2026-09-15`, `2026-09` or `2026-W38`.
    label: String,
    /// Its first day.
    start: Date,
}

/// The only date in the name of a file.
fn date_of(path: &Path) -> anyhow::Result<NameDate> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let problem = match dates_in(&name).as_slice() {
        [date] => return Ok(date.clone()),
        [] => "the name has no date such as 2025-01-31, 20250131, 2025-01 or CC-MAIN-2025-05",
        _ => "the name has several dates",
    };
    let path = path.display();
    Err(anyhow!(
        "--series {path}: {problem}; give each snapshot a label: 2025-01={path}"
    ))
}

/// All dates in a name.
fn dates_in(name: &str) -> Vec<NameDate> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = name[at..].find(|c: char| c.is_ascii_digit()) {
        let (before, text) = name.split_at(at + offset);
        let (date, len) = date_at(before, text).unzip();
        found.extend(date);
        at = before.len() + len.unwrap_or(digit_count(text));
    }
    found
}

fn digit_count(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The number that exactly this many digits at the start of a text write.
fn number(text: &str, digits: usize) -> Option<(i16, &str)> {
    let is_whole = digit_count(text) == digits;
    let number = text.get(..digits).filter(|_| is_whole)?.parse().ok()?;
    Some((number, &text[digits..]))
}

/// The date that begins with these digits, and its length. `before` is the text before it.
fn date_at(before: &str, text: &str) -> Option<(NameDate, usize)> {
    // A day without separators, perhaps with a time behind it, as in the names of WARC files.
    if matches!(digit_count(text), 8 | 14) {
        let part = |range: Range<usize>| text.get(range)?.parse().ok();
        let date = day(part(0..4)?, part(4..6)?, part(6..8)?)?;
        return Some((date, digit_count(text)));
    }
    let (year, after_year) = number(text, 4)?;
    let len = |rest: &str| text.len() - rest.len();
    if let Some((week, rest)) = week_number(before, after_year) {
        return Some((week_date(year, week)?, len(rest)));
    }
    let separator = after_year.chars().next().filter(|c| "-_.".contains(*c))?;
    let (month, after_month) = number(after_year.strip_prefix(separator)?, 2)?;
    let of_day = after_month
        .strip_prefix(separator)
        .and_then(|rest| number(rest, 2));
    match of_day {
        Some((of_month, rest)) => Some((day(year, month, of_month)?, len(rest))),
        None => {
            let date = NameDate {
                label: format!("{year}-{month:02}"),
                ..day(year, month, 1)?
            };
            Some((date, len(after_month)))
        }
    }
}

/// The week after a year: `2026-W38`, `2026W38`, and `CC-MAIN-2026-38` as Common Crawl names its
/// crawls.
fn week_number<'t>(before: &str, after_year: &'t str) -> Option<(i16, &'t str)> {
    let separated = after_year.strip_prefix('-');
    let marked = separated.unwrap_or(after_year);
    if let Some(week) = marked.strip_prefix(['W', 'w']) {
        return number(week, 2);
    }
    let is_crawl = before.to_ascii_uppercase().ends_with("CC-MAIN-");
    separated
        .filter(|_| is_crawl)
        .and_then(|week| number(week, 2))
}

/// The years that digits in a name may mean. Others are numbers of something else.
const YEARS: RangeInclusive<i16> = 1990..=2099;

fn day(year: i16, month: i16, of_month: i16) -> Option<NameDate> {
    let start = Date::new(year, month.try_into().ok()?, of_month.try_into().ok()?).ok()?;
    YEARS.contains(&year).then(|| NameDate {
        label: start.to_string(),
        start,
    })
}

fn week_date(year: i16, week: i16) -> Option<NameDate> {
    let week = ISOWeekDate::new(year, week.try_into().ok()?, Weekday::Monday).ok()?;
    YEARS.contains(&year).then(|| NameDate {
        label: format!("{year}-W{:02}", week.week()),
        start: week.date(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_dates_in_several_forms() {
        for (name, expected) in [
            ("2026-09-15.rsieve", &["2026-09-15"][..]),
            ("web-2026-09.rsieve", &["2026-09"]),
            ("web_2026_09_15_v2.rsieve", &["2026-09-15"]),
            ("2026.09.15.rsieve", &["2026-09-15"]),
            ("20260915.rsieve", &["2026-09-15"]),
            ("20260915T060000Z.rsieve", &["2026-09-15"]),
            (
                "CC-MAIN-20260915060000-20260915090000-00001.rsieve",
                &["2026-09-15", "2026-09-15"],
            ),
            ("CC-MAIN-2026-38.rsieve", &["2026-W38"]),
            ("cc-main-2026-09-small.rsieve", &["2026-W09"]),
            ("robots-2026-W38.rsieve", &["2026-W38"]),
            ("robots-2026w01.rsieve", &["2026-W01"]),
            ("2026-08_2026-09.rsieve", &["2026-08", "2026-09"]),
            ("\u{e4}2026-09\u{e4}.rsieve", &["2026-09"]),
            // Not dates: no such day, month, week or year, or another number of digits.
            ("2026-02-30.rsieve", &[]),
            ("2026-13.rsieve", &[]),
            ("CC-MAIN-2026-54.rsieve", &[]),
            ("1234-05-06.rsieve", &[]),
            ("12345678.rsieve", &[]),
            ("2026-9.rsieve", &[]),
            ("202609.rsieve", &[]),
            ("2026.rsieve", &[]),
            ("web.rsieve", &[]),
            ("", &[]),
        ] {
            let labels: Vec<String> = dates_in(name).into_iter().map(|date| date.label).collect();
            assert_eq!(labels, expected, "{name}");
        }
    }

    #[test]
    fn months_weeks_and_days_have_one_order() {
        let start = |name: &str| dates_in(name)[0].start;
        assert!(start("2026-09") < start("CC-MAIN-2026-38"));
        assert_eq!(start("CC-MAIN-2026-38"), start("2026-09-14"), "a Monday");
        assert!(start("20260915") < start("2026-10"));
        assert_eq!(start("CC-MAIN-2026-01"), start("20251229"));
    }
}
