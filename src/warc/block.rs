//! A block of WARC records: bytes of the input, the records in them, and the results of judging.

use crate::archive::http::headers;
use crate::archive::warc::without_brackets;
use crate::pipeline::Destination;
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::LineBlock;
use crate::records::{ExtractedUrls, keep_unreadable};
use crate::time_text::parse_time_in_utc;
use crate::url::page_url;
use crate::warc::record_parser::RecordParser;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Records of one input, in order.
#[derive(Default)]
pub(super) struct WarcBlock {
    /// The input, for errors.
    pub path: Option<Arc<Path>>,
    pub places: RecordPlaces,
    pub content: BlockContent,
    /// Bytes of a file of gzip members, and their offset in the file.
    pub data: Vec<u8>,
    pub base: u64,
    /// The end of the members of `data` that are cut into records. There is a whole member after it
    /// only if that one is [defective](Self::defect), or too long to be held.
    pub stop: usize,
    /// The reason why the member at `stop` is not a WARC record.
    pub defect: Option<&'static str>,
    /// Text of records that are not copied as gzip members.
    pub texts: Vec<u8>,
    /// The header of each record, and the first bytes of its block.
    pub heads: Vec<u8>,
    pub records: Vec<RecordEntry>,
    pub results: RecordResults,
}

/// The results of judging a block. Each job fills one kind.
#[derive(Default)]
pub(super) struct RecordResults {
    /// The URL of each record, one per line.
    pub urls: ExtractedUrls,
    pub stats: FilterStats,
    /// For a filter: the output that each record gets, gzip members of texts, and index
    /// entries.
    pub outputs: Vec<Option<Destination>>,
    pub encoded: Vec<u8>,
    pub index: Vec<u8>,
    /// For annotating: a line for each record.
    pub lines: Vec<u8>,
    pub annotated: LineBlock,
}

/// Where the records of a block are, for annotations.
#[derive(Clone, Debug, Default)]
pub(super) enum RecordPlaces {
    /// In the input.
    #[default]
    File,
    /// In a file of this name, which is in a WACZ.
    Member(Arc<str>),
    /// Nowhere: they were converted, so an offset leads to nothing.
    Converted,
}

/// The content of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockContent {
    /// Bytes of a file of gzip members in `data`. `is_start` says that a member probably begins at
    /// the first byte.
    Members { is_start: bool },
    /// Whole records in `texts`.
    #[default]
    Texts,
    /// The start of a record that is too long to be held, in `texts`.
    LongText,
    /// The next part of it.
    LongTextRest { is_last: bool },
}

/// The bytes of a record as they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StoredRecord {
    /// A gzip member in `data`, which is copied.
    Member(Range<usize>),
    /// Text in `texts`.
    Text(Range<usize>),
}

/// One record of a block.
#[derive(Clone, Debug)]
pub(super) struct RecordEntry {
    pub stored: StoredRecord,
    /// The offset and the length in the input. In a file of gzip members these are those of the
    /// member; else they count bytes after decompression.
    pub offset: u64,
    pub length: u64,
    /// The length of the text.
    pub text_len: u64,
    pub is_warcinfo: bool,
    /// The header of the record and the first bytes of its block, in `heads`.
    pub head: Range<usize>,
    pub sample: Range<usize>,
    /// The record as a gzip member in `encoded`, if it is compressed here.
    pub encoded: Option<Range<usize>>,
    /// The entry in `index`; empty if there is none.
    pub index: Range<usize>,
}

impl WarcBlock {
    /// Empties the block for other bytes of an input.
    pub(super) fn reset(&mut self, path: &Arc<Path>, content: BlockContent) {
        self.path = Some(Arc::clone(path));
        self.content = content;
        self.data.clear();
        self.base = 0;
        self.stop = 0;
        self.clear_records();
    }

    /// The memory of the bytes, of the records and of the results.
    pub(super) fn bytes_held(&self) -> usize {
        let RecordResults {
            urls,
            encoded,
            index,
            lines,
            annotated,
            ..
        } = &self.results;
        let texts = [&self.data, &self.texts, &self.heads, encoded, index, lines];
        texts.into_iter().map(Vec::capacity).sum::<usize>()
            + self.records.capacity() * size_of::<RecordEntry>()
            + urls.bytes_held()
            + annotated.bytes_held()
    }

    /// Removes the records, and keeps the bytes of the input.
    pub(super) fn clear_records(&mut self) {
        self.texts.clear();
        self.heads.clear();
        self.records.clear();
        self.defect = None;
    }

