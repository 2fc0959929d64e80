//! Checks how many lengths a page of delta-coded strings states.
//!
//! `DELTA_LENGTH_BYTE_ARRAY` stores the lengths of all strings as one block of delta-coded integers,
//! and `DELTA_BYTE_ARRAY` two of them: those of the prefixes that a string shares with the one
//! before, and those of the rest. The `parquet` crate allocates as many lengths as a block states,
//! and 20 bytes can state 2^60.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;

/// The most strings of a delta-coded page. Each has up to 8 bytes of lengths in memory.
const MAX_STRINGS: u64 = 16 << 20;

/// Checks the counts of a page of a column with these repetition and definition levels at most. The
/// error says what is wrong.
pub(super) fn check_counts(page: &Page, max_levels: [i16; 2]) -> Result<(), String> {
    let blocks = match page.encoding() {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Ok(()),
    };
    let bytes =
        values(page, max_levels).ok_or("damaged: the levels of a page reach past its end")?;
    let mut rest = &*bytes;
    for _ in 0..blocks {
        let count = skip_block(&mut rest).ok_or("damaged: a page ends inside its lengths")?;
        if count > u64::from(page.num_values()) || count > MAX_STRINGS {
            return Err(format!(
                "a page of {} values states {count} lengths, and at most {MAX_STRINGS} are read; \
                 write the file again with smaller pages",
                page.num_values()
            ));
        }
    }
    Ok(())
}

/// The bytes after the levels of a page.
fn values(page: &Page, max_levels: [i16; 2]) -> Option<Bytes> {
    let bytes = page.buffer();
    let mut start = 0;
    match page {
        Page::DataPageV2 {
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => start = *def_levels_byte_len as usize + *rep_levels_byte_len as usize,
        Page::DataPage {
            def_level_encoding,
            rep_level_encoding,
            ..
        } => {
            for (max_level, encoding) in max_levels
                .iter()
                .zip([rep_level_encoding, def_level_encoding])
            {
                if *max_level == 0 {
                    continue;
                }
                start += match encoding {
                    Encoding::RLE => {
                        let len = bytes.get(start..)?.first_chunk()?;
                        4 + u32::from_le_bytes(*len) as usize
                    }
                    // Levels of this deprecated encoding have no length of their own.
                    _ => {
                        let width = u16::BITS - max_level.leading_zeros();
                        (page.num_values() as usize * width as usize).div_ceil(8)
                    }
                };
            }
        }
        Page::DictionaryPage { .. } => {}
    }
    (start <= bytes.len()).then(|| bytes.slice(start..))
}

/// Skips a block of `DELTA_BINARY_PACKED` integers: their number. `None` if it is damaged.
fn skip_block(rest: &mut &[u8]) -> Option<u64> {
    let block_len = number(rest)?;
    let miniblocks = number(rest)?;
    let count = number(rest)?;
    number(rest)?;
    let miniblock_len = block_len.checked_div(miniblocks)?;
    // The header has the first value. More values than this are refused, so their blocks need not
    // be skipped.
    let mut left = count.saturating_sub(1);
    while left > 0 && count <= MAX_STRINGS {
        number(rest)?;
        let widths = rest.get(..usize::try_from(miniblocks).ok()?)?;
        *rest = &rest[widths.len()..];
        for width in widths {
            if left == 0 {
                break;
            }
            let len = miniblock_len.checked_mul(u64::from(*width))? / 8;
            *rest = rest.get(usize::try_from(len).ok()?..)?;
            left = left.saturating_sub(miniblock_len.max(1));
        }
        if widths.is_empty() {
            return None;
        }
    }
    Some(count)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    varint(|| rest.split_off_first().copied())
}

/// A number of seven bits per byte, the lowest first. Takes bytes from `next`; `None` if these end, or
/// after ten.
pub(super) fn varint(mut next: impl FnMut() -> Option<u8>) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        value |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of delta-coded strings, with a header of `count` in each block.
    fn page(encoding: Encoding, num_values: u32, bytes: Vec<u8>) -> Page {
        Page::DataPage {
            buf: bytes.into(),
            num_values,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    /// Three integers: 128 a block, four miniblocks of which the first has 3 bits per value.
    fn block(count: u8) -> Vec<u8> {
        [&[0x80, 1, 4, count, 0, 0, 3, 9, 9, 9][..], &[0; 12]].concat()
    }

    #[test]
    fn counts_of_each_block_are_checked() {
        let (prefix, strings) = (
            Encoding::DELTA_BYTE_ARRAY,
            Encoding::DELTA_LENGTH_BYTE_ARRAY,
        );
        for (case, encoding, bytes, message) in [
            ("equal counts", strings, block(3), None),
            ("nulls are not counted", strings, block(2), None),
            ("two blocks", prefix, [block(3), block(3)].concat(), None),
            (
                "too many",
                strings,
                block(4),
                Some("3 values states 4 lengths"),
            ),
            (
                "the second",
                prefix,
                [block(3), block(4)].concat(),
                Some("states 4 lengths"),
            ),
            ("no second", prefix, block(3), Some("ends inside")),
            (
                "a short block",
                strings,
                block(3)[..20].to_vec(),
                Some("ends inside"),
            ),
            (
                "no miniblocks",
                strings,
                vec![0x80, 1, 0, 3, 0, 0],
                Some("ends inside"),
            ),
            (
                "2^62",
                strings,
                vec![0x80, 1, 4, 255, 255, 255, 255, 255, 255, 255, 255, 63, 0],
                Some("states 4611686018427387903"),
            ),
            ("other encodings", Encoding::PLAIN, block(4), None),
        ] {
            let found = check_counts(&page(encoding, 3, bytes), [0, 0]);
            match (found, message) {
                (Ok(()), None) => {}
                (Err(what), Some(message)) => assert!(what.contains(message), "{case}: {what}"),
                (other, _) => panic!("{case}: {other:?}"),
            }
        }
    }

    #[test]
    fn levels_are_skipped() {
        let with_levels = [&[2, 0, 0, 0, 6, 1][..], &[1, 0, 0, 0, 7], &block(4)].concat();
        let strings = Encoding::DELTA_LENGTH_BYTE_ARRAY;
        let found = check_counts(&page(strings, 3, with_levels), [1, 1]);
        assert!(found.unwrap_err().contains("states 4 lengths"));
        let too_long = page(strings, 3, vec![9, 0, 0, 0]);
        assert!(
            check_counts(&too_long, [0, 1])
                .unwrap_err()
                .contains("reach past")
        );
    }
}
