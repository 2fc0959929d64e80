//! Judges columns on several threads.
//!
//! Each call starts its own threads and ends them. A pool would not survive `os.fork`, which
//! `multiprocessing` and Spark use: the child has none of the threads that the pool counts on.
//! Starting them takes some 30 microseconds per thread, and large columns take milliseconds.

use crate::column::{TextRows, dictionary_keys, text, validity};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use robosieve::judge::{Rows, VerdictsRef};
use robosieve::threads::{cores, max_threads};
use robosieve::{Error, ErrorKind, Judge, Result};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Smaller columns are judged on the calling thread, unless the caller says otherwise.
const SINGLE_THREADED: usize = 64 << 10;

/// The rows of a task. A task takes about a millisecond.
const TASK: usize = 16 << 10;

/// The argument `threads`: a number, -1 for all cores as in joblib, or `None` for the default.
///
/// # Errors
/// `TypeError` for other types, `ValueError` for 0 and other negative numbers.
pub(crate) fn threads_argument(given: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if given.is_none() {
        return Ok(None);
    }
    let Ok(number) = given.extract::<i64>() else {
        // Larger numbers than any machine has cores are not an error.
        return given.extract::<usize>().map(Some).map_err(|_| {
            let kind = given.get_type();
            PyTypeError::new_err(format!("threads is of type {kind}; give a whole number"))
        });
    };
    match (number, usize::try_from(number)) {
        (-1, _) => Ok(Some(cores())),
        (1.., Ok(threads)) => Ok(Some(threads)),
        _ => Err(PyValueError::new_err(format!(
            "threads={number}; give at least 1, -1 for all cores, or None for the default"
        ))),
    }
}

/// The number of threads for a column.
pub(crate) fn threads_for(rows: usize, threads: Option<usize>) -> usize {
    match threads {
        Some(threads) => threads.min(max_threads()),
        None if rows < SINGLE_THREADED => 1,
        None => cores(),
    }
}

/// Judges the rows of all arrays into `width` values per row, one row after the other. `fill` sets
/// the values of neighbouring rows with the same verdicts. Rows that are null get any value. With
/// `times`, each row is judged as of its own, and there is one for each row of all arrays.
pub(crate) fn judge_wide<T: Copy + Default + Send + Sync>(
    judge: &Judge,
    arrays: &[ArrayData],
    times: Option<&[Option<i64>]>,
    threads: usize,
    width: usize,
    fill: impl Fn(VerdictsRef<'_>, &mut [T]) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    let rows = arrays.iter().map(ArrayData::len).sum();
    let mut values = reserved(rows, width)?;
    values.resize(width * rows, T::default());
    let mut rest = values.as_mut_slice();
    let mut rest_times = times;
    let (mut columns, mut dictionaries) = (Vec::new(), Vec::new());
    for array in arrays {
        let out = rest
            .split_off_mut(..width * array.len())
            .unwrap_or_default();
        let times = rest_times
            .as_mut()
            .and_then(|times| times.split_off(..array.len()));
        match array.data_type() {
            DataType::Dictionary(..) => dictionaries.push((array, times, out)),
            _ => columns.push(JudgedColumn {
                texts: TextRows::new(array),
                times,
                out,
            }),
        }
    }
    judge_columns(judge, &mut columns, threads, width, &fill)?;
    for (dictionary, times, out) in dictionaries {
        if let Some(times) = times {
            judge_dictionary_rows(judge, dictionary, times, width, out, &fill)?;
            continue;
        }
        // The distinct values are judged once each. They cannot be dictionaries themselves.
        let texts = &dictionary.child_data()[0];
        let mut distinct = reserved(texts.len(), width)?;
        distinct.resize(width * texts.len(), T::default());
        judge_columns(
            judge,
            &mut [JudgedColumn {
                texts: TextRows::new(texts),
                times: None,
                out: &mut distinct,
            }],
            threads,
            width,
            &fill,
        )?;
        let distinct: Vec<&[T]> = distinct.chunks(width).collect();
        let rows = out.chunks_mut(width).zip(dictionary_keys(dictionary));
        for (row, (out, key)) in rows.enumerate() {
            match distinct.get(key) {
                Some(values) => out.copy_from_slice(values),
                None if dictionary.is_null(row) => {}
                None => return Err(outside_dictionary(row, texts.len())),
            }
        }
    }
    Ok(values)
}

/// A vector with room for `width` values per row. The number of rows is what an array claims.
///
/// # Errors
/// [`ErrorKind::BadColumn`] if there is not so much memory.
fn reserved<T>(rows: usize, width: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    if values
        .try_reserve_exact(rows.saturating_mul(width))
        .is_err()
    {
        let what = format!("there is not enough memory for the results of {rows} rows");
        return Err(ErrorKind::BadColumn(what).into());
    }
    Ok(values)
}

/// Judges the rows of a dictionary, each as of its own time, on this thread: a value has other
/// verdicts at other times.
fn judge_dictionary_rows<T>(
    judge: &Judge,
    dictionary: &ArrayData,
    times: &[Option<i64>],
    width: usize,
    out: &mut [T],
    fill: &impl Fn(VerdictsRef<'_>, &mut [T]) -> Result<()>,
) -> Result<()> {
    let texts = &dictionary.child_data()[0];
    // Fails for arrays that are too short, before their offsets are read.
    TextRows::new(texts).rows(0, texts.len())?;
    let mut rows: Vec<&[u8]> = reserved(dictionary.len(), 1)?;
    for (row, key) in dictionary_keys(dictionary).into_iter().enumerate() {
        // A null has any key.
        if dictionary.is_null(row) {
            rows.push(b"");
            continue;
        }
        let value = Some(key).filter(|key| *key < texts.len());
        let value = value.and_then(|key| text(texts, key));
        rows.push(value.ok_or_else(|| outside_dictionary(row, texts.len()))?);
    }
    judge.judge_rows_as_of(Rows::Slices(&rows), times, |rows, verdicts| {
        fill(verdicts, &mut out[rows.start * width..rows.end * width])
    })
}

/// A column of URLs, and the memory for the values of its rows.
struct JudgedColumn<'c, T> {
    texts: TextRows<'c>,
    /// The time of each row, if each is judged as of its own.
    times: Option<&'c [Option<i64>]>,
    out: &'c mut [T],
}

/// Rows of a column, and the memory for their values.
struct Task<'t, T> {
    column: &'t TextRows<'t>,
    start: usize,
    /// The times of these rows.
    times: Option<&'t [Option<i64>]>,
    /// The values per row.
    width: usize,
    out: &'t mut [T],
}

