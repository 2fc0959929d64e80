//! Verdicts as the numbers of the header.

use crate::judge::Verdict;

/// Whether an agent may fetch a URL. Buffers hold these numbers as `int8_t`.
#[repr(i8)]
pub enum robosieve_verdict {
    /// The agent may not fetch it.
    Disallowed = 0,
    /// The agent may fetch it.
    Allowed = 1,
    /// The snapshot does not contain the URL's origin.
    Unknown = 2,
    /// The text is not a URL with a scheme and a host.
    NotAUrl = 3,
}

/// The number of a verdict.
#[inline]
pub(super) fn number(verdict: Verdict) -> i8 {
    let number = match verdict {
        Verdict::Disallowed => robosieve_verdict::Disallowed,
        Verdict::Allowed => robosieve_verdict::Allowed,
        Verdict::Unknown => robosieve_verdict::Unknown,
        Verdict::Invalid => robosieve_verdict::NotAUrl,
    };
    number as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_all_columns() {
        for verdict in [
            Verdict::Disallowed,
            Verdict::Allowed,
            Verdict::Unknown,
            Verdict::Invalid,
        ] {
            assert_eq!(number(verdict), verdict.code(), "{verdict:?}");
        }
    }
}
