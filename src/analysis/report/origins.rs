//! The origins that refuse most.

use crate::analysis::coverage::Coverage;
use crate::analysis::report::counts::parcels;
use crate::analysis::report::model::OriginReport;
use crate::analysis::report::rules::RuleSets;
use crate::analysis::report::survey::of_origin;
use crate::error::Result;
use crate::filter::Tally;
use crate::judge::Reason;
use crate::judge::engine::Engine;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What origins are compared by, the greater first; the row decides between equals.
type Rank = [u64; 3];

/// Some origins, and room for no more: those of the greatest rank.
#[derive(Debug, Default)]
struct Best(BTreeSet<(Reverse<Rank>, u32)>);

impl Best {
    fn take(&mut self, rank: Rank, row: u32, limit: usize) {
        let full = self.0.len() >= limit;
        if full && self.0.last().is_none_or(|last| (Reverse(rank), row) > *last) {
            return;
        }
        self.0.insert((Reverse(rank), row));
        if self.0.len() > limit {
            self.0.pop_last();
        }
    }
}

/// The origins that refuse most: URLs where there were lists, else agents.
///
/// # Errors
/// [`Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
pub(super) fn top(
    judge: &Engine<'_>,
    sets: &RuleSets,
    tally: Option<&Tally>,
    limit: usize,
) -> Result<Vec<OriginReport>> {
    let parts = parcels(judge.snapshot().origin_count()).map(|rows| {
        let mut best = Best::default();
        for row in rows {
            let rank = match tally {
                Some(tally) => [tally.of_origin(row)[1], 0, 0],
                None => rank_by_agents(judge, row, sets)?,
            };
            if rank != Rank::default() {
                best.take(rank, row, limit);
            }
        }
        Ok(best)
    });
    let best: Result<Best> = parts.try_reduce(Best::default, |mut sum, part| {
        part.0.into_iter().for_each(|(Reverse(rank), row)| sum.take(rank, row, limit));
        Ok(sum)
    });
    best?.0.into_iter().map(|(_, row)| report(judge, row, sets, tally)).collect()
}

/// How many agents are refused wholly and how many partly; of equals those first where rules say so, for a failing site refuses everybody.
fn rank_by_agents(judge: &Engine<'_>, row: u32, sets: &RuleSets) -> Result<Rank> {
    let held = judge.rule_source(row)?;
    if held.file.is_none() && !held.refused {
        return Ok(Rank::default());
    }
    let agents = of_origin(judge, &held, sets)?;
    let count = |wanted| agents.iter().filter(|reach| **reach == wanted).count() as u64;
    let (wholly, partly) = (count(Coverage::Wholly), count(Coverage::Partly));
    let by_rules = matches!(held.reason, Reason::Rules | Reason::LastGoodCopy) && wholly + partly > 0;
    Ok([wholly, partly, u64::from(by_rules)])
}

fn report(judge: &Engine<'_>, row: u32, sets: &RuleSets, tally: Option<&Tally>) -> Result<OriginReport> {
    let (entry, held) = (judge.snapshot().origin_at(row)?, judge.rule_source(row)?);
    let counts = tally.map(|tally| tally.of_origin(row));
    Ok(OriginReport {
        origin: entry.origin(),
        basis: held.reason,
        status: entry.outcome().status,
        fetched_at: entry.outcome().fetched,
        agents: of_origin(judge, &held, sets)?,
        urls: counts.map(|[urls, _]| urls),
        urls_refused: counts.map(|[_, refused]| refused),
    })
}
