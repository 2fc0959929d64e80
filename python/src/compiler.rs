//! Compiles archives and captured responses into a snapshot.

use crate::arrow_import::for_each_array;
use crate::errors::{RobosieveError, detached, exception};
use crate::files::{in_pool, refuse_overwriting};
use crate::interrupt::{Watch, watched};
use crate::judging::threads_argument;
use crate::options::named;
use crate::table::{Column, column, column_names};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use robosieve::Snapshot;
use robosieve::compile::{CompileProgress, Compiled, FetchResult, HttpResponse};
use robosieve::output::OverwriteGuard;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A compiler of robots.txt archives.
#[pyclass(frozen, module = "robosieve._native")]
pub(crate) struct Compiler {
    /// `None` after the output was written, and after an error.
    compiler: Mutex<Option<robosieve::Compiler>>,
    threads: Option<usize>,
    /// The archives that were added.
    inputs: Mutex<Vec<PathBuf>>,
}

/// A compiler that is taken out of its slot for a call. If the call fails, it is dropped: captures
/// of a failed call may be in it.
struct Taken<'c> {
    slot: MutexGuard<'c, Option<robosieve::Compiler>>,
    compiler: robosieve::Compiler,
}

impl Compiler {
    fn take(&self) -> PyResult<Taken<'_>> {
        let mut slot = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.take() {
            Some(compiler) => Ok(Taken { slot, compiler }),
            None => Err(PyRuntimeError::new_err(
                "this compiler has written its output, or failed; make a new one",
            )),
        }
    }

    /// Calls `work` with the compiler, on the threads of this compiler.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Py<PyAny>>,
        work: impl FnOnce(&mut robosieve::Compiler, &Watch) -> robosieve::Result<T> + Send,
    ) -> PyResult<T> {
        watched(py, progress, |watch| {
            let Taken {
                mut slot,
                mut compiler,
            } = self.take()?;
            let (result, compiler) = in_pool(self.threads, || {
                let result = work(&mut compiler, watch);
                Ok((result, compiler))
            })?;
            let result = result.map_err(exception)?;
            *slot = Some(compiler);
            Ok(result)
        })
    }
}

#[pymethods]
impl Compiler {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the Python half names them")]
    fn new(
        py: Python<'_>,
        profile: &str,
        previous: Option<PathBuf>,
        max_failing: f64,
        as_of: Option<i64>,
        history: bool,
        skip_damaged: bool,
        memory: Option<u64>,
        temp_dir: Option<PathBuf>,
        #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
    ) -> PyResult<Self> {
        let profile = named("profile", profile)?;
        let compiler = detached(py, || {
            let mut compiler = robosieve::Compiler::new(profile)
                .max_failing(max_failing)
                .skip_damaged(skip_damaged)
                .history(history)
                .as_of(as_of);
            if let Some(bytes) = memory {
                compiler = compiler.memory(bytes);
            }
            if let Some(dir) = temp_dir {
                compiler = compiler.temp_dir(dir);
            }
            let Some(path) = previous else {
                return Ok(compiler);
            };
            // Reading the previous snapshot checks it on all threads.
            let with_previous = || {
                compiler
                    .previous(Snapshot::open(&path)?)
                    .map_err(|err| err.at(&path))
            };
            in_pool(threads, || with_previous().map_err(exception))
        })?;
        Ok(Self {
            compiler: Mutex::new(Some(compiler)),
            threads,
            inputs: Mutex::default(),
        })
    }

    /// Adds archives: files and directories.
    fn add_paths(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.with(py, progress.as_ref(), |compiler, watch| {
            compiler.add_paths(&paths, &|at: CompileProgress| watch.report(at.bytes_read))
        })?;
        self.inputs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(paths);
        Ok(())
    }

    /// Adds a response.
    #[expect(clippy::too_many_arguments, reason = "the Python half names them")]
    fn add_response(
        &self,
        py: Python<'_>,
        url: &str,
        status: u16,
        body: &[u8],
        location: Option<&str>,
        max_age: Option<u32>,
        retry_after: Option<u32>,
        fetched_at: Option<i64>,
    ) -> PyResult<()> {
        let mut response = HttpResponse::new(status).body(body);
        response.location = location.map(str::as_bytes);
        response.max_age = max_age;
        response.retry_after = retry_after;
        response.fetched_at = fetched_at;
        detached(py, || {
            let Taken {
                mut slot,
                mut compiler,
            } = self.take()?;
            // A response that is refused leaves the compiler as it was.
            let added = compiler.add_response(url, response).map_err(exception);
            *slot = Some(compiler);
            added
        })
    }

    /// Adds a request without a response.
    fn add_failure(
        &self,
        py: Python<'_>,
        url: &str,
        cause: &str,
        fetched_at: Option<i64>,
    ) -> PyResult<()> {
        detached(py, || {
            let Taken {
                mut slot,
                mut compiler,
            } = self.take()?;
            let added = compiler
                .add_failure(url, cause, fetched_at)
                .map_err(exception);
            *slot = Some(compiler);
            added
        })
    }

