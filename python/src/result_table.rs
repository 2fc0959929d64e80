//! A table of results, which any Arrow library imports.

use crate::errors::caught;
use crate::result_array::{Array, unexpected};
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, Int8Array, RecordBatch, RecordBatchIterator, RecordBatchReader, make_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::sync::Arc;

/// An immutable table of int8 columns with nulls, and perhaps one of words.
#[pyclass(frozen, module = "robosieve")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// A table of these columns, which have the same nulls.
    ///
    /// # Errors
    /// None in practice: lengths that differ.
    pub(crate) fn int8(
        columns: Vec<(String, Vec<i8>)>,
        nulls: Option<NullBuffer>,
    ) -> PyResult<Self> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for (name, values) in columns {
            fields.push(Field::new(name, DataType::Int8, true));
            arrays.push(Arc::new(Int8Array::new(values.into(), nulls.clone())));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema, arrays).map_err(unexpected)?;
        Ok(Self { batch })
    }

    /// This table with one more column.
    ///
    /// # Errors
    /// None in practice: another length.
    pub(crate) fn with_column(self, name: &str, column: Array) -> PyResult<Self> {
        let array = make_array(column.into_data());
        let schema = self.batch.schema();
        let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(name, array.data_type().clone(), true)));
        let mut arrays = self.batch.columns().to_vec();
        arrays.push(array);
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema, arrays).map_err(unexpected)?;
        Ok(Self { batch })
    }
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let names = self.columns().join(", ");
        format!("<robosieve.Table {} rows: {names}>", self.batch.num_rows())
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.batch.schema();
        let fields = schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// The column of this name.
    fn __getitem__(&self, name: &str) -> PyResult<Array> {
        match self.batch.column_by_name(name) {
            Some(column) => Ok(Array::of(column.to_data())),
            None => {
                let columns = self.columns().join(", ");
                let what = format!("no column {name:?}; the columns are {columns}");
                Err(PyKeyError::new_err(what))
            }
        }
    }

    /// The columns by their names, each as a list of int, or of str, and None.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, column) in self.columns().iter().zip(self.batch.columns()) {
            dict.set_item(name, Array::of(column.to_data()).tolist(py)?)?;
        }
        Ok(dict)
    }

    /// The types, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.batch.schema())
    }

    /// The types and the rows as a stream of one batch, by the Arrow PyCapsule interface. The memory
    /// is shared.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the request, which is a wish.
        drop(requested_schema);
        let batches = [Ok(self.batch.clone())];
        let batches = RecordBatchIterator::new(batches, self.batch.schema());
        stream_capsule(py, batches)
    }
}

/// The types of columns, by the Arrow PyCapsule interface.
pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &Schema,
) -> PyResult<Bound<'py, PyCapsule>> {
    caught(|| {
        let schema = FFI_ArrowSchema::try_from(schema).map_err(unexpected)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    })
}

/// The types and the batches of columns, by the Arrow PyCapsule interface.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    caught(|| {
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    })
}