    /// Adds the record that `parser` has parsed.
    pub(super) fn push(
        &mut self,
        parser: &RecordParser,
        stored: StoredRecord,
        offset: u64,
        length: u64,
    ) {
        let start = self.heads.len();
        self.heads
            .extend_from_slice(parser.head().unwrap_or_default());
        let middle = self.heads.len();
        self.heads.extend_from_slice(parser.sample());
        let [kind] = headers(&self.heads[start..middle], ["WARC-Type"]);
        self.records.push(RecordEntry {
            stored,
            offset,
            length,
            text_len: parser.len(),
            is_warcinfo: kind.is_some_and(|kind| kind.eq_ignore_ascii_case(b"warcinfo")),
            head: start..middle,
            sample: middle..self.heads.len(),
            encoded: None,
            index: 0..0,
        });
    }

    /// Writes the URL by which each record is judged to the results, one per line, and its time if
    /// asked. A `warcinfo` record has no URL.
    pub(super) fn extract_urls(&mut self, with_times: bool) {
        let ExtractedUrls {
            urls,
            times,
            unreadable_time,
            ..
        } = &mut self.results.urls;
        urls.clear();
        times.clear();
        *unreadable_time = None;
        for record in &self.records {
            if !record.is_warcinfo {
                urls.extend_from_slice(url_of(&self.heads, record));
            }
            urls.push(b'\n');
            if with_times {
                times.push(time_of(&self.heads, record, unreadable_time));
            }
        }
    }

    /// Corrects the counts of a block whose `warcinfo` records were judged as invalid, and counts
    /// bytes.
    pub(super) fn settle_stats(&mut self) {
        let warcinfo = self
            .records
            .iter()
            .filter(|record| record.is_warcinfo)
            .count() as u64;
        let stats = &mut self.results.stats;
        stats.lines -= warcinfo;
        stats.invalid -= warcinfo;
        stats.warcinfo = warcinfo;
        stats.blank = 0;
        stats.bytes = self.records.iter().map(|record| record.text_len).sum();
    }
}

/// The URL by which a record is judged: of a secondary record that of its page.
pub(super) fn url_of<'b>(heads: &'b [u8], record: &RecordEntry) -> &'b [u8] {
    page_url(target_of(&heads[record.head.clone()]))
}

/// The time of a record: its `WARC-Date`, in seconds since 1970. The first value that is not a time
/// becomes `unreadable`.
pub(super) fn time_of(
    heads: &[u8],
    record: &RecordEntry,
    unreadable: &mut Option<Box<[u8]>>,
) -> Option<i64> {
    let [date] = headers(&heads[record.head.clone()], ["WARC-Date"]);
    let time = parse_time_in_utc(date?);
    if time.is_none() {
        keep_unreadable(date?, unreadable);
    }
    time
}

/// The URL of a record: the value of its `WARC-Target-URI`, or nothing.
pub(super) fn target_of(head: &[u8]) -> &[u8] {
    let [target] = headers(head, ["WARC-Target-URI"]);
    without_brackets(target.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::record_parser::ParseStep;

    /// A block of the records of a text.
    fn block_of(text: &str) -> WarcBlock {
        let mut block = WarcBlock::default();
        let mut parser = RecordParser::default();
        let mut rest = text.as_bytes();
        loop {
            let (used, step) = parser.feed(rest).unwrap();
            rest = &rest[used..];
            if matches!(step, ParseStep::Next | ParseStep::More) {
                block.push(&parser, StoredRecord::Text(0..0), 0, 0);
                parser.reset();
            }
            if step == ParseStep::More {
                return block;
            }
        }
    }

    #[test]
    fn each_record_has_its_date() {
        let record =
            |fields: &str| format!("WARC/1.1\r\n{fields}\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
        let text: String = [
            "WARC-Type: warcinfo\r\nWARC-Date: 2024-03-05T12:00:00Z",
            "WARC-Type: response\r\nwarc-date: 2024-03-05T12:00:00Z\r\nWARC-Target-URI: https://e.example/a",
            "WARC-Target-URI: <https://e.example/b>\r\nWARC-Date: 2024-03-05T12:00:00.123456Z",
            // WARC/1.1 allows lower precision, and some writers leave the zone out.
            "WARC-Target-URI: https://e.example/c\r\nWARC-Date: 2024-03-05",
            "WARC-Target-URI: https://e.example/d\r\nWARC-Date: 2024-03-05T12:00:00",
            "WARC-Target-URI: https://e.example/e\r\nWARC-Date: 20240305120000",
            "WARC-Target-URI: https://e.example/f",
        ]
        .map(record)
        .concat();
        let mut block = block_of(&text);
        block.extract_urls(true);
        let (noon, night) = (Some(1_709_640_000), Some(1_709_683_199));
        let expected = [noon, noon, noon, night, noon, None, None];
        assert_eq!(block.results.urls.times, expected);
        let urls = block.results.urls.urls.clone();
        assert_eq!(
            urls.iter().filter(|byte| **byte == b'\n').count(),
            expected.len()
        );
        // Without times, the URLs are the same, and none of the times is kept.
        block.extract_urls(false);
        assert_eq!(block.results.urls.urls, urls);
        assert!(block.results.urls.times.is_empty());
    }
}
