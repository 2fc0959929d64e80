//! Looks through many words at once: the one place with vector instructions, each beside the plain code that it stands for.
//!
//! Which instructions the machine has is found out when running, so one binary serves all of an architecture. Machines
//! without AVX2, and all that are not x86-64, take the plain code, which the compiler vectorises as far as it can.

/// How many words are looked at side by side.
pub(crate) const LANES: usize = 4;

/// Four words of eight bytes, little-endian, not aligned: twice, for signatures of two words.
pub(crate) const FLOATING_LEN: usize = 2 * 8 * LANES;

/// Four prefixes, four masks, and then signatures.
pub(crate) const ROOTED_LEN: usize = 4 * 8 * LANES;

/// Lanes of a group, one bit each.
pub(crate) type Lanes = u32;

/// The first group from `from` on in which a prefix agrees with `word` in the bits of its mask, and the signature beside it has no bit
/// that `signature` lacks; and the lanes where that is so.
#[inline]
pub(crate) fn next_rooted(
    groups: &[[u8; ROOTED_LEN]],
    word: u64,
    signature: [u64; 2],
    from: usize,
) -> Option<(usize, Lanes)> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all that the function asks for.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::next_rooted(groups, word, signature, from) };
    }
    plain::next_rooted(groups, word, signature, from)
}

/// The same without prefixes.
#[inline]
pub(crate) fn next_floating(groups: &[[u8; FLOATING_LEN]], signature: [u64; 2], from: usize) -> Option<(usize, Lanes)> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::next_floating(groups, signature, from) };
    }
    plain::next_floating(groups, signature, from)
}

/// The first place of `needle` in `text`.
#[inline]
pub(crate) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::find(text, needle) };
    }
    plain::find(text, needle)
}

/// Appends the places of all line ends of `text`, counted from `base`.
#[inline]
pub(crate) fn line_ends(text: &[u8], base: usize, ends: &mut Vec<usize>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::line_ends(text, base, ends) };
    }
    plain::line_ends(text, base, ends);
}

/// What a look at the beginning of a text tells of the host name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostLook {
    /// How many lower-case letters, digits, `.`, `-` and `_` it begins with, if there are fewer than 32.
    pub len: usize,
    /// Where the last label of these begins.
    pub label: usize,
}

/// Looks at a host name of up to 31 bytes; `None` for a longer one, and where fewer than 32 bytes are left to look at.
#[inline]
pub(crate) fn look_at_host(text: &[u8]) -> Option<HostLook> {
    let window = text.first_chunk::<32>()?;
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::look_at_host(window) };
    }
    plain::look_at_host(window)
}

/// What a look at a path tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathLook {
    /// How long it is up to a `#`.
    pub len: usize,
    /// It holds neither `%` nor `*` nor bytes from 0x80 on.
    pub plain: bool,
}

/// Looks at the path that `window` begins with, `len` bytes of it at most. What lies behind does not matter, but with 32 bytes to read the
/// end of the path is seen as fast as the rest.
#[inline]
pub(crate) fn look_at_path(window: &[u8], len: usize) -> PathLook {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::look_at_path(window, len) };
    }
    plain::look_at_path(window, len)
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

/// The bits of all pairs of neighbouring bytes.
#[inline]
pub(crate) fn pair_bits(text: &[u8], tables: &PairTables) -> [u64; 2] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::pair_bits(text, tables) };
    }
    plain::pair_bits(text, tables)
}

/// Which signs a text holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs {
    /// The kinds of all bytes; a byte's kinds are the bits that both its halves have, and those of the byte 0 must be none.
    pub kinds: u8,
    /// How many slashes, up to 255.
    pub slashes: u8,
}

/// The signs of a text.
#[inline]
pub(crate) fn signs(text: &[u8], kinds: &Nibbles) -> Signs {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the machine has both, which is all that the function asks for.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::signs(text, kinds) };
    }
    plain::signs(text, kinds)
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
}

