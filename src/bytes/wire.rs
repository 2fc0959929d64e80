//! Bounds-checked reads of little-endian numbers and ranges from untrusted bytes. Each read passes
//! the name of what it reads, for the error message.

use crate::error::{Error, Result};

/// `len` bytes at `at`, or a [`Corrupt`](crate::ErrorKind::Corrupt) error that names `what`.
#[inline]
pub(crate) fn bytes<'a>(data: &'a [u8], at: usize, len: usize, what: &str) -> Result<&'a [u8]> {
    match at.checked_add(len).and_then(|end| data.get(at..end)) {
        Some(bytes) => Ok(bytes),
        None => Err(out_of_bounds(data.len(), at, len, what)),
    }
}

#[cold]
fn out_of_bounds(have: usize, at: usize, len: usize, what: &str) -> Error {
    Error::corrupt(format!(
        "{what} would be {len} bytes at {at} of a section of {have}"
    ))
}

/// `N` bytes at `at`, or the error of [`bytes()`].
#[inline]
pub(crate) fn array<const N: usize>(data: &[u8], at: usize, what: &str) -> Result<[u8; N]> {
    let mut out = [0; N];
    out.copy_from_slice(bytes(data, at, N, what)?);
    Ok(out)
}

#[inline]
pub(crate) fn u32_at(data: &[u8], at: usize, what: &str) -> Result<u32> {
    Ok(u32::from_le_bytes(array(data, at, what)?))
}

#[inline]
pub(crate) fn u64_at(data: &[u8], at: usize, what: &str) -> Result<u64> {
    Ok(u64::from_le_bytes(array(data, at, what)?))
}

/// The encoded time that is not known: no real time is as old.
pub(crate) const NO_TIME: i64 = i64::MIN;

/// Encodes a time in seconds since 1970.
pub(crate) fn time_bytes(time: Option<i64>) -> [u8; 8] {
    time.unwrap_or(NO_TIME).to_le_bytes()
}

/// A cursor that reads the fields of a fixed-size row in the order of the layout.
pub(crate) struct Fields<'a>(pub &'a [u8]);

impl Fields<'_> {
    /// The next `N` bytes; zeros after the end, which a row of checked length never reaches.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.0 = tail;
                *head
            }
            None => [0; N],
        }
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    #[inline]
    pub(crate) fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.array())
    }

    /// A time, as [`time_bytes`] encodes it.
    pub(crate) fn time(&mut self) -> Option<i64> {
        Some(self.i64()).filter(|&time| time != NO_TIME)
    }
}
