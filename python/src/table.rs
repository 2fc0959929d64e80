//! Reads values of any fitting Arrow type out of a column of a table.

use crate::column::{dictionary_keys, text, validity};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, TimeUnit};
use robosieve::records::{parse_row_time, time_of_integer};

/// A column of a table, with its name for messages.
pub(crate) struct Column<'n> {
    name: &'n str,
    data_type: DataType,
    /// The values: the column itself, or those of its dictionary.
    values: ArrayData,
    /// For a dictionary, the number of the value of each row.
    keys: Option<Vec<usize>>,
    valid: Option<NullBuffer>,
}

/// The names of the columns of a table, an array of structs.
pub(crate) fn column_names(table: &ArrayData) -> Vec<&str> {
    match table.data_type() {
        DataType::Struct(fields) => fields.iter().map(|field| field.name().as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The column of this name; `None` if the table has none.
pub(crate) fn column<'n>(table: &ArrayData, name: &'n str) -> Option<Column<'n>> {
    let number = column_names(table)
        .iter()
        .position(|column| *column == name)?;
    let column = table.child_data()[number].slice(table.offset(), table.len());
    let (data_type, valid) = (column.data_type().clone(), validity(&column));
    Some(match data_type {
        DataType::Dictionary(..) => {
            let keys = Some(dictionary_keys(&column));
            Column {
                name,
                data_type,
                values: column.child_data()[0].clone(),
                keys,
                valid,
            }
        }
        _ => Column {
            name,
            data_type,
            values: column,
            keys: None,
            valid,
        },
    })
}

impl Column<'_> {
    fn error<T>(&self, what: &str) -> Result<T, String> {
        Err(format!(
            "column {:?} has the type {}; {what}",
            self.name, self.data_type
        ))
    }

    /// The index of a row's value; `None` if it is null.
    fn index(&self, row: usize) -> Option<usize> {
        let is_valid = self.valid.as_ref().is_none_or(|valid| valid.is_valid(row));
        let index = self.keys.as_ref().map_or(row, |keys| keys[row]);
        (is_valid && index < self.values.len()).then_some(index)
    }

    /// The bytes of a text in a row; `None` if it is null.
    ///
    /// # Errors
    /// A message about a column of another type.
    pub(crate) fn text(&self, row: usize) -> Result<Option<&[u8]>, String> {
        let Some(index) = self.index(row) else {
            return Ok(None);
        };
        match text(&self.values, index) {
            Some(text) => Ok(Some(text)),
            None => self.error("a text is a string, binary or a dictionary of them"),
        }
    }

    /// The whole number in a row; `None` if it is null.
    ///
    /// # Errors
    /// A message about a column of another type, or about a text that is not a number.
    pub(crate) fn integer(&self, row: usize) -> Result<Option<i64>, String> {
        use DataType::{Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        let Some(index) = self.index(row) else {
            return Ok(None);
        };
        Ok(match self.values.data_type() {
            Int8 => Some(value::<i8>(&self.values, index).into()),
            Int16 => Some(value::<i16>(&self.values, index).into()),
            Int32 => Some(value::<i32>(&self.values, index).into()),
            Int64 => Some(value::<i64>(&self.values, index)),
            UInt8 => Some(value::<u8>(&self.values, index).into()),
            UInt16 => Some(value::<u16>(&self.values, index).into()),
            UInt32 => Some(value::<u32>(&self.values, index).into()),
            UInt64 => Some(
                value::<u64>(&self.values, index)
                    .try_into()
                    .unwrap_or(i64::MAX),
            ),
            // pandas makes floating-point numbers of integers with gaps, and NaN of the gaps.
            Float64 => {
                let number = value::<f64>(&self.values, index);
                if number.is_nan() {
                    return Ok(None);
                }
                if number.fract() != 0.0 {
                    return Err(format!(
                        "column {:?}: {number} is not a whole number",
                        self.name
                    ));
                }
                Some(number as i64)
            }
            _ => match text(&self.values, index) {
                Some(text) => Some(self.parse_integer(text)?),
                None => return self.error("a number is an integer, or a text of one"),
            },
        })
    }

    fn parse_integer(&self, text: &[u8]) -> Result<i64, String> {
        let parsed = std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        parsed.ok_or_else(|| {
            format!(
                "column {:?}: {:?} is not a number",
                self.name,
                String::from_utf8_lossy(text)
            )
        })
    }

    /// The time in a row, in seconds since 1970; `None` if it is null.
    ///
    /// # Errors
    /// A message about a column of another type, or about a text that is not a time.
    pub(crate) fn time(&self, row: usize) -> Result<Option<i64>, String> {
        use DataType::{Date32, Date64, Timestamp};
        let Some(index) = self.index(row) else {
            return Ok(None);
        };
        let seconds = match self.values.data_type() {
            Timestamp(TimeUnit::Second, _) => value::<i64>(&self.values, index),
            Timestamp(TimeUnit::Millisecond, _) => {
                value::<i64>(&self.values, index).div_euclid(1_000)
            }
            Timestamp(TimeUnit::Microsecond, _) => {
                value::<i64>(&self.values, index).div_euclid(1_000_000)
            }
            Timestamp(TimeUnit::Nanosecond, _) => {
                value::<i64>(&self.values, index).div_euclid(1_000_000_000)
            }
            // A day is its last second, as in archives.
            Date32 => i64::from(value::<i32>(&self.values, index)) * 86_400 + 86_399,
            Date64 => value::<i64>(&self.values, index).div_euclid(1_000),
            _ => match text(&self.values, index) {
                Some(text) => return self.parse_time(text).map(Some),
                None => match self.integer(row)? {
                    Some(seconds) => seconds,
                    None => return Ok(None),
                },
            },
        };
        if jiff::Timestamp::from_second(seconds).is_ok() {
            return Ok(Some(seconds));
        }
        // Milliseconds taken for seconds exceed the last representable year.
        time_of_integer(seconds).map(Some).ok_or_else(|| {
            format!(
                "column {:?}: {seconds} is not a time in seconds since 1970",
                self.name
            )
        })
    }

    fn parse_time(&self, text: &[u8]) -> Result<i64, String> {
        parse_row_time(text).ok_or_else(|| {
            format!(
                "column {:?}: {:?} is not a time like 2026-10-01T12:00:00Z",
                self.name,
                String::from_utf8_lossy(text)
            )
        })
    }
}

fn value<T: ArrowNativeType>(array: &ArrayData, row: usize) -> T {
    array.buffer::<T>(0)[row]
}
