//! Robots.txt archives to captures: WARC files, JSON lines, directories of robots.txt files, and
//! captures files.
//!
//! Two steps share the work. [`reader::ArchiveReader`] decompresses an input and cuts it into
//! entries; it must run in order, one thread per input. [`reader::ArchiveEntry::parse`] turns an
//! entry into captures on any thread; decoding bodies takes most of the time, so it happens there.

pub(crate) mod capture;
pub(crate) mod captures_file;
pub(crate) mod coded_text;
pub(crate) mod dir;
mod entry_buffer;
pub(crate) mod http;
mod json_values;
mod jsonl;
mod payload_digest;
pub(crate) mod read_context;
pub(crate) mod reader;
pub(crate) mod warc;
