//! Property tests: the detected backend and the scalar code return the same.

use crate::simd::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Tables with values that are as different as possible.
const TABLES: PairTables = {
    let mut low = [0; 16];
    let mut high = [0; 16];
    let mut i = 0;
    while i < 16 {
        low[i] = (i as u8).wrapping_mul(37) & 127;
        high[i] = (i as u8).wrapping_mul(75) & 127;
        i += 1;
    }
    PairTables {
        first: Nibbles { low, high },
        second: Nibbles {
            low: high,
            high: low,
        },
    }
};

#[test]
fn slash_counts_saturate_at_255() {
    for len in 0..700 {
        let text = vec![b'/'; len];
        assert_slashes(&text);
    }
    assert_slashes(&[b'/'; 20_000]);
}

fn assert_slashes(text: &[u8]) {
    assert_eq!(
        usize::from(AnyBackend::detect().characters(text, &TABLES.first).slashes),
        text.len().min(255)
    );
    assert_eq!(
        usize::from(scalar::characters(text, &TABLES.first).slashes),
        text.len().min(255)
    );
}

proptest! {
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn tags_are_compared(tags in any::<[u8; TAGS_LEN]>(), lane in 0..16usize, tag in any::<u16>()) {
        let lane_tag = u16::from_le_bytes([tags[2 * lane], tags[2 * lane + 1]]);
        prop_assert_ne!(equal_tags(&tags, lane_tag) & 1 << lane, 0);
        for tag in [lane_tag, tag] {
            prop_assert_eq!(equal_tags(&tags, tag), scalar::equal_tags(&tags, tag));
        }
    }

    #[test]
    fn texts_are_scanned(text in vec(prop_oneof![any::<u8>(), select(b"\n.#%*/".to_vec()), b'a'..=b'z'], 0..200)) {
        if let Some(block) = text.first_chunk() {
            let masks = AnyBackend::detect().scan_lines(block);
            prop_assert_eq!(masks, scalar::scan_lines(block));
            prop_assert_eq!(masks.ends.count_ones() as usize, block.iter().filter(|b| **b == b'\n').count());
            for (at, byte) in block.iter().enumerate() {
                let must_be_odd = *byte != b'\n' && (*byte <= b' ' || *byte >= 0x80 || b"%*#".contains(byte));
                prop_assert!(!must_be_odd || masks.odd >> at & 1 == 1, "{byte:#x}");
                prop_assert_eq!(masks.ends >> at & 1 == 1, *byte == b'\n');
            }
        }
        if let Some(window) = text.first_chunk() {
            prop_assert_eq!(AnyBackend::detect().scan_host(window), scalar::scan_host(window));
        }
        prop_assert_eq!(AnyBackend::detect().pair_bits(&text, &TABLES), scalar::pair_bits(&text, &TABLES));
        for len in [0, 1, 31, 32, 33, text.len() / 2, text.len()].into_iter().filter(|len| *len <= text.len()) {
            prop_assert_eq!(AnyBackend::detect().is_plain(&text[..len]), scalar::is_plain(&text[..len]));
            prop_assert_eq!(AnyBackend::detect().pair_bits(&text[..len], &TABLES), scalar::pair_bits(&text[..len], &TABLES));
            prop_assert_eq!(AnyBackend::detect().characters(&text[..len], &TABLES.first), scalar::characters(&text[..len], &TABLES.first));
        }
    }

    #[test]
    fn equal_bytes_are_found(a in any::<[u8; 32]>(), mask in any::<u32>()) {
        let mut b = a;
        (0..32).filter(|i| mask >> i & 1 == 0).for_each(|i| b[i] = !b[i]);
        prop_assert_eq!(AnyBackend::detect().equal_bytes(&a, &b), mask);
        prop_assert_eq!(scalar::equal_bytes(&a, &b), mask);
    }

    #[test]
    fn one_odd_byte_is_found(byte in any::<u8>(), len in 1usize..130, at in 0usize..130) {
        let mut text = vec![b'x'; len];
        text[at % len] = byte;
        prop_assert_eq!(AnyBackend::detect().is_plain(&text), scalar::is_plain(&text));
        let must_be_odd = byte <= b' ' || byte >= 0x80 || b"%*#".contains(&byte);
        prop_assert!(!must_be_odd || !scalar::is_plain(&text));
    }

    #[test]
    fn every_byte_is_classified_in_a_host(byte in any::<u8>(), at in 0usize..32) {
        let mut window = [b'x'; 32];
        window[at] = byte;
        prop_assert_eq!(AnyBackend::detect().scan_host(&window), scalar::scan_host(&window));
    }

    #[test]
    fn subsets_are_found(words in vec([0u64..8, 0u64..8], 0..40), signature in [0u64..8, 0u64..8]) {
        let signatures: Vec<[u8; 16]> = words
            .iter()
            .map(|[a, b]| u128::to_le_bytes(u128::from(*a) | u128::from(*b) << 64))
            .collect();
        let expected = words.iter().position(|[a, b]| a & !signature[0] == 0 && b & !signature[1] == 0);
        prop_assert_eq!(AnyBackend::detect().next_subset(&signatures, signature), expected);
        prop_assert_eq!(scalar::next_subset(&signatures, signature), expected);
    }

    #[test]
    fn words_are_counted(mut words in vec(prop_oneof![0u64..9, any::<u64>()], 0..40), word in prop_oneof![0u64..9, any::<u64>()]) {
        words.sort_unstable();
        let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
        let expected = words.iter().filter(|other| **other <= word).count();
        prop_assert_eq!(AnyBackend::detect().count_not_greater(&bytes, word), expected);
        prop_assert_eq!(scalar::count_not_greater(&bytes, word), expected);
    }

    #[test]
    fn fingerprints_are_found(
        literals in vec((0..BUCKETS, vec(select(b"/ab.z".to_vec()), 1..5)), 0..30), text in vec(select(b"/ab.z".to_vec()), 0..110),
    ) {
        let mut fingerprints = Fingerprints::new();
        literals.iter().for_each(|(bucket, literal)| fingerprints.add(*bucket, literal));
        let found = AnyBackend::detect().scan_fingerprints(&fingerprints, &text);
        prop_assert_eq!(found, scalar::scan_fingerprints(&fingerprints, &text));
        for (bucket, literal) in &literals {
            let is_there = memchr::memmem::find(&text, literal).is_some();
            prop_assert!(!is_there || found.buckets >> bucket & 1 == 1, "{:?} in {:?}", literal, text);
        }
    }
}
