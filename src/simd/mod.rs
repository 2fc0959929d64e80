//! Looks through many words at once: the one place with vector instructions, each beside the plain code that it stands for.
//!
//! Which instructions the machine has is found out when running, so one binary serves all of an architecture. Machines
//! without AVX2, and all that are not x86-64, take the plain code, which the compiler vectorises as far as it can.

mod any;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod backend;
mod plain;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

pub(crate) use any::AnyBackend;
pub(crate) use backend::{Backend, HostScan, LineMasks};

/// Lanes, one bit each.
pub(crate) type Lanes = u32;

/// Sixteen tags of two bytes, little-endian, not aligned.
pub(crate) const TAGS_LEN: usize = 32;

/// The lanes of the tags that are this one.
#[inline]
pub(crate) fn equal_tags(tags: &[u8; TAGS_LEN], tag: u16) -> Lanes {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: SSE2, which is all that the function asks for, belongs to every x86-64 machine.
        #[expect(unsafe_code, reason = "calls a function that names what it needs")]
        return unsafe { sse2::equal_tags(tags, tag) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    plain::equal_tags(tags, tag)
}

/// Kernel that is compiled twice: for the vector instructions, and for machines without.
pub(crate) trait Kernel {
    /// What it gives.
    type Output;

    /// Does it. To be inlined always, and all that is short in it: only then the vector functions it calls become part of it.
    fn run(self, backend: impl Backend) -> Self::Output;
}

/// Asks the memory for what is looked at soon. Nothing waits for it, unlike for a load, and nothing changes but the time.
#[inline]
pub(crate) fn prefetch<T>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is that of a reference; and the instruction reads nothing and faults at no address.
        #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(soon).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}

/// Values of bytes, each made of two: that of its low four bits, and that of its high four bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nibbles {
    pub low: [u8; 16],
    pub high: [u8; 16],
}

impl Nibbles {
    #[inline]
    const fn of(&self, byte: u8) -> (u8, u8) {
        (self.low[(byte & 15) as usize], self.high[(byte >> 4) as usize])
    }
}

/// How two neighbouring bytes become the number of a bit: the exclusive or of the values of the first and of the second, each the
/// exclusive or of its halves; all below 128.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairTables {
    pub first: Nibbles,
    pub second: Nibbles,
}

/// Which signs a text holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Characters {
    /// The kinds of all bytes; a byte's kinds are the bits that both its halves have, and those of the byte 0 must be none.
    pub kinds: u8,
    /// How many slashes, up to 255.
    pub slashes: u8,
}

/// Buckets that [`Fingerprints`] has.
pub(crate) const BUCKETS: usize = 16;

/// Pieces of text of one to three bytes, each in a bucket, laid out so that all are looked for at once.
///
/// For each bucket and each of three places there stands which low and which high halves of bytes its pieces have there. So a bucket
/// may be found though the text has none of its pieces, but not the other way round. This is the first half of the algorithm Teddy
/// (of Hyperscan, and of the crate aho-corasick).
#[derive(Clone, Debug)]
pub(crate) struct Fingerprints {
    /// Eight buckets each, a bit for each bucket.
    halves: [[Nibbles; 3]; 2],
    /// Whether the second half has any.
    is_wide: bool,
}

impl Fingerprints {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { halves: [[Nibbles { low: [0; 16], high: [0; 16] }; 3]; 2], is_wide: false }
    }

    /// Puts the first three bytes of a piece, which is not empty, into a bucket.
    pub(crate) fn add(&mut self, bucket: usize, piece: &[u8]) {
        self.is_wide |= bucket >= 8;
        let (half, bit) = (&mut self.halves[bucket / 8 % 2], 1 << (bucket % 8));
        for (place, nibbles) in half.iter_mut().enumerate() {
            match piece.get(place) {
                Some(&byte) => {
                    nibbles.low[usize::from(byte & 15)] |= bit;
                    nibbles.high[usize::from(byte >> 4)] |= bit;
                }
                // Behind a short piece anything may stand, also the zeros behind the end of a text.
                None => {
                    nibbles.low.iter_mut().for_each(|bits| *bits |= bit);
                    nibbles.high.iter_mut().for_each(|bits| *bits |= bit);
                }
            }
        }
    }
}

/// What was found in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The buckets of which a piece may be there, one bit each.
    pub buckets: u16,
    /// How many slashes, up to 255.
    pub slashes: u8,
}