impl Fingerprints {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { halves: [[Nibbles { low: [0; 16], high: [0; 16] }; 3]; 2] }
    }

    /// Puts the first three bytes of a piece, which is not empty, into a bucket.
    pub(crate) fn add(&mut self, bucket: usize, piece: &[u8]) {
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

/// Looks for all fingerprints in a text.
#[inline]
pub(crate) fn look_for(fingerprints: &Fingerprints, text: &[u8]) -> Found {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the machine has both, which is all that the function asks for.
        #[expect(unsafe_code, reason = "calls a function that needs what was just found to be there")]
        return unsafe { avx2::look_for(fingerprints, text) };
    }
    plain::look_for(fingerprints, text)
}

/// Never inlined: that would crowd the callers, which hardly ever come here where there is a vector twin.
mod plain {
    use super::{
        FLOATING_LEN, Fingerprints, Found, HostLook, LANES, Lanes, Nibbles, PairTables, PathLook, ROOTED_LEN, Signs,
    };

    #[inline(never)]
    pub(super) fn look_at_path(window: &[u8], len: usize) -> PathLook {
        let text = &window[..len.min(window.len())];
        let path = &text[..memchr::memchr(b'#', text).unwrap_or(text.len())];
        // One fold over the bytes without an early exit is what the compiler turns into vector instructions.
        let odd = path.iter().fold(false, |odd, &b| odd | (b >= 0x80) | (b == b'%') | (b == b'*'));
        PathLook { len: path.len(), plain: !odd }
    }

    #[inline(never)]
    pub(super) fn pair_bits(text: &[u8], tables: &PairTables) -> [u64; 2] {
        let mut bits = [0; 2];
        for pair in text.windows(2) {
            let ((a, b), (c, d)) = (tables.first.of(pair[0]), tables.second.of(pair[1]));
            let bit = (a ^ b ^ c ^ d) & 127;
            bits[usize::from(bit >> 6)] |= 1u64 << (bit & 63);
        }
        bits
    }

    #[inline(never)]
    pub(super) fn signs(text: &[u8], kinds: &Nibbles) -> Signs {
        text.iter().fold(Signs::default(), |signs, &byte| {
            let (low, high) = kinds.of(byte);
            let slashes = signs.slashes.saturating_add(u8::from(byte == b'/'));
            Signs { kinds: signs.kinds | low & high, slashes }
        })
    }

    #[inline(never)]
    pub(super) fn line_ends(text: &[u8], base: usize, ends: &mut Vec<usize>) {
        ends.extend(memchr::memchr_iter(b'\n', text).map(|end| base + end));
    }

    #[inline(never)]
    pub(super) fn look_at_host(window: &[u8; 32]) -> Option<HostLook> {
        let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_".contains(b);
        let len = window.iter().position(|b| !plain(b))?;
        let label = window[..len].iter().rposition(|&b| b == b'.').map_or(0, |dot| dot + 1);
        Some(HostLook { len, label })
    }

    #[inline(never)]
    pub(super) fn look_for(fingerprints: &Fingerprints, text: &[u8]) -> Found {
        let mut found = Found::default();
        for at in 0..text.len() {
            let byte = |place: usize| text.get(at + place).copied().unwrap_or_default();
            let buckets = fingerprints.halves.map(|half| {
                half.iter().enumerate().fold(u8::MAX, |all, (place, nibbles)| {
                    let (low, high) = nibbles.of(byte(place));
                    all & low & high
                })
            });
            found.buckets |= u16::from_le_bytes(buckets);
            found.slashes = found.slashes.saturating_add(u8::from(byte(0) == b'/'));
        }
        found
    }

    fn lanes(is_wanted: impl Fn(usize) -> bool) -> Lanes {
        (0..LANES).map(|lane| Lanes::from(is_wanted(lane)) << lane).sum()
    }

    /// The word at a place, counted in words.
    fn word(group: &[u8], place: usize) -> u64 {
        group.as_chunks().0.get(place).map_or(0, |word| u64::from_le_bytes(*word))
    }

