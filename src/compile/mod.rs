//! Archives to a snapshot.
//!
//! `ingest` reads archives on all cores and interns files and rule sets; `rule_sets` merges the
//! groups of a file. `resolve` decides each origin's outcome, with an earlier snapshot from
//! `incremental` if there is one. `number` numbers the result for the snapshot's writer.

mod incremental;
mod ingest;
mod number;
mod report;
mod resolve;
mod response;
mod rule_sets;

pub use ingest::readers::CompileProgress;
pub use report::CompileReport;
pub use response::{FetchResult, HttpResponse};

use crate::archive::reader::{self, ArchiveInput};
use crate::atomic::AtomicFile;
use crate::atomic::output_file::OutputFile;
use crate::error::{ErrorKind, Result};
use crate::profile::Profile;
use crate::robots::condense::CondensedText;
use crate::snapshot::text::Packer;
use crate::snapshot::{Snapshot, write};
use crate::url::Origin;
use incremental::dedup::dedup;
use incremental::previous::PreviousSnapshot;
use incremental::previous_urls::PreviousUrls;
use ingest::batch::{CaptureBatch, IngestOptions, append};
use ingest::fetch::{Fetch, Fetches};
use ingest::file_store::{FileStore, InternedFile};
use ingest::readers::ArchiveIngest;
use ingest::tally::IngestTally;
use number::contents::NumberedContents;
use number::origins::{MergedOrigins, PreviousFiles};
use rayon::prelude::*;
use resolve::resolved_origin::ResolvedOrigin;
use resolve::resolver;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Compiles robots.txt archives into a snapshot.
///
/// Add archives in any order, then [`finish`](Self::finish): the snapshot depends neither on the
/// order nor on the number of threads. Parsing runs on the current rayon thread pool, which a
/// program should cap at [`max_threads`](crate::threads::max_threads); half as many additional
/// threads read archives. Memory: the size of the snapshot, and about 750 bytes per capture.
///
/// ```
/// use robosieve::{Compiler, Profile};
/// let mut compiler = Compiler::new(Profile::Google);
/// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /private")?;
/// compiler.add_robots("http://e.example", b"user-agent: *\ndisallow: /private")?;
/// let compiled = compiler.finish()?;
/// assert_eq!((compiled.report().counts.origins, compiled.report().counts.files), (2, 1));
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Compiler {
    options: IngestOptions,
    previous: Option<PreviousSnapshot>,
    store: FileStore,
    fetches: Vec<Fetch>,
    tally: IngestTally,
}

/// Files of the previous snapshot per task that compiles them again.
const FILES_PER_TASK: u32 = 256;

/// Responses per task that parses them.
const RESPONSES_PER_TASK: usize = 512;

impl Compiler {
    /// A compiler for one profile.
    pub fn new(profile: Profile) -> Self {
        Self { options: IngestOptions { profile, ..IngestOptions::default() }, ..Self::default() }
    }

    /// Whether to skip and count damaged places instead of failing at the first; off by default.
    ///
    /// A damaged gzip member loses that member, a damaged JSON line loses that line. Reading
    /// resumes after it.
    pub fn skip_damaged(mut self, skip: bool) -> Self {
        self.options.skip_damaged = skip;
        self
    }

