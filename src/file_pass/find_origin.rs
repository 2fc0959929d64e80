//! A search for an origin by the source of its rules, for examples.

use crate::error::Result;
use crate::judge::RuleSource;
use crate::judge::engine::Engine;
use rayon::prelude::*;
use std::ops::Range;

/// The number of rows that one thread searches at a time.
const ROWS: u32 = 4096;

/// The first origin with a wanted rule source. Scans all origins, as files do not refer to origins.
pub(crate) fn find_origin(
    engine: &Engine<'_>,
    is_wanted: impl Fn(&RuleSource) -> bool + Sync,
) -> Result<Option<u32>> {
    let count = engine.snapshot().origin_count();
    let chunks = (0..count.div_ceil(ROWS)).into_par_iter();
    let found = chunks.map(|chunk| {
        let rows = chunk * ROWS..(chunk * ROWS).saturating_add(ROWS).min(count);
        first_wanted(engine, rows, &is_wanted)
    });
    found.find_first(Option::is_some).flatten().transpose()
}

/// The first of these rows with a wanted rule source, or the first error.
fn first_wanted(
    engine: &Engine<'_>,
    rows: Range<u32>,
    is_wanted: impl Fn(&RuleSource) -> bool,
) -> Option<Result<u32>> {
    for row in rows {
        match engine.rule_source(row) {
            Ok(source) if !is_wanted(&source) => {}
            Ok(_) => return Some(Ok(row)),
            Err(err) => return Some(Err(err)),
        }
    }
    None
}