    fn has_all(group: &[u8], place: usize, signature: [u64; 2]) -> bool {
        (word(group, place) & !signature[0]) | (word(group, LANES + place) & !signature[1]) == 0
    }

    /// The first group from `from` on that has lanes.
    fn first<T>(groups: &[T], from: usize, lanes: impl Fn(&T) -> Lanes) -> Option<(usize, Lanes)> {
        let rest = groups.get(from..)?.iter();
        rest.enumerate().map(|(i, group)| (from + i, lanes(group))).find(|(_, lanes)| *lanes != 0)
    }

    #[inline(never)]
    pub(super) fn next_rooted(
        groups: &[[u8; ROOTED_LEN]],
        wanted: u64,
        signature: [u64; 2],
        from: usize,
    ) -> Option<(usize, Lanes)> {
        first(groups, from, |group| {
            let (heads, signatures) = group.split_at(ROOTED_LEN - FLOATING_LEN);
            lanes(|lane| {
                (word(heads, lane) ^ wanted) & word(heads, LANES + lane) == 0 && has_all(signatures, lane, signature)
            })
        })
    }

    #[inline(never)]
    pub(super) fn next_floating(
        groups: &[[u8; FLOATING_LEN]],
        signature: [u64; 2],
        from: usize,
    ) -> Option<(usize, Lanes)> {
        first(groups, from, |group| lanes(|lane| has_all(group, lane, signature)))
    }

    #[inline(never)]
    pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
        // A path has many slashes: what follows one is the better byte to look for.
        let skip = usize::from(needle.len() > 1 && needle[0] == b'/');
        let Some(&probe) = needle.get(skip) else { return Some(0) };
        let mut from = skip;
        while let Some(at) = memchr::memchr(probe, text.get(from..)?) {
            let start = from + at - skip;
            if text[start..].starts_with(needle) {
                return Some(start);
            }
            from += at + 1;
        }
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{
        FLOATING_LEN, Fingerprints, Found, HostLook, Lanes, Nibbles, PairTables, PathLook, ROOTED_LEN, Signs, plain,
    };
    use std::arch::x86_64::*;

    /// 32 bytes as a vector.
    #[target_feature(enable = "avx2")]
    fn load_bytes(bytes: &[u8; 32]) -> __m256i {
        // SAFETY: 32 bytes are read from a reference to 32 bytes, and the instruction asks for no alignment.
        #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
        unsafe {
            _mm256_loadu_si256(bytes.as_ptr().cast())
        }
    }

