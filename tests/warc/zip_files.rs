//! Zip archives, also those that no program writes.

use flate2::Crc;
use std::io::Write;

/// A file in a zip archive, with fields that a forger can change.
#[derive(Clone)]
pub(super) struct ZipEntry {
    pub name: String,
    /// The name in the header before the data.
    pub local_name: String,
    pub method: u16,
    pub flags: u16,
    pub stored: Vec<u8>,
    pub length: u32,
    pub crc: u32,
    /// The place of the header, if it is not that of the data.
    pub offset: Option<u32>,
}

/// A file that is stored as it is.
pub(super) fn stored(name: &str, content: &[u8]) -> ZipEntry {
    let mut crc = Crc::new();
    crc.update(content);
    ZipEntry {
        name: name.to_owned(),
        local_name: name.to_owned(),
        method: 0,
        flags: 0,
        stored: content.to_vec(),
        length: content.len() as u32,
        crc: crc.sum(),
        offset: None,
    }
}

/// A file that is compressed with deflate.
pub(super) fn deflated(name: &str, content: &[u8]) -> ZipEntry {
    let mut out = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
    out.write_all(content).unwrap();
    ZipEntry {
        method: 8,
        stored: out.finish().unwrap(),
        ..stored(name, content)
    }
}

/// A zip archive (APPNOTE 6.3.10 §4.3) of files.
pub(super) fn zip(entries: &[ZipEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let offset = entry.offset.unwrap_or(out.len() as u32);
        out.extend(b"PK\x03\x04\x14\0");
        out.extend(fields(entry, &entry.local_name));
        out.extend(entry.local_name.as_bytes());
        out.extend(&entry.stored);
        directory.extend(b"PK\x01\x02\x14\0\x14\0");
        directory.extend(fields(entry, &entry.name));
        // No comment, the first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(entry.name.as_bytes());
    }
    let start = out.len() as u32;
    let count = (entries.len() as u16).to_le_bytes();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].concat());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// The fields that both headers have.
fn fields(entry: &ZipEntry, name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(entry.flags.to_le_bytes());
    out.extend(entry.method.to_le_bytes());
    // The time.
    out.extend([0; 4]);
    out.extend(entry.crc.to_le_bytes());
    out.extend((entry.stored.len() as u32).to_le_bytes());
    out.extend(entry.length.to_le_bytes());
    out.extend((name.len() as u16).to_le_bytes());
    // No extra field.
    out.extend([0, 0]);
    out
}
