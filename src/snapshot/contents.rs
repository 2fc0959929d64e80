//! What a snapshot is to hold, numbered as it will lie in the file.

use crate::error::Result;
use crate::matcher::encoded_set::EncodedSet;
use crate::profile::Profile;
use crate::snapshot::format::Counts;
use crate::snapshot::outcome::Outcome;
use rayon::prelude::*;
use std::ops::Range;

/// Everything a snapshot holds, numbered as it will lie in the file.
pub(crate) struct Contents<'a> {
    pub profile: Profile,
    pub counts: Counts,
    pub captured: Option<(i64, i64)>,
    /// Sorted and distinct; a token's number is its index.
    pub tokens: Vec<&'a [u8]>,
    pub rule_sets: Rows<'a, RuleSetContents<'a>>,
    pub files: Rows<'a, FileContents<'a>>,
    /// Sorted by key and distinct.
    pub origins: Rows<'a, OriginContents<'a>>,
}

/// Rows that one thread takes at a time.
const ROWS_OF_A_PART: usize = 1 << 9;

/// Rows that are made when they are asked for: kept beside what they are made of, those of millions of origins would take more memory than
/// the rest of writing. A row that another snapshot has may turn out to be damaged.
pub(crate) struct Rows<'a, T> {
    len: usize,
    row: Box<dyn Fn(usize) -> Result<T> + Sync + 'a>,
}

impl<'a, T> Rows<'a, T> {
    /// So many rows, made by their numbers.
    pub(crate) fn new(len: usize, row: impl Fn(usize) -> Result<T> + Sync + 'a) -> Self {
        Self { len, row: Box::new(row) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Result<T>> + '_ {
        (0..self.len).map(|i| (self.row)(i))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The numbers of all rows, so many at a time.
    pub(super) fn parts(&self, count: usize) -> impl Iterator<Item = Range<usize>> + use<T> {
        let len = self.len;
        (0..len).step_by(count).map(move |start| start..len.min(start + count))
    }

    /// Some rows turned into something, on all threads.
    pub(super) fn par_map<R: Send>(&self, rows: Range<usize>, map: impl Fn(T) -> Result<R> + Sync) -> Result<Vec<R>> {
        rows.into_par_iter().map(|i| map((self.row)(i)?)).collect()
    }

    /// Gathers some rows into parts, on all threads.
    pub(super) fn par_parts<P: Default + Send>(
        &self,
        rows: Range<usize>,
        add: impl Fn(usize, T, &mut P) -> Result<()> + Sync,
    ) -> Result<Vec<P>> {
        let gather = |start: usize| -> Result<P> {
            let mut part = P::default();
            for i in start..rows.end.min(start + ROWS_OF_A_PART) {
                add(i, (self.row)(i)?, &mut part)?;
            }
            Ok(part)
        };
        rows.clone().into_par_iter().step_by(ROWS_OF_A_PART).map(gather).collect()
    }

    /// Numbers of each row, summed up over all.
    pub(super) fn par_sum<const N: usize>(&self, of: impl Fn(T) -> [u64; N] + Sync) -> Result<[u64; N]> {
        let add = |a: [u64; N], b: [u64; N]| Ok(std::array::from_fn(|i| a[i] + b[i]));
        (0..self.len).into_par_iter().map(|i| Ok(of((self.row)(i)?))).try_reduce(|| [0; N], add)
    }
}

/// What one or more agent names are told.
pub(crate) enum RuleSetContents<'a> {
    /// One encoded rule set, of this compilation or of the previous snapshot.
    Set(EncodedSet<'a>),
    /// Indices of rule sets, all lower than its own, that are judged together.
    Union(Vec<u32>),
}

/// Tokens and their rule sets, sorted by token: made when they are asked for, as each is a look at memory far away.
pub(crate) type Named<'a> = Box<dyn Fn() -> Result<Vec<(u32, u32)>> + 'a>;

/// One robots.txt; rule sets and tokens by index.
pub(crate) struct FileContents<'a> {
    pub global: Option<u32>,
    pub named_len: u32,
    pub named: Named<'a>,
    pub frame: &'a [u8],
    pub raw_len: u32,
}

/// One origin; files by index.
pub(crate) struct OriginContents<'a> {
    pub key: &'a [u8],
    pub outcome: Outcome,
    pub file: Option<u32>,
    pub last_good: Option<u32>,
    pub source: Option<&'a [u8]>,
    pub detail: Option<&'a [u8]>,
}
