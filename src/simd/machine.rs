//! What the inner loop of judging asks of a machine.

use super::{Fingerprints, Found, Nibbles, PairTables, Rows, Signs, Work};

/// The steps of a [`Machine`], for what declares them and passes them on.
macro_rules! for_each_step {
    ($pass_on:ident) => {
        $pass_on! {
            /// Looks for line ends in a piece of text, and for bytes that are not plain.
            fn look_at_lines(self, text: &[u8; 64]) -> LinesLook;
            /// The bytes that are the same in two texts, one bit each.
            fn equal_bytes(self, a: &[u8; 32], b: &[u8; 32]) -> u32;
            /// Looks at a host name; `None` if it is longer than 31 bytes.
            fn look_at_host(self, window: &[u8; 32]) -> Option<HostLook>;
            /// Whether a text has no [odd](LinesLook::odd) bytes. Such a path is in normal form for every profile, as nearly all are.
            fn is_plain(self, text: &[u8]) -> bool;
            /// How many of the words, little-endian and sorted, are not greater than `word`. Looks at all: they should be few.
            fn count_not_greater(self, words: &[[u8; 8]], word: u64) -> usize;
            /// The first of the signatures, each of two little-endian words, that has no bit that `signature` lacks.
            fn next_within(self, signatures: &[[u8; 16]], signature: [u64; 2]) -> Option<usize>;
            /// The bits that all rows have which two words choose.
            fn common_bits(self, rows: &Rows, words: [u64; 2]) -> [u64; 4];
            /// The first place of `needle` in `text`.
            fn find(self, text: &[u8], needle: &[u8]) -> Option<usize>;
            /// The first place of a byte in `text`, which is short: `memchr` is better with long ones.
            fn find_byte(self, text: &[u8], byte: u8) -> Option<usize>;
            /// The bits of all pairs of neighbouring bytes.
            fn pair_bits(self, text: &[u8], tables: &PairTables) -> [u64; 2];
            /// The signs of a text.
            fn signs(self, text: &[u8], kinds: &Nibbles) -> Signs;
            /// Looks for all fingerprints in a text.
            fn look_for(self, fingerprints: &Fingerprints, text: &[u8]) -> Found;
        }
    };
}
pub(super) use for_each_step;

macro_rules! declare {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        /// Instructions that may be used. Which they are is known when the work that uses them is compiled: to ask at every step took a
        /// twentieth of the time.
        pub(crate) trait Machine: Copy {
            /// Does work in a function of its own, compiled for the same instructions: what is seldom done crowds a loop that it is part of.
            fn apart<W: Work>(self, work: W) -> W::Output;

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
pub(crate) struct LinesLook {
    /// The line ends.
    pub ends: u64,
    /// Bytes that may not stand in a plain URL as it is: `%`, `*`, `#`, those up to the blank and from 0x80 on; and `!`, `"` and `$`,
    /// which are rare, so that one comparison tells most of them.
    pub odd: u64,
}

/// What a look at the beginning of a text tells of the host name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostLook {
    /// How many lower-case letters, digits, `.`, `-` and `_` it begins with, if there are fewer than 32.
    pub len: usize,
    /// Where the last label of these begins.
    pub label: usize,
}
