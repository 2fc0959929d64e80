//! What the inner loop of judging asks of a machine, and the machine that this program runs on.

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
use super::{Fingerprints, Found, Nibbles, PairTables, Rows, Signs, Work, plain};

/// Instructions that may be used. Which they are is known when the work that uses them is compiled: to ask at every step took a
/// twentieth of the time.
pub(crate) trait Machine: Copy {
    /// Does work in a function of its own, compiled for the same instructions: what is seldom done crowds a loop that it is part of.
    fn apart<W: Work>(self, work: W) -> W::Output;

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

/// The machine that this program runs on: whatever it is, each step is done by the best that it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyMachine {
    #[cfg(target_arch = "x86_64")]
    avx2: Option<Avx2>,
}

impl AnyMachine {
    /// Looks what it has.
    #[inline]
    pub(crate) fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: Avx2::detect(),
        }
    }

    /// Does work by the best instructions there are. Where it calls functions of its [`Machine`], these are not called but part of it, which
    /// they cannot be in code for all machines.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = self.avx2 {
            return machine.run(work);
        }
        work.run(self)
    }
}

/// The steps of [`Machine`], for the macros that pass them on.
macro_rules! for_each_step {
    ($pass_on:ident) => {
        $pass_on! {
            fn look_at_lines(self, text: &[u8; 64]) -> LinesLook;
            fn equal_bytes(self, a: &[u8; 32], b: &[u8; 32]) -> u32;
            fn look_at_host(self, window: &[u8; 32]) -> Option<HostLook>;
            fn is_plain(self, text: &[u8]) -> bool;
            fn count_not_greater(self, words: &[[u8; 8]], word: u64) -> usize;
            fn next_within(self, signatures: &[[u8; 16]], signature: [u64; 2]) -> Option<usize>;
            fn common_bits(self, rows: &Rows, words: [u64; 2]) -> [u64; 4];
            fn find(self, text: &[u8], needle: &[u8]) -> Option<usize>;
            fn find_byte(self, text: &[u8], byte: u8) -> Option<usize>;
            fn pair_bits(self, text: &[u8], tables: &PairTables) -> [u64; 2];
            fn signs(self, text: &[u8], kinds: &Nibbles) -> Signs;
            fn look_for(self, fingerprints: &Fingerprints, text: &[u8]) -> Found;
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use for_each_step;

/// Passes each step on to the best that can do it.
macro_rules! pass_on {
    ($(fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Machine for AnyMachine {
            #[inline]
            fn apart<W: Work>(self, work: W) -> W::Output {
                work.run(self)
            }

            $(
                #[inline]
                fn $name(self, $($argument: $type),*) -> $output {
                    #[cfg(target_arch = "x86_64")]
                    if let Some(machine) = self.avx2 {
                        return machine.$name($($argument),*);
                    }
                    plain::$name($($argument),*)
                }
            )*
        }
    };
}

for_each_step!(pass_on);