    /// Adds the rows of a table, and returns their number.
    fn add_table(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        columns: [Vec<String>; 9],
        scheme: String,
    ) -> PyResult<u64> {
        let [
            url,
            domain,
            status,
            body,
            fetched_at,
            location,
            max_age,
            retry_after,
            error,
        ] = columns;
        let names = TableNames {
            url,
            domain,
            status,
            body,
            fetched_at,
            location,
            max_age,
            retry_after,
            error,
            scheme,
        };
        let mut rows = 0;
        let is_arrow = for_each_array(table, |array| {
            self.add_rows(py, &array, &names, rows)?;
            rows += array.len() as u64;
            Ok(())
        })?;
        if !is_arrow {
            let given = table.get_type().fully_qualified_name()?;
            let what = format!(
                "{given}: a table is an Arrow table or stream (pyarrow, Polars, pandas 3, DuckDB)"
            );
            return Err(PyTypeError::new_err(what));
        }
        Ok(rows)
    }

    /// Writes the snapshot, and returns the report as JSON.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        self.finish(py, &path, |compiler| {
            let compiled = compiler.finish()?.require_captures()?;
            Ok(serde_json::to_string(&compiled.write_to(&path)?))
        })
    }

    /// The bytes of the snapshot.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let data = detached(py, || {
            let Taken { compiler, .. } = self.take()?;
            in_pool(self.threads, || {
                compiler
                    .finish()
                    .and_then(Compiled::require_captures)
                    .and_then(Compiled::to_vec)
                    .map_err(exception)
            })
        })?;
        Ok(PyBytes::new(py, &data))
    }

    /// Writes a captures file, and returns the report as JSON.
    fn write_captures(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        self.finish(py, &path, |compiler| {
            Ok(serde_json::to_string(&compiler.write_captures(&path)?))
        })
    }
}

impl Compiler {
    /// Writes the output with `write`, and returns its report as JSON.
    fn finish(
        &self,
        py: Python<'_>,
        path: &Path,
        write: impl FnOnce(robosieve::Compiler) -> robosieve::Result<serde_json::Result<String>> + Send,
    ) -> PyResult<String> {
        refuse_overwriting(
            OverwriteGuard::new(),
            None,
            &self.inputs.lock().unwrap_or_else(PoisonError::into_inner),
            [("path", path)],
        )?;
        detached(py, || {
            let Taken { compiler, .. } = self.take()?;
            in_pool(self.threads, || {
                let report = write(compiler).map_err(exception)?;
                report.map_err(|err| RobosieveError::new_err(err.to_string()))
            })
        })
    }
}

/// The names of a table's columns, by role. The first that the table has is used.
struct TableNames {
    url: Vec<String>,
    domain: Vec<String>,
    status: Vec<String>,
    body: Vec<String>,
    fetched_at: Vec<String>,
    location: Vec<String>,
    max_age: Vec<String>,
    retry_after: Vec<String>,
    error: Vec<String>,
    scheme: String,
}

/// The columns of a table, by role.
struct FetchColumns<'t> {
    url: Option<Column<'t>>,
    domain: Option<Column<'t>>,
    status: Option<Column<'t>>,
    body: Option<Column<'t>>,
    fetched_at: Option<Column<'t>>,
    location: Option<Column<'t>>,
    max_age: Option<Column<'t>>,
    retry_after: Option<Column<'t>>,
    error: Option<Column<'t>>,
    scheme: &'t str,
}

/// Whether the name of a column is one of those that programs give to the HTTP status.
fn names_status(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let letters = letters.collect::<String>().to_ascii_lowercase();
    letters.contains("status") || ["code", "httpcode", "responsecode"].contains(&&*letters)
}

/// The value of a column in a row; `None` if it is null, or if there is no such column.
fn value_of<'c, 't, T>(
    column: &'c Option<Column<'t>>,
    value: impl FnOnce(&'c Column<'t>) -> Result<Option<T>, String>,
) -> Result<Option<T>, String> {
    column.as_ref().map_or(Ok(None), value)
}

impl<'t> FetchColumns<'t> {
    fn new(table: &ArrayData, names: &'t TableNames) -> PyResult<Self> {
        let find = |names: &'t [String]| names.iter().find_map(|name| column(table, name));
        let columns = Self {
            url: find(&names.url),
            domain: find(&names.domain),
            status: find(&names.status),
            body: find(&names.body),
            fetched_at: find(&names.fetched_at),
            location: find(&names.location),
            max_age: find(&names.max_age),
            retry_after: find(&names.retry_after),
            error: find(&names.error),
            scheme: &names.scheme,
        };
        let missing = |role: &str, names: &[&[String]]| {
            let has = column_names(table);
            let names = names.concat();
            PyValueError::new_err(format!(
                "no column of {role}: looked for {names:?}, the table has {has:?}"
            ))
        };
        if columns.url.is_none() && columns.domain.is_none() {
            return Err(missing("URLs or domains", &[&names.url, &names.domain]));
        }
        if columns.status.is_none() && columns.body.is_none() {
            return Err(missing("statuses or bodies", &[&names.status, &names.body]));
        }
        // Without a status, a body counts as that of a 200.
        if columns.status.is_none()
            && !names.status.is_empty()
            && let Some(other) = column_names(table)
                .into_iter()
                .find(|name| names_status(name))
        {
            return Err(PyValueError::new_err(format!(
                "no column of statuses: looked for {:?}, and the table has {other:?}; name the column of \
                 the statuses (status={other:?}), or give status=() if there is none",
                names.status
            )));
        }
        Ok(columns)
    }

