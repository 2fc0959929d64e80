//! Archives to a snapshot: reads captures on all cores, settles each origin's outcome, merges what is equal.

mod canonical;
mod contents;
mod detail;
mod fetch;
mod files;
mod history;
mod links;
mod numbering;
mod origins;
mod previous;
mod reading;
mod report;
mod resolve;
mod twins;

pub use report::CompileReport;

use crate::archive::{self, Answer, Capture, Input, Meter, ReadStats, Response};
use crate::atomic::AtomicFile;
use crate::atomic::output_file::OutputFile;
use crate::error::{ErrorKind, Result};
use crate::profile::Profile;
use crate::snapshot::text::Packer;
use crate::snapshot::{Snapshot, write};
use crate::url::Origin;
use bytes::Bytes;
use fetch::Fetch;
use files::{File, FileStore};
use links::Links;
use numbering::Old;
use origins::Origins;
use previous::Previous;
use rayon::prelude::*;
use reading::{Batch, Reading, append};
use report::Tally;
use resolve::Resolved;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

/// Compiles robots.txt archives into a snapshot.
///
/// Add archives in any order, then [`finish`](Self::finish): the snapshot depends neither on the order nor on the
/// number of threads. Work is spread over the current rayon thread pool, which a program should cap
/// by [`max_threads`](crate::max_threads); archives are read by half as many threads more. Memory:
/// what the snapshot will hold, and about 150 bytes for every capture.
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
    profile: Profile,
    skip_damaged: bool,
    as_of: Option<i64>,
    previous: Option<Previous>,
    store: FileStore,
    fetches: Vec<Fetch>,
    tally: Tally,
}

/// Files of a previous snapshot that a thread reads anew at a time.
const REREAD: u32 = 256;

/// How far a compilation has come, for a progress display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileProgress {
    /// Archive entries parsed so far.
    pub entries: u64,
    /// Bytes read of all inputs so far, as they are on disk.
    pub bytes_read: u64,
    /// Inputs read to their end.
    pub inputs_done: usize,
}

impl Compiler {
    /// A compiler for one profile.
    pub fn new(profile: Profile) -> Self {
        Self { profile, ..Self::default() }
    }

    /// Whether to read on behind damaged places, counting them, instead of failing at the first; off by default.
    ///
    /// A damaged gzip member costs that member: reading goes on at the next one. A damaged JSON line costs that line.
    pub fn skip_damaged(&mut self, skip: bool) -> &mut Self {
        self.skip_damaged = skip;
        self
    }

