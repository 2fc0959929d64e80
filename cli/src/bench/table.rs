//! The measurements as a table and as JSON.

use super::BenchReport;
use super::measure::{Measurement, StageTime};
use crate::figures::counts::grouped;
use crate::figures::escape::to_json_pretty;
use crate::summary::counts;
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) fn text(report: &BenchReport<'_>) -> String {
    let mut out = format!(
        "{}; {}; medians of {} runs\n",
        report.workload.name,
        agents(report),
        report.runs
    );
    if let Some(first) = report.measured.first() {
        let _ = writeln!(out, "{}", counts("", &first.stats));
    }
    let checked = &report.checked;
    let _ = writeln!(
        out,
        "reference: {} of {} sampled lines are decided by rules, and all have its verdicts",
        grouped(checked.compared as u64),
        grouped(checked.sampled as u64)
    );
    report
        .measured
        .iter()
        .for_each(|measured| push_table(measured, &mut out));
    out
}

fn agents(report: &BenchReport<'_>) -> String {
    match report.agents {
        agents if agents.len() > 5 => format!("{} agents", agents.len()),
        agents => agents
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(","),
    }
}

fn push_table(measured: &Measurement, out: &mut String) {
    let threads = format!(
        "{} thread{}",
        measured.threads,
        if measured.threads == 1 { "" } else { "s" }
    );
    let _ = writeln!(
        out,
        "\n{threads:<16}{:>12}{:>16}{:>10}",
        "ns/URL", "URL/s", "GB/s"
    );
    let stages = measured.stages.iter().map(|(name, time)| (*name, time));
    let whole = [
        ("total", &measured.total),
        ("newline scan", &measured.newline_scan),
        ("memcpy", &measured.memcpy),
    ];
    for (name, time) in stages.chain(whole) {
        let rate = time
            .urls_per_second
            .map_or("-".to_owned(), |rate| grouped(rate as u64));
        let bytes = time
            .gb_per_second
            .map_or("-".to_owned(), |rate| format!("{rate:.2}"));
        let _ = write!(
            out,
            "  {name:<14}{:>12}{rate:>16}{bytes:>10}",
            nanoseconds(time.ns_per_url)
        );
        // Every program on lines has to find their ends, so the scan is the unit of the total.
        if name == "total" {
            let _ = write!(
                out,
                "   {:.1} times the newline scan",
                time.ns_per_url / measured.newline_scan.ns_per_url
            );
        }
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "  random access {:>12.1} ns each if dependent, {:.1} ns if overlapping",
        measured.chained_ns, measured.overlapped_ns
    );
}

/// The time per URL. A stage's time is the difference of two medians; if the noise is larger, it is
/// negative.
fn nanoseconds(ns_per_url: f64) -> String {
    if ns_per_url > 0.0 {
        format!("{ns_per_url:.1}")
    } else {
        "within noise".to_owned()
    }
}

pub(super) fn json(report: &BenchReport<'_>) -> String {
    let object = json!({
        "subject": report.workload.name,
        "synthetic": report.workload.web.map(|web| {
            let options = web.options();
            json!({ "seed": options.seed, "origins": options.origins, "urls": options.urls,
                    "order": format!("{:?}", options.order).to_lowercase() })
        }),
        "agents": report.agents.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "runs": report.runs,
        "counts": report.measured.first().map(|measured| &measured.stats),
        "reference": {
            "sampled": report.checked.sampled, "compared": report.checked.compared, "allowed": report.checked.allowed,
        },
        "threads": report.measured.iter().map(measured_json).collect::<Vec<_>>(),
    });
    to_json_pretty(&object).unwrap_or_default()
}

fn measured_json(measured: &Measurement) -> Value {
    json!({
        "threads": measured.threads,
        "stages": measured.stages.iter().map(|(name, time)| (name.to_string(), time_json(time))).collect::<serde_json::Map<_, _>>(),
        "total": time_json(&measured.total),
        "ceilings": {
            "newline_scan": time_json(&measured.newline_scan),
            "memcpy": time_json(&measured.memcpy),
            "random_access_ns": { "chained": measured.chained_ns, "overlapped": measured.overlapped_ns },
        },
    })
}

fn time_json(time: &StageTime) -> Value {
    json!({
        "ns_per_url": time.ns_per_url, "urls_per_second": time.urls_per_second, "gb_per_second": time.gb_per_second,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_difference_is_noise() {
        for (time, text) in [
            (12.34, "12.3"),
            (0.04, "0.0"),
            (0.0, "within noise"),
            (-3.1, "within noise"),
        ] {
            assert_eq!(nanoseconds(time), text);
        }
    }
}
