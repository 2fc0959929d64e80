//! Compiled filter lists, and the entries that decide about a column of URLs.

use crate::column::{url_arrays, url_bytes};
use crate::errors::{caught, detached, exception};
use crate::judging::{map_texts, nulls};
use crate::options::one_of;
use crate::result_array::{Array, unexpected};
use arrow_buffer::NullBuffer;
use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use robosieve::filter_lists::{FilterLists, ListMatch};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open file of filter lists.
#[pyclass(frozen, module = "robosieve._native")]
pub(crate) struct Lists {
    lists: Arc<FilterLists>,
    /// `None` for lists in memory.
    path: Option<PathBuf>,
}

/// The number of a row without a listed entry. Dictionaries have no such word, and the row is null.
const NOT_LISTED: i32 = -1;

/// The bytes of a number of a list.
pub(crate) type NumberBytes = [i8; size_of::<i32>()];

/// The bytes of the number of the first list that has the entry which names the URL, or of
/// [`NOT_LISTED`].
pub(crate) fn number_bytes(found: Option<ListMatch<'_>>) -> NumberBytes {
    number_of(found).to_ne_bytes().map(u8::cast_signed)
}

/// The number of the first list that has an entry which is not an exception, or [`NOT_LISTED`].
fn number_of(found: Option<ListMatch<'_>>) -> i32 {
    let first = found
        .filter(|found| !found.is_exception())
        .and_then(|found| found.list_numbers().next());
    first.map_or(NOT_LISTED, |list| list as i32)
}

impl Lists {
    /// The opened file.
    pub(crate) fn opened(&self) -> &Arc<FilterLists> {
        &self.lists
    }

    /// The path of the file; `None` for lists in memory.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The reasons of rows, by the bytes of the number of a list for each.
    ///
    /// # Errors
    /// As [`reasons`](Self::reasons).
    pub(crate) fn reasons_of_bytes(
        &self,
        numbers: impl Iterator<Item = NumberBytes>,
        nulls: Option<NullBuffer>,
    ) -> PyResult<Array> {
        let numbers = numbers.map(|bytes| i32::from_ne_bytes(bytes.map(i8::cast_unsigned)));
        self.reasons(numbers.collect(), nulls)
    }

    /// The reasons of rows, by the number of a list for each: `list:` and its name, or null for
    /// [`NOT_LISTED`].
    ///
    /// # Errors
    /// None in practice: numbers of lists that there are not.
    fn reasons(&self, mut numbers: Vec<i32>, nulls: Option<NullBuffer>) -> PyResult<Array> {
        let is_listed = numbers.iter().map(|number| *number != NOT_LISTED);
        let is_listed = NullBuffer::from_iter(is_listed);
        // Values of rows that are null do not matter, but must be in the dictionary.
        numbers
            .iter_mut()
            .for_each(|number| *number = (*number).max(0));
        let lists = self.lists.metadata().lists.iter();
        let words: Vec<String> = lists.map(|list| format!("list:{}", list.name)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let nulls = NullBuffer::union(nulls.as_ref(), Some(&is_listed));
        Array::words(&words, numbers, nulls)
    }

    /// Lists that were opened, verified as the caller wants it.
    fn verified(
        py: Python<'_>,
        lists: FilterLists,
        path: Option<PathBuf>,
        verify: &str,
    ) -> PyResult<Self> {
        let depths = [(0, "none"), (1, "checksums"), (2, "full")];
        let depth = one_of("verify", verify, &depths)?;
        detached(py, || {
            match depth {
                0 => Ok(()),
                1 => lists.verify_checksums(),
                _ => lists.verify(),
            }
            .map_err(exception)?;
            Ok(Self {
                lists: Arc::new(lists),
                path,
            })
        })
    }
}

#[pymethods]
impl Lists {
    /// Maps the file at `path`.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, verify: &str) -> PyResult<Self> {
        let lists = caught(|| FilterLists::open(&path).map_err(|err| exception(err.at(&path))))?;
        Self::verified(py, lists, Some(path), verify)
    }

    /// Lists in memory, which keep the bytes alive.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes, verify: &str) -> PyResult<Self> {
        let lists = caught(|| FilterLists::new(Bytes::from_owner(data)).map_err(exception))?;
        Self::verified(py, lists, None, verify)
    }

    /// The description of the file, as JSON.
    fn metadata(&self) -> PyResult<String> {
        caught(|| serde_json::to_string(self.lists.metadata()).map_err(unexpected))
    }

    /// The header checksum, which identifies the content.
    #[getter]
    fn checksum(&self) -> u64 {
        self.lists.checksum()
    }

    /// The reason for each URL that is listed, `list:` and the name of the first list that has the
    /// entry. Null for others.
    fn match_column(&self, py: Python<'_>, urls: &Bound<'_, PyAny>) -> PyResult<Array> {
        let arrays = caught(|| url_arrays(urls))?;
        detached(py, || {
            let mut searcher = self.lists.searcher();
            let numbers = map_texts(&arrays, |url| Ok(number_of(searcher.find(url)?)));
            self.reasons(numbers.map_err(exception)?, nulls(&arrays))
        })
    }

    /// Whether the entry that decides about a URL is an exception, the names of its lists, and its
    /// text.
    fn find(&self, url: &Bound<'_, PyAny>) -> PyResult<Option<(bool, Vec<String>, String)>> {
        let url = url_bytes(url)?;
        caught(|| {
            let found = self.lists.find(&url).map_err(exception)?;
            found
                .map(|found| {
                    let names = found.lists().map(str::to_owned).collect();
                    let entry = found.entry().map_err(exception)?;
                    Ok((found.is_exception(), names, entry))
                })
                .transpose()
        })
    }
}
