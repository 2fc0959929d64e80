//! The instructions that are found when running, one machine for all.

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
use super::machine::for_each_step;
use super::{Fingerprints, Found, HostLook, LinesLook, Machine, Nibbles, PairTables, Rows, Signs, Work, plain};

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

/// Passes each step on to the best that can do it.
macro_rules! pass_on {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
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
