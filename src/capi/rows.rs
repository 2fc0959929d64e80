//! Columns of URLs into buffers of the caller: per row a verdict for each agent, one mask, or whether
//! it is allowed.

use super::judge::robosieve_judge;
use super::options::require_of;
use super::pointers::{output, reference, slice};
use super::status::{Failure, guard, robosieve_status};
use super::verdict::number;
use crate::judge::{Judge, Rows, VerdictsRef};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Judges a column of URLs with 32-bit offsets, the layout of Arrow's `Utf8` and `Binary`.
///
/// Row `i` is the bytes from `offsets[i]` up to `offsets[i + 1]` of `data`, so `offsets` has
/// `row_count + 1` numbers. A slice of a column starts at a later offset. `verdicts` has room for
/// `verdicts_len` numbers, at least `row_count` times the number of agents. It gets values of
/// `robosieve_verdict`: those of row 0 for all agents, then those of row 1, and so on.
///
/// Rows are arbitrary bytes. A null row has the verdict of its bytes: apply the validity of the
/// column to the result. Offsets are checked to ascend and to stay within `data_len`; `data` is
/// trusted to have `data_len` bytes.
///
/// Cost: one pass over the offsets, then the rows in batches on the calling thread. To use more
/// threads, give each its own rows. A hundred rows per call are enough.
///
/// Errors: BAD_ARGUMENT, BAD_COLUMN (both before any row is judged), CORRUPT. After an error,
/// the content of `verdicts` is unspecified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_rows32(
    judge: *const robosieve_judge,
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    row_count: usize,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe {
            judge_rows(
                judge,
                Rows::Offsets32 { data, offsets },
                None,
                verdicts,
                verdicts_len,
            )
        }
    })
}

/// Judges a column of URLs with 64-bit offsets, the layout of Arrow's `LargeUtf8` and
/// `LargeBinary`. Everything else is as for `robosieve_judge_rows32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_rows64(
    judge: *const robosieve_judge,
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    row_count: usize,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe {
            judge_rows(
                judge,
                Rows::Offsets64 { data, offsets },
                None,
                verdicts,
                verdicts_len,
            )
        }
    })
}

/// The time of a row that has none: `INT64_MIN` in C.
const NO_TIME: i64 = i64::MIN;

/// Judges a column of URLs with 32-bit offsets, each by the rules in force at its own time.
///
/// The column and the verdicts are those of `robosieve_judge_rows32`. `times` has a time for each
/// row, in seconds since 1970, or `INT64_MIN` for a row without one. The option `no_time` of the judge says what
/// such a row gets. The snapshot has a history (docs/C.md). Before the first
/// capture of an origin, its URLs are unknown.
///
/// Cost: that of `robosieve_judge_rows32`, and eight bytes copied per row. A row of an earlier time
/// than the newest rules of its origin takes longer: its robots.txt is parsed, and kept for the rows
/// that follow. Rows that are sorted by origin and time are the fastest.
///
/// Errors: as for `robosieve_judge_rows32`; BAD_ARGUMENT also for a snapshot without a history.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_rows32_as_of(
    judge: *const robosieve_judge,
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    row_count: usize,
    times: *const i64,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe {
            judge_rows(
                judge,
                Rows::Offsets32 { data, offsets },
                Some(times),
                verdicts,
                verdicts_len,
            )
        }
    })
}

/// Judges a column of URLs with 64-bit offsets, each by the rules in force at its own time.
/// Everything else is as for `robosieve_judge_rows32_as_of`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_rows64_as_of(
    judge: *const robosieve_judge,
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    row_count: usize,
    times: *const i64,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe {
            judge_rows(
                judge,
                Rows::Offsets64 { data, offsets },
                Some(times),
                verdicts,
                verdicts_len,
            )
        }
    })
}

