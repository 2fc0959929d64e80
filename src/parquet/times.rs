//! Reads the column of times in step with that of the URLs.
//!
//! A timestamp that is not adjusted to UTC has no zone of its own, and is read as UTC, like a text
//! without a zone. A date is the last second of its day. Integers, floating-point numbers and
//! texts are read as [cells of lists](parse_row_time).

use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::parquet::input::{ParquetInput, bad, table_error};
use crate::parquet::pages::CheckedPages;
use crate::parquet::values::{ValueReader, ValueSink};
use crate::records::{keep_unreadable, parse_row_time, time_of_float, time_of_integer};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType, Int96};
use parquet::schema::types::ColumnDescriptor;

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// The Julian day number of 1970-01-01.
const JULIAN_DAY_1970: i64 = 2_440_588;

/// The meaning of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeKind {
    /// Units since 1970, given their number in a second.
    Timestamp { units: i64 },
    /// Days since 1970.
    Date,
    /// Integers, whose digits tell the unit.
    Integer { is_signed: bool },
    /// Floating-point numbers, likewise.
    Float,
    /// A Julian day and nanoseconds, which Impala and old versions of Spark write.
    JulianDay,
    /// Texts.
    Text,
}

impl TimeKind {
    /// The meaning of a column's values by its type.
    ///
    /// # Errors
    /// [`ErrorKind::BadTable`] for a type that holds no times.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Self> {
        let physical = column.physical_type();
        let kind = match (physical, column.logical_type_ref()) {
            (PhysicalType::INT64, Some(LogicalType::Timestamp(timestamp))) => {
                Some(match timestamp.unit {
                    TimeUnit::MILLIS => Self::Timestamp { units: 1_000 },
                    TimeUnit::MICROS => Self::Timestamp { units: 1_000_000 },
                    TimeUnit::NANOS => Self::Timestamp {
                        units: 1_000_000_000,
                    },
                })
            }
            (PhysicalType::INT32, Some(LogicalType::Date)) => Some(Self::Date),
            (PhysicalType::INT32 | PhysicalType::INT64, Some(LogicalType::Integer(integer))) => {
                Some(Self::Integer {
                    is_signed: integer.is_signed,
                })
            }
            (
                PhysicalType::BYTE_ARRAY,
                Some(LogicalType::String | LogicalType::Enum | LogicalType::Json),
            ) => Some(Self::Text),
            (_, None) => Self::of_legacy(physical, column.converted_type()),
            _ => None,
        };
        kind.ok_or_else(|| {
            let logical = column
                .logical_type_ref()
                .map(|logical| format!(" ({logical:?})"));
            let what = format!(
                "column {:?} holds {physical}{}, not times: these are timestamps, dates, texts, or \
                 numbers of seconds since 1970",
                column.path().string(),
                logical.unwrap_or_default()
            );
            Error::from(ErrorKind::BadTable(what)).with_remedy(Remedy::NameTimeColumn)
        })
    }

    /// The same for a column without a logical type, as old writers make them.
    fn of_legacy(physical: PhysicalType, converted: ConvertedType) -> Option<Self> {
        use ConvertedType::*;
        Some(match (physical, converted) {
            (PhysicalType::INT64, TIMESTAMP_MILLIS) => Self::Timestamp { units: 1_000 },
            (PhysicalType::INT64, TIMESTAMP_MICROS) => Self::Timestamp { units: 1_000_000 },
            (PhysicalType::INT32, DATE) => Self::Date,
            (PhysicalType::INT32, NONE | INT_32) | (PhysicalType::INT64, NONE | INT_64) => {
                Self::Integer { is_signed: true }
            }
            (PhysicalType::INT32, UINT_32) | (PhysicalType::INT64, UINT_64) => {
                Self::Integer { is_signed: false }
            }
            (PhysicalType::DOUBLE, NONE) => Self::Float,
            (PhysicalType::INT96, NONE) => Self::JulianDay,
            (PhysicalType::BYTE_ARRAY, NONE | UTF8 | ENUM | JSON) => Self::Text,
            _ => return None,
        })
    }
}

/// Reads the times of one row group.
pub(super) struct TimeReader(Box<dyn ReadTimes>);

