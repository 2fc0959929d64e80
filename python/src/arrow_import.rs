//! Arrays of other Python libraries, through the Arrow PyCapsule interface.
//!
//! Arrays stay [`ArrayData`]: the typed arrays of `arrow-array` would link the code of all types, a
//! tenth of the wheel. The memory is not copied. An import takes over the producer's release
//! callback, so the arrays live until the last reference here is dropped. See "The Arrow PyCapsule
//! Interface" and "The Arrow C data interface" in the documentation of Apache Arrow.

use crate::arrow_check::{check_array, check_schema};
use crate::errors::RobosieveError;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{CStr, c_int};

/// The arrays of an object with `__arrow_c_array__` or `__arrow_c_stream__`, in order; `None` if it
/// has neither.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayData>>> {
    let mut arrays = Vec::new();
    let is_arrow = for_each_array(object, |array| {
        arrays.push(array);
        Ok(())
    })?;
    Ok(is_arrow.then_some(arrays))
}

/// Calls `each` with the arrays of an object with `__arrow_c_array__` or `__arrow_c_stream__`, in
/// order. Returns whether it has one of them. A stream is read array by array, so it may be longer
/// than memory.
pub(crate) fn for_each_array(
    object: &Bound<'_, PyAny>,
    mut each: impl FnMut(ArrayData) -> PyResult<()>,
) -> PyResult<bool> {
    let py = object.py();
    if let Some(export) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
        let capsules = export.call0()?;
        let capsules = capsules.cast::<PyTuple>()?;
        each(import_array(
            &capsules.get_item(0)?,
            &capsules.get_item(1)?,
        )?)?;
        return Ok(true);
    }
    match object.getattr_opt(intern!(py, "__arrow_c_stream__"))? {
        Some(export) => import_stream(&export.call0()?, each).map(|()| true),
        None => Ok(false),
    }
}

/// The address in a capsule with this name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<*mut T> {
    Ok(capsule
        .cast::<PyCapsule>()?
        .pointer_checked(Some(name))?
        .as_ptr()
        .cast())
}

fn import_array(schema: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<ArrayData> {
    let schema: *mut FFI_ArrowSchema = pointer(schema, c"arrow_schema")?;
    let array: *mut FFI_ArrowArray = pointer(array, c"arrow_array")?;
    // SAFETY: The names of the capsules say what they point to. The structs stay valid while the
    // capsules are referenced, which the caller does. `from_raw` moves the array out and leaves a
    // released one.
    let (array, schema) = unsafe { (FFI_ArrowArray::from_raw(array), &*schema) };
    if array.is_released() || schema.release().is_none() {
        return Err(PyValueError::new_err(
            "the Arrow array was consumed already; export it again",
        ));
    }
    check_schema(schema).map_err(inconsistent)?;
    array_data(array, schema)
}

/// The array that a producer gave for a type.
fn array_data(array: FFI_ArrowArray, schema: &FFI_ArrowSchema) -> PyResult<ArrayData> {
    check_array(&array, schema).map_err(inconsistent)?;
    // Some producers give nulls a buffer, which has no meaning.
    if schema.format() == "n" {
        return Ok(ArrayData::new_null(&DataType::Null, array.len()));
    }
    // SAFETY: Both structs come from one producer, are not released, and do not contradict each
    // other. The interface has no lengths of buffers, so the producer is trusted for these.
    unsafe { from_ffi(array, schema) }.map_err(unreadable)
}

fn import_stream(
    capsule: &Bound<'_, PyAny>,
    mut each: impl FnMut(ArrayData) -> PyResult<()>,
) -> PyResult<()> {
    let stream: *mut FFI_ArrowArrayStream = pointer(capsule, c"arrow_array_stream")?;
    // SAFETY: As in `import_array`; the stream is moved out.
    let mut stream = Stream(unsafe { FFI_ArrowArrayStream::from_raw(stream) });
    let schema = stream.schema()?;
    check_schema(&schema).map_err(inconsistent)?;
    let mut is_empty = true;
    // The producer may run Python code on other threads, so it must not wait for this one's lock.
    while let Some(array) = capsule.py().detach(|| stream.next())? {
        is_empty = false;
        each(array_data(array, &schema)?)?;
    }
    if is_empty {
        // The type matters although there are no rows.
        each(ArrayData::new_empty(
            &DataType::try_from(&schema).map_err(unreadable)?,
        ))?;
    }
    Ok(())
}

fn inconsistent(what: String) -> PyErr {
    PyValueError::new_err(format!("an Arrow array that contradicts itself: {what}"))
}

fn unreadable(err: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!("an Arrow array that cannot be read: {err}"))
}

/// A stream of arrays. `ArrowArrayStreamReader` of `arrow-array` reads streams of tables only, and
/// a column is a stream of another type.
struct Stream(FFI_ArrowArrayStream);

impl Stream {
    fn schema(&mut self) -> PyResult<FFI_ArrowSchema> {
        let callback = self.0.get_schema().ok_or_else(released)?;
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: The callback gets the stream that it belongs to, and an empty struct to fill.
        let status = unsafe { callback(&mut self.0, &mut schema) };
        self.check(status)?;
        Ok(schema)
    }

    /// The next array; `None` at the end.
    fn next(&mut self) -> PyResult<Option<FFI_ArrowArray>> {
        let callback = self.0.get_next().ok_or_else(released)?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: As in `schema`.
        let status = unsafe { callback(&mut self.0, &mut array) };
        self.check(status)?;
        Ok((!array.is_released()).then_some(array))
    }

    fn check(&mut self, status: c_int) -> PyResult<()> {
        if status == 0 {
            return Ok(());
        }
        let mut text = format!("error {status}");
        if let Some(callback) = self.0.get_last_error() {
            // SAFETY: The callback gets its stream. Its text is valid until the next call on it.
            let message = unsafe { callback(&mut self.0) };
            if !message.is_null() {
                // SAFETY: Not null, and a C string by the interface.
                text = unsafe { CStr::from_ptr(message) }
                    .to_string_lossy()
                    .into_owned();
            }
        }
        Err(RobosieveError::new_err(format!(
            "the stream of Arrow arrays failed: {text}"
        )))
    }
}

fn released() -> PyErr {
    PyValueError::new_err("the stream of Arrow arrays was read already; pass a new one")
}
