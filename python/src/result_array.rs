//! The array of results, which any Arrow library imports.

use crate::column::text;
use crate::errors::caught;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyCapsule, PyList, PyString};

/// An immutable Arrow array with nulls: of bool, int8, int64, float64, string, or a dictionary of strings.
#[pyclass(frozen, sequence, module = "robosieve")]
pub(crate) struct Array {
    data: ArrayData,
}

impl Array {
    /// An array of int8.
    ///
    /// # Errors
    /// None in practice: lengths that differ.
    pub(crate) fn int8(values: Vec<i8>, nulls: Option<NullBuffer>) -> PyResult<Self> {
        Self::new(DataType::Int8, values, nulls)
    }

    /// An array of booleans.
    ///
    /// # Errors
    /// As [`int8`](Self::int8).
    pub(crate) fn boolean(values: Vec<bool>, nulls: Option<NullBuffer>) -> PyResult<Self> {
        let builder = ArrayData::builder(DataType::Boolean)
            .len(values.len())
            .nulls(nulls)
            .add_buffer(BooleanBuffer::from(values).into_inner());
        builder.build().map(Self::of).map_err(unexpected)
    }

    /// An array of int64.
    ///
    /// # Errors
    /// As [`int8`](Self::int8).
    pub(crate) fn int64(values: Vec<i64>, nulls: Option<NullBuffer>) -> PyResult<Self> {
        Self::new(DataType::Int64, values, nulls)
    }

    /// An array of float64. A row is null if its value is missing, or by `nulls`.
    ///
    /// # Errors
    /// As [`int8`](Self::int8).
    pub(crate) fn float64(values: Vec<Option<f64>>, nulls: Option<NullBuffer>) -> PyResult<Self> {
        let present = NullBuffer::from_iter(values.iter().map(Option::is_some));
        let nulls = NullBuffer::union(nulls.as_ref(), Some(&present));
        let values = values.into_iter().map(Option::unwrap_or_default).collect();
        Self::new(DataType::Float64, values, nulls)
    }

    /// An array of strings, which are UTF-8; large_string beyond 2 GiB.
    ///
    /// # Errors
    /// For bytes that are not UTF-8.
    pub(crate) fn texts<'t>(
        texts: impl ExactSizeIterator<Item = Option<&'t [u8]>> + Clone,
    ) -> PyResult<Self> {
        let bytes = texts.clone().flatten().map(<[u8]>::len).sum();
        let mut data = Vec::with_capacity(bytes);
        let mut ends = Vec::with_capacity(texts.len() + 1);
        ends.push(0_i64);
        let mut is_valid = Vec::with_capacity(texts.len());
        for text in texts {
            data.extend_from_slice(text.unwrap_or_default());
            ends.push(data.len() as i64);
            is_valid.push(text.is_some());
        }
        let len = is_valid.len();
        let short: Option<Vec<i32>> = ends.iter().map(|end| i32::try_from(*end).ok()).collect();
        let (data_type, offsets) = match short {
            Some(short) => (DataType::Utf8, Buffer::from_vec(short)),
            None => (DataType::LargeUtf8, Buffer::from_vec(ends)),
        };
        let builder = ArrayData::builder(data_type)
            .len(len)
            .nulls(Some(NullBuffer::from(is_valid)))
            .add_buffer(offsets)
            .add_buffer(Buffer::from_vec(data));
        builder.build().map(Self::of).map_err(unexpected)
    }

    /// An array of words of a dictionary, by their numbers.
    ///
    /// # Errors
    /// For numbers outside the dictionary.
    pub(crate) fn words(
        words: &[&str],
        numbers: Vec<i32>,
        nulls: Option<NullBuffer>,
    ) -> PyResult<Self> {
        let words = Self::texts(words.iter().map(|word| Some(word.as_bytes())))?;
        // Polars and DuckDB read dictionaries with any numbers; pyarrow's own have these.
        let data_type = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let builder = ArrayData::builder(data_type)
            .len(numbers.len())
            .nulls(nulls)
            .add_buffer(Buffer::from_vec(numbers))
            .add_child_data(words.data);
        builder.build().map(Self::of).map_err(unexpected)
    }

    /// An array of one of the types.
    pub(crate) fn of(data: ArrayData) -> Self {
        Self { data }
    }

    /// The data of the array.
    pub(crate) fn into_data(self) -> ArrayData {
        self.data
    }

    fn new<T: ArrowNativeType>(
        data_type: DataType,
        values: Vec<T>,
        nulls: Option<NullBuffer>,
    ) -> PyResult<Self> {
        let builder = ArrayData::builder(data_type)
            .len(values.len())
            .nulls(nulls)
            .add_buffer(Buffer::from_vec(values));
        builder
            .build()
            .map(|data| Self { data })
            .map_err(unexpected)
    }

    /// The values of an array of booleans; a null has any value.
    fn booleans(&self) -> BooleanBuffer {
        let data = &self.data;
        BooleanBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
    }

    /// The values of numbers or booleans as a NumPy array; a null has any value.
    fn numpy_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let buffer = &self.data.buffers()[0];
        if self.data.data_type() != &DataType::Boolean {
            return numpy_array(py, buffer.as_slice(), self.type_name());
        }
        // A bit in Arrow, a byte in NumPy.
        let bytes: Vec<u8> = self.booleans().iter().map(u8::from).collect();
        numpy_array(py, &bytes, "bool")
    }

    /// The value in a row, as Python has it.
    fn value<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let data = &self.data;
        if data.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        Ok(match data.data_type() {
            DataType::Boolean => {
                let value = self.booleans().value(row);
                PyBool::new(py, value).to_owned().into_any()
            }
            DataType::Int8 => data.buffer::<i8>(0)[row].into_pyobject(py)?.into_any(),
            DataType::Int64 => data.buffer::<i64>(0)[row].into_pyobject(py)?.into_any(),
            DataType::Float64 => data.buffer::<f64>(0)[row].into_pyobject(py)?.into_any(),
            DataType::Dictionary(..) => {
                let word = data.buffer::<i32>(0)[row] as usize;
                string(py, text(&data.child_data()[0], word))
            }
            _ => string(py, text(data, row)),
        })
    }
}

