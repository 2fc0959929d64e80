//! Archives to a snapshot, in bounded memory.
//!
//! `ingest` reads archives on all cores: texts go to a store of distinct ones, captures to sorted
//! runs. `sort` merges the runs into one table. `build` passes over the table in the order of
//! origins: `resolve` decides each origin's outcome, with an earlier snapshot from `incremental` if
//! there is one, and `file_compiler` parses the texts that are needed. `captures` writes the sorted
//! captures to a file instead.

mod as_of;
mod build;
mod captures;
mod file_compiler;
mod history;
mod incremental;
mod ingest;
mod new_failures;
mod progress;
mod report;
mod resolve;
mod response;
mod rule_sets;
mod sort;

pub use crate::archive::captures_file::{CAPTURES_FORMAT_VERSION, CapturesCounts};
pub use crate::archive::http::decode_body;
pub use captures::file::CapturesFile;
pub use progress::{CompilePhase, CompileProgress};
pub use report::{CapturesReport, CompileReport};
pub use response::{FetchResult, HttpResponse};

use crate::archive::reader::{self, ArchiveInput};
use crate::atomic::output_file::OutputFile;
use crate::atomic::{AtomicFile, CommitCheck};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use crate::snapshot::write::SnapshotSections;
use crate::spool::SpoolOptions;
use crate::url::Origin;
use build::{BuildInputs, BuiltSnapshot, build};
use captures::write::CapturesWriter;
use history::HistoryCounts;
use incremental::previous::PreviousSnapshot;
use incremental::previous_urls::PreviousUrls;
use ingest::batch::{CaptureBatch, CaptureStore, IngestOptions};
use ingest::readers::ArchiveIngest;
use ingest::tally::IngestTally;
use new_failures::{DEFAULT_MAX_FAILING, NewFailures};
use rayon::prelude::*;
use resolve::payloads::Payloads;
use sort::merge::{merge_runs, merge_with_progress};
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Compiles robots.txt archives into a snapshot.
///
/// Add archives in any order, then [`finish`](Self::finish): the snapshot depends neither on the
/// order nor on the number of threads. Work runs on the current rayon thread pool, which a program
/// should cap at [`max_threads`](crate::threads::max_threads); half as many additional threads read
/// archives.
///
/// Memory: [`memory`](Self::memory), and about 50 bytes per capture. Beyond that, data go to
/// temporary files in [`temp_dir`](Self::temp_dir), which have no name and vanish with the process.
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
    memory: Option<u64>,
    temp_dir: Option<PathBuf>,
    previous: Option<PreviousSnapshot>,
    max_failing: Option<f64>,
    with_history: bool,
    /// Created with the first capture.
    store: OnceLock<CaptureStore>,
    tally: IngestTally,
}

/// Responses per task that decodes them.
const RESPONSES_PER_TASK: usize = 512;

/// The default of [`Compiler::memory`].
const DEFAULT_MEMORY: u64 = 1 << 30;

/// The memory has this many parts. A run of captures takes one, and half of another for its sort;
/// a second run is filled meanwhile. A spool takes half of one: at most twelve hold data at once.
const MEMORY_PARTS: u64 = 9;

/// The longest run of captures: 512 MiB.
const MAX_RUN_LEN: u64 = 512 << 20;

impl Compiler {
    /// A compiler for one profile.
    pub fn new(profile: Profile) -> Self {
        Self {
            options: IngestOptions {
                profile,
                ..IngestOptions::default()
            },
            ..Self::default()
        }
    }

