//! Checks the pages of a column chunk before the `parquet` crate allocates memory for them.
//!
//! The header of a page states its size after decompression, and the crate allocates that much. A
//! page of 31 KB can state 1 GiB, and a dictionary any number of values. So the headers are read
//! first, which costs two short reads of the file per page. Pages of delta-coded strings also state
//! how many lengths follow, which is checked after decompression.

use crate::error::{Error, ErrorKind, Result};
use crate::parquet::chunks::ParquetFile;
use crate::parquet::delta::{check_counts, varint};
use crate::parquet::input::{ParquetInput, table_error};
use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length, SerializedPageReader};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest page after decompression. Most writers make pages of 1 MiB; DuckDB's have up to 100
/// MB if row groups are long.
const MAX_PAGE: usize = 128 << 20;

/// The most values of a dictionary. Each has 32 bytes in memory.
const MAX_DICTIONARY: usize = 4 << 20;

/// The pages of a column chunk, whose sizes are checked.
pub(super) struct CheckedPages {
    pages: SerializedPageReader<ParquetFile>,
    /// The bytes of the largest page after decompression.
    pub largest: usize,
    max_levels: [i16; 2],
    location: String,
}

impl CheckedPages {
    /// Reads the headers of all pages.
    ///
    /// # Errors
    /// [`ErrorKind::BadTable`] for a page or a dictionary that is too large, and for damaged
    /// headers. The message names the column, the row group and the byte of the page.
    pub(super) fn open(input: &ParquetInput, row_group: usize, column: usize) -> Result<Self> {
        let chunk = input.meta.row_group(row_group).column(column);
        let rows = input.meta.row_group(row_group).num_rows() as usize;
        let location = format!(
            "column {:?} of row group {row_group}",
            chunk.column_path().string()
        );
        let headers = HeaderFile {
            file: input.chunks.clone(),
            location: location.clone(),
            largest: Arc::default(),
        };
        let largest = Arc::clone(&headers.largest);
        let mut pages =
            SerializedPageReader::new(Arc::new(headers), chunk, rows, None).map_err(table_error)?;
        while pages.peek_next_page().map_err(table_error)?.is_some() {
            pages.skip_next_page().map_err(table_error)?;
        }
        let pages = SerializedPageReader::new(Arc::new(input.chunks.clone()), chunk, rows, None);
        let descr = input.schema().column(column);
        Ok(Self {
            pages: pages.map_err(table_error)?,
            largest: largest.load(Ordering::Relaxed),
            max_levels: [descr.max_rep_level(), descr.max_def_level()],
            location,
        })
    }
}

impl Iterator for CheckedPages {
    type Item = parquet::errors::Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> parquet::errors::Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            check_counts(page, self.max_levels).map_err(|what| refused(&self.location, what))?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> parquet::errors::Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> parquet::errors::Result<()> {
        self.pages.skip_next_page()
    }
}

/// A file that is read at headers of pages only, and checks each.
struct HeaderFile {
    file: ParquetFile,
    /// The column and the row group.
    location: String,
    largest: Arc<AtomicUsize>,
}

impl Length for HeaderFile {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for HeaderFile {
    type T = <ParquetFile as ChunkReader>::T;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let size = checked_size(self.file.get_read(start)?)
            .map_err(|what| refused(&self.location, format!("the page at byte {start} {what}")))?;
        self.largest.fetch_max(size, Ordering::Relaxed);
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

fn refused(location: &str, what: impl std::fmt::Display) -> ParquetError {
    let err = Error::from(ErrorKind::BadTable(format!("{location}: {what}")));
    ParquetError::External(Box::new(io::Error::other(err)))
}

/// The size after decompression that the header of a page states. The error says what is wrong with
/// the page.
fn checked_size(header: impl Read) -> std::result::Result<usize, String> {
    let Some(sizes) = PageSizes::read(header) else {
        return Err("has a damaged header".to_owned());
    };
    let too_large = if sizes.page > MAX_PAGE {
        format!(
            "decompresses to {} bytes, and at most {MAX_PAGE}",
            sizes.page
        )
    } else if sizes.dictionary > MAX_DICTIONARY {
        format!(
            "is a dictionary of {} values, and at most {MAX_DICTIONARY}",
            sizes.dictionary
        )
    } else {
        return Ok(sizes.page);
    };
    Err(format!(
        "{too_large} are read; write the file again with smaller pages"
    ))
}

/// The sizes that the header of a page states.
#[derive(Debug, Default, PartialEq, Eq)]
struct PageSizes {
    /// Bytes after decompression.
    page: usize,
    /// The number of values of a dictionary, else 0.
    dictionary: usize,
}

/// The types of Thrift's compact protocol that headers of pages have.
mod kind {
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const STRUCT: u8 = 12;
}

/// The struct of Parquet's `PageHeader`, or a struct inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderStruct {
    Page,
    Data,
    Dictionary,
    DataV2,
    Statistics,
    Other,
}

impl HeaderStruct {
    /// The types of its fields from the first on. The crate reads a field by its number, whatever
    /// its type, so another type would make it read another size than [`PageSizes::read`].
    fn kinds(self) -> &'static [u8] {
        use kind::{BINARY, FALSE, I32, I64, STRUCT};
        match self {
            Self::Page => &[I32, I32, I32, I32, STRUCT, STRUCT, STRUCT, STRUCT],
            Self::Data => &[I32, I32, I32, I32, STRUCT],
            Self::Dictionary => &[I32, I32, FALSE],
            Self::DataV2 => &[I32, I32, I32, I32, I32, I32, FALSE, STRUCT],
            Self::Statistics => &[BINARY, BINARY, I64, I64, BINARY, BINARY, FALSE, FALSE],
            Self::Other => &[],
        }
    }

