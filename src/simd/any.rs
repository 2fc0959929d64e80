//! The backend chosen at run time: AVX2 if the machine has it, plain code otherwise.
//!
//! `ROBOSIEVE_SCALAR=1` in the environment selects plain code on every machine, so that the tests
//! cover both. It is an aid for tests and debugging: no verdict depends on it.

#[cfg(target_arch = "x86_64")]
use crate::simd::avx2::Avx2;
use crate::simd::backend::for_each_step;
use crate::simd::{Backend, Characters, Fingerprints, Found, HostScan, Kernel, LineMasks, Nibbles, PairTables, plain};
use std::sync::LazyLock;

/// The environment variable that selects plain code.
#[cfg(target_arch = "x86_64")]
const SCALAR_VARIABLE: &str = "ROBOSIEVE_SCALAR";

/// The backend of this process, chosen on first use.
static DETECTED: LazyLock<AnyBackend> = LazyLock::new(|| AnyBackend {
    #[cfg(target_arch = "x86_64")]
    avx2: if is_scalar_requested() { None } else { Avx2::detect() },
});

#[cfg(target_arch = "x86_64")]
fn is_scalar_requested() -> bool {
    std::env::var_os(SCALAR_VARIABLE).is_some_and(|value| value == "1")
}

/// The best backend of this machine. It dispatches each step at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyBackend {
    #[cfg(target_arch = "x86_64")]
    avx2: Option<Avx2>,
}

impl AnyBackend {
    /// Returns the backend of this process. After the first call this costs one load.
    #[inline]
    pub(crate) fn detect() -> Self {
        *DETECTED
    }

    /// Runs a kernel on the best backend. The kernel is compiled once per backend, so the steps that
    /// it calls are inlined into it.
    #[inline]
    pub(crate) fn run<W: Kernel>(self, work: W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        if let Some(backend) = self.avx2 {
            return backend.run(work);
        }
        work.run(self)
    }
}

/// Dispatches each step to AVX2 or to plain code.
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Runs itself again with the variable set, so that both backends are checked in each run.
    #[test]
    fn environment_variable_selects_plain_code() {
        if is_scalar_requested() {
            assert!(AnyBackend::detect().avx2.is_none());
            return;
        }
        assert_eq!(AnyBackend::detect().avx2.is_some(), Avx2::detect().is_some());
        let name = "simd::any::tests::environment_variable_selects_plain_code";
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let output = again.args(["--exact", name]).env(SCALAR_VARIABLE, "1").output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }
}