    /// Leaves out captures newer than `time`, in seconds since 1970; the report counts them.
    ///
    /// Use it to judge an earlier crawl by the rules of its time. Captures of unknown time stay,
    /// and are counted too. Calling it before archives are added saves work.
    ///
    /// ```
    /// let archive = br#"{"url": "https://e.example/robots.txt", "body": "", "fetched_at": "1970-01-01T00:01:01Z"}"#;
    /// let mut compiler = robosieve::Compiler::default().as_of(60);
    /// compiler.add_reader("memory", archive.as_slice())?;
    /// let report = compiler.finish()?.report().clone();
    /// assert_eq!((report.captures, report.too_new, report.counts.origins), (1, 1, 0));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn as_of(mut self, time: impl Into<Option<i64>>) -> Self {
        self.options.as_of = time.into();
        self
    }

    /// Starts from an earlier snapshot, as if its archives were added again.
    ///
    /// Origins without a newer capture stay as they are in `old`: with their outcomes, last good
    /// copies, first failures and robots.txt texts. The bytes depend neither on when this is called
    /// nor on the order of the archives. Without archives, and for the same profile, they are the
    /// bytes of `old`.
    ///
    /// A new failure keeps the copy in `old` as the last good one, and the time of the first
    /// failure. Redirects are followed from the archives to `old` and back; for redirects in `old`
    /// only the final URL is known. A snapshot of another profile or version is compiled again from
    /// its texts.
    ///
    /// Costs one [`verify`](Snapshot::verify): reads the whole file, decompresses every text and
    /// looks up every origin, on all threads. The file is read in place, not copied, until the new
    /// snapshot is written, which may have the same name. A second call replaces the first.
    ///
    /// ```
    /// use robosieve::{Compiler, Origin, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://a.example", b"user-agent: *\ndisallow: /x")?;
    /// let old = compiler.finish()?.to_vec()?;
    ///
    /// let mut compiler = Compiler::default().previous(Snapshot::new(old)?)?;
    /// let failed = br#"{"url": "https://a.example/robots.txt", "status": 503, "fetched_at": "2026-02-01T06:00:00Z"}"#;
    /// compiler.add_reader("failed", failed.as_slice())?;
    /// let new = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let origin = Origin::of(b"https://a.example/").expect("a URL");
    /// let entry = new.origin(&origin)?.expect("an origin");
    /// assert_eq!((entry.outcome().status, entry.has_last_good()), (503, true));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for a wrong checksum, or for sections that contradict each other;
    /// [`ErrorKind::BadPrevious`] if it has captures newer than [`as_of`](Self::as_of).
    pub fn previous(mut self, old: Snapshot) -> Result<Self> {
        self.previous = Some(PreviousSnapshot::new(old)?);
        self.check_as_of()?;
        Ok(self)
    }

    fn check_as_of(&self) -> Result<()> {
        match (&self.previous, self.options.as_of) {
            (Some(previous), Some(as_of)) => previous.check_as_of(as_of),
            _ => Ok(()),
        }
    }

    /// Adds one archive: a WARC or JSONL file (plain, gzip, zstd), a directory, or `-` for standard
    /// input.
    ///
    /// A directory holds archives, whose names end in `.warc`, `.jsonl` or `.ndjson` (`.gz`, `.zst`
    /// may follow), or else robots.txt files named after their hosts.
    ///
    /// # Errors
    /// Unreadable or damaged input, with file and place. Drop the compiler after an error.
    pub fn add_path(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.add_paths(&[path.as_ref().to_owned()], &|_| {})
    }

    /// Adds archives, several at a time; `progress` is called repeatedly, from any thread.
    ///
    /// # Errors
    /// As [`add_path`](Self::add_path); of several failures, that of the first input.
    pub fn add_paths(&mut self, paths: &[PathBuf], progress: &(dyn Fn(CompileProgress) + Sync)) -> Result<()> {
        let paths = reader::expand(paths)?;
        self.add_inputs(paths.iter().map(|path| ArchiveInput::Path(path)).collect(), progress)
    }

    /// Adds one archive from a reader: WARC or JSONL, plain, gzip or zstd. `name` is for errors.
    ///
    /// ```
    /// let archive = br#"{"url": "https://e.example/robots.txt", "status": 200, "body": "user-agent: *\ndisallow: /x"}"#;
    /// let mut compiler = robosieve::Compiler::default();
    /// compiler.add_reader("memory", archive.as_slice())?;
    /// assert_eq!(compiler.finish()?.report().counts.outcome_rules, 1);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`add_path`](Self::add_path).
    pub fn add_reader(&mut self, name: impl AsRef<Path>, reader: impl Read + Send) -> Result<()> {
        self.add_inputs(vec![ArchiveInput::Reader(name.as_ref(), Box::new(reader))], &|_| {})
    }

    fn add_inputs(&mut self, inputs: Vec<ArchiveInput<'_>>, progress: &(dyn Fn(CompileProgress) + Sync)) -> Result<()> {
        let batch = ArchiveIngest::new(self.options, &self.store, inputs, progress).run()?;
        self.tally.merge(batch.tally);
        append(&mut self.fetches, batch.fetches);
        Ok(())
    }

    /// Adds one robots.txt, with status 200 at an unknown time; `origin` is any URL of the site.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`] if `origin` is not a URL.
    pub fn add_robots(&mut self, origin: &str, body: &[u8]) -> Result<()> {
        let origin = origin_of(origin)?;
        self.add_response(&format!("{origin}/robots.txt"), HttpResponse::new(200).body(body))
    }

    /// Adds the response to one request; `url` is the URL that was requested, such as
    /// `https://e.example/robots.txt`. A redirect is followed if its target is added too.
    ///
    /// The call runs on one thread. Many responses at once ([`add_responses`](Self::add_responses))
    /// are parsed on all cores.
    ///
    /// ```
    /// use robosieve::compile::HttpResponse;
    /// use robosieve::Compiler;
    /// let mut compiler = Compiler::default();
    /// let found = HttpResponse::new(200).body(b"user-agent: *\ndisallow: /x");
    /// compiler.add_response("https://a.example/robots.txt", found)?;
    /// compiler.add_response("https://b.example/robots.txt", HttpResponse::new(404))?;
    /// compiler.add_failure("https://c.example/robots.txt", "connection refused", None)?;
    /// assert_eq!(compiler.finish()?.report().counts.origins, 3);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`] if `url` is not a URL.
    pub fn add_response(&mut self, url: &str, response: HttpResponse<'_>) -> Result<()> {
        origin_of(url)?;
        self.add_responses(&[(url.as_bytes(), FetchResult::Response(response))])
    }

    /// Adds a request that got no HTTP response; `cause` says why in a few words. It counts like a
    /// server error (RFC 9309 §2.3.1.4).
    ///
    /// # Errors
    /// As [`add_response`](Self::add_response).
    pub fn add_failure(&mut self, url: &str, cause: &str, fetched_at: Option<i64>) -> Result<()> {
        origin_of(url)?;
        self.add_responses(&[(url.as_bytes(), FetchResult::Failure { cause, fetched_at })])
    }

    /// Adds the results of many requests, each with the URL that was requested, on all threads of
    /// the current rayon pool. A URL that is none is left out and counted
    /// ([`CompileReport::not_urls`]), as in an archive.
    ///
    /// ```
    /// use robosieve::compile::{FetchResult, HttpResponse};
    /// use robosieve::Compiler;
    /// let found = FetchResult::Response(HttpResponse::new(404));
    /// let mut compiler = Compiler::default();
    /// compiler.add_responses(&[(b"https://a.example/robots.txt", found), (b"a.example", found)])?;
    /// let report = compiler.finish()?.report().clone();
    /// assert_eq!((report.counts.origins, report.captures, report.not_urls), (1, 2, 1));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for more distinct files than a snapshot can hold.
    pub fn add_responses(&mut self, fetched: &[(&[u8], FetchResult<'_>)]) -> Result<()> {
        let add = |fetched: &[(&[u8], FetchResult<'_>)]| -> Result<_> {
            let mut batch = CaptureBatch::new(self.options, &self.store)?;
            for (url, result) in fetched {
                let capture = result.capture(url);
                batch.tally.report.bytes_in += capture.answer.as_ref().map_or(0, |response| response.body.len() as u64);
                batch.add_capture(capture)?;
            }
            Ok((batch.tally, batch.fetches))
        };
        let batches: Vec<_> = fetched.par_chunks(RESPONSES_PER_TASK).map(add).collect::<Result<_>>()?;
        for (tally, fetches) in batches {
            self.tally.merge(tally);
            append(&mut self.fetches, fetches);
        }
        Ok(())
    }

    /// Decides every origin's outcome and numbers the distinct files and rule sets.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for more than four billion origins or files;
    /// [`ErrorKind::BadPrevious`] for damage in the previous snapshot that its checksums do not
    /// show, or for captures in it that are too new.
    pub fn finish(mut self) -> Result<Compiled> {
        self.check_as_of()?;
        let mut report = std::mem::take(&mut self.tally).report;
        let mut fetches = std::mem::take(&mut self.fetches);
        let before = fetches.len();
        fetches.retain(|fetch| !self.options.is_too_new(fetch.time));
        report.too_new += (before - fetches.len()) as u64;
        let fetches = Fetches::new(fetches);
        let previous_urls = self.previous.as_ref().map(|previous| PreviousUrls::new(previous, &fetches)).transpose()?;
        let resolved = resolver::resolve_all(&fetches, previous_urls.as_ref())?;
        drop(previous_urls);
        report.profile = self.options.profile;
        report.other_urls = fetches.other_urls();
        report.superseded = fetches.len() - report.other_urls - resolved.by_capture;
        report.outdated = resolved.outdated;
        // Numbering runs on one thread, and freeing millions of captures takes time: both at once.
        let (contents, ()) = rayon::join(|| self.number(resolved.origins), || drop(fetches));
        let (contents, inherited) = contents?;
        (report.counts, report.taken_over) = (contents.counts, inherited);
        Ok(Compiled { contents, report })
    }

    /// Numbers the contents; also returns the number of inherited origins.
    fn number(self, origins: Vec<ResolvedOrigin>) -> Result<(NumberedContents, u64)> {
        let origins = MergedOrigins::new(origins, self.previous.as_ref())?;
        let recompiled = self.recompile_previous()?;
        if let Some(previous) = self.previous.as_ref().filter(|_| recompiled.is_empty()) {
            let (files, sets) = self.store.into_parts();
            dedup(previous, &files, &sets)?;
        }
        let inherited = origins.inherited();
        let profile = self.options.profile;
        let previous = PreviousFiles { snapshot: self.previous, recompiled };
        Ok((NumberedContents::new(profile, origins, previous)?, inherited))
    }

    /// Compiles the files of the previous snapshot again, if its rule sets cannot be copied.
    fn recompile_previous(&self) -> Result<Vec<Arc<InternedFile>>> {
        let profile = self.options.profile;
        let Some(previous) = self.previous.as_ref().filter(|previous| !previous.is_reusable(profile)) else {
            return Ok(Vec::new());
        };
        let count = previous.snapshot.file_count();
        let compile = |task: u32| -> Result<Vec<Arc<InternedFile>>> {
            let mut packer = Packer::new()?;
            let rows = task * FILES_PER_TASK..(task + 1).saturating_mul(FILES_PER_TASK).min(count);
            rows.map(|row| {
                self.store.intern_text(&CondensedText::of(&previous.text(row)?, false), profile, &mut packer)
            })
            .collect()
        };
        let files: Vec<_> = (0..count.div_ceil(FILES_PER_TASK)).into_par_iter().map(compile).collect::<Result<_>>()?;
        Ok(files.into_iter().flatten().collect())
    }
}

fn origin_of(url: &str) -> Result<Origin> {
    let unknown = || ErrorKind::UnknownSource { what: format!("{url:?} is not a URL") };
    Ok(Origin::of(url.as_bytes()).ok_or_else(unknown)?)
}

/// A compiled snapshot, ready to be written.
#[derive(Debug)]
pub struct Compiled {
    contents: NumberedContents,
    report: CompileReport,
}

impl Compiled {
    /// Counts of the input and of the content; writing fills in the output's size.
    pub fn report(&self) -> &CompileReport {
        &self.report
    }

    /// Writes the snapshot to `path`, and replaces an existing file.
    ///
    /// It writes to a temporary name, calls fsync and renames, so the file appears whole or not at
    /// all.
    ///
    /// # Errors
    /// I/O errors with the file's name; [`ErrorKind::TooLarge`].
    pub fn write_to(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut file = AtomicFile::create(path)?;
        self.write(&mut file).map_err(|err| err.at(path))?;
        file.commit()
    }

    /// Writes the snapshot to a new file, which appears on commit: alone, or together with others
    /// ([`OutputFile::commit_all`]).
    ///
    /// # Errors
    /// As [`write_to`](Self::write_to); a file name with a compressed ending.
    pub fn write_into(&mut self, file: &mut OutputFile) -> Result<()> {
        self.write(file.uncompressed()?)
    }

    fn write(&mut self, file: &mut AtomicFile) -> Result<()> {
        if file.is_stream() {
            // Sections are written out of order, which a stream cannot, so they are gathered first.
            let bytes = self.to_vec()?;
            self.report.bytes_out = bytes.len() as u64;
            return Ok(file.write_all(&bytes)?);
        }
        self.report.bytes_out = write::write(&self.contents, file)?;
        Ok(())
    }

    /// The snapshot's bytes in memory, for [`Snapshot::new`](crate::Snapshot::new).
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`].
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut out = Cursor::new(Vec::new());
        write::write(&self.contents, &mut out)?;
        Ok(out.into_inner())
    }
}