impl<T: Copy> Task<'_, T> {
    fn run(
        self,
        judge: &Judge,
        fill: &impl Fn(VerdictsRef<'_>, &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let width = self.width;
        let Some(rows) = self.column.rows(self.start, self.out.len() / width)? else {
            return Ok(());
        };
        let each = |rows: Range<usize>, verdicts: VerdictsRef<'_>| {
            let values = &mut self.out[rows.start * width..rows.end * width];
            fill(verdicts, values)
        };
        match self.times {
            None => judge.judge_rows(rows, each),
            Some(times) => judge.judge_rows_as_of(rows, times, each),
        }
    }
}

fn judge_columns<T: Copy + Send>(
    judge: &Judge,
    columns: &mut [JudgedColumn<'_, T>],
    threads: usize,
    width: usize,
    fill: &(impl Fn(VerdictsRef<'_>, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    let rows = columns
        .iter()
        .map(|column| column.texts.len())
        .sum::<usize>();
    let task_len = if threads == 1 { usize::MAX } else { TASK };
    let tasks = columns.iter_mut().flat_map(|column| {
        let JudgedColumn { texts, times, out } = column;
        let (texts, times) = (&*texts, *times);
        let parts = out.chunks_mut(task_len.saturating_mul(width)).enumerate();
        parts.map(move |(part, out)| {
            let start = part * task_len.min(rows);
            Task {
                column: texts,
                start,
                times: times.and_then(|times| times.get(start..start + out.len() / width)),
                width,
                out,
            }
        })
    });
    let tasks = Mutex::new((tasks.collect::<Vec<_>>().into_iter(), Ok(())));
    let work = || {
        loop {
            let task = tasks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .0
                .next();
            let Some(task) = task else { return };
            if let Err(err) = task.run(judge, fill) {
                let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
                *tasks = (Vec::new().into_iter(), Err(err));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(rows.div_ceil(TASK)) {
            // If the system has no more threads, those that there are do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    tasks.into_inner().unwrap_or_else(PoisonError::into_inner).1
}

/// One value per row of all arrays: `value` of its text. Rows that are null get any value.
///
/// # Errors
/// Those of `value`, and [`ErrorKind::BadColumn`] for offsets or keys outside the array.
pub(crate) fn map_texts<T: Copy + Default>(
    arrays: &[ArrayData],
    mut value: impl FnMut(&[u8]) -> Result<T>,
) -> Result<Vec<T>> {
    let mut values = reserved(arrays.iter().map(ArrayData::len).sum(), 1)?;
    for array in arrays {
        let texts = match array.data_type() {
            DataType::Dictionary(..) => &array.child_data()[0],
            _ => array,
        };
        // Fails for arrays that are too short, before their offsets are read.
        TextRows::new(texts).rows(0, texts.len())?;
        let valid = validity(texts);
        let mut of_texts = reserved(texts.len(), 1)?;
        for row in 0..texts.len() {
            if valid.as_ref().is_some_and(|valid| valid.is_null(row)) {
                of_texts.push(T::default());
                continue;
            }
            let outside = || ErrorKind::BadColumn(format!("row {row} is outside of the data"));
            of_texts.push(value(text(texts, row).ok_or_else(outside)?)?);
        }
        if !matches!(array.data_type(), DataType::Dictionary(..)) {
            values.append(&mut of_texts);
            continue;
        }
        for (row, key) in dictionary_keys(array).into_iter().enumerate() {
            match of_texts.get(key) {
                Some(value) => values.push(*value),
                None if array.is_null(row) => values.push(T::default()),
                None => return Err(outside_dictionary(row, texts.len())),
            }
        }
    }
    Ok(values)
}

fn outside_dictionary(row: usize, values: usize) -> Error {
    let what = format!("row {row} has a key outside its dictionary of {values} values");
    ErrorKind::BadColumn(what).into()
}

/// The nulls of all arrays, one after the other; `None` without any.
pub(crate) fn nulls(arrays: &[ArrayData]) -> Option<NullBuffer> {
    let of_arrays: Vec<_> = arrays.iter().map(validity).collect();
    if of_arrays
        .iter()
        .flatten()
        .all(|nulls| nulls.null_count() == 0)
    {
        return None;
    }
    let mut bits = BooleanBufferBuilder::new(arrays.iter().map(ArrayData::len).sum());
    for (array, nulls) in arrays.iter().zip(of_arrays) {
        match nulls {
            Some(nulls) => bits.append_buffer(nulls.inner()),
            None => bits.append_n(array.len(), true),
        }
    }
    Some(NullBuffer::new(bits.finish()))
}
