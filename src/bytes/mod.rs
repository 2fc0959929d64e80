//! Byte strings: white space, and short texts as machine words.
//!
//! Rules and paths are short, so a comparison with `memcmp` costs more for the call than for the
//! bytes. The functions here load both ends of a text as 8-byte words, which overlap if the text is
//! short. So they compare without a loop, and without a branch per byte.

pub(crate) mod wire;

/// ASCII white space as C's `isspace` defines it, for `bstr`'s `fields_with`: the reference's
/// definition. Unlike Rust's it includes the vertical tab, and it has no Unicode spaces.
pub(crate) fn is_white_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// Whether a character shows nothing: a control, a filler, a mark of direction or of a variant.
///
/// They are the characters with the property `Default_Ignorable_Code_Point` of Unicode, the braille
/// blank and the marks of interlinear annotations. Blanks such as the no-break space are not among
/// them. A text with such a character looks like one without it, so programs that print texts of
/// sites escape them.
///
/// Cost: some comparisons. Never panics.
///
/// ```
/// assert!(robosieve::is_invisible('\u{3164}') && robosieve::is_invisible('\u{200b}'));
/// assert!(!robosieve::is_invisible(' ') && !robosieve::is_invisible('é'));
/// ```
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Removes [white space](is_white_space) at both ends.
///
/// `bstr`'s `trim_with` decodes characters, which took a ninth of the instructions of `compile`.
#[inline(always)]
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    trim_end(trim_start(text))
}

/// Removes [white space](is_white_space) at the start.
#[inline(always)]
pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let is_text = |&b: &u8| b > b' ' || !is_white_space(b.into());
    let start = text.iter().position(is_text).unwrap_or(text.len());
    &text[start..]
}

/// Removes [white space](is_white_space) at the end.
#[inline]
pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    let is_text = |&b: &u8| b > b' ' || !is_white_space(b.into());
    let len = text.iter().rposition(is_text).map_or(0, |last| last + 1);
    &text[..len]
}

/// The first `LEN` and the last `LEN` bytes of a text, which overlap if it is shorter than both
/// together. `None` if the text is shorter than `LEN`.
#[inline(always)]
pub(crate) fn first_and_last<const LEN: usize>(text: &[u8]) -> Option<[&[u8; LEN]; 2]> {
    let last = &text[text.len().checked_sub(LEN)?..];
    // Chunks of a slice: with `first_chunk` and `last_chunk` the compiler adds a null check.
    match (text.as_chunks().0, last.as_chunks().0) {
        ([first, ..], [last]) => Some([first, last]),
        _ => None,
    }
}

/// The first eight bytes of a text as a little-endian number. A shorter text is padded with zeros
/// at its end.
#[inline(always)]
pub(crate) fn first_word(text: &[u8]) -> u64 {
    // A `match`: `map_or_else` became a function call on the hot path.
    match text.first_chunk() {
        Some(first) => u64::from_le_bytes(*first),
        None => short_word(text),
    }
}

/// The first 16 bytes of a text as two little-endian numbers. A shorter text is padded with zeros at
/// its end.
#[inline(always)]
pub(crate) fn first_words(text: &[u8]) -> [u64; 2] {
    if let Some(first) = text.first_chunk::<16>() {
        let both = u128::from_le_bytes(*first);
        return [both as u64, (both >> 64) as u64];
    }
    match first_and_last(text) {
        // Two words that overlap. The second is shifted by the overlap, in two steps because that
        // can be all 64 bits.
        Some([first, last]) => [
            u64::from_le_bytes(*first),
            u64::from_le_bytes(*last) >> (8 * (15 - text.len())) >> 8,
        ],
        None => [first_word(text), 0],
    }
}

