//! The AVX2 backend: the steps in vectors of 32 bytes. See [`Backend`] for the contracts.

mod fingerprints;
mod signature;
mod sorted_words;
mod text;
mod vectors;

use crate::simd::{
    Backend, BucketMatches, Characters, DelimiterMasks, Fingerprints, HostMasks, Kernel, LineMasks,
    Nibbles, PairTables, WordMasks, backend,
};
use fingerprints::scan_fingerprints;
use signature::{characters, next_subset, pair_bits};
use sorted_words::count_not_greater;
use text::{equal_bytes, host_bytes, is_plain, scan_delimiters, scan_lines, scan_words};

/// Proof that this machine has the instructions of this module: only [`detect`](Self::detect)
/// creates one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Detects the instructions; `None` if one of them is missing.
    #[inline(always)]
    pub(super) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt");
        has_all.then_some(Self(()))
    }
}

#[inline(never)]
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
fn run<K: Kernel>(backend: Avx2, kernel: K) -> K::Output {
    kernel.run(backend)
}

/// Implements each step by the function of the same name.
macro_rules! implement {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Backend for Avx2 {
            #[inline(always)]
            fn run<K: Kernel>(self, kernel: K) -> K::Output {
                // SAFETY: an `Avx2` exists only on machines with the features of the function.
                #[expect(unsafe_code, reason = "calls a function with target features")]
                unsafe {
                    run(self, kernel)
                }
            }

            $(
                #[inline(always)]
                fn $name(self, $($argument: $type),*) -> $output {
                    // SAFETY: an `Avx2` exists only on machines with the features of these
                    // functions.
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
