//! Whether requests come from the crawlers that they name, by published addresses.
//!
//! Anyone can send the User-Agent of a crawler. If the addresses of a crawler are known, the
//! requests under its name fall into two rows of the report, so that no figure blames it for those
//! of others.

use crate::agent::Agent;
use crate::audit::address_ranges::AddressRanges;
use crate::error::{ErrorKind, Result};
use serde::Serialize;
use std::sync::Arc;

/// Whether requests come from the published addresses of the crawler that they name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Identity {
    /// They come from these addresses.
    Verified,
    /// They come from other addresses, and only claim to be of the crawler.
    Claimed,
}

impl Identity {
    /// `verified` or `claimed`, as in the JSON of a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Claimed => "claimed",
        }
    }
}

/// Published address ranges, and the crawler that uses them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VerifiedRanges {
    /// The product token; `None` for every crawler without ranges of its own.
    pub crawler: Option<String>,
    /// The ranges.
    pub ranges: AddressRanges,
}

impl VerifiedRanges {
    /// Ranges of one crawler, or of all.
    pub fn new(crawler: impl Into<Option<String>>, ranges: AddressRanges) -> Self {
        Self {
            crawler: crawler.into(),
            ranges,
        }
    }
}

/// A row of the report.
#[derive(Clone, Copy, Debug)]
pub(super) struct AuditRow {
    pub crawler: usize,
    /// `None` if no addresses of the crawler are known.
    pub identity: Option<Identity>,
}

/// The rows of the report: one per crawler, in their order, then one for the claims to each crawler
/// whose addresses are known.
#[derive(Debug)]
pub(super) struct AuditRows {
    rows: Vec<AuditRow>,
    /// For each crawler; `None` if no addresses are known.
    verifications: Vec<Option<Verification>>,
}

/// The addresses of a crawler, and the row of requests from others.
#[derive(Debug)]
struct Verification {
    ranges: Arc<AddressRanges>,
    claimed_row: u32,
}

impl AuditRows {
    /// The rows of these crawlers. The addresses of a crawler are the union of its ranges, or else
    /// of those for all crawlers.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for ranges of another crawler.
    pub(super) fn new(agents: &[Agent], verified: &[VerifiedRanges]) -> Result<Self> {
        let mut own: Vec<Option<AddressRanges>> = vec![None; agents.len()];
        let mut shared: Option<AddressRanges> = None;
        for VerifiedRanges { crawler, ranges } in verified {
            let union = match crawler {
                None => &mut shared,
                Some(name) => &mut own[number_of(agents, name)?],
            };
            *union = Some(union.take().unwrap_or_default().union(ranges.clone()));
        }
        // A file for all crawlers may be large, so they share it.
        let shared = shared.map(Arc::new);
        let mut rows: Vec<AuditRow> = Vec::new();
        let mut claimed_rows: Vec<AuditRow> = Vec::new();
        let mut verifications = Vec::new();
        for (crawler, own) in own.into_iter().enumerate() {
            let ranges = own.map(Arc::new).or_else(|| shared.clone());
            rows.push(AuditRow {
                crawler,
                identity: ranges.as_ref().map(|_| Identity::Verified),
            });
            verifications.push(ranges.map(|ranges| {
                claimed_rows.push(AuditRow {
                    crawler,
                    identity: Some(Identity::Claimed),
                });
                Verification {
                    ranges,
                    claimed_row: (agents.len() + claimed_rows.len() - 1) as u32,
                }
            }));
        }
        rows.append(&mut claimed_rows);
        Ok(Self {
            rows,
            verifications,
        })
    }

    /// All rows, by their numbers.
    pub(super) fn all(&self) -> &[AuditRow] {
        &self.rows
    }

    /// Whether the row of a request depends on its address.
    pub(super) fn need_addresses(&self) -> bool {
        self.verifications.iter().any(Option::is_some)
    }

    /// The row of a request that names a crawler.
    pub(super) fn of_request(&self, crawler: u16, client: &[u8]) -> u32 {
        match &self.verifications[usize::from(crawler)] {
            Some(verification) if !verification.ranges.contains(client) => verification.claimed_row,
            _ => u32::from(crawler),
        }
    }

    /// The identity of the requests of a row.
    pub(super) fn identity(&self, row: u32) -> Option<Identity> {
        self.rows[row as usize].identity
    }
}

/// The number of the crawler with this name.
fn number_of(agents: &[Agent], name: &str) -> Result<usize> {
    let number = agents.iter().position(|agent| {
        agent
            .names()
            .next()
            .is_some_and(|token| token.eq_ignore_ascii_case(name))
    });
    number.ok_or_else(|| {
        let what = "no crawler of the audit has this name; add it to the agents".to_owned();
        ErrorKind::BadAgent {
            name: name.to_owned(),
            what,
        }
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_belong_to_the_row_of_their_address() {
        let agents: Vec<Agent> = ["A", "B", "C"]
            .iter()
            .map(|name| name.parse().unwrap())
            .collect();
        let ranges = |prefix: &str| {
            AddressRanges::parse(
                format!("{{\"prefixes\": [{{\"ipv4Prefix\": \"{prefix}\"}}]}}").as_bytes(),
            )
            .unwrap()
        };
        let verified =
            |name: &str, prefix: &str| VerifiedRanges::new(Some(name.to_owned()), ranges(prefix));
        let rows = AuditRows::new(
            &agents,
            &[
                verified("c", "192.0.2.0/25"),
                verified("C", "192.0.2.128/25"),
                verified("A", "10.0.0.0/8"),
            ],
        );
        let rows = rows.unwrap();
        let identities = [Some(Identity::Verified), None, Some(Identity::Verified)];
        for (row, identity) in (0..).zip(identities.into_iter().chain([Some(Identity::Claimed); 2]))
        {
            assert_eq!(rows.identity(row), identity);
        }
        for (crawler, client, row) in [
            (0, "10.1.2.3", 0),
            (0, "192.0.2.1", 3),
            (1, "10.1.2.3", 1),
            (1, "", 1),
            (2, "192.0.2.200", 2),
            (2, "-", 4),
        ] {
            assert_eq!(
                rows.of_request(crawler, client.as_bytes()),
                row,
                "{crawler} {client}"
            );
            assert_eq!(rows.all()[row as usize].crawler, usize::from(crawler));
        }
        // Ranges for all crawlers are for those without ranges of their own.
        let rows = AuditRows::new(
            &agents,
            &[
                verified("A", "10.0.0.0/8"),
                VerifiedRanges::new(None, ranges("192.0.2.0/24")),
            ],
        );
        let rows = rows.unwrap();
        assert_eq!(
            [
                rows.of_request(0, b"192.0.2.1"),
                rows.of_request(1, b"192.0.2.1")
            ],
            [3, 1]
        );
        assert!(rows.need_addresses() && !AuditRows::new(&agents, &[]).unwrap().need_addresses());
        assert!(AuditRows::new(&agents, &[verified("D", "10.0.0.0/8")]).is_err());
    }
}
