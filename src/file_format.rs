//! Recognises file formats by their magic numbers, so that no archive, table or image is read as
//! text.

/// The maximum number of bytes that [`FileFormat::of`] inspects: a tar archive has its magic number
/// at byte 257.
pub(crate) const DETECTION_LEN: usize = 512;

/// The number of bytes that decide all formats but tar, and Office documents among zip archives.
pub(crate) const ENOUGH: usize = 16;

/// The first bytes of every snapshot. The control characters reveal a transfer in text mode.
pub(crate) const SNAPSHOT_MAGIC: &[u8; 8] = b"RSIEVE\x1a\n";

/// The first bytes of every captures file.
pub(crate) const CAPTURES_MAGIC: &[u8; 8] = b"RSCAPT\x1a\n";

/// The first bytes of every compiled file of filter lists.
pub(crate) const LISTS_MAGIC: &[u8; 8] = b"RSLIST\x1a\n";

/// The first and last bytes of a Parquet file.
pub(crate) const PARQUET_MAGIC: &[u8; 4] = b"PAR1";

/// The first bytes of a WARC record.
pub(crate) const WARC_MAGIC: &[u8; 5] = b"WARC/";

/// The first bytes of a zstd frame.
pub(crate) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The UTF-8 byte order mark, which some editors and spreadsheets write at the start of a text.
pub(crate) const BYTE_ORDER_MARK: &[u8; 3] = b"\xef\xbb\xbf";

/// Removes a UTF-8 byte order mark from the start.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// A known format other than plain text. An `Option` of it is `None` for text and for unknown
/// formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    Lz4,
    Lzip,
    Compress,
    Zip,
    /// A document or spreadsheet of an office program: a zip archive, or an older file.
    Office,
    SevenZip,
    Rar,
    Tar,
    Warc,
    Arc,
    Parquet,
    Arrow,
    Feather,
    Orc,
    Avro,
    Sqlite,
    Snapshot,
    Captures,
    FilterLists,
    Pdf,
    Png,
    Jpeg,
    Gif,
    Elf,
    Utf16,
    Utf32,
    Binary,
}

/// Magic numbers that no line of text begins with.
const MAGIC: &[(&[u8], FileFormat)] = &[
    (b"\x1f\x8b", FileFormat::Gzip),
    (&ZSTD_MAGIC, FileFormat::Zstd),
    (b"\xfd7zXZ\0", FileFormat::Xz),
    (b"\x04\x22\x4d\x18", FileFormat::Lz4),
    (b"\x02\x21\x4c\x18", FileFormat::Lz4),
    (b"LZIP\x01", FileFormat::Lzip),
    (b"\x1f\x9d", FileFormat::Compress),
    (b"PK\x03\x04", FileFormat::Zip),
    (b"PK\x05\x06", FileFormat::Zip),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FileFormat::Office),
    (b"7z\xbc\xaf\x27\x1c", FileFormat::SevenZip),
    (b"Rar!\x1a\x07", FileFormat::Rar),
    (b"filedesc://", FileFormat::Arc),
    (b"ARROW1\0\0", FileFormat::Arrow),
    (b"Obj\x01", FileFormat::Avro),
    (b"SQLite format 3\0", FileFormat::Sqlite),
    (SNAPSHOT_MAGIC, FileFormat::Snapshot),
    (CAPTURES_MAGIC, FileFormat::Captures),
    (LISTS_MAGIC, FileFormat::FilterLists),
    (b"%PDF-", FileFormat::Pdf),
    (b"\x89PNG\r\n\x1a\n", FileFormat::Png),
    (b"\xff\xd8\xff", FileFormat::Jpeg),
    (b"GIF87a", FileFormat::Gif),
    (b"GIF89a", FileFormat::Gif),
    (b"\x7fELF", FileFormat::Elf),
    // Its mark begins with that of UTF-16.
    (b"\xff\xfe\0\0", FileFormat::Utf32),
    (b"\0\0\xfe\xff", FileFormat::Utf32),
    (b"\xff\xfe", FileFormat::Utf16),
    (b"\xfe\xff", FileFormat::Utf16),
];