/// Judges a column of URLs with 32-bit offsets into one mask per row.
///
/// The column is that of `robosieve_judge_rows32`. Bit `k` of `masks[i]` is 1 if agent `k` may
/// fetch row `i`. `masks` has room for `row_count` numbers. The judge has at most 63 agents, so no
/// mask is negative.
///
/// `unjudged` may be NULL, or has room for `row_count` numbers. It gets 0 for a row with verdicts,
/// else `ROBOSIEVE_VERDICT_UNKNOWN` or `ROBOSIEVE_VERDICT_NOT_A_URL`, which hold for all agents;
/// the mask of such a row is 0.
///
/// Errors: as for `robosieve_judge_rows32`; BAD_ARGUMENT also for more than 63 agents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_masks32(
    judge: *const robosieve_judge,
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    row_count: usize,
    masks: *mut i64,
    unjudged: *mut i8,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe { judge_masks(judge, Rows::Offsets32 { data, offsets }, masks, unjudged) }
    })
}

/// Judges a column of URLs with 64-bit offsets into one mask per row. Everything else is as for
/// `robosieve_judge_masks32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_masks64(
    judge: *const robosieve_judge,
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    row_count: usize,
    masks: *mut i64,
    unjudged: *mut i8,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe { judge_masks(judge, Rows::Offsets64 { data, offsets }, masks, unjudged) }
    })
}

/// Whether each URL of a column with 32-bit offsets may be fetched: 1 or 0 per row.
///
/// A row of an unknown origin gets 0, unless the option `unknown_origin` of the judge allows it. A
/// row that is not a URL gets 0. `robosieve_judge_rows32` tells these rows from disallowed ones.
///
/// The column is that of `robosieve_judge_rows32`, also for null rows. `require` is a value of
/// `robosieve_require`: the number of agents that must be allowed to fetch a row. `allowed` has room
/// for `allowed_len` numbers, at least `row_count`.
///
/// Cost: that of `robosieve_judge_rows32`.
///
/// Errors: as for `robosieve_judge_rows32`; BAD_ARGUMENT also for another value of `require`. After
/// an error, the content of `allowed` is unspecified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_allowed32(
    judge: *const robosieve_judge,
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    row_count: usize,
    require: i32,
    allowed: *mut i8,
    allowed_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe {
            judge_allowed(
                judge,
                Rows::Offsets32 { data, offsets },
                require,
                allowed,
                allowed_len,
            )
        }
    })
}

/// Whether each URL of a column with 64-bit offsets may be fetched. Everything else is as for
/// `robosieve_judge_allowed32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_allowed64(
    judge: *const robosieve_judge,
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    row_count: usize,
    require: i32,
    allowed: *mut i8,
    allowed_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe {
            judge_allowed(
                judge,
                Rows::Offsets64 { data, offsets },
                require,
                allowed,
                allowed_len,
            )
        }
    })
}

/// The most agents that fit a mask: the sign bit of an `int64_t` stays 0.
const MAX_MASK_AGENTS: usize = 63;

/// Data and offsets of a column. Without rows, there need not be offsets.
///
/// # Safety
/// As the [module](super) states.
pub(super) unsafe fn column<'a, O>(
    data: *const c_void,
    data_len: usize,
    offsets: *const O,
    row_count: usize,
) -> Result<(&'a [u8], &'a [O]), Failure> {
    let offset_count = if row_count == 0 {
        0
    } else {
        row_count.saturating_add(1)
    };
    // SAFETY: as the caller guarantees.
    unsafe {
        Ok((
            slice(data.cast(), data_len, "data")?,
            slice(offsets, offset_count, "offsets")?,
        ))
    }
}

