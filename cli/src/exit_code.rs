//! The exit code of a run.

/// An exit code, as that of the standard library. That one does not give its number back, which the
/// Python package needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// The run succeeded.
    pub const SUCCESS: Self = Self(0);

    /// Its number.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(number: u8) -> Self {
        Self(number)
    }
}
