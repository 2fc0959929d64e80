//! Plain code, that the vector code is equal to and that runs where there is none.
//!
//! Never inlined: that would crowd the callers, which hardly ever come here where there is a vector twin.

use super::{
    FLOATING_LEN, Fingerprints, Found, HostLook, LANES, Lanes, Nibbles, PairTables, PathLook, ROOTED_LEN, Signs,
};

#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(never)]
pub(super) fn equal_tags(tags: &[u8; super::TAGS_LEN], tag: u16) -> Lanes {
    let tags = tags.as_chunks::<2>().0.iter().enumerate();
    tags.fold(0, |lanes, (lane, other)| lanes | u32::from(*other == tag.to_le_bytes()) << lane)
}

#[inline(never)]
pub(super) fn equal_bytes(a: &[u8; 32], b: &[u8; 32]) -> u32 {
    a.iter().zip(b).rev().fold(0, |bits, (a, b)| bits << 1 | u32::from(a == b))
}

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
pub(super) fn newlines(text: &[u8; 64]) -> u64 {
    text.iter().rev().fold(0, |bits, b| bits << 1 | u64::from(*b == b'\n'))
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
pub(super) fn next_floating(groups: &[[u8; FLOATING_LEN]], signature: [u64; 2], from: usize) -> Option<(usize, Lanes)> {
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
