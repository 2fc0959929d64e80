//! The vector code for x86-64 with AVX2.

mod fingerprints;
mod rows;
mod signature;
mod text;
mod vectors;

use crate::simd::{
    Backend, Characters, Fingerprints, Found, HostScan, Kernel, LineMasks, Nibbles, PairTables, backend,
};
use fingerprints::scan_fingerprints;
use rows::{count_not_greater, next_subset};
use signature::{characters, pair_bits};
use text::{equal_bytes, is_plain, scan_host, scan_lines};

/// A machine that has all that this module asks for: there is none but by looking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    /// This machine, if it is one.
    #[inline(always)]
    pub(super) fn detect() -> Option<Self> {
        let is_one = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt");
        is_one.then_some(Self(()))
    }

    /// Does work, compiled for the instructions there are.
    #[inline(always)]
    pub(super) fn run<W: Kernel>(self, work: W) -> W::Output {
        // SAFETY: an `Avx2` is only made where the machine has what the function asks for.
        #[expect(unsafe_code, reason = "calls a function that needs what was found to be there")]
        unsafe {
            run(self, work)
        }
    }
}

#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
fn run<W: Kernel>(backend: Avx2, work: W) -> W::Output {
    work.run(backend)
}

#[inline(never)]
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
fn outlined<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Passes each step on to the function of its name.
macro_rules! pass_on {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Backend for Avx2 {
            #[inline(always)]
            fn outlined<R>(self, work: impl FnOnce() -> R) -> R {
                // SAFETY: an `Avx2` is only made where the machine has what the function asks for.
                #[expect(unsafe_code, reason = "calls a function that needs what was found to be there")]
                unsafe {
                    outlined(work)
                }
            }

            $(
                #[inline(always)]
                fn $name(self, $($argument: $type),*) -> $output {
                    // SAFETY: an `Avx2` is only made where the machine has what the functions of this module ask for.
                    #[expect(unsafe_code, reason = "calls a function that needs what was found to be there")]
                    unsafe {
                        $name($($argument),*)
                    }
                }
            )*
        }
    };
}

backend::for_each_step!(pass_on);
