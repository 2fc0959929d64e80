//! Times every contestant on every site in rounds, checks all answers, and prints tables.

use criterion::{Criterion, SamplingMode, Throughput};
use robosieve_rivals::contestants::{Contestant, Step, contestants};
use robosieve_rivals::sites::{self, Site};
use robosieve_rivals::table::{Row, report};
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of rounds. All contestants take turns, so that a slow phase of the machine affects
/// all.
const ROUNDS: usize = 3;

/// Contestants that parse the file for each answer are timed on one input in this many. It is a
/// prime, to cover all kinds of inputs.
const EVERY: usize = 37;

/// The minimum time per contestant and round.
const TIME: Duration = Duration::from_millis(400);

/// The directory of criterion's files.
const OUTPUT: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/criterion");

fn main() {
    let _ = std::fs::remove_dir_all(OUTPUT);
    let mut criterion = Criterion::default()
        .output_directory(Path::new(OUTPUT))
        .configure_from_args();
    let sites = sites::load();
    let mut rows: Vec<Row> = Vec::new();
    for round in 0..ROUNDS {
        for (site, step) in sites
            .iter()
            .flat_map(|site| Step::ALL.map(|step| (site, step)))
        {
            for mut contestant in contestants(site, step) {
                if round == 0 {
                    rows.push(check(site, step, &mut contestant));
                }
                let times = time(&mut criterion, round, site, step, &mut contestant);
                let row = rows
                    .iter_mut()
                    .find(|row| is(row, site, step, contestant.name))
                    .expect("a row");
                row.nanoseconds.extend(times);
            }
        }
    }
    criterion.final_summary();
    println!("\n{}", report(&rows));
}

fn is(row: &Row, site: &Site, step: Step, contestant: &str) -> bool {
    row.site == site.name && row.step == step && row.contestant == contestant
}

/// Counts the right answers. All answers of robosieve must be right.
fn check(site: &Site, step: Step, contestant: &mut Contestant<'_>) -> Row {
    let inputs: Vec<&str> = step.inputs(site).iter().map(String::as_str).collect();
    let mut answers = Vec::new();
    contestant.run(&inputs, &mut answers);
    let wrong = answers
        .iter()
        .zip(site.expected())
        .filter(|(answer, expected)| answer != expected)
        .count();
    if contestant.name.starts_with("robosieve") {
        assert_eq!(
            wrong,
            0,
            "{}, {}: {}",
            contestant.name,
            site.name,
            step.name()
        );
    }
    let (right, of) = (inputs.len() - wrong, inputs.len());
    Row {
        step,
        site: site.name,
        contestant: contestant.name,
        right,
        of,
        nanoseconds: Vec::new(),
    }
}

/// The time of one answer in each sample; empty if criterion skips this contestant.
fn time(
    criterion: &mut Criterion,
    round: usize,
    site: &Site,
    step: Step,
    who: &mut Contestant<'_>,
) -> Vec<f64> {
    let every = if who.rereads { EVERY } else { 1 };
    let inputs: Vec<&str> = step
        .inputs(site)
        .iter()
        .step_by(every)
        .map(String::as_str)
        .collect();
    let mut expected = Vec::new();
    let start = Instant::now();
    who.run(&inputs, &mut expected);
    let samples = (TIME.as_secs_f64() / start.elapsed().as_secs_f64()).clamp(10.0, 100.0);
    let name = format!("{} {} round {}", step.name(), site.name, round + 1);
    let mut group = criterion.benchmark_group(&name);
    group
        .throughput(Throughput::Elements(inputs.len() as u64))
        .sampling_mode(SamplingMode::Flat);
    group
        .sample_size(samples as usize)
        .warm_up_time(TIME / 4)
        .measurement_time(TIME);
    let mut answers = Vec::with_capacity(inputs.len());
    group.bench_function(who.name, |b| {
        b.iter(|| {
            who.run(&inputs, &mut answers);
            assert_eq!(answers, expected);
        });
    });
    group.finish();
    samples_of(&Path::new(OUTPUT).join(name).join(who.name))
        .iter()
        .map(|time| time / inputs.len() as f64)
        .collect()
}

/// The nanoseconds of one pass in each sample that criterion stored for a benchmark.
fn samples_of(benchmark: &Path) -> Vec<f64> {
    let Ok(bytes) = std::fs::read(benchmark.join("new/sample.json")) else {
        return Vec::new();
    };
    let stored: StoredSamples = serde_json::from_slice(&bytes).expect("criterion's samples");
    stored
        .times
        .iter()
        .zip(&stored.iters)
        .map(|(time, passes)| time / passes)
        .collect()
}

/// Criterion's `sample.json`.
#[derive(serde::Deserialize)]
struct StoredSamples {
    iters: Vec<f64>,
    times: Vec<f64>,
}
