//! The verdict on a URL.

/// Whether an agent may fetch a URL.
///
/// These four values are the contract of every interface, so a `match` needs no wildcard arm.
// Exhaustive on purpose: a fifth value would be another contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The agent may fetch it.
    Allowed,
    /// The agent may not fetch it.
    Disallowed,
    /// The snapshot does not contain the URL's origin.
    Unknown,
    /// The text is not a URL with a scheme and a host.
    Invalid,
}

impl Verdict {
    /// The letter that `robosieve annotate` writes: `A`, `D`, `U` or `I`.
    pub fn letter(self) -> char {
        match self {
            Self::Allowed => 'A',
            Self::Disallowed => 'D',
            Self::Unknown => 'U',
            Self::Invalid => 'I',
        }
    }

    /// The number in columns of verdicts: 0 disallowed, 1 allowed, 2 unknown, 3 invalid.
    pub fn code(self) -> i8 {
        match self {
            Self::Disallowed => 0,
            Self::Allowed => 1,
            Self::Unknown => 2,
            Self::Invalid => 3,
        }
    }

    /// The name: `allowed`, `disallowed`, `unknown` or `invalid`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Disallowed => "disallowed",
            Self::Unknown => "unknown",
            Self::Invalid => "invalid",
        }
    }
}
