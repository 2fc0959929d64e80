//! What the inner loop of judging asks of a machine.

use crate::simd::{Characters, Fingerprints, Found, Nibbles, PairTables};

/// The steps of a [`Backend`], for what declares them and passes them on.
macro_rules! for_each_step {
    ($pass_on:ident) => {
        $pass_on! {
            /// Looks for line ends in a piece of text, and for bytes that are not plain.
            fn scan_lines(self, text: &[u8; 64]) -> LineMasks;
            /// The bytes that are the same in two texts, one bit each.
            fn equal_bytes(self, a: &[u8; 32], b: &[u8; 32]) -> u32;
            /// Looks at a host name; `None` if it is longer than 31 bytes.
            fn scan_host(self, window: &[u8; 32]) -> Option<HostScan>;
            /// Whether a text has no [odd](LineMasks::odd) bytes. Such a path is in normal form for every profile, as nearly all are.
            fn is_plain(self, text: &[u8]) -> bool;
            /// How many of the words, little-endian and sorted, are not greater than `word`. Looks at all: they should be few.
            fn count_not_greater(self, words: &[[u8; 8]], word: u64) -> usize;
            /// The first of the signatures, each of two little-endian words, that has no bit that `signature` lacks.
            fn next_subset(self, signatures: &[[u8; 16]], signature: [u64; 2]) -> Option<usize>;
            /// The bits of all pairs of neighbouring bytes.
            fn pair_bits(self, text: &[u8], tables: &PairTables) -> [u64; 2];
            /// The signs of a text.
            fn characters(self, text: &[u8], kinds: &Nibbles) -> Characters;
            /// Looks for all fingerprints in a text.
            fn scan_fingerprints(self, fingerprints: &Fingerprints, text: &[u8]) -> Found;
        }
    };
}
pub(super) use for_each_step;

macro_rules! declare {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        /// Instructions that may be used. Which they are is known when the work that uses them is compiled: to ask at every step took a
        /// twentieth of the time.
        pub(crate) trait Backend: Copy {
            /// Calls `work` in a function of its own, compiled for the same instructions. Rare work that is inlined
            /// into a loop takes its registers.
            fn outlined<R>(self, work: impl FnOnce() -> R) -> R;

            $(
                $(#[$doc])*
                fn $name(self, $($argument: $type),*) -> $output;
            )*
        }
    };
}

for_each_step!(declare);

/// What a look at a piece of text tells of its lines, one bit for each byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineMasks {
    /// The line ends.
    pub ends: u64,
    /// Bytes that may not stand in a plain URL as it is: `%`, `*`, `#`, those up to the blank and from 0x80 on; and `!`, `"` and `$`,
    /// which are rare, so that one comparison tells most of them.
    pub odd: u64,
}

/// What a look at the beginning of a text tells of the host name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostScan {
    /// How many lower-case letters, digits, `.`, `-` and `_` it begins with, if there are fewer than 32.
    pub len: usize,
    /// Where the last label of these begins.
    pub label: usize,
}