    /// Leaves out captures newer than `time`, in seconds since 1970, as if they did not exist; the report counts them. For judging an
    /// earlier crawl, which a site's later wish need not bind. Captures of unknown time stay, and are counted too. (It saves work if it
    /// is called before archives are added.)
    ///
    /// ```
    /// let archive = br#"{"url": "https://e.example/robots.txt", "body": "", "fetched_at": "1970-01-01T00:01:01Z"}"#;
    /// let mut compiler = robosieve::Compiler::default();
    /// compiler.as_of(60).add_reader("memory", archive.as_slice())?;
    /// let report = compiler.finish()?.report().clone();
    /// assert_eq!((report.captures, report.too_new, report.counts.origins), (1, 1, 0));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn as_of(&mut self, time: i64) -> &mut Self {
        self.as_of = Some(time);
        self
    }

    /// Takes over what an earlier compilation knows, as if its archives were added once more: whatever the new ones tell nothing newer of
    /// stays as it is there, last good copies, first failures and the lines of every robots.txt included. The bytes depend neither
    /// on when this is called nor on the order of the archives. With none, and for the same profile, they are those of `old`.
    ///
    /// A failure keeps the copy that `old` holds as the last good one, and the time of the first failure. Redirects are followed
    /// from the archives to `old` and from there to the archives; of redirects in `old` it is only known where they led in the end.
    /// A snapshot of another profile, or by another version, is compiled anew from the texts that it holds.
    ///
    /// Costs one pass over the file for its checksums. It is not copied: rows and texts are read where they lie until the new
    /// snapshot is written, which may have the same name. A second call takes the place of the first.
    ///
    /// ```
    /// use robosieve::{Compiler, Origin, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://a.example", b"user-agent: *\ndisallow: /x")?;
    /// let old = compiler.finish()?.to_vec()?;
    ///
    /// let mut compiler = Compiler::default();
    /// compiler.previous(Snapshot::new(old)?)?;
    /// let failed = br#"{"url": "https://a.example/robots.txt", "status": 503, "fetched_at": "2026-02-01T06:00:00Z"}"#;
    /// compiler.add_reader("failed", failed.as_slice())?;
    /// let new = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let entry = new.origin(&Origin::of(b"https://a.example/").expect("a URL"))?.expect("an origin");
    /// assert_eq!((entry.outcome().status, entry.has_last_good()), (503, true));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if a checksum is wrong or the metadata is; [`ErrorKind::BadPrevious`] if it holds captures newer than
    /// [`as_of`](Self::as_of).
    pub fn previous(&mut self, old: Snapshot) -> Result<&mut Self> {
        self.previous = Some(Previous::new(old)?);
        self.check_as_of()?;
        Ok(self)
    }

    fn check_as_of(&self) -> Result<()> {
        match (&self.previous, self.as_of) {
            (Some(previous), Some(as_of)) => previous.check_as_of(as_of),
            _ => Ok(()),
        }
    }

    /// Whether a capture of this time does not count.
    fn is_too_new(&self, time: Option<i64>) -> bool {
        self.as_of.is_some_and(|as_of| time > Some(as_of))
    }

    /// Adds one archive: a WARC or JSONL file (plain, gzip, zstd), a directory, or `-` for standard input. A directory holds archives,
    /// whose names end in `.warc`, `.jsonl` or `.ndjson` (`.gz`, `.zst` may follow), or else robots.txt files named after their hosts.
    ///
    /// # Errors
    /// What cannot be read, naming file and place. The compiler must then be thrown away.
    pub fn add_path(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.add_paths(&[path.as_ref().to_owned()], &|_| {})
    }

    /// Adds archives, several at a time; `progress` is called now and then, from any thread.
    ///
    /// # Errors
    /// As [`add_path`](Self::add_path); of several failures, that of the first input.
    pub fn add_paths(&mut self, paths: &[PathBuf], progress: &(dyn Fn(CompileProgress) + Sync)) -> Result<()> {
        let paths = archive::expand(paths)?;
        let names: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let inputs = names.iter().map(|path| Input::Path(path)).collect();
        self.add_inputs(&names, inputs, progress)
    }

    /// Adds one archive from anything that reads: WARC or JSONL, plain, gzip or zstd. `name` is for error messages.
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
        let name = name.as_ref();
        self.add_inputs(&[name], vec![Input::Reader(name, Box::new(reader))], &|_| {})
    }

    fn add_inputs(
        &mut self,
        names: &[&Path],
        inputs: Vec<Input<'_>>,
        progress: &(dyn Fn(CompileProgress) + Sync),
    ) -> Result<()> {
        let reading = Reading {
            compiler: self,
            names,
            progress,
            inputs: Mutex::new(inputs.into_iter().enumerate()),
            done: AtomicUsize::new(0),
            meter: Meter::default(),
            failures: Mutex::default(),
        };
        let (batch, stats) = reading.run()?;
        self.tally.absorb(batch.tally, stats, names.len());
        append(&mut self.fetches, batch.fetches);
        Ok(())
    }

    /// Adds one robots.txt as answered with status 200 at an unknown time; `origin` is a URL on the site.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`] if `origin` is not a URL.
    pub fn add_robots(&mut self, origin: &str, body: &[u8]) -> Result<()> {
        let Some(origin) = Origin::of(origin.as_bytes()) else {
            let what = format!("{origin:?} is not a URL");
            return Err(ErrorKind::UnknownSource { what }.into());
        };
        let response = Response { status: 200, body: Bytes::copy_from_slice(body), ..Response::default() };
        let url = format!("{origin}/robots.txt").into_bytes();
        let mut batch = Batch::new()?;
        batch.add(self, Capture { url, answer: Answer::Http(response), ..Capture::default() })?;
        self.tally.absorb(batch.tally, ReadStats { bytes: body.len() as u64, damaged: 0 }, 0);
        append(&mut self.fetches, batch.fetches);
        Ok(())
    }

    /// Settles every origin's outcome and merges equal robots.txt files and rule sets.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for more than four billion origins or files; [`ErrorKind::BadPrevious`] for damage in the previous
    /// snapshot that its checksums do not show, or captures in it that are too new.
    pub fn finish(mut self) -> Result<Compiled> {
        self.check_as_of()?;
        let mut fetches = std::mem::take(&mut self.fetches);
        let before = fetches.len();
        fetches.retain(|fetch| !self.is_too_new(fetch.time));
        self.tally.too_new += (before - fetches.len()) as u64;
        let fetches = fetch::Fetches::new(fetches);
        let links = self.previous.as_ref().map(|previous| Links::new(previous, &fetches)).transpose()?;
        let settled = resolve::resolve_all(&fetches, links.as_ref())?;
        drop(links);
        let mut report = CompileReport::new(self.profile, &self.tally);
        report.other_urls = fetches.other_urls();
        report.superseded = fetches.len() - report.other_urls - settled.by_capture;
        report.outdated = settled.outdated;
        // Numbering is work for one thread, and freeing millions of captures is some as well.
        rayon::join(|| self.number(settled.origins, report), || drop(fetches)).0
    }

    fn number(self, origins: Vec<Resolved>, report: CompileReport) -> Result<Compiled> {
        let origins = Origins::new(origins, self.previous.as_ref())?;
        let reread = self.reread()?;
        if let Some(previous) = self.previous.as_ref().filter(|_| reread.is_empty()) {
            let (files, sets) = self.store.all();
            twins::find(previous, &files, &sets)?;
        }
        contents::number(origins, Old { previous: self.previous, reread }, report)
    }

    /// The files of the previous snapshot read anew, where they cannot be taken over as they lie.
    fn reread(&self) -> Result<Vec<Arc<File>>> {
        let Some(previous) = self.previous.as_ref().filter(|previous| !previous.is_reusable(self.profile)) else {
            return Ok(Vec::new());
        };
        let count = previous.file_count();
        let read = |part: u32| -> Result<Vec<Arc<File>>> {
            let mut packer = Packer::new()?;
            let rows = part * REREAD..(part + 1).saturating_mul(REREAD).min(count);
            rows.map(|row| self.store.intern_text(&previous.text(row)?, self.profile, &mut packer)).collect()
        };
        let parts: Vec<_> = (0..count.div_ceil(REREAD)).into_par_iter().map(read).collect::<Result<_>>()?;
        Ok(parts.into_iter().flatten().collect())
    }

    fn capture(&self, packer: &mut Packer, capture: Capture, tally: &mut Tally) -> Result<Option<Fetch>> {
        Fetch::new(capture, |body, delivery| {
            tally.body(body);
            self.store.intern(body, delivery, self.profile, packer)
        })
    }
}

