//! Archives to a snapshot: reads captures on all cores, settles each origin's outcome, merges what is equal.

mod canonical;
mod contents;
mod fetch;
mod files;
mod report;
mod resolve;

pub use report::CompileReport;

use crate::atomic::AtomicFile;
use crate::error::{Error, ErrorKind, Result};
use crate::profile::Profile;
use crate::snapshot::text::Packer;
use crate::snapshot::write;
use crate::source::{self, Answer, Capture, Entry, Input, ReadStats, Response};
use crate::url::Origin;
use crossbeam_channel::{Receiver, Sender};
use fetch::Fetch;
use files::FileStore;
use rayon::prelude::*;
use report::Tally;
use std::io::{Cursor, Read};
use std::iter::Enumerate;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Compiles robots.txt archives into a snapshot.
///
/// Add archives in any order, then [`finish`](Self::finish): the snapshot depends neither on the order nor on the
/// number of threads. Work is spread over the current rayon thread pool. Memory: what the snapshot will hold, and about 150
/// bytes for every capture.
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
    store: FileStore,
    fetches: Vec<Fetch>,
    tally: Tally,
}

/// How far a compilation has come, for a progress display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileProgress {
    /// Archive entries parsed so far.
    pub entries: u64,
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

    /// Adds one archive: a WARC or JSONL file (plain, gzip, zstd), a directory, or `-` for standard input.
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
        let response = Response { status: 200, body: body.to_vec(), ..Response::default() };
        let url = format!("{origin}/robots.txt").into_bytes();
        let mut batch = Batch::new()?;
        batch.add(self, Capture { url, time: None, answer: Answer::Http(response) })?;
        self.tally.absorb(batch.tally, ReadStats { bytes: body.len() as u64, damaged: 0 }, 0);
        append(&mut self.fetches, batch.fetches);
        Ok(())
    }

    /// Settles every origin's outcome and merges equal robots.txt files and rule sets.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for more than four billion origins or files.
    pub fn finish(self) -> Result<Compiled> {
        let fetches = fetch::Fetches::new(self.fetches);
        let origins = resolve::resolve_all(&fetches);
        let mut report = CompileReport::new(self.profile, &self.tally);
        report.other_urls = fetches.other_urls();
        report.superseded = fetches.len() - report.other_urls - origins.len() as u64;
        contents::number(origins, report)
    }

    fn capture(&self, packer: &mut Packer, capture: Capture, tally: &mut Tally) -> Result<Option<Fetch>> {
        Fetch::new(capture, |body, delivery| {
            tally.body(body);
            self.store.intern(body, delivery, self.profile, packer)
        })
    }
}

/// Appends captures, without a copy where there were none.
fn append(fetches: &mut Vec<Fetch>, more: Vec<Fetch>) {
    if fetches.is_empty() { *fetches = more } else { fetches.extend(more) }
}

/// What one thread has made of its share of the entries.
struct Batch {
    packer: Packer,
    fetches: Vec<Fetch>,
    tally: Tally,
}

impl Batch {
    fn new() -> Result<Self> {
        Ok(Self { packer: Packer::new()?, fetches: Vec::new(), tally: Tally::default() })
    }

    fn add(&mut self, compiler: &Compiler, capture: Capture) -> Result<()> {
        self.tally.captures += 1;
        match compiler.capture(&mut self.packer, capture, &mut self.tally)? {
            Some(fetch) => self.fetches.push(fetch),
            None => self.tally.not_urls += 1,
        }
        Ok(())
    }

    fn merge(mut self, other: Self) -> Self {
        append(&mut self.fetches, other.fetches);
        self.tally.merge(other.tally);
        self
    }
}

/// One call of `add_inputs`: threads that read inputs, and the pool that parses what they find.
struct Reading<'c> {
    compiler: &'c Compiler,
    names: &'c [&'c Path],
    progress: &'c (dyn Fn(CompileProgress) + Sync),
    /// The inputs that are still to be read.
    inputs: Mutex<Enumerate<std::vec::IntoIter<Input<'c>>>>,
    done: AtomicUsize,
    failures: Mutex<Vec<(usize, Error)>>,
}

/// Entries on their way from a reader to the pool: the input's number, and the entries.
type Parcel = (usize, Vec<Entry>);

/// A parcel goes off when it holds so many entries or bytes.
const PARCEL_ENTRIES: usize = 256;
const PARCEL_BYTES: usize = 1 << 20;

