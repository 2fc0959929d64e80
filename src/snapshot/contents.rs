//! The contents of a snapshot, as its writer reads them.

use crate::error::Result;
use crate::matcher::encoded_set::EncodedSet;
use crate::snapshot::format::Metadata;
use crate::snapshot::outcome::Outcome;
use rayon::prelude::*;
use std::ops::Range;

/// The contents of a snapshot, numbered as in the file.
///
/// Rows are made on access: keeping those of millions of origins would take more memory than the
/// rest of writing. A row fails if it comes from a damaged previous snapshot.
pub(crate) trait SnapshotContents: Sync {
    fn metadata(&self) -> Metadata;

    /// Sorted and distinct; a token's number is its index.
    fn tokens(&self) -> Vec<&[u8]>;

    fn rule_set_count(&self) -> usize;

    fn rule_set(&self, number: usize) -> Result<RuleSetContents<'_>>;

    fn file_count(&self) -> usize;

    fn file(&self, number: usize) -> Result<FileContents<'_>>;

    /// The named agents of a file, sorted by token. They are apart from [`FileContents`] because
    /// only one pass of writing needs them.
    fn named(&self, file: usize) -> Result<Vec<NamedContents>>;

    fn origin_count(&self) -> usize;

    /// Sorted by key and distinct.
    fn origin(&self, row: usize) -> Result<OriginContents<'_>>;
}

/// The rules of one or more agent names.
pub(crate) enum RuleSetContents<'a> {
    /// One encoded rule set, of this compilation or of the previous snapshot.
    Set(EncodedSet<'a>),
    /// Numbers of rule sets that are judged together, all lower than its own.
    Union(Vec<u32>),
}

/// One robots.txt.
pub(crate) struct FileContents<'a> {
    /// The number of the rule set for all agents that are not named.
    pub global: Option<u32>,
    pub named_len: u32,
    pub frame: &'a [u8],
    pub raw_len: u32,
}

/// A named agent of a robots.txt.
pub(crate) struct NamedContents {
    pub token: u32,
    /// The number of its rule set.
    pub rule_set: u32,
}

/// One origin; files by number.
pub(crate) struct OriginContents<'a> {
    pub key: &'a [u8],
    pub outcome: Outcome,
    pub file: Option<u32>,
    pub last_good: Option<u32>,
    pub source: Option<&'a [u8]>,
    pub detail: Option<&'a [u8]>,
}

/// Rows per parallel task.
const ROWS_PER_TASK: usize = 1 << 9;

/// The numbers of `len` rows, in ranges of `count`.
pub(super) fn row_ranges(len: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(count).map(move |start| start..len.min(start + count))
}

/// Maps a range of rows on all threads.
pub(super) fn par_map_rows<T: Send>(
    rows: Range<usize>,
    map: impl Fn(usize) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    rows.into_par_iter().map(map).collect()
}

/// Folds a range of rows on all threads; returns one part per task, in order.
pub(super) fn par_fold_rows<P: Default + Send>(
    rows: Range<usize>,
    add: impl Fn(usize, &mut P) -> Result<()> + Sync,
) -> Result<Vec<P>> {
    let fold_task = |start: usize| -> Result<P> {
        let mut part = P::default();
        (start..rows.end.min(start + ROWS_PER_TASK)).try_for_each(|i| add(i, &mut part))?;
        Ok(part)
    };
    rows.clone().into_par_iter().step_by(ROWS_PER_TASK).map(fold_task).collect()
}

/// The sums of some numbers of each row, computed on all threads.
pub(super) fn par_sum_rows<const N: usize>(
    len: usize,
    of: impl Fn(usize) -> Result<[u64; N]> + Sync + Send,
) -> Result<[u64; N]> {
    let add = |a: [u64; N], b: [u64; N]| Ok(std::array::from_fn(|i| a[i] + b[i]));
    (0..len).into_par_iter().map(of).try_reduce(|| [0; N], add)
}
