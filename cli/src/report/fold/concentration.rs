//! Figures that one registrable domain dominates.
//!
//! A report by origin or by host may say that a sixth of the web disallows a crawler, although
//! nearly all of it is one domain with thousands of subdomains. A figure is the number of all
//! units, or of those that disallow an agent wholly.

use super::model::{Concentration, CoverageCounts};
use super::origin_table::OriginTable;
use super::unit_kind::UnitKind;
use rayon::prelude::*;
use robosieve::export::Coverage;
use robosieve::{Judge, Result};
use xxhash_rust::xxh3::xxh3_64;

/// A domain is reported if it holds more than one unit in this many of a figure.
const PARTS: u64 = 10;

/// The least figure that is compared with its domains. In a smaller one, two or three units of a
/// domain would be more than a tenth.
const LEAST_FIGURE: u64 = 20;

/// A unit and the hash of its domain, which takes less memory than the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DomainUnit {
    domain: u64,
    row: u32,
}

/// The domain that holds most units of a figure so far.
#[derive(Clone, Copy, Debug, Default)]
struct LargestDomain {
    units: u64,
    row: u32,
}

impl LargestDomain {
    fn offer(&mut self, units: u64, row: u32) {
        // The first row decides between equals, so the result does not depend on hashes.
        if units > self.units || (units == self.units && row < self.row) {
            *self = Self { units, row };
        }
    }
}

/// For each figure that one domain holds more than a tenth of, the largest such domain: for all
/// units first, then for the agents in their order. `counts` has the figures of the agents.
///
/// A report by domain has none. Memory: 16 bytes per unit.
pub(super) fn concentrations(
    judge: &Judge,
    kind: UnitKind,
    rows: &[u32],
    table: &OriginTable,
    counts: &[CoverageCounts],
) -> Result<Vec<Concentration>> {
    let all = rows.len() as u64;
    let figures: Vec<u64> = std::iter::once(all)
        .chain(counts.iter().map(|of| of.wholly))
        .collect();
    let least = figures
        .iter()
        .copied()
        .filter(|figure| *figure >= LEAST_FIGURE)
        .min();
    let (Some(least), false) = (least, kind == UnitKind::Domain) else {
        return Ok(Vec::new());
    };
    let snapshot = judge.snapshot();
    let units = rows.par_iter().map(|&row| {
        let origin = snapshot.origin_at(row)?;
        let domain = xxh3_64(UnitKind::Domain.unit_of(origin.host()).as_bytes());
        Ok(DomainUnit { domain, row })
    });
    let mut units = units.collect::<Result<Vec<_>>>()?;
    units.par_sort_unstable();
    let mut largest = vec![LargestDomain::default(); figures.len()];
    for domain in units.chunk_by(|a, b| a.domain == b.domain) {
        // A domain of k units holds at most k of any figure.
        if domain.len() as u64 * PARTS > least {
            let first = domain[0].row;
            let held = held_by(table, domain);
            largest
                .iter_mut()
                .zip(held)
                .for_each(|(largest, held)| largest.offer(held, first));
        }
    }
    let mut found = Vec::new();
    for (number, (figure, largest)) in figures.into_iter().zip(largest).enumerate() {
        if figure < LEAST_FIGURE || largest.units * PARTS <= figure {
            continue;
        }
        // The first figure is that of all units.
        let agent = number
            .checked_sub(1)
            .and_then(|agent| judge.agents().get(agent));
        let host = snapshot.origin_at(largest.row)?.host();
        found.push(Concentration {
            agent: agent.map(ToString::to_string),
            domain: UnitKind::Domain.unit_of(host).to_owned(),
            units: largest.units,
            of: figure,
        });
    }
    Ok(found)
}

/// The units of a domain in each figure: all, and for each agent those that disallow it wholly.
fn held_by(table: &OriginTable, domain: &[DomainUnit]) -> Vec<u64> {
    let mut held = vec![0; table.agents() + 1];
    for unit in domain {
        held[0] += 1;
        let accesses = table.accesses(table.pattern(unit.row));
        for (held, access) in held[1..].iter_mut().zip(accesses) {
            *held += u64::from(access.coverage() == Coverage::Wholly);
        }
    }
    held
}
