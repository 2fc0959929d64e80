//! The ranking of the origins that disallow most.

use crate::analysis::report::model::OriginReport;
use crate::analysis::report::tally::Tally;
use crate::analysis::report::units::UnitRows;
use crate::error::Result;
use crate::file_pass::{Coverage, SetCoverages};
use crate::judge::Reason;
use crate::judge::engine::Engine;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The sort key of origins, the greatest first. The row decides between equal keys.
type RefusalRank = [u64; 3];

/// A bounded priority queue: the origins of the greatest rank, at most as many as the limit.
#[derive(Debug, Default)]
struct TopOrigins(BTreeSet<(Reverse<RefusalRank>, u32)>);

impl TopOrigins {
    fn insert(&mut self, rank: RefusalRank, row: u32, limit: usize) {
        let is_full = self.0.len() >= limit;
        if is_full
            && self
                .0
                .last()
                .is_none_or(|last| (Reverse(rank), row) > *last)
        {
            return;
        }
        self.0.insert((Reverse(rank), row));
        if self.0.len() > limit {
            self.0.pop_last();
        }
    }
}

/// The origins in these rows that disallow most: by disallowed URLs if there are lists, else by
/// agents.
pub(super) fn top_origins(
    engine: &Engine<'_>,
    rows: &UnitRows,
    sets: &SetCoverages,
    tally: Option<&Tally>,
    limit: usize,
) -> Result<Vec<OriginReport>> {
    // Each thread keeps its own best origins, and `insert` drops the worst beyond `limit`. So the
    // memory does not grow with the origins.
    let parts = rows.chunks().map(|rows| {
        let mut top = TopOrigins::default();
        for row in rows {
            let rank = match tally {
                Some(tally) => [tally.of_origin(row)[1], 0, 0],
                None => rank_by_agents(engine, row, sets)?,
            };
            if rank != RefusalRank::default() {
                top.insert(rank, row, limit);
            }
        }
        Ok(top)
    });
    let top: Result<TopOrigins> = parts.try_reduce(TopOrigins::default, |mut sum, part| {
        part.0
            .into_iter()
            .for_each(|(Reverse(rank), row)| sum.insert(rank, row, limit));
        Ok(sum)
    });
    top?.0
        .into_iter()
        .map(|(_, row)| report(engine, row, sets, tally))
        .collect()
}

/// The number of agents that are disallowed wholly, then of those disallowed partly. Of equal
/// origins, those with rules come first, because a failing site disallows every agent.
fn rank_by_agents(engine: &Engine<'_>, row: u32, sets: &SetCoverages) -> Result<RefusalRank> {
    let source = engine.rule_source(row)?;
    if source.file.is_none() && !source.refused {
        return Ok(RefusalRank::default());
    }
    let coverages = sets.of_origin(engine, &source)?;
    let mut wholly = 0;
    let mut partly = 0;
    for agent in coverages {
        wholly += u64::from(agent.coverage == Coverage::Wholly);
        partly += u64::from(agent.coverage == Coverage::Partly);
    }
    let is_by_rules =
        matches!(source.reason, Reason::Rules | Reason::LastGoodCopy) && wholly + partly > 0;
    Ok([wholly, partly, u64::from(is_by_rules)])
}

fn report(
    engine: &Engine<'_>,
    row: u32,
    sets: &SetCoverages,
    tally: Option<&Tally>,
) -> Result<OriginReport> {
    let entry = engine.snapshot().origin_at(row)?;
    let source = engine.rule_source(row)?;
    let counts = tally.map(|tally| tally.of_origin(row));
    Ok(OriginReport {
        origin: entry.origin(),
        reason: source.reason,
        status: entry.outcome().status,
        fetched_at: entry.outcome().fetched,
        agents: sets
            .of_origin(engine, &source)?
            .iter()
            .map(|of| of.coverage)
            .collect(),
        urls: counts.map(|[urls, _]| urls),
        urls_refused: counts.map(|[_, refused]| refused),
    })
}
