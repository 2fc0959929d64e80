//! Bodies by digest: a WARC `revisit` record refers to the body of another record (WARC/1.1 §6.7).
//!
//! A crawler that finds a body again, at the same URL or at another, stores its digest only. The
//! record with the body may be in any input, before or after, or in the previous snapshot. So all
//! digests are sorted as captures are, in bounded memory, and looked up when histories are built.
//! That is done only if an input has such a `revisit` record.

use crate::archive::capture::{BODY_OF_OTHER_URL, PayloadReference};
use crate::compile::incremental::previous_urls::PreviousUrls;
use crate::compile::ingest::capture_record::{CaptureRecord, Fetch, FetchAnswer, RobotsBody};
use crate::compile::ingest::text_store::{TextDigests, Texts};
use crate::compile::ingest::url_key::UrlKey;
use crate::compile::progress::ShowProgress;
use crate::compile::sort::merge::merge_runs;
use crate::compile::sort::runs::RunWriter;
use crate::compile::sort::table::SortedTable;
use crate::digest::Digest;
use crate::error::Result;
use crate::spool::SpoolOptions;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bodies of all inputs by digest; empty if no `revisit` record needs one.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    /// A record per digest and text. Its key is the digest in place of a URL.
    table: Option<SortedTable>,
    /// The `revisit` records of robots.txt files whose body is in no input.
    missing: AtomicU64,
}

/// The cause of a failure: the digest cannot tell which body is meant.
const SEVERAL_BODIES: &str = "a revisit record whose digest is that of different bodies";

impl Payloads {
    /// Sorts the digests of all captures, and of the previous snapshot.
    ///
    /// # Errors
    /// I/O errors of temporary data; damage in the previous snapshot.
    pub(crate) fn new(
        captures: &SortedTable,
        previous: Option<&PreviousUrls<'_>>,
        texts: &Texts,
        spools: &SpoolOptions,
        run_len: usize,
        progress: &ShowProgress<'_>,
    ) -> Result<Self> {
        if captures.counts.revisits == 0 {
            return Ok(Self::default());
        }
        let runs = RunWriter::new(spools, run_len);
        let mut records = Vec::new();
        let mut add = |body: RobotsBody| {
            if let Some(digest) = body.payload {
                record_of(body).encode(&key_of(digest), &mut records);
            }
            if records.len() < runs.batch_len() {
                return Ok(());
            }
            runs.add(&mut records, texts)
        };
        let mut reader = captures.reader()?;
        while let Some(capture) = reader.next_capture()? {
            if let FetchAnswer::Rules(body) = capture.answer {
                add(body)?;
            }
        }
        if let Some(previous) = previous {
            previous.for_each_payload(&mut add)?;
        }
        runs.add(&mut records, texts)?;
        let runs = runs.finish(texts)?;
        // Sites share bodies, so most records are equal to the one before.
        let last = RefCell::new(Vec::new());
        let is_repeated = |record: &CaptureRecord<'_>| {
            let mut last = last.borrow_mut();
            if *last == record.bytes() {
                return true;
            }
            last.clear();
            last.extend_from_slice(record.bytes());
            false
        };
        let table = merge_runs(&runs, spools, texts, is_repeated, progress)?;
        Ok(Self {
            table: Some(table),
            missing: AtomicU64::new(0),
        })
    }

    /// The number of `revisit` records of robots.txt files whose body is in no input.
    pub(crate) fn missing(&self) -> u64 {
        self.missing.load(Ordering::Relaxed)
    }

    /// Replaces the answers of `revisit` records by those that they stand for, and sorts again.
    /// `captures` are those of one URL, newest first. `is_counted`: count those without a body.
    ///
    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn resolve(
        &self,
        captures: &mut [Fetch],
        texts: &dyn TextDigests,
        is_counted: bool,
    ) -> Result<()> {
        let mut is_changed = false;
        for capture in &mut *captures {
            if let FetchAnswer::Revisit(reference) = capture.answer {
                let body = self.find(reference.digest)?;
                if is_counted && body == Found::Nothing {
                    self.missing.fetch_add(1, Ordering::Relaxed);
                }
                resolve_one(capture, reference, body);
                is_changed = true;
            }
        }
        if is_changed {
            captures.sort_by(|a, b| a.order(b, texts));
        }
        Ok(())
    }

    fn find(&self, digest: Digest) -> Result<Found> {
        let Some(table) = &self.table else {
            return Ok(Found::Nothing);
        };
        let mut found = Found::Nothing;
        table.for_each_of(&key_of(digest), |record| {
            let FetchAnswer::Rules(body) = record.decode().answer else {
                return true;
            };
            found = match found {
                Found::Nothing => Found::Body(body),
                // Records sort by text, so the last one shows whether there are several.
                Found::Body(first) if first.text == body.text => Found::Body(first),
                _ => Found::Several,
            };
            found != Found::Several
        })?;
        Ok(found)
    }
}

/// The key of a digest. No URL has such an origin.
fn key_of(digest: Digest) -> UrlKey {
    UrlKey::from_parts(&digest, digest.len() as u16)
}

/// The record of a body, which has its digest as the key.
fn record_of(body: RobotsBody) -> Fetch {
    Fetch {
        time: None,
        status: 200,
        wait: None,
        answer: FetchAnswer::Rules(RobotsBody {
            payload: None,
            ..body
        }),
    }
}

/// The bodies with one digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Body(RobotsBody),
    /// Archives with errors, or a forged digest: no body can be trusted.
    Several,
}

fn resolve_one(capture: &mut Fetch, reference: PayloadReference, found: Found) {
    let cause = match found {
        Found::Body(RobotsBody { text, flags, .. }) => {
            capture.answer = FetchAnswer::Rules(RobotsBody {
                text,
                flags,
                payload: Some(reference.digest),
            });
            return;
        }
        Found::Several => SEVERAL_BODIES,
        Found::Nothing if reference.of_other_url => BODY_OF_OTHER_URL,
        Found::Nothing => {
            // The copy that the crawler had is that of the URL itself.
            capture.status = 304;
            capture.answer = FetchAnswer::NotModified;
            return;
        }
    };
    *capture = Fetch {
        time: capture.time,
        status: 0,
        wait: None,
        answer: FetchAnswer::Unreachable(cause.into()),
    };
}
