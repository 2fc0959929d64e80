//! The instructions that are found when running, one machine for all.

#[cfg(target_arch = "x86_64")]
use crate::simd::avx2::Avx2;
use crate::simd::backend::for_each_step;
use crate::simd::{Backend, Characters, Fingerprints, Found, HostScan, Kernel, LineMasks, Nibbles, PairTables, plain};

/// The machine that this program runs on: whatever it is, each step is done by the best that it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyBackend {
    #[cfg(target_arch = "x86_64")]
    avx2: Option<Avx2>,
}

impl AnyBackend {
    /// Looks what it has.
    #[inline]
    pub(crate) fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: Avx2::detect(),
        }
    }

    /// Does work by the best instructions there are. Where it calls functions of its [`Backend`], these are not called but part of it, which
    /// they cannot be in code for all machines.
    #[inline]
    pub(crate) fn run<W: Kernel>(self, work: W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(backend) = self.avx2 {
            return backend.run(work);
        }
        work.run(self)
    }
}

/// Passes each step on to the best that can do it.
macro_rules! pass_on {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Backend for AnyBackend {
            #[inline]
            fn outlined<R>(self, work: impl FnOnce() -> R) -> R {
                work()
            }

            $(
                #[inline]
                fn $name(self, $($argument: $type),*) -> $output {
                    #[cfg(target_arch = "x86_64")]
                    if let Some(backend) = self.avx2 {
                        return backend.$name($($argument),*);
                    }
                    plain::$name($($argument),*)
                }
            )*
        }
    };
}

for_each_step!(pass_on);
