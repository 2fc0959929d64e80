//! The results as tables in Markdown, one figure per cell: nanoseconds per answer, the ratio to
//! robosieve, and the number of right answers.

use crate::contestants::Step;
use crate::sites::NAMES;
use std::fmt::Write;

/// The measurements of one contestant on one site.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kind of question.
    pub step: Step,
    /// The name of the site.
    pub site: &'static str,
    /// The name of the contestant.
    pub contestant: &'static str,
    /// The number of right answers.
    pub right: usize,
    /// The number of answers.
    pub of: usize,
    /// The time of one answer in each sample.
    pub nanoseconds: Vec<f64>,
}

impl Row {
    /// The minimum time, because other work on the machine can only add time; `None` without
    /// samples.
    fn least(&self) -> Option<f64> {
        self.nanoseconds.iter().copied().reduce(f64::min)
    }

    /// The excess of the median over the minimum, as a fraction of the minimum.
    fn noise(&self) -> Option<f64> {
        Some(median(self.nanoseconds.clone())? / self.least()? - 1.0)
    }
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

/// The whole report.
pub fn report(rows: &[Row]) -> String {
    let mut out = String::new();
    for step in Step::ALL {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.step == step).collect();
        let input = if step == Step::Match {
            "path and query"
        } else {
            "whole URL"
        };
        let _ = writeln!(out, "## {}: {input}\n", step.name());
        write_table(&mut out, "ns per answer", &rows, nanoseconds);
        write_table(&mut out, "times robosieve's", &rows, |row| {
            ratio(row, &rows)
        });
        write_table(&mut out, "right answers", &rows, |row| {
            format!("{}/{}", row.right, row.of)
        });
        if let Some(noise) = median(rows.iter().filter_map(|row| row.noise()).collect()) {
            let percent = 100.0 * noise;
            let _ = writeln!(
                out,
                "Minimum times. Half of the medians exceed them by {percent:.0} % or more.\n"
            );
        }
    }
    out
}

/// Appends a table with a row per contestant and a column per site.
fn write_table(out: &mut String, title: &str, rows: &[&Row], figure: impl Fn(&Row) -> String) {
    let _ = writeln!(out, "| {title} | {} |", NAMES.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(NAMES.len()));
    for first in rows.iter().filter(|row| row.site == NAMES[0]) {
        let cells =
            NAMES.map(|site| find(rows, site, first.contestant).map_or(String::new(), &figure));
        let _ = writeln!(out, "| {} | {} |", first.contestant, cells.join(" | "));
    }
    out.push('\n');
}

fn find<'r>(rows: &[&'r Row], site: &str, contestant: &str) -> Option<&'r Row> {
    rows.iter()
        .copied()
        .find(|row| row.site == site && row.contestant == contestant)
}

fn nanoseconds(row: &Row) -> String {
    row.least().map_or(String::new(), |time| {
        if time < 1000.0 {
            format!("{time:.1}")
        } else {
            format!("{time:.0}")
        }
    })
}

/// The ratio of the minimum times of this contestant and of robosieve on the same site.
fn ratio(row: &Row, rows: &[&Row]) -> String {
    let own = find(rows, row.site, "robosieve").and_then(Row::least);
    row.least().zip(own).map_or(String::new(), |(time, own)| {
        let digits = if time < 1000.0 { 1 } else { 0 };
        format!("{:.digits$}", time / own)
    })
}