/// A compiled snapshot, ready to be written.
#[derive(Debug)]
pub struct Compiled {
    contents: contents::Numbered,
    report: CompileReport,
}

impl Compiled {
    /// What was read and what came of it; the output's size is filled in by writing.
    pub fn report(&self) -> &CompileReport {
        &self.report
    }

    /// Writes the snapshot to `path`: streaming, to a temporary name, fsynced and renamed, so that it appears whole or
    /// not at all; an existing file is replaced.
    ///
    /// # Errors
    /// What the file system refuses, naming the file; the limits of the format.
    pub fn write_to(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut file = AtomicFile::create(path)?;
        self.write(&mut file).map_err(|err| err.at(path))?;
        file.commit()
    }

    /// Writes the snapshot to a new file, which appears when it is committed: alone, or together
    /// with others ([`OutputFile::commit_all`]).
    ///
    /// # Errors
    /// As [`write_to`](Self::write_to); a file that is compressed by its name.
    pub fn write_into(&mut self, file: &mut OutputFile) -> Result<()> {
        self.write(file.uncompressed()?)
    }

    fn write(&mut self, file: &mut AtomicFile) -> Result<()> {
        if file.is_stream() {
            // Sections are not written in their order, so all are gathered first.
            let bytes = self.to_vec()?;
            self.report.bytes_out = bytes.len() as u64;
            return Ok(file.write_all(&bytes)?);
        }
        self.report.bytes_out = write::write(self.contents.view(&self.report), file)?;
        Ok(())
    }

    /// The snapshot's bytes in memory, for [`Snapshot::new`](crate::Snapshot::new).
    ///
    /// # Errors
    /// The limits of the format.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut out = Cursor::new(Vec::new());
        write::write(self.contents.view(&self.report), &mut out)?;
        Ok(out.into_inner())
    }
}
