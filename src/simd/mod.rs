//! SIMD: the vector backends, and the scalar code that specifies them.
//!
//! [`Backend`] lists the steps. `scalar` implements them for all machines, `avx2` for x86-64 with
//! AVX2, and `neon` for aarch64, where NEON is part of the architecture. With AVX2, filtering lists
//! is 1.6 to 3.5 times as fast as with scalar code. [`AnyBackend`] detects the instructions at run
//! time, so one binary serves all machines of an architecture. A hot loop is a [`Kernel`], which is
//! compiled once per backend.
//!
//! Tests compare each vector step with its scalar version on random input.
//!
//! A backend for AVX-512 took 0.97 to 1.01 of the time of AVX2 on three lists. Closures in place of
//! kernels are not inlined into the function that enables AVX2: an unsorted list took 12 % more
//! instructions.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod backend;
mod detected;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

pub(crate) use backend::{Backend, DelimiterMasks, HostMasks, LineMasks, WordMasks};
pub(crate) use detected::AnyBackend;

/// A mask of lanes, one bit per lane.
pub(crate) type Lanes = u32;

/// The length of a bucket of tags: sixteen tags of two bytes, little-endian and not aligned.
pub(crate) const TAGS_LEN: usize = 32;

/// The lanes of the tags that are equal to `tag`.
#[inline]
pub(crate) fn equal_tags(tags: &[u8; TAGS_LEN], tag: u16) -> Lanes {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the function requires only SSE2, which every x86-64 machine has.
        #[expect(unsafe_code, reason = "calls a function with target features")]
        return unsafe { sse2::equal_tags(tags, tag) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the function requires only NEON, which every aarch64 machine has.
        #[expect(unsafe_code, reason = "calls a function with target features")]
        return unsafe { neon::equal_tags(tags, tag) };
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    scalar::equal_tags(tags, tag)
}

/// A hot loop that is compiled once per backend.
///
/// A closure would not do: the compiler does not inline it into the function that enables the
/// instructions, so each step in it would be a call. On an unsorted list that took 12 % more
/// instructions.
pub(crate) trait Kernel {
    /// The result.
    type Output;

    /// Runs the loop. It must be `#[inline(always)]`, as must the short functions that it calls:
    /// only then the steps of the backend are inlined into it.
    fn run(self, backend: impl Backend) -> Self::Output;
}

/// Prefetches a value that the program reads soon. Unlike a load it stalls nothing, and it changes
/// nothing but the time.
#[inline]
pub(crate) fn prefetch<T>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is that of a reference, and the instruction faults at no address.
        #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(soon).cast());
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the instruction faults at no address, and changes no register, flag or memory.
        #[expect(unsafe_code, reason = "there is no stable intrinsic")]
        unsafe {
            std::arch::asm!(
                "prfm pldl1keep, [{address}]",
                address = in(reg) std::ptr::from_ref(soon).addr(),
                options(nomem, nostack, preserves_flags),
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = soon;
}

/// A table of byte values in two halves: one value for the low four bits of a byte, one for the
/// high four bits. A vector shuffle looks up each half; the caller combines them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nibbles {
    pub low: [u8; 16],
    pub high: [u8; 16],
}

impl Nibbles {
    /// The values of both halves of a byte.
    #[inline]
    const fn of(&self, byte: u8) -> (u8, u8) {
        (
            self.low[(byte & 15) as usize],
            self.high[(byte >> 4) as usize],
        )
    }
}

/// A hash of pairs of bytes to numbers below 128: the exclusive or of both values of the first byte
/// and both values of the second byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairTables {
    pub first: Nibbles,
    pub second: Nibbles,
}

/// A summary of the characters in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Characters {
    /// The kinds of all bytes together. The kinds of a byte are the bits that both its halves have.
    pub kinds: u8,
    /// The number of slashes, at most 255.
    pub slashes: u8,
}

/// The number of buckets of [`Fingerprints`].
pub(crate) const BUCKETS: usize = 16;

/// Fingerprints of one to three bytes in 16 buckets, in the layout of the vector search Teddy (of
/// Hyperscan and of the crate aho-corasick), of which this is the first phase.
///
/// For each bucket and each of three positions, the table has the low and the high halves of the
/// bytes that the fingerprints of the bucket have there. So the search can report a bucket by
/// mistake, but misses none.
#[derive(Clone, Debug)]
pub(crate) struct Fingerprints {
    /// Buckets 0 to 7, and 8 to 15: one bit per bucket, and a table per position.
    halves: [[Nibbles; 3]; 2],
    /// Whether the second half has any fingerprint.
    is_wide: bool,
}

impl Fingerprints {
    /// No fingerprints.
    pub(crate) fn new() -> Self {
        Self {
            halves: [[Nibbles {
                low: [0; 16],
                high: [0; 16],
            }; 3]; 2],
            is_wide: false,
        }
    }

    /// Adds the first three bytes of `literal`, which must not be empty, to a bucket.
    pub(crate) fn add(&mut self, bucket: usize, literal: &[u8]) {
        self.is_wide |= bucket >= 8;
        let half = &mut self.halves[bucket / 8 % 2];
        let bit = 1 << (bucket % 8);
        for (position, nibbles) in half.iter_mut().enumerate() {
            match literal.get(position) {
                Some(&byte) => {
                    nibbles.low[usize::from(byte & 15)] |= bit;
                    nibbles.high[usize::from(byte >> 4)] |= bit;
                }
                // After a short fingerprint any byte matches, also the zeros after the end of a
                // text.
                None => {
                    nibbles.low.iter_mut().for_each(|bits| *bits |= bit);
                    nibbles.high.iter_mut().for_each(|bits| *bits |= bit);
                }
            }
        }
    }
}

/// The result of a search for [`Fingerprints`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BucketMatches {
    /// The buckets with a fingerprint that may occur in the text, one bit per bucket.
    pub buckets: u16,
    /// The number of slashes, at most 255.
    pub slashes: u8,
}
