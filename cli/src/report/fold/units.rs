//! The units that a report counts: origins, hosts or registrable domains.
//!
//! A unit counts by one of its origins, its *representative*. Otherwise a site whose http entry
//! answers 404, while its https entry disallows everything, would count as disallowing partly. So a
//! report by host is a report over fewer rows of the snapshot, and every figure keeps its meaning.

use super::sampling::Sampling;
use super::unit_kind::UnitKind;
use rayon::prelude::*;
use robosieve::snapshot::{OriginEntry, OutcomeClass};
use robosieve::{Result, Snapshot};
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// A 128-bit hash of a name: units are compared by it, which takes less memory than their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct UnitHash([u64; 2]);

impl UnitHash {
    /// The hash of a unit. Kinds differ in their hashes, and so do two origins of one host.
    fn of_entry(kind: UnitKind, entry: &OriginEntry<'_>) -> Self {
        match kind {
            UnitKind::Origin => Self::new(kind, entry.origin().as_bytes()),
            _ => Self::new(kind, kind.unit_of(entry.host()).as_bytes()),
        }
    }

    fn new(kind: UnitKind, name: &[u8]) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&[kind as u8]);
        hash.update(name);
        let hash = hash.digest128();
        Self([(hash >> 64) as u64, hash as u64])
    }
}

/// The units that several snapshots share, for comparisons over time.
///
/// Cost: a pass over the origins of a snapshot. Memory: 24 bytes per origin while it is built, and
/// 16 per unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitSet {
    /// Sorted.
    units: Vec<UnitHash>,
}

impl UnitSet {
    /// The units of a snapshot.
    ///
    /// # Errors
    /// `ErrorKind::Corrupt` if the snapshot's bytes contradict each
    /// other.
    pub fn of(snapshot: &Snapshot, kind: UnitKind) -> Result<Self> {
        let candidates = candidates(snapshot, kind)?;
        Ok(Self {
            units: candidates
                .into_iter()
                .map(|candidate| candidate.unit)
                .collect(),
        })
    }

    /// The units that are in both sets. Sets of different kinds share none.
    pub fn intersect(mut self, other: &Self) -> Self {
        self.units.retain(|unit| other.contains(*unit));
        self
    }

    /// The number of units.
    pub fn len(&self) -> u64 {
        self.units.len() as u64
    }

    /// Whether there is no unit.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    fn contains(&self, unit: UnitHash) -> bool {
        self.units.binary_search(&unit).is_ok()
    }
}

/// An origin as a candidate for the representative of its unit. The least one of a unit wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnitCandidate {
    unit: UnitHash,
    rank: u32,
    row: u32,
}

impl UnitCandidate {
    fn new(kind: UnitKind, entry: &OriginEntry<'_>, row: u32) -> Self {
        Self {
            unit: UnitHash::of_entry(kind, entry),
            rank: rank(kind, entry),
            row,
        }
    }
}

/// The rank of an origin within its unit, the least first. Origins that answered come before those
/// that did not, then the host closest to the unit's name, then https and http on their default
/// ports.
fn rank(kind: UnitKind, entry: &OriginEntry<'_>) -> u32 {
    let has_answered = matches!(
        entry.outcome().class,
        OutcomeClass::Rules | OutcomeClass::ClientError
    );
    let host = entry.host();
    let unit = kind.unit_of(host);
    let prefix = host
        .trim_end_matches('.')
        .strip_suffix(unit)
        .unwrap_or_default();
    let host_rank = match prefix {
        "" => 0,
        "www." => 1,
        // Each further label has a dot at its end.
        prefix => (1 + prefix.matches('.').count()).clamp(2, 255) as u8,
    };
    let scheme_rank = match (entry.scheme(), entry.port()) {
        ("https", Some(443)) => 0,
        ("http", Some(80)) => 1,
        _ => 2,
    };
    u32::from_be_bytes([
        u8::from(!has_answered),
        host_rank,
        host.len().min(255) as u8,
        scheme_rank,
    ])
}

/// The representatives of all units, sorted by unit.
fn candidates(snapshot: &Snapshot, kind: UnitKind) -> Result<Vec<UnitCandidate>> {
    let rows = (0..snapshot.origin_count()).into_par_iter();
    let candidates = rows.map(|row| Ok(UnitCandidate::new(kind, &snapshot.origin_at(row)?, row)));
    let mut candidates = candidates.collect::<Result<Vec<_>>>()?;
    candidates.par_sort_unstable();
    candidates.dedup_by_key(|candidate| candidate.unit);
    Ok(candidates)
}

/// The rows of the representatives of the units, or of the units in `within`, sorted.
pub(super) fn unit_rows(
    snapshot: &Snapshot,
    kind: UnitKind,
    within: Option<&UnitSet>,
) -> Result<Vec<u32>> {
    if kind == UnitKind::Origin && within.is_none() {
        return Ok((0..snapshot.origin_count()).collect());
    }
    let candidates = candidates(snapshot, kind)?.into_par_iter();
    let mut rows: Vec<u32> = candidates
        .filter(|candidate| within.is_none_or(|set| set.contains(candidate.unit)))
        .map(|candidate| candidate.row)
        .collect();
    rows.par_sort_unstable();
    Ok(rows)
}

/// The units with the smallest hashes of their names, at most as many as the sample has, by row.
/// The hash is XXH3 with 64 bits and the seed, of the host, of the registrable domain or of the
/// origin. Memory: 16 bytes per unit.
pub(super) fn draw_sample(
    snapshot: &Snapshot,
    kind: UnitKind,
    rows: &[u32],
    sampling: Sampling,
) -> Result<Vec<u32>> {
    let size = sampling.size as usize;
    if rows.len() <= size {
        return Ok(rows.to_vec());
    }
    let hashed = rows.par_iter().map(|&row| {
        let entry = snapshot.origin_at(row)?;
        let hash = match kind {
            UnitKind::Origin => xxh3_64_with_seed(entry.origin().as_bytes(), sampling.seed),
            _ => xxh3_64_with_seed(kind.unit_of(entry.host()).as_bytes(), sampling.seed),
        };
        Ok((hash, row))
    });
    let mut hashed: Vec<(u64, u32)> = hashed.collect::<Result<_>>()?;
    // Rows decide between equal hashes, so the pairs are distinct and the sample is unique.
    if size > 0 {
        hashed.select_nth_unstable(size - 1);
    }
    let mut drawn: Vec<u32> = hashed[..size].iter().map(|(_, row)| *row).collect();
    drawn.sort_unstable();
    Ok(drawn)
}
