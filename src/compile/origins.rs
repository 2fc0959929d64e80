//! The origins of a snapshot in the order of their keys: what was settled now, and rows of the previous snapshot.

use crate::compile::files::File;
use crate::compile::previous::{Previous, damaged};
use crate::compile::resolve::{FileRef, Resolved};
use crate::error::{Error, Result};
use crate::snapshot::Outcome;
use std::sync::Arc;

/// All origins. Those of the previous snapshot that nothing new is known of are kept as the numbers of their rows.
#[derive(Debug)]
pub(super) struct Origins {
    resolved: Vec<Resolved>,
    /// `None`, if there is no previous snapshot.
    order: Option<Vec<Slot>>,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    /// A row of the previous snapshot.
    TakenOver(u32),
    /// An index into `resolved`.
    Resolved(u32),
}

/// One origin, wherever it comes from.
pub(super) struct OriginAt<'a> {
    pub key: &'a [u8],
    pub outcome: Outcome,
    pub file: Option<FileAt<'a>>,
    pub last_good: Option<FileAt<'a>>,
    pub source: Option<&'a [u8]>,
    pub detail: Option<&'a [u8]>,
}

/// A robots.txt, wherever it lies.
#[derive(Clone, Copy)]
pub(super) enum FileAt<'a> {
    New(&'a Arc<File>),
    /// A row of the previous snapshot.
    Old(u32),
}

impl FileRef {
    pub(super) fn at(&self) -> FileAt<'_> {
        match self {
            Self::New(file) => FileAt::New(file),
            Self::Old(row) => FileAt::Old(*row),
        }
    }
}

impl Origins {
    /// Puts what was settled now, sorted by key, in the place of the rows of the same origins, or between the others.
    pub(super) fn new(resolved: Vec<Resolved>, previous: Option<&Previous>) -> Result<Self> {
        let order = previous.map(|previous| merge(&resolved, previous)).transpose()?;
        Ok(Self { resolved, order })
    }

    pub(super) fn len(&self) -> usize {
        self.order.as_ref().map_or(self.resolved.len(), Vec::len)
    }

    /// How many are rows of the previous snapshot.
    pub(super) fn taken_over(&self) -> u64 {
        let slots = self.order.iter().flatten();
        slots.filter(|slot| matches!(slot, Slot::TakenOver(_))).count() as u64
    }

    pub(super) fn get<'a>(&'a self, i: usize, previous: Option<&'a Previous>) -> Result<OriginAt<'a>> {
        match self.order.as_ref().map_or(Slot::Resolved(i as u32), |order| order[i]) {
            Slot::Resolved(i) => Ok(resolved_origin(&self.resolved[i as usize])),
            Slot::TakenOver(row) => {
                let entry = previous.ok_or_else(|| damaged(Error::corrupt("no rows")))?.origin(row)?;
                let (source, detail) = entry.strings();
                Ok(OriginAt {
                    key: entry.key(),
                    outcome: entry.outcome().clone(),
                    file: entry.rules_file().map(FileAt::Old),
                    last_good: entry.last_good().map(FileAt::Old),
                    source,
                    detail,
                })
            }
        }
    }
}

fn resolved_origin(origin: &Resolved) -> OriginAt<'_> {
    OriginAt {
        key: &origin.key,
        outcome: origin.outcome.clone(),
        file: origin.file.as_ref().map(FileRef::at),
        last_good: origin.last_good.as_ref().map(FileRef::at),
        source: origin.source.as_deref(),
        detail: origin.detail.as_deref(),
    }
}

fn merge(resolved: &[Resolved], previous: &Previous) -> Result<Vec<Slot>> {
    let mut order = Vec::with_capacity(previous.origin_count() as usize + resolved.len());
    let mut new = resolved.iter().map(|origin| &*origin.key).zip(0..).peekable();
    let mut last: Option<&[u8]> = None;
    for row in 0..previous.origin_count() {
        let entry = previous.origin(row)?;
        let key = entry.key();
        if last >= Some(key) {
            return Err(damaged(Error::corrupt("the origins are out of order")));
        }
        last = Some(key);
        while let Some((_, i)) = new.next_if(|(other, _)| *other < key) {
            order.push(Slot::Resolved(i));
        }
        match new.next_if(|(other, _)| *other == key) {
            Some((_, i)) => order.push(Slot::Resolved(i)),
            None => order.push(Slot::TakenOver(row)),
        }
    }
    order.extend(new.map(|(_, i)| Slot::Resolved(i)));
    Ok(order)
}
