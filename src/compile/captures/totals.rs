//! The totals of a captures file, counted by its writer and by its verification.

use crate::archive::captures_file::CapturesCounts;
use crate::compile::ingest::capture_record::CaptureRecord;
use crate::compile::sort::table::CaptureCounter;
use crate::time_span::TimeSpan;

/// Counts sorted captures and distinct texts.
#[derive(Default)]
pub(super) struct TotalsCounter {
    captures: CaptureCounter,
    /// The counts that are not kept there.
    others: CapturesCounts,
}

impl TotalsCounter {
    pub(super) fn count(&mut self, record: &CaptureRecord<'_>) {
        self.captures.count(record);
        let Some(time) = record.time() else {
            self.others.undated += 1;
            return;
        };
        self.others.captured = Some(TimeSpan::extended(self.others.captured, time));
    }

    /// Counts a text that was not counted before.
    pub(super) fn count_text(&mut self, raw_len: u32) {
        self.others.texts += 1;
        self.others.text_bytes += u64::from(raw_len);
    }

    pub(super) fn totals(&self) -> CapturesCounts {
        let counts = self.captures.counts;
        CapturesCounts {
            captures: counts.captures,
            origins: counts.origins,
            other_urls: counts.other_urls,
            ..self.others
        }
    }
}
