//! The NEON backend: the steps in vectors of 16 bytes. See [`Backend`] for the contracts.

mod fingerprints;
mod signature;
mod sorted_words;
mod tags;
mod text;
mod vectors;

use crate::simd::{
    Backend, BucketMatches, Characters, DelimiterMasks, Fingerprints, HostMasks, Kernel, LineMasks,
    Nibbles, PairTables, WordMasks, backend,
};
use fingerprints::scan_fingerprints;
use signature::{characters, next_subset, pair_bits};
use sorted_words::count_not_greater;
pub(super) use tags::equal_tags;
use text::{equal_bytes, host_bytes, is_plain, scan_delimiters, scan_lines, scan_words};

/// The backend of every aarch64 machine. NEON is part of the architecture, so nothing is detected,
/// and a kernel needs no function that enables the instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon;

#[inline(never)]
fn run<K: Kernel>(backend: Neon, kernel: K) -> K::Output {
    kernel.run(backend)
}

/// Implements each step by the function of the same name.
macro_rules! implement {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Backend for Neon {
            #[inline(always)]
            fn run<K: Kernel>(self, kernel: K) -> K::Output {
                run(self, kernel)
            }

            $(
                #[inline(always)]
                fn $name(self, $($argument: $type),*) -> $output {
                    // SAFETY: these functions require only NEON, which every aarch64 machine has.
                    #[expect(unsafe_code, reason = "calls a function with target features")]
                    unsafe {
                        $name($($argument),*)
                    }
                }
            )*
        }
    };
}

backend::for_each_step!(implement);
