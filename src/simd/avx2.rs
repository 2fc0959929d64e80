//! The vector code for x86-64 with AVX2.

use super::{
    FLOATING_LEN, Fingerprints, Found, HostLook, Lanes, Machine, Nibbles, PairTables, PathLook, ROOTED_LEN, Signs,
    Work, machine, plain,
};
use std::arch::x86_64::*;

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
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: an `Avx2` is only made where the machine has what the function asks for.
        #[expect(unsafe_code, reason = "calls a function that needs what was found to be there")]
        unsafe {
            run(self, work)
        }
    }
}

#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
fn run<W: Work>(machine: Avx2, work: W) -> W::Output {
    work.run(machine)
}

/// Passes each step on to the function of its name.
macro_rules! pass_on {
    ($(fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Machine for Avx2 {
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

machine::for_each_step!(pass_on);

/// 32 bytes as a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn load_bytes(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are read from a reference to 32 bytes, and the instruction asks for no alignment.
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    unsafe {
        _mm256_loadu_si256(bytes.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_bytes(bytes: &mut [u8; 32], vector: __m256i) {
    // SAFETY: 32 bytes are written to a reference to 32 bytes, and the instruction asks for no alignment.
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    unsafe {
        _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn newlines(text: &[u8; 64]) -> u64 {
    let wanted = _mm256_set1_epi8(b'\n' as i8);
    let of_half = |half: &[u8; 32]| _mm256_movemask_epi8(_mm256_cmpeq_epi8(load_bytes(half), wanted)) as u32;
    let halves = text.as_chunks().0;
    u64::from(of_half(&halves[0])) | u64::from(of_half(&halves[1])) << 32
}

#[inline]
#[target_feature(enable = "avx2")]
fn look_at_host(window: &[u8; 32]) -> Option<HostLook> {
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

#[inline]
#[target_feature(enable = "avx2")]
fn equal_bytes(a: &[u8; 32], b: &[u8; 32]) -> u32 {
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(load_bytes(a), load_bytes(b))) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn look_at_path(window: &[u8], len: usize) -> PathLook {
    let len = len.min(window.len());
    let mut odd = 0;
    let mut at = 0;
    while at < len {
        let part = match window[at..].first_chunk() {
            Some(part) => look_at_part(load_bytes(part)),
            None => look_at_last(window, at),
        };
        let valid = if len - at < 32 { (1 << (len - at)) - 1 } else { u32::MAX };
        let end = part.ends & valid;
        if end != 0 {
            let before = (end & end.wrapping_neg()) - 1;
            return PathLook { len: at + end.trailing_zeros() as usize, plain: (odd | part.odd & before) == 0 };
        }
        odd |= part.odd & valid;
        at += 32;
    }
    PathLook { len, plain: odd == 0 }
}

/// The bytes of 32 that end a path, and those that are not plain, one bit each.
struct PartLook {
    ends: u32,
    odd: u32,
}

#[inline]
#[target_feature(enable = "avx2")]
fn look_at_part(bytes: __m256i) -> PartLook {
    let is = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
    // Bytes from 0x80 on have their sign bit set as they stand.
    let odd = _mm256_or_si256(_mm256_or_si256(is(b'%'), is(b'*')), bytes);
    PartLook { ends: _mm256_movemask_epi8(is(b'#')) as u32, odd: _mm256_movemask_epi8(odd) as u32 }
}

/// Looks at what is left from `at` on, fewer than 32 bytes: with those before them, or, in a short text, with zeros behind them.
#[inline]
#[target_feature(enable = "avx2")]
fn look_at_last(text: &[u8], at: usize) -> PartLook {
    if let Some(last) = text.last_chunk() {
        let PartLook { ends, odd } = look_at_part(load_bytes(last));
        let before = (32 - (text.len() - at)) as u32;
        return PartLook { ends: ends >> before, odd: odd >> before };
    }
    let mut short = [0; 32];
    short[..text.len() - at].copy_from_slice(&text[at..]);
    look_at_part(load_bytes(&short))
}

/// Both halves of a table, in both lanes of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn load_table(table: &[u8; 16]) -> __m256i {
    // SAFETY: 16 bytes are read from a reference to 16 bytes, and the instruction asks for no alignment.
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    unsafe {
        _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()))
    }
}

/// The values of the low and of the high halves of 32 bytes.
#[inline]
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
#[inline]
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

#[inline]
#[target_feature(enable = "avx2")]
fn pair_bits(text: &[u8], tables: &PairTables) -> [u64; 2] {
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

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn signs(text: &[u8], kinds: &Nibbles) -> Signs {
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
#[inline]
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

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn look_for(fingerprints: &Fingerprints, text: &[u8]) -> Found {
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

#[inline]
#[target_feature(enable = "avx2")]
fn next_rooted(groups: &[[u8; ROOTED_LEN]], word: u64, signature: [u64; 2], from: usize) -> Option<(usize, Lanes)> {
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

#[inline]
#[target_feature(enable = "avx2")]
fn next_floating(groups: &[[u8; FLOATING_LEN]], signature: [u64; 2], from: usize) -> Option<(usize, Lanes)> {
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
#[inline]
#[target_feature(enable = "avx2")]
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let (&[a, b, ..], 33..) = (needle, text.len()) else { return plain::find(text, needle) };
    let (a, b) = (_mm256_set1_epi8(a as i8), _mm256_set1_epi8(b as i8));
    let mut at = 0;
    loop {
        // The last places are looked at with some before them that were looked at already, and are found not to be it again.
        let start = at.min(text.len() - 33);
        let (first, second) = (text[start..].first_chunk()?, text[start + 1..].first_chunk()?);
        let both = _mm256_and_si256(_mm256_cmpeq_epi8(load_bytes(first), a), _mm256_cmpeq_epi8(load_bytes(second), b));
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
