//! Decodes definition levels of 0 and 1, which say which rows of a page have a value. The encoding
//! is the format's hybrid of run-length encoding and bit packing.

use bytes::Bytes;

/// The levels of a page, decoded run by run.
#[derive(Debug)]
pub(super) struct DefinitionLevels {
    bytes: Bytes,
    at: usize,
    /// The rows left in the current run, and whether they have a value.
    run: usize,
    present: bool,
    /// The bytes left of bit-packed levels, and the unread bits of the current byte, from the
    /// lowest on.
    packed: usize,
    bits: u8,
    bits_left: u32,
}

impl DefinitionLevels {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self {
            bytes,
            at: 0,
            run: 0,
            present: false,
            packed: 0,
            bits: 0,
            bits_left: 0,
        }
    }

    /// Whether the next rows have a value, and their number, from 1 to `wanted`; `None` at the end
    /// of the levels.
    #[inline]
    pub(super) fn next(&mut self, wanted: usize) -> Option<(bool, usize)> {
        while self.run == 0 {
            self.start_run()?;
        }
        let rows = self.run.min(wanted);
        self.run -= rows;
        Some((self.present, rows))
    }

    /// Starts the next run of equal levels.
    fn start_run(&mut self) -> Option<()> {
        if self.bits_left > 0 {
            return self.start_bit_run();
        }
        if self.packed > 0 {
            self.packed -= 1;
            self.bits = self.byte()?;
            self.bits_left = 8;
            return self.start_bit_run();
        }
        let header = self.header()?;
        let count = usize::try_from(header >> 1).ok()?;
        match header & 1 {
            // Groups of eight levels, one byte each.
            1 => self.packed = count,
            _ => {
                self.run = count;
                self.present = self.byte()? == 1;
            }
        }
        Some(())
    }

    fn start_bit_run(&mut self) -> Option<()> {
        self.present = self.bits & 1 == 1;
        let equal = if self.present {
            self.bits.trailing_ones()
        } else {
            self.bits.trailing_zeros()
        };
        let equal = equal.min(self.bits_left);
        self.bits = self.bits.unbounded_shr(equal);
        self.bits_left -= equal;
        self.run = equal as usize;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    /// A number in LEB128: seven bits per byte, the lowest first.
    fn header(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::parquet::levels::DefinitionLevels;

    fn rows(bytes: &'static [u8], wanted: usize) -> (Vec<bool>, bool) {
        let mut levels = DefinitionLevels::new(bytes.into());
        let mut rows = Vec::new();
        while rows.len() < wanted {
            let Some((present, count)) = levels.next(wanted - rows.len()) else {
                return (rows, false);
            };
            rows.resize(rows.len() + count, present);
        }
        (rows, true)
    }

    /// By Encodings.md of the Parquet format the header of a run is twice its length. The header of
    /// bits is twice the number of their groups of eight, plus one.
    #[test]
    fn runs_and_bits_are_decoded() {
        assert_eq!(
            rows(&[6, 1, 4, 0], 5),
            (vec![true, true, true, false, false], true)
        );
        assert_eq!(
            rows(&[3, 0b1000_1011], 8),
            ([1, 1, 0, 1, 0, 0, 0, 1].map(|bit| bit == 1).to_vec(), true)
        );
        // The last group may have more bits than rows. A run may be empty.
        assert_eq!(rows(&[0, 1, 3, 0xff], 3), (vec![true; 3], true));
        // A length of two bytes.
        assert_eq!(rows(&[0xac, 0x02, 1], 150), (vec![true; 150], true));
    }

    #[test]
    fn damaged_levels_end() {
        assert_eq!(rows(&[6, 1], 4), (vec![true; 3], false));
        assert_eq!(rows(&[6], 1), (vec![], false));
        assert_eq!(rows(&[5, 0xff], 16), (vec![true; 8], false));
        assert_eq!(rows(&[0x80; 20], 1), (vec![], false));
        assert_eq!(rows(&[], 1), (vec![], false));
    }
}
