//! The ranking of the origins that disallow most.

use super::model::OriginReport;
use super::origin_table::OriginTable;
use super::tally::Tally;
use robosieve::export::Coverage;
use robosieve::judge::Reason;
use robosieve::{Result, Snapshot};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The sort key of origins, the greatest first. The row decides between equal keys.
type RefusalRank = [u64; 3];

/// The origins in these rows that disallow most: by disallowed URLs if there are lists, else by
/// agents. Without lists, the table has these rows.
pub(super) fn top_origins(
    snapshot: &Snapshot,
    rows: impl Iterator<Item = u32>,
    table: &mut OriginTable,
    tally: Option<&Tally>,
    limit: usize,
) -> Result<Vec<OriginReport>> {
    let by_agents: Vec<[u64; 2]> = (0..table.patterns())
        .map(|pattern| refusals(table, pattern))
        .collect();
    // A bounded priority queue: memory does not grow with the origins.
    let mut top: BTreeSet<(Reverse<RefusalRank>, u32)> = BTreeSet::new();
    for row in rows {
        let rank = match tally {
            Some(tally) => [tally.of_origin(row)[1], 0, 0],
            None => rank_by_agents(table, row, &by_agents),
        };
        let item = (Reverse(rank), row);
        let is_full = top.len() >= limit;
        if rank != RefusalRank::default() && (!is_full || top.last().is_some_and(|l| item < *l)) {
            top.insert(item);
            if top.len() > limit {
                top.pop_last();
            }
        }
    }
    let rows: Vec<u32> = top.into_iter().map(|(_, row)| row).collect();
    table.read(&rows)?;
    let reports = rows.iter().map(|row| report(snapshot, *row, table, tally));
    reports.collect()
}

/// The number of agents that a pattern disallows wholly, and of those that it disallows partly.
fn refusals(table: &OriginTable, pattern: u32) -> [u64; 2] {
    [Coverage::Wholly, Coverage::Partly].map(|wanted| {
        let accesses = table.accesses(pattern).iter();
        accesses
            .filter(|access| access.coverage() == wanted)
            .count() as u64
    })
}

/// Of equal origins, those with rules come first, because a failing site disallows every agent.
fn rank_by_agents(table: &OriginTable, row: u32, by_agents: &[[u64; 2]]) -> RefusalRank {
    let [wholly, partly] = by_agents[table.pattern(row) as usize];
    let is_by_rules =
        matches!(table.reason(row), Reason::Rules | Reason::LastGoodCopy) && wholly + partly > 0;
    [wholly, partly, u64::from(is_by_rules)]
}

fn report(
    snapshot: &Snapshot,
    row: u32,
    table: &OriginTable,
    tally: Option<&Tally>,
) -> Result<OriginReport> {
    let entry = snapshot.origin_at(row)?;
    let counts = tally.map(|tally| tally.of_origin(row));
    Ok(OriginReport {
        origin: entry.origin(),
        reason: table.reason(row),
        status: entry.outcome().status,
        fetched_at: entry.outcome().fetched,
        agents: table
            .accesses(table.pattern(row))
            .iter()
            .map(|access| access.coverage())
            .collect(),
        urls: counts.map(|[urls, _]| urls),
        urls_refused: counts.map(|[_, refused]| refused),
    })
}
