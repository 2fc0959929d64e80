//! What the inner loop of judging asks of a machine, and the machine that this program runs on.

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
use super::{FLOATING_LEN, Fingerprints, Found, Lanes, Nibbles, PairTables, ROOTED_LEN, Signs, Work, plain};

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

    /// The first group from `from` on in which a prefix agrees with `word` in the bits of its mask, and the signature beside it has no bit
    /// that `signature` lacks; and the lanes where that is so.
    fn next_rooted(
        self,
        groups: &[[u8; ROOTED_LEN]],
        word: u64,
        signature: [u64; 2],
        from: usize,
    ) -> Option<(usize, Lanes)>;

    /// The same without prefixes.
    fn next_floating(self, groups: &[[u8; FLOATING_LEN]], signature: [u64; 2], from: usize) -> Option<(usize, Lanes)>;

    /// The first place of `needle` in `text`.
    fn find(self, text: &[u8], needle: &[u8]) -> Option<usize>;

    /// The bits of all pairs of neighbouring bytes.
    fn pair_bits(self, text: &[u8], tables: &PairTables) -> [u64; 2];

    /// The signs of a text.
    fn signs(self, text: &[u8], kinds: &Nibbles) -> Signs;

    /// Looks for all fingerprints in a text.
    fn look_for(self, fingerprints: &Fingerprints, text: &[u8]) -> Found;
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
            fn newlines(self, text: &[u8; 64]) -> u64;
            fn equal_bytes(self, a: &[u8; 32], b: &[u8; 32]) -> u32;
            fn look_at_host(self, window: &[u8; 32]) -> Option<HostLook>;
            fn look_at_path(self, window: &[u8], len: usize) -> PathLook;
            fn next_rooted(self, groups: &[[u8; ROOTED_LEN]], word: u64, signature: [u64; 2], from: usize) -> Option<(usize, Lanes)>;
            fn next_floating(self, groups: &[[u8; FLOATING_LEN]], signature: [u64; 2], from: usize) -> Option<(usize, Lanes)>;
            fn find(self, text: &[u8], needle: &[u8]) -> Option<usize>;
            fn pair_bits(self, text: &[u8], tables: &PairTables) -> [u64; 2];
            fn signs(self, text: &[u8], kinds: &Nibbles) -> Signs;
            fn look_for(self, fingerprints: &Fingerprints, text: &[u8]) -> Found;
        }
    };
}
pub(super) use for_each_step;

/// Passes each step on to the best that can do it.
macro_rules! pass_on {
    ($(fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Machine for AnyMachine {
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
