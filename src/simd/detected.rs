//! The backend of this machine, chosen at run time: AVX2 or NEON if the machine has it, scalar code
//! otherwise.
//!
//! `ROBOSIEVE_SCALAR=1` in the environment selects scalar code on every machine, so that the tests
//! cover both. It is an aid for tests and debugging: no verdict depends on it.

#[cfg(target_arch = "x86_64")]
use crate::simd::avx2::Avx2;
use crate::simd::backend::for_each_step;
#[cfg(target_arch = "aarch64")]
use crate::simd::neon::Neon;
use crate::simd::scalar::Scalar;
use crate::simd::{
    Backend, BucketMatches, Characters, Fingerprints, HostMasks, Kernel, LineMasks, Nibbles,
    PairTables,
};
use std::sync::LazyLock;

/// The environment variable that selects scalar code.
const SCALAR_VARIABLE: &str = "ROBOSIEVE_SCALAR";

/// The backend of this process, chosen on first use.
static DETECTED: LazyLock<AnyBackend> = LazyLock::new(|| {
    AnyBackend::vector()
        .filter(|_| !is_scalar_requested())
        .unwrap_or(AnyBackend::Scalar(Scalar))
});

fn is_scalar_requested() -> bool {
    std::env::var_os(SCALAR_VARIABLE).is_some_and(|value| value == "1")
}

/// The best backend of this machine. As a [`Backend`] it dispatches each step; a hot loop is a
/// [`Kernel`], which dispatches once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyBackend {
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    Scalar(Scalar),
}

impl AnyBackend {
    /// Returns the vector backend of this machine, if it has one.
    fn vector() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return Avx2::detect().map(Self::Avx2);
        #[cfg(target_arch = "aarch64")]
        return Some(Self::Neon(Neon));
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        None
    }

    /// Returns all backends of this machine, whatever the environment says.
    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Scalar(Scalar)).chain(Self::vector())
    }

    /// Returns the backend of this process. After the first call this costs one load.
    #[inline]
    pub(crate) fn detect() -> Self {
        *DETECTED
    }

    /// Runs a kernel, compiled for the concrete backend.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(backend) => backend.run(kernel),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(backend) => backend.run(kernel),
            Self::Scalar(backend) => kernel.run(backend),
        }
    }
}

/// Implements each step by dispatch.
macro_rules! dispatch_steps {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Backend for AnyBackend {
            #[inline]
            fn outlined<R>(self, work: impl FnOnce() -> R) -> R {
                work()
            }

            $(
                #[inline]
                fn $name(self, $($argument: $type),*) -> $output {
                    match self {
                        #[cfg(target_arch = "x86_64")]
                        Self::Avx2(backend) => backend.$name($($argument),*),
                        #[cfg(target_arch = "aarch64")]
                        Self::Neon(backend) => backend.$name($($argument),*),
                        Self::Scalar(backend) => backend.$name($($argument),*),
                    }
                }
            )*
        }
    };
}

for_each_step!(dispatch_steps);

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs itself again with the variable set, so that both backends are checked in each run.
    #[test]
    fn environment_variable_selects_scalar_code() {
        let is_scalar = matches!(AnyBackend::detect(), AnyBackend::Scalar(_));
        if is_scalar_requested() {
            assert!(is_scalar);
            return;
        }
        assert_eq!(is_scalar, AnyBackend::vector().is_none());
        let name = "simd::detected::tests::environment_variable_selects_scalar_code";
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let output = again
            .args(["--exact", name])
            .env(SCALAR_VARIABLE, "1")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && printed.contains("1 passed"),
            "{printed}"
        );
    }
}
