//! What the inner loop of judging asks of a machine: found out once for much work, or at every step.

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
use super::plain;

/// Instructions that may be used. Which they are is known when the work that uses them is compiled: to ask at every step took a
/// twentieth of the time.
pub(crate) trait Machine: Copy {
    /// Where lines end in a piece of text, one bit each.
    fn newlines(self, text: &[u8; 64]) -> u64;

    /// The bytes that are the same in two texts, one bit each.
    fn equal_bytes(self, a: &[u8; 32], b: &[u8; 32]) -> u32;

    /// Looks at a host name; `None` if it is longer than 31 bytes.
    fn look_at_host(self, window: &[u8; 32]) -> Option<HostLook>;

    /// Looks at the path that `window` begins with, `len` bytes of it at most. What lies behind does not matter, but with 32 bytes to read
    /// the end of the path is seen as fast as the rest.
    fn look_at_path(self, window: &[u8], len: usize) -> PathLook;
}

/// What a look at the beginning of a text tells of the host name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostLook {
    /// How many lower-case letters, digits, `.`, `-` and `_` it begins with, if there are fewer than 32.
    pub len: usize,
    /// Where the last label of these begins.
    pub label: usize,
}

/// What a look at a path tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathLook {
    /// How long it is up to a `#`.
    pub len: usize,
    /// It holds neither `%` nor `*` nor bytes from 0x80 on.
    pub plain: bool,
}

/// Any machine: asked at every step what it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyMachine;

/// The best there is for one step.
macro_rules! best {
    ($call:ident($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = Avx2::detect() {
            return machine.$call($($argument),*);
        }
        plain::$call($($argument),*)
    }};
}

impl Machine for AnyMachine {
    #[inline]
    fn newlines(self, text: &[u8; 64]) -> u64 {
        best!(newlines(text))
    }

    #[inline]
    fn equal_bytes(self, a: &[u8; 32], b: &[u8; 32]) -> u32 {
        best!(equal_bytes(a, b))
    }

    #[inline]
    fn look_at_host(self, window: &[u8; 32]) -> Option<HostLook> {
        best!(look_at_host(window))
    }

    #[inline]
    fn look_at_path(self, window: &[u8], len: usize) -> PathLook {
        best!(look_at_path(window, len))
    }
}
