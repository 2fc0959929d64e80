//! The bytes at the ends of a text, read as numbers and without a loop: what is compared with them is compared at once.

pub(crate) mod wire;

/// The first and the last bytes of a text, so many of each; they overlap where it is not twice as long. `None` if it is shorter.
#[inline(always)]
pub(crate) fn ends<const LEN: usize>(text: &[u8]) -> Option<[&[u8; LEN]; 2]> {
    let last = &text[text.len().checked_sub(LEN)?..];
    // Chunks of a slice, as from an optional array there came a comparison more: whether its address is zero.
    match (text.as_chunks().0, last.as_chunks().0) {
        ([first, ..], [last]) => Some([first, last]),
        _ => None,
    }
}

/// The first bytes of a text, at most eight, as a little-endian number: zeros behind a shorter one.
#[inline(always)]
pub(crate) fn first_word(text: &[u8]) -> u64 {
    // A match: a call of `map_or_else` was one in the middle of what is done for each path.
    match text.first_chunk() {
        Some(first) => u64::from_le_bytes(*first),
        None => short_word(text),
    }
}

/// The last bytes of a text, at most eight, as a little-endian number, the last of them highest: zeros before a shorter one.
#[inline(always)]
pub(crate) fn last_word(text: &[u8]) -> u64 {
    match text.last_chunk() {
        Some(last) => u64::from_le_bytes(*last),
        None => short_word(text).unbounded_shl(u64::BITS - 8 * text.len() as u32),
    }
}

/// The first bytes of a text of fewer than eight, by reads that overlap.
#[inline(always)]
fn short_word(text: &[u8]) -> u64 {
    let at = |bytes: u64, place: usize| bytes << (8 * place % 64);
    if let Some([first, last]) = ends(text) {
        return u64::from(u32::from_le_bytes(*first)) | at(u32::from_le_bytes(*last).into(), text.len() - 4);
    }
    let [Some(first), Some(middle), Some(last)] = [text.first(), text.get(text.len() / 2), text.last()] else {
        return 0;
    };
    u64::from(*first) | at((*middle).into(), text.len() / 2) | at((*last).into(), text.len() - 1)
}

/// Whether a text starts_with_masked with another: at less cost than a call where that is not long.
#[inline(always)]
pub(crate) fn starts_with_masked(text: &[u8], start: &[u8]) -> bool {
    let Some(text) = text.get(..start.len()) else { return false };
    let Some([_, last]) = ends(start) else { return short_word(text) == short_word(start) };
    let pairs = text.as_chunks::<8>().0.iter().zip(start.as_chunks::<8>().0);
    let differing = pairs.fold(0, |bits, (a, b)| bits | u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b));
    differing | last_word(text) ^ u64::from_le_bytes(*last) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_begins_with_is_told() {
        let text: Vec<u8> = (0..40).collect();
        for len in 0..text.len() {
            assert!(starts_with_masked(&text, &text[..len]) && starts_with_masked(&text[..len], &text[..len]));
            assert!(!starts_with_masked(&text[..len], &text[..len + 1]));
            for at in 0..len {
                let mut other = text[..len].to_vec();
                other[at] ^= 0x40;
                assert!(!starts_with_masked(&text, &other), "{at} of {len}");
            }
        }
    }

    #[test]
    fn words_are_the_bytes_at_the_ends() {
        let text = *b"abcdefghijkl";
        for len in 0..text.len() {
            let (text, kept) = (&text[..len], len.min(8));
            let mut first = [0; 8];
            first[..kept].copy_from_slice(&text[..kept]);
            let mut last = [0; 8];
            last[8 - kept..].copy_from_slice(&text[len - kept..]);
            assert_eq!(first_word(text).to_le_bytes(), first, "{len}");
            assert_eq!(last_word(text).to_le_bytes(), last, "{len}");
            let ends = ends::<3>(text).map(|ends| ends.map(|end| &end[..]));
            assert_eq!(ends, (len >= 3).then(|| [&text[..3], &text[len - 3..]]));
        }
    }
}