/// A NumPy array of a type, which may be changed, of its bytes.
fn numpy_array<'py>(py: Python<'py>, bytes: &[u8], kind: &str) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    numpy.call_method1("frombuffer", (PyByteArray::new(py, bytes), kind))
}

fn string<'py>(py: Python<'py>, text: Option<&[u8]>) -> Bound<'py, PyAny> {
    PyString::new(py, &String::from_utf8_lossy(text.unwrap_or_default())).into_any()
}

pub(crate) fn unexpected(err: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(err.to_string())
}

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.data.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyAny>> {
        let len = self.data.len();
        let from_end = if row < 0 {
            row.checked_add_unsigned(len)
        } else {
            Some(row)
        };
        match from_end
            .and_then(|row| usize::try_from(row).ok())
            .filter(|row| *row < len)
        {
            Some(row) => self.value(py, row),
            None => Err(PyIndexError::new_err(format!("row {row} of {len}"))),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shown: Vec<String> = (0..self.data.len().min(8))
            .map(|row| Ok(self.value(py, row)?.repr()?.to_string()))
            .collect::<PyResult<_>>()?;
        let more = if self.data.len() > shown.len() {
            ", ..."
        } else {
            ""
        };
        Ok(format!(
            "<robosieve.Array {} x {}: [{}{more}]>",
            self.data.len(),
            self.type_name(),
            shown.join(", ")
        ))
    }

    /// The values as a list of bool, int, float or str, and None.
    pub(crate) fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values = (0..self.data.len()).map(|row| self.value(py, row));
        PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    /// `bool`, `int8`, `int64`, `float64`, `string`, `large_string` or `dictionary`.
    #[getter(r#type)]
    fn type_name(&self) -> &'static str {
        match self.data.data_type() {
            DataType::Boolean => "bool",
            DataType::Int8 => "int8",
            DataType::Int64 => "int64",
            DataType::Float64 => "float64",
            DataType::Utf8 => "string",
            DataType::LargeUtf8 => "large_string",
            _ => "dictionary",
        }
    }

    /// The words of a dictionary.
    #[getter]
    fn categories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match self.data.child_data() {
            [words] => Self::of(words.clone()).tolist(py),
            _ => Err(PyTypeError::new_err("only a dictionary has categories")),
        }
    }

    /// The number of the word of each row of a dictionary, -1 for null.
    #[getter]
    fn codes(&self) -> PyResult<Self> {
        if self.data.child_data().is_empty() {
            return Err(PyTypeError::new_err("only a dictionary has codes"));
        }
        let keys = self.data.buffer::<i32>(0).iter().enumerate();
        let codes = keys.map(|(row, key)| {
            if self.data.is_null(row) {
                -1
            } else {
                i64::from(*key)
            }
        });
        Self::int64(codes.take(self.data.len()).collect(), None)
    }

    /// The number of nulls.
    #[getter]
    fn null_count(&self) -> usize {
        self.data.null_count()
    }

    /// A NumPy array with the values.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = copy;
        let nulls = self.data.null_count();
        let numpy = py.import("numpy")?;
        let array = match self.data.data_type() {
            DataType::Int8 | DataType::Int64 | DataType::Boolean if nulls > 0 => {
                let kind = match self.data.data_type() {
                    DataType::Boolean => "booleans",
                    _ => "integers",
                };
                return Err(PyValueError::new_err(format!(
                    "{nulls} nulls, which a NumPy array of {kind} cannot hold"
                )));
            }
            DataType::Int8 | DataType::Int64 | DataType::Boolean => self.numpy_values(py)?,
            // NumPy reads None as NaN in an array of numbers, and keeps it in one of objects.
            DataType::Float64 => numpy.call_method1("array", (self.tolist(py)?, "float64"))?,
            _ => numpy.call_method1("array", (self.tolist(py)?, "object"))?,
        };
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// The values of numbers or booleans, and which rows are null, as two NumPy arrays. A null has any
    /// value.
    fn masked<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        if self.data.buffers().len() != 1 || !self.data.child_data().is_empty() {
            return Err(PyTypeError::new_err("only numbers have a mask"));
        }
        let nulls: Vec<u8> = match self.data.nulls() {
            Some(nulls) => nulls.iter().map(|is_valid| u8::from(!is_valid)).collect(),
            None => vec![0; self.data.len()],
        };
        Ok((self.numpy_values(py)?, numpy_array(py, &nulls, "bool")?))
    }

    /// The type, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        caught(|| {
            let schema = FFI_ArrowSchema::try_from(self.data.data_type()).map_err(unexpected)?;
            PyCapsule::new_with_value(py, schema, c"arrow_schema")
        })
    }

    /// The type and the values, by the Arrow PyCapsule interface. The memory is shared.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A producer may ignore the request, which is a wish.
        drop(requested_schema);
        caught(|| {
            let (array, schema): (FFI_ArrowArray, _) = to_ffi(&self.data).map_err(unexpected)?;
            let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
            Ok((
                schema,
                PyCapsule::new_with_value(py, array, c"arrow_array")?,
            ))
        })
    }
}