/// The last eight bytes of a text as a little-endian number, so that the last byte is the highest.
/// A shorter text is padded with zeros at its start.
#[inline(always)]
pub(crate) fn last_word(text: &[u8]) -> u64 {
    match text.last_chunk() {
        Some(last) => u64::from_le_bytes(*last),
        None => short_word(text).unbounded_shl(u64::BITS - 8 * text.len() as u32),
    }
}

/// [`first_word`] of a text of fewer than eight bytes, from loads that overlap.
#[inline(always)]
fn short_word(text: &[u8]) -> u64 {
    let at = |bytes: u64, index: usize| bytes << (8 * index % 64);
    // Four to seven bytes: two loads of four.
    if let Some([first, last]) = first_and_last(text) {
        return u64::from(u32::from_le_bytes(*first))
            | at(u32::from_le_bytes(*last).into(), text.len() - 4);
    }
    // One to three bytes: three loads of one, some of them of the same byte.
    let [Some(first), Some(middle), Some(last)] =
        [text.first(), text.get(text.len() / 2), text.last()]
    else {
        return 0;
    };
    u64::from(*first) | at((*middle).into(), text.len() / 2) | at((*last).into(), text.len() - 1)
}

/// [`slice::starts_with`] for short prefixes, without a call: compares eight bytes at a time, and
/// the rest with a load that overlaps.
#[inline(always)]
pub(crate) fn starts_with_masked(text: &[u8], prefix: &[u8]) -> bool {
    let Some(text) = text.get(..prefix.len()) else {
        return false;
    };
    let Some([_, last]) = first_and_last(prefix) else {
        return short_word(text) == short_word(prefix);
    };
    let pairs = text
        .as_chunks::<8>()
        .0
        .iter()
        .zip(prefix.as_chunks::<8>().0);
    let differing = pairs.fold(0, |bits, (a, b)| {
        bits | u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b)
    });
    differing | last_word(text) ^ u64::from_le_bytes(*last) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_padded() {
        let text: Vec<u8> = (1..20).collect();
        for len in 0..=text.len() {
            let mut padded = [0; 16];
            let whole = len.min(16);
            padded[..whole].copy_from_slice(&text[..whole]);
            let [low, high] = first_words(&text[..len]);
            let both = u128::from(high) << 64 | u128::from(low);
            assert_eq!(both.to_le_bytes(), padded, "{len}");
        }
    }

    #[test]
    fn prefixes_are_recognised() {
        let text: Vec<u8> = (0..40).collect();
        for len in 0..text.len() {
            assert!(
                starts_with_masked(&text, &text[..len])
                    && starts_with_masked(&text[..len], &text[..len])
            );
            assert!(!starts_with_masked(&text[..len], &text[..len + 1]));
            for at in 0..len {
                let mut other = text[..len].to_vec();
                other[at] ^= 0x40;
                assert!(!starts_with_masked(&text, &other), "{at} of {len}");
            }
        }
    }

    #[test]
    fn words_hold_the_bytes_at_both_ends() {
        let text = *b"abcdefghijkl";
        for len in 0..text.len() {
            let (text, kept) = (&text[..len], len.min(8));
            let mut first = [0; 8];
            first[..kept].copy_from_slice(&text[..kept]);
            let mut last = [0; 8];
            last[8 - kept..].copy_from_slice(&text[len - kept..]);
            assert_eq!(first_word(text).to_le_bytes(), first, "{len}");
            assert_eq!(last_word(text).to_le_bytes(), last, "{len}");
            let both = first_and_last::<3>(text).map(|both| both.map(|end| &end[..]));
            assert_eq!(both, (len >= 3).then(|| [&text[..3], &text[len - 3..]]));
        }
    }

    #[test]
    fn white_space_is_that_of_c() {
        assert_eq!(trim(b" \t\n\x0b\x0c\ra \xa0\r "), b"a \xa0");
        assert_eq!(trim("\u{a0}\u{85}".as_bytes()), "\u{a0}\u{85}".as_bytes());
        assert_eq!(trim(b" \r\n"), b"");
    }
}
