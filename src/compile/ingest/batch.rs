//! A batch: the captures and counts of one thread.

use super::block_captures::{BlockCaptures, intern_texts};
use super::capture_record::{BodyFlags, CaptureRecord, Fetch, FetchAnswer, RobotsBody};
use super::tally::IngestTally;
use super::text_store::TextStore;
use super::url_key::UrlKey;
use crate::archive::capture::{Capture, CapturedResponse, EntryContent};
use crate::archive::captures_file::{CapturesBlock, FIRST_VERSION};
use crate::archive::reader::ArchiveEntry;
use crate::compile::sort::runs::RunWriter;
use crate::error::Result;
use crate::profile::Profile;
use crate::robots::condense::condense;
use crate::snapshot::text::Packer;
use crate::spool::SpoolOptions;

/// Options that all threads share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IngestOptions {
    pub profile: Profile,
    /// Count and skip damage instead of failing.
    pub skip_damaged: bool,
    /// Leave out captures newer than this time, in seconds since 1970.
    pub as_of: Option<i64>,
}

impl IngestOptions {
    /// Whether a capture of this time is left out.
    pub(crate) fn is_too_new(&self, time: Option<i64>) -> bool {
        self.as_of.is_some_and(|as_of| time > Some(as_of))
    }
}

/// The captures and texts of all threads.
#[derive(Debug)]
pub(crate) struct CaptureStore {
    pub texts: TextStore,
    pub runs: RunWriter,
}

impl CaptureStore {
    /// Empty; `run_len` bytes of captures make a run.
    pub(crate) fn new(options: &SpoolOptions, run_len: usize) -> Self {
        Self {
            texts: TextStore::new(options),
            runs: RunWriter::new(options, run_len),
        }
    }
}

/// Decodes captures into a shared store, and counts them.
pub(crate) struct CaptureBatch<'c> {
    options: IngestOptions,
    store: &'c CaptureStore,
    packer: Packer,
    /// Encoded captures that the store has not taken yet.
    records: Vec<u8>,
    pub tally: IngestTally,
}

impl<'c> CaptureBatch<'c> {
    pub(crate) fn new(options: IngestOptions, store: &'c CaptureStore) -> Result<Self> {
        Ok(Self {
            options,
            store,
            packer: Packer::new()?,
            records: Vec::new(),
            tally: IngestTally::default(),
        })
    }

    /// Decodes an archive entry and adds its captures.
    pub(super) fn add_entry(&mut self, entry: ArchiveEntry) -> Result<()> {
        let added = entry.parse().and_then(|content| match content {
            EntryContent::Captures(captures) => captures
                .into_iter()
                .try_for_each(|capture| self.add_capture(capture)),
            EntryContent::Block(block) => self.add_block(&block),
            EntryContent::NotRobots(file) => {
                self.tally.skip_files(1, vec![file]);
                Ok(())
            }
        });
        match added {
            Err(err) if self.options.skip_damaged && err.is_skippable() => {
                self.tally.report.damaged += 1
            }
            added => return added,
        }
        Ok(())
    }

    /// Adds the captures of a block, unless they are too new. Nothing of a damaged block is added.
    fn add_block(&mut self, block: &CapturesBlock) -> Result<()> {
        let content = block.content()?;
        let captures = BlockCaptures::new(block, &content)?;
        // The texts of captures that are too new are not stored.
        let is_kept = |record: &CaptureRecord<'_>| !self.options.is_too_new(record.time());
        let kept_texts = captures
            .records()
            .filter(is_kept)
            .filter_map(|record| record.text());
        let texts = intern_texts(
            block,
            &content,
            kept_texts,
            &self.store.texts,
            &mut self.packer,
            self.options.profile == Profile::Rfc9309,
        )?;
        self.tally.report.cut_texts += texts.cut;
        let is_first_version = block.header.version == FIRST_VERSION;
        let mut kept = 0;
        for record in captures.records().filter(is_kept) {
            kept += 1;
            self.tally.report.undated += u64::from(record.time().is_none());
            let text = record
                .text()
                .and_then(|text| texts.numbers[text.0 as usize]);
            match text {
                text if is_first_version => {
                    record.append_of_first_version(text, &mut self.records);
                }
                Some(text) => record.append_with_text(text, &mut self.records),
                None => self.records.extend_from_slice(record.bytes()),
            }
        }
        if is_first_version {
            self.tally.report.first_version += block.captures();
        }
        self.tally.report.captures += block.captures();
        self.tally.report.too_new += block.captures() - kept;
        self.flush_if_full()
    }

    /// Adds a capture, unless it is too new or its URL is not one.
    pub(crate) fn add_capture(&mut self, mut capture: Capture) -> Result<()> {
        self.tally.report.captures += 1;
        if self.options.is_too_new(capture.time) {
            self.tally.report.too_new += 1;
            return Ok(());
        }
        self.tally.report.undated += u64::from(capture.time.is_none());
        if let Some(key) = capture.unread_key.take() {
            self.tally.unread_key(key, 1);
        }
        // Some archives have other texts in place of a URL.
        let Some(key) = UrlKey::new(&capture.url) else {
            self.tally.report.not_urls += 1;
            return Ok(());
        };
        if capture.has_coded_text {
            let url = String::from_utf8_lossy(&capture.url).into_owned();
            self.tally.coded_texts(1, Some(url));
        }
        let fetch = match capture.answer {
            Err(cause) => Fetch {
                time: capture.time,
                status: 0,
                wait: None,
                answer: FetchAnswer::Unreachable(cause.into()),
            },
            Ok(response) => {
                let CapturedResponse {
                    status,
                    max_age,
                    retry_after,
                    ..
                } = response;
                let answer = self.answer(&capture.url, response)?;
                // Each kind of answer has one header that says when to ask again.
                let wait = match answer {
                    FetchAnswer::ServerError => {
                        retry_after.and_then(|retry| retry.seconds(capture.time))
                    }
                    FetchAnswer::Unreachable(_) => None,
                    _ => max_age,
                };
                Fetch {
                    time: capture.time,
                    status,
                    wait,
                    answer,
                }
            }
        };
        fetch.encode(&key, &mut self.records);
        self.flush_if_full()
    }

    fn flush_if_full(&mut self) -> Result<()> {
        if self.records.len() >= self.store.runs.batch_len() {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// The answer of a response to `url`; the text of a 2xx is interned.
    fn answer(&mut self, url: &[u8], response: CapturedResponse) -> Result<FetchAnswer> {
        if !(200..300).contains(&response.status) {
            return Ok(FetchAnswer::without_body(url, response));
        }
        if let Some(reference) = response.revisit {
            return Ok(FetchAnswer::Revisit(reference));
        }
        let flags = BodyFlags::of(&response);
        self.tally.report.body_bytes += response.body.len() as u64;
        let text = condense(&response.body, response.cut_short);
        let text = self.store.texts.intern(&text, &mut self.packer)?;
        Ok(FetchAnswer::Rules(RobotsBody {
            text,
            flags,
            payload: response.payload,
        }))
    }

    /// Passes the captures to the store.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.store.runs.add(&mut self.records, &self.store.texts)
    }

    /// Both counts; both batches are flushed.
    pub(super) fn merge(mut self, other: Self) -> Self {
        self.tally.merge(other.tally);
        self
    }
}