    /// The struct in a field.
    fn inner(self, field: u8) -> Self {
        match (self, field) {
            (Self::Page, 5) => Self::Data,
            (Self::Page, 7) => Self::Dictionary,
            (Self::Page, 8) => Self::DataV2,
            (Self::Data, 5) | (Self::DataV2, 8) => Self::Statistics,
            _ => Self::Other,
        }
    }
}

impl PageSizes {
    /// Reads a whole `PageHeader` in Thrift's compact protocol. `None` if fields are out of order,
    /// appear twice, have another type or a negative size, and for pages that are neither data nor
    /// a dictionary: no writer makes them, and the crate gets out of step when it skips them.
    fn read(header: impl Read) -> Option<Self> {
        let mut parser = HeaderParser {
            input: header,
            sizes: Self::default(),
            kind: None,
            has_size: false,
        };
        parser.skip_struct(HeaderStruct::Page, 0)?;
        let is_known = matches!(parser.kind, Some(0 | 2 | 3));
        (is_known && parser.has_size).then_some(parser.sizes)
    }
}

struct HeaderParser<R> {
    input: R,
    sizes: PageSizes,
    /// The type of the page.
    kind: Option<usize>,
    has_size: bool,
}

impl<R: Read> HeaderParser<R> {
    /// Reads the fields of a struct up to its end, and keeps the sizes.
    fn skip_struct(&mut self, this: HeaderStruct, depth: u8) -> Option<()> {
        const MAX_DEPTH: u8 = 4;
        if depth > MAX_DEPTH {
            return None;
        }
        let mut field = 0_u8;
        loop {
            let byte = self.byte()?;
            let (step, kind) = (byte >> 4, byte & 15);
            if kind == 0 {
                return Some(());
            }
            // Without a step, the number of the field follows, and may be any.
            if step == 0 {
                return None;
            }
            field = field.checked_add(step)?;
            let known = this.kinds().get(usize::from(field) - 1);
            if known.is_some_and(|known| {
                *known
                    != if kind == kind::TRUE {
                        kind::FALSE
                    } else {
                        kind
                    }
            }) {
                return None;
            }
            match kind {
                kind::TRUE | kind::FALSE => {}
                kind::BYTE => drop(self.byte()?),
                kind::I32 | kind::I64 => {
                    let value = self.varint()?;
                    self.keep(this, field, value)?;
                }
                kind::DOUBLE => self.skip(8)?,
                kind::BINARY => {
                    let len = self.varint()?;
                    self.skip(len)?;
                }
                kind::STRUCT => self.skip_struct(this.inner(field), depth + 1)?,
                _ => return None,
            }
        }
    }

    /// Keeps an integer, which is zigzag-coded, if it is one of the sizes.
    fn keep(&mut self, this: HeaderStruct, field: u8, zigzag: u64) -> Option<()> {
        let value = || {
            let value = i32::try_from(zigzag >> 1).ok()?;
            (zigzag & 1 == 0).then_some(value as usize)
        };
        match (this, field) {
            (HeaderStruct::Page, 1) => self.kind = Some(value()?),
            (HeaderStruct::Page, 2) => {
                self.sizes.page = value()?;
                self.has_size = true;
            }
            (HeaderStruct::Dictionary, 1) => self.sizes.dictionary = value()?,
            _ => {}
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).ok()?;
        Some(byte[0])
    }