    #[target_feature(enable = "avx2")]
    fn store_bytes(bytes: &mut [u8; 32], vector: __m256i) {
        // SAFETY: 32 bytes are written to a reference to 32 bytes, and the instruction asks for no alignment.
        #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
        unsafe {
            _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn line_ends(text: &[u8], base: usize, ends: &mut Vec<usize>) {
        let (chunks, rest) = text.as_chunks::<32>();
        let wanted = _mm256_set1_epi8(b'\n' as i8);
        for (i, chunk) in chunks.iter().enumerate() {
            let mut found = _mm256_movemask_epi8(_mm256_cmpeq_epi8(load_bytes(chunk), wanted)) as u32;
            while found != 0 {
                ends.push(base + 32 * i + found.trailing_zeros() as usize);
                found &= found - 1;
            }
        }
        plain::line_ends(rest, base + 32 * chunks.len(), ends);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn look_at_host(window: &[u8; 32]) -> Option<HostLook> {
        let bytes = load_bytes(window);
        let from_to = |first: u8, last: u8| {
            // Shifted so that the range ends at the greatest signed byte, one comparison tells it.
            let shifted = _mm256_add_epi8(bytes, _mm256_set1_epi8(127u8.wrapping_sub(last) as i8));
            _mm256_cmpgt_epi8(shifted, _mm256_set1_epi8((126 - (last - first)) as i8))
        };
        let is = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
        let letters = _mm256_or_si256(from_to(b'a', b'z'), from_to(b'0', b'9'));
        // `-` and `.` are neighbours.
        let signs = _mm256_or_si256(from_to(b'-', b'.'), is(b'_'));
        let plain = _mm256_movemask_epi8(_mm256_or_si256(letters, signs)) as u32;
        if plain == u32::MAX {
            return None;
        }
        let len = plain.trailing_ones();
        let dots = _mm256_movemask_epi8(is(b'.')) as u32 & ((1 << len) - 1);
        Some(HostLook { len: len as usize, label: (32 - dots.leading_zeros()) as usize })
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn look_at_path(window: &[u8], len: usize) -> PathLook {
        let mut odd = 0;
        let mut at = 0;
        for chunk in window.as_chunks::<32>().0 {
            if at >= len {
                break;
            }
            let bytes = load_bytes(chunk);
            let is = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
            let valid = if len - at < 32 { (1 << (len - at)) - 1 } else { u32::MAX };
            // Bytes from 0x80 on have their sign bit set as they stand.
            let odd_here =
                _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(is(b'%'), is(b'*')), bytes)) as u32 & valid;
            let end = _mm256_movemask_epi8(is(b'#')) as u32 & valid;
            if end != 0 {
                let before = end & end.wrapping_neg();
                odd |= odd_here & (before - 1);
                return PathLook { len: at + end.trailing_zeros() as usize, plain: odd == 0 };
            }
            odd |= odd_here;
            at += 32;
        }
        if at >= len {
            return PathLook { len, plain: odd == 0 };
        }
        let rest = plain::look_at_path(&window[at..], len - at);
        PathLook { len: at + rest.len, plain: odd == 0 && rest.plain }
    }

    /// Both halves of a table, in both lanes of a vector.
    #[target_feature(enable = "avx2")]
    fn load_table(table: &[u8; 16]) -> __m256i {
        // SAFETY: 16 bytes are read from a reference to 16 bytes, and the instruction asks for no alignment.
        #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
        unsafe {
            _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()))
        }
    }

