//! Reader threads and the pool: readers cut inputs into entries, the rayon pool decodes them.
//!
//! Half as many readers as workers decompress, because an archive must be decompressed in order,
//! and decoding takes about as long. A bounded channel between them limits memory, and [`ByteBudget`]
//! that of long entries.

use super::batch::{CaptureBatch, CaptureStore, IngestOptions};
use crate::archive::read_context::ReadContext;
use crate::archive::reader::{ArchiveEntry, ArchiveInput, ArchiveReader};
use crate::compile::progress::{CompilePhase, CompileProgress};
use crate::error::{Error, Result};
use crate::threads::{self, lock};
use crossbeam_channel::{Receiver, Sender};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::iter::Enumerate;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

/// The ingestion of some inputs.
pub(crate) struct ArchiveIngest<'c> {
    options: IngestOptions,
    store: &'c CaptureStore,
    input_count: usize,
    progress: &'c (dyn Fn(CompileProgress) + Sync),
    /// The inputs that no reader has opened yet.
    inputs: Mutex<Enumerate<std::vec::IntoIter<ArchiveInput<'c>>>>,
    inputs_done: AtomicUsize,
    entries: AtomicU64,
    context: ReadContext,
    /// Errors by the number of the input.
    failures: Mutex<BTreeMap<usize, Error>>,
    budget: Arc<ByteBudget>,
}

/// Entries of one input, which the parser pool opens.
struct EntryChunk<'c> {
    /// The name of the input, for errors.
    name: &'c Path,
    entries: Vec<ArchiveEntry>,
    /// The memory of the entries, which is free again when they are parsed or dropped.
    _claim: ByteClaim,
}

/// The bytes of entries that wait or are parsed. A line of an archive may have 64 MiB, so a number
/// of chunks does not bound memory.
struct ByteBudget {
    used: Mutex<usize>,
    freed: Condvar,
    max: usize,
}

/// The bytes of entries per thread from which readers wait.
const BYTES_PER_THREAD: usize = 32 << 20;

impl ByteBudget {
    /// Waits until these bytes fit, or until no others are claimed.
    fn claim(self: &Arc<Self>, bytes: usize) -> ByteClaim {
        let has_no_room = |used: &mut usize| *used > 0 && *used + bytes > self.max;
        let used = self.freed.wait_while(lock(&self.used), has_no_room);
        *used.unwrap_or_else(PoisonError::into_inner) += bytes;
        ByteClaim {
            budget: Arc::clone(self),
            bytes,
        }
    }
}

struct ByteClaim {
    budget: Arc<ByteBudget>,
    bytes: usize,
}

impl Drop for ByteClaim {
    fn drop(&mut self) {
        *lock(&self.budget.used) -= self.bytes;
        self.budget.freed.notify_all();
    }
}

/// A chunk is sent when it reaches one of these.
const CHUNK_ENTRIES: usize = 256;
const CHUNK_BYTES: usize = 1 << 20;

impl<'c> ArchiveIngest<'c> {
    pub(crate) fn new(
        options: IngestOptions,
        store: &'c CaptureStore,
        inputs: Vec<ArchiveInput<'c>>,
        progress: &'c (dyn Fn(CompileProgress) + Sync),
    ) -> Self {
        Self {
            options,
            store,
            progress,
            input_count: inputs.len(),
            inputs: Mutex::new(inputs.into_iter().enumerate()),
            inputs_done: AtomicUsize::new(0),
            entries: AtomicU64::new(0),
            context: ReadContext {
                skip_damaged: options.skip_damaged,
                ..ReadContext::default()
            },
            failures: Mutex::default(),
            budget: Arc::new(ByteBudget {
                used: Mutex::new(0),
                freed: Condvar::new(),
                max: threads::workers() * BYTES_PER_THREAD,
            }),
        }
    }