/// Magic numbers of letters and digits. They count only if non-text bytes follow.
const TEXT_MAGIC: &[(&[u8], FileFormat)] = &[
    (PARQUET_MAGIC, FileFormat::Parquet),
    (b"PARE", FileFormat::Parquet),
    (b"FEA1", FileFormat::Feather),
    (b"ORC", FileFormat::Orc),
];

impl FileFormat {
    /// The format of a file that begins with `start`: its first [`DETECTION_LEN`] bytes, or all of
    /// a shorter file. [`ENOUGH`] bytes suffice for all formats but tar and office documents.
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        let start = &start[..start.len().min(DETECTION_LEN)];
        match MAGIC.iter().find(|(magic, _)| start.starts_with(magic)) {
            Some((_, Self::Zip)) if is_office(start) => return Some(Self::Office),
            Some((_, format)) => return Some(*format),
            None => {}
        }
        // These magic numbers are text, with which a URL may begin. The byte after them decides.
        if start
            .strip_prefix(WARC_MAGIC)
            .and_then(<[u8]>::first)
            .is_some_and(u8::is_ascii_digit)
        {
            return Some(Self::Warc);
        }
        let first = &start[..start.len().min(ENOUGH)];
        for (magic, format) in TEXT_MAGIC {
            if let Some(rest) = first.strip_prefix(*magic)
                && (rest.is_empty() || !is_text(rest))
            {
                return Some(*format);
            }
        }
        if is_skippable_frame(start) {
            return Some(Self::Zstd);
        }
        if is_bzip2(start) {
            return Some(Self::Bzip2);
        }
        if is_arrow_message(start) {
            return Some(Self::Arrow);
        }
        if start
            .get(257..)
            .is_some_and(|rest| rest.starts_with(b"ustar"))
        {
            return Some(Self::Tar);
        }
        nul_bytes(start)
    }

    /// The name of the format, with its article.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "a gzip file",
            Self::Zstd => "a zstd file",
            Self::Xz => "an xz file",
            Self::Bzip2 => "a bzip2 file",
            Self::Lz4 => "an lz4 file",
            Self::Lzip => "an lzip file",
            Self::Compress => "a file of compress (.Z)",
            Self::Zip => "a zip archive",
            Self::Office => "an Office document, such as an .xlsx, .xls or .ods file",
            Self::SevenZip => "a 7z archive",
            Self::Rar => "a rar archive",
            Self::Tar => "a tar archive",
            Self::Warc => "a WARC archive",
            Self::Arc => "an ARC archive",
            Self::Parquet => "a Parquet file",
            Self::Arrow => "an Arrow file or stream",
            Self::Feather => "a Feather file",
            Self::Orc => "an ORC file",
            Self::Avro => "an Avro file",
            Self::Sqlite => "an SQLite database",
            Self::Snapshot => "a robosieve snapshot",
            Self::Captures => "a captures file",
            Self::FilterLists => "a file of filter lists",
            Self::Pdf => "a PDF document",
            Self::Png => "a PNG image",
            Self::Jpeg => "a JPEG image",
            Self::Gif => "a GIF image",
            Self::Elf => "a program (ELF)",
            Self::Utf16 => "UTF-16 text",
            Self::Utf32 => "UTF-32 text",
            Self::Binary => "binary data",
        }
    }

    /// The advice to convert it to a readable format, if a common command does that.
    pub(crate) fn unpack(self) -> Option<&'static str> {
        Some(match self {
            Self::Gzip => "decompress it first (gunzip)",
            Self::Zstd => "decompress it first (zstd -d)",
            Self::Xz => "decompress it first (xz -d)",
            Self::Bzip2 => "decompress it first (bzip2 -d)",
            Self::Lz4 => "decompress it first (lz4 -d)",
            Self::Lzip => "decompress it first (lzip -d)",
            Self::Compress => "decompress it first (gunzip)",
            Self::Zip => "unpack it first (unzip)",
            Self::Office => "save its table as CSV first",
            Self::SevenZip => "unpack it first (7z x)",
            Self::Rar => "unpack it first (unrar x)",
            Self::Tar => "unpack it first (tar -xf)",
            Self::Utf16 => "convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)",
            Self::Utf32 => "convert it to UTF-8 first (iconv -f UTF-32 -t UTF-8)",
            _ => return None,
        })
    }

    /// The reason why a file that begins with `start` is not a list of URLs, and a remedy.
    /// `is_packed` says that the bytes were inside gzip or zstd. NUL bytes alone are not a reason,
    /// because lines may have any bytes.
    pub(crate) fn not_a_list(start: &[u8], is_packed: bool) -> Option<String> {
        let format = Self::of(start).filter(|format| *format != Self::Binary)?;
        let remedy = match format {
            Self::Gzip | Self::Zstd => "compressed twice; decompress it once first",
            Self::Captures => "compile it first",
            Self::Warc | Self::Arc => {
                "compile it, or write its URLs to a list first, as annotate does"
            }
            Self::Snapshot => "name it as the snapshot; a list holds URLs, one per line",
            Self::Parquet if is_packed => {
                "compressed as a whole: decompress it first, Parquet compresses inside"
            }
            Self::Parquet => "it is read from its end; name the file instead of piping it",
            Self::Arrow | Self::Feather | Self::Orc | Self::Avro | Self::Sqlite => {
                "write its URLs as Parquet, CSV or text first"
            }
            _ => format
                .unpack()
                .unwrap_or("give a list of URLs, one per line, or a Parquet file"),
        };
        Some(format!("{}, not a list of URLs; {remedy}", format.name()))
    }
}

