//! The results as a table in Markdown: nanoseconds an input, how many times those of robosieve, how many answers were right.

use crate::contestants::Step;
use crate::sites::NAMES;
use std::fmt::Write;

/// What was found out about one contestant on one site.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was asked.
    pub step: Step,
    /// The name of the site.
    pub site: &'static str,
    /// Who answered.
    pub contestant: &'static str,
    /// How many answers were right.
    pub right: usize,
    /// Of how many.
    pub of: usize,
    /// The time of one answer in each sample.
    pub nanoseconds: Vec<f64>,
}

impl Row {
    /// The least time: what else the machine did can only have added to it. `None` if it was not timed.
    fn least(&self) -> Option<f64> {
        self.nanoseconds.iter().copied().reduce(f64::min)
    }

    /// How much longer the median took, as a part of the least.
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
        let what = if step == Step::Match { "the path already cut" } else { "a whole URL" };
        let _ = writeln!(out, "## {}: {what}\n", step.name());
        let _ = writeln!(out, "| ns, times robosieve's, right answers | {} |", NAMES.join(" | "));
        let _ = writeln!(out, "|---|{}", "---|".repeat(NAMES.len()));
        for own in rows.iter().filter(|row| row.site == NAMES[0]) {
            let cells = NAMES.map(|site| cell(&rows, site, own.contestant));
            let _ = writeln!(out, "| {} | {} |", own.contestant, cells.join(" | "));
        }
        if let Some(noise) = median(rows.iter().filter_map(|row| row.noise()).collect()) {
            let _ = writeln!(
                out,
                "\nLeast times; in half of the cells the median lies {:.0} % above or more.",
                100.0 * noise
            );
        }
        out.push('\n');
    }
    out
}

fn cell(rows: &[&Row], site: &str, contestant: &str) -> String {
    let find = |contestant: &str| rows.iter().find(|row| row.site == site && row.contestant == contestant);
    let Some(row) = find(contestant) else { return String::new() };
    let answers = format!("{}/{}", row.right, row.of);
    let times = row.least().zip(find("robosieve").and_then(|own| own.least()));
    match times {
        Some((time, own)) if time < 1000.0 => format!("{time:.1}, {:.1}×, {answers}", time / own),
        Some((time, own)) => format!("{time:.0}, {:.0}×, {answers}", time / own),
        None => answers,
    }
}
