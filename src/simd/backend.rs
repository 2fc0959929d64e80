//! The interface of a vector backend: the steps of the inner loops that have a vector version.

use crate::simd::{BucketMatches, Characters, Fingerprints, Kernel, Nibbles, PairTables};

/// Calls a macro with the signatures of all steps, to declare or implement them.
///
/// Every step is a pure function: all backends return the same result for the same arguments, and
/// `scalar.rs` is the specification. No step panics, for any argument.
macro_rules! for_each_step {
    ($macro:ident) => {
        $macro! {
            /// Finds the line ends and the [odd](LineMasks::odd) bytes in a block of text.
            fn scan_lines(self, text: &[u8; 64]) -> LineMasks;
            /// Finds the line ends, quotes and blanks in a block of text.
            fn scan_delimiters(self, text: &[u8; 64]) -> DelimiterMasks;
            /// Finds the letters and digits, and the characters that must be decoded before words are
            /// looked for, in a block of text.
            fn scan_words(self, text: &[u8; 64]) -> WordMasks;
            /// Compares two texts byte by byte: bit `i` is set if the bytes at `i` are equal.
            fn equal_bytes(self, a: &[u8; 32], b: &[u8; 32]) -> u32;
            /// Marks the bytes of plain host names, and the dots: bit `i` stands for byte `i`.
            fn host_bytes(self, window: &[u8; 32]) -> HostMasks;
            /// Whether a text has no [odd](LineMasks::odd) bytes. Such a path is in normal form for
            /// every profile, as nearly all paths are.
            fn is_plain(self, text: &[u8]) -> bool;
            /// The number of words that are not greater than `word`. The words are little-endian
            /// and sorted. Compares all of them, so they should be few.
            fn count_not_greater(self, words: &[[u8; 8]], word: u64) -> usize;
            /// The index of the first signature that is a subset of `signature`: that has no bit
            /// which `signature` lacks. A signature is two little-endian words.
            fn next_subset(self, signatures: &[[u8; 16]], signature: [u64; 2]) -> Option<usize>;
            /// The set of the numbers that `tables` assign to all pairs of neighbouring bytes: bit
            /// `n % 64` of word `n / 64` for number `n`.
            fn pair_bits(self, text: &[u8], tables: &PairTables) -> [u64; 2];
            /// The kinds of characters in a text, and its number of slashes. `kinds` must give byte
            /// 0 no kind.
            fn characters(self, text: &[u8], kinds: &Nibbles) -> Characters;
            /// Finds the buckets with a fingerprint that may occur in a text, and counts its
            /// slashes.
            fn scan_fingerprints(self, fingerprints: &Fingerprints, text: &[u8]) -> BucketMatches;
        }
    };
}
pub(super) use for_each_step;

macro_rules! declare {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        /// A set of vector instructions that this machine has.
        ///
        /// It is a type parameter, so that the compiler knows the instructions and inlines the
        /// steps: a check of the machine in each step took a twentieth of the time.
        pub(crate) trait Backend: Copy {
            /// Runs a kernel in a function of its own, compiled for the same instructions. For a
            /// search that takes registers from the loop around it if it is inlined there.
            fn run<K: Kernel>(self, kernel: K) -> K::Output;

            $(
                $(#[$doc])*
                fn $name(self, $($argument: $type),*) -> $output;
            )*
        }
    };
}

for_each_step!(declare);

/// The line ends and odd bytes of a 64-byte block: bit `i` stands for byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineMasks {
    /// The line ends, `\n`.
    pub ends: u64,
    /// The odd bytes: those that may not be in normal form as they are. They are `%`, `*`, `#`, all
    /// up to the blank, and all from 0x80 on, without line ends. `!`, `"` and `$` are odd too,
    /// because one comparison then covers most of the set, and they are rare.
    pub odd: u64,
}

/// The delimiters of log lines in a 64-byte block: bit `i` stands for byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DelimiterMasks {
    /// The line ends, `\n`.
    pub ends: u64,
    /// `"`, and `\`, which escapes it.
    pub quotes: u64,
    /// The blanks, `' '`.
    pub blanks: u64,
}

/// The characters of words in a 64-byte block: bit `i` stands for byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordMasks {
    /// The ASCII letters and digits.
    pub inside: u64,
    /// `%`, which begins an escape, and `#`, which begins the fragment of a URL.
    pub special: u64,
}

/// The bytes of host names in a text of 32 bytes: bit `i` stands for byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostMasks {
    /// Lower-case letters, digits, `.`, `-` and `_`.
    pub host: u32,
    /// Dots.
    pub dots: u32,
}
