//! Counts of judged lines by verdict and reason.

use super::destination::Destination;
use crate::judge::Reason;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

const REASONS: usize = Reason::ALL.len();

/// Allowed and disallowed lines by the [`Reason`] of their verdicts.
///
/// Lines without a verdict are not counted. In JSON, `allowed` and `disallowed` are objects with the
/// counts by the name of the reason; a reason without lines is left out.
///
/// ```
/// use robosieve::job::{Input, Job, Outputs};
/// use robosieve::judge::Reason;
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let list = Input::from_reader("list", b"https://e.example/x\n".as_slice());
/// let stats = Job::new(&judge).filter(vec![list], Outputs::default())?.commit()?;
/// assert_eq!(stats.reasons.disallowed(Reason::Rules), 1);
/// assert_eq!(stats.reasons.allowed(Reason::Rules), 0);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReasonCounts {
    allowed: [u64; REASONS],
    disallowed: [u64; REASONS],
}

impl ReasonCounts {
    /// Allowed lines with this reason.
    pub fn allowed(&self, reason: Reason) -> u64 {
        self.allowed[reason as usize]
    }

    /// Disallowed lines with this reason.
    pub fn disallowed(&self, reason: Reason) -> u64 {
        self.disallowed[reason as usize]
    }

    #[inline]
    pub(crate) fn count(&mut self, destination: Destination, reason: Reason, lines: u64) {
        match destination {
            Destination::Allowed => self.allowed[reason as usize] += lines,
            Destination::Disallowed => self.disallowed[reason as usize] += lines,
            Destination::Unknown | Destination::Invalid | Destination::Listed => {}
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, n) in self.allowed.iter_mut().zip(other.allowed) {
            *sum += n;
        }
        for (sum, n) in self.disallowed.iter_mut().zip(other.disallowed) {
            *sum += n;
        }
    }
}

#[derive(Serialize, Deserialize)]
struct NamedCounts {
    allowed: BTreeMap<Reason, u64>,
    disallowed: BTreeMap<Reason, u64>,
}

/// The counts that are not 0.
fn by_name(counts: &[u64; REASONS]) -> BTreeMap<Reason, u64> {
    let counts = Reason::ALL.into_iter().zip(*counts);
    counts.filter(|(_, count)| *count > 0).collect()
}

impl Serialize for ReasonCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let named = NamedCounts {
            allowed: by_name(&self.allowed),
            disallowed: by_name(&self.disallowed),
        };
        named.serialize(to)
    }
}

impl<'de> Deserialize<'de> for ReasonCounts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let named = NamedCounts::deserialize(from).map_err(D::Error::custom)?;
        let mut counts = Self::default();
        for (reason, lines) in named.allowed {
            counts.count(Destination::Allowed, reason, lines);
        }
        for (reason, lines) in named.disallowed {
            counts.count(Destination::Disallowed, reason, lines);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_counts_by_name() {
        let mut counts = ReasonCounts::default();
        counts.count(Destination::Allowed, Reason::NoRobotsTxt, 2);
        counts.count(Destination::Disallowed, Reason::ServerError, 3);
        counts.count(Destination::Unknown, Reason::UnknownOrigin, 4);
        counts.add(&counts.clone());
        let json = serde_json::to_string(&counts).unwrap();
        assert_eq!(
            json,
            r#"{"allowed":{"no-robots-txt":4},"disallowed":{"server-error":6}}"#
        );
        assert_eq!(serde_json::from_str::<ReasonCounts>(&json).unwrap(), counts);
    }
}
