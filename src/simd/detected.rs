//! The backend of this machine, chosen at run time: AVX2 or NEON if the machine has it, scalar code
//! otherwise.
//!
//! `ROBOSIEVE_BACKEND` in the environment names another one that this machine has: `scalar`, `avx2`
//! or `neon`. So the tests cover all. It is an aid for tests and debugging: no verdict depends on
//! it, and any other value leaves the choice as it is.

#[cfg(target_arch = "x86_64")]
use crate::simd::avx2::Avx2;
use crate::simd::backend::for_each_step;
#[cfg(target_arch = "aarch64")]
use crate::simd::neon::Neon;
use crate::simd::scalar::Scalar;
use crate::simd::{
    Backend, BucketMatches, Characters, DelimiterMasks, Fingerprints, HostMasks, Kernel, LineMasks,
    Nibbles, PairTables, WordMasks,
};
use std::sync::LazyLock;

/// The environment variable that names a backend.
const BACKEND_VARIABLE: &str = "ROBOSIEVE_BACKEND";

/// The backend of this process, chosen on first use.
static DETECTED: LazyLock<AnyBackend> = LazyLock::new(|| {
    let named = std::env::var_os(BACKEND_VARIABLE);
    let best = AnyBackend::vector().unwrap_or(AnyBackend::Scalar(Scalar));
    AnyBackend::all()
        .find(|backend| named.as_deref().is_some_and(|name| name == backend.name()))
        .unwrap_or(best)
});

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
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Scalar(Scalar)).chain(Self::vector())
    }

    /// The name of the backend in the environment.
    fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => "neon",
            Self::Scalar(_) => "scalar",
        }
    }

    /// Returns the backend of this process. After the first call this costs one load.
    #[inline]
    pub(crate) fn detect() -> Self {
        *DETECTED
    }
}

/// Implements each step by dispatch.
macro_rules! dispatch_steps {
    ($($(#[$doc:meta])* fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Backend for AnyBackend {
            #[inline]
            fn run<K: Kernel>(self, kernel: K) -> K::Output {
                match self {
                    #[cfg(target_arch = "x86_64")]
                    Self::Avx2(backend) => backend.run(kernel),
                    #[cfg(target_arch = "aarch64")]
                    Self::Neon(backend) => backend.run(kernel),
                    Self::Scalar(backend) => backend.run(kernel),
                }
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

    /// Runs itself again for each backend, so that every run of the tests selects them all.
    #[test]
    fn environment_variable_selects_a_backend() {
        let detected = AnyBackend::detect().name();
        if let Ok(wanted) = std::env::var("EXPECTED_BACKEND") {
            assert_eq!(detected, wanted);
            return;
        }
        let best = AnyBackend::all().last().unwrap().name();
        let named = AnyBackend::all().map(|backend| (backend.name(), backend.name()));
        for (name, expected) in named.chain([("", best), ("avx9", best)]) {
            let test = "simd::detected::tests::environment_variable_selects_a_backend";
            let output = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", test])
                .env(BACKEND_VARIABLE, name)
                .env("EXPECTED_BACKEND", expected)
                .output()
                .unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && printed.contains("1 passed"),
                "{name}: {printed}"
            );
        }
    }
}
