//! The measurements as a table and as JSON.

use super::Subject;
use crate::figures::counts::{counted, counted_as, grouped};
use crate::figures::escape::to_json_pretty;
use crate::summary::{JudgedBy, counts};
use robosieve::Agent;
use robosieve::job::FilterStats;
use robosieve_synthetic::measure::{Measurement, StageTime};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Appends what is measured, and the comparison with the reference.
pub(super) fn push_subject(subject: &Subject<'_>, stats: &FilterStats, out: &mut String) {
    let checked = &subject.checked;
    let _ = writeln!(
        out,
        "{}; {}; medians of {}\n{}\nreference: {} of {} decided by rules, and all have its verdicts",
        subject.workload.name,
        agents(subject.agents),
        counted(subject.runs.into(), "run"),
        counts("", stats, &JudgedBy::SNAPSHOT),
        grouped(checked.compared as u64),
        counted_as(
            checked.sampled as u64,
            "sampled line is",
            "sampled lines are"
        )
    );
}

fn agents(agents: &[Agent]) -> String {
    if agents.len() > 5 {
        return format!("{} agents", agents.len());
    }
    let names: Vec<String> = agents.iter().map(ToString::to_string).collect();
    names.join(",")
}

/// Appends the table of one number of threads.
pub(super) fn push_table(measured: &Measurement, out: &mut String) {
    let threads = counted(measured.threads as u64, "thread");
    let _ = writeln!(
        out,
        "\n{threads:<16}{:>14}{:>14}{:>16}{:>10}",
        "ns/URL", "CPU ns/URL", "URL/s", "GB/s"
    );
    for (name, time) in &measured.stages {
        push_row(name, time, out);
        out.push('\n');
    }
    // Every program on lines finds their ends, and every one that looks origins up reaches the
    // floor, so these are the units of the total.
    push_row("total", &measured.total, out);
    let _ = writeln!(
        out,
        "   {:.1} times the floor, {:.1} times the newline scan",
        measured.total.cpu_ns_per_url / measured.floor.cpu_ns_per_url,
        measured.total.cpu_ns_per_url / measured.newline_scan.cpu_ns_per_url,
    );
    push_row("floor", &measured.floor, out);
    out.push_str("   split and probe\n");
    for (name, time) in [
        ("newline scan", &measured.newline_scan),
        ("memcpy", &measured.memcpy),
    ] {
        push_row(name, time, out);
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "  random access {:>12.1} ns each if dependent, {:.1} ns if overlapping",
        measured.chained_ns, measured.overlapped_ns
    );
}

/// Appends a row, without a line end.
fn push_row(name: &str, time: &StageTime, out: &mut String) {
    let rate = time
        .urls_per_second
        .map_or("-".to_owned(), |rate| grouped(rate as u64));
    let bytes = time
        .gb_per_second
        .map_or("-".to_owned(), |rate| format!("{rate:.2}"));
    let _ = write!(
        out,
        "  {name:<14}{:>14}{:>14}{rate:>16}{bytes:>10}",
        nanoseconds(time.ns_per_url),
        nanoseconds(time.cpu_ns_per_url),
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

pub(super) fn json(subject: &Subject<'_>, measured: &[Measurement]) -> String {
    let checked = &subject.checked;
    let object = json!({
        "subject": subject.workload.name,
        "synthetic": subject.workload.web.map(|web| {
            let options = web.options();
            json!({ "seed": options.seed, "origins": options.origins, "urls": options.urls,
                    "order": options.order.name() })
        }),
        "agents": subject.agents.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "runs": subject.runs,
        "counts": measured.first().map(|measured| &measured.stats),
        "reference": {
            "sampled": checked.sampled, "compared": checked.compared, "allowed": checked.allowed,
        },
        "threads": measured.iter().map(measured_json).collect::<Vec<_>>(),
    });
    to_json_pretty(&object).unwrap_or_default()
}

fn measured_json(measured: &Measurement) -> Value {
    let stages = measured.stages.iter();
    let stages: Map<String, Value> = stages
        .map(|(name, time)| (name.to_string(), time_json(time)))
        .collect();
    json!({
        "threads": measured.threads,
        "stages": stages,
        "total": time_json(&measured.total),
        "ceilings": {
            "floor": time_json(&measured.floor),
            "newline_scan": time_json(&measured.newline_scan),
            "memcpy": time_json(&measured.memcpy),
            "random_access_ns": { "chained": measured.chained_ns, "overlapped": measured.overlapped_ns },
        },
    })
}

fn time_json(time: &StageTime) -> Value {
    json!({
        "ns_per_url": time.ns_per_url, "cpu_ns_per_url": time.cpu_ns_per_url,
        "urls_per_second": time.urls_per_second, "gb_per_second": time.gb_per_second,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_a_gap() {
        let time = StageTime {
            ns_per_url: -1.0,
            cpu_ns_per_url: -1.0,
            urls_per_second: Some(9.9e9),
            gb_per_second: Some(999.99),
        };
        let mut out = String::new();
        push_row("newline scan", &time, &mut out);
        let cells: Vec<&str> = out.split("  ").filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells.len(), 5, "{out}");
    }

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