    /// The values of the low and of the high halves of 32 bytes.
    #[target_feature(enable = "avx2")]
    fn look_up(table: &Nibbles, bytes: __m256i) -> (__m256i, __m256i) {
        let low_half = _mm256_set1_epi8(15);
        let low = _mm256_shuffle_epi8(load_table(&table.low), _mm256_and_si256(bytes, low_half));
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low_half);
        (low, _mm256_shuffle_epi8(load_table(&table.high), high))
    }

    #[inline]
    fn set(flags: &mut [u8; 256], numbers: &[u8]) {
        numbers.iter().for_each(|number| flags[usize::from(*number)] = 0xff);
    }

    /// Which of the first 128 flags are set, as bits.
    #[target_feature(enable = "avx2")]
    fn flag_bits(flags: &[u8; 256]) -> [u64; 2] {
        let mut bits = [0; 4];
        for (bits, flags) in bits.iter_mut().zip(flags.as_chunks::<32>().0) {
            *bits = u64::from(_mm256_movemask_epi8(load_bytes(flags)) as u32);
        }
        [bits[0] | bits[1] << 32, bits[2] | bits[3] << 32]
    }

    /// All bytes of a vector or-ed together.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn or_bytes(bytes: __m256i) -> u8 {
        let half = _mm_or_si128(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
        let word = (_mm_cvtsi128_si64(half) | _mm_extract_epi64::<1>(half)) as u64;
        let word = (word | word >> 32) as u32;
        let word = (word | word >> 16) as u16;
        (word | word >> 8) as u8
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn pair_bits(text: &[u8], tables: &PairTables) -> [u64; 2] {
        // Pairs are taken 32 at once, by their first bytes. A short text is put before zeros; the last pairs of a long one are
        // taken with some that were taken already.
        let pairs = text.len().saturating_sub(1);
        let mut short = [0; 33];
        let text = if text.len() < 33 {
            short[..text.len()].copy_from_slice(text);
            &short[..]
        } else {
            text
        };
        // A flag for each bit, and as many that stay unset, so that any byte is a place. Setting flags one by one takes two
        // instructions each; vectors of bits to be or-ed together were tried and took twice as many.
        let mut flags = [0; 256];
        let mut numbers = [0; 32];
        let mut done = 0;
        while done < pairs {
            let at = done.min(text.len() - 33);
            let (Some(chunk), Some(next)) = (text[at..].first_chunk(), text[at + 1..].first_chunk()) else { break };
            let (low, high) = look_up(&tables.first, load_bytes(chunk));
            let (next_low, next_high) = look_up(&tables.second, load_bytes(next));
            let values = _mm256_xor_si256(_mm256_xor_si256(low, high), _mm256_xor_si256(next_low, next_high));
            store_bytes(&mut numbers, _mm256_and_si256(values, _mm256_set1_epi8(127)));
            let new = &numbers[done - at..(pairs - at).min(32)];
            match new.first_chunk::<32>() {
                // Known to be 32, and so without a loop.
                Some(new) => new.as_chunks::<8>().0.iter().for_each(|new| set(&mut flags, new)),
                None => set(&mut flags, new),
            }
            done = at + 32;
        }
        flag_bits(&flags)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn signs(text: &[u8], kinds: &Nibbles) -> Signs {
        let Some(last) = text.last_chunk::<32>() else { return short_signs(text, kinds) };
        let (chunks, rest) = text.as_chunks::<32>();
        let (mut all, mut slashes) = (_mm256_setzero_si256(), 0);
        for chunk in chunks {
            let bytes = load_bytes(chunk);
            all = _mm256_or_si256(all, kinds_of(bytes, kinds));
            slashes += slash_lanes(bytes).count_ones();
        }
        // The last bytes are looked at with some before them, whose slashes were counted.
        let bytes = load_bytes(last);
        all = _mm256_or_si256(all, kinds_of(bytes, kinds));
        slashes += (u64::from(slash_lanes(bytes)) >> (32 - rest.len())).count_ones();
        Signs { kinds: or_bytes(all), slashes: slashes.min(255) as u8 }
    }

    /// The signs of a text of fewer than 32 bytes.
    #[target_feature(enable = "avx2,popcnt")]
    fn short_signs(text: &[u8], kinds: &Nibbles) -> Signs {
        let mut short = [0; 32];
        short[..text.len()].copy_from_slice(text);
        let bytes = load_bytes(&short);
        Signs { kinds: or_bytes(kinds_of(bytes, kinds)), slashes: slash_lanes(bytes).count_ones() as u8 }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn kinds_of(bytes: __m256i, kinds: &Nibbles) -> __m256i {
        let (low, high) = look_up(kinds, bytes);
        _mm256_and_si256(low, high)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn look_for(fingerprints: &Fingerprints, text: &[u8]) -> Found {
        let mut seen = [_mm256_setzero_si256(); 2];
        let mut slashes = 0;
        // 32 places and the two bytes behind them, while there are as many; then the same with zeros behind the end.
        let mut rest = text;
        while let Some(window) = rest.first_chunk::<34>() {
            slashes += look_at_window(fingerprints, window, &mut seen);
            rest = &rest[32..];
        }
        let mut padded = [0; 66];
        padded[..rest.len()].copy_from_slice(rest);
        let mut at = 0;
        while at < rest.len()
            && let Some(window) = padded[at..].first_chunk()
        {
            slashes += look_at_window(fingerprints, window, &mut seen);
            at += 32;
        }
        let buckets = u16::from_le_bytes([or_bytes(seen[0]), or_bytes(seen[1])]);
        Found { buckets, slashes: slashes.min(255) as u8 }
    }

    /// Looks at 32 places; how many slashes are there.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn look_at_window(fingerprints: &Fingerprints, window: &[u8; 34], seen: &mut [__m256i; 2]) -> u32 {
        let (Some(first), Some(second), Some(third)) =
            (window.first_chunk(), window[1..].first_chunk(), window.last_chunk())
        else {
            return 0;
        };
        let bytes = load_bytes(first);
        let places = [bytes, load_bytes(second), load_bytes(third)];
        for (seen, half) in seen.iter_mut().zip(&fingerprints.halves) {
            let [a, b, c] = half;
            let ab = _mm256_and_si256(kinds_of(places[0], a), kinds_of(places[1], b));
            *seen = _mm256_or_si256(*seen, _mm256_and_si256(ab, kinds_of(places[2], c)));
        }
        slash_lanes(bytes).count_ones()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn slash_lanes(bytes: __m256i) -> u32 {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'/' as i8))) as u32
    }

    /// The lanes that are zero.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn zero_lanes(lanes: __m256i) -> Lanes {
        let equal = _mm256_cmpeq_epi64(lanes, _mm256_setzero_si256());
        _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as Lanes
    }

    /// The bits of four signatures that are not among those given.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn outside(first: &[u8; 32], second: &[u8; 32], [a, b]: [__m256i; 2]) -> __m256i {
        _mm256_or_si256(_mm256_andnot_si256(a, load_bytes(first)), _mm256_andnot_si256(b, load_bytes(second)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn in_all_lanes([a, b]: [u64; 2]) -> [__m256i; 2] {
        [_mm256_set1_epi64x(a as i64), _mm256_set1_epi64x(b as i64)]
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn next_rooted(
        groups: &[[u8; ROOTED_LEN]],
        word: u64,
        signature: [u64; 2],
        from: usize,
    ) -> Option<(usize, Lanes)> {
        let (wanted, signature) = (_mm256_set1_epi64x(word as i64), in_all_lanes(signature));
        for (i, group) in groups.get(from..)?.iter().enumerate() {
            let [prefixes, masks, first, second] = group.as_chunks::<32>().0 else { return None };
            let differing = _mm256_and_si256(_mm256_xor_si256(load_bytes(prefixes), wanted), load_bytes(masks));
            let lanes = zero_lanes(_mm256_or_si256(differing, outside(first, second, signature)));
            if lanes != 0 {
                return Some((from + i, lanes));
            }
        }
        None
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn next_floating(
        groups: &[[u8; FLOATING_LEN]],
        signature: [u64; 2],
        from: usize,
    ) -> Option<(usize, Lanes)> {
        let signature = in_all_lanes(signature);
        for (i, group) in groups.get(from..)?.iter().enumerate() {
            let [first, second] = group.as_chunks::<32>().0 else { return None };
            let lanes = zero_lanes(outside(first, second, signature));
            if lanes != 0 {
                return Some((from + i, lanes));
            }
        }
        None
    }

    /// Looks for the first two bytes of the needle at 32 places at once.
    #[target_feature(enable = "avx2")]
    pub(super) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
        let (&[a, b, ..], 33..) = (needle, text.len()) else { return plain::find(text, needle) };
        let (a, b) = (_mm256_set1_epi8(a as i8), _mm256_set1_epi8(b as i8));
        let mut at = 0;
        loop {
            // The last places are looked at with some before them that were looked at already, and are found not to be it again.
            let start = at.min(text.len() - 33);
            let (first, second) = (text[start..].first_chunk()?, text[start + 1..].first_chunk()?);
            let both =
                _mm256_and_si256(_mm256_cmpeq_epi8(load_bytes(first), a), _mm256_cmpeq_epi8(load_bytes(second), b));
            let mut found = _mm256_movemask_epi8(both) as u32;
            while found != 0 {
                let place = start + found.trailing_zeros() as usize;
                if text[place..].starts_with(needle) {
                    return Some(place);
                }
                found &= found - 1;
            }
            at += 32;
            if at + 1 >= text.len() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Values that are as different as they can be.
    const TABLES: PairTables = {
        let mut low = [0; 16];
        let mut high = [0; 16];
        let mut i = 0;
        while i < 16 {
            low[i] = (i as u8).wrapping_mul(37) & 127;
            high[i] = (i as u8).wrapping_mul(75) & 127;
            i += 1;
        }
        PairTables { first: Nibbles { low, high }, second: Nibbles { low: high, high: low } }
    };

    #[test]
    fn many_slashes_count_as_255() {
        for len in 0..700 {
            let text = vec![b'/'; len];
            assert_slashes(&text);
        }
        assert_slashes(&[b'/'; 20_000]);
    }

    fn assert_slashes(text: &[u8]) {
        assert_eq!(usize::from(signs(text, &TABLES.first).slashes), text.len().min(255));
        assert_eq!(usize::from(plain::signs(text, &TABLES.first).slashes), text.len().min(255));
    }

    proptest! {
        #[test]
        fn the_twins_agree_on_text(text in vec(prop_oneof![any::<u8>(), select(b"\n.#%*/".to_vec()), b'a'..=b'z'], 0..200)) {
            let (mut found, mut expected) = (vec![7], vec![7]);
            line_ends(&text, 3, &mut found);
            plain::line_ends(&text, 3, &mut expected);
            prop_assert_eq!(found, expected);
            prop_assert_eq!(look_at_host(&text), text.first_chunk().and_then(plain::look_at_host));
            prop_assert_eq!(pair_bits(&text, &TABLES), plain::pair_bits(&text, &TABLES));
            for len in [0, 1, 31, 32, 33, text.len() / 2, text.len()].into_iter().filter(|len| *len <= text.len()) {
                prop_assert_eq!(look_at_path(&text, len), plain::look_at_path(&text, len));
                prop_assert_eq!(pair_bits(&text[..len], &TABLES), plain::pair_bits(&text[..len], &TABLES));
                prop_assert_eq!(signs(&text[..len], &TABLES.first), plain::signs(&text[..len], &TABLES.first));
            }
        }

        #[test]
        fn every_byte_is_told_apart(byte in any::<u8>(), at in 0usize..32) {
            let mut window = [b'x'; 32];
            window[at] = byte;
            prop_assert_eq!(look_at_host(&window), plain::look_at_host(&window));
        }

        #[test]
        fn the_twins_agree_on_groups(
            words in vec(0u64..8, 0..200), word in 0u64..8, signature in [0u64..8, 0u64..8], from in 0usize..15,
        ) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let (rooted, floating) = (bytes.as_chunks().0, bytes.as_chunks().0);
            prop_assert_eq!(next_rooted(rooted, word, signature, from), plain::next_rooted(rooted, word, signature, from));
            prop_assert_eq!(next_floating(floating, signature, from), plain::next_floating(floating, signature, from));
        }

        #[test]
        fn fingerprints_are_found(
            pieces in vec((0..BUCKETS, vec(select(b"/ab.z".to_vec()), 1..5)), 0..30), text in vec(select(b"/ab.z".to_vec()), 0..110),
        ) {
            let mut fingerprints = Fingerprints::new();
            pieces.iter().for_each(|(bucket, piece)| fingerprints.add(*bucket, piece));
            let found = look_for(&fingerprints, &text);
            prop_assert_eq!(found, plain::look_for(&fingerprints, &text));
            for (bucket, piece) in &pieces {
                let is_there = find(&text, piece).is_some();
                prop_assert!(!is_there || found.buckets >> bucket & 1 == 1, "{:?} in {:?}", piece, text);
            }
        }

        #[test]
        fn the_twins_find_the_same(text in vec(select(b"/ab".to_vec()), 0..120), needle in vec(select(b"/ab".to_vec()), 0..7)) {
            let expected = (0..=text.len()).find(|at| text[*at..].starts_with(&needle));
            prop_assert_eq!(find(&text, &needle), expected);
            prop_assert_eq!(plain::find(&text, &needle), expected);
        }
    }
}
