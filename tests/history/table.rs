//! The table of the history, joined as docs/EXPORT.md says, against snapshots that are compiled as of
//! each time.

use super::since::{SlowWay, rows};
use super::webs::Round;
use crate::generate::Random;
use robosieve::export::{ExportTable, ExportValue, Exporter};
use robosieve::{Judge, JudgeOptions, Profile, Snapshot};
use std::collections::BTreeMap;

/// A row of the table.
#[derive(Debug)]
struct VersionRow {
    since: Option<i64>,
    changed_at: Option<i64>,
    outcome: String,
    status: Option<i64>,
    target: Option<String>,
    failing_since: Option<i64>,
    access: Option<String>,
}

/// The rows of each URL, in their order, and the URL of each origin.
struct Table {
    urls: BTreeMap<String, Vec<VersionRow>>,
    origins: BTreeMap<String, String>,
}

const COLUMNS: [&str; 9] = [
    "url",
    "origin",
    "since",
    "changed_at",
    "outcome",
    "status",
    "target",
    "failing_since",
    "ant.access",
];

impl Table {
    fn of_history(history: &Snapshot) -> Self {
        let agents = ["ant".parse().unwrap()];
        let judge = Judge::new(history.clone(), &agents, JudgeOptions::default()).unwrap();
        let exporter = Exporter::new(&judge, ExportTable::History).unwrap();
        let exporter = exporter.choose_columns(&COLUMNS).unwrap();
        let mut table = Self {
            urls: BTreeMap::new(),
            origins: BTreeMap::new(),
        };
        rows(&exporter, |values| {
            let text = |at: usize| match values[at] {
                ExportValue::Text(text) => Some(text.to_owned()),
                _ => None,
            };
            let number = |at: usize| match values[at] {
                ExportValue::Time(number) | ExportValue::Integer(number) => Some(number),
                _ => None,
            };
            let url = text(0).unwrap();
            if let Some(origin) = text(1) {
                table.origins.insert(origin, url.clone());
            }
            table.urls.entry(url).or_default().push(VersionRow {
                since: number(2),
                changed_at: number(3),
                outcome: text(4).unwrap(),
                status: number(5),
                target: text(6),
                failing_since: number(7),
                access: text(8),
            });
        });
        table
    }

    /// The row of a URL at a time.
    fn row_at(&self, url: &str, time: i64) -> Option<&VersionRow> {
        let mut found = self.urls.get(url)?.iter().filter(|row| {
            row.since.is_none_or(|since| since <= time)
                && row.changed_at.is_none_or(|changed| time < changed)
        });
        let row = found.next();
        assert!(found.next().is_none(), "two rows of {url} at {time}");
        row
    }

    /// The row that an origin's redirects lead to, at a time; that of the last redirect, if they lead
    /// nowhere.
    fn answer_at(&self, origin: &str, time: i64) -> Option<&VersionRow> {
        let mut row = self.row_at(self.origins.get(origin)?, time)?;
        for _ in 0..5 {
            let next = row.target.as_ref().and_then(|url| self.row_at(url, time));
            match next {
                Some(next) => row = next,
                None => break,
            }
        }
        Some(row)
    }
}

#[test]
fn joined_rows_are_the_answers_of_compilations_as_of_each_time() {
    let mut compared = BTreeMap::new();
    for seed in 1..25 {
        let web = Round::new(&mut Random(seed), 1).webs.remove(0);
        let Some(slow) = SlowWay::new(&web.captures, Profile::Google) else {
            continue;
        };
        let table = Table::of_history(&slow.history);
        for (time, then) in &slow.snapshots {
            let agents = ["ant".parse().unwrap()];
            let judge = Judge::new(then.clone(), &agents, JudgeOptions::default()).unwrap();
            let columns = ["origin", "outcome", "status", "failing_since", "ant.access"];
            let exporter = Exporter::new(&judge, ExportTable::Origins).unwrap();
            let exporter = exporter.choose_columns(&columns).unwrap();
            let mut origins = 0;
            rows(&exporter, |values| {
                let ExportValue::Text(origin) = values[0] else {
                    panic!("{values:?}");
                };
                let row = table.answer_at(origin, *time).unwrap();
                let outcome = match row.outcome.as_str() {
                    "redirect" => "unresolved-redirect",
                    outcome => outcome,
                };
                assert_eq!(
                    values[1],
                    ExportValue::Text(outcome),
                    "{seed} {origin} {time}"
                );
                if outcome != "unresolved-redirect" {
                    let status = row.status.map_or(ExportValue::Null, ExportValue::Integer);
                    assert_eq!(values[2], status, "{seed} {origin} {time}");
                }
                let failing = row
                    .failing_since
                    .map_or(ExportValue::Null, ExportValue::Time);
                assert_eq!(values[3], failing, "{seed} {origin} {time}");
                if outcome == "rules" {
                    let access = row.access.as_deref().map(ExportValue::Text);
                    assert_eq!(Some(values[4]), access, "{seed} {origin} {time}");
                }
                *compared.entry(outcome.to_owned()).or_insert(0) += 1;
                origins += 1;
            });
            // Before its first capture, an origin has no row.
            let captured = table.origins.keys();
            let captured = captured.filter(|origin| table.answer_at(origin, *time).is_some());
            assert_eq!(captured.count(), origins);
        }
    }
    assert!(
        compared.len() == 5 && compared.values().all(|count| *count > 50),
        "{compared:?}"
    );
}

/// Rows by the numbers of origins are those of the whole table.
#[test]
fn rows_of_chosen_origins_are_those_of_the_table() {
    let web = Round::new(&mut Random(5), 3).webs.remove(0);
    let slow = SlowWay::new(&web.captures, Profile::Google).unwrap();
    let judge = Judge::new(slow.history.clone(), &[], JudgeOptions::default()).unwrap();
    let exporter = Exporter::new(&judge, ExportTable::History).unwrap();
    let text = |values: &[ExportValue<'_>]| format!("{values:?}");
    let mut all = Vec::new();
    rows(&exporter, |values| {
        if values[1] != ExportValue::Null {
            all.push(text(values));
        }
    });
    let mut found = Vec::new();
    for row in 0..slow.history.origin_count() {
        for batch in exporter.read_origins(&[row]).unwrap() {
            for row in 0..batch.rows() {
                let columns = 0..batch.columns().len();
                let values: Vec<ExportValue<'_>> = columns.map(|at| batch.value(row, at)).collect();
                found.push(text(&values));
            }
        }
    }
    assert_eq!(found, all);
    assert!(
        exporter
            .read_origins(&[slow.history.origin_count()])
            .is_err()
    );
}