    /// Reads all inputs.
    ///
    /// # Errors
    /// The failure of the first input that fails, in the order of the inputs.
    pub(crate) fn run(self) -> Result<CaptureBatch<'c>> {
        let threads = threads::workers();
        let wanted = (threads / 2).clamp(1, self.input_count.max(1));
        let (sender, receiver) = crossbeam_channel::bounded(threads * 4 + 2);
        let batch = std::thread::scope(|scope| {
            let readers = self.start_readers(scope, wanted, sender)?;
            let batch = self.parse_all(receiver);
            // The receiver is dropped, so every reader ends. A reader's panic resumes here: its
            // input was not read to the end.
            readers
                .into_iter()
                .for_each(|reader| reader.join().unwrap_or_else(|panic| resume_unwind(panic)));
            batch
        });
        if let Some((_, err)) = lock(&self.failures).pop_first() {
            return Err(err);
        }
        let mut batch = batch?;
        batch.tally.report.inputs = self.input_count as u64;
        batch.tally.report.bytes_in = self.context.bytes.into_inner();
        batch.tally.report.damaged += self.context.damaged.into_inner();
        Ok(batch)
    }

    /// Starts up to this many readers. If the system refuses a thread, the readers that started do
    /// all the work.
    fn start_readers<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        readers: usize,
        sender: Sender<EntryChunk<'c>>,
    ) -> Result<Vec<ScopedJoinHandle<'s, ()>>> {
        let mut started = Vec::new();
        for _ in 0..readers {
            let sender = sender.clone();
            match threads::spawn(scope, move || self.read_inputs(&sender)) {
                Ok(reader) => started.push(reader),
                Err(err) if started.is_empty() => return Err(err),
                Err(_) => break,
            }
        }
        Ok(started)
    }

    /// Reads inputs until none is left. A failure drops the inputs that no reader has opened.
    fn read_inputs(&self, sender: &Sender<EntryChunk<'c>>) {
        loop {
            let Some((number, input)) = lock(&self.inputs).next() else {
                return;
            };
            if let Err(err) = self.read_input(input, sender) {
                lock(&self.failures).insert(number, err);
                lock(&self.inputs).by_ref().for_each(drop);
            }
            self.inputs_done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends the entries of one input to the pool, in chunks.
    fn read_input(&self, input: ArchiveInput<'c>, sender: &Sender<EntryChunk<'c>>) -> Result<()> {
        let (ArchiveInput::Path(name) | ArchiveInput::Reader(name, _)) = input;
        let mut reader = ArchiveReader::open(input, &self.context)?;
        let mut chunk = Vec::new();
        let mut weight = 0;
        while let Some(entry) = reader.next_entry()? {
            weight += entry.weight();
            chunk.push(entry);
            if chunk.len() < CHUNK_ENTRIES && weight < CHUNK_BYTES {
                continue;
            }
            let claim = self.budget.claim(std::mem::take(&mut weight));
            // Sending fails after an error of the pool, which the pool reports.
            if sender
                .send(EntryChunk {
                    name,
                    entries: std::mem::take(&mut chunk),
                    _claim: claim,
                })
                .is_err()
            {
                return Ok(());
            }
        }
        let _ = sender.send(EntryChunk {
            name,
            entries: chunk,
            _claim: self.budget.claim(weight),
        });
        Ok(())
    }

    /// Parses the chunks of the readers on all threads of the pool, with one batch per thread.
    fn parse_all(&self, receiver: Receiver<EntryChunk<'c>>) -> Result<CaptureBatch<'c>> {
        let new_batch = || CaptureBatch::new(self.options, self.store);
        let batch = receiver
            .into_iter()
            .par_bridge()
            .try_fold(
                || None,
                |batch: Option<CaptureBatch<'c>>, chunk| {
                    let batch = batch.map_or_else(new_batch, Ok)?;
                    self.parse(batch, chunk).map(Some)
                },
            )
            .try_reduce(
                || None,
                |a, b| match (a, b) {
                    (Some(a), Some(b)) => Ok(Some(a.merge(b))),
                    (a, b) => Ok(a.or(b)),
                },
            )?;
        batch.map_or_else(new_batch, Ok)
    }

    /// Adds the entries of an input to a batch.
    fn parse(
        &self,
        mut batch: CaptureBatch<'c>,
        chunk: EntryChunk<'c>,
    ) -> Result<CaptureBatch<'c>> {
        let count = chunk.entries.len() as u64;
        for entry in chunk.entries {
            batch.add_entry(entry).map_err(|err| err.at(chunk.name))?;
        }
        batch.flush()?;
        (self.progress)(CompileProgress {
            phase: CompilePhase::Read,
            entries: self.entries.fetch_add(count, Ordering::Relaxed) + count,
            bytes_read: self.context.bytes.load(Ordering::Relaxed),
            inputs_done: self.inputs_done.load(Ordering::Relaxed),
            ..CompileProgress::default()
        });
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_stay_within_the_budget_and_none_waits_for_ever() {
        let budget = Arc::new(ByteBudget {
            used: Mutex::new(0),
            freed: Condvar::new(),
            max: 10,
        });
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let budget = &budget;
                // Claims of over 10 bytes are granted when there is no other.
                scope.spawn(move || {
                    for bytes in (0..200).map(|number| (number + thread) % 12 + 1) {
                        let claim = budget.claim(bytes);
                        let used = *lock(&budget.used);
                        assert!(used >= bytes && used <= bytes.max(budget.max), "{used}");
                        drop(claim);
                    }
                });
            }
        });
        assert_eq!(*lock(&budget.used), 0);
    }
}