    /// How many bytes of captures, texts and sections may stay in memory; 1 GiB by default.
    ///
    /// The snapshot does not depend on it. Call it before archives are added: a part of it is used
    /// from the first capture on. About 50 bytes per capture come on top.
    ///
    /// ```
    /// let mut compiler = robosieve::Compiler::default().memory(64 << 20);
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /private")?;
    /// assert_eq!(compiler.finish()?.report().counts.origins, 1);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The directory of temporary files; by default that of the system
    /// ([`std::env::temp_dir`]). Call it before archives are added.
    ///
    /// Ten million captures take less than 10 GB there. Small compilations write nothing.
    pub fn temp_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.temp_dir = Some(dir.into());
        self
    }

    fn spools(&self) -> SpoolOptions {
        let dir = self.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let part = self.memory.unwrap_or(DEFAULT_MEMORY) / MEMORY_PARTS;
        SpoolOptions::new(dir, usize::try_from(part / 2).unwrap_or(usize::MAX))
    }

    /// The store of captures, which is created if there is none.
    fn store(&self) -> &CaptureStore {
        self.store.get_or_init(|| self.new_store())
    }

    fn new_store(&self) -> CaptureStore {
        CaptureStore::new(&self.spools(), self.run_len())
    }

    /// The bytes of captures that make a run.
    fn run_len(&self) -> usize {
        let part = self.memory.unwrap_or(DEFAULT_MEMORY) / MEMORY_PARTS;
        part.min(MAX_RUN_LEN) as usize
    }

    /// Whether to skip and count damaged places instead of failing at the first; off by default.
    ///
    /// A damaged gzip member loses that member, a damaged JSON line loses that line, and a damaged
    /// block of a captures file loses the captures in it. Reading resumes after it. A WARC record
    /// with a false `Content-Length` loses that record: reading resumes at the next gzip member or
    /// zstd frame, or in a plain file at the next record. What follows is lost only in a stream, in
    /// a file that is compressed as a whole, and in a plain file that does not end with a record.
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
    /// let archive = br#"
    ///     {"url": "https://e.example/robots.txt", "body": "", "fetched_at": "1970-01-01T00:01:00Z"}
    ///     {"url": "https://f.example/robots.txt", "body": "", "fetched_at": "1970-01-01T00:01:01Z"}"#;
    /// let mut compiler = robosieve::Compiler::default().as_of(60);
    /// compiler.add_reader("memory", archive.as_slice())?;
    /// let report = compiler.finish()?.report().clone();
    /// assert_eq!((report.captures, report.too_new, report.counts.origins), (2, 1, 1));
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
    /// With [`history`](Self::history), `old` is continued as a history. One that has a history needs
    /// that.
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

    /// The share of captured origins that may fail although they answered before, from 0 to 1; 0.2
    /// by default, and 1 accepts everything.
    ///
    /// It guards a crawl against an outage of its own: a fetcher without a network records every
    /// site as a failure, and a snapshot of these disallows all of them. With
    /// [`previous`](Self::previous), [`finish`](Self::finish) fails if more than this share of the
    /// captured origins that answered in the previous snapshot have 429, 5xx or a network error
    /// now. Fewer than 100 such origins are always accepted. The report has the counts
    /// ([`newly_failing`](CompileReport::newly_failing)). A value that is not a number accepts no
    /// failure.
    ///
    /// ```
    /// use robosieve::{Compiler, ErrorKind, Snapshot};
    /// let mut compiler = Compiler::default();
    /// for site in 0..100 {
    ///     compiler.add_robots(&format!("https://{site}.example"), b"user-agent: *\ndisallow: /x")?;
    /// }
    /// let old = compiler.finish()?.to_vec()?;
    ///
    /// let night = |max_failing: f64| {
    ///     let old = Snapshot::new(old.clone())?;
    ///     let mut compiler = Compiler::default().previous(old)?.max_failing(max_failing);
    ///     for site in 0..30 {
    ///         compiler.add_failure(&format!("https://{site}.example/robots.txt"), "dns", Some(1))?;
    ///     }
    ///     for site in 30..100 {
    ///         compiler.add_failure(&format!("https://{site}.example/robots.txt"), "timeout", Some(1))?;
    ///     }
    ///     compiler.finish()
    /// };
    /// let err = night(0.2).unwrap_err();
    /// assert!(matches!(err.kind(), ErrorKind::TooManyFailing(_)));
    /// assert!(err.to_string().contains("timeout 70, dns 30"));
    /// assert_eq!(night(1.0)?.report().newly_failing, 100);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn max_failing(mut self, share: f64) -> Self {
        self.max_failing = Some(share);
        self
    }

    /// Keeps every version of every site's answers, so that a judge can ask for the rules in force at
    /// any time ([`JudgeOptions::as_of`](crate::JudgeOptions::as_of)); off by default.
    ///
    /// The verdict as of a time is that of a snapshot compiled with [`as_of`](Self::as_of) that time
    /// and judged [`at`](crate::JudgeOptions::at) it. Nothing else changes: without a time, verdicts
    /// are those of the newest versions. Captures of URLs that redirects lead to count too.
    ///
    /// With [`previous`](Self::previous), the captures continue the history of that snapshot, as if all
    /// were compiled at once: each must be newer than what that has of the same URL. Answers of a
    /// snapshot without a history become the first versions.
    ///
    /// Cost: some 30 bytes a version in the snapshot, the difference between an old text and a newer
    /// one, and the rules of each old text of up to 8,192 bytes that no other text has: some 400 bytes
    /// for a robots.txt of 2 KB that changes each day. A text is parsed and compressed once; again if
    /// a history is continued. Memory: some 150 bytes for each URL, other than a robots.txt of an
    /// origin, that redirects lead to.
    ///
    /// ```
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
    /// let archive = br#"
    ///     {"url": "https://e.example/robots.txt", "body": "user-agent: *\ndisallow: /", "fetched_at": "2026-03-01T00:00:00Z"}
    ///     {"url": "https://e.example/robots.txt", "body": "", "fetched_at": "2026-05-01T00:00:00Z"}"#;
    /// let mut compiler = Compiler::default().history(true);
    /// compiler.add_reader("memory", archive.as_slice())?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let in_april = 1_775_000_000;
    /// for (time, expected) in [(None, Verdict::Allowed), (Some(in_april), Verdict::Disallowed)] {
    ///     let options = JudgeOptions::default().as_of(time);
    ///     let judge = Judge::new(snapshot.clone(), &["FooBot".parse()?], options)?;
    ///     assert_eq!(judge.judge(b"https://e.example/")?.get(0), expected);
    /// }
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn history(mut self, keep: bool) -> Self {
        self.with_history = keep;
        self
    }

    fn check_as_of(&self) -> Result<()> {
        match (&self.previous, self.options.as_of) {
            (Some(previous), Some(as_of)) => previous.check_as_of(as_of),
            _ => Ok(()),
        }
    }

    /// Adds one archive: a WARC or JSONL file (plain, gzip, zstd), a captures file
    /// ([`write_captures`](Self::write_captures)), a directory, or `-` for standard input.
    ///
    /// A directory holds archives, whose names end in `.warc`, `.jsonl`, `.ndjson` or `.captures`
    /// (`.gz`, `.zst` may follow), or else robots.txt files named after their hosts, or in
    /// directories named so. Other files are left out, and counted.
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
    pub fn add_paths(
        &mut self,
        paths: &[PathBuf],
        progress: &(dyn Fn(CompileProgress) + Sync),
    ) -> Result<()> {
        let found = reader::expand(paths)?;
        let inputs = found.archives.iter().map(|path| ArchiveInput::Path(path));
        self.add_inputs(inputs.collect(), progress)?;
        self.tally
            .skip_files(found.left_out.len() as u64, found.left_out);
        Ok(())
    }

    /// Adds one archive from a reader: WARC, JSONL or captures, plain, gzip or zstd. `name` is for
    /// errors.
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
        self.add_inputs(
            vec![ArchiveInput::Reader(name.as_ref(), Box::new(reader))],
            &|_| {},
        )
    }

    fn add_inputs(
        &mut self,
        inputs: Vec<ArchiveInput<'_>>,
        progress: &(dyn Fn(CompileProgress) + Sync),
    ) -> Result<()> {
        let tally = ArchiveIngest::new(self.options, self.store(), inputs, progress)
            .run()?
            .tally;
        self.tally.merge(tally);
        Ok(())
    }

    /// Adds one robots.txt, with status 200 at an unknown time; `origin` is any URL of the site.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`] if `origin` is not a URL.
    pub fn add_robots(&mut self, origin: &str, body: &[u8]) -> Result<()> {
        let origin = origin_of(origin)?;
        self.add_response(
            &format!("{origin}/robots.txt"),
            HttpResponse::new(200).body(body),
        )
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
    /// the current rayon pool. A text that is not a URL is left out and counted
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
        let store = self.store();
        let tallies: Vec<_> = fetched
            .par_chunks(RESPONSES_PER_TASK)
            .map(|fetched| {
                let mut batch = CaptureBatch::new(self.options, store)?;
                for (url, result) in fetched {
                    let capture = result.capture(url);
                    batch.tally.report.bytes_in += capture
                        .answer
                        .as_ref()
                        .map_or(0, |response| response.body.len() as u64);
                    batch.add_capture(capture)?;
                }
                batch.flush()?;
                Ok(batch.tally)
            })
            .collect::<Result<_>>()?;
        tallies
            .into_iter()
            .for_each(|tally| self.tally.merge(tally));
        Ok(())
    }

    /// Writes the captures to a captures file instead of compiling them, and replaces an existing
    /// file. Later compilations read it in place of the archives, by [`add_path`](Self::add_path),
    /// and give the same snapshot.
    ///
    /// The file keeps every capture, also those that a newer one supersedes, and the condensed text
    /// of each distinct robots.txt. So it serves any profile, any [`as_of`](Self::as_of) and any
    /// mix with archives. Its bytes depend neither on the order of the archives nor on threads or
    /// memory, nor on the profile. A wide crawl takes some 120 bytes per capture. `docs/FORMAT.md`
    /// describes it.
    ///
    /// The file appears whole or not at all, as in [`Compiled::write_to`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("web.captures");
    /// use robosieve::{Compiler, Profile};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /private")?;
    /// assert_eq!(compiler.write_captures(&path)?.content.captures, 1);
    ///
    /// let mut compiler = Compiler::new(Profile::Rfc9309);
    /// compiler.add_path(&path)?;
    /// assert_eq!(compiler.finish()?.report().counts.origins, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadPrevious`] after [`previous`](Self::previous): a snapshot keeps no captures;
    /// [`ErrorKind::TooLarge`] for a capture with URLs of over 64 MiB; I/O errors of the file, or
    /// of the directory of temporary files.
    pub fn write_captures(self, path: impl AsRef<Path>) -> Result<CapturesReport> {
        let mut file = OutputFile::create(path)?;
        let report = self.write_captures_into(&mut file, &|_| {})?;
        file.commit()?;
        Ok(report)
    }

    /// As [`write_captures`](Self::write_captures), to a new file, which appears on commit.
    /// `progress` is called repeatedly, with the phase [`Sort`](CompilePhase::Sort).
    ///
    /// # Errors
    /// As [`write_captures`](Self::write_captures); a file name with a compressed ending.
    pub fn write_captures_into(
        mut self,
        file: &mut OutputFile,
        progress: &(dyn Fn(CompileProgress) + Sync),
    ) -> Result<CapturesReport> {
        if self.previous.is_some() {
            let what = "a captures file takes captures, and a snapshot keeps none".to_owned();
            return Err(ErrorKind::BadPrevious(what).into());
        }
        let file = file.uncompressed()?;
        let mut input = std::mem::take(&mut self.tally).report;
        let CaptureStore { texts, runs } = self.store.take().unwrap_or_else(|| self.new_store());
        input.profile = self.options.profile;
        input.distinct_text_bytes = texts.raw_len();
        let runs = runs.finish(&texts)?;
        let texts = texts.finish()?;
        let mut writer = CapturesWriter::new(file, &texts)?;
        // `as_of` may have been called after these captures were added.
        merge_with_progress(&runs, &texts, progress, &mut |record| {
            if self.options.is_too_new(record.time()) {
                input.too_new += 1;
                return Ok(());
            }
            writer.append(record)
        })?;
        let written = writer.finish()?;
        input.bytes_out = written.len;
        input.other_urls = written.counts.other_urls;
        Ok(CapturesReport {
            input,
            content: written.counts,
        })
    }

    /// Sorts the captures, decides every origin's outcome, and makes the sections of the snapshot.
    ///
    /// # Errors
    /// [`ErrorKind::TooManyFailing`] for more failing origins than
    /// [`max_failing`](Self::max_failing); [`ErrorKind::TooLarge`] for more than four billion
    /// origins or files; [`ErrorKind::BadPrevious`] for damage in the previous snapshot that its
    /// checksums do not show, for captures in it that are too new, for a history that is not asked
    /// for, and for captures that are not newer than it; I/O errors with the directory of temporary
    /// files.
    pub fn finish(self) -> Result<Compiled> {
        self.finish_with(&|_| {})
    }

    /// As [`finish`](Self::finish); `progress` is called repeatedly, with the phases
    /// [`Sort`](CompilePhase::Sort) and [`Build`](CompilePhase::Build).
    ///
    /// ```
    /// use robosieve::compile::CompilePhase;
    /// let mut compiler = robosieve::Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /private")?;
    /// compiler.finish_with(&|at| assert_eq!((at.phase, at.total), (CompilePhase::Build, 1)))?;
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_with(mut self, progress: &(dyn Fn(CompileProgress) + Sync)) -> Result<Compiled> {
        self.check_as_of()?;
        if let Some(previous) = &self.previous
            && previous.snapshot.has_history()
            && !self.with_history
        {
            let what = "it has a history, and this compilation keeps none: keep one to continue it";
            let err = Error::from(ErrorKind::BadPrevious(what.to_owned()));
            return Err(err.with_remedy(Remedy::ContinueHistory));
        }
        let spools = self.spools();
        let old = self.previous.as_ref().map(|old| old.snapshot.clone());
        let mut report = std::mem::take(&mut self.tally).report;
        let CaptureStore { texts, runs } = self.store.take().unwrap_or_else(|| self.new_store());
        report.profile = self.options.profile;
        report.distinct_text_bytes = texts.raw_len();
        let runs = runs.finish(&texts)?;
        // An option that was set after archives were added counts for them too.
        let table = merge_runs(
            &runs,
            &spools,
            &texts,
            |record| self.options.is_too_new(record.time()),
            progress,
        )?;
        drop(runs);
        let previous = self.previous.as_ref();
        let has_captures = table.counts.captures > 0;
        let previous = previous
            .map(|previous| PreviousUrls::new(previous, &texts, has_captures))
            .transpose()?;
        let texts = texts.finish()?;
        if let Some(previous) = previous.as_ref().filter(|_| self.with_history) {
            previous.refuse_older_captures(&table)?;
            report.first_versions_from_previous = !previous.has_history();
        }
        let payloads = Payloads::new(
            &table,
            previous.as_ref(),
            &texts,
            &spools,
            self.run_len(),
            progress,
        )?;
        let inputs = BuildInputs {
            profile: self.options.profile,
            table: &table,
            texts: &texts,
            payloads: &payloads,
            previous: previous.as_ref(),
            with_history: self.with_history,
            spools: &spools,
        };
        let BuiltSnapshot {
            sections,
            by_capture,
            outdated,
            inherited,
            by_redirects,
            failures,
            history,
        } = build(&inputs, progress)?;
        report.revisits_without_body = payloads.missing();
        report.too_new += table.counts.left_out;
        report.other_urls = table.counts.other_urls;
        report.superseded = table.counts.captures - report.other_urls - by_capture;
        report.outdated = outdated;
        report.inherited = inherited;
        report.counts = sections.counts;
        if let Some(HistoryCounts {
            versions,
            urls,
            texts,
        }) = history
        {
            report.versions = versions;
            report.history_urls = urls;
            report.old_texts = texts;
        }
        failures.check(self.max_failing.unwrap_or(DEFAULT_MAX_FAILING))?;
        let NewFailures {
            answered_before,
            failing,
            causes,
        } = failures;
        report.answered_before = answered_before;
        report.newly_failing = failing;
        report.newly_failing_causes = causes;
        Ok(Compiled {
            sections,
            report,
            decided: by_capture + outdated + by_redirects,
            old,
        })
    }
}