impl TimeReader {
    /// `None` if no times are asked for.
    pub(super) fn new(input: &ParquetInput, row_group: usize) -> Result<Option<Self>> {
        let Some((column, kind)) = input.time_column else {
            return Ok(None);
        };
        if kind == TimeKind::Text {
            let texts = ValueReader::new(input, row_group, column)?;
            return Ok(Some(Self(Box::new(texts))));
        }
        let pages = CheckedPages::open(input, row_group, column)?;
        let descr = input.schema().column(column);
        let full_level = descr.max_def_level();
        let numbers: Box<dyn ReadTimes> = match (get_column_reader(descr, Box::new(pages)), kind) {
            (ColumnReader::Int32ColumnReader(reader), TimeKind::Date) => {
                NumberReader::boxed(reader, full_level, |days| {
                    Some((i64::from(*days) + 1) * SECONDS_PER_DAY - 1)
                })
            }
            (ColumnReader::Int32ColumnReader(reader), TimeKind::Integer { is_signed }) => {
                NumberReader::boxed(reader, full_level, move |number| {
                    time_of_integer(match is_signed {
                        true => i64::from(*number),
                        false => i64::from(*number as u32),
                    })
                })
            }
            (ColumnReader::Int64ColumnReader(reader), TimeKind::Integer { is_signed }) => {
                NumberReader::boxed(reader, full_level, move |number| {
                    let is_too_large = !is_signed && *number < 0;
                    if is_too_large {
                        None
                    } else {
                        time_of_integer(*number)
                    }
                })
            }
            (ColumnReader::Int64ColumnReader(reader), TimeKind::Timestamp { units }) => {
                NumberReader::boxed(reader, full_level, move |number| {
                    Some(number.div_euclid(units))
                })
            }
            (ColumnReader::Int96ColumnReader(reader), _) => {
                NumberReader::boxed(reader, full_level, |value| Some(time_of_julian_day(value)))
            }
            (ColumnReader::DoubleColumnReader(reader), _) => {
                NumberReader::boxed(reader, full_level, |number| time_of_float(*number))
            }
            _ => return bad("damaged: the column of times has another type than its schema says"),
        };
        Ok(Some(Self(numbers)))
    }

    /// Appends the times of the next `rows` rows. The first value that is not a time becomes
    /// `unreadable`.
    pub(super) fn read(
        &mut self,
        rows: usize,
        times: &mut Vec<Option<i64>>,
        unreadable: &mut Option<Box<[u8]>>,
    ) -> Result<()> {
        let end = times.len() + rows;
        while times.len() < end {
            let left = end - times.len();
            if self.0.read(left, times, unreadable)? == 0 {
                return bad("damaged: the column of times has fewer rows than that of the URLs");
            }
        }
        Ok(())
    }
}

/// The nanoseconds count from noon in the definition of the Julian day, but from midnight in these
/// files.
fn time_of_julian_day(value: &Int96) -> i64 {
    let [low, high, day] = *value.data() else {
        return 0;
    };
    let nanoseconds = (u64::from(high) << 32) | u64::from(low);
    // At most 2^34 seconds and 2^31 days.
    let seconds = (nanoseconds / 1_000_000_000) as i64;
    (i64::from(day as i32) - JULIAN_DAY_1970) * SECONDS_PER_DAY + seconds
}

/// Parses texts.
struct TextSink<'t> {
    times: &'t mut Vec<Option<i64>>,
    unreadable: &'t mut Option<Box<[u8]>>,
}

impl ValueSink for TextSink<'_> {
    fn push_null(&mut self) {
        self.times.push(None);
    }

    fn push(&mut self, value: &[u8], _whole: impl FnOnce() -> ByteArray) {
        let time = parse_row_time(value);
        if time.is_none() {
            keep_unreadable(value, self.unreadable);
        }
        self.times.push(time);
    }
}

/// A reader of a column of one physical type. These have no common type.
trait ReadTimes: Send {
    /// Appends the times of at most `wanted` rows, and returns their number, 0 after the last.
    fn read(
        &mut self,
        wanted: usize,
        times: &mut Vec<Option<i64>>,
        unreadable: &mut Option<Box<[u8]>>,
    ) -> Result<usize>;
}

impl ReadTimes for ValueReader {
    fn read(
        &mut self,
        wanted: usize,
        times: &mut Vec<Option<i64>>,
        unreadable: &mut Option<Box<[u8]>>,
    ) -> Result<usize> {
        ValueReader::read(self, wanted, &mut TextSink { times, unreadable })
    }
}

