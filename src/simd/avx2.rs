//! The vector code for x86-64 with AVX2.

use super::{
    Fingerprints, Found, HostLook, LinesLook, Machine, Nibbles, PairTables, Rows, Signs, Work, machine, plain,
};
use crate::words::{ends, first_word};
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

#[inline(never)]
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
fn run_apart<W: Work>(machine: Avx2, work: W) -> W::Output {
    work.run(machine)
}

/// Passes each step on to the function of its name.
macro_rules! pass_on {
    ($(fn $name:ident(self, $($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Machine for Avx2 {
            #[inline(always)]
            fn apart<W: Work>(self, work: W) -> W::Output {
                // SAFETY: an `Avx2` is only made where the machine has what the function asks for.
                #[expect(unsafe_code, reason = "calls a function that needs what was found to be there")]
                unsafe {
                    run_apart(self, work)
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
fn load_half(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 bytes are read from a reference to 16 bytes, and the instruction asks for no alignment.
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    unsafe {
        _mm_loadu_si128(bytes.as_ptr().cast())
    }
}

/// A text of fewer than 32 bytes as a vector, zeros behind it. Copied to where 32 can be read, it would have to be waited for until all of it
/// was written: that took a tenth of the time of matching.
#[inline]
#[target_feature(enable = "avx2")]
fn load_short(text: &[u8]) -> __m256i {
    /// From a place that tells how many bytes are too many: where each byte comes from, or that it is zero.
    const MOVES: [u8; 32] = {
        let mut moves = [0x80; 32];
        let mut i = 0;
        while i < 16 {
            moves[i] = i as u8;
            i += 1;
        }
        moves
    };
    // Two reads that overlap, the second moved to its place.
    let len = text.len().min(31);
    if let Some([head, tail]) = ends(text) {
        let moves = MOVES[32 - len.max(16)..].first_chunk().unwrap_or(&[0; 16]);
        return _mm256_set_m128i(_mm_shuffle_epi8(load_half(tail), load_half(moves)), load_half(head));
    }
    let [low, high] = match ends(text) {
        Some([head, tail]) => [u64::from_le_bytes(*head), u64::from_le_bytes(*tail) >> (8 * (15 - len)) >> 8],
        None => [first_word(text), 0],
    };
    _mm256_zextsi128_si256(_mm_set_epi64x(high.cast_signed(), low.cast_signed()))
}

/// The last 32 bytes of a text, or all of a shorter one with zeros behind it; and how many of those 32 stand before the last `count`.
#[inline]
#[target_feature(enable = "avx2")]
fn load_last(text: &[u8], count: usize) -> (__m256i, u32) {
    match ends(text) {
        Some([_, last]) => (load_bytes(last), 32 - count.min(32) as u32),
        None => (load_short(text), 0),
    }
}

/// Each byte's successor in its place; zero for the last.
#[inline]
#[target_feature(enable = "avx2")]
fn successors(bytes: __m256i) -> __m256i {
    let second_half = _mm256_permute2x128_si256::<0x81>(bytes, bytes);
    _mm256_alignr_epi8::<1>(second_half, bytes)
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
fn look_at_lines(text: &[u8; 64]) -> LinesLook {
    let halves = text.as_chunks().0;
    let (low, high) = (look_at_half(&halves[0]), look_at_half(&halves[1]));
    LinesLook { ends: low.ends | high.ends << 32, odd: low.odd | high.odd << 32 }
}

/// Looks at 32 bytes. (Not a closure given to `map`: whether that became part of its callers was left to luck, and calling it took a third of
/// a sorted list's time.)
#[inline]
#[target_feature(enable = "avx2")]
fn look_at_half(text: &[u8; 32]) -> LinesLook {
    let bytes = load_bytes(text);
    let ends = lanes(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\n' as i8)));
    LinesLook { ends: u64::from(ends), odd: u64::from(lanes(odd_bytes(bytes)) & !ends) }
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

/// Short texts are read from both ends, by parts that overlap: no branch for each byte, and none of it has to be moved.
#[inline]
#[target_feature(enable = "avx2")]
fn is_plain(text: &[u8]) -> bool {
    if let Some([first, last]) = ends(text) {
        let odd = _mm256_or_si256(odd_bytes(load_bytes(first)), odd_bytes(load_bytes(last)));
        if text.len() <= 64 {
            return lanes(odd) == 0;
        }
        let chunks = text[32..].as_chunks().0.iter();
        return lanes(chunks.fold(odd, |odd, chunk| _mm256_or_si256(odd, odd_bytes(load_bytes(chunk))))) == 0;
    }
    let halves = if let Some([first, last]) = ends(text) {
        _mm256_set_m128i(load_half(last), load_half(first))
    } else if let Some([first, last]) = ends(text) {
        _mm256_broadcastsi128_si256(_mm_set_epi64x(i64::from_le_bytes(*last), i64::from_le_bytes(*first)))
    } else {
        let odd = odd_bytes(_mm256_castsi128_si256(_mm_cvtsi64_si128(first_word(text).cast_signed())));
        // The zeros behind the text are none of it.
        return lanes(odd) & ((1 << text.len()) - 1) == 0;
    };
    lanes(odd_bytes(halves)) == 0
}

/// The odd bytes of 32.
#[inline]
#[target_feature(enable = "avx2")]
fn odd_bytes(bytes: __m256i) -> __m256i {
    // Bytes from 0x80 on are negative here.
    let low = _mm256_cmpgt_epi8(_mm256_set1_epi8(b'%' as i8 + 1), bytes);
    _mm256_or_si256(low, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'*' as i8)))
}

/// The highest bit of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(bytes: __m256i) -> u32 {
    _mm256_movemask_epi8(bytes) as u32
}

/// Both halves of a table, in both lanes of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn load_table(table: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(load_half(table))
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
    // A flag for each bit, and as many that are not looked at, so that any byte is a place. Setting flags one by one takes two
    // instructions each; vectors of bits to be or-ed together were tried and took twice as many.
    let mut flags = [0; 256];
    let mut numbers = [0; 32];
    let mut rest = text;
    while let (Some(bytes), Some(next)) = (rest.first_chunk(), rest.get(1..).and_then(|next| next.first_chunk())) {
        store_bytes(&mut numbers, pair_numbers(load_bytes(bytes), load_bytes(next), tables));
        numbers.as_chunks::<8>().0.iter().for_each(|numbers| set(&mut flags, numbers));
        rest = &rest[32..];
    }
    // The last byte begins no pair. What is none, or was taken already, goes to flags that are not looked at: so the loop has a fixed length.
    let (bytes, before) = load_last(text, rest.len());
    let end = before as i8 + rest.len() as i8 - 1;
    let lanes = _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31,
    );
    let is_new = _mm256_cmpgt_epi8(lanes, _mm256_set1_epi8(before as i8 - 1));
    let is_pair = _mm256_cmpgt_epi8(_mm256_set1_epi8(end), lanes);
    let nowhere = _mm256_andnot_si256(_mm256_and_si256(is_new, is_pair), _mm256_set1_epi8(i8::MIN));
    store_bytes(&mut numbers, _mm256_or_si256(pair_numbers(bytes, successors(bytes), tables), nowhere));
    numbers.as_chunks::<8>().0.iter().for_each(|numbers| set(&mut flags, numbers));
    flag_bits(&flags)
}

/// The numbers of 32 pairs.
#[inline]
#[target_feature(enable = "avx2")]
fn pair_numbers(first: __m256i, second: __m256i, tables: &PairTables) -> __m256i {
    let (low, high) = look_up(&tables.first, first);
    let (next_low, next_high) = look_up(&tables.second, second);
    let values = _mm256_xor_si256(_mm256_xor_si256(low, high), _mm256_xor_si256(next_low, next_high));
    _mm256_and_si256(values, _mm256_set1_epi8(127))
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn signs(text: &[u8], kinds: &Nibbles) -> Signs {
    let (chunks, rest) = text.as_chunks::<32>();
    let (mut all, mut slashes) = (_mm256_setzero_si256(), 0);
    for chunk in chunks {
        let bytes = load_bytes(chunk);
        all = _mm256_or_si256(all, kinds_of(bytes, kinds));
        slashes += slash_lanes(bytes).count_ones();
    }
    // The last bytes are looked at with some before them, whose slashes were counted.
    let (bytes, before) = load_last(text, rest.len());
    all = _mm256_or_si256(all, kinds_of(bytes, kinds));
    slashes += (u64::from(slash_lanes(bytes)) >> before).count_ones();
    Signs { kinds: or_bytes(all), slashes: slashes.min(255) as u8 }
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
    if fingerprints.is_wide {
        return look_for_halves(&fingerprints.halves, text);
    }
    let [half, _] = &fingerprints.halves;
    look_for_halves(std::array::from_ref(half), text)
}

/// Looks for all fingerprints of eight buckets, or of sixteen, which takes nearly twice as long.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn look_for_halves<const HALVES: usize>(halves: &[[Nibbles; 3]; HALVES], text: &[u8]) -> Found {
    let mut seen = [_mm256_setzero_si256(); HALVES];
    let mut slashes = 0;
    let mut rest = text;
    while let Some(window) = rest.first_chunk::<34>() {
        let (Some(first), Some(second), Some(third)) =
            (window.first_chunk(), window[1..].first_chunk(), window[2..].first_chunk())
        else {
            break;
        };
        let first = load_bytes(first);
        look_at_places(halves, [first, load_bytes(second), load_bytes(third)], &mut seen);
        slashes += slash_lanes(first).count_ones();
        rest = &rest[32..];
    }
    // What is left is looked at with zeros behind the end: no piece holds one, so that can only hide a piece that reaches further.
    if let (33, Some(bytes)) = (rest.len(), rest.first_chunk()) {
        slashes += look_at_end(halves, load_bytes(bytes), 0, &mut seen);
        rest = &rest[32..];
    }
    let (bytes, before) = load_last(text, rest.len());
    slashes += look_at_end(halves, bytes, before, &mut seen);
    let high = if HALVES > 1 { or_bytes(seen[HALVES - 1]) } else { 0 };
    let buckets = u16::from_le_bytes([or_bytes(seen[0]), high]);
    Found { buckets, slashes: slashes.min(255) as u8 }
}

/// Looks at 32 places as if zeros stood behind them; how many slashes are there behind the first `before`.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn look_at_end<const HALVES: usize>(
    halves: &[[Nibbles; 3]; HALVES],
    bytes: __m256i,
    before: u32,
    seen: &mut [__m256i; HALVES],
) -> u32 {
    let second = successors(bytes);
    look_at_places(halves, [bytes, second, successors(second)], seen);
    (u64::from(slash_lanes(bytes)) >> before).count_ones()
}

/// Looks at 32 places, given what stands there, one behind, and two behind.
#[inline]
#[target_feature(enable = "avx2")]
fn look_at_places<const HALVES: usize>(
    halves: &[[Nibbles; 3]; HALVES],
    places: [__m256i; 3],
    seen: &mut [__m256i; HALVES],
) {
    for (seen, half) in seen.iter_mut().zip(halves) {
        let [a, b, c] = half;
        let ab = _mm256_and_si256(kinds_of(places[0], a), kinds_of(places[1], b));
        *seen = _mm256_or_si256(*seen, _mm256_and_si256(ab, kinds_of(places[2], c)));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn slash_lanes(bytes: __m256i) -> u32 {
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'/' as i8))) as u32
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn count_not_greater(words: &[[u8; 8]], word: u64) -> usize {
    // Signed comparison orders numbers as unsigned ones if the highest bit of both is turned.
    let turn = _mm256_set1_epi64x(i64::MIN);
    let wanted = _mm256_xor_si256(_mm256_set1_epi64x(word as i64), turn);
    // A lane that is greater becomes -1.
    let greater = |words: &[u8; 32]| _mm256_cmpgt_epi64(_mm256_xor_si256(load_bytes(words), turn), wanted);
    let Some(last) = words.as_flattened().last_chunk() else {
        return words.iter().map(|other| usize::from(u64::from_le_bytes(*other) <= word)).sum();
    };
    // The last four are looked at with some before them. If one of them is not greater, none of those before is, as they are sorted.
    let lanes = _mm256_movemask_pd(_mm256_castsi256_pd(greater(last))) as u32;
    if lanes != 0b1111 {
        return words.len() - lanes.count_ones() as usize;
    }
    let chunks = words.as_flattened().as_chunks().0;
    let none = _mm256_setzero_si256();
    let counts = chunks.iter().fold(none, |counts, words| _mm256_add_epi64(counts, greater(words)));
    let counts = _mm_add_epi64(_mm256_castsi256_si128(counts), _mm256_extracti128_si256::<1>(counts));
    let greater = _mm_cvtsi128_si64(counts) + _mm_extract_epi64::<1>(counts);
    (chunks.len() * 4).wrapping_add_signed(greater as isize)
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn next_within(signatures: &[[u8; 16]], signature: [u64; 2]) -> Option<usize> {
    let [a, b] = signature.map(|word| word as i64);
    let both = _mm256_set_epi64x(b, a, b, a);
    let (chunks, rest) = signatures.as_chunks::<8>();
    for (i, chunk) in chunks.iter().enumerate() {
        let [first, second, third, fourth] = chunk.as_flattened().as_chunks::<32>().0 else { return None };
        let (low, high) = (within(first, second, both), within(third, fourth, both));
        // One branch for all eight. (Another four looked at behind them took more than it saved.)
        if lanes(_mm256_or_si256(low, high)) != 0 {
            return Some(i * 8 + (four_lanes(low) | four_lanes(high) << 4).trailing_zeros() as usize);
        }
    }
    plain::next_within(rest, signature).map(|i| chunks.len() * 8 + i)
}

/// Of four signatures those that lack none of the bits of two: all ones in the lanes 0, 2, 1 and 3.
#[inline]
#[target_feature(enable = "avx2")]
fn within(first: &[u8; 32], second: &[u8; 32], both: __m256i) -> __m256i {
    // The bits that are lacking, of two signatures each: put together so that each has a lane.
    let (first, second) = (_mm256_andnot_si256(both, load_bytes(first)), _mm256_andnot_si256(both, load_bytes(second)));
    let lacking = _mm256_or_si256(_mm256_unpacklo_epi64(first, second), _mm256_unpackhi_epi64(first, second));
    _mm256_cmpeq_epi64(lacking, _mm256_setzero_si256())
}

/// The lanes 0, 2, 1 and 3, one bit each.
#[inline]
#[target_feature(enable = "avx2")]
fn four_lanes(words: __m256i) -> u32 {
    _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_permute4x64_epi64::<0b11_01_10_00>(words))) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn common_bits(rows: &Rows, words: [u64; 2]) -> [u64; 4] {
    let mut common = _mm256_set1_epi8(-1);
    for (rows, word) in rows.iter().zip(words) {
        // Eight at a time, which the compiler does without a loop.
        for (rows, bits) in rows.as_chunks::<8>().0.iter().zip([word, word >> 32]) {
            let chosen = |place: usize| load_bytes(&rows[place][(bits >> (4 * place)) as usize % 16]);
            common = (0..8).fold(common, |common, place| _mm256_and_si256(common, chosen(place)));
        }
    }
    let mut bytes = [0; 32];
    store_bytes(&mut bytes, common);
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// Looks for the first two bytes of the needle at 32 places at once.
#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let &[first, second, ..] = needle else {
        return needle.first().map_or(Some(0), |byte| find_byte(text, *byte));
    };
    let (first, second) = (_mm256_set1_epi8(first as i8), _mm256_set1_epi8(second as i8));
    let places = |bytes, next| {
        let both = _mm256_and_si256(_mm256_cmpeq_epi8(bytes, first), _mm256_cmpeq_epi8(next, second));
        _mm256_movemask_epi8(both) as u32
    };
    let mut rest = text;
    while let (Some(bytes), Some(next)) = (rest.first_chunk(), rest.get(1..).and_then(|next| next.first_chunk())) {
        if let Some(at) = first_of(places(load_bytes(bytes), load_bytes(next)), rest, needle) {
            return Some(text.len() - rest.len() + at);
        }
        rest = &rest[32..];
    }
    let (bytes, before) = load_last(text, rest.len());
    let at = first_of((u64::from(places(bytes, successors(bytes))) >> before) as u32, rest, needle)?;
    Some(text.len() - rest.len() + at)
}

/// The first of these places where the needle stands.
#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn first_of(mut places: u32, text: &[u8], needle: &[u8]) -> Option<usize> {
    while places != 0 {
        let at = places.trailing_zeros() as usize;
        // Behind the text stand zeros, which the needle may have.
        if needle.len() == 2 && at + 2 <= text.len() || text.get(at..).is_some_and(|text| text.starts_with(needle)) {
            return Some(at);
        }
        places &= places - 1;
    }
    None
}

#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn find_byte(text: &[u8], byte: u8) -> Option<usize> {
    let wanted = _mm256_set1_epi8(byte as i8);
    let places = |bytes| _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, wanted)) as u32;
    let (chunks, rest) = text.as_chunks();
    for (i, chunk) in chunks.iter().enumerate() {
        let found = places(load_bytes(chunk));
        if found != 0 {
            return Some(i * 32 + found.trailing_zeros() as usize);
        }
    }
    let (bytes, before) = load_last(text, rest.len());
    // The zeros behind a short text are none of it.
    let found = u64::from(places(bytes)) >> before & ((1 << rest.len()) - 1);
    (found != 0).then(|| chunks.len() * 32 + found.trailing_zeros() as usize)
}