/// Whether a zip archive is an office document, by the name of its first file.
fn is_office(start: &[u8]) -> bool {
    // The name follows the 30 bytes of the local file header.
    const FIRST: [&[u8]; 5] = [
        b"[Content_Types].xml",
        b"_rels/.rels",
        b"docProps/",
        b"xl/",
        b"mimetypeapplication/vnd.oasis.opendocument.",
    ];
    let name = start.get(30..).unwrap_or_default();
    FIRST.iter().any(|first| name.starts_with(first))
}

/// Whether it begins with a skippable frame of zstd; `pzstd` writes one first.
fn is_skippable_frame(start: &[u8]) -> bool {
    start
        .first_chunk()
        .is_some_and(|magic| (0x184d_2a50..=0x184d_2a5f).contains(&u32::from_le_bytes(*magic)))
}

/// Whether it begins with `BZh`, a level, and the marker of a block or of the end of the stream.
fn is_bzip2(start: &[u8]) -> bool {
    let Some([b'B', b'Z', b'h', b'1'..=b'9', mark @ ..]) = start.first_chunk::<10>() else {
        return false;
    };
    mark == b"1AY&SY" || mark == b"\x17\x72\x45\x38\x50\x90"
}

/// Whether it begins with the first message of an Arrow stream: a marker, and a length below 16
/// MiB.
fn is_arrow_message(start: &[u8]) -> bool {
    matches!(start, [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..])
}