fn origin_of(url: &str) -> Result<Origin> {
    let origin = Origin::of(url.as_bytes());
    Ok(origin.ok_or_else(|| ErrorKind::UnknownSource {
        what: format!("{url:?} is not a URL"),
    })?)
}

/// A compiled snapshot, ready to be written. Its sections are in memory or in temporary files.
#[derive(Debug)]
pub struct Compiled {
    sections: SnapshotSections,
    report: CompileReport,
    /// The origins with a capture of their robots.txt, or of a URL that they redirect to.
    decided: u64,
    /// The previous snapshot, whose texts are copied last.
    old: Option<Snapshot>,
}

/// The condition that the previous snapshot is unchanged, and still has its name if the output takes
/// that.
#[derive(Debug)]
struct PreviousUnchanged(Snapshot);

impl CommitCheck for PreviousUnchanged {
    fn check(&self, target: Option<&Path>) -> Result<()> {
        self.0.verify_replaceable(target)
    }
}

impl Compiled {
    /// Counts of the input and of the content; [`bytes_out`](CompileReport::bytes_out) is 0.
    pub fn report(&self) -> &CompileReport {
        &self.report
    }

    /// Fails if archives were added, and have no capture that concerns an origin. Such archives
    /// leave the snapshot empty, or as [`previous`](Compiler::previous) was, which hides that a
    /// fetcher wrote nothing. Without archives, nothing is missing.
    ///
    /// ```
    /// use robosieve::{Compiler, ErrorKind};
    /// let mut compiler = Compiler::default();
    /// compiler.add_reader("archive", b"\n".as_slice())?;
    /// let err = compiler.finish()?.require_captures().unwrap_err();
    /// assert!(matches!(err.kind(), ErrorKind::NoCaptures(_)));
    /// Compiler::default().finish()?.require_captures()?;
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoCaptures`], with the numbers of what was left out.
    pub fn require_captures(self) -> Result<Self> {
        if self.report.inputs > 0 && self.decided == 0 {
            return Err(self.report.no_captures());
        }
        Ok(self)
    }

    /// Writes the snapshot to `path`, and replaces an existing file. Returns the report with the
    /// size of the output.
    ///
    /// It writes to a temporary file, calls fsync and renames, so the file appears whole or not at
    /// all. Temporary data are freed while they are copied.
    ///
    /// If the previous snapshot has the same name, two compilations at once could each replace it,
    /// and the first update would be lost. So the commit fails if another file has this name by
    /// then, and also if the previous snapshot was overwritten.
    ///
    /// # Errors
    /// I/O errors with the file's name; [`ErrorKind::BadPrevious`] if another program has replaced
    /// the previous snapshot, and [`ErrorKind::Corrupt`] if it was overwritten.
    pub fn write_to(self, path: impl AsRef<Path>) -> Result<CompileReport> {
        let path = path.as_ref();
        let mut file = AtomicFile::create(path)?;
        let report = self.write(&mut file).map_err(|err| err.at(path))?;
        file.commit()?;
        Ok(report)
    }

    /// Writes the snapshot to a new file, which appears on commit: alone, or together with others
    /// ([`OutputFile::commit_all`]). Returns the report with the size of the output.
    ///
    /// # Errors
    /// As [`write_to`](Self::write_to); a file name with a compressed ending.
    pub fn write_into(self, file: &mut OutputFile) -> Result<CompileReport> {
        self.write(file.uncompressed()?)
    }

    fn write(self, file: &mut AtomicFile) -> Result<CompileReport> {
        let mut report = self.report;
        if let Some(old) = self.old {
            file.set_check(Box::new(PreviousUnchanged(old)));
        }
        if file.is_stream() {
            // Sections are written out of order, which a stream cannot, so they are gathered first.
            let mut out = Cursor::new(Vec::new());
            report.bytes_out = self.sections.write(&mut out)?;
            file.write_all(out.get_ref())?;
        } else {
            report.bytes_out = self.sections.write(file)?;
        }
        Ok(report)
    }

    /// The snapshot's bytes in memory, for [`Snapshot::new`](crate::Snapshot::new).
    ///
    /// # Errors
    /// I/O errors of temporary files; [`ErrorKind::Corrupt`] if the previous snapshot was
    /// overwritten.
    pub fn to_vec(self) -> Result<Vec<u8>> {
        let mut out = Cursor::new(Vec::new());
        self.sections.write(&mut out)?;
        self.old.map_or(Ok(()), |old| old.verify_unchanged())?;
        Ok(out.into_inner())
    }
}
