//! A column of URLs that a caller passed: Arrow arrays, or a list.

use crate::arrow_import::import;
use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use robosieve::judge::Rows;
use robosieve::{ErrorKind, Result};
use std::borrow::Cow;
use std::sync::Arc;

const ACCEPTED: &str = "a column of URLs is an Arrow array or stream (pyarrow, Polars, pandas 3, DuckDB) of type \
                        string, large_string, string_view, binary, large_binary, binary_view or a dictionary of \
                        these, or a sequence of str, bytes and None";

/// The URLs as arrays of accepted types.
///
/// # Errors
/// `TypeError` that lists the accepted types.
pub(crate) fn url_arrays(urls: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    match import(urls)? {
        Some(arrays) => arrays.into_iter().map(url_array).collect(),
        None => Ok(vec![list_to_array(urls)?]),
    }
}

/// The array itself, or the only column of a table.
fn url_array(array: ArrayRef) -> PyResult<ArrayRef> {
    let array = match array.as_struct_opt() {
        None => array,
        Some(table) if table.num_columns() == 1 && table.nulls().is_none() => Arc::clone(table.column(0)),
        Some(table) => {
            let names = table.column_names();
            return Err(PyTypeError::new_err(format!(
                "a table with the columns {names:?}; pass one of them, such as table[\"url\"]"
            )));
        }
    };
    if is_accepted(array.data_type()) {
        return Ok(array);
    }
    Err(PyTypeError::new_err(format!("an Arrow array of type {}; {ACCEPTED}", array.data_type())))
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
fn list_to_array(urls: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    // A single URL is iterable too, and its characters would be taken for URLs.
    let is_single = urls.is_instance_of::<PyString>() || urls.is_instance_of::<PyBytes>();
    let items = if is_single { None } else { urls.try_iter().ok() };
    let Some(items) = items else {
        let hint = if is_single { "; for a single URL use verdict()" } else { "" };
        return Err(PyTypeError::new_err(format!("{}: {ACCEPTED}{hint}", type_name(urls)?)));
    };
    let rows = urls.len().unwrap_or(0);
    let mut array = LargeBinaryBuilder::with_capacity(rows, rows.saturating_mul(64).min(1 << 26));
    for (row, item) in items.enumerate() {
        let item = item?;
        if item.is_none() {
            array.append_null();
        } else {
            array.append_value(url_bytes(&item).map_err(|err| in_row(urls.py(), err, row))?);
        }
    }
    Ok(Arc::new(array.finish()))
}

fn in_row(py: Python<'_>, err: PyErr, row: usize) -> PyErr {
    PyTypeError::new_err(format!("row {row}: {}", err.value(py)))
}

fn type_name(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(object.get_type().fully_qualified_name()?.to_string())
}

/// The bytes of a URL: UTF-8 of a `str`, with the bytes that `surrogateescape` escaped restored.
///
/// # Errors
/// `TypeError` for other types, and for text with lone surrogates.
pub(crate) fn url_bytes<'o>(url: &'o Bound<'_, PyAny>) -> PyResult<Cow<'o, [u8]>> {
    if let Ok(text) = url.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(Cow::Borrowed(text.as_bytes())),
            Err(_) => {
                let bytes = text.call_method1(intern!(url.py(), "encode"), ("utf-8", "surrogateescape"))?;
                Ok(Cow::Owned(bytes.cast::<PyBytes>()?.as_bytes().to_owned()))
            }
        };
    }
    match url.cast::<PyBytes>() {
        Ok(bytes) => Ok(Cow::Borrowed(bytes.as_bytes())),
        Err(_) => Err(PyTypeError::new_err(format!("{}: a URL is str or bytes", type_name(url)?))),
    }
}

/// An array of texts, without nulls applied, as rows that the library judges in place.
pub(crate) struct TextRows<'a> {
    array: &'a dyn Array,
    /// The buffers of an array of views.
    buffers: Vec<&'a [u8]>,
}

impl<'a> TextRows<'a> {
    /// The rows of an array of an accepted type, except a dictionary.
    pub(crate) fn new(array: &'a dyn Array) -> Self {
        let buffers = match array.data_type() {
            DataType::Utf8View => {
                array.as_string_view().data_buffers().iter().map(|buffer| buffer.as_slice()).collect()
            }
            DataType::BinaryView => {
                array.as_binary_view().data_buffers().iter().map(|buffer| buffer.as_slice()).collect()
            }
            _ => Vec::new(),
        };
        Self { array, buffers }
    }

    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// A range of the rows. `None` for an array of nulls, which has no texts.
    ///
    /// # Errors
    /// [`ErrorKind::BadColumn`] if the array has too few offsets.
    pub(crate) fn rows(&self, start: usize, len: usize) -> Result<Option<Rows<'_>>> {
        let array = self.array;
        let rows = match array.data_type() {
            DataType::Utf8 => {
                let array = array.as_string::<i32>();
                offsets_in(array.value_offsets(), start, len)
                    .map(|offsets| Rows::Offsets32 { data: array.value_data(), offsets })
            }
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                offsets_in(array.value_offsets(), start, len)
                    .map(|offsets| Rows::Offsets32 { data: array.value_data(), offsets })
            }
            DataType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                offsets_in(array.value_offsets(), start, len)
                    .map(|offsets| Rows::Offsets64 { data: array.value_data(), offsets })
            }
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                offsets_in(array.value_offsets(), start, len)
                    .map(|offsets| Rows::Offsets64 { data: array.value_data(), offsets })
            }
            DataType::Utf8View => self.views(array.as_string_view().views().inner().as_slice(), start, len),
            DataType::BinaryView => self.views(array.as_binary_view().views().inner().as_slice(), start, len),
            _ => return Ok(None),
        };
        rows.map(Some).ok_or_else(|| ErrorKind::BadColumn("too few offsets".to_owned()).into())
    }

    fn views(&self, bytes: &'a [u8], start: usize, len: usize) -> Option<Rows<'_>> {
        let views = bytes.as_chunks::<16>().0.get(start..start + len)?;
        Some(Rows::Views { views, buffers: &self.buffers })
    }
}

/// The offsets of a range of rows: one more than there are rows.
fn offsets_in<O>(offsets: &[O], start: usize, len: usize) -> Option<&[O]> {
    offsets.get(start..start + len + 1)
}
