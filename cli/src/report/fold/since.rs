//! The periods in which the units began to disallow each agent, by the history of the snapshot.

use super::access::Access;
use super::model::{AgentSince, SincePeriods};
use super::origin_table::OriginTable;
use rayon::prelude::*;
use robosieve::export::{ExportColumn, ExportTable, ExportValue, Exporter};
use robosieve::{Judge, Result, Snapshot};
use std::collections::BTreeMap;

/// The periods of a report.
#[derive(Clone, Copy)]
pub struct Periods<'p> {
    /// Their length, such as `month`.
    pub every: &'p str,
    /// The label of the period with a time, in seconds since 1970; `None` for a time beyond all
    /// calendars. The order of labels is that of periods.
    pub label: &'p (dyn Fn(i64) -> Option<String> + Sync),
}

/// The number of rows that one thread reads at a time.
const CHUNK: usize = 1024;

/// A unit that disallows an agent, and the period in which it began to.
struct Beginning {
    agent: usize,
    /// `None` if its first answer disallowed the agent.
    period: Option<String>,
}

/// Counts the units in these rows whose rules disallow everything to each agent, by the period of the
/// capture that found the beginning.
///
/// # Errors
/// [`NoHistory`](robosieve::ErrorKind::NoHistory).
pub(super) fn since_periods(
    judge: &Judge,
    table: &OriginTable<'_>,
    rows: &[u32],
    periods: Periods<'_>,
) -> Result<SincePeriods> {
    let mut exporter = Exporter::new(judge, ExportTable::Origins)?;
    let others = exporter.columns().len();
    exporter = exporter.disallowed_since()?;
    let columns: Vec<ExportColumn> = exporter.columns()[others..].to_vec();
    let exporter = exporter.with_columns(columns);
    // Most units disallow no agent, and have no beginning.
    let is_wanted = |row: &u32| table.accesses(table.pattern(*row)).iter().any(is_by_rules);
    let wanted: Vec<u32> = rows.iter().copied().filter(is_wanted).collect();
    let parts = wanted
        .par_chunks(CHUNK)
        .map(|rows| beginnings(judge.snapshot(), &exporter, table, rows, periods));
    let parts: Vec<Vec<Beginning>> = parts.collect::<Result<_>>()?;
    Ok(count(judge, parts.into_iter().flatten(), periods))
}

/// Whether rules disallow everything. A site that fails has not decided to.
fn is_by_rules(access: &Access) -> bool {
    matches!(access, Access::WhollyByName | Access::WhollyByGlobal)
}

/// The beginnings of the units in some rows.
fn beginnings(
    snapshot: &Snapshot,
    exporter: &Exporter<'_>,
    table: &OriginTable<'_>,
    rows: &[u32],
    periods: Periods<'_>,
) -> Result<Vec<Beginning>> {
    let mut found = Vec::new();
    let mut rows = rows.iter();
    for batch in exporter.read_origins(rows.as_slice())? {
        for (line, row) in (0..batch.rows()).zip(&mut rows) {
            let accesses = table.accesses(table.pattern(*row)).iter().enumerate();
            for (agent, _) in accesses.filter(|(_, access)| is_by_rules(access)) {
                // The bounds of an agent are neighbours: the last time before, and the first since.
                let bounds = [0, 1].map(|bound| batch.value(line, 2 * agent + bound));
                let period = match bounds {
                    // An answer of unknown time may precede it.
                    [ExportValue::Null, ExportValue::Time(since)]
                        if is_first_answer(snapshot, *row, since)? =>
                    {
                        None
                    }
                    [_, ExportValue::Time(since)] => {
                        // A time beyond all calendars has no label.
                        Some((periods.label)(since).unwrap_or_else(|| since.to_string()))
                    }
                    _ => None,
                };
                found.push(Beginning { agent, period });
            }
        }
    }
    Ok(found)
}

/// Whether the first answer of an origin was found at this time.
fn is_first_answer(snapshot: &Snapshot, row: u32, since: i64) -> Result<bool> {
    let first = snapshot.timeline(row).next().transpose()?;
    Ok(first.is_some_and(|first| first.since == Some(since)))
}

/// Counts beginnings by agent and period.
fn count(
    judge: &Judge,
    found: impl Iterator<Item = Beginning>,
    periods: Periods<'_>,
) -> SincePeriods {
    let agents = judge.agents();
    let mut from_first = vec![0; agents.len()];
    let mut by_period: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for Beginning { agent, period } in found {
        match period {
            None => from_first[agent] += 1,
            Some(period) => {
                let counts = by_period.entry(period);
                counts.or_insert_with(|| vec![0; agents.len()])[agent] += 1;
            }
        }
    }
    let of_agent = |(number, agent): (usize, &robosieve::Agent)| {
        let began: Vec<u64> = by_period.values().map(|counts| counts[number]).collect();
        AgentSince {
            agent: agent.to_string(),
            units: from_first[number] + began.iter().sum::<u64>(),
            first_answer: from_first[number],
            began,
        }
    };
    SincePeriods {
        every: periods.every.to_owned(),
        agents: agents.iter().enumerate().map(of_agent).collect(),
        periods: by_period.into_keys().collect(),
    }
}
