//! The array of results, which any Arrow library imports.

use crate::errors::caught;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};

/// An immutable Arrow array of int8 or int64 with nulls.
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

    /// An array of int64.
    ///
    /// # Errors
    /// As [`int8`](Self::int8).
    pub(crate) fn int64(values: Vec<i64>, nulls: Option<NullBuffer>) -> PyResult<Self> {
        Self::new(DataType::Int64, values, nulls)
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

    fn is_int8(&self) -> bool {
        *self.data.data_type() == DataType::Int8
    }

    fn value(&self, row: usize) -> Option<i64> {
        if self.data.is_null(row) {
            return None;
        }
        Some(if self.is_int8() {
            self.data.buffer::<i8>(0)[row].into()
        } else {
            self.data.buffer::<i64>(0)[row]
        })
    }
}

fn unexpected(err: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(err.to_string())
}

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.data.len()
    }

    fn __getitem__(&self, row: isize) -> PyResult<Option<i64>> {
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
            Some(row) => Ok(self.value(row)),
            None => Err(PyIndexError::new_err(format!("row {row} of {len}"))),
        }
    }

    fn __repr__(&self) -> String {
        let shown: Vec<String> = (0..self.data.len().min(8))
            .map(|row| {
                self.value(row)
                    .map_or("None".to_owned(), |value| value.to_string())
            })
            .collect();
        let more = if self.data.len() > shown.len() {
            ", ..."
        } else {
            ""
        };
        format!(
            "<robosieve.Array {} x {}: [{}{more}]>",
            self.data.len(),
            self.type_name(),
            shown.join(", ")
        )
    }

    /// The values as a list of int and None.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, (0..self.data.len()).map(|row| self.value(row)))
    }

    /// `int8` or `int64`.
    #[getter(r#type)]
    fn type_name(&self) -> &'static str {
        if self.is_int8() { "int8" } else { "int64" }
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
        if self.data.null_count() > 0 {
            let nulls = self.data.null_count();
            return Err(PyValueError::new_err(format!(
                "{nulls} nulls, which a NumPy array of integers cannot hold"
            )));
        }
        let bytes = self.data.buffers()[0].as_slice();
        let array = py
            .import("numpy")?
            .call_method1("frombuffer", (PyBytes::new(py, bytes), self.type_name()))?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
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
