//! Property tests: all backends of this machine return the same as the scalar code.

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
    for backend in AnyBackend::all() {
        let found = backend.characters(text, &TABLES.first);
        assert_eq!(usize::from(found.slashes), text.len().min(255));
        let found = backend.scan_fingerprints(&Fingerprints::new(), text);
        assert_eq!(usize::from(found.slashes), text.len().min(255));
    }
}

/// Lengths around those of words and vectors.
const LENGTHS: [usize; 19] = [
    0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 34, 63, 64, 65,
];

/// A word of a signature: few bits, so that subsets are frequent, or any one bit.
fn signature_word() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..8, (0..64u32).prop_map(|bit| 1 << bit)]
}

proptest! {
    #[test]
    fn tags_are_compared(tags in any::<[u8; TAGS_LEN]>(), lane in 0..16usize, tag in any::<u16>()) {
        let lane_tag = u16::from_le_bytes([tags[2 * lane], tags[2 * lane + 1]]);
        prop_assert_ne!(equal_tags(&tags, lane_tag) & 1 << lane, 0);
        for tag in [lane_tag, tag] {
            prop_assert_eq!(equal_tags(&tags, tag), scalar::equal_tags(&tags, tag));
        }
    }

    #[test]
    fn texts_are_scanned(text in vec(prop_oneof![any::<u8>(), select(b"\n.#%*/".to_vec()), b'a'..=b'z'], 0..200)) {
        for backend in AnyBackend::all() {
            if let Some(block) = text.first_chunk() {
                let masks = backend.scan_lines(block);
                prop_assert_eq!(masks, scalar::scan_lines(block));
                prop_assert_eq!(masks.ends.count_ones() as usize, block.iter().filter(|b| **b == b'\n').count());
                for (at, byte) in block.iter().enumerate() {
                    let must_be_odd = *byte != b'\n' && (*byte <= b' ' || *byte >= 0x80 || b"%*#".contains(byte));
                    prop_assert!(!must_be_odd || masks.odd >> at & 1 == 1, "{byte:#x}");
                    prop_assert_eq!(masks.ends >> at & 1 == 1, *byte == b'\n');
                }
            }
            if let Some(window) = text.first_chunk() {
                prop_assert_eq!(backend.host_bytes(window), scalar::host_bytes(window));
            }
            for len in LENGTHS.into_iter().chain([text.len() / 2, text.len()]) {
                let Some(text) = text.get(..len) else { continue };
                prop_assert_eq!(backend.is_plain(text), scalar::is_plain(text));
                prop_assert_eq!(backend.pair_bits(text, &TABLES), scalar::pair_bits(text, &TABLES));
                prop_assert_eq!(backend.characters(text, &TABLES.first), scalar::characters(text, &TABLES.first));
            }
        }
    }

    #[test]
    fn delimiters_are_found(bytes in vec(prop_oneof![any::<u8>(), select(b"\n\"\\ \t!#[]".to_vec())], 64)) {
        let text: [u8; 64] = std::array::from_fn(|i| bytes[i]);
        for backend in AnyBackend::all() {
            let masks = backend.scan_delimiters(&text);
            prop_assert_eq!(masks, scalar::scan_delimiters(&text));
            for (at, byte) in text.iter().enumerate() {
                prop_assert_eq!(masks.ends >> at & 1 == 1, *byte == b'\n');
                prop_assert_eq!(masks.quotes >> at & 1 == 1, *byte == b'"' || *byte == b'\\');
                prop_assert_eq!(masks.blanks >> at & 1 == 1, *byte == b' ');
            }
        }
    }

    #[test]
    fn characters_of_words_are_found(bytes in vec(prop_oneof![any::<u8>(), select(b"/09:@AZ[`az{%#".to_vec())], 64)) {
        let text: [u8; 64] = std::array::from_fn(|i| bytes[i]);
        for backend in AnyBackend::all() {
            let masks = backend.scan_words(&text);
            prop_assert_eq!(masks, scalar::scan_words(&text));
            for (at, byte) in text.iter().enumerate() {
                prop_assert_eq!(masks.inside >> at & 1 == 1, byte.is_ascii_alphanumeric());
                prop_assert_eq!(masks.special >> at & 1 == 1, *byte == b'%' || *byte == b'#');
            }
        }
    }

    #[test]
    fn equal_bytes_are_found(a in any::<[u8; 32]>(), mask in any::<u32>()) {
        let mut b = a;
        (0..32).filter(|i| mask >> i & 1 == 0).for_each(|i| b[i] = !b[i]);
        for backend in AnyBackend::all() {
            prop_assert_eq!(backend.equal_bytes(&a, &b), mask);
        }
    }

    #[test]
    fn one_odd_byte_is_found(byte in any::<u8>(), len in 1usize..130, at in 0usize..130) {
        let mut text = vec![b'x'; len];
        text[at % len] = byte;
        let must_be_odd = byte <= b' ' || byte >= 0x80 || b"%*#".contains(&byte);
        for backend in AnyBackend::all() {
            prop_assert_eq!(backend.is_plain(&text), scalar::is_plain(&text));
            prop_assert!(!must_be_odd || !backend.is_plain(&text));
        }
    }

    #[test]
    fn every_byte_is_classified_in_a_host(byte in any::<u8>(), at in 0usize..32) {
        let mut window = [b'x'; 32];
        window[at] = byte;
        for backend in AnyBackend::all() {
            prop_assert_eq!(backend.host_bytes(&window), scalar::host_bytes(&window));
        }
    }

    #[test]
    fn subsets_are_found(
        words in vec([signature_word(), signature_word()], 0..40),
        signature in [prop_oneof![0u64..8, any::<u64>()], prop_oneof![0u64..8, any::<u64>()]],
    ) {
        let signatures: Vec<[u8; 16]> = words
            .iter()
            .map(|[a, b]| u128::to_le_bytes(u128::from(*a) | u128::from(*b) << 64))
            .collect();
        let expected = words.iter().position(|[a, b]| a & !signature[0] == 0 && b & !signature[1] == 0);
        for backend in AnyBackend::all() {
            prop_assert_eq!(backend.next_subset(&signatures, signature), expected);
        }
    }

    /// One bit, wherever it is, suffices to exclude a subset.
    #[test]
    fn every_bit_of_a_signature_counts(bit in 0..128u32, before in 0..20usize, after in 0..20usize) {
        let signatures = [vec![[0xff; 16]; before], vec![(1u128 << bit).to_le_bytes()], vec![[0xff; 16]; after]].concat();
        let word = |at: u32| 1u64.unbounded_shl(bit.wrapping_sub(at));
        let signature = [word(0), word(64)];
        for backend in AnyBackend::all() {
            prop_assert_eq!(backend.next_subset(&signatures, signature), Some(before));
            prop_assert_eq!(backend.next_subset(&signatures, signature.map(|word| !word)), None);
        }
    }

    #[test]
    fn words_are_counted(mut words in vec(prop_oneof![0u64..9, any::<u64>()], 0..40), word in prop_oneof![0u64..9, any::<u64>()]) {
        words.sort_unstable();
        let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
        let expected = words.iter().filter(|other| **other <= word).count();
        for backend in AnyBackend::all() {
            prop_assert_eq!(backend.count_not_greater(&bytes, word), expected);
        }
    }

    #[test]
    fn fingerprints_are_found(
        literals in vec((0..BUCKETS, vec(select(b"/ab.z".to_vec()), 1..5)), 0..30), text in vec(select(b"/ab.z".to_vec()), 0..110),
    ) {
        let mut fingerprints = Fingerprints::new();
        literals.iter().for_each(|(bucket, literal)| fingerprints.add(*bucket, literal));
        for backend in AnyBackend::all() {
            let found = backend.scan_fingerprints(&fingerprints, &text);
            prop_assert_eq!(found, scalar::scan_fingerprints(&fingerprints, &text));
            for (bucket, literal) in &literals {
                let is_there = memchr::memmem::find(&text, literal).is_some();
                prop_assert!(!is_there || found.buckets >> bucket & 1 == 1, "{:?} in {:?}", literal, text);
            }
        }
    }
}
