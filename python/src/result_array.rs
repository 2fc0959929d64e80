//! The array of results, which any Arrow library imports.

use crate::errors::caught;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};

/// An immutable Arrow array of int8 or int64 with nulls.
#[pyclass(frozen, sequence, module = "robosieve")]
pub(crate) struct Array {
    array: ArrayRef,
}

impl Array {
    pub(crate) fn new(array: ArrayRef) -> Self {
        Self { array }
    }

    fn value(&self, row: usize) -> Option<i64> {
        if self.array.is_null(row) {
            return None;
        }
        Some(match self.array.data_type() {
            DataType::Int8 => self.array.as_primitive::<Int8Type>().value(row).into(),
            _ => self.array.as_primitive::<Int64Type>().value(row),
        })
    }

    fn to_ffi(&self) -> PyResult<(FFI_ArrowArray, FFI_ArrowSchema)> {
        to_ffi(&self.array.to_data()).map_err(|err| PyRuntimeError::new_err(err.to_string()))
    }
}

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__(&self, row: isize) -> PyResult<Option<i64>> {
        let len = self.array.len();
        let from_end = if row < 0 { row.checked_add_unsigned(len) } else { Some(row) };
        match from_end.and_then(|row| usize::try_from(row).ok()).filter(|row| *row < len) {
            Some(row) => Ok(self.value(row)),
            None => Err(PyIndexError::new_err(format!("row {row} of {len}"))),
        }
    }

    fn __repr__(&self) -> String {
        let shown: Vec<String> = (0..self.array.len().min(8))
            .map(|row| self.value(row).map_or("None".to_owned(), |value| value.to_string()))
            .collect();
        let more = if self.array.len() > shown.len() { ", ..." } else { "" };
        format!("<robosieve.Array {} x {}: [{}{more}]>", self.array.len(), self.type_name(), shown.join(", "))
    }

    /// The values as a list of int and None.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, (0..self.array.len()).map(|row| self.value(row)))
    }

    /// `int8` or `int64`.
    #[getter(r#type)]
    fn type_name(&self) -> &'static str {
        if *self.array.data_type() == DataType::Int8 { "int8" } else { "int64" }
    }

    /// The number of nulls.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
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
        if self.array.null_count() > 0 {
            let nulls = self.array.null_count();
            return Err(PyValueError::new_err(format!("{nulls} nulls, which a NumPy array of integers cannot hold")));
        }
        let bytes = match self.array.data_type() {
            DataType::Int8 => self.array.as_primitive::<Int8Type>().values().inner().as_slice(),
            _ => self.array.as_primitive::<Int64Type>().values().inner().as_slice(),
        };
        let array = py.import("numpy")?.call_method1("frombuffer", (PyBytes::new(py, bytes), self.type_name()))?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// The type, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        caught(|| PyCapsule::new_with_value(py, self.to_ffi()?.1, c"arrow_schema"))
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
            let (array, schema) = self.to_ffi()?;
            let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
            Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
        })
    }
}