/// # Safety
/// As the [module](super) states.
unsafe fn judge_rows(
    judge: *const robosieve_judge,
    rows: Rows<'_>,
    times: Option<*const i64>,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> Result<(), Failure> {
    // SAFETY: as the caller guarantees.
    let judge = unsafe { &reference(judge, "judge")?.judge };
    let row_count = rows.len();
    let agents = judge.agents().len();
    let Some(count) = row_count
        .checked_mul(agents)
        .filter(|count| *count <= verdicts_len)
    else {
        let what = format!(
            "verdicts has room for {verdicts_len} numbers, too few for {row_count} rows of {agents}"
        );
        return Err(Failure::bad_argument(what));
    };
    // SAFETY: as above.
    let out = unsafe { output(verdicts, count, "verdicts")? };
    let Some(times) = times else {
        return write_verdicts(judge, out, |each| judge.judge_rows(rows, each));
    };
    // SAFETY: as above.
    let times: Vec<Option<i64>> = unsafe { slice(times, row_count, "times")? }
        .iter()
        .map(|time| Some(*time).filter(|time| *time != NO_TIME))
        .collect();
    write_verdicts(judge, out, |each| {
        judge.judge_rows_as_of(rows, &times, each)
    })
}

/// Receives the rows of a run, and their verdicts.
type EachRun<'e> = &'e mut dyn FnMut(Range<usize>, VerdictsRef<'_>) -> crate::error::Result<()>;

/// Writes the verdicts that `judge_all` passes on.
fn write_verdicts(
    judge: &Judge,
    out: &mut [MaybeUninit<i8>],
    judge_all: impl FnOnce(EachRun<'_>) -> crate::error::Result<()>,
) -> Result<(), Failure> {
    let agents = judge.agents().len();
    let mut row = Vec::with_capacity(agents);
    judge_all(&mut |range, verdicts| {
        let cells = &mut out[range.start * agents..range.end * agents];
        if agents == 1 {
            cells.fill(MaybeUninit::new(number(verdicts.get(0))));
            return Ok(());
        }
        row.clear();
        verdicts.append(|verdict| number(verdict).cast_unsigned(), &mut row);
        for cells in cells.chunks_exact_mut(agents) {
            cells
                .iter_mut()
                .zip(&row)
                .for_each(|(cell, number)| _ = cell.write(number.cast_signed()));
        }
        Ok(())
    })?;
    Ok(())
}

/// # Safety
/// As the [module](super) states.
unsafe fn judge_masks(
    judge: *const robosieve_judge,
    rows: Rows<'_>,
    masks: *mut i64,
    unjudged: *mut i8,
) -> Result<(), Failure> {
    // SAFETY: as the caller guarantees.
    let judge = unsafe { &reference(judge, "judge")?.judge };
    let agents = judge.agents().len();
    if agents > MAX_MASK_AGENTS {
        let what =
            format!("the judge has {agents} agents, but a mask has room for {MAX_MASK_AGENTS}");
        return Err(Failure::bad_argument(what));
    }
    // SAFETY: as above.
    let masks = unsafe { output(masks, rows.len(), "masks")? };
    let unjudged_len = if unjudged.is_null() { 0 } else { rows.len() };
    // SAFETY: as above.
    let unjudged = unsafe { output(unjudged, unjudged_len, "unjudged")? };
    judge.judge_rows(rows, |range, verdicts| {
        masks[range.clone()].fill(MaybeUninit::new(verdicts.mask()));
        if let Some(cells) = unjudged.get_mut(range) {
            cells.fill(MaybeUninit::new(verdicts.unjudged().map_or(0, number)));
        }
        Ok(())
    })?;
    Ok(())
}

/// # Safety
/// As the [module](super) states.
unsafe fn judge_allowed(
    judge: *const robosieve_judge,
    rows: Rows<'_>,
    require: i32,
    allowed: *mut i8,
    allowed_len: usize,
) -> Result<(), Failure> {
    // SAFETY: as the caller guarantees.
    let judge = unsafe { &reference(judge, "judge")?.judge };
    let require = require_of("require", require)?;
    let row_count = rows.len();
    if allowed_len < row_count {
        let what = format!("allowed has room for {allowed_len} of {row_count} rows");
        return Err(Failure::bad_argument(what));
    }
    // SAFETY: as above.
    let allowed = unsafe { output(allowed, row_count, "allowed")? };
    judge.judge_rows(rows, |range, verdicts| {
        let is_allowed = i8::from(verdicts.is_allowed(require));
        allowed[range].fill(MaybeUninit::new(is_allowed));
        Ok(())
    })?;
    Ok(())
}