    /// The URL of a row's robots.txt; `None` for a row without one.
    fn url(&self, row: usize) -> Result<Option<Cow<'_, [u8]>>, String> {
        if let Some(url) = value_of(&self.url, |urls| urls.text(row))? {
            return Ok(Some(Cow::Borrowed(url)));
        }
        let Some(domain) = value_of(&self.domain, |domains| domains.text(row))? else {
            return Ok(None);
        };
        let domain = domain.trim_ascii();
        let domain = domain.strip_suffix(b"/").unwrap_or(domain);
        let mut url = Vec::with_capacity(domain.len() + 20);
        if !domain.windows(3).any(|bytes| bytes == b"://") {
            url.extend_from_slice(self.scheme.as_bytes());
            url.extend_from_slice(b"://");
        }
        url.extend_from_slice(domain);
        url.extend_from_slice(b"/robots.txt");
        Ok(Some(Cow::Owned(url)))
    }

    /// The result of a row's request, by the rules for JSON lines (docs/GUIDE.md).
    fn result(&self, row: usize) -> Result<FetchResult<'_>, String> {
        let fetched_at = value_of(&self.fetched_at, |times| times.time(row))?;
        let failure = |cause| Ok(FetchResult::Failure { cause, fetched_at });
        if let Some(error) =
            value_of(&self.error, |errors| errors.text(row))?.filter(|error| !error.is_empty())
        {
            return failure(std::str::from_utf8(error).unwrap_or("an error"));
        }
        let body = value_of(&self.body, |bodies| bodies.text(row))?;
        let status = match value_of(&self.status, |statuses| statuses.integer(row))? {
            Some(status) => {
                u16::try_from(status).map_err(|_| format!("{status} is not an HTTP status"))?
            }
            // Tables have an empty text for the body of a failed request.
            None if self.status.is_some() && body.is_some_and(<[u8]>::is_empty) => {
                return failure("neither a status nor a text");
            }
            None if body.is_some() => 200,
            None => return failure("neither status nor body nor error is given"),
        };
        // RFC 9110 §15.3.5: only 204 has no body. An empty robots.txt would allow everything.
        if body.is_none() && (200..300).contains(&status) && status != 204 {
            return failure("a 2xx status without a body");
        }
        let mut response = HttpResponse::new(status).body(body.unwrap_or_default());
        (response.location, response.fetched_at) = (
            value_of(&self.location, |targets| targets.text(row))?,
            fetched_at,
        );
        response.max_age = seconds(&self.max_age, row, "max-age")?;
        response.retry_after = seconds(&self.retry_after, row, "Retry-After")?;
        Ok(FetchResult::Response(response))
    }
}

/// The seconds in a row of a column, clamped to what a snapshot holds, as those in an archive are.
/// `what` names them in errors.
fn seconds(column: &Option<Column<'_>>, row: usize, what: &str) -> Result<Option<u32>, String> {
    let Some(seconds) = value_of(column, |column| column.integer(row))? else {
        return Ok(None);
    };
    let clamped = u32::try_from(seconds.min(i64::from(u32::MAX - 1)));
    clamped
        .map(Some)
        .map_err(|_| format!("{seconds} is not a {what} in seconds"))
}

impl Compiler {
    /// Adds a batch of rows; `before` rows of the table came earlier.
    fn add_rows(
        &self,
        py: Python<'_>,
        table: &ArrayData,
        names: &TableNames,
        before: u64,
    ) -> PyResult<()> {
        let DataType::Struct(_) = table.data_type() else {
            let what = format!(
                "an Arrow array of type {}; pass a table with named columns",
                table.data_type()
            );
            return Err(PyTypeError::new_err(what));
        };
        let columns = FetchColumns::new(table, names)?;
        let in_row = |row: usize| {
            move |what: String| {
                PyValueError::new_err(format!("row {}: {what}", before + row as u64))
            }
        };
        let mut rows = Vec::new();
        for row in 0..table.len() {
            // A row without a URL is counted with those that are none.
            let url = columns.url(row).map_err(in_row(row))?.unwrap_or_default();
            rows.push((url, columns.result(row).map_err(in_row(row))?));
        }
        let fetched: Vec<(&[u8], FetchResult<'_>)> =
            rows.iter().map(|(url, result)| (&**url, *result)).collect();
        self.with(py, None, |compiler, _| compiler.add_responses(&fetched))
    }
}