    fn varint(&mut self) -> Option<u64> {
        varint(|| self.byte())
    }

    fn skip(&mut self, len: u64) -> Option<()> {
        let skipped = io::copy(&mut self.input.by_ref().take(len), &mut io::sink());
        (skipped.ok()? == len).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(page: usize, dictionary: usize) -> Option<PageSizes> {
        Some(PageSizes { page, dictionary })
    }

    /// A type of page 0, sizes 300 and 4, and the header of a data page with statistics.
    const DATA: &[u8] =
        b"\x15\0\x15\xd8\x04\x15\x08\x2c\x15\x02\x15\0\x15\x06\x15\x06\x1c\x18\x03abc\0\0\0";
    /// A dictionary of 200 values.
    const DICTIONARY: &[u8] = b"\x15\x04\x15\xd8\x04\x15\x08\x4c\x15\x90\x03\x15\0\x11\0\0";

    #[test]
    fn sizes_are_read_from_headers() {
        let with_checksum = b"\x15\x04\x15\xd8\x04\x15\x08\x15\x07\x3c\x15\x90\x03\x15\0\0\0";
        let version_2 =
            b"\x15\x06\x15\xd8\x04\x15\x08\x5c\x15\x02\x15\0\x15\x02\x15\0\x15\0\x15\0\x12\0\0";
        // A field 9 that this version of the format does not have.
        let extended = [&DATA[..DATA.len() - 1], b"\x46\x05\0"].concat();
        for (header, expected) in [
            (DATA, sizes(300, 0)),
            (DICTIONARY, sizes(300, 200)),
            (with_checksum, sizes(300, 200)),
            (version_2, sizes(300, 0)),
            (&extended, sizes(300, 0)),
        ] {
            assert_eq!(PageSizes::read(header), expected, "{header:?}");
        }
    }

    #[test]
    fn headers_that_the_crate_might_read_otherwise_are_damaged() {
        let replaced = |at: usize, byte: u8| {
            let mut header = DICTIONARY.to_vec();
            header[at] = byte;
            header
        };
        for (case, header) in [
            ("no header", Vec::new()),
            ("cut short", DATA[..9].to_vec()),
            ("the type has a type of its own", replaced(0, 0x16)),
            ("a negative size", replaced(3, 0xd7)),
            ("an index page", replaced(1, 2)),
            ("an unknown page", replaced(1, 8)),
            ("no size", b"\x15\0\x25\x08\x2c\x15\x02\0\0".to_vec()),
            ("a number of values that is true", replaced(8, 0x11)),
            (
                "a second size",
                [
                    &DICTIONARY[..DICTIONARY.len() - 1],
                    b"\x05\x04\xfe\xff\xff\xff\x0f\0",
                ]
                .concat(),
            ),
            (
                "a size over 32 bits",
                b"\x15\0\x15\x80\x80\x80\x80\x80\x01\x15\x08\0".to_vec(),
            ),
            (
                "a deep struct",
                [b"\x15\0\x15\x02\x15\x02".as_slice(), &[0x6c; 6], &[0; 9]].concat(),
            ),
        ] {
            assert_eq!(PageSizes::read(&*header), None, "{case}");
        }
    }

    #[test]
    fn large_pages_and_dictionaries_are_refused() {
        let varint = |mut value: usize| {
            value *= 2;
            let mut out = Vec::new();
            while value > 127 {
                out.push((value & 127) as u8 | 128);
                value >>= 7;
            }
            out.push(value as u8);
            out
        };
        let dictionary = |size, values| {
            let [size, values] = [varint(size), varint(values)];
            [
                b"\x15\x04\x15",
                &*size,
                b"\x15\x02\x4c\x15",
                &*values,
                b"\x15\0\0\0",
            ]
            .concat()
        };
        for (header, message) in [
            (dictionary(MAX_PAGE, 0), None),
            (
                dictionary(MAX_PAGE + 1, 0),
                Some("decompresses to 134217729 bytes"),
            ),
            (dictionary(8, MAX_DICTIONARY), None),
            (
                dictionary(8, MAX_DICTIONARY + 1),
                Some("a dictionary of 4194305 values"),
            ),
        ] {
            match (checked_size(&*header), message) {
                (Ok(_), None) => {}
                (Err(what), Some(message)) => assert!(what.contains(message), "{what}"),
                (other, _) => panic!("{other:?}, expected {message:?}"),
            }
        }
    }
}