/// Whether the first bytes are printable ASCII or white space.
fn is_text(rest: &[u8]) -> bool {
    rest.iter()
        .all(|b| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~'))
}

/// Detects UTF-16 and binary data by NUL bytes among the first eight. No URL has one there.
fn nul_bytes(start: &[u8]) -> Option<FileFormat> {
    let first = start.first_chunk::<8>()?;
    let mut nuls = [0; 2];
    for (i, byte) in first.iter().enumerate() {
        nuls[i % 2] += u8::from(*byte == 0);
    }
    match (nuls[0], nuls[1]) {
        (0, 0) => None,
        (0, 4) | (4, 0) => Some(FileFormat::Utf16),
        _ => Some(FileFormat::Binary),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_numbers_are_recognised() {
        let cases: &[(&[u8], &str)] = &[
            (b"\x1f\x8b\x08\0\0\0\0\0", "a gzip file"),
            (b"\x28\xb5\x2f\xfd\x04\x58", "a zstd file"),
            (b"\x50\x2a\x4d\x18\x04\0\0\0abcd", "a zstd file"),
            (b"\x5f\x2a\x4d\x18\x04\0\0\0abcd", "a zstd file"),
            (b"\xfd7zXZ\0\0\x04", "an xz file"),
            (b"BZh91AY&SY\0", "a bzip2 file"),
            (b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0", "a bzip2 file"),
            (b"\x04\x22\x4d\x18\x64\x40", "an lz4 file"),
            (b"PK\x03\x04\x14\0", "a zip archive"),
            (
                b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0docProps/app.xml",
                "an Office document, such as an .xlsx, .xls or .ods file",
            ),
            (b"PAR1\x15\x04\x15\x10\x15\x14\x4c\x15", "a Parquet file"),
            (b"PAR1", "a Parquet file"),
            (b"ARROW1\0\0\xff\xff\xff\xff", "an Arrow file or stream"),
            (b"\xff\xff\xff\xff\x78\0\0\0", "an Arrow file or stream"),
            (b"FEA1\0\0\0\0", "a Feather file"),
            (b"RSIEVE\x1a\n\x02\0\0\0", "a robosieve snapshot"),
            (b"RSCAPT\x1a\n\x01\0\0\0", "a captures file"),
            (b"RSLIST\x1a\n\x01\0\0\0", "a file of filter lists"),
            (b"WARC/1.0\r\n", "a WARC archive"),
            (b"filedesc://x.arc 0.0.0.0 2001", "an ARC archive"),
            (b"%PDF-1.7\n", "a PDF document"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\r", "a PNG image"),
            (b"\x7fELF\x02\x01\x01\0", "a program (ELF)"),
            (b"\xff\xfeh\0t\0t\0p\0", "UTF-16 text"),
            (b"\xff\xfe\0\0h\0\0\0", "UTF-32 text"),
            (b"\0\0\xfe\xff\0\0\0h", "UTF-32 text"),
            (b"h\0t\0t\0p\0", "UTF-16 text"),
            (b"\0h\0t\0t\0p", "UTF-16 text"),
            (b"MZ\x90\0\x03\0\0\0", "binary data"),
        ];
        for (start, name) in cases {
            assert_eq!(
                FileFormat::of(start).map(FileFormat::name),
                Some(*name),
                "{}",
                start.escape_ascii()
            );
        }
        // A read of ENOUGH bytes decides as a longer one does.
        for magic in ["PARE", "PAR1", "FEA1", "ORC"] {
            let start = format!("{magic}],n,url,title,x\u{1}");
            assert!(start.len() > ENOUGH);
            assert_eq!(
                FileFormat::of(start.as_bytes()),
                FileFormat::of(&start.as_bytes()[..ENOUGH])
            );
        }
        let tar = [b"a.txt".as_slice(), &[0; 252], b"ustar\x0000", &[0; 250]].concat();
        assert_eq!(FileFormat::of(&tar), Some(FileFormat::Tar));
    }

    #[test]
    fn text_has_no_format() {
        let cases: &[&[u8]] = &[
            b"",
            b"\n",
            b"https://a.example/\n",
            b"https://a.example/\0\n",
            b"\xef\xbb\xbfhttps://a.example/\n",
            b"http://b\xc3\xbccher.example/",
            b"PAR1.example/a\nPAR1.example/b\n",
            b"FEA1.example/\n",
            b"ORCHARD.example/\n",
            b"WARC/a\n",
            b"BZh9.example/",
            b"GIF8.example/",
            b"LZIP.example/",
            b"{\"url\":\"https://a.example/\"}\n",
            b" CDX N b a\n",
            b"# robots.txt\nuser-agent: *\n",
            b"\0\n",
        ];
        for start in cases {
            assert_eq!(FileFormat::of(start), None, "{}", start.escape_ascii());
        }
    }
}
