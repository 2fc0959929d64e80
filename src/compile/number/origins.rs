//! The origins of the new snapshot: a merge of resolved origins with rows of the previous snapshot.

use crate::compile::incremental::previous::{PreviousSnapshot, damaged};
use crate::compile::ingest::file_store::InternedFile;
use crate::compile::resolve::resolved_origin::{FileRef, FileView, ResolvedOrigin};
use crate::error::{Error, Result};
use crate::snapshot::Outcome;
use std::sync::Arc;

/// The previous snapshot, if there is one.
#[derive(Debug, Default)]
pub(crate) struct PreviousFiles {
    pub snapshot: Option<PreviousSnapshot>,
    /// By row, its files compiled again, if its rule sets cannot be copied; else empty.
    pub recompiled: Vec<Arc<InternedFile>>,
}

impl PreviousFiles {
    /// The file to store: the row of the previous snapshot if that can be copied, else the new
    /// file.
    pub(super) fn stored<'a>(&'a self, file: FileView<'a>) -> FileView<'a> {
        match file {
            FileView::New(new) => new.previous_row.assigned().map_or(file, FileView::Previous),
            FileView::Previous(row) => self.recompiled.get(row as usize).map_or(file, FileView::New),
        }
    }

    /// # Errors
    /// If there is none.
    pub(super) fn snapshot(&self) -> Result<&PreviousSnapshot> {
        self.snapshot.as_ref().ok_or_else(|| damaged(Error::corrupt("there is none")))
    }
}

/// All origins, sorted by key. Inherited ones are kept as row numbers.
#[derive(Debug)]
pub(crate) struct MergedOrigins {
    resolved: Vec<ResolvedOrigin>,
    /// `None` without a previous snapshot.
    order: Option<Vec<OriginSlot>>,
}

#[derive(Clone, Copy, Debug)]
enum OriginSlot {
    /// A row of the previous snapshot, unchanged.
    Inherited(u32),
    /// An index into `resolved`.
    Resolved(u32),
}

/// One origin, borrowed from either source.
pub(crate) struct OriginView<'a> {
    pub key: &'a [u8],
    pub outcome: Outcome,
    pub file: Option<FileView<'a>>,
    pub last_good: Option<FileView<'a>>,
    pub source: Option<&'a [u8]>,
    pub detail: Option<&'a [u8]>,
}

impl MergedOrigins {
    /// Merges resolved origins, sorted by key, into the rows of the previous snapshot. A resolved
    /// origin replaces the row of the same key.
    pub(crate) fn new(resolved: Vec<ResolvedOrigin>, previous: Option<&PreviousSnapshot>) -> Result<Self> {
        let order = previous.map(|previous| merge(&resolved, previous)).transpose()?;
        Ok(Self { resolved, order })
    }

    pub(crate) fn len(&self) -> usize {
        self.order.as_ref().map_or(self.resolved.len(), Vec::len)
    }

    /// The number of rows inherited from the previous snapshot.
    pub(crate) fn inherited(&self) -> u64 {
        let slots = self.order.iter().flatten();
        slots.filter(|slot| matches!(slot, OriginSlot::Inherited(_))).count() as u64
    }

    pub(super) fn get<'a>(&'a self, i: usize, previous: &'a PreviousFiles) -> Result<OriginView<'a>> {
        match self.order.as_ref().map_or(OriginSlot::Resolved(i as u32), |order| order[i]) {
            OriginSlot::Resolved(i) => {
                let origin = &self.resolved[i as usize];
                Ok(OriginView {
                    key: &origin.key,
                    outcome: origin.outcome.clone(),
                    file: origin.file.as_ref().map(FileRef::view),
                    last_good: origin.last_good.as_ref().map(FileRef::view),
                    source: origin.source.as_deref(),
                    detail: origin.detail.as_deref(),
                })
            }
            OriginSlot::Inherited(row) => {
                let entry = previous.snapshot()?.origin(row)?;
                let (source, detail) = entry.strings();
                Ok(OriginView {
                    key: entry.key(),
                    outcome: entry.outcome().clone(),
                    file: entry.rules_file().map(FileView::Previous),
                    last_good: entry.last_good().map(FileView::Previous),
                    source,
                    detail,
                })
            }
        }
    }
}

/// Merges two sorted lists of keys.
fn merge(resolved: &[ResolvedOrigin], previous: &PreviousSnapshot) -> Result<Vec<OriginSlot>> {
    let mut order = Vec::with_capacity(previous.snapshot.origin_count() as usize + resolved.len());
    let mut new = resolved.iter().map(|origin| &*origin.key).zip(0..).peekable();
    let mut last: Option<&[u8]> = None;
    for row in 0..previous.snapshot.origin_count() {
        let entry = previous.origin(row)?;
        let key = entry.key();
        if last >= Some(key) {
            return Err(damaged(Error::corrupt("the origins are out of order")));
        }
        last = Some(key);
        while let Some((_, i)) = new.next_if(|(other, _)| *other < key) {
            order.push(OriginSlot::Resolved(i));
        }
        let same = new.next_if(|(other, _)| *other == key);
        order.push(same.map_or(OriginSlot::Inherited(row), |(_, i)| OriginSlot::Resolved(i)));
    }
    order.extend(new.map(|(_, i)| OriginSlot::Resolved(i)));
    Ok(order)
}
