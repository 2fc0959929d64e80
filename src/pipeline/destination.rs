//! Where a filter writes a record, which is also what it counts as.

use crate::judge::Verdict;

/// The output of a record: that of its verdict, or that of the records that a filter list names,
/// whatever their verdicts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Allowed,
    Disallowed,
    Unknown,
    Invalid,
    Listed,
}

impl Destination {
    /// The number of destinations.
    pub(crate) const COUNT: usize = Self::ALL.len();

    pub(crate) const ALL: [Self; 5] = [
        Self::Allowed,
        Self::Disallowed,
        Self::Unknown,
        Self::Invalid,
        Self::Listed,
    ];

    /// The name of the verdict, or `listed`.
    #[cfg(feature = "parquet")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Allowed => Verdict::Allowed.name(),
            Self::Disallowed => Verdict::Disallowed.name(),
            Self::Unknown => Verdict::Unknown.name(),
            Self::Invalid => Verdict::Invalid.name(),
            Self::Listed => "listed",
        }
    }
}

impl From<Verdict> for Destination {
    #[inline]
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allowed => Self::Allowed,
            Verdict::Disallowed => Self::Disallowed,
            Verdict::Unknown => Self::Unknown,
            Verdict::Invalid => Self::Invalid,
        }
    }
}