impl Reading<'_> {
    fn run(self) -> Result<(Batch, ReadStats)> {
        let threads = rayon::current_num_threads();
        let readers = (threads / 2).clamp(1, self.names.len().max(1));
        let (sender, receiver) = crossbeam_channel::bounded::<Parcel>(threads * 2 + 2);
        let (batch, stats) = std::thread::scope(|scope| {
            let readers: Vec<_> = (0..readers)
                .map(|_| {
                    let sender = sender.clone();
                    scope.spawn(|| self.read_inputs(sender))
                })
                .collect();
            drop(sender);
            let batch = self.parse_all(receiver);
            let stats =
                readers.into_iter().filter_map(|reader| reader.join().ok()).fold(ReadStats::default(), add_stats);
            (batch, stats)
        });
        let mut failures = self.failures.into_inner().unwrap_or_default();
        failures.sort_by_key(|(input, _)| *input);
        match failures.into_iter().next() {
            Some((_, err)) => Err(err),
            None => Ok((batch?, stats)),
        }
    }

    fn fail(&self, input: usize, err: Error) {
        if let Ok(mut failures) = self.failures.lock() {
            failures.push((input, err));
        }
        if let Ok(mut inputs) = self.inputs.lock() {
            inputs.by_ref().for_each(drop);
        }
    }

    /// Reads inputs until none is left, or one failed, or nobody listens any more.
    fn read_inputs(&self, sender: Sender<Parcel>) -> ReadStats {
        let mut stats = ReadStats::default();
        loop {
            let Some((number, input)) = self.inputs.lock().ok().and_then(|mut inputs| inputs.next()) else {
                return stats;
            };
            match read_input(input, number, self.compiler.skip_damaged, &sender) {
                Ok(read) => stats = add_stats(stats, read),
                Err(err) => self.fail(number, err),
            }
            self.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn parse_all(&self, receiver: Receiver<Parcel>) -> Result<Batch> {
        let entries = AtomicU64::new(0);
        let parse = |batch: Option<Batch>, (input, parcel): Parcel| -> Result<Option<Batch>> {
            let mut batch = batch.map_or_else(Batch::new, Ok)?;
            let count = parcel.len() as u64;
            self.parse(&mut batch, parcel).map_err(|err| err.at(self.names[input]))?;
            let entries = entries.fetch_add(count, Ordering::Relaxed) + count;
            (self.progress)(CompileProgress { entries, inputs_done: self.done.load(Ordering::Relaxed) });
            Ok(Some(batch))
        };
        let merge = |a: Option<Batch>, b: Option<Batch>| -> Result<Option<Batch>> {
            match (a, b) {
                (Some(a), Some(b)) => Ok(Some(a.merge(b))),
                (a, b) => Ok(a.or(b)),
            }
        };
        let batch = receiver.into_iter().par_bridge().try_fold(|| None, parse).try_reduce(|| None, merge)?;
        batch.map_or_else(Batch::new, Ok)
    }

    fn parse(&self, batch: &mut Batch, parcel: Vec<Entry>) -> Result<()> {
        for entry in parcel {
            match entry.captures() {
                Ok(captures) => captures.into_iter().try_for_each(|capture| batch.add(self.compiler, capture))?,
                Err(err) if self.compiler.skip_damaged && err.is_skippable() => batch.tally.damaged += 1,
                Err(err) => return Err(err),
            }
        }
        Ok(())
    }
}

/// Sends the entries of one input in parcels; ends early, without an error, if the receiver is gone.
fn read_input(input: Input<'_>, number: usize, skip_damaged: bool, sender: &Sender<Parcel>) -> Result<ReadStats> {
    let (mut parcel, mut weight) = (Vec::new(), 0);
    let stats = source::read(input, skip_damaged, &mut |entry| {
        weight += entry.weight();
        parcel.push(entry);
        if parcel.len() < PARCEL_ENTRIES && weight < PARCEL_BYTES {
            return true;
        }
        weight = 0;
        sender.send((number, std::mem::take(&mut parcel))).is_ok()
    })?;
    // A receiver that is gone has met an error, which it reports itself.
    let _ = sender.send((number, parcel));
    Ok(stats)
}

fn add_stats(a: ReadStats, b: ReadStats) -> ReadStats {
    ReadStats { bytes: a.bytes + b.bytes, damaged: a.damaged + b.damaged }
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
        self.report.bytes_out =
            write::write(self.contents.view(&self.report), &mut file).map_err(|err| err.at(path))?;
        file.commit()
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
