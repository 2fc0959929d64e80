//! A column of URLs that a caller passed: Arrow arrays, or a list.

use crate::arrow_import::import;
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyString};
use robosieve::judge::Rows;
use robosieve::{ErrorKind, Result};
use std::borrow::Cow;

const ACCEPTED: &str = "a column of URLs is an Arrow array or stream (pyarrow, Polars, pandas 3, DuckDB) of type \
                        string, large_string, string_view, binary, large_binary, binary_view or a dictionary of \
                        these, or a sequence of str, bytes and None";

/// The URLs as arrays of accepted types.
///
/// # Errors
/// `TypeError` that lists the accepted types.
pub(crate) fn url_arrays(urls: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayData>> {
    match import(urls)? {
        Some(arrays) => arrays.into_iter().map(url_array).collect(),
        None => Ok(vec![list_to_array(urls)?]),
    }
}

/// The array itself, or the only column of a table.
fn url_array(array: ArrayData) -> PyResult<ArrayData> {
    let array = match array.data_type() {
        DataType::Struct(fields) if fields.len() == 1 && array.null_count() == 0 => {
            array.child_data()[0].slice(array.offset(), array.len())
        }
        DataType::Struct(fields) => {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            return Err(PyTypeError::new_err(one_column("a table", &names)));
        }
        _ => array,
    };
    if is_accepted(array.data_type()) {
        return Ok(array);
    }
    Err(PyTypeError::new_err(format!(
        "urls is an Arrow array of type {}; {ACCEPTED}",
        array.data_type()
    )))
}

/// Asks for a column of a table, by the name that looks most like that of URLs.
fn one_column(what: &str, names: &[&str]) -> String {
    let is_of_urls = |name: &&&str| name.to_ascii_lowercase().contains("url");
    let column = names.iter().find(is_of_urls).or(names.first());
    let column = column.copied().unwrap_or("url");
    format!(
        "urls is {what} with the columns {names:?}; give one of them, such as table[{column:?}]"
    )
}

fn is_accepted(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, Dictionary, LargeBinary, LargeUtf8, Null, Utf8, Utf8View};
    match data_type {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | Null => true,
        Dictionary(_, values) => !matches!(**values, Dictionary(..)) && is_accepted(values),
        _ => false,
    }
}

/// Copies the items, so that they can be read without the interpreter's lock.
fn list_to_array(urls: &Bound<'_, PyAny>) -> PyResult<ArrayData> {
    let kind = type_name(urls)?;
    // A single URL is iterable too, and its characters would be taken for URLs.
    if is_text(urls) {
        let what = format!("urls is a single {kind}; give a list, or ask verdict(url, agent)");
        return Err(PyTypeError::new_err(what));
    }
    if let Some(names) = names_of_columns(urls)? {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(PyTypeError::new_err(one_column(
            &format!("a {kind}"),
            &names,
        )));
    }
    let Ok(items) = urls.try_iter() else {
        return Err(PyTypeError::new_err(format!(
            "urls is of type {kind}; {ACCEPTED}"
        )));
    };
    let (mut data, mut offsets, mut valid) = (Vec::new(), vec![0_i64], Vec::new());
    for (row, item) in items.enumerate() {
        let item = item?;
        if !item.is_none() {
            data.extend_from_slice(&url_bytes(&item).map_err(|err| in_row(urls.py(), err, row))?);
        }
        offsets.push(data.len() as i64);
        valid.push(!item.is_none());
    }
    let array = ArrayData::builder(DataType::LargeBinary)
        .len(valid.len())
        .nulls(Some(NullBuffer::from(valid)))
        .add_buffer(Buffer::from_vec(offsets))
        .add_buffer(Buffer::from_vec(data));
    array
        .build()
        .map_err(|err| PyTypeError::new_err(err.to_string()))
}

fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>()
}

/// The names of a mapping's columns, which would be taken for URLs. `None` for other objects, and
/// for a mapping from URLs to single values, which is a sequence of URLs.
fn names_of_columns(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let Ok(mapping) = object.cast::<PyMapping>() else {
        return Ok(None);
    };
    let values = mapping.values()?;
    let is_column = |value: &Bound<'_, PyAny>| !is_text(value) && value.len().is_ok();
    if !values.iter().next().as_ref().is_some_and(is_column) {
        return Ok(None);
    }
    let names = mapping.keys()?;
    Ok(Some(names.iter().map(|name| name.to_string()).collect()))
}

fn in_row(py: Python<'_>, err: PyErr, row: usize) -> PyErr {
    PyTypeError::new_err(format!("row {row}: {}", err.value(py)))
}

fn type_name(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(object.get_type().fully_qualified_name()?.to_string())
}

/// The bytes of a URL, as [`text_bytes`].
pub(crate) fn url_bytes<'o>(url: &'o Bound<'_, PyAny>) -> PyResult<Cow<'o, [u8]>> {
    text_bytes(url, "a URL is str or bytes")
}

/// The bytes of a `bytes`, or the UTF-8 of a `str`, with the bytes that `surrogateescape` escaped
/// restored.
///
/// # Errors
/// `TypeError` with `expected` for other types, `UnicodeEncodeError` for text with other lone
/// surrogates.
pub(crate) fn text_bytes<'o>(
    object: &'o Bound<'_, PyAny>,
    expected: &str,
) -> PyResult<Cow<'o, [u8]>> {
    if let Ok(text) = object.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(Cow::Borrowed(text.as_bytes())),
            Err(_) => {
                let encode = intern!(object.py(), "encode");
                let bytes = text.call_method1(encode, ("utf-8", "surrogateescape"))?;
                Ok(Cow::Owned(bytes.cast::<PyBytes>()?.as_bytes().to_owned()))
            }
        };
    }
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(Cow::Borrowed(bytes.as_bytes())),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{}: {expected}",
            type_name(object)?
        ))),
    }
}

