//! A column of times that a caller passed: Arrow arrays, or a list.

use crate::arrow_import::import;
use crate::column::text_bytes;
use crate::errors::exception;
use crate::judging::{map_texts, nulls};
use arrow_buffer::ArrowNativeType;
use arrow_data::ArrayData;
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyString};
use robosieve::records::{parse_row_time, time_of_float, time_of_integer};

const ACCEPTED: &str = "as_of is a time, or a column of them: an Arrow array or stream of timestamps, dates, numbers or \
                        texts, a column of pandas or NumPy, or a sequence of datetime, date, int, float, str and None";

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

const MILLISECONDS_PER_DAY: i64 = 1000 * SECONDS_PER_DAY;

/// The times of a column in seconds since 1970; `None` for null, and for what is not a time.
///
/// Numbers and texts are read as cells of lists are. A date is its last second.
///
/// # Errors
/// `TypeError` that lists the accepted types.
pub(crate) fn row_times(times: &Bound<'_, PyAny>) -> PyResult<Vec<Option<i64>>> {
    let Some(arrays) = import(times)? else {
        return list_times(times);
    };
    let mut all = Vec::new();
    for array in &arrays {
        all.extend(array_times(array)?);
    }
    Ok(all)
}

fn array_times(array: &ArrayData) -> PyResult<Vec<Option<i64>>> {
    use DataType::{
        Date32, Date64, Float32, Float64, Int8, Int16, Int32, Int64, Null, Timestamp, UInt8,
        UInt16, UInt32, UInt64,
    };
    let mut times = match array.data_type() {
        Timestamp(unit, _) => {
            let units = match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => 1_000_000_000,
            };
            numbers(array, |number: i64| Some(number.div_euclid(units)))
        }
        Date32 => numbers(array, |day: i32| Some(end_of_day(day.into()))),
        Date64 => numbers(array, |time: i64| {
            Some(end_of_day(time.div_euclid(MILLISECONDS_PER_DAY)))
        }),
        Int8 => numbers(array, |number: i8| time_of_integer(number.into())),
        Int16 => numbers(array, |number: i16| time_of_integer(number.into())),
        Int32 => numbers(array, |number: i32| time_of_integer(number.into())),
        Int64 => numbers(array, time_of_integer),
        UInt8 => numbers(array, |number: u8| time_of_integer(number.into())),
        UInt16 => numbers(array, |number: u16| time_of_integer(number.into())),
        UInt32 => numbers(array, |number: u32| time_of_integer(number.into())),
        UInt64 => numbers(array, |number: u64| {
            i64::try_from(number).ok().and_then(time_of_integer)
        }),
        Float32 => numbers(array, |number: f32| time_of_float(number.into())),
        Float64 => numbers(array, time_of_float),
        Null => vec![None; array.len()],
        kind if is_text(kind) => {
            let arrays = std::slice::from_ref(array);
            map_texts(arrays, |text| Ok(parse_row_time(text))).map_err(exception)?
        }
        kind => {
            return Err(PyTypeError::new_err(format!(
                "as_of is an Arrow array of type {kind}; {ACCEPTED}"
            )));
        }
    };
    // A row that is null has any number, or any text.
    if let Some(nulls) = nulls(std::slice::from_ref(array)) {
        for (time, is_valid) in times.iter_mut().zip(&nulls) {
            if !is_valid {
                *time = None;
            }
        }
    }
    Ok(times)
}

fn is_text(kind: &DataType) -> bool {
    use DataType::{Binary, BinaryView, Dictionary, LargeBinary, LargeUtf8, Utf8, Utf8View};
    match kind {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => true,
        Dictionary(_, values) => !matches!(**values, Dictionary(..)) && is_text(values),
        _ => false,
    }
}

fn numbers<T: ArrowNativeType>(
    array: &ArrayData,
    time: impl Fn(T) -> Option<i64>,
) -> Vec<Option<i64>> {
    // An empty array may have no buffer.
    if array.is_empty() {
        return Vec::new();
    }
    let numbers = &array.buffer::<T>(0)[..array.len()];
    numbers.iter().map(|number| time(*number)).collect()
}

/// The last second of a day since 1970.
fn end_of_day(day: i64) -> i64 {
    day.saturating_add(1).saturating_mul(SECONDS_PER_DAY) - 1
}

fn list_times(times: &Bound<'_, PyAny>) -> PyResult<Vec<Option<i64>>> {
    let Ok(items) = times.try_iter() else {
        let kind = times.get_type();
        return Err(PyTypeError::new_err(format!(
            "as_of is of type {kind}; {ACCEPTED}"
        )));
    };
    items
        .enumerate()
        .map(|(row, item)| item_time(&item?, row))
        .collect()
}

fn item_time(item: &Bound<'_, PyAny>, row: usize) -> PyResult<Option<i64>> {
    if item.is_none() {
        return Ok(None);
    }
    if item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>() {
        return Ok(parse_row_time(&text_bytes(item, ACCEPTED)?));
    }
    if item.is_instance_of::<PyInt>() {
        // A larger number is not a time.
        return Ok(item.extract::<i64>().ok().and_then(time_of_integer));
    }
    if item.is_instance_of::<PyFloat>() {
        return Ok(time_of_float(item.extract()?));
    }
    let kind = item.get_type();
    Err(PyTypeError::new_err(format!(
        "as_of: row {row} is of type {kind}; {ACCEPTED}"
    )))
}
