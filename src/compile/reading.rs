//! Reading archives: threads that cut them into entries, and the pool that takes those apart.

use crate::archive::{self, Capture, Content, Entry, Input, Meter, ReadStats};
use crate::compile::fetch::Fetch;
use crate::compile::report::Tally;
use crate::compile::{CompileProgress, Compiler};
use crate::decode::{Helpers, Span};
use crate::error::{Error, Result};
use crate::snapshot::text::Packer;
use crate::threads;
use crossbeam_channel::{Receiver, Sender};
use rayon::prelude::*;
use std::iter::Enumerate;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

/// Appends captures, without a copy where there were none.
pub(super) fn append(fetches: &mut Vec<Fetch>, more: Vec<Fetch>) {
    if fetches.is_empty() { *fetches = more } else { fetches.extend(more) }
}

/// What one thread has made of its share of the entries.
pub(super) struct Batch {
    packer: Packer,
    pub fetches: Vec<Fetch>,
    pub tally: Tally,
}

impl Batch {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { packer: Packer::new()?, fetches: Vec::new(), tally: Tally::default() })
    }

    pub(super) fn add(&mut self, compiler: &Compiler, mut capture: Capture) -> Result<()> {
        self.tally.captures += 1;
        if compiler.is_too_new(capture.time) {
            self.tally.too_new += 1;
            return Ok(());
        }
        self.tally.undated += u64::from(capture.time.is_none());
        if let Some(key) = capture.unread_key.take() {
            self.tally.unread_key(key, 1);
        }
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
pub(super) struct Reading<'c> {
    pub compiler: &'c Compiler,
    pub names: &'c [&'c Path],
    pub progress: &'c (dyn Fn(CompileProgress) + Sync),
    /// The inputs that are still to be read.
    pub inputs: Mutex<Enumerate<std::vec::IntoIter<Input<'c>>>>,
    pub done: AtomicUsize,
    pub meter: Meter,
    pub failures: Mutex<Vec<(usize, Error)>>,
}

/// What readers give to the pool.
enum Work {
    /// Entries, and the number of their input.
    Parcel(usize, Vec<Entry>),
    /// What a reader will come to, to be inflated until then.
    Span(Arc<Span>),
}

/// The pool, as a reader of archives sees it.
#[derive(Clone)]
struct Pool {
    sender: Sender<Work>,
    /// How many spans a reader has on the way at most.
    spans: usize,
}

impl Helpers for Pool {
    fn have_time(&self) -> bool {
        !self.sender.is_full()
    }

    fn post(&self, span: Arc<Span>) -> bool {
        self.sender.try_send(Work::Span(span)).is_ok()
    }

    fn most(&self) -> usize {
        self.spans
    }
}

/// A parcel goes off when it holds so many entries or bytes.
const PARCEL_ENTRIES: usize = 256;
const PARCEL_BYTES: usize = 1 << 20;

impl Reading<'_> {
    pub(super) fn run(self) -> Result<(Batch, ReadStats)> {
        let threads = threads::workers();
        let wanted = (threads / 2).clamp(1, self.names.len().max(1));
        let (sender, receiver) = crossbeam_channel::bounded(threads * 4 + 2);
        let pool = Pool { sender, spans: threads * 4 / wanted };
        let (batch, stats) = std::thread::scope(|scope| {
            let started = self.start_readers(scope, wanted, pool)?;
            let batch = self.parse_all(receiver);
            // Every reader has ended: the receiver is gone. A reader that panicked has not read its
            // input to the end.
            let read = started.into_iter().map(|reader| reader.join().unwrap_or_else(|panic| resume_unwind(panic)));
            Ok::<_, Error>((batch, read.fold(ReadStats::default(), add_stats)))
        })?;
        let mut failures = self.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
        failures.sort_by_key(|(input, _)| *input);
        match failures.into_iter().next() {
            Some((_, err)) => Err(err),
            None => Ok((batch?, stats)),
        }
    }

    /// FirstByteFilter up to this many readers. Where the system refuses some of the threads, those that
    /// started read all inputs.
    fn start_readers<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        readers: usize,
        pool: Pool,
    ) -> Result<Vec<ScopedJoinHandle<'s, ReadStats>>> {
        let mut started = Vec::new();
        for _ in 0..readers {
            let pool = pool.clone();
            match threads::spawn(scope, move || self.read_inputs(&pool)) {
                Ok(reader) => started.push(reader),
                Err(err) if started.is_empty() => return Err(err),
                // Fewer readers do the same work.
                Err(_) => break,
            }
        }
        Ok(started)
    }

    fn fail(&self, input: usize, err: Error) {
        lock(&self.failures).push((input, err));
        lock(&self.inputs).by_ref().for_each(drop);
    }

    /// Reads inputs until none is left, or one failed, or nobody listens any more.
    fn read_inputs(&self, pool: &Pool) -> ReadStats {
        let mut stats = ReadStats::default();
        loop {
            let Some((number, input)) = lock(&self.inputs).next() else { return stats };
            match read_input(input, number, self.compiler.skip_damaged, &self.meter, pool) {
                Ok(read) => stats = add_stats(stats, read),
                Err(err) => self.fail(number, err),
            }
            self.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn parse_all(&self, receiver: Receiver<Work>) -> Result<Batch> {
        let entries = AtomicU64::new(0);
        let parse = |batch: Option<Batch>, work: Work| -> Result<Option<Batch>> {
            let (input, parcel) = match work {
                Work::Parcel(input, parcel) => (input, parcel),
                Work::Span(span) => {
                    span.inflate();
                    return Ok(batch);
                }
            };
            let mut batch = batch.map_or_else(Batch::new, Ok)?;
            let count = parcel.len() as u64;
            self.parse(&mut batch, parcel).map_err(|err| err.at(self.names[input]))?;
            let entries = entries.fetch_add(count, Ordering::Relaxed) + count;
            let (bytes_read, inputs_done) = (self.meter.bytes(), self.done.load(Ordering::Relaxed));
            (self.progress)(CompileProgress { entries, bytes_read, inputs_done });
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
            match entry.open() {
                Ok(Content::Captures(captures)) => {
                    captures.into_iter().try_for_each(|capture| batch.add(self.compiler, capture))?;
                }
                Ok(Content::NotRobots(file)) => batch.tally.skip_file(file),
                Err(err) if self.compiler.skip_damaged && err.is_skippable() => batch.tally.damaged += 1,
                Err(err) => return Err(err),
            }
        }
        Ok(())
    }
}

/// Sends the entries of one input in parcels; ends early, without an error, if the receiver is gone.
fn read_input(input: Input<'_>, number: usize, skip_damaged: bool, meter: &Meter, pool: &Pool) -> Result<ReadStats> {
    let (mut parcel, mut weight) = (Vec::new(), 0);
    let stats = archive::read(input, skip_damaged, Box::new(pool.clone()), meter, &mut |entry| {
        weight += entry.weight();
        parcel.push(entry);
        if parcel.len() < PARCEL_ENTRIES && weight < PARCEL_BYTES {
            return true;
        }
        weight = 0;
        pool.sender.send(Work::Parcel(number, std::mem::take(&mut parcel))).is_ok()
    })?;
    // A receiver that is gone has met an error, which it reports itself.
    let _ = pool.sender.send(Work::Parcel(number, parcel));
    Ok(stats)
}

/// A lock that ignores poison: a panic ends the whole call, so nothing is read of what it left.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add_stats(a: ReadStats, b: ReadStats) -> ReadStats {
    ReadStats { bytes: a.bytes + b.bytes, damaged: a.damaged + b.damaged }
}