/// An array of texts, as rows that the library judges in place. Rows that are null have any text.
pub(crate) struct TextRows<'a> {
    array: &'a ArrayData,
    /// The buffers of an array of views.
    buffers: Vec<&'a [u8]>,
}

impl<'a> TextRows<'a> {
    /// The rows of an array of an accepted type, except a dictionary.
    pub(crate) fn new(array: &'a ArrayData) -> Self {
        let is_view = matches!(array.data_type(), DataType::Utf8View | DataType::BinaryView);
        let buffers = if is_view {
            array.buffers().get(1..).unwrap_or_default()
        } else {
            &[]
        };
        Self {
            array,
            buffers: buffers.iter().map(Buffer::as_slice).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// A range of the rows. `None` for an array of nulls, which has no texts.
    ///
    /// # Errors
    /// [`ErrorKind::BadColumn`] if the array has too few offsets or views.
    pub(crate) fn rows(&self, start: usize, len: usize) -> Result<Option<Rows<'_>>> {
        use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
        let (array, first) = (self.array, self.array.offset() + start);
        let bytes = |number: usize| {
            array
                .buffers()
                .get(number)
                .map_or(&[][..], Buffer::as_slice)
        };
        let rows = match array.data_type() {
            Utf8 | Binary => {
                let offsets = array
                    .buffers()
                    .first()
                    .and_then(|buffer| buffer.typed_data().get(first..=first + len));
                offsets.map(|offsets| Rows::Offsets32 {
                    data: bytes(1),
                    offsets,
                })
            }
            LargeUtf8 | LargeBinary => {
                let offsets = array
                    .buffers()
                    .first()
                    .and_then(|buffer| buffer.typed_data().get(first..=first + len));
                offsets.map(|offsets| Rows::Offsets64 {
                    data: bytes(1),
                    offsets,
                })
            }
            Utf8View | BinaryView => {
                let views = bytes(0).as_chunks::<16>().0.get(first..first + len);
                views.map(|views| Rows::Views {
                    views,
                    buffers: &self.buffers,
                })
            }
            _ => return Ok(None),
        };
        rows.map(Some)
            .ok_or_else(|| ErrorKind::BadColumn("too few offsets".to_owned()).into())
    }
}

/// The text in a row that is not null; `None` if the array has no texts.
pub(crate) fn text(array: &ArrayData, row: usize) -> Option<&[u8]> {
    fn between<O: ArrowNativeType>(array: &ArrayData, row: usize) -> Option<&[u8]> {
        let offsets = array.buffer::<O>(0);
        array.buffers()[1].get(offsets[row].as_usize()..offsets[row + 1].as_usize())
    }
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    match array.data_type() {
        Utf8 | Binary => between::<i32>(array, row),
        LargeUtf8 | LargeBinary => between::<i64>(array, row),
        Utf8View | BinaryView => {
            let view = &array.buffers()[0].as_chunks::<16>().0[array.offset() + row];
            let number = |at: usize| {
                view.as_chunks::<4>()
                    .0
                    .get(at)
                    .map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
            };
            match number(0) {
                len @ ..=12 => view.get(4..4 + len),
                // The first buffer holds the views.
                len => array
                    .buffers()
                    .get(1 + number(2))?
                    .get(number(3)..number(3) + len),
            }
        }
        _ => None,
    }
}

/// For each row of a dictionary, the number of its value; any number for null. A wrong number may
/// be as large as the dictionary, or larger.
pub(crate) fn dictionary_keys(array: &ArrayData) -> Vec<usize> {
    fn keys<K: ArrowNativeType>(array: &ArrayData) -> Vec<usize> {
        let keys = &array.buffer::<K>(0)[..array.len()];
        keys.iter()
            .map(|key| key.to_usize().unwrap_or(usize::MAX))
            .collect()
    }
    use DataType::{Dictionary, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    let Dictionary(key, _) = array.data_type() else {
        return Vec::new();
    };
    match **key {
        _ if array.is_empty() => Vec::new(),
        Int8 => keys::<i8>(array),
        Int16 => keys::<i16>(array),
        Int32 => keys::<i32>(array),
        Int64 => keys::<i64>(array),
        UInt8 => keys::<u8>(array),
        UInt16 => keys::<u16>(array),
        UInt32 => keys::<u32>(array),
        UInt64 => keys::<u64>(array),
        _ => Vec::new(),
    }
}

/// Whether each row has a value: of a dictionary, both the key and its value. `None` if all have.
pub(crate) fn validity(array: &ArrayData) -> Option<NullBuffer> {
    match array.data_type() {
        DataType::Null => Some(NullBuffer::new_null(array.len())),
        DataType::Dictionary(..) => {
            let keys = array.nulls().cloned();
            let Some(values) = validity(&array.child_data()[0]) else {
                return keys;
            };
            let indices = dictionary_keys(array);
            let has_value = |row: usize| {
                indices
                    .get(row)
                    .is_some_and(|index| *index < values.len() && values.is_valid(*index))
            };
            let of_values = NullBuffer::new(BooleanBuffer::collect_bool(array.len(), has_value));
            NullBuffer::union(keys.as_ref(), Some(&of_values))
        }
        _ => array.nulls().cloned(),
    }
}
