//! Time spans: the times of the oldest and the newest of some captures.

use serde::{Deserialize, Serialize};

/// The times of the oldest and the newest of some captures, in seconds since 1970.
///
/// It serializes as an array of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(i64, i64)", into = "(i64, i64)")]
#[non_exhaustive]
pub struct TimeSpan {
    /// The time of the oldest one.
    pub oldest: i64,
    /// The time of the newest one.
    pub newest: i64,
}

impl TimeSpan {
    /// A span, extended by a time; without a span that of the time alone.
    pub(crate) fn extended(span: Option<Self>, time: i64) -> Self {
        let Self { oldest, newest } = span.unwrap_or(Self {
            oldest: time,
            newest: time,
        });
        Self {
            oldest: oldest.min(time),
            newest: newest.max(time),
        }
    }
}

impl From<(i64, i64)> for TimeSpan {
    /// The span from the oldest to the newest time.
    fn from((oldest, newest): (i64, i64)) -> Self {
        Self { oldest, newest }
    }
}

impl From<TimeSpan> for (i64, i64) {
    /// The oldest and the newest time.
    fn from(span: TimeSpan) -> Self {
        (span.oldest, span.newest)
    }
}
