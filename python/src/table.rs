//! Reads values of any fitting Arrow type out of a column of a table.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, TimeUnit};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// A column of a table, with its name for messages.
pub(crate) struct Column<'t> {
    name: &'t str,
    column: &'t ArrayRef,
    /// The values: the column itself, or those of its dictionary.
    values: &'t ArrayRef,
    /// For a dictionary, the number of the value of each row.
    keys: Option<Vec<usize>>,
}

/// The column of this name; `None` if the table has none.
pub(crate) fn column<'t>(table: &'t StructArray, name: &'t str) -> Option<Column<'t>> {
    let column = table.column_by_name(name)?;
    Some(match column.as_any_dictionary_opt() {
        None => Column { name, column, values: column, keys: None },
        Some(dictionary) => {
            // Without values all rows are null.
            let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            Column { name, column, values: dictionary.values(), keys: Some(keys) }
        }
    })
}

impl<'t> Column<'t> {
    fn error<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("column {:?} has the type {}; {what}", self.name, self.column.data_type()))
    }

    /// The place of a row's value; `None` if it is null.
    fn place(&self, row: usize) -> Option<usize> {
        let place = match &self.keys {
            _ if self.column.is_null(row) => return None,
            None => row,
            Some(keys) => keys[row],
        };
        let is_null = self.values.is_null(place) || *self.values.data_type() == DataType::Null;
        (!is_null).then_some(place)
    }

    /// The bytes of a text in a row; `None` if it is null.
    ///
    /// # Errors
    /// A message about a column of another type.
    pub(crate) fn text(&self, row: usize) -> Result<Option<&'t [u8]>, String> {
        let Some(place) = self.place(row) else { return Ok(None) };
        match text(self.values, place) {
            Some(text) => Ok(Some(text)),
            None => self.error("a text is a string, binary or a dictionary of them"),
        }
    }

    /// The whole number in a row; `None` if it is null.
    ///
    /// # Errors
    /// A message about a column of another type, or about a text that is no number.
    pub(crate) fn integer(&self, row: usize) -> Result<Option<i64>, String> {
        use DataType::{Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        let Some(place) = self.place(row) else { return Ok(None) };
        Ok(match self.values.data_type() {
            Int8 => Some(value::<Int8Type>(self.values, place).into()),
            Int16 => Some(value::<Int16Type>(self.values, place).into()),
            Int32 => Some(value::<Int32Type>(self.values, place).into()),
            Int64 => Some(value::<Int64Type>(self.values, place)),
            UInt8 => Some(value::<UInt8Type>(self.values, place).into()),
            UInt16 => Some(value::<UInt16Type>(self.values, place).into()),
            UInt32 => Some(value::<UInt32Type>(self.values, place).into()),
            UInt64 => Some(value::<UInt64Type>(self.values, place).try_into().unwrap_or(i64::MAX)),
            // pandas makes floating-point numbers of integers with gaps, and NaN of the gaps.
            Float64 => {
                let number = value::<arrow_array::types::Float64Type>(self.values, place);
                if number.is_nan() {
                    return Ok(None);
                }
                if number.fract() != 0.0 {
                    return Err(format!("column {:?}: {number} is not a whole number", self.name));
                }
                Some(number as i64)
            }
            _ => match text(self.values, place) {
                Some(text) => Some(self.parse_integer(text)?),
                None => return self.error("a number is an integer, or a text of one"),
            },
        })
    }

    fn parse_integer(&self, text: &[u8]) -> Result<i64, String> {
        let parsed = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
        parsed.ok_or_else(|| format!("column {:?}: {:?} is not a number", self.name, String::from_utf8_lossy(text)))
    }

    /// The time in a row, in seconds since 1970; `None` if it is null.
    ///
    /// # Errors
    /// A message about a column of another type, or about a text that is no time.
    pub(crate) fn time(&self, row: usize) -> Result<Option<i64>, String> {
        use DataType::{Date32, Date64, Timestamp};
        let Some(place) = self.place(row) else { return Ok(None) };
        let seconds = match self.values.data_type() {
            Timestamp(TimeUnit::Second, _) => value::<TimestampSecondType>(self.values, place),
            Timestamp(TimeUnit::Millisecond, _) => {
                value::<TimestampMillisecondType>(self.values, place).div_euclid(1_000)
            }
            Timestamp(TimeUnit::Microsecond, _) => {
                value::<TimestampMicrosecondType>(self.values, place).div_euclid(1_000_000)
            }
            Timestamp(TimeUnit::Nanosecond, _) => {
                value::<TimestampNanosecondType>(self.values, place).div_euclid(1_000_000_000)
            }
            Date32 => i64::from(value::<Date32Type>(self.values, place)) * 86_400,
            Date64 => value::<Date64Type>(self.values, place).div_euclid(1_000),
            _ => match text(self.values, place) {
                Some(text) => return self.parse_time(text).map(Some),
                None => match self.integer(row)? {
                    Some(seconds) => seconds,
                    None => return Ok(None),
                },
            },
        };
        // Milliseconds taken for seconds exceed the last representable year.
        if jiff::Timestamp::from_second(seconds).is_err() {
            return Err(format!("column {:?}: {seconds} is not a time in seconds since 1970", self.name));
        }
        Ok(Some(seconds))
    }

    /// A time in RFC 3339, or a time or date without a zone, which is UTC.
    fn parse_time(&self, text: &[u8]) -> Result<i64, String> {
        let parse = || {
            let text = std::str::from_utf8(text).ok()?.trim();
            if let Ok(time) = text.parse::<jiff::Timestamp>() {
                return Some(time.as_second());
            }
            let local = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(|date| date.at(0, 0, 0, 0)));
            Some(local.ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
        };
        let shown = String::from_utf8_lossy(text);
        parse().ok_or_else(|| format!("column {:?}: {shown:?} is not a time like 2026-10-01T12:00:00Z", self.name))
    }
}

fn value<T: ArrowPrimitiveType>(array: &ArrayRef, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

/// The text in a row that is not null; `None` if the array has another type.
fn text(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => array.as_string_view().value(row).as_bytes(),
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => return None,
    })
}
