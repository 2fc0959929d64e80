//! The origins of each robots.txt, counted on all threads.

use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// For each robots.txt of a snapshot the origins that use it. Eight bytes per file.
pub(crate) struct FileUses(Vec<Uses>);

/// The uses of a file, which several threads add to.
struct Uses {
    origins: AtomicU32,
    /// The least row of an origin that uses the file.
    first_row: AtomicU32,
}

/// A robots.txt that at least one origin uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsedFile {
    /// Its number.
    pub file: u32,
    /// How many origins use it. Rows of origins are numbered in four bytes.
    pub origins: u32,
    /// The row of the first of them.
    pub first_row: u32,
}

impl FileUses {
    /// Uses that are not counted yet.
    fn none(snapshot: &Snapshot) -> Self {
        let unused = (0..snapshot.file_count()).map(|_| Uses {
            origins: AtomicU32::new(0),
            first_row: AtomicU32::new(u32::MAX),
        });
        Self(unused.collect())
    }

    /// Counts all origins by the robots.txt of their newest answer. Last good copies do not count.
    pub(crate) fn of_newest_answers(snapshot: &Snapshot) -> Result<Self> {
        let uses = Self::none(snapshot);
        (0..snapshot.origin_count())
            .into_par_iter()
            .try_for_each(|row| match snapshot.origin_at(row)?.rules_file() {
                Some(file) => uses.add(file, row),
                None => Ok(()),
            })?;
        Ok(uses)
    }

    /// Counts the origin in a row for a file. Any thread may call this.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if there is no such file.
    #[inline]
    fn add(&self, file: u32, row: u32) -> Result<()> {
        let Some(uses) = self.0.get(file as usize) else {
            return Err(Error::corrupt("the number of an origin's robots.txt"));
        };
        uses.origins.fetch_add(1, Ordering::Relaxed);
        // A thread visits rows in ascending order, so the first one nearly always stays the first.
        if row < uses.first_row.load(Ordering::Relaxed) {
            uses.first_row.fetch_min(row, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The number of origins that were counted.
    pub(crate) fn origins(&self) -> u64 {
        self.0
            .par_iter()
            .map(|uses| u64::from(uses.origins.load(Ordering::Relaxed)))
            .sum()
    }

    /// The used files, one by one, on all threads.
    pub(crate) fn files(&self) -> impl ParallelIterator<Item = UsedFile> {
        let files = self.0.par_iter().enumerate();
        files.filter_map(|(file, uses)| uses.used(file))
    }
}

impl Uses {
    fn used(&self, file: usize) -> Option<UsedFile> {
        let origins = self.origins.load(Ordering::Relaxed);
        (origins > 0).then(|| UsedFile {
            // Files are numbered in four bytes.
            file: file as u32,
            origins,
            first_row: self.first_row.load(Ordering::Relaxed),
        })
    }
}