struct NumberReader<T: DataType, F> {
    reader: ColumnReaderImpl<T>,
    /// The definition level of a row with a value.
    full_level: i16,
    /// Converts a value to a time.
    convert: F,
    values: Vec<T::T>,
    levels: Vec<i16>,
}

impl<T: DataType, F: Fn(&T::T) -> Option<i64> + Send + 'static> NumberReader<T, F> {
    fn boxed(reader: ColumnReaderImpl<T>, full_level: i16, convert: F) -> Box<dyn ReadTimes> {
        Box::new(Self {
            reader,
            full_level,
            convert,
            values: Vec::new(),
            levels: Vec::new(),
        })
    }
}

impl<T: DataType, F: Fn(&T::T) -> Option<i64> + Send> ReadTimes for NumberReader<T, F> {
    fn read(
        &mut self,
        wanted: usize,
        times: &mut Vec<Option<i64>>,
        unreadable: &mut Option<Box<[u8]>>,
    ) -> Result<usize> {
        self.values.clear();
        self.levels.clear();
        let read = self
            .reader
            .read_records(wanted, Some(&mut self.levels), None, &mut self.values);
        let (rows, ..) = read.map_err(table_error)?;
        if rows > wanted {
            return bad("damaged: a page of times has more rows than it says");
        }
        let mut values = self.values.iter();
        for row in 0..rows {
            let is_present = self.full_level == 0 || self.levels.get(row) == Some(&self.full_level);
            let value = if is_present { values.next() } else { None };
            let time = value.and_then(&self.convert);
            if let (Some(value), None, None) = (value, time, &*unreadable) {
                keep_unreadable(value.to_string().as_bytes(), unreadable);
            }
            times.push(time);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet::urls::{UrlBatch, UrlReader};
    use crate::records::{Field, RecordOptions};
    use parquet::data_type::{ByteArrayType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::io::Write;
    use std::sync::Arc;

    /// Three rows that pyarrow 26 wrote, of which the second is null in each column of times:
    ///
    /// ```python
    /// t = [datetime(2024, 3, 5, 12, 0, 0, 999000, utc), None, datetime(1969, 12, 31, 23, 59, 58, 500000, utc)]
    /// {"ms": pa.array(t, pa.timestamp("ms", tz="Europe/Berlin")), "us": pa.array(naive, pa.timestamp("us")),
    ///  "date": pa.array([date(2024, 3, 5), None, date(1969, 12, 31)], pa.date32()), …}
    /// ```
    const PYARROW: &[u8] = include_bytes!("times_pyarrow.parquet");

    /// The same times as INT96, which pyarrow writes with `use_deprecated_int96_timestamps`.
    const INT96: &[u8] = include_bytes!("times_int96.parquet");

    fn with_times(name: &str) -> RecordOptions {
        RecordOptions::default().as_of_column(Field::from(name))
    }

    fn open(bytes: &[u8], options: &RecordOptions) -> Result<ParquetInput> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        ParquetInput::open(file.path(), options)
    }

    /// The times of all rows, and the number of batches.
    fn times(bytes: &[u8], name: &str) -> (Vec<Option<i64>>, usize) {
        let input = open(bytes, &with_times(name)).unwrap();
        let (mut all, mut batches) = (Vec::new(), 0);
        for row_group in 0..input.meta.num_row_groups() {
            let mut reader = UrlReader::new(&input, row_group).unwrap();
            let mut batch = UrlBatch::default();
            while reader.next(&mut batch).unwrap() {
                assert_eq!(batch.times.len(), batch.rows);
                all.extend_from_slice(&batch.times);
                batches += 1;
            }
        }
        (all, batches)
    }

    const NOON: Option<i64> = Some(1_709_640_000);

    #[test]
    fn columns_of_pyarrow() {
        let end_of_day = Some(1_709_683_199);
        for (name, expected) in [
            // A fraction before 1970 belongs to the second before.
            ("ms", [NOON, None, Some(-2)]),
            ("US", [NOON, None, Some(-2)]),
            ("ns", [NOON, None, Some(-2)]),
            ("date", [end_of_day, None, Some(-1)]),
            ("int64", [NOON, None, Some(-1_000_000_001)]),
            ("int32", [NOON, None, end_of_day]),
            ("uint32", [Some(4_000_000_000), None, end_of_day]),
            ("float", [NOON, None, None]),
            ("text", [NOON, None, NOON]),
            ("dictionary", [NOON, None, None]),
            ("page.fetched", [NOON, None, None]),
        ] {
            assert_eq!(times(PYARROW, name).0, expected, "{name}");
        }
        assert_eq!(times(INT96, "t").0, [NOON, None, Some(-2)]);
    }

    #[test]
    fn columns_without_times_are_refused() {
        for (options, message) in [
            (with_times("day"), "has no column \"day\", only url, ms, us"),
            (
                with_times("flag"),
                "column \"flag\" holds BOOLEAN, not times",
            ),
            (
                with_times("list.list.element"),
                "is repeated (a list or map); the column of times must hold one value a row",
            ),
            (
                with_times("2"),
                "column 2 of times: the columns of a Parquet file have names",
            ),
            (
                RecordOptions::default().as_of_record(true),
                "the rows of a Parquet file have no time of their own",
            ),
        ] {
            let err = open(PYARROW, &options).unwrap_err().to_string();
            assert!(err.contains(message), "{err}");
        }
    }

    /// A table of rows without nulls; `n` is the number of the row.
    fn table(urls: &[&str], properties: WriterProperties) -> Vec<u8> {
        let schema = "message m { required binary url (STRING);
            required int64 time (TIMESTAMP(MILLIS, true)); required int64 old (TIMESTAMP_MICROS);
            required binary text; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        let mut group = file.next_row_group().unwrap();
        let texts: Vec<ByteArray> = urls.iter().map(|url| ByteArray::from(*url)).collect();
        let numbers = |unit: i64| (0..urls.len() as i64).map(move |row| row * unit);
        let cells = numbers(1).map(|row| ByteArray::from(&*format!("{}", 1_000_000_000 + row)));
        let cells: Vec<ByteArray> = cells.collect();
        for column in 0..4 {
            let mut writer = group.next_column().unwrap().unwrap();
            let written = match column {
                0 => writer
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, None, None),
                1 | 2 => {
                    let unit = [1_000, 1_000_000][column - 1];
                    let values: Vec<i64> = numbers(unit).collect();
                    writer.typed::<Int64Type>().write_batch(&values, None, None)
                }
                _ => writer
                    .typed::<ByteArrayType>()
                    .write_batch(&cells, None, None),
            };
            written.unwrap();
            writer.close().unwrap();
        }
        group.close().unwrap();
        file.into_inner().unwrap()
    }

    /// Batches end at bytes of URLs, and pages at other rows.
    #[test]
    fn times_stay_with_their_rows() {
        let long = format!("https://e.example/{}", "x".repeat(900));
        let urls: Vec<&str> = (0..20_000)
            .map(|row| {
                if row % 7 < 5 {
                    "https://e.example/"
                } else {
                    &*long
                }
            })
            .collect();
        let properties = WriterProperties::builder().set_data_page_row_count_limit(999);
        let bytes = table(&urls, properties.set_write_batch_size(100).build());
        let rows = |from: i64| (0..20_000).map(|row| Some(from + row)).collect::<Vec<_>>();
        for (name, from) in [("time", 0), ("old", 0), ("text", 1_000_000_000)] {
            let (found, batches) = times(&bytes, name);
            assert!(batches > 3, "{batches}");
            assert_eq!(found, rows(from), "{name}");
        }
    }

    #[test]
    fn rows_of_long_values_are_sorted_by_time() {
        let long = format!("https://e.example/{}", "x".repeat(20_000));
        let mut urls = vec![&*long; 5];
        urls[2] = "https://e.example/";
        let bytes = table(&urls, WriterProperties::builder().build());
        let mut batch = UrlBatch::default();
        let read = |bytes: &[u8], options: &RecordOptions, batch: &mut UrlBatch| {
            let input = open(bytes, options).unwrap();
            assert!(UrlReader::new(&input, 0).unwrap().next(batch).unwrap());
        };
        read(&bytes, &with_times("time"), &mut batch);
        assert_eq!(batch.long.len(), 1);
        assert_eq!(batch.long[0].rows, [0, 1, 3, 4]);
        assert_eq!(batch.long[0].times, [0, 1, 3, 4].map(Some));
        // The lines that are left keep their times.
        batch.remove_long_lines();
        assert_eq!(batch.lines().text, b"https://e.example/\n");
        assert_eq!(batch.lines().times, [Some(2)]);
        // A block that is used again has no times of an earlier table.
        read(&bytes, &RecordOptions::default(), &mut batch);
        assert!(batch.times.is_empty() && batch.long[0].times.is_empty());
    }
}
